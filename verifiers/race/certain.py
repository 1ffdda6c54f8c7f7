"""The bytes that an op is sure to touch in a run with numbers: those of valid elements, as far as data does not say
where they are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from pypto_verified.index import Expr, const
from pypto_verified.index.cond import TRUE
from pypto_verified.layouts import BLayout, SLayout, Space
from verifiers.access import Rect, Step, TileUse
from verifiers.access.indexed import indexed
from verifiers.access.overlap import same_bytes, windowed
from verifiers.access.tiles import cut, inner_box
from verifiers.race.fills import FILLS

_ELEMENT = frozenset({"pto.tgetval", "pto.tsetval"})
_BLOCK = 32
"""Bytes to which a fill aligns the first column of padding."""


def touched_in_run(
    step: Step, tile: TileUse, writes: bool, rect: Rect, base: Expr, number: Callable[[Expr], int],
    extent: Callable[[Expr], int],
) -> tuple[Expr, Rect]:
    """(first byte, rect) of what a step is sure to touch of a tile whose part `rect` begins at `base`. `number` gives
    the value of an expression, `extent` that of a valid extent."""
    if step.op.name in _ELEMENT:
        at = next((o for o in step.operands.get("offset", ()) if isinstance(o, Expr)), None)
        size = tile.type.dtype.bytes
        if at is None:
            return base, replace(rect, rows=0)
        return base + number(at) * size, Rect(rect.base, 1, size, size)
    window = windowed(step, tile)
    if window is not None and (rect.rows, rect.row_bytes) == (tile.rect.rows, tile.rect.row_bytes):
        # Where it lies in the tile only a run knows.
        part = replace(tile.type, rows=window[0].type.rows, cols=window[0].type.cols)
        row, col = (const(number(e)) for e in window[1:])
        found = cut(part, tile.storage, base, row, col)
        return (found.base, found) if found is not None else (base, replace(rect, rows=0))
    index = indexed(step)
    if writes and index is not None and not index.reads and tile in step.tiles(index.table):
        return base, replace(rect, rows=0)
    rows, cols = extent(tile.valid_rows), extent(tile.valid_cols)
    (source, *_), (result, *_) = step.tiles("src") or (tile,), step.tiles("dst") or (tile,)
    if step.op.name in FILLS and result.type.loc is Space.MAT:
        return base, replace(rect, rows=0)  # it lies around the valid part of a boxed tile, in pieces
    if step.op.name in FILLS and same_bytes(source, result) is TRUE:
        return _filled(source, rect, base, rows, extent) if writes else (base, replace(rect, rows=0))
    return base, certain(tile, rect, rows, cols)


def _filled(source: TileUse, rect: Rect, base: Expr, rows: int, extent: Callable[[Expr], int]) -> tuple[Expr, Rect]:
    """A fill in place copies nothing: it writes whole rows below the valid ones of its source, or columns beside."""
    done = extent(source.valid_rows)
    if rows > done:
        return base + done * rect.pitch, replace(rect, rows=rows - done)
    beside = -(-extent(source.valid_cols) * source.type.dtype.bytes // _BLOCK) * _BLOCK
    left = rect.row_bytes - beside
    return (base + beside, replace(rect, rows=done, row_bytes=left)) if left > 0 else (base, replace(rect, rows=0))


def certain(tile: TileUse, rect: Rect, rows: int, cols: int) -> Rect:
    """The part of `rect` in which every byte belongs to one of `rows` x `cols` valid elements: whole boxes along the
    valid lines, else what there is of the first one. A part of a tile, as an extract reads, is taken whole."""
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
    size = type_.dtype.bytes
    if type_.slayout is along:
        return replace(rect, rows=length, row_bytes=lines * size, pitch=box * size)
    return replace(rect, rows=min(lines, box), row_bytes=min(length, across) * size, pitch=across * size)
