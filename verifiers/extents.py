"""VALID, for ops that go over the destination element by element, windows of five dimensions, and products.

An op goes over the valid region of its destination and reads its sources where that sends it, whatever their own valid
extents say: a source that covers less gives lanes without a defined value (assumption OUT-OF-VALID).

A rule about what a result declares is not observable: a run shows it only if somebody reads what was not computed.
"""

from __future__ import annotations

from collections.abc import Iterator

from pypto_verified.index import Cond, all_of, any_of, eq, implies
from verifiers.access import TileUse
from verifiers.covering import EXTENT_WORDS, covers, shape, short
from verifiers.op_sites import (
    AXES,
    COL_EXPANSION,
    COLS,
    QUANTISING,
    ROWS,
    ExtentSite,
    ProductSite,
    TransferSite,
    destination,
    empty,
    extent_site,
    in_range,
    is_vec,
    product_sites,
    transfer_sites,
    unless_refused,
)
from verifiers.rule import SAFETY, Rule
from verifiers.sites import Context, OpSite, op_sites


def _elementwise(context: Context) -> Iterator[ExtentSite]:
    for site in op_sites(context):
        target = destination(site.step)
        if target is None:
            continue
        for source in _read_in_place(site, target):
            for axis in (ROWS, COLS):
                yield extent_site(site, source, target, axis)


def _read_in_place(site: OpSite, target: TileUse) -> tuple[TileUse, ...]:
    """The sources whose element (r, c) goes into the destination's (r, c)."""
    name, step = site.op.name, site.step
    if name in ("pto.tsel", "pto.tsels"):
        return (*step.tiles("src0"), *step.tiles("src1"), *step.tiles("src"))
    if name in QUANTISING:
        return step.tiles("src")
    if name == "pto.tmov":
        return tuple(t for t in step.tiles("src") if is_vec(t) and is_vec(target) and _one_layout(t, target))
    return step.tiles("src0") if name in COL_EXPANSION else ()


def _one_layout(a: TileUse, b: TileUse) -> bool:
    """A move between layouts may also change which element stands where."""
    return (a.type.blayout, a.type.slayout) == (b.type.blayout, b.type.slayout)


def _short_help(s: ExtentSite) -> str:
    return f"narrow {s.target.name} to {s.have!r} valid {AXES[s.axis]}, or fill {s.source.name} first (fillpad)"


VALID_COVER: Rule[ExtentSite] = Rule(
    id="VALID-COVER", kind=SAFETY, observable=True, requires=("VF-01",), assumptions=("OUT-OF-VALID",),
    source="PTO-ISA TSel.hpp, TMov.hpp, TColExpandBinOp.hpp; pypto#1370",
    claim="what is selected, quantised, moved within vec or combined with a row covers the destination's valid region",
    sites=_elementwise,
    applies=lambda s: unless_refused(s, covers(s), EXTENT_WORDS),
    given=lambda s: in_range(s.source, s.target), goal=covers, explain=short, help=_short_help,
    mutant=lambda s: implies(s.needed, s.want <= s.have + 16),
)


def _blocks(context: Context) -> Iterator[TransferSite]:
    """Transfers of five-dimensional windows; VALID-WINDOW judges those of lower rank."""
    for op in ("pto.tload", "pto.tstore"):
        yield from (s for s in transfer_sites(op)(context) if len(s.window.sizes) == 5)


def _matches(s: TransferSite) -> Cond:
    rows, cols = s.tile.valid_rows, s.tile.valid_cols
    same = all_of((eq(s.rows, rows), eq(s.cols, cols)))
    return any_of((same, all_of((empty(s.rows, s.cols), empty(rows, cols)))))


VALID_BLOCKS: Rule[TransferSite] = Rule(
    id="VALID-BLOCKS", kind=SAFETY, observable=True, requires=("VF-01",),
    source="PTO-ISA TLoad.hpp, TStore.hpp (asserted only in debug builds): which dims make rows and columns",
    claim="a five-dimensional window has the rows and columns of the tile's valid region",
    sites=_blocks, applies=lambda s: unless_refused(s, _matches(s), EXTENT_WORDS),
    goal=_matches,
    explain=lambda s, w: (
        f"the window of {s.window.view.name} makes {w(s.rows)} rows and {w(s.cols)} columns, the valid region of "
        f"{s.tile.name} is {shape(s.tile, w)}"),
    help=lambda s: f"use a window of {s.tile.valid_rows!r} x {s.tile.valid_cols!r} elements",
    mutant=lambda s: all_of((s.rows <= s.tile.type.rows, s.cols <= s.tile.type.cols)),
)


def _small(s: ProductSite, limit: int) -> Cond:
    return all_of(e <= limit for e in (s.m, s.k, s.n))


VALID_MATMUL_SIZE: Rule[ProductSite] = Rule(
    id="VALID-MATMUL-SIZE", kind=SAFETY, observable=False, requires=("VF-01",),
    unseen="operands of that size do not fit the buffers of the matrix unit",
    source="PTO-ISA TMatmul.hpp, PTOAS (static extents only)",
    claim="m, k and n of one product are at most 4095",
    sites=product_sites, given=lambda s: in_range(s.left, s.right),
    applies=lambda s: unless_refused(s, _small(s, s.context.target.matmul_extent_max), EXTENT_WORDS),
    goal=lambda s: _small(s, s.context.target.matmul_extent_max),
    explain=lambda s, w: f"m, k, n are {w(s.m)}, {w(s.k)}, {w(s.n)}; the device counts to "
                         f"{s.context.target.matmul_extent_max}",
    help=lambda s: "split the product",
    mutant=lambda s: _small(s, s.context.target.matmul_extent_max + 1),
)

RULES = (VALID_BLOCKS, VALID_COVER, VALID_MATMUL_SIZE)
