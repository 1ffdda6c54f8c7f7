"""LAYOUT: operands lie in memory as the op's hardware reads them."""

from __future__ import annotations

from collections.abc import Iterator

from pypto_verified.index import Cond, any_of
from pypto_verified.layouts import BLayout, SLayout, Space
from pypto_verified.pto.types import TileBufType
from verifiers.access import TileUse
from verifiers.access.overlap import same_bytes
from verifiers.elementwise import OPS, sources
from verifiers.op_sites import move_sites
from verifiers.rule import SAFETY, Rule, always
from verifiers.sites import Context, OpSite, TileSite, op_sites


def _layout(t: TileBufType) -> str:
    return f"{t.loc.value}, {t.blayout.value}/{t.slayout.value}"


def _operand_sites(context: Context, tiles_of: dict[str, tuple[str, ...]]) -> Iterator[TileSite]:
    for site in op_sites(context):
        for group in tiles_of.get(site.op.name, ()):
            for tile in site.step.tiles(group):
                yield TileSite(context, site.op, site.path, f"{site.label} {tile.name}", tile)


def _lane_operands(context: Context) -> Iterator[TileSite]:
    for site in op_sites(context):
        if site.op.name in OPS:
            for tile in (*sources(site.step), *site.step.tiles("dst")):
                yield TileSite(context, site.op, site.path, f"{site.label} {tile.name}", tile)


def _row_major(t: TileUse) -> bool:
    return t.type.blayout is BLayout.ROW and not t.type.boxed


LAYOUT_LANES: Rule[TileSite] = Rule(
    id="LAYOUT-LANES", kind=SAFETY, observable=False, requires=("VF-01",),
    source="PTO-ISA vector ops; PTOAS checks row_major alone (measured)",
    claim="operands of a lane-wise op are unboxed row-major tiles in vec",
    unseen="column-major operands do not compile; boxed ones are taken as they lie, which is right while all lie alike",
    sites=_lane_operands, applies=always,
    goal=lambda t: t.space is Space.VEC and _row_major(t.tile),
    explain=lambda t, w: f"operand {t.name} of {t.op.name.removeprefix('pto.')} is {_layout(t.type)}",
    help=lambda t: "move it into a row-major tile in vec first",
    mutant=lambda t: t.type.blayout is BLayout.ROW,
)

_PRODUCTS = {
    **{f"pto.{n}": ("lhs", "rhs", "acc_in", "dst") for n in ("tmatmul", "tmatmul.acc", "tgemv", "tgemv.acc")},
    **{f"pto.{n}": ("a", "b", "dst") for n in ("tmatmul.bias", "tgemv.bias")},
}


def _product_operands(context: Context) -> Iterator[TileSite]:
    return _operand_sites(context, _PRODUCTS)


def _wanted(t: TileSite) -> tuple[BLayout, SLayout] | None:
    """(blayout, slayout) that the cube reads or writes; None where the text's block layout is overruled anyway
    (assumption LEFT-LAYOUT)."""
    if t.space is Space.LEFT and t.context.strict:
        return (BLayout.ROW if t.context.target.name == "a2a3" else BLayout.COL), SLayout.ROW
    if t.space is Space.RIGHT:
        return BLayout.ROW, SLayout.COL
    if t.space is Space.ACC:
        return BLayout.COL, SLayout.ROW
    return None


def _cube_layout(t: TileSite) -> bool:
    wanted = _wanted(t)
    if wanted is None:
        return t.space is Space.LEFT and t.type.slayout is SLayout.ROW
    return (t.type.blayout, t.type.slayout) == wanted


LAYOUT_CUBE: Rule[TileSite] = Rule(
    id="LAYOUT-CUBE", kind=SAFETY, observable=True, requires=("VF-01",),
    source="PTO-ISA tile storage; PTOAS checks it on a5 alone (measured)",
    claim="left, right and accumulator of a matrix product are boxed as the cube reads them",
    sites=_product_operands, applies=always, assumptions=("LEFT-LAYOUT",),
    unneeded=lambda t: () if t.space is Space.LEFT else ("LEFT-LAYOUT",),
    goal=_cube_layout,
    explain=lambda t, w: f"operand {t.name} of {t.op.name.removeprefix('pto.')} is {_layout(t.type)}",
    help=lambda t: "left: row_major boxes; right: row_major/col_major; acc: col_major/row_major with fractal 1024",
    mutant=lambda t: t.space in (Space.LEFT, Space.RIGHT, Space.ACC),
)


