"""Conversions between element types by integer arithmetic on their bits. Source: PTO-ISA TCvt.hpp.

Floats: f32, f16, bf16, f8 (a sign, an exponent field, a fraction). Rounding modes: RINT (ties to even), ROUND (ties
away), FLOOR, CEIL, TRUNC, ODD (inexact results get an odd last bit).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np

from pypto_verified.records import dataclass
from pypto_verified.simulator.errors import UnmodelledError
from pypto_verified.simulator.values import UNSIGNED, Array

MODES = ("RINT", "ROUND", "FLOOR", "CEIL", "TRUNC", "ODD")


@dataclass(frozen=True, slots=True)
class _Format:
    """Widths of the exponent and fraction fields. Not `infinite`: the greatest magnitude is the one NaN."""

    exponent: int
    fraction: int
    infinite: bool = True

    @property
    def bias(self) -> int:
        return (1 << (self.exponent - 1)) - 1

    @property
    def infinity(self) -> int:
        """The magnitude bits that follow the largest finite number: infinity, or NaN where there is none."""
        top = 1 << self.exponent + self.fraction
        return top - (1 << self.fraction) if self.infinite else top - 1

    @property
    def nan(self) -> int:
        """The least magnitude bits of a NaN."""
        return self.infinity + self.infinite


_FORMATS: dict[np.dtype[Any], _Format] = {
    np.dtype(np.float32): _Format(8, 23),
    np.dtype(np.float16): _Format(5, 10),
    np.dtype(ml_dtypes.bfloat16): _Format(8, 7),
    np.dtype(ml_dtypes.float8_e5m2): _Format(5, 2),
    np.dtype(ml_dtypes.float8_e4m3fn): _Format(4, 3, infinite=False),
}


def convert(a: Array, kind: np.dtype[Any], mode: str, saturate: bool) -> Array:
    """`a` in the type `kind`.

    `saturate`: integers clamp, floats that overflow become the largest finite number; otherwise a narrow integer keeps
    the low bits of the value clamped to 32 bits, and a float overflows to infinity. NaN becomes 0 as an integer.
    """
    if mode not in MODES:
        raise UnmodelledError(f"rounding mode {mode}")
    direct = _direct(a, kind, mode, saturate)
    return direct if direct is not None else convert_bits(a, kind, mode, saturate)


def convert_bits(a: Array, kind: np.dtype[Any], mode: str, saturate: bool) -> Array:
    """`convert` by arithmetic on bit fields: the definition, and the only way for what the host can't do directly."""
    source, target = _FORMATS.get(a.dtype), _FORMATS.get(kind)
    if (a.dtype.kind not in "iu" and source is None) or (kind.kind not in "iu" and target is None):
        raise UnmodelledError(f"conversion from {a.dtype.name} to {kind.name}")
    if source is not None and target is not None:
        return _integral(a, source, mode) if a.dtype == kind else _refit(a, source, kind, target, mode, saturate)
    if source is not None:
        return _to_integer(a, source, kind, mode, saturate)
    if target is not None:
        return _from_integer(a, kind, target, mode, saturate)
    return _between_integers(a, kind, saturate)


_ROUND_F64: dict[str, Callable[[Array], Array]] = {
    "RINT": np.rint, "FLOOR": np.floor, "CEIL": np.ceil, "TRUNC": np.trunc,
    "ROUND": lambda a: np.trunc(a + np.copysign(0.5, a)),
}
"""Exact in f64 for every value of a narrower float."""


def _direct(a: Array, kind: np.dtype[Any], mode: str, saturate: bool) -> Array | None:
    """The host's own conversion where it is the same function (tests compare the two); None elsewhere."""
    source, target = _FORMATS.get(a.dtype), _FORMATS.get(kind)
    if (source is not None and a.dtype.itemsize == 1) or (target is not None and kind.itemsize == 1):
        return None
    if source is not None and target is not None and a.dtype != kind:
        if kind == np.float32:
            return a.astype(kind)
        if mode == "RINT":
            return _saturated(a, a.astype(np.float32).astype(kind), target, saturate)
    if source is not None and kind.kind in "iu" and kind.itemsize <= 4 and mode in _ROUND_F64:
        value = np.nan_to_num(_ROUND_F64[mode](a.astype(np.float64)), nan=0.0)
        limits = np.iinfo(kind if saturate or kind.itemsize == 4 else np.int32)
        clamped: Array = np.clip(value, limits.min, limits.max).astype(np.int64).astype(kind)
        return clamped
    if a.dtype.kind in "iu" and kind == np.float32 and mode == "RINT":
        return a.astype(kind)
    return None


def _saturated(a: Array, result: Array, form: _Format, saturate: bool) -> Array:
    """`result` with the infinities that finite elements of `a` became replaced by the largest finite number."""
    if not saturate:
        return result
    bits = result.view(UNSIGNED[result.dtype.itemsize])
    sign = 1 << (result.dtype.itemsize * 8 - 1)
    overflown = ((bits & (sign - 1)) == form.infinity) & np.isfinite(a.astype(np.float32))
    fixed: Array = np.where(overflown, bits - 1, bits).astype(bits.dtype).view(result.dtype)
    return fixed


def _shift_round(magnitude: Array, shift: Array, negative: Array, mode: str) -> Array:
    """`magnitude / 2**shift` (uint64, shifts 0..63) rounded to an integer."""
    keep: Array = magnitude >> shift
    rest = magnitude - (keep << shift)
    half = np.left_shift(np.uint64(1), shift) >> np.uint64(1)
    inexact = rest != 0
    if mode == "ODD":
        odd: Array = keep | inexact.astype(np.uint64)
        return odd
    if mode == "RINT":
        up = (rest > half) | ((rest == half) & inexact & ((keep & np.uint64(1)) == 1))
    elif mode == "ROUND":
        up = (rest >= half) & inexact
    elif mode == "FLOOR":
        up = inexact & negative
    elif mode == "CEIL":
        up = inexact & ~negative
    else:
        return keep
    rounded: Array = keep + up.astype(np.uint64)
    return rounded


