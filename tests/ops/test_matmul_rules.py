"""Products, gathers, sorts and cross-core ops."""

from __future__ import annotations

import pytest

from pypto_verified.dtypes import BOOL, FP16, FP32, INT8, INT16, INT32, UINT32, DType
from pypto_verified.errors import OpError
from pypto_verified.ir.expr import Binary, BinaryOp, Const, Dim, Var
from pypto_verified.ir.types import NoneType, ScalarType
from pypto_verified.layouts import Compact, Space
from pypto_verified.ops.layout import effective_view, make_tile
from tests.ops.common import call, index, numbers, result, scalar, tile


def left(m: int, k: int, valid: tuple[Dim, ...] = (), dtype: DType = FP16) -> Var:
    return tile(m, k, dtype=dtype, space=Space.LEFT, valid=valid, name="l")


def right(k: int, n: int, valid: tuple[Dim, ...] = (), dtype: DType = FP16) -> Var:
    return tile(k, n, dtype=dtype, space=Space.RIGHT, valid=valid, name="r")


def test_a_product_accumulates_floats_in_fp32_and_bytes_in_int32() -> None:
    t = result("tile.matmul", left(32, 64), right(64, 48))
    assert t == make_tile((32, 48), FP32, Space.ACC)
    assert result("tile.matmul", left(32, 64, dtype=INT8), right(64, 48, dtype=INT8)).dtype == INT32


def test_inner_dimensions_must_agree() -> None:
    with pytest.raises(OpError, match=r"lhs is \[32, 64\] and rhs \[32, 48\]: the inner dimensions 64 and 32 differ"):
        call("tile.matmul", left(32, 64), right(32, 48))
    with pytest.raises(OpError, match="valid on K=64 but rhs only on K=40"):
        call("tile.matmul", left(32, 64), right(64, 48, valid=(40, 48)))


@pytest.mark.requirement("CA-02")
@pytest.mark.parametrize(
    ("valid", "mode"),
    [
        ((32, 64), Compact.NULL), ((20, 64), Compact.NORMAL), ((index("m"), 64), Compact.NORMAL),
        ((32, 40), Compact.NULL),
    ],
)
def test_an_accumulator_is_compact_when_its_valid_rows_are_not_all_rows(
    valid: tuple[Dim, ...], mode: Compact
) -> None:
    t = result("tile.matmul", left(32, 64, valid=valid), right(64, 48))
    assert effective_view(t).compact is mode
    assert t.valid_shape == (valid[0], 48)


@pytest.mark.requirement("CA-03")
def test_accumulating_inherits_the_accumulators_mode() -> None:
    acc = call("tile.create", numbers(32, 48), dtype=FP32, target_memory=Space.ACC, compact=True)
    t = result("tile.matmul_acc", acc, left(32, 64), right(64, 48))
    assert effective_view(t).compact is Compact.NORMAL
    plain = call("tile.create", numbers(32, 48), dtype=FP32, target_memory=Space.ACC)
    assert effective_view(result("tile.matmul_acc", plain, left(32, 64, valid=(20, 64)), right(64, 48))).compact is (
        Compact.NULL
    )
    narrowed = call("tile.set_validshape", acc, Const(20), Const(48))
    assert effective_view(result("tile.matmul_acc", narrowed, left(32, 64, valid=(20, 64)), right(64, 48))).compact is (
        Compact.NORMAL
    )


def test_an_accumulator_must_fit_the_product() -> None:
    acc = tile(32, 64, space=Space.ACC, name="acc")
    with pytest.raises(OpError, match=r"acc has shape \[32, 64\] but the product is \[32, 48\]"):
        call("tile.matmul_acc", acc, left(32, 64), right(64, 48))
    small = tile(32, 48, space=Space.ACC, valid=(8, 48))
    with pytest.raises(OpError, match="valid on M=32 but acc only on M=8"):
        call("tile.matmul_acc", small, left(32, 64), right(64, 48))


def test_the_first_trip_may_be_told_by_a_condition() -> None:
    acc = tile(32, 48, space=Space.ACC)
    first = Binary(BinaryOp.EQ, index("k"), Const(0), BOOL)
    assert result("tile.matmul_acc", acc, left(32, 64), right(64, 48), first) == acc.type
    with pytest.raises(OpError, match="init_cond must be BOOL, got INDEX"):
        call("tile.matmul_acc", acc, left(32, 64), right(64, 48), index("k"))


def test_a_bias_is_one_row_of_the_accumulators_type() -> None:
    bias = tile(1, 48, space=Space.BIAS)
    assert result("tile.matmul_bias", left(32, 64), right(64, 48), bias).shape == (32, 48)
    with pytest.raises(OpError, match="bias is FP16 but the product accumulates in FP32"):
        call("tile.matmul_bias", left(32, 64), right(64, 48), tile(1, 48, dtype=FP16, space=Space.BIAS))
    with pytest.raises(OpError, match=r"bias must be \[1, 48\]"):
        call("tile.matmul_bias", left(32, 64), right(64, 48), tile(1, 32, space=Space.BIAS))


def test_a_vector_product_has_16_physical_rows_and_one_valid() -> None:
    t = result("tile.gemv", left(1, 64), right(64, 48))
    assert (t.shape, t.valid_shape, effective_view(t).compact) == ((16, 48), (1, 48), Compact.NULL)
    with pytest.raises(OpError, match="lhs must be one row"):
        call("tile.gemv", left(2, 64), right(64, 48))


