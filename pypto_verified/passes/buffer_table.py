"""The buffers of a function: space, size, and whether a planner may place them."""

from __future__ import annotations

from pypto_verified.ir.changed import replace
from pypto_verified.ir.expr import Span
from pypto_verified.ir.stmt import Function
from pypto_verified.ir.types import TileType
from pypto_verified.ir.walk import definitions, walk_stmts
from pypto_verified.layouts import Space
from pypto_verified.passes.buffers import is_fixed
from pypto_verified.records import dataclass


@dataclass(frozen=True, slots=True)
class Buffer:
    """One buffer. `size`: bytes of its largest tile (of one slot, if it has several); `total`: bytes of all slots;
    `owner`: the variable that uses it first, of type `type`, at `span`; `slot`: a pipe's slot, not placed by us;
    `address`: where the author pinned it."""

    base: str
    space: Space
    size: int
    slots: int
    fixed: bool
    slot: bool
    address: int | None
    owner: str
    type: TileType
    span: Span

    @property
    def total(self) -> int:
        return self.size * self.slots


def buffer_table(function: Function) -> dict[str, Buffer]:
    """Every buffer by its base name, in order of first use."""
    found: dict[str, Buffer] = {}
    for s in walk_stmts(function.body):
        for v in definitions(s):
            t = v.type
            if not isinstance(t, TileType) or t.memref is None or t.space is None:
                continue
            m, old = t.memref, found.get(t.memref.base)
            if old is None:
                is_slot = m.base.startswith(SLOT_PREFIX)
                address = m.offset if m.pinned and isinstance(m.offset, int) else None
                found[m.base] = Buffer(
                    m.base, t.space, m.size, m.slots, is_fixed(m) or is_slot, is_slot, address, v.name, t, s.span
                )
            elif old.size < m.size:
                found[m.base] = replace(old, size=m.size)
    return found


SLOT_PREFIX = "slot_"
"""Buffers with this prefix are slots of a cross-core pipe: popped tiles stand there."""
