"""Tiles of generated kernels in storage of the author's choice."""

from __future__ import annotations

from dataclasses import replace

from pypto_verified.dtypes import INDEX
from pypto_verified.fuzz.builder import Builder
from pypto_verified.fuzz.draw import chance, choice
from pypto_verified.fuzz.vector import load
from pypto_verified.ir.expr import Binary, BinaryOp, Const, Dim, Var
from pypto_verified.ir.types import MemRef, TileType
from pypto_verified.layouts import Space

_ADDRESSES = range(128 * 1024, 160 * 1024, 8 * 1024)
"""Of tiles with an address of their own, none of which has more than 8 KiB."""


def ring(b: Builder, var: Var) -> None:
    """A tile in a buffer of several slots, each trip in the next."""
    loaded = load(b)
    slots = choice(b.draw, (2, 2, 3))
    _put(b, loaded, b.name("ring"), slots, Binary(BinaryOp.MOD, var, Const(slots), INDEX))


def slotted(b: Builder) -> bool:
    """Two tiles in slots of one buffer, the later one not in the first, and what both give."""
    first = load(b)
    t = b.tile(first)
    slots = choice(b.draw, (2, 3, 4))
    later = b.draw.integer(1, slots - 1)
    earlier = choice(b.draw, [k for k in range(slots) if k != later])
    buffer = b.name("ring")
    one = _put(b, first, buffer, slots, earlier)
    other = _put(b, load(b, (t.shape[0], t.shape[1]), t.dtype), buffer, slots, later)
    if t.dtype.is_float and t.shape[1] > 1 and 0 not in t.valid_shape:
        b.assign(b.call("tile.part_add" if chance(b.draw, 30) else "tile.maximum", (one, other)))
    return True


def addressed(b: Builder) -> bool:
    """A tile at an address of its own; False if all are taken."""
    taken = {v.type.memref.offset for scope in b.scopes for v in scope.values()
             if isinstance(v.type, TileType) and v.type.memref is not None}
    free = [a for a in _ADDRESSES if a not in taken]
    if not free:
        return False
    loaded = load(b)
    t = b.tile(loaded)
    size = t.shape[0] * t.shape[1] * t.dtype.bytes
    memref = MemRef(b.name("at"), choice(b.draw, free), size, pinned=True)
    b.placed(loaded, replace(t, space=Space.VEC, memref=memref))
    return True


def _put(b: Builder, loaded: Var, buffer: str, slots: int, slot: Dim) -> Var:
    """The tile that was loaded last, in a slot of a buffer."""
    t = b.tile(loaded)
    size = t.shape[0] * t.shape[1] * t.dtype.bytes * slots
    memref = MemRef(buffer, None, size, pinned=True, slots=slots, slot=slot)
    return b.placed(loaded, replace(t, space=Space.VEC, memref=memref))
