"""Gathers and scatters: by flat element index, by byte offset, by mask pattern; in tiles and in global memory."""

from __future__ import annotations

import numpy as np

from pypto_verified.dtypes import DType
from pypto_verified.interpreter.meaning import Fault, Site, Value, meaning
from pypto_verified.interpreter.numbers import Bools, Carrier, Ints, from_carrier, storage, to_carrier
from pypto_verified.interpreter.values import Tile, carrier_zeros, fresh, undefined
from pypto_verified.ir.expr import Attr

_BLOCK_BYTES = 32

PATTERNS: dict[int, tuple[int, int]] = {
    1: (2, 0), 2: (2, 1), 3: (4, 0), 4: (4, 1), 5: (4, 2), 6: (4, 3), 7: (1, 0),
}
"""Pattern code -> (period, position kept in it). Source: PTO-ISA TGATHER, facts on mask patterns."""


def _flat_indices(t: Tile, size: int) -> Ints:
    """The valid indices; Fault for one without a value or outside 0..size-1."""
    region = t.window()
    if t.poison[region].any():
        raise Fault("an index has no defined value", _first(t.poison[region]))
    indices = t.data[region].astype(np.int64)
    outside = (indices < 0) | (indices >= size)
    if outside.any():
        at = _first(outside)
        raise Fault(f"index {int(indices[at])} is outside 0..{size - 1}", at)
    return indices


def _first(mask: np.typing.NDArray[np.bool_]) -> tuple[int, ...]:
    return tuple(int(i) for i in np.argwhere(mask)[0])


def reinterpreted(values: Carrier, source: DType, target: DType) -> Carrier:
    """The same bits as another type of the same width."""
    if source.name == target.name:
        return values
    return to_carrier(np.ascontiguousarray(from_carrier(values, source)).view(storage(target)), target)


@meaning("tile.gather")
def _gather(site: Site) -> Value:
    source, indices = site.tile(0), site.tile(1)
    flat = _flat_indices(indices, source.data.size)
    out = undefined(indices.shape, source.dtype, indices.valid)
    out.data[out.window()] = source.data.reshape(-1)[flat]
    out.poison[out.window()] = source.poison.reshape(-1)[flat]
    return out


@meaning("tile.gatherb")
def _gather_blocks(site: Site) -> Value:
    """Each byte offset names a block of 32 bytes of the source's elements in row-major order."""
    source, offsets = site.tile(0), site.tile(1)
    dtype = site.dtype_attr("output_dtype", source.dtype)
    stored = np.ascontiguousarray(from_carrier(source.data, source.dtype)).view(np.uint8).reshape(-1)
    unset = np.repeat(source.poison.reshape(-1), source.dtype.bytes)
    per_block = _BLOCK_BYTES // dtype.bytes
    starts = _flat_indices(offsets, stored.size - _BLOCK_BYTES + 1)
    flat = starts[..., None] + np.arange(_BLOCK_BYTES)
    rows, columns = offsets.shape
    out = undefined((rows, columns * per_block), dtype, (offsets.valid[0], offsets.valid[1] * per_block))
    elements = (*out.valid, dtype.bytes)
    out.data[out.window()] = to_carrier(stored[flat].reshape(elements).view(storage(dtype))[..., 0], dtype)
    out.poison[out.window()] = unset[flat].reshape(elements).any(axis=-1)
    return out


def _resolved(flat: Ints, size: int, mode: Attr) -> tuple[Ints, Bools]:
    """Indices into `size` elements after the mode for those outside, and which of them stand for a zero."""
    outside = (flat < 0) | (flat >= size)
    if mode in (1, "clamp"):
        return np.clip(flat, 0, size - 1), np.zeros_like(outside)
    if mode in (2, "wrap"):
        return flat % size, np.zeros_like(outside)
    if mode in (3, "zero"):
        return np.where(outside, 0, flat), outside
    if outside.any():
        at = _first(outside)
        raise Fault(f"index {int(flat[at])} is outside 0..{size - 1}", at)
    return flat, np.zeros_like(outside)


