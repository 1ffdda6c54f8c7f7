"""Tile storage: which bytes of its root a tile or a subview occupies. Sources: PTO-ISA tile storage (element offsets of
ND, DN, Nz, Zn, Zz), PTOAS verifyBoxedTileLayout (inner boxes)."""

from __future__ import annotations

from pypto_verified.index import Expr
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
    first byte is `base`. Partial boxes count whole: the device moves boxes."""
    box_rows, box_cols = inner_box(type_)
    high, wide = -(-type_.rows // box_rows), -(-type_.cols // box_cols)
    storage_high, storage_wide = -(-storage[0] // box_rows), -(-storage[1] // box_cols)
    unit = box_rows * box_cols * type_.dtype.bytes
    box_row, box_col = row // box_rows, col // box_cols
    if type_.blayout is BLayout.ROW:
        return Rect(base + (box_row * storage_wide + box_col) * unit, high, wide * unit, storage_wide * unit)
    return Rect(base + (box_col * storage_high + box_row) * unit, wide, high * unit, storage_high * unit)
