"""Where an element of a tile lies: the one address function, its inverse, and strided windows for whole transfers.

Offsets count elements from the tile's first byte. Source: PTO-ISA `pto_tile.hpp`, `GetTileOffset`.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from pypto_verified.layouts import BLayout, SLayout
from pypto_verified.records import dataclass

BLOCK_BYTES = 32
N = TypeVar("N", int, npt.NDArray[np.int64])


def ceil_to(value: int, multiple: int) -> int:
    """The smallest multiple of `multiple` that is not below `value`."""
    return -(-value // multiple) * multiple


def inner_box(slayout: SLayout, fractal: int, itemsize: int) -> tuple[int, int]:
    """Rows and columns of a fractal box (1, 1 when unboxed)."""
    if slayout is SLayout.NONE:
        return 1, 1
    if fractal == 1024:
        return 16, 16
    short = 2 if fractal == 32 else BLOCK_BYTES // itemsize
    return (16, short) if slayout is SLayout.ROW else (short, 16)


@dataclass(frozen=True, eq=False, slots=True)
class Layout:
    """A physical extent of `rows` x `cols` elements in boxes of `box`; strides in elements, compared by identity.

    `block_row`/`block_col`: from one box to the next; `inner_row`/`inner_col`: inside a box.
    """

    rows: int
    cols: int
    box: tuple[int, int]
    blayout: BLayout
    slayout: SLayout
    block_row: int
    block_col: int
    inner_row: int
    inner_col: int

    def offset(self, row: N, col: N) -> N:
        """Element offset of (row, col), or of each of two arrays; rows and columns beyond the extent follow the same
        arithmetic."""
        (box_row, in_row), (box_col, in_col) = divmod(row, self.box[0]), divmod(col, self.box[1])
        found: N = (
            box_row * self.block_row + in_row * self.inner_row + box_col * self.block_col + in_col * self.inner_col
        )
        return found

    def position(self, offset: int) -> tuple[int, int]:
        """(row, col) of an element offset: the inverse of `offset` on the physical extent."""
        box_rows, box_cols = self.box
        if self.blayout is BLayout.COL:
            box_col, rest = divmod(offset, max(self.rows, 1) * box_cols)
            box_row, rest = divmod(rest, box_rows * box_cols)
        else:
            box_row, rest = divmod(offset, max(self.cols, 1) * box_rows)
            box_col, rest = divmod(rest, box_rows * box_cols)
        if self.slayout is SLayout.COL:
            in_col, in_row = divmod(rest, box_rows)
        else:
            in_row, in_col = divmod(rest, box_cols)
        return box_row * box_rows + in_row, box_col * box_cols + in_col

    def axes(self) -> tuple[tuple[int, int, int], tuple[int, int, int]]:
        """(box, stride between boxes, stride inside) of rows and of columns; boxes without a jump are merged."""
        rows = (self.box[0], self.block_row, self.inner_row)
        cols = (self.box[1], self.block_col, self.inner_col)
        return _merged(rows), _merged(cols)


def _merged(axis: tuple[int, int, int]) -> tuple[int, int, int]:
    box, between, inside = axis
    return (1, inside, 0) if box > 1 and between == box * inside else axis


@lru_cache(maxsize=4096)
def layout_of(
    blayout: BLayout, slayout: SLayout, fractal: int, rows: int, cols: int, itemsize: int
) -> Layout:
    """The layout of a tile type. ND row/none, DN col/none, Nz col/row, Zn row/col, Zz row/row, Nn col/col."""
    box_rows, box_cols = inner_box(slayout, fractal, itemsize)
    if slayout is SLayout.ROW and rows == 1:
        box_rows = 1  # a vector operand is dense: its boxes hold one row
    inner_row, inner_col = (1, box_rows) if slayout is SLayout.COL else (box_cols, 1)
    size = box_rows * box_cols
    if blayout is BLayout.COL:
        block_row, block_col = size, rows * box_cols
    else:
        block_row, block_col = cols * box_rows, size
    return Layout(rows, cols, (box_rows, box_cols), blayout, slayout, block_row, block_col, inner_row, inner_col)


@dataclass(frozen=True, slots=True)
class Segment:
    """A run of rows (or columns): `count` whole or partial boxes of `inner` lines each, from `start`."""

    start: int
    count: int
    inner: int

    @property
    def stop(self) -> int:
        return self.start + self.count * self.inner


def segments(start: int, count: int, box: int) -> tuple[Segment, ...]:
    """Cut `count` lines from `start` into a partial first box, whole boxes and a partial last box."""
    found: list[Segment] = []
    stop = start + count
    if start % box and start < stop:
        head = min(stop, ceil_to(start, box))
        found.append(Segment(start, 1, head - start))
        start = head
    if whole := (stop - start) // box:
        found.append(Segment(start, whole, box))
        start += whole * box
    if start < stop:
        found.append(Segment(start, 1, stop - start))
    return tuple(found)
