"""Rounding to an element type, by looking the result up in the type's value table.

Values travel in exact carriers: float types as float64, integer types as int64. Every float type here has at most 24
bits of significand, so a sum, product, quotient or root of two of its values, computed in float64 and rounded once
more, is the correctly rounded result (float64 has more than 2*24 + 1 bits: double rounding is innocuous).
Numpy's warnings about overflow are off while a kernel is interpreted: infinities and NaN are results like others.
"""

from __future__ import annotations

from enum import IntEnum
from functools import lru_cache

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from pypto_verified.dtypes import DType
from pypto_verified.errors import NotModelled

Carrier = NDArray[np.float64] | NDArray[np.int64]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


class Round(IntEnum):
    """PyPTO's cast modes (`pl.cast(mode=)`)."""

    NONE = 0
    RINT = 1
    ROUND = 2
    FLOOR = 3
    CEIL = 4
    TRUNC = 5
    ODD = 6
    CAST_RINT = 7


_STORAGE: dict[str, np.dtype[np.generic]] = {
    "FP32": np.dtype(np.float32),
    "FP16": np.dtype(np.float16),
    "BF16": np.dtype(ml_dtypes.bfloat16),
    "INT8": np.dtype(np.int8),
    "INT16": np.dtype(np.int16),
    "INT32": np.dtype(np.int32),
    "INT64": np.dtype(np.int64),
    "UINT8": np.dtype(np.uint8),
    "UINT16": np.dtype(np.uint16),
    "UINT32": np.dtype(np.uint32),
    "INDEX": np.dtype(np.int64),
    "BOOL": np.dtype(np.bool_),
}


def storage(dtype: DType) -> np.dtype[np.generic]:
    """The numpy dtype that stores one element. NotModelled for the others (64-bit unsigned, sub-byte, 8-bit floats)."""
    found = _STORAGE.get(dtype.name)
    if found is None:
        raise NotModelled(f"element type {dtype.name} in the interpreter")
    return found


def to_carrier(array: NDArray[np.generic], dtype: DType) -> Carrier:
    """The exact value of each stored element, in an array of its own."""
    return array.astype(np.float64) if dtype.is_float else array.astype(np.int64)


def from_carrier(values: Carrier, dtype: DType) -> NDArray[np.generic]:
    """Store values that are already in the type (after `settle` or a cast)."""
    return values.astype(storage(dtype))


def int_range(dtype: DType) -> tuple[int, int]:
    """Least and greatest value of an integer type."""
    if dtype.kind == "uint":
        return 0, (1 << dtype.bits) - 1
    return -(1 << (dtype.bits - 1)), (1 << (dtype.bits - 1)) - 1


def wrap(values: Ints, dtype: DType) -> Ints:
    """Two's-complement wrap-around to the type's width."""
    if dtype.bits >= 64:
        return values
    low, _ = int_range(dtype)
    return (values - low) % (1 << dtype.bits) + low


def settle(values: Carrier, dtype: DType) -> Carrier:
    """What one arithmetic result becomes in the type: ties-to-even for floats, wrap for integers."""
    if dtype.is_float:
        return round_float(values.astype(np.float64), dtype, Round.RINT)
    return wrap(values.astype(np.int64), dtype)


GREATEST = {
    "FP32": (2.0 - 2.0**-23) * 2.0**127,
    "FP16": (2.0 - 2.0**-10) * 2.0**15,
    "BF16": (2.0 - 2.0**-7) * 2.0**127,
}
"""Greatest finite values, from the formats' definitions: (2 - 2**-p) * 2**emax."""


@lru_cache(maxsize=8)
def _value_table(name: str) -> Floats:
    """All finite values of a 16-bit float type, ascending (one zero)."""
    bits = np.arange(1 << 16, dtype=np.uint16)
    with np.errstate(invalid="ignore"):
        values = bits.view(_STORAGE[name]).astype(np.float64)
    return np.unique(values[np.isfinite(values)])