def _defined(indices: Tile) -> Ints:
    region = indices.window()
    if indices.poison[region].any():
        raise Fault("an index has no defined value", _first(indices.poison[region]))
    return indices.data[region].astype(np.int64)


@meaning("tile.mgather")
def _global_gather(site: Site) -> Value:
    """Rows of a tensor, or elements of it in row-major order, by index."""
    tensor, indices = site.tensor(0), site.tile(1)
    flat = _defined(indices)
    elements = site.attr("coalesce") in (1, "elem")
    width = 1 if elements else tensor.shape[-1]
    if not elements:
        flat = flat.reshape(-1)
    table, unset = tensor.data.reshape(-1, width), tensor.poison.reshape(-1, width)
    where, zeros = _resolved(flat, len(table), site.attr("gather_oob"))
    shape, valid = (indices.shape, indices.valid) if elements else ((indices.data.size, width), (len(flat), width))
    out = undefined(shape, tensor.dtype, valid)
    blank = zeros.reshape(-1, 1)
    out.data[out.window()] = np.where(blank, 0, table[where.reshape(-1)]).reshape(valid)
    out.poison[out.window()] = np.where(blank, False, unset[where.reshape(-1)]).reshape(valid)
    return out


@meaning("tile.mscatter")
def _global_scatter(site: Site) -> Value:
    """tensor.flat[index] = source, the last one in row-major order wins."""
    source, indices, tensor = site.tile(0), site.tile(1), site.tensor(2)
    region = source.window()
    flat = _flat_indices(Tile(indices.data, indices.poison, source.valid, indices.dtype), tensor.data.size)
    if source.poison[region].any():
        raise Fault("stores an element that has no defined value", _first(source.poison[region]))
    data, poison = tensor.data.reshape(-1), tensor.poison.reshape(-1)
    for at, value in zip(flat.flat, source.data[region].flat, strict=True):
        data[at], poison[at] = value, False
    tensor.data, tensor.poison = data.reshape(tensor.shape), poison.reshape(tensor.shape)
    return tensor


@meaning("tile.gather_mask")
def _gather_mask(site: Site) -> Value:
    """The kept columns of each row, side by side."""
    source = site.tile(0)
    period, position = PATTERNS[site.int_attr("mask_pattern")]
    dtype = site.dtype_attr("output_dtype", source.dtype)
    data = reinterpreted(source.data[:, position::period], source.dtype, dtype)
    valid = (source.valid[0], source.valid[1] // period)
    return fresh(data.copy(), source.poison[:, position::period].copy(), valid, dtype)


@meaning("tile.scatter")
def _scatter(site: Site) -> Value:
    """target.flat[index] = source, the last one in row-major order wins."""
    target, source, indices = site.tile(0), site.tile(1), site.tile(2)
    region = source.window()
    flat = _flat_indices(Tile(indices.data, indices.poison, source.valid, indices.dtype), target.data.size)
    data, poison = target.data.copy(), target.poison.copy()
    for at, value, bad in zip(flat.flat, source.data[region].flat, source.poison[region].flat, strict=True):
        data.reshape(-1)[at], poison.reshape(-1)[at] = value, bad
    return Tile(data, poison, target.valid, target.dtype)


@meaning("tile.scatter_mask")
def _scatter_mask(site: Site) -> Value:
    """The source's columns at the kept places, zeros between."""
    target, source = site.tile(0), site.tile(1)
    period, position = PATTERNS[site.int_attr("mask_pattern")]
    rows, columns = source.valid
    if target.valid != (rows, columns * period):
        raise Fault(f"{source.valid} elements do not fill {target.valid} at every {period}th column")
    data, poison = target.data.copy(), target.poison.copy()
    spread, bad = carrier_zeros(target.valid, target.dtype), np.zeros(target.valid, dtype=np.bool_)
    spread[:, position::period] = source.data[source.window()]
    bad[:, position::period] = source.poison[source.window()]
    data[target.window()], poison[target.window()] = spread, bad
    return Tile(data, poison, target.valid, target.dtype)
