"""Loads, stores, creation, moves, views: windows, layouts, valid extents."""

from __future__ import annotations

import pytest

from pypto_verified.dtypes import BF16, FP16, FP32, INT16, INT32, UINT32
from pypto_verified.errors import NotModelled, OpError
from pypto_verified.index import evaluate
from pypto_verified.ir.expr import Const, Var
from pypto_verified.ir.index_form import to_index
from pypto_verified.ir.types import ScalarType, TensorType, TensorView, TileType
from pypto_verified.layouts import BLayout, Compact, Pad, SLayout, Space, TensorLayout
from pypto_verified.ops.layout import effective_view, implicit_view
from tests.ops.common import call, index, numbers, result, scalar, tensor, tile


def layout(t: TileType) -> tuple[BLayout, SLayout, int]:
    view = effective_view(t)
    return view.blayout, view.slayout, view.fractal


NZ = (BLayout.COL, SLayout.ROW, 512)
ZN = (BLayout.ROW, SLayout.COL, 512)
ROWS = (BLayout.ROW, SLayout.NONE, 512)
COLUMNS = (BLayout.COL, SLayout.NONE, 512)


@pytest.mark.parametrize(
    ("shape", "space", "expected"),
    [
        ((16, 64), Space.VEC, ROWS), ((16, 64), None, ROWS), ((16, 1), Space.VEC, COLUMNS), ((1, 1), Space.VEC, ROWS),
        ((16, 64), Space.MAT, NZ), ((16, 64), Space.LEFT, NZ), ((16, 64), Space.RIGHT, ZN),
        ((16, 64), Space.ACC, (BLayout.COL, SLayout.ROW, 1024)), ((1, 64), Space.BIAS, ROWS),
    ],
)
def test_the_implicit_layout_of_a_space(
    shape: tuple[int, int], space: Space | None, expected: tuple[BLayout, SLayout, int]
) -> None:
    view = implicit_view(shape, space)
    assert (view.blayout, view.slayout, view.fractal) == expected


def test_an_absent_view_is_the_implicit_one() -> None:
    t = result("tile.create", numbers(32, 64), dtype=FP32, target_memory=Space.ACC)
    assert t.view is None
    view = effective_view(t)
    assert (view.valid_shape, view.fractal, view.pad, view.compact) == ((32, 64), 1024, Pad.NULL, Compact.NULL)


def test_a_load_has_the_windows_shape() -> None:
    t = result("tile.load", tensor(64, 128, dtype=FP16), numbers(16, 0), numbers(16, 128))
    assert t == TileType((16, 128), FP16, Space.VEC)


def test_a_load_into_mat_is_nz_and_of_one_row_flat() -> None:
    a = tensor(64, 128, dtype=FP16)
    assert layout(result("tile.load", a, numbers(0, 0), numbers(32, 64), target_memory=Space.MAT)) == NZ
    assert layout(result("tile.load", a, numbers(0, 0), numbers(1, 128), target_memory=Space.MAT)) == ROWS


def test_a_dn_tensor_loads_into_mat_transposed() -> None:
    a = Var("a", TensorType((64, 128), FP16, TensorView(layout=TensorLayout.DN)))
    assert layout(result("tile.load", a, numbers(0, 0), numbers(32, 64), target_memory=Space.MAT)) == ZN
    assert layout(result("tile.load", a, numbers(0, 0), numbers(32, 1), target_memory=Space.MAT)) == ROWS


def test_an_mx_tensor_is_not_modelled() -> None:
    a = Var("a", TensorType((64, 2), FP16, TensorView(layout=TensorLayout.MX_A_ZZ)))
    with pytest.raises(NotModelled, match="MX layout"):
        call("tile.load", a, numbers(0, 0), numbers(64, 2), target_memory=Space.MAT)


def test_a_load_past_the_edge_is_refused_unless_clamped() -> None:
    a = tensor(48, 64)
    with pytest.raises(OpError, match=r"ends at 64 in dim 0 \(offset 32 \+ 32\), past the source's 48") as e:
        call("tile.load", a, numbers(32, 0), numbers(32, 64))
    assert "clamp=True" in e.value.help
    assert result("tile.load", a, numbers(32, 0), numbers(32, 64), clamp=True).valid_shape == (16, 64)
    assert result("tile.load", a, numbers(32, 0), numbers(32, 64), numbers(16, 64)).valid_shape == (16, 64)
    assert result("tile.load", a, numbers(16, 0), numbers(32, 64)).view is None, "one row less fits"


