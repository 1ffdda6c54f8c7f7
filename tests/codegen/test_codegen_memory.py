"""Loads, stores, allocs and scalar access."""

from __future__ import annotations

import pytest

from pypto_verified.dtypes import BF16, FP16, FP32, INDEX, INT32, DType
from pypto_verified.errors import CodegenError, NotModelled
from pypto_verified.ir.expr import Binary, BinaryOp, Const, Var
from pypto_verified.ir.stmt import Assign, FunctionKind, Stmt
from pypto_verified.ir.types import Dim, TensorView
from pypto_verified.layouts import Compact, Pad, Space
from tests.codegen.build import (
    buf,
    call,
    do,
    kernel,
    last_op,
    let,
    lines,
    nums,
    scalar,
    tensor,
    tile,
    without_constants,
)

A = Var("a", tensor(64, 64))
OUT = Var("out", tensor(64, 64))
R = scalar("r")
F = buf("vec", "f32", 16, 64)


def load(at: Dim = 0, valid: tuple[Dim, ...] = ()) -> list[Stmt]:
    x = Var("x", tile(16, 64, valid=valid))
    return [let(x, "tile.load", A, nums(at, 0), nums(16, 64), nums(*(valid or (16, 64))))]


@pytest.mark.requirement("CG-06", "CG-07", "CG-08")
def test_load_is_alloc_partition_view_and_tload() -> None:
    assert lines(kernel(load(16), A))[-3:] == [
        f"%x = pto.alloc_tile addr = %c0_i64 valid_row = %c16_index valid_col = %c64_index : {F}",
        "%a_pview = pto.partition_view %a_view, offsets = [%c16_index, %c0_index], sizes = [%c16_index, %c64_index] "
        ": !pto.tensor_view<?x?xf32> -> !pto.partition_tensor_view<16x64xf32>",
        f"pto.tload ins(%a_pview : !pto.partition_tensor_view<16x64xf32>) outs(%x : {F})",
    ]


@pytest.mark.requirement("CG-06")
def test_a_run_time_offset_is_not_clamped() -> None:
    # The real compiler prints `maxsi(offset, 0)`, so that a negative offset reads row 0 in silence.
    row = Binary(BinaryOp.SUB, R, Const(8), INDEX)
    found = lines(kernel(load(row), A, R))
    assert found[-3:-1] == [
        "%0 = arith.subi %arg1, %c8_index : index",
        "%a_pview = pto.partition_view %a_view, offsets = [%0, %c0_index], sizes = [%c16_index, %c64_index] "
        ": !pto.tensor_view<?x?xf32> -> !pto.partition_tensor_view<16x64xf32>",
    ]
    assert not any("maxsi" in line for line in found)


@pytest.mark.requirement("CG-06", "CG-08")
def test_a_run_time_extent_is_an_operand_and_a_question_mark() -> None:
    assert lines(kernel(load(0, (R, 64)), A, R))[-3:] == [
        f"%x = pto.alloc_tile addr = %c0_i64 valid_row = %arg1 valid_col = %c64_index : {F}",
        "%a_pview = pto.partition_view %a_view, offsets = [%c0_index, %c0_index], sizes = [%arg1, %c64_index] "
        ": !pto.tensor_view<?x?xf32> -> !pto.partition_tensor_view<?x64xf32>",
        f"pto.tload ins(%a_pview : !pto.partition_tensor_view<?x64xf32>) outs(%x : {F})",
    ]


@pytest.mark.requirement("CG-02")
def test_an_alloc_whose_extent_is_a_body_value_stands_after_that_value() -> None:
    rows = scalar("rows")
    narrowed = Assign(rows, Binary(BinaryOp.MIN, R, Const(16), INDEX))
    found = without_constants(lines(kernel([narrowed, *load(0, (rows, 64))], A, R)))
    assert found[1] == "%rows = arith.minsi %arg1, %c16_index : index"
    assert "%x = pto.alloc_tile addr = %c0_i64 valid_row = %rows" in found[2]


