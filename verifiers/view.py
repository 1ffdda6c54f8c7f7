"""VIEW: a view of a tile stays inside it, on box and line borders, and speaks of the same storage."""

from __future__ import annotations

from collections.abc import Iterator

from pypto_verified.index import Expr, any_of
from pypto_verified.layouts import Space
from pypto_verified.records import dataclass
from verifiers.access import TileUse
from verifiers.access.tiles import inner_box
from verifiers.rule import LEGALITY, SAFETY, Rule, always, both
from verifiers.sites import AxisSite, Context, Site, TileSite, ViewSite, op_sites, subview_axes, tile_sites, view_sites

_LINE, _FRACTAL = 32, 512
"""Bytes of a block in UB and of a fractal in L1."""

VIEW_UPPER: Rule[AxisSite] = Rule(
    id="VIEW-UPPER", kind=SAFETY, observable=True, requires=("CG-11", "VF-01"), source="PTOAS subview checks no end",
    claim="the valid part of a subview ends inside its tile",
    sites=subview_axes, applies=always,
    goal=lambda s: any_of((s.size <= 0, s.start + s.size <= s.extent)),
    explain=lambda s, w: (
        f"the subview covers {'rows' if s.axis == 0 else 'columns'} {w(s.start)} to {w(s.start + s.size) - 1} of tile "
        f"{s.name}, which has {s.extent!r}"),
    help=lambda s: f"keep {s.start!r} at most {s.extent - s.size!r}",
    mutant=lambda s: any_of((s.size <= 0, s.start + s.size <= s.extent + 1)),
)

VIEW_LOWER: Rule[AxisSite] = Rule(
    id="VIEW-LOWER", kind=SAFETY, observable=True, requires=("CG-11", "VF-01"),
    source="PTOAS subview: constant offsets only",
    claim="a subview starts inside its tile",
    sites=subview_axes, applies=always,
    goal=lambda s: s.start >= 0,
    explain=lambda s, w: f"the subview of {s.name} starts at {w.show(s.start)} on axis {s.axis}",
    help=lambda s: f"keep {s.start!r} at 0 or more",
    mutant=lambda s: s.start >= -1,
)


def _offset(s: AxisSite) -> bool:
    return s.start.value != 0


def _box_step(s: ViewSite) -> tuple[int, int]:
    return inner_box(s.parent.type)


VIEW_BOX: Rule[ViewSite] = Rule(
    id="VIEW-BOX", kind=LEGALITY, observable=False, requires=("CG-11", "VF-01"),
    source="PTOAS subview verifier, PTOAS#570",
    claim="a subview of a boxed tile starts on a box and is whole boxes",
    sites=view_sites, applies=lambda s: s.view.how == "subview" and s.parent.type.boxed,
    goal=lambda s: both(
        s.view.row % _box_step(s)[0] == 0, s.view.col % _box_step(s)[1] == 0,
        s.view.type.rows % _box_step(s)[0] == 0, s.view.type.cols % _box_step(s)[1] == 0),
    explain=lambda s, w: (
        f"the subview at ({w(s.view.row)}, {w(s.view.col)}) of {s.view.type.rows} x {s.view.type.cols} elements cuts "
        f"the "
        f"{_box_step(s)[0]} x {_box_step(s)[1]} boxes of tile {s.parent.name}"),
    help=lambda s: f"use offsets and sizes that are multiples of {_box_step(s)[0]} rows and {_box_step(s)[1]} columns",
    mutant=lambda s: both(s.view.row % _box_step(s)[0] == 0, s.view.type.rows % _box_step(s)[0] == 0),
)

