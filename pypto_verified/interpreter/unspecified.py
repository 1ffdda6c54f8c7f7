"""Results that a device may give in more than one way: approximated functions and sums in an order of its own.

The interpreter takes the correctly rounded value and notes in each run which ops left their result open; a comparison
allows for a difference only then.
"""

from __future__ import annotations

import numpy as np

from pypto_verified.dtypes import DType
from pypto_verified.interpreter.numbers import Carrier, Floats

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


def sum_is_exact(terms: Carrier, axis: int, dtype: DType) -> bool:
    """Whether adding the terms along the axis rounds in no order: all are multiples of one power of two, and the sum of
    their magnitudes is below 2**p of it. Integers wrap the same in every order."""
    if terms.dtype != np.float64 or terms.size == 0:
        return True
    finite = np.where(np.isfinite(terms), terms, 0.0).astype(np.float64)
    return _no_rounding(np.asarray(np.sum(np.abs(finite), axis=axis)), _least_unit(finite, axis), dtype)


def product_sum_is_exact(lhs: Carrier, rhs: Carrier, start: Carrier | None, dtype: DType) -> bool:
    """`sum_is_exact` of the terms of `start + lhs @ rhs`, judged by the units of whole rows and columns."""
    if lhs.dtype != np.float64 or rhs.dtype != np.float64 or 0 in (*lhs.shape, rhs.shape[1]):
        return True
    a, b = (np.where(np.isfinite(x), x, 0.0).astype(np.float64) for x in (lhs, rhs))
    unit = np.multiply.outer(_least_unit(a, 1), _least_unit(b, 0))
    total = np.abs(a) @ np.abs(b)
    if start is not None:
        begin = np.where(np.isfinite(start), start, 0.0).astype(np.float64)
        unit = np.minimum(unit, np.where(begin == 0, np.inf, _unit(begin)))
        total = total + np.abs(begin)
    return _no_rounding(total, unit, dtype)


def _least_unit(x: Floats, axis: int) -> Floats:
    return np.asarray(np.min(np.where(x == 0, np.inf, _unit(x)), axis=axis), dtype=np.float64)


def _no_rounding(total: Floats, unit: Floats, dtype: DType) -> bool:
    fits = np.isinf(unit) | (total <= unit * 2.0 ** _SIGNIFICAND[dtype.name])
    return bool(np.all(fits & (total < 2.0 ** _LARGEST_EXPONENT[dtype.name])))


def product_is_exact(factors: Carrier, axis: int, dtype: DType) -> bool:
    """Whether multiplying the factors along the axis rounds in no order: the odd parts multiply to at most 2**p and no
    partial product leaves the exponent range."""
    if factors.dtype != np.float64 or factors.size == 0:
        return True
    finite = np.where(np.isfinite(factors) & (factors != 0), factors, 1.0).astype(np.float64)
    unit = _unit(finite)
    odd = np.prod(np.abs(finite) / unit, axis=axis)
    exponents = np.sum(np.abs(np.log2(unit)), axis=axis) + np.log2(odd)
    limit = _LARGEST_EXPONENT[dtype.name] - 1
    return bool(np.all((odd <= 2.0 ** _SIGNIFICAND[dtype.name]) & (exponents <= limit)))


def _unit(x: Floats) -> Floats:
    """The greatest power of two that divides each value; 1 for 0."""
    mantissa, exponent = np.frexp(x)
    whole = (np.abs(mantissa) * 2.0**53).astype(np.int64)
    lowest = np.where(whole == 0, np.int64(1) << 53, whole & -whole)
    return np.asarray(np.ldexp(lowest.astype(np.float64), exponent - 53), dtype=np.float64)