@pytest.mark.requirement("CG-06")
def test_a_clamped_load_narrows_its_window_with_the_tile() -> None:
    # The real compiler keeps the whole window and so looks past the tensor's edge.
    x = Var("x", tile(16, 64, valid=(R, 64)))
    body: list[Stmt] = [let(x, "tile.load", A, nums(0, 0), nums(16, 64), nums(16, 64), clamp=True)]
    assert "sizes = [%arg1, %c64_index]" in lines(kernel([*body], A, R))[-2]


@pytest.mark.requirement("CG-06")
@pytest.mark.parametrize(
    ("space", "dtype", "text"),
    [
        (Space.VEC, FP32, buf("vec", "f32", 16, 64)),
        (Space.MAT, FP16, buf("mat", "f16", 16, 64, blayout="col_major", slayout="row_major")),
    ],
)
def test_load_into_vec_and_mat(space: Space, dtype: DType, text: str) -> None:
    a = Var("a", tensor(64, 64, dtype=dtype))
    x = Var("x", tile(16, 64, dtype, space))
    assert last_op(kernel([let(x, "tile.load", a, nums(0, 0), nums(16, 64))], a)).endswith(f"outs(%x : {text})")


@pytest.mark.requirement("CG-06")
def test_store_takes_its_extent_from_the_tile() -> None:
    x = Var("x", tile(16, 64, valid=(13, R)))
    body: list[Stmt] = [*load(0, (13, R)), do("tile.store", x, nums(R, 0), OUT)]
    assert lines(kernel(body, A, OUT, R))[-2:] == [
        "%out_pview = pto.partition_view %out_view, offsets = [%arg2, %c0_index], sizes = [%c13_index, %arg2] "
        ": !pto.tensor_view<?x?xf32> -> !pto.partition_tensor_view<13x?xf32>",
        f"pto.tstore ins(%x : {F}) outs(%out_pview : !pto.partition_tensor_view<13x?xf32>)",
    ]


@pytest.mark.requirement("CG-06")
def test_store_from_acc_narrows_through_the_view() -> None:
    acc = Var("acc", tile(32, 48, FP32, Space.ACC))
    out = Var("out", tensor(32, 48, dtype=BF16))
    body: list[Stmt] = [
        let(acc, "tile.create", nums(32, 48)), let(Var("o2", out.type), "tile.store", acc, nums(0, 0), out),
    ]
    text = buf("acc", "f32", 32, 48, blayout="col_major", slayout="row_major", fractal=1024)
    assert last_op(kernel([*body], out, kind=FunctionKind.AIC)) == (
        f"pto.tstore ins(%acc : {text}) outs(%out_pview : !pto.partition_tensor_view<32x48xbf16>)"
    )


@pytest.mark.requirement("CG-06")
def test_atomic_store() -> None:
    x = Var("x", tile(16, 64))
    store = let(Var("o2", OUT.type), "tile.store", x, nums(0, 0), OUT, atomic=1)
    assert last_op(kernel([*load(), store], A, OUT)).endswith("{atomicType = #pto<atomic_type atomic_add>}")


@pytest.mark.requirement("CG-06")
def test_a_stored_tensor_is_still_the_parameter() -> None:
    x, o2 = Var("x", tile(16, 64)), Var("o2", OUT.type)
    body: list[Stmt] = [*load(), let(o2, "tile.store", x, nums(0, 0), OUT), do("tile.store", x, nums(16, 0), o2)]
    views = [line for line in lines(kernel(body, A, OUT)) if "pto.partition_view %out_view" in line]
    assert len(views) == 2


