"""Locations, and the check of every allocated tile's shape."""

from __future__ import annotations

import pytest

from pypto_verified.codegen import generate_text
from pypto_verified.dtypes import FP16, FP32, INDEX, INT8, DType
from pypto_verified.errors import CodegenError
from pypto_verified.ir.expr import NO_SPAN, Binary, BinaryOp, Const, Span, Var
from pypto_verified.ir.stmt import Assign, For, Function
from pypto_verified.ir.types import TileType, TileView
from pypto_verified.layouts import BLayout, SLayout, Space
from pypto_verified.targets import A2A3
from tests.codegen.build import kernel, let, lines, nums, scalar, tensor, tile

A = Var("a", tensor(64, 64))
X = Var("x", tile(16, 64))
STMT, CALL = Span("kernels/k.py", 14, 9, 14, 40), Span("kernels/k.py", 14, 13, 14, 40)
WHOLE = Span("kernels/k.py", 3, 5, 30, 1)
AT = ' loc("kernels/k.py":{}:{})'


def load(stmt: Span, call: Span) -> Function:
    body = [let(X, "tile.load", A, nums(scalar("r"), 0), nums(16, 64), span=stmt, call_span=call)]
    row = Assign(scalar("r"), Binary(BinaryOp.ADD, scalar("n"), Const(1), INDEX), Span("kernels/k.py", 13, 9, 13, 20))
    loop = For(scalar("i"), Const(0), Const(4), Const(1), (), (row, *body), (), span=WHOLE)
    return kernel([loop], A, scalar("n"), spans=(Span("kernels/k.py", 8, 9, 8, 20), NO_SPAN))


@pytest.mark.requirement("CG-17")
def test_ops_carry_the_statements_place_and_the_calls_where_it_lies_inside() -> None:
    found = lines(load(STMT, CALL), locs=True)
    ends = {line.split(" = ")[0].split(" ins")[0]: line[line.index(" loc("):] for line in found if " loc(" in line}
    assert ends == {
        "%a_view": AT.format(8, 9), "%r": AT.format(13, 9), "%x": AT.format(14, 9),
        "%a_pview": AT.format(14, 13), "pto.tload": AT.format(14, 13),
    }


@pytest.mark.requirement("CG-17")
def test_a_call_span_that_is_not_inside_its_statement_is_dropped() -> None:
    # Passes that make up a call give it the span of the whole function.
    assert lines(load(STMT, WHOLE), locs=True)[-1].endswith(AT.format(14, 9))
    assert lines(load(STMT, Span("other.py", 14, 13, 14, 40)), locs=True)[-1].endswith(AT.format(14, 9))


@pytest.mark.requirement("CG-17")
def test_constants_structure_and_unknown_places_have_no_location() -> None:
    found = lines(load(STMT, CALL), locs=True)
    assert not any("loc(" in line for line in found if "arith.constant" in line or "scf.for" in line)
    for unknown in (NO_SPAN, Span("", 14, 9, 14, 40), Span("kernels/k.py", 0, 0, 0, 0)):
        assert "loc(" not in lines(load(unknown, unknown), locs=True)[-1]


@pytest.mark.requirement("CG-18")
def test_without_locations_the_text_is_the_same_byte_for_byte() -> None:
    function = load(STMT, CALL)
    located = generate_text([function], A2A3)
    bare = generate_text([function], A2A3, emit_source_loc=False)
    assert "loc(" not in bare
    assert bare == "".join(line.split(' loc("')[0].rstrip("\n") + "\n" for line in located.splitlines())


def shape_error(type_: TileType) -> CodegenError | None:
    try:
        lines(kernel([let(Var("t", type_), "tile.create", nums(1, 1), span=STMT)]))
    except CodegenError as error:
        return error
    return None


MAT, LEFT, RIGHT, ACC, VEC = Space.MAT, Space.LEFT, Space.RIGHT, Space.ACC, Space.VEC


@pytest.mark.requirement("CG-19")
@pytest.mark.parametrize(
    ("space", "dtype", "good", "bad", "axis", "needed"),
    [
        (MAT, FP16, (112, 128), (100, 128), "row", 112),  # boxes of 16 x 16
        (MAT, FP16, (16, 48), (16, 40), "column", 48),
        (MAT, FP32, (16, 24), (16, 20), "column", 24),  # boxes of 16 x 8
        (LEFT, INT8, (16, 64), (16, 48), "column", 64),  # boxes of 16 x 32
        (RIGHT, INT8, (64, 16), (48, 16), "row", 64),  # boxes of 32 x 16
        (RIGHT, FP16, (16, 32), (16, 24), "column", 32),
        (ACC, FP32, (32, 16), (17, 16), "row", 32),  # boxes of 16 x 16 whatever the element
        (ACC, FP32, (16, 32), (16, 24), "column", 32),
        (VEC, FP32, (5, 8), (5, 7), "column", 8),  # rows of 32 bytes
        (VEC, INT8, (5, 32), (5, 31), "column", 32),
    ],
)
def test_a_tile_is_a_whole_number_of_boxes(
    space: Space, dtype: DType, good: tuple[int, int], bad: tuple[int, int], axis: str, needed: int
) -> None:
    assert shape_error(tile(*good, dtype, space)) is None
    error = shape_error(tile(*bad, dtype, space))
    assert error is not None
    extent = bad[0] if axis == "row" else bad[1]
    assert "'t'" in error.message and f"{axis} extent {extent}" in error.message
    assert error.help == f"allocate {needed} on that axis and declare {extent} as the tile's valid_shape"
    assert str(error.location) == "kernels/k.py:14:9"


@pytest.mark.requirement("CG-19")
def test_a_column_of_an_unboxed_tile_is_counted_along_the_column() -> None:
    assert shape_error(tile(8, 1, col_major=True)) is None
    error = shape_error(tile(9, 1, col_major=True))
    assert error is not None and "row extent 9" in error.message


@pytest.mark.requirement("CG-19")
def test_the_row_rule_spares_vec_and_single_row_tiles() -> None:
    boxed = TileView((), BLayout.COL, SLayout.ROW, 512)
    assert shape_error(TileType((5, 16), FP16, VEC, boxed, tile(5, 16, FP16).memref)) is None
    assert shape_error(tile(1, 64, FP16, MAT)) is None
    assert shape_error(tile(2, 64, FP16, MAT)) is not None


@pytest.mark.requirement("CG-19")
def test_the_column_rule_spares_nobody() -> None:
    boxed = TileView((), BLayout.COL, SLayout.ROW, 512)
    assert shape_error(TileType((16, 8), FP16, VEC, boxed, tile(16, 8, FP16).memref)) is not None
    assert shape_error(tile(1, 40, FP16, MAT)) is not None


@pytest.mark.requirement("CG-19")
def test_scale_and_sub_byte_tiles_are_left_to_the_assembler() -> None:
    from pypto_verified.dtypes import DTYPES

    scale = TileView((), BLayout.ROW, SLayout.ROW, 32)
    assert shape_error(TileType((5, 3), DTYPES["FP8E8M0"], Space.SCALING, scale, tile(5, 3, INT8).memref)) is None
    assert shape_error(tile(5, 3, DTYPES["INT4"], MAT)) is None


@pytest.mark.requirement("CG-19")
def test_fp32_boxes_name_their_size() -> None:
    error = shape_error(tile(16, 20, FP32, MAT))
    assert error is not None and "(Mat, [16, 20], FP32) must be a whole number of 16x8 fractal boxes" in error.message
