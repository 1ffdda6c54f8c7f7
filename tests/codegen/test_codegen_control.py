"""Loops and branches: scalars are carried by scf, tiles and tensors stay where they are (CG-20)."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from pypto_verified.dtypes import BOOL, FP32, INDEX, INT32
from pypto_verified.errors import CodegenError, NotModelled
from pypto_verified.ir.expr import Binary, BinaryOp, Const, Expr, Span, Var
from pypto_verified.ir.stmt import Assign, Break, Continue, For, FunctionKind, If, IterArg, Stmt, While, Yield
from pypto_verified.layouts import Space
from tests.codegen.build import FALSE, TRUE, buf, kernel, let, lines, nums, scalar, tensor, tile, without_constants

COUNTER, N = scalar("i"), scalar("n")
X, Y = Var("x", tile(16, 64)), Var("y", tile(16, 64, at=4096))
F = buf("vec", "f32", 16, 64)
MAKE = let(X, "tile.create", nums(16, 64))


def add(a: Expr, b: Expr) -> Binary:
    return Binary(BinaryOp.ADD, a, b, INDEX)


def loop(
    body: Sequence[Stmt], iter_args: tuple[IterArg, ...] = (), results: tuple[Var, ...] = (), step: int = 1,
) -> For:
    return For(COUNTER, Const(0), N, Const(step), iter_args, tuple(body), results, span=Span("k.py", 5, 3, 9, 1))


@pytest.mark.requirement("CG-20")
def test_a_loop_without_carried_values() -> None:
    found = without_constants(lines(kernel([MAKE, loop([let(Y, "tile.exp", X)])], N)))
    assert found[1:] == [
        "scf.for %i = %c0_index to %arg0 step %c1_index {",
        f"%y = pto.alloc_tile addr = %c4096_i64 valid_row = %c16_index valid_col = %c64_index : {F}",
        f"pto.texp ins(%x : {F}) outs(%y : {F})",
    ]


@pytest.mark.requirement("CG-20")
def test_only_scalars_are_iter_args() -> None:
    at, acc = scalar("at"), Var("acc", X.type)
    carried = (IterArg(at, Const(0)), IterArg(acc, X))
    body: list[Stmt] = [let(Var("acc2", X.type), "tile.exp", acc), Yield((add(at, Const(16)), Var("acc2", X.type)))]
    end, out = scalar("end"), Var("final", X.type)
    found = without_constants(lines(kernel([MAKE, loop([*body], carried, (end, out)), let(Y, "tile.exp", out)], N)))
    assert found[1:] == [
        "%end = scf.for %i = %c0_index to %arg0 step %c1_index iter_args(%at = %c0_index) -> (index) {",
        f"%acc2 = pto.alloc_tile addr = %c0_i64 valid_row = %c16_index valid_col = %c64_index : {F}",
        f"pto.texp ins(%x : {F}) outs(%acc2 : {F})",
        "%0 = arith.addi %at, %c16_index : index",
        "scf.yield %0 : index",
        f"%y = pto.alloc_tile addr = %c4096_i64 valid_row = %c16_index valid_col = %c64_index : {F}",
        f"pto.texp ins(%x : {F}) outs(%y : {F})",
    ]


@pytest.mark.requirement("CG-20")
def test_a_carried_tile_that_comes_back_in_another_buffer_is_an_error() -> None:
    # Two tiles that trade places: the real compiler emits one of the two copies and computes nonsense.
    a, b = Var("a", X.type), Var("b", Y.type)
    carried = (IterArg(a, X), IterArg(b, Y))
    swap = loop([Yield((b, a))], carried, (Var("a2", X.type), Var("b2", Y.type)))
    with pytest.raises(CodegenError, match="'b' is handed on as 'a' but lies in another buffer") as caught:
        lines(kernel([MAKE, let(Y, "tile.create", nums(16, 64)), swap], N))
    assert "tile.move" in caught.value.help


@pytest.mark.requirement("CG-20")
def test_a_carried_tensor_has_no_run_time_form() -> None:
    out = Var("out", tensor(64, 64))
    inner, stored = Var("o", out.type), Var("o2", out.type)
    body: list[Stmt] = [let(stored, "tile.store", X, nums(COUNTER, 0), inner), Yield((stored,))]
    found = lines(kernel([MAKE, loop([*body], (IterArg(inner, out),), (Var("o3", out.type),))], out, N))
    assert "scf.for %i = %c0_index to %arg1 step %c1_index {" in found
    assert any("pto.partition_view %out_view, offsets = [%i, %c0_index]" in line for line in found)


@pytest.mark.requirement("CG-20")
def test_a_carried_tensor_stays_one_parameter() -> None:
    p, q = Var("p", tensor(64, 64)), Var("q", tensor(64, 64))
    swap = loop([Yield((q,))], (IterArg(Var("o", p.type), p),), (Var("o2", p.type),))
    with pytest.raises(CodegenError, match="'o' would be another tensor on the next turn"):
        lines(kernel([swap], p, q, N))


@pytest.mark.requirement("CG-20")
@pytest.mark.parametrize("step", [0, -1])
def test_a_loop_that_does_not_count_upwards_is_an_error(step: int) -> None:
    with pytest.raises(CodegenError, match=f"its step is {step}") as caught:
        lines(kernel([loop([], step=step)], N))
    assert caught.value.location.line == 5


@pytest.mark.requirement("CG-20")
def test_loop_counter_and_bounds_are_index() -> None:
    n = scalar("n", INT32)
    found = without_constants(lines(kernel([For(COUNTER, Const(0), n, Const(2), (), (), ())], n)))
    assert found == ["%0 = arith.index_cast %arg0 : i32 to index", "scf.for %i = %c0_index to %0 step %c2_index {"]


@pytest.mark.requirement("CG-20")
def test_a_counter_of_another_type_is_cast_in_the_body() -> None:
    i = scalar("i", INT32)
    product = Assign(scalar("j", INT32), Binary(BinaryOp.MUL, i, i, INT32))
    found = without_constants(lines(kernel([For(i, Const(0), N, Const(1), (), (product,), ())], N)))
    assert found[1:] == ["%0 = arith.index_cast %i : index to i32", "%j = arith.muli %0, %0 : i32"]


def cond(op: BinaryOp = BinaryOp.GT) -> Binary:
    return Binary(op, N, Const(0), BOOL)


@pytest.mark.requirement("CG-20")
def test_a_tile_that_leaves_both_branches_has_one_handle_declared_before() -> None:
    phi = Var("phi", Y.type)
    a, b = Var("a", Y.type), Var("b", Y.type)
    branch = If(cond(), (let(a, "tile.exp", X), Yield((a,))), (let(b, "tile.abs", X), Yield((b,))), (phi,))
    found = without_constants(lines(kernel([MAKE, branch, let(Var("z", X.type), "tile.exp", phi)], N)))
    alloc = f"pto.alloc_tile addr = %c4096_i64 valid_row = %c16_index valid_col = %c64_index : {F}"
    assert found[1:] == [
        f"%phi = {alloc}",
        "%0 = arith.cmpi sgt, %arg0, %c0_index : index",
        "scf.if %0 {",
        f"%a = {alloc}",
        f"pto.texp ins(%x : {F}) outs(%a : {F})",
        "} else {",
        f"%b = {alloc}",
        f"pto.tabs ins(%x : {F}) outs(%b : {F})",
        f"%z = pto.alloc_tile addr = %c0_i64 valid_row = %c16_index valid_col = %c64_index : {F}",
        f"pto.texp ins(%phi : {F}) outs(%z : {F})",
    ]


@pytest.mark.requirement("CG-20")
def test_a_branch_that_leaves_its_tile_elsewhere_is_an_error() -> None:
    phi = Var("phi", Y.type)
    branch = If(cond(), (Yield((X,)),), (Yield((X,)),), (phi,))
    with pytest.raises(CodegenError, match="'x' is handed on as 'phi' but lies in another buffer"):
        lines(kernel([MAKE, branch], N))


@pytest.mark.requirement("CG-20")
def test_scalars_are_results_of_a_branch() -> None:
    k = scalar("k")
    branch = If(cond(), (Yield((Const(4),)),), (Yield((N,)),), (k,))
    found = without_constants(lines(kernel([branch, Assign(scalar("j"), add(k, Const(1)))], N)))
    assert found == [
        "%0 = arith.cmpi sgt, %arg0, %c0_index : index",
        "%k = scf.if %0 -> (index) {",
        "scf.yield %c4_index : index",
        "} else {",
        "scf.yield %arg0 : index",
        "%j = arith.addi %k, %c1_index : index",
    ]


@pytest.mark.requirement("CG-20")
def test_a_branch_without_else() -> None:
    found = without_constants(lines(kernel([MAKE, If(cond(), (let(Y, "tile.exp", X),), (), ())], N)))
    assert found[2] == "scf.if %0 {" and "} else {" not in found


@pytest.mark.requirement("CG-20")
def test_while_tests_in_its_first_region_and_works_in_its_second() -> None:
    r, r2 = scalar("r"), scalar("r2")
    step = While(
        Binary(BinaryOp.LT, r, Const(256), BOOL), (IterArg(r, Const(16)),),
        (Assign(r2, Binary(BinaryOp.MUL, r, Const(2), INDEX)), Yield((r2,))), (scalar("end"),),
    )
    assert without_constants(lines(kernel([step]))) == [
        "%end = scf.while (%0 = %c16_index) : (index) -> (index) {",
        "%1 = arith.cmpi slt, %0, %c256_index : index",
        "scf.condition(%1) %0 : index",
        "} do {",
        "^bb0(%r: index):",
        "%r2 = arith.muli %r, %c2_index : index",
        "scf.yield %r2 : index",
    ]


@pytest.mark.requirement("CG-20")
@pytest.mark.parametrize("stmt", [Break(Span("k.py", 7, 9, 7, 14)), Continue(Span("k.py", 7, 9, 7, 17))])
def test_break_and_continue_must_be_gone(stmt: Stmt) -> None:
    with pytest.raises(NotModelled) as caught:
        lines(kernel([loop([stmt])], N))
    assert caught.value.location.line == 7


# matmul_acc

L, RT = Var("l", tile(32, 64, space=Space.LEFT)), Var("rt", tile(64, 32, space=Space.RIGHT))
ACC = Var("acc", tile(32, 32, space=Space.ACC))
CUBE = [let(v, "tile.create", nums(1, 1)) for v in (L, RT, ACC)]


def accumulate(condition: Expr | None, result: Var | None = None) -> list[str]:
    operands = [ACC, L, RT, *([condition] if condition is not None else [])]
    body: list[Stmt] = [*CUBE, let(result or Var("acc2", ACC.type), "tile.matmul_acc", *operands)]
    found = lines(kernel([*body], N, kind=FunctionKind.AIC))
    return [line.split(" ins(")[0] for line in found if "tmatmul" in line or "scf" in line]


@pytest.mark.requirement("CG-01")
def test_a_run_time_init_condition_chooses_between_overwrite_and_accumulate() -> None:
    assert accumulate(Binary(BinaryOp.EQ, N, Const(0), BOOL)) == ["scf.if %0 {", "pto.tmatmul", "pto.tmatmul.acc"]


@pytest.mark.requirement("CG-01")
@pytest.mark.parametrize(
    ("condition", "op"), [(TRUE, "pto.tmatmul"), (FALSE, "pto.tmatmul.acc"), (None, "pto.tmatmul.acc")],
)
def test_a_constant_init_condition_needs_no_branch(condition: Expr | None, op: str) -> None:
    assert accumulate(condition) == [op]


def test_an_accumulator_in_another_buffer_is_an_error() -> None:
    with pytest.raises(CodegenError, match="'acc2' updates 'acc' in place but lives in another buffer"):
        accumulate(None, Var("acc2", tile(32, 32, FP32, Space.ACC, at=8192)))


def test_a_while_that_carries_nothing_hands_nothing_on() -> None:
    loop = While(Binary(BinaryOp.LT, N, Const(10), BOOL), (), (Assign(Var("m", N.type), N),), ())
    (test,) = [line for line in lines(kernel([loop], N)) if line.startswith("scf.condition")]
    assert test == "scf.condition(%0)"