@pytest.mark.requirement("CG-06")
def test_window_of_a_three_dimensional_tensor() -> None:
    a3, o3 = Var("a", tensor(4, 16, 64)), Var("out", tensor(4, 16, 64))
    x = Var("x", tile(16, 64))
    body: list[Stmt] = [
        let(x, "tile.load", a3, nums(1, 0, 0), nums(1, 16, 64)), do("tile.store", x, nums(2, 0, 0), o3),
    ]
    found = lines(kernel(body, a3, o3))
    assert found[-2].endswith("-> !pto.partition_tensor_view<1x16x64xf32>")
    assert "sizes = [%c1_index, %c16_index, %c64_index]" in found[-2]


@pytest.mark.requirement("CG-06")
def test_a_row_is_stored_to_a_tensor_of_one_dimension() -> None:
    row = tensor(256)
    for rows in (1, 16):
        x, out = Var("x", tile(16, 64, valid=(rows, 64))), Var("out", row)
        function = kernel([*load(0, (rows, 64)), do("tile.store", x, nums(128), out)], A, out)
        if rows == 1:
            assert lines(function)[-2] == (
                "%out_pview = pto.partition_view %out_view, offsets = [%c128_index], sizes = [%c64_index] "
                ": !pto.tensor_view<?xf32> -> !pto.partition_tensor_view<64xf32>")
        else:
            with pytest.raises(CodegenError, match="a 2-D tile does not fit a 1-D tensor"):
                lines(function)


@pytest.mark.requirement("CG-06")
@pytest.mark.parametrize("extra", [(1, 2), (2, 1), (2, 2)])
def test_a_dim_that_the_tensor_has_not_is_dropped_only_where_it_is_one(extra: tuple[int, int]) -> None:
    x, out = Var("x", tile(16, 64)), Var("out", tensor(64, 64))
    for sizes in ((1, 1, 16, 64), (*extra, 16, 64)):
        function = kernel([*load(), do("tile.store", x, nums(0, 0), out, nums(*sizes))], A, out)
        if sizes[:2] == (1, 1):
            assert "sizes = [%c16_index, %c64_index]" in lines(function)[-2]
        else:
            with pytest.raises(CodegenError, match="a 4-D tile does not fit a 2-D tensor"):
                lines(function)


@pytest.mark.requirement("CG-01")
def test_a_tensor_that_a_scalar_is_written_to_is_still_the_parameter() -> None:
    o2 = Var("o2", OUT.type)
    write = let(o2, "tensor.write", OUT, nums(0, 0), Const(1.0, FP32))
    found = lines(kernel([write, do("tensor.write", o2, nums(1, 2), Const(2.0, FP32))], OUT))
    assert [line.partition(",")[2].partition(" :")[0] for line in found if "store_scalar" in line] == [
        " %arg0[%c0_index]", " %arg0[%c66_index]"]


@pytest.mark.requirement("CG-07")
def test_tiles_at_one_address_share_the_constant() -> None:
    x, y = Var("x", tile(16, 64)), Var("y", tile(16, 64))
    found = lines(kernel([*load(), let(y, "tile.exp", x)], A))
    assert sum("arith.constant 0 : i64" in line for line in found) == 1
    assert sum("pto.alloc_tile addr = %c0_i64" in line for line in found) == 2


@pytest.mark.requirement("CG-07", "MP-06")
def test_a_slot_that_is_chosen_at_run_time_is_an_address_expression() -> None:
    slot = Binary(BinaryOp.MOD, R, Const(2), INDEX)
    x = Var("x", tile(16, 64, at=8192, base="ring", slots=2, slot=slot))
    found = without_constants(lines(kernel([let(x, "tile.create", nums(16, 64))], R)))
    assert found[-2].endswith(": index to i64")
    assert found[-1].startswith(f"%x = pto.alloc_tile addr = {found[-2].split()[0]} ")


@pytest.mark.requirement("CG-07")
def test_a_tile_without_address_is_an_error() -> None:
    x = tile(16, 64)
    assert x.memref is not None
    from dataclasses import replace

    with pytest.raises(CodegenError, match="tile 'x' has no address"):
        lines(kernel([let(Var("x", replace(x, memref=replace(x.memref, offset=None))), "tile.create", nums(16, 64))]))


