"""The bytes of a part of a tile, element by element: the place of each is computed from the layout alone."""

from __future__ import annotations

import pytest

from pypto_verified.pto.reader import read
from pypto_verified.pto.types import TileBufType
from tests.verifiers.kernels import alloc, kernel, tile
from verifiers.access import build_program
from verifiers.access.tiles import inner_box
from verifiers.regions import bits_of, repeated, whole_boxes

# (rows, cols of a tile, dtype, blayout, slayout, fractal), rows and cols of a box: 16 lines of 32 bytes, or 16 x 16
# elements of 1024 bytes, or 16 lines of two for scales
TILES = [
    ((4, 16, "f32", "row_major", "none_box", 512), (1, 1)), ((8, 16, "f16", "col_major", "none_box", 512), (1, 1)),
    ((32, 24, "f32", "col_major", "row_major", 512), (16, 8)), ((32, 32, "f16", "col_major", "row_major", 512),
    (16, 16)),
    ((32, 64, "i8", "col_major", "row_major", 512), (16, 32)), ((32, 24, "f32", "row_major", "row_major", 512),
    (16, 8)),
    ((24, 32, "f32", "row_major", "col_major", 512), (8, 16)), ((32, 32, "f16", "row_major", "col_major", 512),
    (16, 16)),
    ((24, 32, "f32", "col_major", "col_major", 512), (8, 16)), ((32, 48, "f32", "col_major", "row_major", 1024),
    (16, 16)),
    ((32, 4, "i8", "row_major", "row_major", 32), (16, 2)), ((4, 32, "i8", "col_major", "col_major", 32), (2, 16)),
]
_SIZES = {"f32": 4, "f16": 2, "i8": 1}
Layout = tuple[int, int, str, str, str, int]


def _place(layout: Layout, box: tuple[int, int], row: int, col: int) -> int:
    """The first byte of an element."""
    rows, cols, dtype, blayout, slayout, _ = layout
    if slayout == "none_box":
        return (row * cols + col if blayout == "row_major" else col * rows + row) * _SIZES[dtype]
    high, wide = box
    number = (row // high) * (cols // wide) + col // wide
    if blayout == "col_major":
        number = (col // wide) * (rows // high) + row // high
    inner = (row % high) * wide + col % wide if slayout == "row_major" else (col % wide) * high + row % high
    return (number * high * wide + inner) * _SIZES[dtype]


def _type(layout: Layout) -> str:
    rows, cols, dtype, blayout, slayout, fractal = layout
    return tile(rows, cols, dtype, "mat" if slayout != "none_box" else "vec", blayout, slayout, fractal)


def _bytes(layout: Layout, box: tuple[int, int], rows: range, cols: range) -> int:
    whole = (1 << _SIZES[layout[2]]) - 1
    found = 0
    for row in rows:
        for col in cols:
            found |= whole << _place(layout, box, row, col)
    return found


@pytest.mark.parametrize(("layout", "box"), TILES, ids=lambda x: "-".join(map(str, x)))
def test_the_first_rows_and_columns(layout: Layout, box: tuple[int, int]) -> None:
    program = build_program(read(kernel(alloc("t", _type(layout)))).funcs[0], "", "a2a3")
    (made,) = program.defined
    high, wide = layout[:2]
    for rows in {0, 1, box[0] - 1, box[0], box[0] + 1, high - 1, high, high + 1} - {-1}:
        for cols in {0, 1, box[1] - 1, box[1], box[1] + 1, wide - 1, wide, wide + 1} - {-1}:
            expected = _bytes(layout, box, range(min(rows, high)), range(min(cols, wide)))
            assert bits_of(made.tile, rows, cols) == expected, (rows, cols)


@pytest.mark.parametrize(("layout", "box"), TILES, ids=lambda x: "-".join(map(str, x)))
@pytest.mark.parametrize(("down", "right"), [(0, 0), (1, 0), (0, 1), (1, 1)])
def test_a_window_of_a_box_of_the_tile(layout: Layout, box: tuple[int, int], down: int, right: int) -> None:
    """As large as the tile without one row and one column of boxes, at either end."""
    high, wide = (box if box != (1, 1) else (2, 8))
    rows, cols = layout[0] - high, layout[1] - wide
    row, col = down * high, right * wide
    source = _type(layout)
    part = _type((rows, cols, *layout[2:]))
    text = kernel("\n".join((
        *(f"%n{n} = arith.constant {n} : index" for n in sorted({row, col})), alloc("t", source),
        f"%v = pto.subview %t[%n{row}, %n{col}] sizes [{rows}, {cols}] : {source} -> {part}")))
    program = build_program(read(text).funcs[0], "", "a2a3")
    window = program.defined[-1].tile
    start = window.rect.base.value
    assert start == _place(layout, box, row, col)
    for shown in {(1, 1), (rows, cols), (rows - 1, cols), (rows, cols - 1)}:
        found = bits_of(window, *shown)
        assert found is not None
        assert found << start == _bytes(layout, box, range(row, row + shown[0]), range(col, col + shown[1])), shown


@pytest.mark.parametrize(("layout", "box"), TILES, ids=lambda x: "-".join(map(str, x)))
def test_extents_are_rounded_up_to_whole_boxes(layout: Layout, box: tuple[int, int]) -> None:
    program = build_program(read(kernel(alloc("t", _type(layout)))).funcs[0], "", "a2a3")
    made = program.defined[0].tile
    type_ = made.type
    assert isinstance(type_, TileBufType) and inner_box(type_) == box
    zero = made.valid_rows * 0
    for n in (0, 1, box[0], box[0] + 1):
        for m in (0, 1, box[1], box[1] + 1):
            rows, cols = whole_boxes(made, zero + n, zero + m)
            assert (rows.value, cols.value) == (-(-n // box[0]) * box[0], -(-m // box[1]) * box[1])


@pytest.mark.parametrize(("count", "copies"), [(0, ()), (1, (0,)), (2, (0, 8)), (3, (0, 8, 16)),
(5, (0, 8, 16, 24, 32))])
def test_copies_of_bytes(count: int, copies: tuple[int, ...]) -> None:
    assert repeated(0b101, count, 8) == sum(0b101 << at for at in copies)
