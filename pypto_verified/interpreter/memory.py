"""Ops that move, view or make tiles: load, store, slice, assemble, reshape, pad, matmul operands, scalar access."""

from __future__ import annotations

import numpy as np

from pypto_verified.dtypes import FP32, INT32, DType
from pypto_verified.interpreter.elementwise import _scalar_as
from pypto_verified.interpreter.meaning import Fault, Site, Value, meaning
from pypto_verified.interpreter.numbers import Carrier, int_range, settle
from pypto_verified.interpreter.values import Tensor, Tile, carrier_zeros, undefined
from pypto_verified.ir.types import TileType
from pypto_verified.layouts import Pad


def _shape_of(site: Site) -> tuple[int, ...]:
    type_ = site.call.type
    if not isinstance(type_, TileType):
        raise Fault(f"{site.call.op} does not yield a tile")
    return type_.shape


def _window(offsets: tuple[int, ...], extents: tuple[int, ...], shape: tuple[int, ...], what: str) -> tuple[slice, ...]:
    for i, (o, n, limit) in enumerate(zip(offsets, extents, shape, strict=True)):
        if n and (o < 0 or o + n > limit):
            raise Fault(f"{what} [{o}, {o + n}) is outside 0..{limit} of dim {i}", offsets)
    return tuple(slice(o, o + max(n, 0)) for o, n in zip(offsets, extents, strict=True))


@meaning("tile.load")
def _load(site: Site) -> Value:
    tensor, offsets, shape = site.tensor(0), site.ints(1), site.ints(2)
    valid = site.ints(3) if site.has(3) else shape
    lead = len(tensor.shape) - len(shape)
    if site.attr("clamp"):
        room = tuple(max(0, limit - o) for o, limit in zip(offsets[lead:], tensor.shape[lead:], strict=True))
        valid = tuple(min(v, r) for v, r in zip(valid, room, strict=True))
    if any(v < 0 or v > n for v, n in zip(valid, shape, strict=True)):
        raise Fault(f"valid shape {valid} is not within the tile {shape}")
    at = _window(offsets, (1,) * lead + valid, tensor.shape, "load window")
    out = undefined(shape, tensor.dtype, valid)
    out.data[out.window()] = tensor.data[at].reshape(valid)
    out.poison[out.window()] = tensor.poison[at].reshape(valid)
    return out


@meaning("tile.store")
def _store(site: Site) -> Value:
    tile, offsets, tensor = site.tile(0), site.ints(1), site.tensor(2)
    lead = len(tensor.shape) - len(tile.valid)
    at = _window(offsets, (1,) * lead + tile.valid, tensor.shape, "store window")
    poison = tile.poison[tile.window()]
    if poison.any():
        first = tuple(int(i) for i in np.argwhere(poison)[0])
        raise Fault("stores an element that has no defined value", first)
    values = tile.data[tile.window()]
    if tile.dtype.name != tensor.dtype.name:
        values = settle(values, tensor.dtype)
    target = tensor.data[at].shape
    values = values.reshape(target)
    if site.int_attr("atomic"):
        if tensor.poison[at].any():
            raise Fault("adds to global memory that has no defined value", offsets)
        values = settle(tensor.data[at] + values, tensor.dtype)
    tensor.data[at] = values
    tensor.poison[at] = False
    return tensor


@meaning("tile.create")
def _create(site: Site) -> Value:
    return undefined(_shape_of(site), site.dtype_attr("dtype", FP32))


@meaning("tile.full")
def _full(site: Site) -> Value:
    dtype = site.dtype_attr("dtype", FP32)
    shape = _shape_of(site)
    data = carrier_zeros(shape, dtype)
    data[...] = _scalar_as(site.scalar(1), dtype)
    return Tile(data, np.zeros(shape, dtype=np.bool_), shape, dtype)


@meaning("tile.ci")
def _ramp(site: Site) -> Value:
    dtype, shape = site.dtype_attr("dtype", INT32), _shape_of(site)
    steps = np.arange(int(np.prod(shape)), dtype=np.int64).reshape(shape)
    start = int(site.scalar(0))
    values = start - steps if site.attr("descending") else start + steps
    return Tile(settle(values, dtype), np.zeros(shape, dtype=np.bool_), shape, dtype)


@meaning("tile.move")
def _move(site: Site) -> Value:
    return site.tile(0)


@meaning("tile.set_validshape")
def _set_valid(site: Site) -> Value:
    a = site.tile(0)
    valid = (*a.valid[:-2], int(site.scalar(1)), int(site.scalar(2)))
    if any(v < 0 or v > n for v, n in zip(valid, a.shape, strict=True)):
        raise Fault(f"valid shape {valid} is not within the tile {a.shape}")
    return Tile(a.data, a.poison, valid, a.dtype, a.bits, a.bit_poison)


@meaning("tile.slice")
def _slice(site: Site) -> Value:
    a, shape, offsets = site.tile(0), site.ints(1), site.ints(2)
    at = _window(offsets, shape, a.shape, "slice window")
    inner = tuple(max(0, min(n, v - o)) for n, v, o in zip(shape, a.valid, offsets, strict=True))
    if site.has(3):
        inner = tuple(min(v, w) for v, w in zip(inner, site.ints(3), strict=True))
    return Tile(a.data[at], a.poison[at], inner, a.dtype)


@meaning("tile.extract")
def _extract(site: Site) -> Value:
    a, shape = site.tile(0), site.ints(3)
    offsets = (int(site.scalar(1)), int(site.scalar(2)))
    at = _window(offsets, shape, a.shape, "extract window")
    inner = tuple(max(0, min(n, v - o)) for n, v, o in zip(shape, a.valid, offsets, strict=True))
    return Tile(a.data[at].copy(), a.poison[at].copy(), inner, a.dtype)


