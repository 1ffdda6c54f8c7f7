"""Signature, constants and tensor views of a function."""

from __future__ import annotations

import pytest

from pypto_verified.codegen import generate
from pypto_verified.dtypes import DTYPES, FP32, INDEX, INT32, UINT8, UINT32
from pypto_verified.errors import CodegenError, NotModelled
from pypto_verified.ir.expr import Binary, BinaryOp, Cast, Const, Span, Var
from pypto_verified.ir.stmt import Assign, Direction, Function, FunctionKind, Param, Stmt
from pypto_verified.ir.types import Dim, TensorView
from pypto_verified.layouts import TensorLayout
from pypto_verified.pto.module import EnumAttr
from pypto_verified.targets import A2A3, A5
from tests.codegen.build import buf, do, kernel, let, lines, nums, scalar, signature, tensor, tile, without_constants

A = Var("a", tensor(32, 64))
OUT = Var("out", tensor(32, 64))
X = Var("x", tile(32, 64))
M = scalar("M")


def load(source: Var, rows: Dim = 32, cols: Dim = 64) -> Stmt:
    """x = tile.load(source, [0, 0], [rows, cols])"""
    return let(X, "tile.load", source, nums(0, 0), nums(32, 64), nums(rows, cols))


def view_line(found: list[str]) -> str:
    return next(line for line in found if "make_tensor_view" in line)


@pytest.mark.requirement("CG-03")
def test_tensors_come_first_then_scalars_then_dynamic_dims_then_hidden_arguments() -> None:
    rows, out = scalar("rows"), Var("out", tensor(M, 64))
    body: list[Stmt] = [
        let(scalar("num"), "tile.get_block_num"), let(scalar("idx"), "tile.get_block_idx"), load(A), do(
            "tile.store", X, nums(0, 0), out),
    ]
    found = signature(kernel(body, rows, A, scalar("f", FP32), out, scalar("u", UINT32), dynamic=("M",)))
    assert (
        "(%arg0: !pto.ptr<f32>, %arg1: !pto.ptr<f32>, %arg2: index, %arg3: f32, %arg4: ui32, %arg5: index, "
        "%__pypto_spmd_block_idx: i32, %__pypto_spmd_block_num: i32)"
    ) in found


@pytest.mark.requirement("CG-03")
@pytest.mark.parametrize("which", ["block_idx", "block_num", "subblock_idx"])
def test_a_hidden_argument_exists_only_if_it_is_used(which: str) -> None:
    function = kernel([let(scalar("i"), f"tile.get_{which}")])
    assert f"(%__pypto_spmd_{which}: i32)" in signature(function)
    assert lines(function) == [f"%i = arith.index_cast %__pypto_spmd_{which} : i32 to index"]


@pytest.mark.requirement("CG-03")
def test_only_used_tensors_get_a_view() -> None:
    found = lines(kernel([load(A)], A, OUT))
    assert "%a_view = pto.make_tensor_view %arg0" in view_line(found)
    assert not any("%arg1" in line for line in found)


@pytest.mark.requirement("CG-03")
def test_a_tile_parameter_is_an_error_at_its_place() -> None:
    function = kernel([], X, spans=(Span("k.py", 7, 5, 7, 9),))
    with pytest.raises(CodegenError, match="parameter 'x' of 'k' is a tile") as caught:
        signature(function)
    assert str(caught.value.location) == "k.py:7:5"


@pytest.mark.requirement("CG-02", "CG-16")
def test_constants_then_views_then_body() -> None:
    found = lines(kernel([load(A)], A))
    heads = [line.split()[2 if line.startswith("%") else 0] for line in found]
    assert heads == [*["arith.constant"] * 5, "pto.make_tensor_view", "pto.alloc_tile", "pto.partition_view",
                     "pto.tload"]
    assert found[:5] == [
        "%c0_i64 = arith.constant 0 : i64",
        "%c32_index = arith.constant 32 : index",
        "%c64_index = arith.constant 64 : index",
        "%c1_index = arith.constant 1 : index",
        "%c0_index = arith.constant 0 : index",
    ]


@pytest.mark.requirement("CG-02", "CG-04")
def test_a_constant_that_only_a_composite_shape_needs_is_in_the_constants_block() -> None:
    twice = Binary(BinaryOp.MUL, M, Const(2), INDEX)
    found = lines(kernel([load(Var("a", tensor(twice, 64)))], Var("a", tensor(twice, 64)), dynamic=("M",)))
    assert "%c2_index = arith.constant 2 : index" in found
    product = found.index("%0 = arith.muli %arg1, %c2_index : index")
    assert found.index("%c2_index = arith.constant 2 : index") < product < found.index(view_line(found))
    assert "shape = [%0, %c64_index], strides = [%c64_index, %c1_index]" in view_line(found)


