"""Views of a tile's elements and copies of a part of it: move, slice, extract, assemble, concat, reshape, transpose."""

from __future__ import annotations

import numpy as np

from pypto_verified.interpreter.meaning import Fault, Site, Value, meaning, require_within
from pypto_verified.interpreter.numbers import from_carrier, settle, storage, to_carrier
from pypto_verified.interpreter.values import Tile, fresh, inside, undefined


def window(offsets: tuple[int, ...], extents: tuple[int, ...], shape: tuple[int, ...], what: str) -> tuple[slice, ...]:
    for i, (o, n, limit) in enumerate(zip(offsets, extents, shape, strict=True)):
        if n and (o < 0 or o + n > limit):
            raise Fault(f"{what} [{o}, {o + n}) is outside 0..{limit} of dim {i}", offsets)
    return tuple(slice(o, o + max(n, 0)) for o, n in zip(offsets, extents, strict=True))


@meaning("tile.move")
def _move(site: Site) -> Value:
    a = site.tile(0)
    moved = fresh(a.data.copy(), a.poison.copy(), a.valid, a.dtype)
    return Tile(moved.data, moved.poison, a.valid, a.dtype, a.bits, a.bit_poison)


@meaning("tile.set_validshape")
def _set_valid(site: Site) -> Value:
    a = site.tile(0)
    valid = (*a.valid[:-2], int(site.scalar(1)), int(site.scalar(2)))
    require_within(valid, a.shape)
    return Tile(a.data, a.poison, valid, a.dtype, a.bits, a.bit_poison)


@meaning("tile.slice")
def _slice(site: Site) -> Value:
    a, shape, offsets = site.tile(0), site.ints(1), site.ints(2)
    at = window(offsets, shape, a.shape, "slice window")
    inner = tuple(max(0, min(n, v - o)) for n, v, o in zip(shape, a.valid, offsets, strict=True))
    if site.has(3):
        require_within(site.ints(3), shape)
        inner = tuple(min(v, w) for v, w in zip(inner, site.ints(3), strict=True))
    part = Tile(a.data[at], a.poison[at], inner, a.dtype)
    return _without(part, site.ints(4)) if site.has(4) else part


def _without(a: Tile, axes: tuple[int, ...]) -> Tile:
    """Unit axes dropped; a tile keeps two dims at least."""
    kept = [i for i in range(len(a.shape)) if i not in axes]
    ones = (1,) * (2 - len(kept))
    shape, valid = ((*ones, *(extents[i] for i in kept)) for extents in (a.shape, a.valid))
    return Tile(a.data.reshape(shape), a.poison.reshape(shape), valid, a.dtype)


@meaning("tile.extract")
def _extract(site: Site) -> Value:
    a, shape = site.tile(0), site.ints(3)
    offsets = (int(site.scalar(1)), int(site.scalar(2)))
    at = window(offsets, shape, a.shape, "extract window")
    inner = tuple(max(0, min(n, v - o)) for n, v, o in zip(shape, a.valid, offsets, strict=True))
    return fresh(a.data[at].copy(), a.poison[at].copy(), inner, a.dtype)


@meaning("tile.assemble")
def _assemble(site: Site) -> Value:
    target, source, offsets = site.tile(0), site.tile(1), site.ints(2)
    at = window(offsets, source.valid, target.shape, "assemble window")
    data, poison = target.data.copy(), target.poison.copy()
    data[at] = settle(source.data[source.window()], target.dtype)
    poison[at] = source.poison[source.window()]
    return Tile(data, poison, _grown(target, offsets, source.valid), target.dtype)


def _grown(target: Tile, offsets: tuple[int, ...], written: tuple[int, ...]) -> tuple[int, ...]:
    """The valid region after a write: larger where the write and the old region make a rectangle from the origin."""
    mask = inside(target.shape, target.valid)
    mask[tuple(slice(o, o + n) for o, n in zip(offsets, written, strict=True))] = True
    reach = tuple(
        max(v, o + n) if n else v for v, o, n in zip(target.valid, offsets, written, strict=True)
    )
    return reach if mask.any() and int(np.prod(reach)) == int(mask.sum()) else target.valid


@meaning("tile.concat")
def _concat(site: Site) -> Value:
    a, b = site.tile(0), site.tile(1)
    out = undefined((a.shape[0], a.shape[1] + b.shape[1]), a.dtype, (a.valid[0], a.valid[1] + b.valid[1]))
    for t, start in ((a, 0), (b, a.valid[1])):
        at = (slice(0, t.valid[0]), slice(start, start + t.valid[1]))
        out.data[at], out.poison[at] = t.data[t.window()], t.poison[t.window()]
    return out


@meaning("tile.reshape")
def _reshape(site: Site) -> Value:
    return reshaped(site.tile(0), site.ints(1))


def reshaped(a: Tile, shape: tuple[int, ...]) -> Tile:
    """The same elements in row-major order under another shape. Fault where the valid region is no rectangle of it."""
    if a.shape == shape:
        return a
    return Tile(a.data.reshape(shape), a.poison.reshape(shape), _reshaped_valid(a, shape), a.dtype)


def _reshaped_valid(a: Tile, shape: tuple[int, ...]) -> tuple[int, ...]:
    """The valid region of a reshape where it stays a rectangle from the origin: full, empty, unit axes added or
    dropped, or whole leading rows. Otherwise the reshape has no meaning."""
    if a.valid == a.shape:
        return shape
    if [n for n in a.shape if n != 1] == [n for n in shape if n != 1]:
        kept = iter(v for v, n in zip(a.valid, a.shape, strict=True) if n != 1)
        return tuple(next(kept) if n != 1 else 1 for n in shape)
    mask = inside(a.shape, a.valid).reshape(shape)
    valid = tuple(int(np.max(np.nonzero(mask)[i])) + 1 if mask.any() else 0 for i in range(len(shape)))
    if int(np.prod(valid)) != int(mask.sum()):
        raise Fault(f"the valid region {a.valid} of {a.shape} is no rectangle of {shape}")
    return valid


@meaning("tile.reinterpret_view")
def _reinterpret(site: Site) -> Value:
    """The bytes of each row as elements of another type."""
    a = site.tile(0)
    dtype = site.dtype_attr("dtype", a.dtype)
    stored = np.ascontiguousarray(from_carrier(a.data, a.dtype)).view(np.uint8).reshape(*a.shape[:-1], -1, dtype.bytes)
    unset = np.asarray(np.repeat(a.poison, a.dtype.bytes, axis=-1).reshape(stored.shape).any(axis=-1))
    values = to_carrier(stored.view(storage(dtype))[..., 0], dtype)
    valid = (*a.valid[:-1], a.valid[-1] * a.dtype.bytes // dtype.bytes)
    made = Tile(values, unset, valid, dtype)
    return reshaped(made, site.ints(1)) if site.has(1) else made


@meaning("tile.transpose")
def _transpose(site: Site) -> Value:
    a = site.tile(0)
    one, two = (int(site.scalar(i)) % len(a.shape) for i in (1, 2))
    valid = list(a.valid)
    valid[one], valid[two] = valid[two], valid[one]
    return fresh(np.swapaxes(a.data, one, two).copy(), np.swapaxes(a.poison, one, two).copy(), tuple(valid), a.dtype)


@meaning("tile.transpose_view")
def _transpose_view(site: Site) -> Value:
    a = site.tile(0)
    valid = (*a.valid[:-2], a.valid[-1], a.valid[-2])
    return Tile(np.swapaxes(a.data, -1, -2), np.swapaxes(a.poison, -1, -2), valid, a.dtype)