def test_an_operand_that_is_not_in_l0_yet_is_moved_by_a_pass() -> None:
    assert result("tile.matmul", tile(32, 64, dtype=FP16, space=Space.MAT), right(64, 48)).space is Space.ACC


def test_gather_takes_the_shape_of_its_indices() -> None:
    t = result("tile.gather", tile(8, 64), tile(4, 32, dtype=INT32), tile(8, 64))
    assert (t.shape, t.dtype) == ((4, 32), FP32)
    with pytest.raises(OpError, match="indices are INT16"):
        call("tile.gather", tile(8, 64), tile(4, 32, dtype=INT16), tile(8, 64))
    assert result("tile.gather", tile(8, 64, dtype=FP16), tile(4, 32, dtype=INT16), tile(8, 64)).dtype == FP16


@pytest.mark.parametrize(("pattern", "columns"), [(1, 32), (2, 32), (3, 16), (6, 16), (7, 64)])
def test_a_mask_pattern_keeps_one_of_so_many_columns(pattern: int, columns: int) -> None:
    assert result("tile.gather_mask", tile(8, 64), mask_pattern=pattern).shape == (8, columns)


def test_scatter_writes_its_destination() -> None:
    dst = tile(8, 64, name="d")
    assert result("tile.scatter", dst, tile(4, 32), tile(4, 32, dtype=INT32)) == dst.type
    with pytest.raises(OpError, match="a FP32 dst needs INT32"):
        call("tile.scatter", dst, tile(4, 32), tile(4, 32, dtype=INT16))


def test_sort32_interleaves_values_and_indices() -> None:
    idx = tile(1, 64, dtype=UINT32)
    assert result("tile.sort32", tile(1, 64), idx).shape == (1, 128)
    assert result("tile.sort32", tile(1, 64, dtype=FP16), idx).shape == (1, 256), "8 bytes an element"


def test_merging_runs_needs_whole_blocks_of_64() -> None:
    assert result("tile.mrgsort_format1", tile(1, 256), Const(64)).shape == (1, 256)
    with pytest.raises(OpError, match="block_len is 32, not a positive multiple of 64"):
        call("tile.mrgsort_format1", tile(1, 256), Const(32))


def test_merging_lists_needs_room_for_all_of_them() -> None:
    lists = [tile(1, 128, name=f"s{i}") for i in range(3)]
    assert result("tile.mrgsort_format2", *lists[:2], tile(1, 256)).shape == (1, 256)
    with pytest.raises(OpError, match="tmp has 256 columns, but the 3 lists have 384 together"):
        call("tile.mrgsort_format2", *lists[:2], tile(1, 256), lists[2])


def test_push_and_pop_directions() -> None:
    assert call("tile.tpush_to_aiv", tile(16, 32, space=Space.ACC), split=3).type == NoneType()
    with pytest.raises(OpError, match="odd extents cross from cube to vector only"):
        call("tile.tpush_to_aic", tile(16, 32), split=3)
    with pytest.raises(OpError, match="keyword split is required"):
        call("tile.tpush_to_aic", tile(16, 32))


def test_a_pop_has_the_annotated_type() -> None:
    n = index("n")
    t = result("tile.tpop_from_aic", numbers(n, 32), shape=(16, 32), dtype=FP32, split=1)
    assert (t.shape, t.space, t.valid_shape) == ((16, 32), Space.VEC, (n, 32))
    assert result("tile.tpop_from_aiv", shape=(16, 32), dtype=FP32).space is Space.MAT
    with pytest.raises(OpError, match="type of the popped tile is not known") as e:
        call("tile.tpop_from_aic", split=0)
    assert "pl.Tile[" in e.value.help


def test_reserved_buffers_have_plain_names() -> None:
    assert call("system.reserve_buffer", name="c2v_ring", size=1024).type == ScalarType(INT32)
    with pytest.raises(OpError, match="letters, digits and _"):
        call("system.reserve_buffer", name="c2v ring", size=1024)


def test_a_shard_is_half_of_the_split_axis() -> None:
    acc = tile(32, 64, space=Space.ACC)
    assert result("tile.aiv_shard", acc, split=1).shape == (16, 64)
    assert result("tile.aiv_shard", acc, split=2).shape == (32, 32)
    assert result("tile.aiv_shard", acc).shape == (32, 64)
    t = result("tile.aiv_shard", tile(32, 64, space=Space.ACC, valid=(17, 64)), split=1)
    assert t.valid_shape == (9, 64)


def test_pipes_are_named() -> None:
    flag = call("system.sync_src", set_pipe="PIPE_MTE2", wait_pipe="V", event_id=0)
    assert (flag.kwarg("set_pipe"), flag.kwarg("wait_pipe")) == ("MTE2", "V")
    with pytest.raises(OpError, match="set_pipe is 'X', not one of MTE1"):
        call("system.sync_src", set_pipe="X", wait_pipe="V", event_id=0)


def test_pipe_setup_checks_its_numbers() -> None:
    base = scalar("base", INT32)
    assert call("system.aic_initialize_pipe", base, Const(0, INT32), dir_mask=1, slot_size=2048).type == NoneType()
    assert call("system.aic_initialize_pipe", base, dir_mask=1, slot_size=2048).type == NoneType()
    with pytest.raises(OpError, match="dir_mask is 4"):
        call("system.aic_initialize_pipe", base, Const(0, INT32), dir_mask=4, slot_size=2048)
