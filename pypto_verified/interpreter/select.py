"""Comparisons into packed masks, and selection by them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from pypto_verified.dtypes import UINT8
from pypto_verified.interpreter.elementwise import same_shape, scalar_as
from pypto_verified.interpreter.meaning import Fault, Site, Value, meaning
from pypto_verified.interpreter.numbers import Bools, Carrier, from_carrier
from pypto_verified.interpreter.values import Tile, carrier_zeros, fresh

COMPARE: tuple[Callable[[Carrier, Carrier], Bools], ...] = (
    np.equal, np.not_equal, np.less, np.less_equal, np.greater, np.greater_equal,
)
"""By `cmp_type`: EQ, NE, LT, LE, GT, GE."""


def _mask(bits: Bools, poison: Bools, valid: tuple[int, ...]) -> Tile:
    """A predicate, packed little-endian into bytes; a row is a whole number of 32-byte blocks."""
    rows, cols = bits.shape
    bytes_used = (cols + 7) // 8
    width = (bytes_used + 31) // 32 * 32
    data = carrier_zeros((rows, width), UINT8)
    undefined_byte = np.ones((rows, width), dtype=np.bool_)
    packed = np.packbits(bits, axis=1, bitorder="little")
    data[:, : packed.shape[1]] = packed
    undefined_byte[:, : packed.shape[1]] = np.packbits(poison, axis=1, bitorder="little") != 0
    return Tile(data, undefined_byte, (valid[0], -(-valid[1] // 8)), UINT8, bits, poison)


@meaning("tile.cmp")
def _compare(site: Site) -> Value:
    a, b = site.tile(0), site.tile(1)
    same_shape(a, b)
    return _mask(COMPARE[site.int_attr("cmp_type")](a.data, b.data), a.poison | b.poison, a.valid)


@meaning("tile.cmps")
def _compare_scalar(site: Site) -> Value:
    a = site.tile(0)
    s = scalar_as(site.scalar(1), a.dtype)
    return _mask(COMPARE[site.int_attr("cmp_type")](a.data, s), a.poison, a.valid)


def _bits_of(mask: Tile, shape: tuple[int, ...]) -> tuple[Bools, Bools]:
    if mask.bits is not None and mask.bit_poison is not None and mask.bits.shape == shape:
        return mask.bits, mask.bit_poison
    stored = np.ascontiguousarray(from_carrier(mask.data, mask.dtype)).view(np.uint8)
    bits = np.unpackbits(stored, axis=1, bitorder="little")[:, : shape[1]].astype(np.bool_)
    poison = np.repeat(mask.poison, mask.dtype.bits, axis=1)[:, : shape[1]]
    if bits.shape != shape:
        raise Fault(f"a mask of {bits.shape} bits can't select among {shape} elements")
    return bits, poison


@meaning("tile.sel")
def _select(site: Site) -> Value:
    mask, a, b = site.tile(0), site.tile(1), site.tile(2)
    same_shape(a, b)
    bits, poison = _bits_of(mask, a.shape)
    return fresh(np.where(bits, a.data, b.data), poison | np.where(bits, a.poison, b.poison), a.valid, a.dtype)


@meaning("tile.sels")
def _select_scalar(site: Site) -> Value:
    mask, a = site.tile(0), site.tile(1)
    bits, poison = _bits_of(mask, a.shape)
    s = scalar_as(site.scalar(3), a.dtype)
    return fresh(np.where(bits, a.data, s), poison | np.where(bits, a.poison, False), a.valid, a.dtype)
