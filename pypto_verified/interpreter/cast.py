"""`tile.cast`: conversions between element types.

Source of the saturation defaults and fallbacks: PTO-ISA's TCVT (a2a3 and a5 TCvt.hpp): saturation is OFF by default for
the six narrowing pairs below and ON elsewhere; OFF converts through a saturating 32-bit integer and keeps its low bits.
"""

from __future__ import annotations

import numpy as np

from pypto_verified.dtypes import DType
from pypto_verified.interpreter.numbers import (
    GREATEST,
    Bools,
    Carrier,
    Floats,
    Ints,
    Round,
    int_range,
    round_float,
    round_integral,
    storage,
    wrap,
)

WRAPS_BY_DEFAULT = frozenset(
    {("FP16", "UINT8"), ("FP16", "INT8"), ("FP32", "INT16"), ("FP16", "INT16"), ("INT64", "INT32"), ("INT32", "INT16")}
)


def cast(values: Carrier, source: DType, target: DType, mode: Round) -> Carrier:
    """Each value converted; `mode` is the rounding where the target is coarser. NotModelled for a target whose values
    the carriers do not hold."""
    storage(target)
    if target.is_float:
        wide = _exact_float(values)
        if source.is_float and source.name == target.name:
            return round_integral(wide, mode) if mode is not Round.NONE else wide
        return round_float(wide, target, mode)
    if source.is_float:
        return _float_to_int(values.astype(np.float64), source, target, mode)
    return _int_to_int(values.astype(np.int64), source, target)


def overflows(values: Carrier, source: DType, target: DType, mode: Round) -> Bools:
    """Where a value is out of the target's range and no rule says what becomes of it: one target saturates, the other
    takes low bits or infinity. The pairs that wrap by default and conversions to 32 bits or more are fixed."""
    if (source.name, target.name) in WRAPS_BY_DEFAULT:
        return np.zeros(values.shape, dtype=np.bool_)
    if target.is_float:
        result = cast(values, source, target, mode)
        beyond = np.isinf(result) | (np.abs(result) == GREATEST[target.name])
        return np.asarray(beyond & np.isfinite(values) & (np.abs(values) != GREATEST[target.name]), dtype=np.bool_)
    low, high = int_range(target)
    if source.is_float:
        whole = round_integral(values.astype(np.float64), mode)
        return np.asarray((whole < low) | (whole > high), dtype=np.bool_) & (target.bits < 32)
    return np.asarray((values < low) | (values > high), dtype=np.bool_)


def _exact_float(values: Carrier) -> Floats:
    """int64 beyond 2**53 would round here; the only such source type is INT64, whose target FP32 is coarser by 29 bits.

    Splitting off the low 11 bits as a sticky bit keeps the one rounding that follows correct.
    """
    if values.dtype == np.float64:
        return values.astype(np.float64)
    ints = values.astype(np.int64)
    big = np.abs(ints) > (1 << 53)
    sticky = np.where(big, (ints >> 11 << 11) | np.where(ints & 0x7FF, 1 << 11, 0), ints)
    return sticky.astype(np.float64)


def _float_to_int(x: Floats, source: DType, target: DType, mode: Round) -> Ints:
    whole = round_integral(x, mode)
    if (source.name, target.name) in WRAPS_BY_DEFAULT:
        low, high = -(1 << 31), (1 << 31) - 1
        return wrap(_clamp(whole, low, high), target)
    return _clamp(whole, *int_range(target))


def _clamp(x: Floats, low: int, high: int) -> Ints:
    """Saturating float to integer; NaN becomes 0. `float(high)` may round up to 2**63, so compare before converting."""
    inside = (x > float(low)) & (x < float(high))
    result = np.where(inside, x, 0.0).astype(np.int64)
    result = np.where(x >= float(high), np.int64(high), result)
    result = np.where(x <= float(low), np.int64(low), result)
    return np.where(np.isnan(x), np.int64(0), result)


def _int_to_int(x: Ints, source: DType, target: DType) -> Ints:
    if (source.name, target.name) in WRAPS_BY_DEFAULT:
        return wrap(x, target)
    low, high = int_range(target)
    return np.clip(x, low, high)