@pytest.mark.requirement("CG-02", "CG-04")
def test_a_size_is_computed_once_in_the_body_but_never_shared_with_the_views_before_it() -> None:
    twice = Binary(BinaryOp.MUL, M, Const(2), INDEX)
    a, x = Var("a", tensor(twice, 64)), Var("x", tile(32, 64, valid=(twice, 64)))
    found = lines(kernel([let(x, "tile.load", a, nums(0, 0), nums(32, 64), nums(twice, 64))], a, dynamic=("M",)))
    products = [line for line in found if "arith.muli" in line]
    assert len(products) == 2
    in_body, in_view = (p.split(" = ")[0] for p in sorted(products, key=found.index, reverse=True))
    assert found.index(products[0]) < found.index(view_line(found)) < found.index(products[1])
    assert f"shape = [{in_view}, " in view_line(found)
    assert f"valid_row = {in_body} " in found[-3] and f"sizes = [{in_body}, " in found[-2]


@pytest.mark.requirement("CG-04")
def test_a_dynamic_inner_dimension_is_a_stride() -> None:
    found = lines(kernel([load(Var("a", tensor(32, M)))], Var("a", tensor(32, M)), dynamic=("M",)))
    assert view_line(found) == (
        "%a_view = pto.make_tensor_view %arg0, shape = [%c32_index, %arg1], strides = [%arg1, %c1_index] "
        "{layout = #pto.layout<nd>} : !pto.tensor_view<?x?xf32>"
    )


DN = TensorView(layout=TensorLayout.DN)


@pytest.mark.requirement("CG-05")
@pytest.mark.parametrize(
    ("shape", "view", "shown"),
    [
        ((32, 64), TensorView(), "shape = [%c32_index, %c64_index], strides = [%c64_index, %c1_index] nd"),
        # DN keeps the shape that the IR has; swapping it is a pass's work
        ((64, 48), DN, "shape = [%c64_index, %c48_index], strides = [%c1_index, %c64_index] dn"),
        ((64, 48), TensorView((1, 96), TensorLayout.DN),
         "shape = [%c64_index, %c48_index], strides = [%c1_index, %c96_index] dn"),
        ((16, 1), TensorView(), "shape = [%c16_index, %c1_index], strides = [%c1_index, %c16_index] dn"),
        ((M, 1), TensorView(), "shape = [%arg1, %c1_index], strides = [%c1_index, %arg1] dn"),
        ((16, 1), TensorView((1, 1)), "shape = [%c16_index, %c1_index], strides = [%c1_index, %c16_index] dn"),
        ((8,), TensorView(), "shape = [%c8_index], strides = [%c1_index] nd"),
        ((2, 4, 8), TensorView(),
         "shape = [%c2_index, %c4_index, %c8_index], strides = [%c32_index, %c8_index, %c1_index] nd"),
    ],
    ids=["nd", "dn", "dn-strides", "column", "dynamic-column", "column-with-nd-strides", "1-D", "3-D"],
)
def test_shape_strides_and_layout_of_a_view(shape: tuple[Dim, ...], view: TensorView, shown: str) -> None:
    a = Var("a", tensor(*shape, view=view))
    zeros = nums(*(0 for _ in shape))
    body: list[Stmt] = [let(X, "tile.load", a, zeros, nums(*(1 for _ in shape)))]
    words, layout = shown.rsplit(" ", 1)
    dims = "x".join("?" for _ in shape)
    assert view_line(lines(kernel([*body], a, dynamic=("M",)))) == (
        f"%a_view = pto.make_tensor_view %arg0, {words} {{layout = #pto.layout<{layout}>}} "
        f": !pto.tensor_view<{dims}xf32>"
    )


@pytest.mark.requirement("CG-16")
def test_names_come_from_the_source_and_stay_unique() -> None:
    names = ("x.1", "x_1", "c16_index", "arg0")
    body: list[Stmt] = [let(Var(name, tile(16, 64)), "tile.create", nums(16, 64)) for name in names]
    allocs = [line.split()[0] for line in lines(kernel([*body], A)) if "alloc_tile" in line]
    assert allocs == ["%x_1", "%x_1_1", "%v_c16_index", "%v_arg0"]


