"""Folding of scalar expressions: what has a value, what fits, what stays as written."""

from __future__ import annotations

import pytest

from pypto_verified.dtypes import BOOL, FP32, INDEX, INT8, INT32, UINT8, DType
from pypto_verified.ir.expr import Binary, BinaryOp, Cast, Const, Expr, Unary, UnaryOp, Var
from pypto_verified.ir.types import ScalarType
from pypto_verified.passes.fold import constant_int, fold

B, C = (Var(name, ScalarType(BOOL)) for name in "bc")
N = Var("n", ScalarType(INDEX))
TRUE, FALSE = Const(True, BOOL), Const(False, BOOL)


def _logic(op: str, lhs: Expr, rhs: Expr) -> Expr:
    return Binary(BinaryOp[op], lhs, rhs, BOOL)


def _index(op: str, lhs: Expr | int, rhs: Expr | int, dtype: DType = INDEX) -> Expr:
    left, right = (Const(e, dtype) if isinstance(e, int) else e for e in (lhs, rhs))
    return Binary(BinaryOp[op], left, right, dtype)


@pytest.mark.parametrize(("e", "value"), [
    (_logic("AND", TRUE, TRUE), TRUE), (_logic("AND", TRUE, FALSE), FALSE), (_logic("OR", FALSE, TRUE), TRUE),
    (_logic("OR", FALSE, FALSE), FALSE), (_logic("AND", TRUE, B), B), (_logic("AND", FALSE, B), FALSE),
    (_logic("OR", TRUE, B), TRUE), (_logic("OR", FALSE, B), B), (_logic("AND", B, TRUE), B),
    (_logic("AND", B, FALSE), FALSE), (_logic("OR", B, TRUE), TRUE), (_logic("OR", B, FALSE), B),
    (Unary(UnaryOp.NOT, TRUE, BOOL), FALSE), (Unary(UnaryOp.NOT, FALSE, BOOL), TRUE),
    (Unary(UnaryOp.NOT, Unary(UnaryOp.NOT, B, BOOL), BOOL), B),
    (_logic("AND", Unary(UnaryOp.NOT, FALSE, BOOL), _logic("OR", B, FALSE)), B),
])
def test_conditions_fold(e: Expr, value: Expr) -> None:
    assert fold(e) == value


@pytest.mark.parametrize(("op", "less", "equal", "more"), [
    ("EQ", False, True, False), ("NE", True, False, True), ("LT", True, False, False), ("LE", True, True, False),
    ("GT", False, False, True), ("GE", False, True, True),
])
def test_comparisons_of_constants_fold(op: str, less: bool, equal: bool, more: bool) -> None:
    found = [fold(Binary(BinaryOp[op], Const(a), Const(4), BOOL)) for a in (3, 4, 5)]
    assert found == [Const(truth, BOOL) for truth in (less, equal, more)]


@pytest.mark.parametrize(("op", "neutral"), [
    ("ADD", 0), ("SUB", 0), ("MUL", 1), ("FLOORDIV", 1), ("SHL", 0), ("SHR", 0), ("BITOR", 0), ("BITXOR", 0),
])
def test_a_neutral_number_on_the_right_falls_away(op: str, neutral: int) -> None:
    assert fold(_index(op, N, neutral)) == N
    kept = _index(op, N, 2)
    assert fold(kept) is kept


@pytest.mark.parametrize(("op", "neutral"), [("ADD", 0), ("MUL", 1), ("BITOR", 0), ("BITXOR", 0)])
def test_a_neutral_number_on_the_left_falls_away(op: str, neutral: int) -> None:
    assert fold(_index(op, neutral, N)) == N


@pytest.mark.parametrize("e", [
    _index("SUB", 0, N), _index("FLOORDIV", 1, N), _index("SHL", 0, N), _index("MUL", 0, N), _index("MUL", N, 0),
    _index("MOD", N, 1), _index("BITAND", N, 0), _index("SHL", 1, 3), _logic("EQ", TRUE, FALSE), _logic("AND", B, C),
    Unary(UnaryOp.NOT, B, BOOL), Unary(UnaryOp.NEG, N, INDEX), Cast(N, INT32), N, TRUE,
])
def test_what_is_not_folded_is_the_very_same(e: Expr) -> None:
    assert fold(e) is e


@pytest.mark.parametrize(("op", "lhs", "rhs", "dtype", "value"), [
    ("ADD", 100, 27, INT8, 127), ("ADD", 100, 28, INT8, None), ("SUB", -100, 28, INT8, -128),
    ("SUB", -100, 29, INT8, None), ("ADD", 200, 55, UINT8, 255), ("ADD", 200, 56, UINT8, None),
    ("SUB", 5, 5, UINT8, 0), ("SUB", 5, 6, UINT8, None), ("MUL", 1 << 15, 1 << 15, INT32, 1 << 30),
    ("MUL", 1 << 16, 1 << 15, INT32, None), ("MOD", -7, 3, INT8, 2), ("FLOORDIV", -7, 3, INT8, -3),
])
def test_a_result_that_its_type_does_not_hold_stays_as_written(
    op: str, lhs: int, rhs: int, dtype: DType, value: int | None
) -> None:
    e = _index(op, lhs, rhs, dtype)
    assert fold(e) == (e if value is None else Const(value, dtype))


@pytest.mark.parametrize(("dtype", "number", "value"), [
    (INT8, 5, -5), (INT8, 127, -127), (INT8, -128, None), (INDEX, 0, 0), (FP32, 1.5, -1.5), (UINT8, 5, None),
])
def test_a_negated_constant_is_one_where_its_type_holds_it(
    dtype: DType, number: float, value: float | None
) -> None:
    e = Unary(UnaryOp.NEG, Const(number, dtype), dtype)
    assert fold(e) == (e if value is None else Const(value, dtype))


@pytest.mark.parametrize(("number", "dtype", "value"), [
    (127, INT8, 127), (128, INT8, None), (-128, INT8, -128), (-129, INT8, None), (255, UINT8, 255), (-1, UINT8, None),
    (True, INT32, 1), (3, FP32, None),
])
def test_a_constant_is_cast_where_the_type_holds_it(number: int, dtype: DType, value: int | None) -> None:
    e = Cast(Const(number, BOOL if isinstance(number, bool) else INDEX), dtype)
    folded = fold(e)
    assert folded == (e if value is None else Const(value, dtype))
    assert not isinstance(folded, Const) or type(folded.value) is int


def test_floats_are_left_as_written() -> None:
    for op in ("ADD", "MUL", "DIV"):
        e = Binary(BinaryOp[op], Const(1.5, FP32), Const(2.0, FP32), FP32)
        assert fold(e) is e


@pytest.mark.parametrize(("e", "value"), [
    (Const(7), 7), (_index("ADD", 3, 4), 7), (_index("MUL", _index("SUB", 5, 2), 2), 6), (N, None), (TRUE, None),
    (Const(1.0, FP32), None), (_index("ADD", N, 1), None),
])
def test_the_integer_that_an_expression_is(e: Expr, value: int | None) -> None:
    found = constant_int(e)
    assert found == value and type(found) is type(value)
