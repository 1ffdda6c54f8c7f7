"""LAYOUT, one buffer under two names: a tile that reads what was written through another handle reads it in its order.

In boxes the elements lie in another order than outside of them, and where the boxes and their elements run across or
along each other the orders differ again. A relabelled tile has the order of the one that was written, or is its
transpose; between unboxed tiles nothing is said, since a reshape and a transpose are both meant so.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from pypto_verified.index.cond import TRUE, CondLike
from pypto_verified.layouts import BLayout, SLayout
from pypto_verified.pto.types import MultiTileBufType, TileBufType
from pypto_verified.records import dataclass
from verifiers.access import TileUse
from verifiers.access.overlap import disjoint
from verifiers.access.tiles import inner_box
from verifiers.layout_ops import layout_name
from verifiers.liveness import flow_of
from verifiers.rule import SAFETY, Rule, always
from verifiers.sites import Context, Site, op_text
from verifiers.write_state import Write

Order: TypeAlias = tuple[bool, int, int] | None
"""Whether boxes run as their elements do, bytes of a box and of an element; None if elements lie as outside boxes."""


@dataclass(frozen=True, slots=True)
class RelabelSite(Site):
    """A tile that is read through one handle and was written through another one only."""

    tile: TileUse
    write: Write


def _relabels(context: Context) -> Iterator[RelabelSite]:
    for read in flow_of(context.program).reads.values():
        for write in read.lent if read.step.modelled else ():
            label = f"{op_text(read.step.op)} {read.tile.name} after {op_text(write.step.op)}"
            yield RelabelSite(
                context, read.step.op, read.step.path & write.step.path, label, read.tile, write)


def order(t: TileBufType) -> Order:
    """Boxes of one column of elements, stacked, are no boxes."""
    if not t.boxed:
        return None
    rows, cols = inner_box(t)
    if (t.rows <= rows) if t.slayout is SLayout.COL else (t.cols <= cols):
        return None
    return (t.blayout is BLayout.ROW) == (t.slayout is SLayout.ROW), t.fractal, t.dtype.bytes


def _same_order(read: TileBufType, written: TileBufType) -> bool:
    if order(read) != order(written):
        return False
    across = read.slayout is not written.slayout and order(read) is not None
    return not across or (read.rows, read.cols) == (written.cols, written.rows)


def _buffer(tile: TileUse) -> TileBufType:
    """The type of the whole buffer that a handle names, of which `tile` may be a part."""
    declared = tile.root.op.results[0].type if tile.root.op.results else tile.type
    declared = declared.slot if isinstance(declared, MultiTileBufType) else declared
    return declared if isinstance(declared, TileBufType) else tile.type


def _keeps(s: RelabelSite) -> CondLike:
    kept = _same_order(_buffer(s.tile), _buffer(s.write.tile))
    return TRUE if kept else disjoint(s.tile, s.write.tile)


def _laid(tile: TileUse) -> str:
    kind = _buffer(tile)
    return f"{layout_name(kind)} {kind.rows} x {kind.cols}"


LAYOUT_NAME: Rule[RelabelSite] = Rule(
    id="LAYOUT-NAME",
    formula="layout(last write) = layout(read), or their bytes are disjoint",
    kind=SAFETY, observable=False, requires=("VF-01",),
    source="PTO-ISA Tile: the layout is the handle's, the bytes hold none",
    claim="what is written through one handle is read through another one in the same order of elements",
    unseen="which order is meant is not in the text",
    sites=_relabels, applies=always,
    goal=_keeps,
    explain=lambda s, w: (
        f"{op_text(s.op)} reads tile {s.tile.name} as {_laid(s.tile)}, but {op_text(s.write.step.op)} at line "
        f"{s.context.program.location(s.write.step.op).line} wrote its bytes as tile {s.write.tile.name}, "
        f"{_laid(s.write.tile)}"),
    help=lambda s: "give both handles one layout, or move the tile into the other layout",
    mutant=lambda s: s.tile.type.boxed or s.write.tile.type.boxed,
)

RULES = (LAYOUT_NAME,)
