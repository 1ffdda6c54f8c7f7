"""Scalar arithmetic. INDEX and integer types are exact and wrap to their width; division floors (Python's meaning)."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from pypto_verified.dtypes import DType
from pypto_verified.interpreter.meaning import Scalar
from pypto_verified.interpreter.numbers import Round, round_float
from pypto_verified.ir.expr import BinaryOp, UnaryOp

_COMPARE: dict[BinaryOp, Callable[[Scalar, Scalar], bool]] = {
    BinaryOp.EQ: lambda a, b: a == b,
    BinaryOp.NE: lambda a, b: a != b,
    BinaryOp.LT: lambda a, b: a < b,
    BinaryOp.LE: lambda a, b: a <= b,
    BinaryOp.GT: lambda a, b: a > b,
    BinaryOp.GE: lambda a, b: a >= b,
    BinaryOp.AND: lambda a, b: bool(a) and bool(b),
    BinaryOp.OR: lambda a, b: bool(a) or bool(b),
    BinaryOp.XOR: lambda a, b: bool(a) != bool(b),
}
_ARITH: dict[BinaryOp, Callable[[Scalar, Scalar], Scalar]] = {
    BinaryOp.ADD: lambda a, b: a + b,
    BinaryOp.SUB: lambda a, b: a - b,
    BinaryOp.MUL: lambda a, b: a * b,
    BinaryOp.FLOORDIV: lambda a, b: a // b,
    BinaryOp.MOD: lambda a, b: a % b,
    BinaryOp.POW: lambda a, b: float(a**b) if b < 0 else a**b,
    BinaryOp.MIN: min,
    BinaryOp.MAX: max,
    BinaryOp.BITAND: lambda a, b: int(a) & int(b),
    BinaryOp.BITOR: lambda a, b: int(a) | int(b),
    BinaryOp.BITXOR: lambda a, b: int(a) ^ int(b),
    BinaryOp.SHL: lambda a, b: int(a) << int(b),
    BinaryOp.SHR: lambda a, b: int(a) >> int(b),
}


def _settle(value: Scalar, dtype: DType) -> Scalar:
    if dtype.is_float:
        return float(round_float(np.array([float(value)]), dtype, Round.RINT)[0])
    if dtype.kind == "bool":
        return bool(value)
    whole = int(value)
    low = 0 if dtype.kind == "uint" else -(1 << (dtype.bits - 1))
    return (whole - low) % (1 << dtype.bits) + low


def binary(op: BinaryOp, a: Scalar, b: Scalar, dtype: DType) -> Scalar:
    """`a op b` in the result type. ZeroDivisionError: an integer division by zero."""
    compare = _COMPARE.get(op)
    if compare is not None:
        return compare(a, b)
    if op is BinaryOp.DIV:
        if not dtype.is_float:
            return _settle(math.trunc(a / b), dtype)
        if b == 0:
            return math.nan if a == 0 or math.isnan(a) else math.copysign(math.inf, a) * math.copysign(1.0, b)
        return _settle(a / b, dtype)
    return _settle(_ARITH[op](a, b), dtype)


def unary(op: UnaryOp, a: Scalar, dtype: DType) -> Scalar:
    """`op a` in the result type."""
    if op is UnaryOp.NOT:
        return not a
    if op is UnaryOp.BITNOT:
        return _settle(~int(a), dtype)
    return _settle(-a if op is UnaryOp.NEG else abs(a), dtype)
