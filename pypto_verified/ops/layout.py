"""Layouts that a tile has by its shape and space alone, and the canonical form of a tile type.

Convention: `TileType.view` is None exactly when the tile has the implicit layout of its (shape, space), is fully valid,
unpadded and not compact; otherwise the view is complete. `valid_shape` is () when full. A space of None counts as a
flat (Vec-like) space until InferTileMemorySpace has placed the tile. Source of the table: PyPTO tile_view_semantics,
GetImplicitTileLayout.
"""

from __future__ import annotations

from collections.abc import Sequence

from pypto_verified.dtypes import DType
from pypto_verified.ir.types import Dim, MemRef, TileType, TileView
from pypto_verified.layouts import BLayout, Compact, Pad, SLayout, Space
from pypto_verified.ops.dims import all_equal

_BOXED: dict[Space | None, TileView] = {
    Space.MAT: TileView((), BLayout.COL, SLayout.ROW, 512),
    Space.LEFT: TileView((), BLayout.COL, SLayout.ROW, 512),
    Space.ACC: TileView((), BLayout.COL, SLayout.ROW, 1024),
    Space.SCALING: TileView((), BLayout.ROW, SLayout.ROW, 32),
}
_FLAT = {
    (right, column): TileView(
        (), BLayout.COL if column else BLayout.ROW, SLayout.COL if right else SLayout.NONE, 512)
    for right in (False, True) for column in (False, True)
}
"""By whether it lies in the right operand's memory, and whether it is a column."""


def implicit_view(shape: Sequence[int], space: Space | None) -> TileView:
    """The layout of a fully valid tile of that shape in that space (None: not known yet, as in Vec)."""
    found = _BOXED.get(space)
    if found is not None:
        return found
    column = len(shape) >= 2 and shape[-1] == 1 and max(shape[:-1]) > 1
    return _FLAT[space is Space.RIGHT, column]


def effective_view(t: TileType) -> TileView:
    """The tile's complete view with its valid extents written out."""
    view = t.view if t.view is not None else implicit_view(t.shape, t.space)
    if view.valid_shape:
        return view
    return TileView(t.shape, view.blayout, view.slayout, view.fractal, view.pad, view.compact)


def make_tile(
    shape: Sequence[int],
    dtype: DType,
    space: Space | None,
    valid: Sequence[Dim] = (),
    *,
    layout: TileView | None = None,
    pad: Pad = Pad.NULL,
    compact: Compact = Compact.NULL,
    memref: MemRef | None = None,
) -> TileType:
    """A tile type in canonical form. `layout` gives blayout, slayout and fractal (its other fields do not count); by
    default they are the implicit ones."""
    shape = tuple(shape)
    implicit = implicit_view(shape, space)
    chosen = layout if layout is not None else implicit
    full = not valid or all_equal(valid, shape) is True
    if full and chosen is implicit and pad is Pad.NULL and compact is Compact.NULL:
        return TileType(shape, dtype, space, None, memref)
    view = TileView(() if full else tuple(valid), chosen.blayout, chosen.slayout, chosen.fractal, pad, compact)
    return TileType(shape, dtype, space, None if view == implicit else view, memref)


def unplaced(t: TileType) -> TileType:
    """The type of an op's result that is like an operand: the author chose storage for the operand alone."""
    return t if t.memref is None else TileType(t.shape, t.dtype, t.space, t.view)


def is_boxed(t: TileType) -> bool:
    """Whether the tile's layout has fractal boxes."""
    return effective_view(t).slayout is not SLayout.NONE
