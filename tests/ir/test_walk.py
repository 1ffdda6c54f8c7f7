"""Visitors, substitution and index forms, against hand-made expressions and Python integers."""

from __future__ import annotations

import itertools

import pytest

from pypto_verified import index
from pypto_verified.dtypes import BOOL, FP32, INDEX, INT32, DType
from pypto_verified.errors import NotModelled
from pypto_verified.ir.expr import Binary, BinaryOp, Call, Cast, Const, Expr, Unary, UnaryOp, Var
from pypto_verified.ir.index_form import from_index, to_cond, to_index
from pypto_verified.ir.rewrite import map_exprs, substitute
from pypto_verified.ir.stmt import Assign, Eval, For, If, IterArg, Stmt, While, Yield
from pypto_verified.ir.types import NoneType, ScalarType, TileType, TileView
from pypto_verified.ir.walk import calls, definitions, free_vars, walk_stmts


def var(name: str, dtype: DType = INDEX) -> Var:
    return Var(name, ScalarType(dtype))


def op(kind: BinaryOp, a: Expr, b: Expr, dtype: DType = INDEX) -> Binary:
    return Binary(kind, a, b, dtype)


X, J, N = var("i"), var("j"), var("n")


def use(*args: Expr) -> Eval:
    return Eval(Call("test.use", args, (), NoneType()))


def test_free_variables_are_uses_without_a_definition_before() -> None:
    body: tuple[Stmt, ...] = (use(X), Assign(X, N), use(X, J))
    assert list(free_vars(body)) == ["i", "n", "j"]


def test_a_loop_defines_its_variables_for_its_body_only() -> None:
    loop = For(X, Const(0), N, Const(1), (IterArg(J, Const(0)),), (use(X, J), Yield((J,))), (var("r"),))
    assert list(free_vars((loop, use(X, var("r"))))) == ["n", "i"]
    assert [v.name for v in definitions(loop)] == ["i", "j", "r"]


def test_a_while_tests_what_it_carries_and_its_prelude_defines() -> None:
    loop = While(op(BinaryOp.LT, var("c"), N, BOOL), (IterArg(X, J),), (Yield((X,)),), (var("r"),),
                 (Assign(var("c"), X),))
    assert list(free_vars((loop,))) == ["j", "n"]


def test_a_size_in_a_type_is_a_use_and_is_renamed() -> None:
    narrow = TileType((16, 64), FP32, None, TileView((N, 64)))
    body: tuple[Stmt, ...] = (Assign(Var("t", narrow), Call("test.make", (), (), narrow)), use(Var("t", narrow)))
    assert list(free_vars(body)) == ["n"]
    first, second = map_exprs(body, lambda e: Const(8) if e == N else e)
    fixed = TileType((16, 64), FP32, None, TileView((8, 64)))
    assert isinstance(first, Assign) and isinstance(second, Eval)
    assert first.var == Var("t", fixed)
    assert second.call.args == (Var("t", fixed),)


def test_walking_reaches_every_block() -> None:
    inner = use(Call("test.inner", (), (), ScalarType(INDEX)))
    branch = If(Const(True, BOOL), (inner,), (use(),), ())
    loop = For(X, Const(0), N, Const(1), (), (branch,), ())
    assert [type(s).__name__ for s in walk_stmts((loop,))] == ["For", "If", "Eval", "Eval"]
    assert [c.op for c in calls((loop,))] == ["test.use", "test.inner", "test.use"]


def test_substitution_replaces_by_name() -> None:
    assert substitute(op(BinaryOp.ADD, X, J), {"i": Const(3)}) == op(BinaryOp.ADD, Const(3), J)


FORMS: list[Expr] = [
    op(BinaryOp.ADD, op(BinaryOp.MUL, X, Const(4)), J),
    op(BinaryOp.SUB, Const(7), op(BinaryOp.MOD, X, Const(3))),
    op(BinaryOp.FLOORDIV, op(BinaryOp.SUB, X, J), Const(4)),
    op(BinaryOp.MIN, X, op(BinaryOp.MAX, J, Const(2))),
    op(BinaryOp.SHL, X, Const(2)),
    op(BinaryOp.SHR, X, Const(1)),
    op(BinaryOp.BITAND, X, Const(7)),
    Unary(UnaryOp.ABS, X, INDEX),
    Unary(UnaryOp.NEG, op(BinaryOp.MUL, X, J), INDEX),
]
PYTHON = [
    lambda i, j: 4 * i + j, lambda i, j: 7 - i % 3, lambda i, j: (i - j) // 4, lambda i, j: min(i, max(j, 2)),
    lambda i, j: i << 2, lambda i, j: i >> 1, lambda i, j: i & 7, lambda i, j: abs(i), lambda i, j: -(i * j),
]


@pytest.mark.parametrize("k", range(len(FORMS)))
def test_index_forms_mean_what_python_means_also_after_the_way_back(k: int) -> None:
    form = to_index(FORMS[k])
    again = to_index(from_index(form))
    for i, j in itertools.product(range(-5, 9), repeat=2):
        expected = PYTHON[k](i, j)
        assert index.evaluate(form, {"i": i, "j": j}) == expected
        assert index.evaluate(again, {"i": i, "j": j}) == expected


def test_an_environment_gives_variables_their_form() -> None:
    assert to_index(op(BinaryOp.ADD, X, J), {"i": index.const(4)}) is index.symbol("j") + 4


def test_conditions() -> None:
    other = Unary(UnaryOp.NOT, op(BinaryOp.EQ, X, J, BOOL), BOOL)
    below = to_cond(op(BinaryOp.AND, op(BinaryOp.LT, X, N, BOOL), other, BOOL))
    assert index.holds(below, {"i": 1, "n": 2, "j": 0})
    assert not index.holds(below, {"i": 1, "n": 2, "j": 1})


@pytest.mark.parametrize(
    "e",
    [
        op(BinaryOp.ADD, var("i", INT32), Const(1, INT32), INT32),
        Cast(var("x", FP32), INDEX),
        op(BinaryOp.BITAND, X, Const(5)),
        Call("tensor.read", (), (), ScalarType(INDEX)),
    ],
    ids=["wraps", "float", "odd mask", "memory"],
)
def test_what_exact_integers_do_not_express_is_refused(e: Expr) -> None:
    with pytest.raises(NotModelled):
        to_index(e)