def _fields(a: Array, form: _Format) -> tuple[Array, Array, Array, Array]:
    """(negative, significand with its hidden bit, exponent of its last bit, magnitude bits)."""
    bits = np.ascontiguousarray(a).view(UNSIGNED[a.dtype.itemsize]).astype(np.int64)
    negative = (bits >> (a.dtype.itemsize * 8 - 1)) == 1
    magnitude = bits & ((1 << (a.dtype.itemsize * 8 - 1)) - 1)
    field = magnitude >> form.fraction
    significand = (magnitude & ((1 << form.fraction) - 1)) | ((field > 0).astype(np.int64) << form.fraction)
    return negative, significand.astype(np.uint64), np.maximum(field, 1) - form.bias - form.fraction, magnitude


def _assemble(magnitude: Array, negative: Array, kind: np.dtype[Any]) -> Array:
    bits = magnitude.astype(np.uint64) | (negative.astype(np.uint64) << np.uint64(kind.itemsize * 8 - 1))
    return bits.astype(UNSIGNED[kind.itemsize]).view(kind)


def _encode(significand: Array, exponent: Array, negative: Array, form: _Format, mode: str) -> Array:
    """Magnitude bits of `significand * 2**exponent` (significand < 2**63), rounded; too large gives infinity's bits."""
    length = np.zeros(significand.shape, np.int64)
    rest = significand.copy()
    for step in (32, 16, 8, 4, 2, 1):
        long = rest >= np.left_shift(np.uint64(1), np.uint64(step))
        length += step * long
        rest = np.where(long, rest >> np.uint64(step), rest)
    top = length + exponent
    last = np.maximum(top, 1 - form.bias) - form.fraction
    shift = last - exponent
    right = np.clip(shift, 0, 63).astype(np.uint64)
    left = np.clip(-shift, 0, 63).astype(np.uint64)
    rounded = _shift_round(significand, right, negative, mode) << left
    field = np.maximum(top, 1 - form.bias) + form.bias - 1
    return np.minimum(np.where(rounded == 0, 0, rounded.astype(np.int64) + (field << form.fraction)), form.infinity)


def _refit(
    a: Array, source: _Format, kind: np.dtype[Any], target: _Format, mode: str, saturate: bool
) -> Array:
    negative, significand, exponent, magnitude = _fields(a, source)
    special = magnitude >= source.infinity
    encoded = _encode(np.where(special, np.uint64(0), significand), exponent, negative, target, mode)
    if saturate:
        encoded = np.minimum(encoded, target.infinity - 1)
    nan = magnitude >= source.nan
    encoded = np.where(special, target.infinity, encoded)
    encoded = np.where(nan, target.infinity | (1 << (target.fraction - 1)), encoded)
    return _assemble(encoded, negative, kind)


def _integral(a: Array, form: _Format, mode: str) -> Array:
    """Rounded to an integral value of the same type."""
    negative, significand, exponent, magnitude = _fields(a, form)
    shift = np.clip(-exponent, 0, 63)
    rounded = _shift_round(significand, shift.astype(np.uint64), negative, mode)
    encoded = _encode(rounded, np.zeros_like(exponent), negative, form, mode)
    return _assemble(np.where((exponent >= 0) | (magnitude >= form.infinity), magnitude, encoded), negative, a.dtype)


def _to_integer(a: Array, form: _Format, kind: np.dtype[Any], mode: str, saturate: bool) -> Array:
    negative, significand, exponent, magnitude = _fields(a, form)
    rounded = _shift_round(significand, np.clip(-exponent, 0, 63).astype(np.uint64), negative, mode)
    limit = 62 - form.fraction
    wide = rounded << np.clip(exponent, 0, limit).astype(np.uint64)
    value = wide.astype(np.int64)
    huge = (exponent > limit) | (magnitude == form.infinity)
    value = np.where(huge, np.iinfo(np.int64).max, value)
    value = np.where(negative, np.where(huge, np.iinfo(np.int64).min, -value), value)
    value = np.where(magnitude >= form.nan, 0, value)
    if not saturate and kind.itemsize < 4:
        value = np.clip(value, np.iinfo(np.int32).min, np.iinfo(np.int32).max)
        return value.astype(kind)
    return _clamp(value, kind)


def _from_integer(a: Array, kind: np.dtype[Any], form: _Format, mode: str, saturate: bool) -> Array:
    negative = a < 0
    wide = a.astype(np.int64)
    magnitude = np.where(negative, -wide, wide).astype(np.uint64)
    # 2**63 is the one magnitude that leaves 63 bits; it is a power of two, so halving it loses nothing.
    half = (magnitude >> np.uint64(63)).astype(np.uint64)
    encoded = _encode(magnitude >> half, half.astype(np.int64), negative, form, mode)
    if saturate:
        encoded = np.minimum(encoded, form.infinity - 1)
    return _assemble(encoded, negative & (magnitude != 0), kind)


def _between_integers(a: Array, kind: np.dtype[Any], saturate: bool) -> Array:
    return _clamp(a, kind) if saturate else a.astype(kind)


def _clamp(value: Array, kind: np.dtype[Any]) -> Array:
    limits = np.iinfo(kind)
    if value.dtype == np.uint64:
        return np.minimum(value, np.uint64(limits.max)).astype(kind)
    return np.clip(value.astype(np.int64), max(limits.min, -(2**63)), min(limits.max, 2**63 - 1)).astype(kind)
