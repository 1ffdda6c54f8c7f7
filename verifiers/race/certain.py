"""The bytes that an op is sure to touch where the valid extents of a tile are numbers: those of its valid elements."""

from __future__ import annotations

from dataclasses import replace

from pypto_verified.layouts import BLayout, SLayout
from verifiers.access import Rect, TileUse
from verifiers.access.tiles import inner_box


def certain(tile: TileUse, rect: Rect, rows: int, cols: int) -> Rect:
    """The part of `rect` in which every byte belongs to one of `rows` x `cols` valid elements; in boxes that are not
    full, the first line alone. A part of a tile, such as what an extract reads, is taken whole."""
    type_ = tile.type
    rows, cols = min(rows, type_.rows), min(cols, type_.cols)
    if rows <= 0 or cols <= 0:
        return replace(rect, rows=0)
    if (rect.rows, rect.row_bytes) != (tile.rect.rows, tile.rect.row_bytes) or (rows, cols) == (type_.rows, type_.cols):
        return rect
    high, wide = inner_box(type_)
    by_rows = type_.blayout is BLayout.ROW
    # Rows of boxes follow each other from `rect` line to line, or columns of boxes do.
    lines, box, length, across = (rows, high, cols, wide) if by_rows else (cols, wide, rows, high)
    along = SLayout.COL if by_rows else SLayout.ROW
    if not type_.boxed or (type_.slayout is along and lines >= box):
        return replace(rect, rows=lines // box, row_bytes=length * box * type_.dtype.bytes)
    if type_.slayout is along:
        return replace(rect, rows=1, row_bytes=lines * type_.dtype.bytes)
    return replace(rect, rows=1, row_bytes=min(length, across) * type_.dtype.bytes)