@pytest.mark.requirement("CG-07")
def test_without_addresses_one_buffer_is_one_handle() -> None:
    x, y = Var("x", tile(16, 64, base="b")), Var("y", tile(16, 64, base="b"))
    body: list[Stmt] = [let(x, "tile.load", A, nums(0, 0), nums(16, 64)), let(y, "tile.exp", x)]
    found = without_constants(lines(kernel([*body], A), addresses=False))
    assert [line for line in found if "alloc_tile" in line] == [
        f"%x = pto.alloc_tile valid_row = %c16_index valid_col = %c64_index : {F}"]
    assert found[-1] == f"pto.texp ins(%x : {F}) outs(%x : {F})"


@pytest.mark.requirement("CG-08")
def test_pad_and_compact_are_part_of_the_type() -> None:
    x = Var("x", tile(16, 64, pad=Pad.MIN))
    acc = Var("acc", tile(32, 32, FP32, Space.ACC, compact=Compact.NORMAL))
    found = lines(kernel([let(x, "tile.create", nums(16, 64)), let(acc, "tile.create", nums(32, 32))]))
    assert found[-2].endswith(": " + buf("vec", "f32", 16, 64, pad=3))
    assert found[-1].endswith(
        ": " + buf("acc", "f32", 32, 32, blayout="col_major", slayout="row_major", fractal=1024, compact=", compact=1"))


@pytest.mark.requirement("CG-01")
def test_scalar_read_and_write_of_a_tile() -> None:
    x, s = Var("x", tile(16, 64)), scalar("s", FP32)
    body: list[Stmt] = [
        *load(), let(s, "tile.read", x, nums(2, 3)), let(Var("y", tile(16, 64)), "tile.write", x, nums(0, 1), s),
    ]
    assert lines(kernel(body, A))[-2:] == [
        f"%s = pto.tgetval ins(%x, %c131_index : {F}, index) outs : f32",  # 2 * 64 + 3
        f"pto.tsetval ins(%c1_index, %s : index, f32) outs(%x : {F})",
    ]


@pytest.mark.requirement("CG-01")
def test_scalar_read_of_a_column_counts_along_the_column() -> None:
    x, s = Var("x", tile(16, 1, col_major=True)), scalar("s", FP32)
    body: list[Stmt] = [let(x, "tile.create", nums(16, 1)), let(s, "tile.read", x, nums(5, 0))]
    assert "%c5_index" in last_op(kernel([*body]))


@pytest.mark.requirement("CG-01")
def test_scalar_read_at_a_run_time_place() -> None:
    x, s = Var("x", tile(16, 64)), scalar("s", FP32)
    found = lines(kernel([*load(), let(s, "tile.read", x, nums(R, 3))], A, R))
    assert found[-3:] == [
        "%0 = arith.muli %arg1, %c64_index : index",
        "%1 = arith.addi %0, %c3_index : index",
        f"%s = pto.tgetval ins(%x, %1 : {F}, index) outs : f32",
    ]


@pytest.mark.requirement("CG-01")
def test_scalar_read_and_write_of_a_tensor() -> None:
    cfg, n = Var("cfg", tensor(8, 4, dtype=INT32)), scalar("n", INT32)
    body: list[Stmt] = [let(n, "tensor.read", cfg, nums(1, 2)), do("tensor.write", cfg, nums(0, 3), n)]
    assert lines(kernel([*body], cfg))[-2:] == [
        "%n = pto.load_scalar %arg0[%c6_index] : !pto.ptr<i32> -> i32",
        "pto.store_scalar %n, %arg0[%c3_index] : !pto.ptr<i32>, i32",
    ]


@pytest.mark.requirement("CG-01")
def test_scalar_read_follows_the_strides_of_the_view() -> None:
    cfg = Var("cfg", tensor(8, 4, dtype=INT32, view=TensorView(stride=(16, 2))))
    found = lines(kernel([let(scalar("n", INT32), "tensor.read", cfg, nums(1, 2))], cfg))
    assert found[-1] == "%n = pto.load_scalar %arg0[%c20_index] : !pto.ptr<i32> -> i32"  # 1 * 16 + 2 * 2


