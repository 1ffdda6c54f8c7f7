"""Elementwise ops: arithmetic, bitwise, unary functions, casts."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from pypto_verified.dtypes import INT32, DType
from pypto_verified.interpreter.cast import cast, overflows
from pypto_verified.interpreter.meaning import MEANINGS, Fault, Site, Value, meaning
from pypto_verified.interpreter.numbers import Bools, Carrier, Round, settle
from pypto_verified.interpreter.unspecified import UNSPECIFIED
from pypto_verified.interpreter.values import Tile, fresh, inside, result

Fn2: TypeAlias = Callable[[Carrier, Carrier], Carrier]
Fn1: TypeAlias = Callable[[Carrier], Carrier]


def _shift_left(a: Carrier, b: Carrier) -> Carrier:
    return np.left_shift(a.astype(np.int64), np.clip(b, 0, 63).astype(np.int64))


def _shift_right(a: Carrier, b: Carrier) -> Carrier:
    return np.right_shift(a.astype(np.int64), np.clip(b, 0, 63).astype(np.int64))


def _divide(a: Carrier, b: Carrier) -> Carrier:
    """Floats: IEEE division. Integers: toward zero; a zero divisor has no value (the caller checks)."""
    if a.dtype == np.float64 or b.dtype == np.float64:
        return np.asarray(np.true_divide(a, b), dtype=np.float64)
    safe = np.where(b == 0, 1, b).astype(np.int64)
    below = np.floor_divide(a, safe)
    # Not by absolute values: that of the least 64-bit integer is no 64-bit integer.
    return np.where((np.mod(a, safe) != 0) & ((a < 0) != (safe < 0)), below + 1, below)


def _remainder(a: Carrier, b: Carrier) -> Carrier:
    """Sign of the divisor (PTO-ISA TREM)."""
    return np.asarray(np.mod(a, np.where(b == 0, 1, b) if a.dtype == np.int64 else b))


def _fmod(a: Carrier, b: Carrier) -> Carrier:
    """Sign of the dividend (PTO-ISA TFMOD)."""
    return np.asarray(np.fmod(a, np.where(b == 0, 1, b) if a.dtype == np.int64 else b))


def _maximum(a: Carrier, b: Carrier) -> Carrier:
    """+0 is greater than -0: no source says which of two zeros is kept (IEEE 754-2019 maximum)."""
    if a.dtype != np.float64:
        return np.maximum(a, b)
    return np.asarray(np.where((a == 0) & (b == 0), a + b, np.maximum(a, b)))


def _minimum(a: Carrier, b: Carrier) -> Carrier:
    """-0 is less than +0."""
    return np.minimum(a, b) if a.dtype != np.float64 else np.negative(_maximum(np.negative(a), np.negative(b)))


BINARY: dict[str, Fn2] = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "div": _divide,
    "maximum": _maximum, "minimum": _minimum,
    "and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor,
    "shl": _shift_left, "shr": _shift_right, "rem": _remainder, "fmod": _fmod,
}
_DIVIDES = frozenset({"div", "rem", "fmod"})
_SHIFTS = frozenset({"shl", "shr"})

def scalar_as(value: int | float, dtype: DType) -> Carrier:
    """A scalar operand in the tile's type."""
    raw = np.array(value, dtype=np.float64 if isinstance(value, float) else np.int64)
    if dtype.is_float:
        return settle(raw.astype(np.float64), dtype)
    return settle(np.trunc(raw).astype(np.int64), dtype)


def same_shape(a: Tile, b: Tile) -> None:
    if a.shape != b.shape:
        raise Fault(f"operand shapes {a.shape} and {b.shape} differ")


def _no_zero_divisor(divisor: Carrier, poison: Bools, name: str, dtype: DType) -> None:
    if dtype.is_float or name not in _DIVIDES:
        return
    zero = (divisor == 0) & ~poison
    if zero.any():
        raise Fault("integer division by zero", tuple(int(i) for i in np.argwhere(zero)[0]))


def _no_count(name: str, count: Carrier, dtype: DType) -> Bools:
    """Where a shift has no value: the count is negative or not less than the width (PTO-ISA leaves it undefined)."""
    if name not in _SHIFTS:
        return np.zeros(count.shape, dtype=np.bool_)
    return np.asarray((count < 0) | (count >= dtype.bits), dtype=np.bool_)


def _binary(name: str, fn: Fn2) -> Callable[[Site], Value]:
    def tile_tile(site: Site) -> Value:
        a, b = site.tile(0), site.tile(1)
        same_shape(a, b)
        _no_zero_divisor(b.data, a.poison | b.poison, name, a.dtype)
        poison = a.poison | b.poison | _no_count(name, b.data, a.dtype)
        return result(fn(a.data, b.data), poison, a.valid, a.dtype)

    return tile_tile


