"""Tiles made from nothing or filled up: create, full, ramp, triangle, broadcast scalar, padding."""

from __future__ import annotations

import numpy as np

from pypto_verified.dtypes import FP32, INT32, DType
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