def _neighbours(x: Floats, dtype: DType) -> tuple[Floats, Floats]:
    """The greatest value <= x and the least value >= x (infinities beyond the finite range)."""
    if dtype.bits == 32:
        near = x.astype(np.float32)
        wide = near.astype(np.float64)
        down = np.where(wide > x, np.nextafter(near, np.float32(-np.inf)), near).astype(np.float64)
        up = np.where(wide < x, np.nextafter(near, np.float32(np.inf)), near).astype(np.float64)
        return down, up
    table = _value_table(dtype.name)
    low = np.searchsorted(table, x, side="right") - 1
    high = np.searchsorted(table, x, side="left")
    down = np.where(low >= 0, table[np.maximum(low, 0)], -np.inf)
    up = np.where(high < len(table), table[np.minimum(high, len(table) - 1)], np.inf)
    return down, up


def _significand_is_odd(x: Floats, dtype: DType) -> Bools:
    """Whether the stored pattern of a finite value ends in 1."""
    stored = from_carrier(x, dtype)
    pattern = stored.view(np.uint32 if dtype.bits == 32 else np.uint16).astype(np.int64)
    return np.asarray(pattern & 1, dtype=np.bool_)


def round_float(x: Floats, dtype: DType, mode: Round) -> Floats:
    """`x` rounded to a value of the float type; NaN stays, overflow follows the mode (nearest: half an ulp beyond the
    greatest value becomes infinite). NONE means RINT."""
    x = np.asarray(x, dtype=np.float64)
    if (from_carrier(x, dtype).astype(np.float64) == x).all():
        return x.copy()  # what storing does not change is in the type, whatever storing does to the rest
    finite = np.isfinite(x)
    safe = np.where(finite, x, 0.0)
    down, up = _neighbours(safe, dtype)
    exact = down == up
    if mode is Round.FLOOR or exact.all():
        chosen = down
    elif mode is Round.CEIL:
        chosen = up
    elif mode is Round.TRUNC:
        chosen = np.where(safe > 0, down, up)
    else:
        chosen = _nearest(safe, down, up, dtype, mode)
    result = np.where(exact, np.where(safe == 0, safe, down), chosen)
    return np.where(finite, np.where((result == 0), np.copysign(0.0, x), result), x)


@lru_cache(maxsize=8)
def _last_ulp(dtype: DType) -> float:
    """How far the greatest finite value is from the one below it."""
    greatest = GREATEST[dtype.name]
    return greatest - float(_neighbours(np.array([np.nextafter(greatest, 0.0)]), dtype)[0][0])


def _nearest(x: Floats, down: Floats, up: Floats, dtype: DType, mode: Round) -> Floats:
    # Beyond the greatest value the next grid point would be one ulp further: use it to place the halfway mark.
    greatest, ulp = GREATEST[dtype.name], _last_ulp(dtype)
    low = np.where(np.isinf(down), -greatest - ulp, down)
    high = np.where(np.isinf(up), greatest + ulp, up)
    below, above = x - low, high - x
    down_is_odd = np.where(np.isinf(down), False, _significand_is_odd(np.where(np.isinf(down), 0.0, down), dtype))
    if mode is Round.ODD:
        return np.where(down_is_odd, down, np.where(np.isinf(up), down, up))
    if mode is Round.ROUND:
        tie_up = x > 0
    else:
        tie_up = down_is_odd | np.isinf(down)
    return np.where((above < below) | ((above == below) & tie_up), up, down)


def round_integral(x: Floats, mode: Round) -> Floats:
    """`x` rounded to an integral float; NONE truncates (the device's fallback for float to integer)."""
    if mode in (Round.RINT, Round.CAST_RINT):
        return np.asarray(np.rint(x), dtype=np.float64)
    if mode is Round.FLOOR:
        return np.asarray(np.floor(x), dtype=np.float64)
    if mode is Round.CEIL:
        return np.asarray(np.ceil(x), dtype=np.float64)
    if mode is Round.ROUND:
        return np.asarray(np.copysign(np.floor(np.abs(x) + 0.5), x), dtype=np.float64)
    whole = np.trunc(x)
    if mode is Round.ODD:
        away = whole + np.sign(x)
        return np.asarray(np.where((whole != x) & (whole % 2 == 0), away, whole), dtype=np.float64)
    return np.asarray(whole, dtype=np.float64)
