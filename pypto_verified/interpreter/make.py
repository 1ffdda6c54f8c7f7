"""Tiles made from nothing or filled up: create, full, ramp, triangle, broadcast scalar, padding."""

from __future__ import annotations

import numpy as np

from pypto_verified.dtypes import FP32, INT32, UINT32, DType
from pypto_verified.interpreter.elementwise import scalar_as
from pypto_verified.interpreter.meaning import Fault, Site, Value, meaning, require_within
from pypto_verified.interpreter.numbers import Carrier, int_range, settle
from pypto_verified.interpreter.values import Tile, carrier_zeros, fresh, undefined
from pypto_verified.ir.types import TileType
from pypto_verified.layouts import Pad


def _shape_of(site: Site) -> tuple[int, ...]:
    type_ = site.call.type
    if not isinstance(type_, TileType):
        raise Fault(f"{site.call.op} does not yield a tile")
    return type_.shape


@meaning("tile.create")
def _create(site: Site) -> Value:
    return undefined(_shape_of(site), site.dtype_attr("dtype", FP32))


@meaning("tile.full")
def _full(site: Site) -> Value:
    dtype = site.dtype_attr("dtype", FP32)
    shape = _shape_of(site)
    data = carrier_zeros(shape, dtype)
    data[...] = scalar_as(site.scalar(1), dtype)
    return Tile(data, np.zeros(shape, dtype=np.bool_), shape, dtype)


@meaning("tile.ci")
def _ramp(site: Site) -> Value:
    dtype, shape = site.dtype_attr("dtype", INT32), _shape_of(site)
    steps = np.arange(int(np.prod(shape)), dtype=np.int64).reshape(shape)
    start = int(site.scalar(0))
    values = start - steps if site.attr("descending") else start + steps
    return Tile(settle(values, dtype), np.zeros(shape, dtype=np.bool_), shape, dtype)


@meaning("tile.tri")
def _triangle(site: Site) -> Value:
    """Ones up to (`upper`: from) column row + diagonal, zeros elsewhere."""
    dtype, shape = site.dtype_attr("dtype", INT32), _shape_of(site)
    rows, columns = np.indices(shape)
    diagonal = int(site.scalar(0))
    ones = columns >= rows + diagonal if site.attr("upper") else columns <= rows + diagonal
    data = settle(ones.astype(np.int64), dtype)
    valid = site.ints(2) if site.has(2) else shape
    require_within(valid, shape)
    return fresh(data, np.zeros(shape, dtype=np.bool_), valid, dtype)


_WORD = 2**32
_LANES = 64
"""Counters that are taken at once; each gives four words."""


def _philox(counter: int, key: tuple[int, int], rounds: int) -> list[int]:
    """Four words from a 128-bit counter (Philox 4x32; Salmon et al., 2011)."""
    c = [counter >> 32 * i & _WORD - 1 for i in range(4)]
    for i in range(rounds):
        low, high = ((k + i * step) % _WORD for k, step in zip(key, (0x9E3779B9, 0xBB67AE85), strict=True))
        (top0, rest0), (top1, rest1) = divmod(0xD2511F53 * c[0], _WORD), divmod(0xCD9E8D57 * c[2], _WORD)
        c = [top1 ^ c[1] ^ low, rest1, top0 ^ c[3] ^ high, rest0]
    return c


@meaning("tile.random")
def _random(site: Site) -> Value:
    """Words of one counter after the other along a row. The next row's counters start behind the last whole group of
    this one, moved by (columns - 1) mod 64 + 1 (PTO-ISA TRANDOM)."""
    dtype, shape, rounds = site.dtype_attr("dtype", UINT32), _shape_of(site), site.int_attr("rounds", 10)
    seeds = [int(site.scalar(i)) % _WORD for i in range(6)]
    counter = sum(word << 32 * i for i, word in enumerate(seeds[2:]))
    valid = site.ints(7) if site.has(7) else shape
    require_within(valid, shape)
    out = undefined(shape, dtype, valid)
    for row in range(valid[0]):
        line: list[int] = []
        while len(line) < valid[1]:
            for lane in range(_LANES):
                line += _philox(counter + lane, (seeds[0], seeds[1]), rounds)
            counter += _LANES if len(line) < valid[1] else (valid[1] - 1) % _LANES + 1
        out.data[row, : valid[1]] = settle(np.array(line[: valid[1]], dtype=np.int64), dtype)
    out.poison[out.window()] = False
    return out


@meaning("tile.expands")
def _broadcast(site: Site) -> Value:
    """The scalar in every element of a tile like the target."""
    target = site.tile(0)
    data = carrier_zeros(target.shape, target.dtype) + scalar_as(site.scalar(1), target.dtype)
    return fresh(data, np.zeros(target.shape, dtype=np.bool_), target.valid, target.dtype)


def pad_value(pad: Pad, dtype: DType) -> float | int:
    """The element a padded region holds; floats pad with infinities (PTO-ISA 2.3)."""
    if pad is Pad.ZERO:
        return 0
    if dtype.is_float:
        return np.inf if pad is Pad.MAX else -np.inf
    low, high = int_range(dtype)
    return high if pad is Pad.MAX else low


@meaning("tile.fillpad", "tile.fillpad_inplace", "tile.fillpad_expand")
def _fillpad(site: Site) -> Value:
    a, shape = site.tile(0), _shape_of(site)
    pad = site.attr("pad_value", Pad.ZERO)
    data: Carrier = carrier_zeros(shape, a.dtype)
    data[...] = pad_value(pad if isinstance(pad, Pad) else Pad.ZERO, a.dtype)
    poison = np.zeros(shape, dtype=np.bool_)
    at = a.window()
    data[at], poison[at] = a.data[at], a.poison[at]
    return Tile(data, poison, shape, a.dtype)
