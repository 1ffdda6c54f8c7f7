"""Element-wise, comparison, reduction and expand ops: shapes, element types, valid extents."""

from __future__ import annotations

import pytest

from pypto_verified.dtypes import BF16, FP16, FP32, INT8, INT16, INT32, UINT8, DType
from pypto_verified.errors import OpError
from pypto_verified.ir.expr import Binary, Const
from pypto_verified.layouts import BLayout, Space
from pypto_verified.ops.layout import effective_view
from tests.ops.common import call, index, result, scalar, tile


@pytest.mark.parametrize("op", ["add", "sub", "mul", "maximum", "minimum", "fmod"])
def test_tile_with_tile_keeps_shape_dtype_and_the_first_valid_extent(op: str) -> None:
    n = index("n")
    t = result(f"tile.{op}", tile(16, 64, valid=(n, 64)), tile(16, 64, name="u"))
    assert (t.shape, t.dtype, t.space, t.valid_shape) == ((16, 64), FP32, Space.VEC, (n, 64))


@pytest.mark.parametrize("op", ["part_add", "part_mul", "part_max", "part_min"])
def test_a_partial_op_is_valid_where_either_source_is(op: str) -> None:
    narrow, wide = tile(16, 64, valid=(16, 10)), tile(16, 64, name="u", valid=(4, 64))
    assert result(f"tile.{op}", narrow, wide).valid_shape == (16, 64)
    assert result(f"tile.{op}", narrow, tile(16, 64, name="u", valid=(8, 8))).valid_shape == (16, 10)


def test_mixed_element_types_are_refused() -> None:
    with pytest.raises(OpError, match="lhs is FP16 but rhs is BF16") as e:
        call("tile.add", tile(16, 64, dtype=FP16), tile(16, 64, dtype=BF16))
    assert "pl.cast" in e.value.help


@pytest.mark.parametrize(("dtype", "ok"), [(INT16, True), (FP32, True), (BF16, False), (INT8, False)])
def test_division_is_for_four_element_types(dtype: DType, ok: bool) -> None:
    operands = (tile(16, 64, dtype=dtype), tile(16, 64, dtype=dtype))
    if ok:
        assert result("tile.div", *operands).dtype == dtype
    else:
        with pytest.raises(OpError, match=f"lhs is {dtype}"):
            call("tile.div", *operands)


def test_division_refuses_operands_valid_on_different_regions() -> None:
    with pytest.raises(OpError, match=r"valid on \[8, 64\] but rhs on \[16, 64\]"):
        call("tile.div", tile(16, 64, valid=(8, 64)), tile(16, 64))


def test_bitwise_ops_take_integers() -> None:
    assert result("tile.and", tile(16, 64, dtype=INT16), tile(16, 64, dtype=INT16)).dtype == INT16
    with pytest.raises(OpError, match="integer dtype, got FP32"):
        call("tile.or", tile(16, 64), tile(16, 64))
    with pytest.raises(OpError, match="integer dtype, got FP16"):
        call("tile.shrs", tile(16, 64, dtype=FP16), Const(1))


def test_scratch_operands_are_demanded() -> None:
    with pytest.raises(OpError, match="2 operands given, 3 expected"):
        call("tile.rem", tile(16, 64), tile(16, 64))
    assert result("tile.rem", tile(16, 64), tile(16, 64), tile(16, 64)).shape == (16, 64)


@pytest.mark.parametrize("op", ["tile.addc", "tile.subc"])
def test_carry_ops_take_three_tiles(op: str) -> None:
    assert result(op, tile(16, 64), tile(16, 64), tile(16, 64)).shape == (16, 64)
    with pytest.raises(OpError, match="rhs2"):
        call(op, tile(16, 64), tile(16, 64), tile(16, 32))


def test_padding_does_not_carry_over_to_a_computed_tile() -> None:
    padded = call("tile.fillpad", tile(16, 64, valid=(8, 64)))
    assert result("tile.exp", padded).view is None


def test_functions_of_one_element_type() -> None:
    assert result("tile.sin", tile(16, 64)).dtype == FP32
    for op, dtype in (("tile.sin", FP16), ("tile.log", INT32), ("tile.not", INT32)):
        with pytest.raises(OpError, match=f"tile is {dtype}"):
            call(op, tile(16, 64, dtype=dtype))


def test_cast_changes_the_element_type_only() -> None:
    n = index("n")
    t = result("tile.cast", tile(16, 64, valid=(16, n)), target_type=INT32, mode="trunc")
    assert (t.shape, t.dtype, t.valid_shape) == ((16, 64), INT32, (16, n))


def test_cast_to_the_same_type_is_refused() -> None:
    with pytest.raises(OpError, match="target_type FP32 is the tile's own dtype"):
        call("tile.cast", tile(16, 64), target_type=FP32)


