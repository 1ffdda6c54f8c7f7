"""Scalar arithmetic. INDEX and integer types are exact and wrap to their width, `//` and `%` floor (Python's meaning);
floats are IEEE 754's, rounded to their type."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable

import numpy as np

from pypto_verified.dtypes import DType
from pypto_verified.interpreter.meaning import Fault, Scalar
from pypto_verified.interpreter.numbers import Round, int_range, round_float
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
_INTEGER: dict[BinaryOp, Callable[[int, int], int]] = {
    BinaryOp.ADD: operator.add,
    BinaryOp.SUB: operator.sub,
    BinaryOp.MUL: operator.mul,
    BinaryOp.DIV: lambda a, b: a // b if (a < 0) == (b < 0) else -(-a // b),
    BinaryOp.FLOORDIV: operator.floordiv,
    BinaryOp.MOD: operator.mod,
    BinaryOp.MIN: min,
    BinaryOp.MAX: max,
    BinaryOp.BITAND: operator.and_,
    BinaryOp.BITOR: operator.or_,
    BinaryOp.BITXOR: operator.xor,
    BinaryOp.SHL: operator.lshift,
    BinaryOp.SHR: operator.rshift,
}
_FLOAT: dict[BinaryOp, Callable[[np.float64, np.float64], np.float64]] = {
    BinaryOp.ADD: operator.add,
    BinaryOp.SUB: operator.sub,
    BinaryOp.MUL: operator.mul,
    BinaryOp.DIV: operator.truediv,
    BinaryOp.FLOORDIV: operator.floordiv,
    BinaryOp.MOD: operator.mod,
    BinaryOp.POW: operator.pow,
    BinaryOp.MIN: lambda a, b: a if a < b or a != a or (a == b and np.signbit(a)) else b,
    BinaryOp.MAX: lambda a, b: a if a > b or a != a or (a == b and not np.signbit(a)) else b,
}
"""MIN and MAX are the minimum and maximum of IEEE 754: a NaN wins, and -0.0 is less than 0.0."""


def _settle(value: Scalar, dtype: DType) -> Scalar:
    if dtype.is_float:
        return float(round_float(np.array([float(value)]), dtype, Round.RINT)[0])
    if dtype.kind == "bool":
        return bool(value)
    low, high = int_range(dtype)
    return (int(value) - low) % (high - low + 1) + low


def binary(op: BinaryOp, a: Scalar, b: Scalar, dtype: DType) -> Scalar:
    """`a op b` in the result type. ZeroDivisionError: an integer division by zero; Fault: a shift by less than 0 or by
    the width or more."""
    compare = _COMPARE.get(op)
    if compare is not None:
        return compare(a, b)
    if dtype.is_float:
        with np.errstate(all="ignore"):
            return _settle(float(_FLOAT[op](np.float64(a), np.float64(b))), dtype)
    left, right = int(a), int(b)
    if op in (BinaryOp.SHL, BinaryOp.SHR) and not 0 <= right < dtype.bits:
        raise Fault(f"a shift of {dtype.bits} bits by {right}")
    if op is BinaryOp.POW:
        return _settle(_power(left, right, dtype), dtype)
    return _settle(_INTEGER[op](left, right), dtype)


def _power(a: int, b: int, dtype: DType) -> int:
    """`a ** b` modulo the width; for a negative `b` the fraction is cut off. ZeroDivisionError: 0 to a negative."""
    if b >= 0:
        return pow(a, b, 1 << dtype.bits)
    return _INTEGER[BinaryOp.DIV](1, a ** -b if abs(a) <= 1 else 2)


def convert(value: Scalar, dtype: DType) -> Scalar:
    """The value in another type: towards zero from a float to an integer, modulo the width between integers, to the
    nearest of a float type. Fault: a float outside the range of the integer type."""
    if isinstance(value, float) and dtype.kind != "bool" and not dtype.is_float:
        low, high = int_range(dtype)
        if not math.isfinite(value) or not low <= math.trunc(value) <= high:
            raise Fault(f"{value} does not fit {dtype.name}")
    if dtype.is_float and not isinstance(value, float):
        return _settle(_odd(int(value)), dtype)
    return _settle(value, dtype)


def _odd(value: int) -> float:
    """An integer with all but its first 53 bits in the last of them: rounded once more, it is as if rounded once."""
    size = abs(value)
    lost = max(0, size.bit_length() - 53)
    kept = size >> lost | (size & ((1 << lost) - 1) != 0)
    return math.copysign(math.ldexp(kept, lost), value)


def unary(op: UnaryOp, a: Scalar, dtype: DType) -> Scalar:
    """`op a` in the result type."""
    if op is UnaryOp.NOT:
        return not a
    if op is UnaryOp.BITNOT:
        return _settle(~int(a), dtype)
    return _settle(-a if op is UnaryOp.NEG else abs(a), dtype)