VIEW_ALIGN: Rule[ViewSite] = Rule(
    id="VIEW-ALIGN", kind=LEGALITY, observable=False, requires=("CG-11",),
    source="PTOAS verifyConstantLocalAddress, applied to views once they have addresses",
    claim="a subview of an unboxed tile starts on a 32-byte border",
    sites=view_sites, applies=lambda s: s.view.how == "subview" and not s.parent.type.boxed,
    goal=lambda s: s.view.rect.base % _LINE == 0,
    explain=lambda s, w: (
        f"the subview at ({w(s.view.row)}, {w(s.view.col)}) starts at byte {w(s.view.rect.base)} of tile "
        f"{s.view.root.name}, not on a {_LINE}-byte border"),
    help=lambda s: f"use column offsets that are multiples of {max(1, _LINE // s.view.type.dtype.bytes)}",
    mutant=lambda s: s.view.rect.base % (_LINE // 2) == 0,
)


def _differences(s: ViewSite) -> list[str]:
    names = ("dtype", "loc", "blayout", "slayout", "fractal", "pad", "compact")
    return [n for n in names if getattr(s.view.type, n) != getattr(s.parent.type, n)]


VIEW_TYPE: Rule[ViewSite] = Rule(
    id="VIEW-TYPE",
    formula="(dtype, space, layout, fractal, pad, compact)(view) = the same of its tile",
    kind=LEGALITY, observable=False, requires=("CG-13", "VF-01"), source="PTOAS subview verifier",
    claim="a subview has its tile's element type, space, layout, fractal, pad and compact mode",
    sites=view_sites, applies=lambda s: s.view.how == "subview",
    goal=lambda s: not _differences(s),
    explain=lambda s, w: f"the subview differs from tile {s.parent.name} in " + ", ".join(
        f"{n} ({getattr(s.view.type, n)!r} instead of {getattr(s.parent.type, n)!r})" for n in _differences(s)),
    help=lambda s: "give the view its tile's type; a pad is set by fillpad, not by a view",
    mutant=lambda s: not set(_differences(s)) - {"fractal"},
)


def _elements(t: TileUse) -> int:
    return t.type.bytes


VIEW_RESHAPE: Rule[ViewSite] = Rule(
    id="VIEW-RESHAPE", kind=LEGALITY, observable=False, requires=("CG-07",),
    source="PTOAS treshape and bitcast verifiers",
    claim="a reshape keeps bytes and space and does not cross between boxed and unboxed; a bitcast keeps the shape too",
    sites=view_sites, applies=lambda s: s.view.how in ("reshape", "bitcast"),
    goal=lambda s: s.view.type.loc is s.parent.type.loc and s.view.type.boxed == s.parent.type.boxed and (
        _elements(s.view) == _elements(s.parent) if s.view.how == "reshape" else
        (s.view.type.rows, s.view.type.cols) == (s.parent.type.rows, s.parent.type.cols)
        and _elements(s.view) <= _elements(s.parent)),
    explain=lambda s, w: (
        f"{s.view.how} of tile {s.parent.name} ({s.parent.type.rows} x {s.parent.type.cols} {s.parent.type.dtype.pto}, "
        f"{_elements(s.parent)} bytes, {s.parent.type.loc.value}) to {s.view.type.rows} x {s.view.type.cols} "
        f"{s.view.type.dtype.pto}, {_elements(s.view)} bytes, {s.view.type.loc.value}"),
    help=lambda s: "reshape to as many bytes in the same space; move between boxed and unboxed with a tmov",
    mutant=lambda s: s.view.type.loc is s.parent.type.loc and _elements(s.view) <= _elements(s.parent),
)

VIEW_DENSE: Rule[ViewSite] = Rule(
    id="VIEW-DENSE",
    formula="rows(parent) = 1 or pitch(parent) = row bytes(parent)",
    kind=SAFETY, observable=False, requires=("CG-07",), source="PTO-ISA tile storage; pypto#1510",
    unseen="a run shows the bytes as they lie; which elements were meant, only the author knows",
    claim="what is reshaped lies in one piece",
    sites=view_sites, applies=lambda s: s.view.how == "reshape",
    goal=lambda s: s.parent.rect.rows == 1 or s.parent.rect.pitch == s.parent.rect.row_bytes,
    explain=lambda s, w: (
        f"tile {s.parent.name} is a window with rows of {s.parent.rect.row_bytes} bytes every {s.parent.rect.pitch} "
        f"bytes; "
        "reshaped as one piece it reads what lies between the rows"),
    help=lambda s: "move the window into a tile of its own before reshaping it",
    mutant=lambda s: True,
)

VIEW_SLOT: Rule[TileSite] = Rule(
    id="VIEW-SLOT", kind=SAFETY, observable=True, requires=("MP-05",),
    source="PTOAS multi_tile_get: constant slots only",
    claim="a slot index names a slot of its region",
    sites=tile_sites, applies=lambda t: t.tile.how == "slot",
    goal=lambda t: both(t.tile.rect.base >= 0, t.tile.rect.base + t.tile.root.bytes <= t.total_bytes),
    explain=lambda t, w: (
        f"slot {w(t.tile.rect.base) // t.tile.root.bytes} of region {t.tile.root.name}, which has {t.tile.root.slots}"),
    help=lambda t: f"take the index modulo {t.tile.root.slots}",
    mutant=lambda t: t.tile.rect.base <= t.total_bytes,
)

@dataclass(frozen=True, slots=True)
class ExtractSite(Site):
    """An extract from L1 into L0A or L0B, and where it starts in its source."""

    source: TileUse
    target: TileUse
    row: Expr
    col: Expr


def _extracts(context: Context) -> Iterator[ExtractSite]:
    for s in op_sites(context):
        if s.op.name != "pto.textract":
            continue
        row, col = s.step.operands["indexRow"][0], s.step.operands["indexCol"][0]
        for source in s.step.tiles("src"):
            for target in s.step.tiles("dst"):
                into = source.type.loc is Space.MAT and target.type.loc in (Space.LEFT, Space.RIGHT)
                if into and isinstance(row, Expr) and isinstance(col, Expr):
                    yield ExtractSite(context, s.op, s.path, f"{s.label} {source.name}", source, target, row, col)


def _unit(s: ExtractSite) -> tuple[int, int]:
    """(rows, columns) that the start is a multiple of: a fractal of the source; where a2a3 transposes it, as much both
    ways as its longer side; of a single row, which is dense, as many elements as a fractal holds."""
    source = s.source.type
    if not source.boxed:
        return 1, _FRACTAL // source.dtype.bytes
    rows, cols = inner_box(source)
    if source.slayout is s.target.type.slayout or s.context.target.name == "a5":
        return rows, cols
    return max(rows, cols), max(rows, cols)


VIEW_EXTRACT: Rule[ExtractSite] = Rule(
    id="VIEW-EXTRACT", kind=SAFETY, observable=True, requires=("VF-01",),
    source="PTO-ISA textract_common.hpp, npu/a5 TExtract.hpp (debug builds alone check it); pto-isa@d2200247",
    claim="an extract from L1 into L0 starts on a fractal, since the unit counts in whole ones",
    sites=_extracts, applies=always,
    goal=lambda s: both(s.row % _unit(s)[0] == 0, s.col % _unit(s)[1] == 0),
    explain=lambda s, w: (
        f"the extract from {s.source.name} starts at ({w(s.row)}, {w(s.col)}); the unit takes multiples of "
        f"{_unit(s)[0]} rows and {_unit(s)[1]} columns and drops the rest"),
    help=lambda s: f"start at multiples of {_unit(s)[0]} rows and {_unit(s)[1]} columns",
    mutant=lambda s: both(s.row % _unit(s)[0] == 0, s.col % 16 == 0),
)

RULES = (VIEW_UPPER, VIEW_LOWER, VIEW_BOX, VIEW_ALIGN, VIEW_TYPE, VIEW_RESHAPE, VIEW_DENSE, VIEW_SLOT, VIEW_EXTRACT)