def test_a_clamped_load_of_dynamic_dims_is_valid_on_what_is_left() -> None:
    m, row = index("M"), index("row")
    t = result("tile.load", tensor(m, 64), numbers(row, 0), numbers(16, 64), clamp=True)
    extent = to_index(t.valid_shape[0])
    assert (extent.lo, extent.hi) == (0, 16)
    for rows, first, left in ((40, 0, 16), (40, 32, 8), (40, 40, 0), (40, 100, 0)):
        assert evaluate(extent, {"M": rows, "row": first}) == left


def test_an_offset_that_is_negative_for_sure_is_refused() -> None:
    with pytest.raises(OpError, match="offset -1 in dim 0 is negative"):
        call("tile.load", tensor(48, 64), numbers(-1, 0), numbers(16, 64))


def test_a_valid_shape_larger_than_the_tile_is_refused() -> None:
    with pytest.raises(OpError, match="valid_shape 65 in dim 1 exceeds the window's 64"):
        call("tile.load", tensor(48, 128), numbers(0, 0), numbers(16, 64), numbers(16, 65))


def test_a_load_goes_to_vec_or_mat() -> None:
    with pytest.raises(OpError, match="loads into Vec or Mat only"):
        call("tile.load", tensor(64, 64), numbers(0, 0), numbers(16, 64), target_memory=Space.LEFT)


def test_tile_shapes_are_static() -> None:
    with pytest.raises(OpError, match=r"shapes\[0\] must be a compile-time constant") as e:
        call("tile.load", tensor(index("M"), 64), numbers(0, 0), numbers(index("M"), 64))
    assert "valid_shape" in e.value.help


def test_a_store_has_the_tensors_type() -> None:
    out = tensor(64, 64, name="out")
    assert call("tile.store", tile(16, 64), numbers(0, 0), out).type == out.type


def test_a_store_past_the_edge_is_refused() -> None:
    with pytest.raises(OpError, match="the write ends at 64 in dim 0"):
        call("tile.store", tile(16, 64), numbers(48, 0), tensor(60, 64))
    partial = tile(16, 64, valid=(12, 64))
    assert call("tile.store", partial, numbers(48, 0), tensor(60, 64)), "only the valid part is written"


def test_only_an_accumulator_is_converted_by_its_store() -> None:
    with pytest.raises(OpError, match="the tile is FP32 but the tensor FP16"):
        call("tile.store", tile(16, 64), numbers(0, 0), tensor(64, 64, dtype=FP16))
    assert call("tile.store", tile(16, 64, space=Space.ACC), numbers(0, 0), tensor(64, 64, dtype=FP16))


def test_atomic_add_needs_a_type_that_the_device_adds() -> None:
    with pytest.raises(OpError, match="tile is UINT32"):
        call("tile.store", tile(16, 64, dtype=UINT32), numbers(0, 0), tensor(64, 64, dtype=UINT32), atomic="add")


@pytest.mark.requirement("CA-03")
def test_a_compact_accumulator_may_be_created() -> None:
    t = result("tile.create", numbers(32, 64), dtype=FP32, target_memory=Space.ACC, compact=True)
    assert effective_view(t).compact is Compact.NORMAL
    with pytest.raises(OpError, match="compact=True needs a tile in Left, Right or Acc, not vec"):
        call("tile.create", numbers(32, 64), dtype=FP32, compact=True)


def test_layouts_that_create_offers_for_mat() -> None:
    for kwargs, expected in (({"transpose": True}, ZN), ({"flat_layout": True}, ROWS)):
        assert layout(result("tile.create", numbers(32, 64), dtype=FP16, target_memory=Space.MAT, **kwargs)) == expected
    with pytest.raises(OpError, match="transpose=True needs a 2-D tile"):
        call("tile.create", numbers(32, 64), dtype=FP16, transpose=True)


@pytest.mark.parametrize(
    ("space", "expected"), [(Space.LEFT, NZ), (Space.RIGHT, ZN), (Space.BIAS, NZ), (Space.VEC, NZ)]
)
def test_a_move_takes_the_destinations_layout_where_it_has_one(
    space: Space, expected: tuple[BLayout, SLayout, int]
) -> None:
    assert layout(result("tile.move", tile(32, 64, dtype=FP16, space=Space.MAT), target_memory=space)) == expected


