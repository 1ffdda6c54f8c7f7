"""Results that a device may give in more than one way: approximated functions and sums in an order of its own.

The interpreter takes the correctly rounded value and notes in each run which ops left their result open; a comparison
allows for a difference only then.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from pypto_verified.dtypes import DType
from pypto_verified.interpreter.numbers import Bools, Carrier, Floats
from pypto_verified.records import dataclass

APPROXIMATED = "the function unit approximates (PTO-ISA tests compare with a tolerance)"
ORDERED = "the order of additions or multiplications is the device's own, visible where a partial result rounds"

UNSPECIFIED: dict[str, str] = {
    **{f"tile.{name}": APPROXIMATED for name in (
        "exp", "log", "sin", "cos", "rsqrt", "recip", "row_expand_expdif", "col_expand_expdif")},
    **{f"tile.{name}": ORDERED for name in (
        "row_sum", "col_sum", "row_prod", "col_prod", "matmul", "matmul_acc", "matmul_bias", "gemv", "gemv_acc",
        "gemv_bias")},
}
"""Op -> why its result is not one value. Source: PTO-ISA's TROWSUM, TCOLSUM, TMATMUL and unary op pages."""

_SIGNIFICAND = {"FP32": 24, "FP16": 11, "BF16": 8}
_LARGEST_EXPONENT = {"FP32": 127, "FP16": 15, "BF16": 127}
_CANCELLED = 1 / 3
"""Share of the significand; where more of it is lost in all of a result, the rest is the rounding of partial sums."""


@dataclass(frozen=True, slots=True)
class Freedom:
    """What the device's own order leaves of a sum or product. `exact`: every order gives one result; `unclear`: the
    elements of the result that have no particular value: some order may leave the type's range, or the terms cancel to
    next to nothing."""

    exact: bool
    unclear: Bools


def sum_freedom(terms: Carrier, axis: int, dtype: DType) -> Freedom:
    """Of adding the terms along the axis: exact if all are multiples of one power of two and their magnitudes add up to
    at most 2**p of it. Integers wrap the same in every order."""
    if terms.dtype != np.float64:
        return Freedom(True, np.zeros(np.sum(terms, axis=axis).shape, dtype=np.bool_))
    finite = _finite(terms)
    total = np.asarray(np.sum(np.abs(finite), axis=axis))
    return _judged(total, _least_unit(finite, axis), dtype, lambda: np.asarray(np.sum(terms, axis=axis), np.float64))


def product_sum_freedom(lhs: Carrier, rhs: Carrier, start: Carrier | None, dtype: DType) -> Freedom:
    """`sum_freedom` of the terms of `start + lhs @ rhs`, judged by the units of whole rows and columns."""
    if lhs.dtype != np.float64 or rhs.dtype != np.float64:
        return Freedom(True, np.zeros((lhs.shape[0], rhs.shape[1]), dtype=np.bool_))
    a, b = _finite(lhs), _finite(rhs)
    unit = np.multiply.outer(_least_unit(a, 1), _least_unit(b, 0))
    total = np.abs(a) @ np.abs(b)
    if start is not None:
        begin = _finite(start)
        unit = np.minimum(unit, np.where(begin == 0, np.inf, _unit(begin)))
        total = total + np.abs(begin)
    return _judged(
        total, unit, dtype, lambda: np.asarray(lhs @ rhs + (0.0 if start is None else start), np.float64))


def product_freedom(factors: Carrier, axis: int, dtype: DType) -> Freedom:
    """Of multiplying the factors along the axis: exact if their odd parts multiply to at most 2**p; no particular value
    if a partial product may leave the exponent range."""
    if factors.dtype != np.float64:
        return Freedom(True, np.zeros(np.sum(factors, axis=axis).shape, dtype=np.bool_))
    nonzero = np.where(_finite(factors) == 0, 1.0, _finite(factors))
    unit = _unit(nonzero)
    odd = np.prod(np.abs(nonzero) / unit, axis=axis)
    exponents = np.sum(np.abs(np.log2(np.abs(nonzero))), axis=axis)
    unclear = np.asarray(exponents >= _LARGEST_EXPONENT[dtype.name] - 1, dtype=np.bool_)
    return Freedom(bool(np.all(odd <= 2.0 ** _SIGNIFICAND[dtype.name])), unclear)


def _finite(x: Carrier) -> Floats:
    return np.where(np.isfinite(x), x, 0.0).astype(np.float64)


def _least_unit(x: Floats, axis: int) -> Floats:
    units = np.where(x == 0, np.inf, _unit(x))
    return np.asarray(np.min(units, axis=axis, initial=np.inf), dtype=np.float64)


def _judged(total: Floats, unit: Floats, dtype: DType, result: Callable[[], Carrier]) -> Freedom:
    """By the sum of the magnitudes of each element's terms; `result` is asked for only where an order may show."""
    digits = _SIGNIFICAND[dtype.name]
    fits = np.isinf(unit) | (total <= unit * 2.0**digits)
    unclear = np.asarray(total >= 2.0 ** _LARGEST_EXPONENT[dtype.name], dtype=np.bool_)
    if np.all(fits):
        return Freedom(True, unclear)
    with np.errstate(all="ignore"):
        largest = np.max(np.abs(_finite(result())), initial=0.0)
    return Freedom(False, unclear | (~fits & (total > largest * 2.0 ** (digits * _CANCELLED))))


def _unit(x: Floats) -> Floats:
    """The greatest power of two that divides each value; 1 for 0."""
    mantissa, exponent = np.frexp(x)
    whole = (np.abs(mantissa) * 2.0**53).astype(np.int64)
    lowest = np.where(whole == 0, np.int64(1) << 53, whole & -whole)
    return np.asarray(np.ldexp(lowest.astype(np.float64), exponent - 53), dtype=np.float64)