@meaning("tile.assemble")
def _assemble(site: Site) -> Value:
    target, source, offsets = site.tile(0), site.tile(1), site.ints(2)
    at = _window(offsets, source.valid, target.shape, "assemble window")
    data, poison = target.data.copy(), target.poison.copy()
    data[at] = settle(source.data[source.window()], target.dtype)
    poison[at] = source.poison[source.window()]
    return Tile(data, poison, target.valid, target.dtype)


@meaning("tile.concat")
def _concat(site: Site) -> Value:
    a, b = site.tile(0), site.tile(1)
    shape = _shape_of(site)
    out = undefined(shape, a.dtype, (a.valid[0], a.valid[1] + b.valid[1]))
    for t, start in ((a, 0), (b, a.valid[1])):
        at = (slice(0, t.valid[0]), slice(start, start + t.valid[1]))
        out.data[at], out.poison[at] = t.data[t.window()], t.poison[t.window()]
    return out


@meaning("tile.reshape")
def _reshape(site: Site) -> Value:
    a, shape = site.tile(0), _shape_of(site)
    data, poison = a.data.reshape(shape), a.poison.reshape(shape)
    return Tile(data, poison, _reshaped_valid(a, shape), a.dtype)


def _reshaped_valid(a: Tile, shape: tuple[int, ...]) -> tuple[int, ...]:
    """The valid region of a reshape where it stays a rectangle from the origin: full, empty, unit axes added or
    dropped, or whole leading rows. Otherwise the reshape has no meaning."""
    if a.valid == a.shape:
        return shape
    if [n for n in a.shape if n != 1] == [n for n in shape if n != 1]:
        kept = iter(v for v, n in zip(a.valid, a.shape, strict=True) if n != 1)
        return tuple(next(kept) if n != 1 else 1 for n in shape)
    mask = np.zeros(a.shape, dtype=np.bool_)
    mask[a.window()] = True
    inside = mask.reshape(shape)
    valid = tuple(int(np.max(np.nonzero(inside)[i])) + 1 if inside.any() else 0 for i in range(len(shape)))
    if int(np.prod(valid)) != int(inside.sum()):
        raise Fault(f"the valid region {a.valid} of {a.shape} is no rectangle of {shape}")
    return valid


@meaning("tile.transpose")
def _transpose(site: Site) -> Value:
    a = site.tile(0)
    one, two = (int(site.scalar(i)) % len(a.shape) for i in (1, 2))
    valid = list(a.valid)
    valid[one], valid[two] = valid[two], valid[one]
    return Tile(np.swapaxes(a.data, one, two).copy(), np.swapaxes(a.poison, one, two).copy(), tuple(valid), a.dtype)


@meaning("tile.transpose_view")
def _transpose_view(site: Site) -> Value:
    a = site.tile(0)
    return Tile(a.data.T, a.poison.T, tuple(reversed(a.valid)), a.dtype)


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


def _item(t: Tile | Tensor, at: tuple[int, ...]) -> int | float:
    value = t.data[at]
    return float(value) if t.dtype.is_float else int(value)


def _element(t: Tile, index: tuple[int, ...]) -> tuple[int, ...]:
    if len(index) == 1:
        index = tuple(int(i) for i in np.unravel_index(index[0], t.shape))
    if any(i < 0 or i >= n for i, n in zip(index, t.shape, strict=True)):
        raise Fault(f"index {index} is outside the tile {t.shape}", index)
    return index


@meaning("tile.read")
def _read(site: Site) -> Value:
    t = site.tile(0)
    at = _element(t, site.ints(1))
    if t.poison[at]:
        raise Fault("reads an element that has no defined value", at)
    return _item(t, at)


@meaning("tile.write")
def _write(site: Site) -> Value:
    t = site.tile(0)
    at = _element(t, site.ints(1))
    data, poison = t.data.copy(), t.poison.copy()
    data[at], poison[at] = _scalar_as(site.scalar(2), t.dtype), False
    return Tile(data, poison, t.valid, t.dtype)


@meaning("tensor.read")
def _tensor_read(site: Site) -> Value:
    t, index = site.tensor(0), site.ints(1)
    at = index if len(index) == len(t.shape) else tuple(int(i) for i in np.unravel_index(index[0], t.shape))
    if any(i < 0 or i >= n for i, n in zip(at, t.shape, strict=True)):
        raise Fault(f"index {at} is outside the tensor {t.shape}", at)
    if t.poison[at]:
        raise Fault("reads global memory that has no defined value", at)
    return _item(t, at)


@meaning("tensor.write")
def _tensor_write(site: Site) -> Value:
    t, index = site.tensor(0), site.ints(1)
    at = index if len(index) == len(t.shape) else tuple(int(i) for i in np.unravel_index(index[0], t.shape))
    if any(i < 0 or i >= n for i, n in zip(at, t.shape, strict=True)):
        raise Fault(f"index {at} is outside the tensor {t.shape}", at)
    t.data[at], t.poison[at] = _scalar_as(site.scalar(2), t.dtype), False
    return t


@meaning("tensor.dim")
def _dim(site: Site) -> Value:
    t, axis = site.tensor(0), int(site.scalar(1))
    return t.shape[axis]


@meaning("tile.get_block_idx")
def _block_idx(site: Site) -> Value:
    return site.block[0]


@meaning("tile.get_block_num")
def _block_num(site: Site) -> Value:
    return site.block[1]


@meaning("tile.get_subblock_idx")
def _lane(site: Site) -> Value:
    return site.lane
