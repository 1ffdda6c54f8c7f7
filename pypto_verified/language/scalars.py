"""Typing of scalar operators as the DSL does it: same category only, the wider type wins, INDEX wins over INT64."""

from __future__ import annotations

import operator
from collections.abc import Callable

from pypto_verified.dtypes import BOOL, INDEX, DType
from pypto_verified.ir.expr import Binary, BinaryOp, Cast, Const, Expr, Unary, UnaryOp
from pypto_verified.ir.types import ScalarType, TensorType, TileType, Type
from pypto_verified.ops.args import type_of

_Value = int | float | bool
_RELATIONS: dict[BinaryOp, Callable[[_Value, _Value], bool]] = {
    BinaryOp.EQ: operator.eq, BinaryOp.NE: operator.ne, BinaryOp.LT: operator.lt, BinaryOp.LE: operator.le,
    BinaryOp.GT: operator.gt, BinaryOp.GE: operator.ge,
}
_LOGIC: dict[BinaryOp, Callable[[bool, bool], bool]] = {
    BinaryOp.AND: operator.and_, BinaryOp.OR: operator.or_, BinaryOp.XOR: operator.xor,
}
_BITWISE = frozenset({BinaryOp.BITAND, BinaryOp.BITOR, BinaryOp.BITXOR, BinaryOp.SHL, BinaryOp.SHR})


class BadOperand(Exception):
    """A scalar operator on operands it does not take; the message says why, `help` what to write."""

    def __init__(self, message: str, help: str = "") -> None:
        super().__init__(message)
        self.help = help


def _scalar(e: Expr, sign: str) -> DType:
    t: Type = type_of(e)
    if isinstance(t, ScalarType):
        return t.dtype
    if isinstance(t, TileType | TensorType):
        what = "a tile" if isinstance(t, TileType) else "a tensor"
        raise BadOperand(f"operator {sign!r} works on scalars, got {what}", "use the op: pl.add, pl.mul, ...")
    raise BadOperand(f"operator {sign!r} works on scalars, got a value that is none", "name one item of it")


def cast(e: Expr, dtype: DType) -> Expr:
    """`e` as `dtype`; a constant is retyped in place when that loses nothing."""
    t = type_of(e)
    if isinstance(t, ScalarType) and t.dtype == dtype:
        return e
    if isinstance(e, Const) and e.dtype.is_integer and dtype.is_integer:
        return Const(e.value, dtype)
    return Cast(e, dtype)


def _common(op: BinaryOp, a: DType, b: DType) -> DType:
    if BOOL in (a, b):
        raise BadOperand(f"operator {op.value!r} does not take a Boolean", "compare numbers, combine with and/or/not")
    if a.is_float != b.is_float:
        raise BadOperand(
            f"operator {op.value!r} mixes {a} and {b}", "convert one side: pl.cast(x, pl.FP32), or write 1.0 for 1"
        )
    if a.bits == b.bits:
        return INDEX if INDEX in (a, b) else a
    return a if a.bits > b.bits else b


_DIVIDING = frozenset({BinaryOp.FLOORDIV, BinaryOp.MOD, BinaryOp.DIV})


def binary(op: BinaryOp, lhs: Expr, rhs: Expr) -> Expr:
    """`lhs op rhs` with both sides converted to one type; a comparison of constants is a constant, as it is when read
    back from its print. Raises BadOperand."""
    a, b = _scalar(lhs, op.value), _scalar(rhs, op.value)
    if op in _LOGIC:
        if (a, b) != (BOOL, BOOL):
            raise BadOperand(f"operator {op.value!r} needs Boolean operands, got {a} and {b}", "compare first: x != 0")
        if isinstance(lhs, Const) and isinstance(rhs, Const):
            return Const(_LOGIC[op](bool(lhs.value), bool(rhs.value)), BOOL)
        return Binary(op, lhs, rhs, BOOL)
    common = _common(op, a, b)
    if op in _BITWISE and not common.is_integer:
        raise BadOperand(f"operator {op.value!r} needs integers, got {a} and {b}", "convert with pl.cast")
    if op in _DIVIDING and common.is_integer and isinstance(rhs, Const) and rhs.value == 0:
        raise BadOperand(f"operator {op.value!r} divides by zero", "an integer divided by zero has no value")
    if op in _RELATIONS and isinstance(lhs, Const) and isinstance(rhs, Const):
        return Const(_RELATIONS[op](lhs.value, rhs.value), BOOL)
    return Binary(op, cast(lhs, common), cast(rhs, common), BOOL if op in _RELATIONS else common)


def unary(op: UnaryOp, operand: Expr) -> Expr:
    """`op operand`. Raises BadOperand."""
    dtype = _scalar(operand, op.value)
    if op is UnaryOp.NOT:
        if dtype != BOOL:
            raise BadOperand(f"'not' needs a Boolean, got {dtype}", "compare first: x != 0")
        return Const(not operand.value, BOOL) if isinstance(operand, Const) else Unary(op, operand, BOOL)
    if dtype == BOOL or (op is UnaryOp.BITNOT and not dtype.is_integer):
        raise BadOperand(f"operator {op.value!r} does not take {dtype}", "use not for Booleans, pl.cast for numbers")
    if op is UnaryOp.NEG and isinstance(operand, Const):
        return Const(-operand.value, dtype)
    return Unary(op, operand, dtype)