@pytest.mark.parametrize(("columns", "bytes_"), [(8, 32), (32, 32), (256, 32), (264, 64), (512, 64)])
def test_a_mask_has_one_bit_a_lane_in_rows_of_32_bytes(columns: int, bytes_: int) -> None:
    mask = result("tile.cmp", tile(16, columns), tile(16, columns), cmp_type="lt")
    assert (mask.shape, mask.dtype) == ((16, bytes_), UINT8)


def test_a_mask_is_valid_on_the_bytes_that_hold_valid_lanes() -> None:
    mask = result("tile.cmps", tile(16, 128, valid=(4, 17)), Const(0.0, FP32), cmp_type=4)
    assert mask.valid_shape == (4, 3)


def test_selection_follows_its_value_operands() -> None:
    x = tile(16, 32, valid=(16, 20))
    mask = call("tile.cmp", x, x, cmp_type="gt")
    tmp = tile(1, 32, dtype=UINT8)
    assert result("tile.sel", mask, x, tile(16, 32, name="y"), tmp).valid_shape == (16, 20)
    assert result("tile.sels", mask, x, tmp, Const(0)).dtype == FP32


def test_selection_refuses_a_mask_that_is_too_small() -> None:
    narrow = tile(16, 32, dtype=UINT8, valid=(16, 1))
    with pytest.raises(OpError, match="holds fewer bits"):
        call("tile.sel", narrow, tile(16, 32), tile(16, 32), tile(1, 32, dtype=UINT8))


def test_a_row_reduction_gives_a_column() -> None:
    n = index("n")
    t = result("tile.row_sum", tile(16, 64, valid=(n, 40)), tile(16, 64, name="tmp"))
    assert (t.shape, t.valid_shape, effective_view(t).blayout) == ((16, 1), (n, 1), BLayout.COL)


def test_a_reduction_of_one_row_is_still_column_major() -> None:
    assert effective_view(result("tile.row_max", tile(1, 64), tile(1, 64))).blayout is BLayout.COL


def test_a_small_scratch_tile_is_refused_because_the_device_overruns_it() -> None:
    with pytest.raises(OpError, match=r"tmp_tile \[16, 32\] is smaller than the input \[16, 64\] in dim 1") as e:
        call("tile.row_sum", tile(16, 64), tile(16, 32))
    assert "pl.tile.create([16, 64], dtype=pl.FP32)" in e.value.help


def test_a_larger_scratch_tile_is_fine_but_not_for_argmax() -> None:
    assert result("tile.row_max", tile(16, 64), tile(32, 128)).shape == (16, 1)
    with pytest.raises(OpError, match="must have exactly the input's shape"):
        call("tile.row_argmax", tile(16, 64), tile(32, 128))


def test_arg_reductions_give_int32() -> None:
    assert result("tile.row_argmin", tile(16, 64), tile(16, 64)).dtype == INT32
    assert result("tile.col_argmax", tile(16, 64), tile(16, 64)).dtype == INT32


def test_a_reduction_of_an_empty_tile_is_refused() -> None:
    with pytest.raises(OpError, match="tile is empty"):
        call("tile.col_max", tile(16, 64, valid=(0, 64)))


def test_a_column_reduction_gives_a_row() -> None:
    t = result("tile.col_sum", tile(16, 64, valid=(9, 40)))
    assert (t.shape, t.valid_shape) == ((1, 64), (1, 40))
    assert result("tile.col_sum", tile(16, 64), tile(16, 64)).shape == (1, 64)


@pytest.mark.parametrize("op", ["row_expand", "row_expand_mul", "row_expand_sub", "row_expand_expdif"])
def test_row_expand_takes_a_column(op: str) -> None:
    assert result(f"tile.{op}", tile(16, 64), tile(16, 1)).shape == (16, 64)
    with pytest.raises(OpError, match=r"must be a column \[M, 1\], got shape \[1, 64\]") as e:
        call(f"tile.{op}", tile(16, 64), tile(1, 64))
    assert "col_expand" in e.value.help
    with pytest.raises(OpError, match="16 rows but row_vec has 8"):
        call(f"tile.{op}", tile(16, 64), tile(8, 1))


def test_col_expand_takes_a_row() -> None:
    assert result("tile.col_expand_add", tile(16, 64), tile(1, 64)).shape == (16, 64)
    with pytest.raises(OpError, match="64 columns but col_vec has 32"):
        call("tile.col_expand_mul", tile(16, 64), tile(1, 32))


def test_row_expand_add_takes_a_column_or_a_block_of_32_bytes() -> None:
    column = call("tile.row_sum", tile(16, 64), tile(16, 64))
    assert result("tile.row_expand_add", tile(16, 64), column).shape == (16, 64)
    assert result("tile.row_expand_add", tile(16, 64), tile(16, 8)).shape == (16, 64)
    with pytest.raises(OpError, match="row_vec must be valid on 8 columns"):
        call("tile.row_expand_add", tile(16, 64), tile(16, 16))


def test_dynamic_extents_stay_expressions() -> None:
    mask = result("tile.cmps", tile(16, 256, valid=(16, index("n"))), scalar("s", FP32), cmp_type="ge")
    assert isinstance(mask.valid_shape[1], Binary)
