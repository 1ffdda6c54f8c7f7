"""VALID: valid extents fit their tile, and what an op touches is what is valid."""

from __future__ import annotations

from collections.abc import Iterator

from pypto_verified.index import Expr, all_of, any_of, const, eq
from pypto_verified.index.cond import Cond
from pypto_verified.records import dataclass
from verifiers.access import Step, TileUse, Window
from verifiers.elementwise import OPS, sources
from verifiers.rule import SAFETY, Rule, Witness, always
from verifiers.sites import AxisSite, Context, OpSite, Site, op_sites, op_text

_AXIS = ("rows", "columns")


def _extents(context: Context) -> Iterator[AxisSite]:
    """Both valid extents of each tile, where it is made and where set_validshape changes them."""
    for made in context.program.defined:
        tile = made.tile
        label = f"{op_text(tile.op)} {tile.name}"
        yield from _both(context, tile, label, made.path, (tile.valid_rows, tile.valid_cols))
    for step in context.program.steps:
        if step.op.name == "pto.set_validshape":
            for tile in step.tiles("source"):
                new = (_index(step, "valid_row"), _index(step, "valid_col"))
                yield from _both(context, tile, f"set_validshape {tile.name}", step.path, new, step)


def _index(step: Step, group: str) -> Expr:
    (value,) = step.operands[group]
    assert isinstance(value, Expr)
    return value


def _both(
    context: Context, tile: TileUse, label: str, path: Cond, valid: tuple[Expr, Expr], step: Step | None = None
) -> Iterator[AxisSite]:
    op = step.op if step is not None else tile.op
    for axis, (extent, physical) in enumerate(zip(valid, (tile.type.rows, tile.type.cols), strict=True)):
        yield AxisSite(
            context, op, path, f"{label} {_AXIS[axis]}", "valid", tile.name, axis, const(0), extent, const(physical))


VALID_UPPER: Rule[AxisSite] = Rule(
    id="VALID-UPPER", kind=SAFETY, observable=True, requires=("CG-08", "CG-14"),
    source="PTOAS types: static valid <= shape; operands are not checked (measured)",
    claim="a tile's valid extent does not exceed its physical extent",
    sites=_extents, applies=always,
    goal=lambda s: s.size <= s.extent,
    explain=lambda s, w: (
        f"tile {s.name} has {w.show(s.size)} valid {_AXIS[s.axis]} of {s.extent!r} physical {_AXIS[s.axis]}"),
    help=lambda s: f"declare min({s.size!r}, {s.extent!r}), or a larger tile",
    mutant=lambda s: any_of((s.size <= s.extent, s.axis == 0)),
)

VALID_LOWER: Rule[AxisSite] = Rule(
    id="VALID-LOWER", kind=SAFETY, observable=True, requires=("CG-08",), source="PTOAS#544: a negative extent hangs",
    claim="a tile's valid extent is not negative",
    sites=_extents, applies=always,
    goal=lambda s: s.size >= 0,
    explain=lambda s, w: f"tile {s.name} has {w.show(s.size)} valid {_AXIS[s.axis]}",
    help=lambda s: f"declare max({s.size!r}, 0)",
    mutant=lambda s: s.size >= -s.extent,
)


@dataclass(frozen=True, slots=True)
class LaneSite(Site):
    """A source and the destination of a lane-wise op."""

    source: TileUse
    dst: TileUse


def _lanes(context: Context) -> Iterator[LaneSite]:
    for site in op_sites(context):
        if site.op.name in OPS:
            for dst in site.step.tiles("dst"):
                for source in sources(site.step):
                    label = f"{site.label} {source.name} to {dst.name}"
                    yield LaneSite(context, site.op, site.path, label, source, dst)


def _shape(rows: Expr, cols: Expr, w: Witness) -> str:
    return f"{w(rows)} x {w(cols)}"


def _valid_text(tile: TileUse, w: Witness) -> str:
    return f"{tile.name} ({_shape(tile.valid_rows, tile.valid_cols, w)} valid)"


VALID_SOURCE: Rule[LaneSite] = Rule(
    id="VALID-SOURCE", kind=SAFETY, observable=True, requires=("VF-01",),
    source="PTO-ISA: dst's valid region is iterated",
    claim="a lane-wise op reads only valid lanes of its sources",
    sites=_lanes, applies=always, assumptions=("OUT-OF-VALID",),
    goal=lambda s: all_of((s.dst.valid_rows <= s.source.valid_rows, s.dst.valid_cols <= s.source.valid_cols)),
    explain=lambda s, w: (
        f"{op_text(s.op)} fills {_valid_text(s.dst, w)} from {_valid_text(s.source, w)}: the rest of the source has no "
        "defined value"),
    help=lambda s: f"give {s.dst.name} the valid shape of {s.source.name}, or fill {s.source.name} first",
    mutant=lambda s: s.dst.valid_cols <= s.source.valid_cols,
)


_GUARDED = frozenset(f"pto.{name}" for name in ("tadds", "tsubs", "tmins", "tdivs", "taxpy"))


def _guarded(context: Context) -> Iterator[LaneSite]:
    return (s for s in _lanes(context) if s.op.name in _GUARDED and context.target.name == "a2a3")


