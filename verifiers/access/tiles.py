"""Tile storage: which bytes of its root a tile or a subview occupies. Sources: PTO-ISA tile storage (element offsets of
ND, DN, Nz, Zn, Zz), PTOAS verifyBoxedTileLayout (inner boxes)."""

from __future__ import annotations

from pypto_verified.index import Expr
from pypto_verified.index.cond import TRUE, as_cond
from pypto_verified.layouts import BLayout, SLayout
from pypto_verified.pto.types import TileBufType
from verifiers.access.program import Rect


def inner_box(type_: TileBufType) -> tuple[int, int]:
    """(rows, cols) of one fractal box in elements; (1, 1) when unboxed."""
    if not type_.boxed:
        return 1, 1
    if type_.fractal == 1024:
        return 16, 16
    if type_.fractal == 32:
        return (16, 2) if type_.slayout is SLayout.ROW else (2, 16)
    line = max(1, 32 // type_.dtype.bytes)
    return (16, line) if type_.slayout is SLayout.ROW else (line, 16)


def rect_of(type_: TileBufType, storage: tuple[int, int], base: Expr, row: Expr, col: Expr) -> Rect:
    """The bytes of a `type_`-sized window at element (row, col) of a tile stored as (rows, cols) = `storage` whose
    first byte is `base`. It starts on a box; partial boxes count whole: the device moves boxes."""
    box_rows, box_cols = inner_box(type_)
    return _boxes(type_, storage, base, row, col, -(-type_.rows // box_rows), -(-type_.cols // box_cols))


def cut(type_: TileBufType, storage: tuple[int, int], base: Expr, row: Expr, col: Expr) -> Rect | None:
    """The same for a window that may start within a box, as what is moved element by element does; None where that is
    no rect. Along the lines of its boxes, rows of NZ and columns of ZN, a tile goes on from box to box."""
    box_rows, box_cols = inner_box(type_)
    high, wide = _met(row, type_.rows, box_rows), _met(col, type_.cols, box_cols)
    layout = type_.blayout, type_.slayout
    if layout == (BLayout.COL, SLayout.ROW) and not _fits(row, box_rows) and wide is not None:
        line, length = box_cols * type_.dtype.bytes, -(-storage[0] // box_rows) * box_rows
        return Rect(base + (col // box_cols * length + row) * line, wide, type_.rows * line, length * line)
    if layout == (BLayout.ROW, SLayout.COL) and not _fits(col, box_cols) and high is not None:
        line, length = box_rows * type_.dtype.bytes, -(-storage[1] // box_cols) * box_cols
        return Rect(base + (row // box_rows * length + col) * line, high, type_.cols * line, length * line)
    return _boxes(type_, storage, base, row, col, high, wide) if high is not None and wide is not None else None


def _boxes(
    type_: TileBufType, storage: tuple[int, int], base: Expr, row: Expr, col: Expr, high: int, wide: int
) -> Rect:
    """`high` x `wide` boxes from that of an element on."""
    box_rows, box_cols = inner_box(type_)
    storage_high, storage_wide = -(-storage[0] // box_rows), -(-storage[1] // box_cols)
    unit = box_rows * box_cols * type_.dtype.bytes
    box_row, box_col = row // box_rows, col // box_cols
    if type_.blayout is BLayout.ROW:
        return Rect(base + (box_row * storage_wide + box_col) * unit, high, wide * unit, storage_wide * unit)
    return Rect(base + (box_col * storage_high + box_row) * unit, wide, high * unit, storage_high * unit)


def _met(start: Expr, length: int, size: int) -> int | None:
    """How many boxes a window meets along an axis; None if that depends on where it starts."""
    within = 0 if _fits(start, size) else (start % size).value
    return -(-(within + length) // size) if within is not None else None


def _fits(start: Expr, size: int) -> bool:
    return as_cond(start % size == 0) is TRUE