def test_a_move_keeps_valid_extents_and_takes_an_explicit_layout() -> None:
    t = result("tile.move", tile(32, 1, valid=(8, 1)), target_memory=Space.VEC, blayout=BLayout.ROW)
    assert (layout(t), t.valid_shape) == (ROWS, (8, 1))


def test_a_right_operand_is_row_major_even_as_one_column() -> None:
    assert layout(result("tile.move", tile(32, 1, dtype=FP16, space=Space.MAT), target_memory=Space.RIGHT)) == ZN


def test_full_takes_a_constant() -> None:
    assert result("tile.full", numbers(16, 64), Const(0), dtype=FP16).dtype == FP16
    with pytest.raises(OpError, match="value must be a constant"):
        call("tile.full", numbers(16, 64), scalar("s", FP16), dtype=FP16)


def test_ci_fills_one_row() -> None:
    assert result("tile.ci", Const(0), numbers(1, 64)).dtype == INT32
    with pytest.raises(OpError, match="only the first row is written"):
        call("tile.ci", Const(0), numbers(2, 64))


def test_a_slice_is_a_window_that_fits() -> None:
    t = result("tile.slice", tile(32, 64), numbers(16, 32), numbers(16, 32))
    assert t == TileType((16, 32), FP32, Space.VEC)
    with pytest.raises(OpError, match="ends at 33 in dim 0"):
        call("tile.slice", tile(32, 64), numbers(16, 32), numbers(17, 32))


def test_a_slice_is_valid_only_where_its_source_is() -> None:
    t = result("tile.slice", tile(32, 64, valid=(20, 64)), numbers(16, 64), numbers(16, 0))
    assert t.valid_shape == (4, 64)


def test_a_slice_has_its_sources_layout() -> None:
    t = result("tile.slice", tile(32, 64, dtype=FP16, space=Space.MAT), numbers(16, 32), numbers(16, 0))
    assert layout(t) == NZ
    column = result("tile.slice", tile(32, 64), numbers(32, 1), numbers(0, 0))
    assert layout(column)[1] is SLayout.NONE


def test_a_slice_drops_unit_dims_down_to_two() -> None:
    source = tile(4, 16, 64)
    t = result("tile.slice", source, numbers(1, 16, 64), numbers(2, 0, 0), numbers(), numbers(0))
    assert t.shape == (16, 64)


def test_an_extract_copies_into_the_l0_format() -> None:
    source = tile(32, 128, dtype=FP16, space=Space.MAT)
    left = result("tile.extract", source, Const(0), Const(64), numbers(32, 64), target_memory=Space.LEFT)
    assert layout(left) == (BLayout.ROW, SLayout.ROW, 512)
    right = result("tile.extract", source, Const(0), Const(64), numbers(32, 64), target_memory=Space.RIGHT)
    assert layout(right) == ZN
    with pytest.raises(OpError, match="ends at 160 in dim 1"):
        call("tile.extract", source, Const(0), Const(96), numbers(32, 64), target_memory=Space.LEFT)


@pytest.mark.requirement("CA-01")
def test_a_partial_extract_into_l0_is_compact() -> None:
    source = tile(32, 128, dtype=FP16, space=Space.MAT, valid=(20, 128))
    left = result("tile.extract", source, Const(0), Const(0), numbers(32, 64), target_memory=Space.LEFT)
    assert (left.valid_shape, effective_view(left).compact) == ((20, 64), Compact.NORMAL)
    full = result("tile.extract", source, Const(0), Const(0), numbers(16, 64), target_memory=Space.LEFT)
    assert effective_view(full).compact is Compact.NULL


@pytest.mark.parametrize(
    ("shape", "valid", "new", "expected"),
    [
        ((16, 64), (16, 64), (32, 32), (32, 32)),
        ((16, 1), (9, 1), (1, 16), (1, 9)),
        ((16, 64), (4, 64), (32, 32), (8, 32)),
        ((16, 64), (3, 64), (1, 1024), (1, 192)),
        ((16, 64), (4, 64), (8, 128), (2, 128)),
        ((16, 64), (0, 64), (8, 128), (0, 0)),
    ],
)
def test_a_reshape_keeps_the_valid_elements(
    shape: tuple[int, int], valid: tuple[int, int], new: tuple[int, int], expected: tuple[int, int]
) -> None:
    assert result("tile.reshape", tile(*shape, valid=valid), numbers(*new)).valid_shape == expected