@pytest.mark.requirement("CG-16")
def test_negative_and_float_constants_have_their_own_names() -> None:
    t, i = Var("t", tile(16, 64)), Var("i", tile(16, 64, INT32))
    body: list[Stmt] = [
        let(t, "tile.full", nums(16, 64), Const(0.5, FP32)),
        let(Var("t2", tile(16, 64)), "tile.adds", t, Const(-1.0, FP32)),
        let(i, "tile.full", nums(16, 64), Const(-3, INT32)),
        let(Var("t3", tile(16, 64)), "tile.adds", t, Const(0.5, FP32)),
    ]
    constants = [line for line in lines(kernel([*body])) if "arith.constant" in line]
    assert [c.split(" = ")[0] for c in constants if "f32" in c or "i32" in c] == ["%cst", "%cst_1", "%cn3_i32"]


@pytest.mark.requirement("CG-15")
def test_unsigned_element_types_keep_their_sign_in_memory() -> None:
    a = Var("a", tensor(32, 64, dtype=UINT8))
    x = Var("x", tile(32, 64, UINT8))
    found = lines(kernel([let(x, "tile.load", a, nums(0, 0), nums(32, 64))], a))
    text = buf("vec", "ui8", 32, 64)
    assert found[-1] == f"pto.tload ins(%a_pview : !pto.partition_tensor_view<32x64xui8>) outs(%x : {text})"


@pytest.mark.requirement("CG-15")
def test_texpands_of_an_unsigned_tile_has_a_scalar_of_exactly_its_type() -> None:
    found = lines(kernel([let(Var("x", tile(32, 64, UINT32)), "tile.full", nums(32, 64), Const(5, UINT32))]))
    assert "%0 = builtin.unrealized_conversion_cast %c5_i32 : i32 to ui32" in found
    assert found[-1] == f"pto.texpands ins(%0 : ui32) outs(%x : {buf('vec', 'ui32', 32, 64)})"


@pytest.mark.parametrize(("kind", "word"), [(FunctionKind.AIC, "cube"), (FunctionKind.AIV, "vector")])
def test_kernel_kind_and_target(kind: FunctionKind, word: str) -> None:
    for target in (A2A3, A5):
        module = generate([kernel([], kind=kind)], target)
        assert module.arch == target.name
        assert module.funcs[0].attrs == {"pto.kernel_kind": EnumAttr("kernel_kind", word)}


def test_two_functions_share_a_module_but_no_constants_and_no_names() -> None:
    both = generate([kernel([load(A)], A), kernel([load(A)], A)], A2A3)
    assert [f.name for f in both.funcs] == ["k", "k"]
    first, second = (f.body for f in both.funcs)
    assert first is not None and second is not None
    assert [o.results[0].name for o in first.ops if o.results] == [o.results[0].name for o in second.ops if o.results]


def test_an_opaque_function_is_not_modelled_and_says_why() -> None:
    params = (Param(A, Direction.IN),)
    function = Function("main", FunctionKind.ORCHESTRATION, params, (), (), opaque="orchestration function")
    with pytest.raises(NotModelled, match=r"main.*orchestration function"):
        generate([function], A2A3)


TASK = DTYPES["TASK_ID"]
LINE = Span("k.py", 7, 9)


@pytest.mark.parametrize(("body", "params", "what"), [
    ([], (scalar("t", TASK),), "parameter 't' of type TASK_ID"),
    ([], (Var("t", tensor(16, 64, dtype=TASK)),), "parameter 't' of type TASK_ID"),
    ([let(Var("t", tile(16, 64, TASK)), "tile.create", span=LINE)], (), "tile 't' of type TASK_ID"),
    ([Assign(scalar("t", TASK), Cast(scalar("n"), TASK), LINE)], (scalar("n"),), "scalar of type TASK_ID"),
])
def test_what_names_a_task_is_not_modelled_at_its_line(body: list[Stmt], params: tuple[Var, ...], what: str) -> None:
    with pytest.raises(NotModelled, match=what) as caught:
        lines(kernel(body, *params, spans=(LINE,) * len(params)))
    assert caught.value.location is not None
    assert (caught.value.location.file, caught.value.location.line) == ("k.py", 7)


def test_an_unknown_op_is_not_modelled() -> None:
    with pytest.raises(NotModelled, match=r"tile\.newfangled"):
        lines(kernel([let(X, "tile.newfangled")]))


def test_a_dropped_result_is_an_error() -> None:
    with pytest.raises(CodegenError, match=r"result of tile\.create is dropped"):
        lines(kernel([do("tile.create", nums(16, 64))]))


@pytest.mark.requirement("CG-09")
def test_tile_alloc_prints_nothing() -> None:
    assert without_constants(lines(kernel([do("tile.alloc", Const(0))]))) == []