@pytest.mark.requirement("CG-01")
def test_scalar_access_through_a_slice_is_not_modelled() -> None:
    x, w, s = Var("x", tile(16, 64)), Var("w", tile(8, 64, at=2048, base="mem_vec_0")), scalar("s", FP32)
    cut = let(w, "tile.slice", x, nums(8, 64), nums(8, 0))
    for access in (let(s, "tile.read", w, nums(0, 0)), do("tile.write", w, nums(0, 0), Const(1.0, FP32))):
        with pytest.raises(NotModelled, match="through a slice"):
            lines(kernel([*load(), cut, access], A))


def test_scalar_access_to_a_boxed_tile_is_not_modelled() -> None:
    x = Var("x", tile(32, 64, FP16, Space.MAT))
    body: list[Stmt] = [let(x, "tile.create", nums(32, 64)), let(scalar("s", FP16), "tile.read", x, nums(0, 0))]
    with pytest.raises(NotModelled, match="boxed tile"):
        lines(kernel([*body]))


@pytest.mark.requirement("CG-03")
def test_tensor_dim_is_the_dimension() -> None:
    m = scalar("M")
    a = Var("a", tensor(m, 64))
    d = scalar("d")
    x = Var("x", tile(16, 64, valid=(d, 64)))
    body: list[Stmt] = [let(d, "tensor.dim", a, Const(0)), let(x, "tile.create", nums(16, 64))]
    assert "valid_row = %arg1" in last_op(kernel([*body], a, dynamic=("M",)))


def test_a_value_that_does_not_exist_is_an_error() -> None:
    with pytest.raises(CodegenError, match="'ghost' is used where it has no value"):
        lines(kernel(load(scalar("ghost")), A))
    with pytest.raises(CodegenError, match="'ghost' is not a tile with a value here"):
        lines(kernel([Assign(Var("y", tile(16, 64)), call("tile.exp", Var("ghost", tile(16, 64)), type=tile(16, 64)))]))


@pytest.mark.requirement("CG-06", "CG-09")
def test_global_gathers_and_scatters_see_the_whole_tensor() -> None:
    i, y = Var("i", tile(8, 64, dtype=INT32)), Var("y", tile(8, 64))
    made = let(i, "tile.create", nums(8, 64))
    part = "!pto.partition_tensor_view<64x64xf32>"
    places, values = buf("vec", "i32", 8, 64), buf("vec", "f32", 8, 64)
    found = lines(kernel([made, let(y, "tile.mgather", A, i, coalesce="elem", gather_oob="wrap")], A))
    assert found[-2:] == [
        "%a_pview = pto.partition_view %a_view, offsets = [%c0_index, %c0_index], sizes = [%c64_index, %c64_index] "
        f": !pto.tensor_view<?x?xf32> -> {part}",
        f"pto.mgather ins(%a_pview, %i : {part}, {places}) outs(%y : {values}) "
        "{coalesce = #pto<coalesce elem>, gatherOob = #pto<gather_oob wrap>}",
    ]
    found = lines(kernel([made, let(y, "tile.create", nums(8, 64)), do("tile.mscatter", y, i, OUT)], OUT))
    assert found[-1] == (
        f"pto.mscatter ins(%y, %i : {values}, {places}) outs(%out_pview : {part}) {{coalesce = #pto<coalesce elem>}}"
    )


@pytest.mark.requirement("CG-09")
def test_a_gather_with_scratch_is_not_generated() -> None:
    i, y = Var("i", tile(8, 64, dtype=INT32)), Var("y", tile(8, 64))
    body = [let(i, "tile.create", nums(8, 64)), let(y, "tile.mgather", A, i, OUT, coalesce="elem")]
    with pytest.raises(NotModelled, match="scratch"):
        lines(kernel(body, A, OUT))