@pytest.mark.parametrize(("valid", "new"), [((4, 40), (32, 32)), ((3, 64), (8, 128))])
def test_a_reshape_whose_valid_part_is_no_rectangle_is_refused(valid: tuple[int, int], new: tuple[int, int]) -> None:
    with pytest.raises(OpError, match="is no rectangle of"):
        call("tile.reshape", tile(16, 64, valid=valid), numbers(*new))


def test_a_reshape_keeps_the_number_of_elements() -> None:
    with pytest.raises(OpError, match=r"\[16, 32\] has 512 elements but the tile \[16, 64\] 1024"):
        call("tile.reshape", tile(16, 64), numbers(16, 32))


def test_a_boxed_tile_is_not_reshaped() -> None:
    with pytest.raises(OpError, match="would scramble them"):
        call("tile.reshape", tile(16, 64, dtype=FP16, space=Space.MAT), numbers(32, 32))


def test_transposing_swaps_valid_extents_too() -> None:
    t = result("tile.transpose", tile(16, 64, valid=(9, 40)), Const(0), Const(1))
    assert (t.shape, t.valid_shape) == ((64, 16), (40, 9))


def test_a_transposed_view_flips_the_layout_and_moves_nothing() -> None:
    t = result("tile.transpose_view", tile(32, 64, dtype=FP16, space=Space.MAT))
    assert (t.shape, layout(t)) == ((64, 32), ZN)


def test_an_assemble_keeps_the_targets_type() -> None:
    target = tile(32, 64)
    assert result("tile.assemble", target, tile(16, 64, name="s"), numbers(16, 0)) == target.type
    with pytest.raises(OpError, match="ends at 33 in dim 0"):
        call("tile.assemble", target, tile(16, 64), numbers(17, 0))


@pytest.mark.parametrize(
    ("valid", "offset", "written", "expected"),
    [
        ((16, 64), (16, 0), (16, 64), (32, 64)),
        ((16, 64), (4, 32), (12, 32), (16, 64)),
        ((16, 64), (8, 0), (16, 64), (24, 64)),
        ((0, 0), (0, 0), (16, 64), (16, 64)),
        ((16, 32), (0, 32), (16, 32), (16, 64)),
    ],
)
def test_an_assemble_grows_the_valid_region_only_where_it_stays_a_rectangle(
    valid: tuple[int, int], offset: tuple[int, int], written: tuple[int, int], expected: tuple[int, int]
) -> None:
    assert result("tile.assemble", tile(32, 64, valid=valid), tile(*written), numbers(*offset)).valid_shape == expected


@pytest.mark.parametrize(
    ("valid", "offset", "written"),
    [
        ((16, 64), (20, 0), (12, 64)),
        ((16, 64), (16, 0), (16, 32)),
        ((16, 32), (16, 0), (16, 64)),
        ((16, 32), (8, 16), (16, 32)),
        ((0, 0), (16, 0), (16, 64)),
    ],
    ids=["a gap", "too narrow", "too wide", "both axes", "an empty one not at its origin"],
)
def test_an_assemble_that_leaves_no_rectangle_valid_is_refused(
    valid: tuple[int, int], offset: tuple[int, int], written: tuple[int, int]
) -> None:
    """As PyPTO does: of what is written beyond the rectangle nothing would be stored, and nobody told."""
    with pytest.raises(OpError, match="what is valid then is not one rectangle from the origin") as error:
        call("tile.assemble", tile(32, 64, valid=valid), tile(*written), numbers(*offset))
    assert "pl.fillpad" in error.value.help


def test_concat_joins_columns_and_their_valid_extents() -> None:
    t = result("tile.concat", tile(16, 32, valid=(16, 20)), tile(16, 64))
    assert (t.shape, t.valid_shape) == ((16, 96), (16, 84))


def test_set_validshape_narrows_within_the_tile() -> None:
    n = index("n")
    assert result("tile.set_validshape", tile(16, 64), n, Const(64)).valid_shape == (n, 64)
    with pytest.raises(OpError, match=r"valid_rows is 17, outside 0\.\.16"):
        call("tile.set_validshape", tile(16, 64), Const(17), Const(64))


def test_fillpad_makes_the_whole_tile_valid() -> None:
    t = result("tile.fillpad", tile(16, 64, valid=(9, 40)), pad_value=Pad.MIN)
    assert (t.valid_shape, effective_view(t).pad) == ((16, 64), Pad.MIN)
    assert result("tile.fillpad_expand", tile(16, 64), numbers(32, 64)).shape == (32, 64)
    with pytest.raises(OpError, match="must be at least the tile's"):
        call("tile.fillpad_expand", tile(16, 64), numbers(32, 32))