_ALL_PRODUCTS: dict[str, tuple[str, ...]] = {
    **{f"pto.{n}{k}": ("lhs", "rhs", "acc_in", "a", "b", "dst")
       for n in ("tmatmul", "tgemv") for k in ("", ".acc", ".bias", ".mx", ".mx.acc", ".mx.bias")},
}
_BOX_BYTES = {Space.MAT: 512, Space.LEFT: 512, Space.RIGHT: 512, Space.ACC: 1024}
"""Bytes of one fractal box in the memories of the cube. Scales of microscaled products, which have boxes of 32 bytes in
L1, do not go to left or right."""
_L0 = (Space.LEFT, Space.RIGHT)


def _boxes(context: Context) -> Iterator[TileSite]:
    """Operands of products, and both ends of what carries boxes from L1 to them."""
    yield from (t for t in _operand_sites(context, _ALL_PRODUCTS) if t.space in _BOX_BYTES)
    for site in op_sites(context):
        ends = (*site.step.tiles("src"), *site.step.tiles("dst"))
        if site.op.name in ("pto.tmov", "pto.textract") and ends and ends[-1].type.loc in _L0:
            for tile in ends:
                if tile.type.boxed and tile.type.loc in _BOX_BYTES:
                    yield TileSite(context, site.op, site.path, f"{site.label} {tile.name}", tile)


LAYOUT_FRACTAL: Rule[TileSite] = Rule(
    id="LAYOUT-FRACTAL", kind=SAFETY, observable=False, requires=("VF-01",),
    source="PTO-ISA tile storage: fractal boxes of L0A, L0B and L1 512 bytes, of L0C 1024; PTOAS checks none",
    claim="what the cube multiplies, sums up or is fed with lies in boxes of the size that it reads and writes",
    unseen="the C++ of most such texts does not compile (static asserts)",
    sites=_boxes, applies=always,
    goal=lambda t: t.fractal == _BOX_BYTES[t.space],
    explain=lambda t, w: (
        f"operand {t.name} of {t.op.name.removeprefix('pto.')} in {t.space.value} has fractal {t.fractal}; the cube "
        f"has boxes of {_BOX_BYTES[t.space]} bytes there"),
    help=lambda t: f"declare tile {t.name} with fractal={_BOX_BYTES[t.space]}",
    mutant=lambda t: t.fractal in (512, 1024),
)


def _ends(s: OpSite) -> tuple[TileBufType, TileBufType]:
    return s.step.tiles("src")[0].type, s.step.tiles("dst")[0].type


def _one_layout(s: OpSite) -> bool:
    source, destination = _ends(s)
    return (source.blayout, source.slayout, source.fractal) == (
        destination.blayout, destination.slayout, destination.fractal)


def _elsewhere(s: OpSite) -> Cond:
    return ~same_bytes(s.step.tiles("src")[0], s.step.tiles("dst")[0])


LAYOUT_MOVE: Rule[OpSite] = Rule(
    id="LAYOUT-MOVE", kind=SAFETY, observable=True, requires=("VF-01",), source="PTOAS#421, pypto#2100",
    claim="a move between two layouts does not stay in place",
    sites=move_sites, applies=always,
    goal=lambda s: any_of((_one_layout(s), _elsewhere(s))),
    explain=lambda s, w: f"tmov changes {_layout(_ends(s)[0])} to {_layout(_ends(s)[1])} at one address",
    help=lambda s: "give the destination bytes of its own",
    mutant=lambda s: any_of((_ends(s)[0].loc is _ends(s)[1].loc, _elsewhere(s))),
)

RULES = (LAYOUT_LANES, LAYOUT_CUBE, LAYOUT_FRACTAL, LAYOUT_MOVE)