def _with_scalar(name: str, fn: Fn2) -> Callable[[Site], Value]:
    def tile_scalar(site: Site) -> Value:
        a = site.tile(0)
        s = scalar_as(site.scalar(1), INT32 if name in _SHIFTS else a.dtype)
        _no_zero_divisor(np.zeros_like(a.data) + s, a.poison, name, a.dtype)
        return result(fn(a.data, s), a.poison | _no_count(name, s, a.dtype), a.valid, a.dtype)

    return tile_scalar


_SCALAR_NAMES = {"maximum": "maximums", "minimum": "minimums"}
for _name, _fn in BINARY.items():
    MEANINGS[f"tile.{_name}"] = _binary(_name, _fn)
    MEANINGS[f"tile.{_SCALAR_NAMES.get(_name, _name + 's')}"] = _with_scalar(_name, _fn)


def _carry(fn: Fn2) -> Callable[[Site], Value]:
    """`src0 (+|-) src1 + carry`; the middle operand is a tile or a scalar. One rounding per step, left to right."""

    def apply(site: Site) -> Value:
        a, c = site.tile(0), site.tile(2)
        middle = site.args[1]
        b = middle.data if isinstance(middle, Tile) else scalar_as(site.scalar(1), a.dtype)
        poison = a.poison | c.poison | (middle.poison if isinstance(middle, Tile) else False)
        return result(settle(fn(a.data, b), a.dtype) + c.data, poison, a.valid, a.dtype)

    return apply


MEANINGS["tile.addc"] = MEANINGS["tile.addsc"] = _carry(np.add)
MEANINGS["tile.subc"] = MEANINGS["tile.subsc"] = _carry(np.subtract)


def _part(fn: Fn2) -> Callable[[Site], Value]:
    """Both valid: the op; one valid: a copy; neither: undefined. Validity is the operands' valid regions."""

    def apply(site: Site) -> Value:
        a, b = site.tile(0), site.tile(1)
        same_shape(a, b)
        in_a, in_b = inside(a.shape, a.valid), inside(b.shape, b.valid)
        both = settle(fn(a.data, b.data), a.dtype)
        data = np.where(in_a & in_b, both, np.where(in_a, a.data, b.data))
        poison = np.where(in_a, a.poison, False) | np.where(in_b, b.poison, False) | ~(in_a | in_b)
        valid = tuple(max(m, n) for m, n in zip(a.valid, b.valid, strict=True))
        return fresh(data, poison, valid, a.dtype)

    return apply


for _name, _base in (("part_add", "add"), ("part_mul", "mul"), ("part_max", "maximum"), ("part_min", "minimum")):
    MEANINGS[f"tile.{_name}"] = _part(BINARY[_base])


def _reciprocal_root(x: Carrier) -> Carrier:
    return np.asarray(1.0 / np.sqrt(x))


UNARY: dict[str, Fn1] = {
    "exp": np.exp, "log": np.log, "sqrt": np.sqrt, "rsqrt": _reciprocal_root, "recip": lambda x: np.asarray(1.0 / x),
    "abs": np.abs, "neg": np.negative, "relu": lambda x: _maximum(x, np.zeros_like(x)), "not": np.invert,
    "sin": np.sin, "cos": np.cos,
}


def _unary(fn: Fn1) -> Callable[[Site], Value]:
    def apply(site: Site) -> Value:
        a = site.tile(0)
        if site.call.op in UNSPECIFIED:
            site.leave_open()
        return result(fn(a.data), a.poison, a.valid, a.dtype)

    return apply


for _name, _fn1 in UNARY.items():
    MEANINGS[f"tile.{_name}"] = _unary(_fn1)


@meaning("tile.lrelu")
def _leaky(site: Site) -> Value:
    a = site.tile(0)
    slope = scalar_as(site.scalar(1), a.dtype)
    return result(np.where(a.data > 0, a.data, a.data * slope), a.poison, a.valid, a.dtype)


@meaning("tile.prelu")
def _parametric(site: Site) -> Value:
    a, slope = site.tile(0), site.tile(1)
    same_shape(a, slope)
    return result(np.where(a.data > 0, a.data, a.data * slope.data), a.poison | slope.poison, a.valid, a.dtype)


@meaning("tile.cast")
def _cast(site: Site) -> Value:
    a = site.tile(0)
    target = site.dtype_attr("target_type", a.dtype)
    mode = Round(site.int_attr("mode"))
    poison = a.poison | overflows(a.data, a.dtype, target, mode)
    return fresh(cast(a.data, a.dtype, target, mode), poison, a.valid, target)
