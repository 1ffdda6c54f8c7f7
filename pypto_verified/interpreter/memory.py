"""Global memory and single elements: load, store, scalar access to tiles and tensors, launch values."""

from __future__ import annotations

import numpy as np

from pypto_verified.interpreter.elementwise import scalar_as
from pypto_verified.interpreter.meaning import Fault, Site, Value, meaning, require_within
from pypto_verified.interpreter.numbers import settle
from pypto_verified.interpreter.values import Tensor, Tile, undefined
from pypto_verified.interpreter.views import reshaped, window
from pypto_verified.ir.types import TileType


@meaning("tile.load")
def _load(site: Site) -> Value:
    tensor, offsets, shape = site.tensor(0), site.ints(1), site.ints(2)
    valid = site.ints(3) if site.has(3) else shape
    lead = len(tensor.shape) - len(shape)
    if site.attr("clamp"):
        room = tuple(max(0, limit - o) for o, limit in zip(offsets[lead:], tensor.shape[lead:], strict=True))
        valid = tuple(min(v, r) for v, r in zip(valid, room, strict=True))
    require_within(valid, shape)
    at = window(offsets, (1,) * lead + valid, tensor.shape, "load window")
    out = undefined(shape, tensor.dtype, valid)
    out.data[out.window()] = tensor.data[at].reshape(valid)
    out.poison[out.window()] = tensor.poison[at].reshape(valid)
    type_ = site.call.type
    # Merged leading dims: the window stays that of the tensor, the tile is two-dimensional.
    return reshaped(out, type_.shape) if isinstance(type_, TileType) else out


@meaning("tile.store")
def _store(site: Site) -> Value:
    """The valid region goes to a window of its own size, or of `shapes` when the tile's dims were merged."""
    tile, offsets, tensor = site.tile(0), site.ints(1), site.tensor(2)
    extents = _of_rank(site.ints(3) if site.has(3) else tile.valid, len(tensor.shape))
    at = window(_of_rank(offsets, len(tensor.shape), 0), extents, tensor.shape, "store window")
    poison = tile.poison[tile.window()]
    if poison.any():
        first = tuple(int(i) for i in np.argwhere(poison)[0])
        raise Fault("stores an element that has no defined value", first)
    values = tile.data[tile.window()]
    if values.size != tensor.data[at].size:
        raise Fault(f"stores {tile.valid} elements into a window of {extents}")
    if tile.dtype.name != tensor.dtype.name:
        values = settle(values, tensor.dtype)
    values = values.reshape(tensor.data[at].shape)
    if site.int_attr("atomic"):
        if tensor.poison[at].any():
            raise Fault("adds to global memory that has no defined value", offsets)
        values = settle(tensor.data[at] + values, tensor.dtype)
    tensor.data[at] = values
    tensor.poison[at] = False
    return tensor


def _of_rank(extents: tuple[int, ...], rank: int, fill: int = 1) -> tuple[int, ...]:
    """Leading `fill`s added, or leading ones dropped."""
    return (fill,) * (rank - len(extents)) + extents[max(0, len(extents) - rank) :]


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
    data[at], poison[at] = scalar_as(site.scalar(2), t.dtype), False
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
    t.data[at], t.poison[at] = scalar_as(site.scalar(2), t.dtype), False
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