def _alike(s: LaneSite) -> Cond:
    same = all_of((eq(s.source.valid_rows, s.dst.valid_rows), eq(s.source.valid_cols, s.dst.valid_cols)))
    return any_of((same, s.dst.valid_rows <= 0, s.dst.valid_cols <= 0))


VALID_ALIKE: Rule[LaneSite] = Rule(
    id="VALID-ALIKE", kind=SAFETY, observable=False, requires=("VF-01",),
    source="PTO-ISA npu/a2a3 TAddS.hpp, TSubS.hpp, TMins.hpp, TDivS.hpp, TAxpy.hpp: else nothing is computed",
    claim="adds, subs, mins, divs and axpy on a2a3 have a source with exactly the valid shape of the result",
    unseen="a run computes what the result declares",
    sites=_guarded, applies=always, given=lambda s: VALID_SOURCE.goal(s),
    goal=_alike,
    explain=lambda s, w: (
        f"{op_text(s.op)} of {_valid_text(s.source, w)} into {_valid_text(s.dst, w)} does nothing on a2a3, whose "
        "library wants equal valid shapes"),
    help=lambda s: f"give {s.source.name} the valid shape of {s.dst.name} (set_validshape)",
    mutant=lambda s: any_of((eq(s.source.valid_cols, s.dst.valid_cols), s.dst.valid_rows <= 0)),
)


@dataclass(frozen=True, slots=True)
class TransferSite(Site):
    """A transfer between a window and a tile; `rows` x `cols` is the window as a matrix."""

    tile: TileUse
    window: Window
    rows: Expr
    cols: Expr


def _transfers(context: Context) -> Iterator[TransferSite]:
    for site in op_sites(context):
        if site.op.name not in ("pto.tload", "pto.tstore"):
            continue
        step = site.step
        tiles = step.tiles("dst") or step.tiles("src")
        windows = step.windows("src") or step.windows("dst")
        for tile in tiles:
            for window in windows:
                rows = const(1)
                for size in window.sizes[:-1]:
                    rows = rows * size
                label = f"{site.label} {tile.name}"
                yield TransferSite(context, site.op, site.path, label, tile, window, rows, window.sizes[-1])


def _plain(s: TransferSite) -> bool:
    """Two-dimensional windows; a fifth-rank one is an NZ tensor, whose rows and columns are mixed in its dims."""
    return len(s.window.sizes) <= 4


VALID_WINDOW: Rule[TransferSite] = Rule(
    id="VALID-WINDOW", kind=SAFETY, observable=True, requires=("CG-06", "VF-01"),
    source="PTOAS tstore: static element counts; tload has no check (measured); PTOAS#322",
    claim="a transfer moves exactly the tile's valid region",
    sites=_transfers, applies=_plain,
    goal=lambda s: all_of((eq(s.rows, s.tile.valid_rows), eq(s.cols, s.tile.valid_cols))),
    explain=lambda s, w: (
        f"{op_text(s.op)} moves a window of {_shape(s.rows, s.cols, w)} elements of {s.window.view.name} and tile "
        f"{_valid_text(s.tile, w)}"),
    help=lambda s: f"make the window {s.tile.valid_rows!r} x {s.tile.valid_cols!r}, or change the tile's valid shape",
    mutant=lambda s: eq(s.cols, s.tile.valid_cols),
)


def _matmul(s: OpSite) -> tuple[TileUse, TileUse, TileUse] | None:
    """(left, right, accumulator) of a matrix product."""
    step = s.step
    left = step.tiles("lhs") or step.tiles("a")
    right = step.tiles("rhs") or step.tiles("b")
    acc = step.tiles("dst")
    return (left[0], right[0], acc[0]) if left and right and acc else None


def _products(context: Context) -> Iterator[OpSite]:
    return (s for s in op_sites(context) if _matmul(s) is not None)


def _fits(s: OpSite, inner: bool = True) -> Cond:
    found = _matmul(s)
    assert found is not None
    left, right, acc = found
    return all_of((
        left.valid_cols <= right.valid_rows if inner else True,
        left.valid_rows <= acc.valid_rows, right.valid_cols <= acc.valid_cols))


def _product_text(s: OpSite, w: Witness) -> str:
    found = _matmul(s)
    assert found is not None
    left, right, acc = (_valid_text(t, w) for t in found)
    return f"{op_text(s.op)} multiplies {left} by {right} into {acc}"


VALID_MATMUL: Rule[OpSite] = Rule(
    id="VALID-MATMUL", kind=SAFETY, observable=True, requires=("VF-01",),
    source="PyPTO matmul; PTOAS tmatmul, static shapes only",
    claim="a matrix product reads valid elements, and its result lies in the accumulator's valid region",
    sites=_products, applies=always,
    goal=_fits, explain=_product_text,
    help=lambda s: "give the operands matching valid shapes",
    mutant=lambda s: _fits(s, inner=False),
)

RULES = (VALID_UPPER, VALID_LOWER, VALID_SOURCE, VALID_ALIKE, VALID_WINDOW, VALID_MATMUL)
