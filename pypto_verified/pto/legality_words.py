"""Small words that legality rows are written with. None is `?`: it equals everything and is never out of range."""

from __future__ import annotations

from pypto_verified.layouts import BLayout, SLayout, Space
from pypto_verified.pto.types import TileBufType
from pypto_verified.pto.typetext import dim_text, type_text

A3 = ("a2a3",)
A5 = ("a5",)
LEVEL3 = ("level3",)
BELOW3 = ("level1", "level2")
MAX_MATMUL = 4095
"""Largest extent of a matmul operand."""


def same(a: int | None, b: int | None) -> bool:
    return a is None or b is None or a == b


def up_to(a: int | None, limit: int | None) -> bool:
    return a is None or limit is None or a <= limit


def at_least(a: int | None, limit: int) -> bool:
    return a is None or a >= limit


def plus(a: int | None, b: int | None) -> int | None:
    return None if a is None or b is None else a + b


def same_valid(a: TileBufType, b: TileBufType) -> bool:
    return same(a.v_row, b.v_row) and same(a.v_col, b.v_col)


def same_shape(a: TileBufType, b: TileBufType) -> bool:
    return (a.rows, a.cols) == (b.rows, b.cols)


def is_row_major(t: TileBufType) -> bool:
    return t.blayout is BLayout.ROW


def line_bytes(t: TileBufType) -> int:
    """Bytes of a row of a row-major tile, of a column of another."""
    return (t.cols if is_row_major(t) else t.rows) * t.dtype.bytes


def is_nd(t: TileBufType) -> bool:
    """Row-major, not boxed."""
    return t.blayout is BLayout.ROW and t.slayout is SLayout.NONE


def is_dn(t: TileBufType) -> bool:
    """Column-major, not boxed."""
    return t.blayout is BLayout.COL and t.slayout is SLayout.NONE


def is_nz(t: TileBufType) -> bool:
    """Columns of row-major boxes."""
    return t.blayout is BLayout.COL and t.slayout is SLayout.ROW


def is_zn(t: TileBufType) -> bool:
    """Rows of column-major boxes."""
    return t.blayout is BLayout.ROW and t.slayout is SLayout.COL


def is_zz(t: TileBufType) -> bool:
    """Rows of row-major boxes."""
    return t.blayout is BLayout.ROW and t.slayout is SLayout.ROW


def box(t: TileBufType) -> tuple[int, int]:
    """Rows and columns of one fractal box of a boxed tile; every element type divides its 32-byte row."""
    if t.fractal == 1024:
        return 16, 16
    if t.fractal == 32:
        return 16, 2
    line = 32 // t.dtype.bytes
    return (16, line) if t.slayout is SLayout.ROW else (line, 16)


def elements(t: TileBufType, rows: int | None, cols: int | None) -> tuple[int | None, int | None]:
    """Extents of a tile in elements: packed 4-bit types count two for each that the type says, along a line."""
    if not t.dtype.pto.startswith("!pto.f4"):
        return rows, cols
    double = [None if extent is None else 2 * extent for extent in (rows, cols)]
    return (rows, double[1]) if is_row_major(t) else (double[0], cols)


def dtypes(*tiles: TileBufType) -> str:
    """The element types as a message names them."""
    return ", ".join(t.dtype.pto for t in tiles)


def is_vec(t: TileBufType) -> bool:
    return t.loc is Space.VEC


def spelled(*tiles: TileBufType) -> str:
    """The tiles as a message names them."""
    return " and ".join(type_text(t, True).removeprefix("!pto.tile_buf") for t in tiles)


def extents(*tiles: TileBufType) -> str:
    """The valid extents as a message names them."""
    return " and ".join(f"{dim_text(t.v_row)}x{dim_text(t.v_col)}" for t in tiles)
