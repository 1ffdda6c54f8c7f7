"""Reductions along an axis and expansions (broadcasts) along it. Only the valid region takes part in a reduction."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from pypto_verified.dtypes import INT32, DType
from pypto_verified.interpreter.elementwise import BINARY
from pypto_verified.interpreter.meaning import MEANINGS, Fault, Site, Value
from pypto_verified.interpreter.numbers import Bools, Carrier, settle
from pypto_verified.interpreter.unspecified import UNSPECIFIED, product_freedom, sum_freedom
from pypto_verified.interpreter.values import Tile, carrier_zeros, fresh

ROW, COLUMN = -1, 0


def _sum(x: Carrier, axis: int, dtype: DType) -> Carrier:
    """The device's order of additions is unspecified; integers are exact whatever the order."""
    return settle(np.asarray(np.sum(x, axis=axis)), dtype)


def _product(x: Carrier, axis: int, dtype: DType) -> Carrier:
    total: Carrier = np.take(x, 0, axis=axis)
    for i in range(1, x.shape[axis]):
        total = settle(total * np.take(x, i, axis=axis), dtype)
    return total


def _max(x: Carrier, axis: int, dtype: DType) -> Carrier:
    """+0 is greater than -0, as between two tiles."""
    if not dtype.is_float:
        return np.asarray(np.max(x, axis=axis))
    largest, positive = np.max(x, axis=axis), np.any((x == 0) & ~np.signbit(x), axis=axis)
    return np.asarray(np.where(largest == 0, np.where(positive, 0.0, -0.0), largest))


def _min(x: Carrier, axis: int, dtype: DType) -> Carrier:
    return np.negative(_max(np.negative(x), axis, dtype)) if dtype.is_float else np.asarray(np.min(x, axis=axis))


def _argmax(x: Carrier, axis: int, dtype: DType) -> Carrier:
    return np.asarray(np.argmax(x, axis=axis), dtype=np.int64)


def _argmin(x: Carrier, axis: int, dtype: DType) -> Carrier:
    return np.asarray(np.argmin(x, axis=axis), dtype=np.int64)


Reduce = Callable[[Carrier, int, DType], Carrier]

_REDUCTIONS: dict[str, Reduce] = {"sum": _sum, "prod": _product, "max": _max, "min": _min}
_ARG_REDUCTIONS: dict[str, Reduce] = {"argmax": _argmax, "argmin": _argmin}


def _reduction(fn: Reduce, axis: int, index_result: bool) -> Callable[[Site], Value]:
    freedom = product_freedom if fn is _product else sum_freedom

    def apply(site: Site) -> Value:
        a = site.tile(0)
        at = axis % len(a.shape)
        region = a.window()
        shape = tuple(1 if i == at else n for i, n in enumerate(a.shape))
        valid = tuple(1 if i == at else n for i, n in enumerate(a.valid))
        dtype = INT32 if index_result else a.dtype
        data, poison = carrier_zeros(shape, dtype), np.ones(shape, dtype=np.bool_)
        out = Tile(data, poison, valid, dtype)
        if 0 in a.valid:
            if a.valid[at] == 0 and all(n for i, n in enumerate(a.valid) if i != at):
                raise Fault("reduction over an empty axis")
            return out
        unclear = a.poison[region].any(axis=at)
        if site.call.op in UNSPECIFIED:
            left = freedom(a.data[region], at, a.dtype)
            unclear = unclear | left.unclear
            if not left.exact:
                site.leave_open()
        data[out.window()] = np.expand_dims(fn(a.data[region], at, a.dtype), at)
        poison[out.window()] = np.expand_dims(unclear, at)
        return out

    return apply


for _prefix, _axis in (("row", ROW), ("col", COLUMN)):
    for _name, _fn in _REDUCTIONS.items():
        MEANINGS[f"tile.{_prefix}_{_name}"] = _reduction(_fn, _axis, False)
    for _name, _fn in _ARG_REDUCTIONS.items():
        MEANINGS[f"tile.{_prefix}_{_name}"] = _reduction(_fn, _axis, True)


def _vector(t: Tile, shape: tuple[int, ...], axis: int) -> tuple[Carrier, Bools]:
    """The vector operand spread over the other axis. Along rows it may also be one 32-byte block per row, repeated."""
    wanted = tuple(1 if i == axis % len(shape) else n for i, n in enumerate(shape))
    if t.shape == wanted:
        spread = carrier_zeros(shape, t.dtype)
        spread[...] = t.data
        return spread, np.zeros(shape, dtype=np.bool_) | t.poison
    per_block = 32 // t.dtype.bytes
    if axis != ROW or t.shape[:-1] != shape[:-1] or t.valid[-1] != per_block:
        raise Fault(f"can't expand a {t.shape} vector over {shape}")
    at = np.arange(shape[-1]) % per_block
    return t.data[..., at], t.poison[..., at]


def _expand(axis: int) -> Callable[[Site], Value]:
    def apply(site: Site) -> Value:
        target = site.tile(0)
        data, poison = _vector(site.tile(1), target.shape, axis)
        return fresh(data, poison, target.valid, target.dtype)

    return apply


def _expand_with(name: str, axis: int) -> Callable[[Site], Value]:
    def apply(site: Site) -> Value:
        a = site.tile(0)
        data, poison = _vector(site.tile(1), a.shape, axis)
        if site.call.op in UNSPECIFIED:
            site.leave_open()
        if name == "expdif":
            combined = settle(np.exp(settle(a.data - data, a.dtype)), a.dtype)
        else:
            combined = settle(BINARY[name](a.data, data), a.dtype)
        return fresh(combined, a.poison | poison, a.valid, a.dtype)

    return apply


_EXPAND_OPS = {"add": "add", "sub": "sub", "mul": "mul", "div": "div", "max": "maximum", "min": "minimum",
               "expdif": "expdif"}
for _prefix, _axis in (("row", ROW), ("col", COLUMN)):
    MEANINGS[f"tile.{_prefix}_expand"] = _expand(_axis)
    for _suffix, _name in _EXPAND_OPS.items():
        MEANINGS[f"tile.{_prefix}_expand_{_suffix}"] = _expand_with(_name, _axis)