def test_scalar_access_checks_constant_indices() -> None:
    assert call("tile.read", tile(16, 64), numbers(15, index("j"))).type == ScalarType(FP32)
    with pytest.raises(OpError, match="index 16 in dim 0 is outside the tile's 16"):
        call("tile.read", tile(16, 64), numbers(16, 0))
    with pytest.raises(OpError, match="1 indices for a tile of rank 2"):
        call("tile.write", tile(16, 64), numbers(0), Const(1.0, FP32))
    assert call("tensor.read", tensor(8, dtype=INT32), numbers(3)).type == ScalarType(INT32)
    with pytest.raises(OpError, match="value is FP32 but the tensor BF16"):
        call("tensor.write", tensor(8, dtype=BF16), numbers(3), Const(1.0, FP32))


def test_a_negative_extent_is_refused_where_it_is_written() -> None:
    with pytest.raises(OpError, match=r"valid_shape\[0\] is -1"):
        call("tile.load", tensor(64, 128), numbers(0, 0), numbers(16, 128), numbers(-1, 128))
    with pytest.raises(OpError, match=r"valid_shape\[1\] is -8"):
        call("tile.slice", tile(32, 64), numbers(16, 32), numbers(0, 0), numbers(16, -8))


def test_random_words_have_32_bits() -> None:
    seeds = [Const(i, INT32) for i in range(6)]
    t = result("tile.random", *seeds, numbers(4, 64), numbers(3, 19))
    assert (t.shape, t.dtype, t.valid_shape) == ((4, 64), UINT32, (3, 19))
    with pytest.raises(OpError, match="dtype is FP32"):
        call("tile.random", *seeds, numbers(4, 64), dtype=FP32)
    with pytest.raises(OpError, match="rounds is 8, not 7 or 10"):
        call("tile.random", *seeds, numbers(4, 64), rounds=8)
    with pytest.raises(OpError, match="shape must be 2-D"):
        call("tile.random", *seeds, numbers(4, 4, 64))


def test_a_gather_from_global_memory_takes_rows_or_elements() -> None:
    table = tensor(64, 32)
    rows = result("tile.mgather", table, tile(1, 16, dtype=INT32))
    assert (rows.shape, rows.dtype, rows.space) == ((16, 32), FP32, Space.VEC)
    assert result("tile.mgather", table, tile(16, 1, dtype=INT32)).shape == (16, 32)
    assert result("tile.mgather", table, tile(8, 16, dtype=INT32), coalesce="elem").shape == (8, 16)
    with pytest.raises(OpError, match="one row or one column"):
        call("tile.mgather", table, tile(8, 16, dtype=INT32))
    with pytest.raises(NotModelled, match="anything but vec"):
        call("tile.mgather", table, tile(1, 16, dtype=INT32), target_memory=Space.MAT)


def test_a_scatter_to_global_memory_keeps_the_element_type() -> None:
    source, places = tile(8, 32), tile(8, 32, dtype=INT32)
    table = tensor(256)
    assert call("tile.mscatter", source, places, table).type == table.type
    with pytest.raises(OpError, match="src is FP32 but the tensor FP16"):
        call("tile.mscatter", source, places, tensor(256, dtype=FP16))


def test_bits_are_seen_as_another_type() -> None:
    source = tile(16, 64, valid=(16, 40))
    narrow = result("tile.reinterpret_view", source, dtype=INT16)
    assert (narrow.shape, narrow.dtype, narrow.valid_shape) == ((16, 128), INT16, (16, 80))
    whole = result("tile.reinterpret_view", tile(16, 64), numbers(32, 32), dtype=INT32)
    assert (whole.shape, whole.dtype) == ((32, 32), INT32)
    with pytest.raises(OpError, match="no whole number of FP32 elements"):
        call("tile.reinterpret_view", tile(16, 64, dtype=INT16, valid=(16, 33)), dtype=FP32)
    with pytest.raises(OpError, match="has other bytes"):
        call("tile.reinterpret_view", source, numbers(32, 64), dtype=INT32)
    with pytest.raises(OpError, match="not row after row"):
        call("tile.reinterpret_view", tile(16, 64, space=Space.MAT), dtype=INT32)
