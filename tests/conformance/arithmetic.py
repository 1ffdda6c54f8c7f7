"""Numbers without any of our rooms: element types as numpy types, sample values, rounding by its definition.

Rounding here is arithmetic on fractions and on powers of two; neither value tables nor bit fields are used.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import floor
from typing import Any, TypeAlias

import ml_dtypes
import numpy as np
import numpy.typing as npt

Array: TypeAlias = npt.NDArray[Any]

KINDS: dict[str, np.dtype[Any]] = {
    "FP32": np.dtype(np.float32), "FP16": np.dtype(np.float16), "BF16": np.dtype(ml_dtypes.bfloat16),
    "INT8": np.dtype("i1"), "INT16": np.dtype("i2"), "INT32": np.dtype("i4"), "INT64": np.dtype("i8"),
    "UINT8": np.dtype("u1"), "UINT16": np.dtype("u2"), "UINT32": np.dtype("u4"), "UINT64": np.dtype("u8"),
    "FP8E4M3FN": np.dtype(ml_dtypes.float8_e4m3fn), "FP8E5M2": np.dtype(ml_dtypes.float8_e5m2),
    "FP8E8M0": np.dtype(ml_dtypes.float8_e8m0fnu),
}
"""Element type -> what stores it."""

PTO: dict[str, str] = {
    "FP32": "f32", "FP16": "f16", "BF16": "bf16", "INT8": "i8", "INT16": "i16", "INT32": "i32", "INT64": "i64",
    "UINT8": "ui8", "UINT16": "ui16", "UINT32": "ui32", "UINT64": "ui64",
    "FP8E4M3FN": "f8E4M3FN", "FP8E5M2": "f8E5M2", "FP8E8M0": "!pto.f8E8M0",
}
"""Element type -> its `.pto` spelling."""


@dataclass(frozen=True, slots=True)
class Format:
    """A binary float: `digits` of significand (with the hidden one), exponents of normal numbers `low`..`high`.
    `missing`: numbers at the upper end whose patterns mean something else."""

    digits: int
    low: int
    high: int
    missing: int = 0

    @property
    def greatest(self) -> Fraction:
        return (2 - Fraction(1 + self.missing, 2 ** (self.digits - 1))) * Fraction(2) ** self.high

    @property
    def step(self) -> Fraction:
        """The distance of the subnormal numbers."""
        return Fraction(2) ** (self.low - self.digits + 1)


FORMATS = {"FP32": Format(24, -126, 127), "FP16": Format(11, -14, 15), "BF16": Format(8, -126, 127),
           "FP8E5M2": Format(3, -14, 15), "FP8E4M3FN": Format(4, -6, 8, missing=1)}


def is_float(dtype: str) -> bool:
    return dtype in FORMATS


def bits(dtype: str) -> int:
    return KINDS[dtype].itemsize * 8


def limits(dtype: str) -> tuple[int, int]:
    """Least and greatest integer of the type."""
    width = bits(dtype)
    return (0, 2**width - 1) if dtype.startswith("U") else (-(2 ** (width - 1)), 2 ** (width - 1) - 1)


def wrapped(values: Array, dtype: str) -> Array:
    """Python integers (an object array) modulo 2**bits, as the type reads those bits."""
    low, high = limits(dtype)
    size = high - low + 1
    flat = [(int(v) - low) % size + low for v in values.reshape(-1)]
    return np.array(flat, dtype=KINDS[dtype]).reshape(values.shape)


def nearest(values: Array, dtype: str) -> Array:
    """float64 values rounded to the nearest number of the type, ties to the even one; overflow is infinite."""
    form = FORMATS[dtype]
    x = np.asarray(values, dtype=np.float64)
    _, exponent = np.frexp(x)
    unit = np.maximum(exponent - form.digits, form.low - form.digits + 1)
    with np.errstate(all="ignore"):
        rounded = np.ldexp(np.rint(np.ldexp(x, -unit)), unit)
        rounded = np.where(np.abs(rounded) > float(form.greatest), np.copysign(np.inf, x), rounded)
        rounded = np.where(np.isfinite(x), rounded, x)
        # The value is a number of the type now: this last step is exact.
        return rounded.astype(np.float32).astype(KINDS[dtype])


def whole(x: Fraction, mode: str) -> int:
    """`x` as an integer. ODD: an inexact value becomes its odd neighbour."""
    down = floor(x)
    rest = x - down
    if rest == 0:
        return down
    if mode == "FLOOR":
        return down
    if mode == "CEIL":
        return down + 1
    if mode == "TRUNC":
        return down if x > 0 else down + 1
    if mode == "ODD":
        return down if down % 2 else down + 1
    if rest != Fraction(1, 2):
        return down + (rest > Fraction(1, 2))
    if mode == "ROUND":
        return down + 1 if x > 0 else down
    return down + down % 2


def to_format(x: Fraction, form: Format, mode: str) -> Fraction | None:
    """`x` rounded to the format as if its exponents had no upper end; None where that leaves its range."""
    if x == 0:
        return x
    exponent = 0
    while Fraction(2) ** (exponent + 1) <= abs(x):
        exponent += 1
    while Fraction(2) ** exponent > abs(x):
        exponent -= 1
    step = max(Fraction(2) ** (exponent - form.digits + 1), form.step)
    rounded = whole(x / step, mode) * step
    return None if abs(rounded) > form.greatest else rounded


_FLOATS = (0.0, -0.0, 1.0, -1.0, 0.5, 1.5, -2.5, 3.0, float("inf"), float("-inf"), float("nan"))


def edges(dtype: str, signed_zero: bool = True, special: bool = True) -> list[float] | list[int]:
    """Boundary values: limits and their neighbours; infinities and NaN (`special`); -0.0 (`signed_zero`)."""
    if not is_float(dtype):
        low, high = limits(dtype)
        return sorted({low, low + 1, 0, 1, 2, high // 2, high - 1, high, max(low, -1), max(low, -2)})
    form = FORMATS[dtype]
    values = [float(v) for v in _FLOATS] + [
        float(form.greatest), -float(form.greatest), float(Fraction(2) ** form.low), float(form.step),
        -float(form.step),
    ]
    if not special:
        values = [v for v in values if np.isfinite(v)]
    return values if signed_zero else [v for v in values if v != 0 or not np.signbit(v)]


def samples(
    dtype: str, shape: tuple[int, int], seed: int = 0, signed_zero: bool = True, special: bool = True
) -> Array:
    """Boundary values spread over the tile (so that (0, 0) and the tails get some), random ones between them."""
    random = np.random.default_rng([seed, *dtype.encode()])
    size = shape[0] * shape[1]
    if is_float(dtype):
        flat = nearest(random.normal(0, 8, size), dtype)
    else:
        low, high = limits(dtype)
        flat = random.integers(low, high, size, dtype=KINDS[dtype], endpoint=True)
    known = edges(dtype, signed_zero, special)
    places = random.permutation(size)[: 2 * size // 3]
    for i, place in enumerate(places):
        flat[place] = np.asarray(known[i % len(known)]).astype(KINDS[dtype])
    return flat.reshape(shape)


def small(dtype: str, shape: tuple[int, int], seed: int = 0, low: int = -4, high: int = 4) -> Array:
    """Small integers: their sums and products are exact in every type, whatever the order."""
    values = np.random.default_rng([seed, *dtype.encode()]).integers(max(low, limits_low(dtype)), high, shape,
                                                                     endpoint=True)
    return values.astype(KINDS[dtype])


def limits_low(dtype: str) -> int:
    return -(2**62) if is_float(dtype) else limits(dtype)[0]


def objects(values: Array) -> Array:
    """The elements as Python integers."""
    return np.array([int(v) for v in values.reshape(-1)], dtype=object).reshape(values.shape)


def wide(values: Array) -> Array:
    """The elements as float64, which holds each exactly."""
    return values.astype(np.float64)


def lead(shape: tuple[int, int], valid: tuple[int, int]) -> npt.NDArray[np.bool_]:
    """Which elements of a tile lie in its valid region."""
    inside = np.zeros(shape, dtype=np.bool_)
    inside[: valid[0], : valid[1]] = True
    return inside


def pasted(before: Array, values: Array, valid: tuple[int, int]) -> Array:
    """`before` with the valid region of `values` in its place."""
    after = before.copy()
    after[: valid[0], : valid[1]] = values[: valid[0], : valid[1]]
    return after
