"""AllocateMemoryAddr: every buffer gets a byte address in its space."""

from __future__ import annotations

from collections.abc import Sequence

from pypto_verified.errors import PassError
from pypto_verified.ir.stmt import Function
from pypto_verified.ir.types import MemRef, TileType
from pypto_verified.layouts import Space
from pypto_verified.passes.buffer_table import Buffer, buffer_table
from pypto_verified.passes.context import PassContext, Planner
from pypto_verified.passes.dims import show
from pypto_verified.passes.interference import Interference, interference
from pypto_verified.passes.rebase import map_memrefs
from pypto_verified.passes.reserved_buffers import Reserved, reserved_buffers, with_bases


def allocate_memory_addr(function: Function, ctx: PassContext) -> Function:
    """Place each buffer at the lowest aligned address that is free.

    Under PYPTO that is disjoint from every other buffer (sharing was MemoryReuse's work), under DSA_RP disjoint from
    those it interferes with, largest first, and over an operand or result of the same op only from its start on.

    Alignment and capacity are the target's (MP-07). A buffer with several slots gets one region; its MemRef keeps the
    slot index and `offset` is the region's start. Addresses pinned by the author are kept. Buffers reserved for
    cross-core pipes come first (MP-03). Runs for PYPTO and DSA_RP.
    Raises PassError at the first tile that does not fit; the message lists the tiles live at the fullest point.
    """
    table = buffer_table(function)
    may_share = ctx.planner is Planner.DSA_RP
    graph = interference(function, ctx.target, copies_may_share=False) if may_share else Interference()
    pipes = reserved_buffers(function, ctx)
    reserved = _place_reserved(pipes, ctx)
    order = sorted(table.values(), key=lambda b: (b.address is None, -b.total if may_share else 0))
    placed: dict[str, int] = {}
    for buffer in (b for b in order if not b.slot):
        rivals = [(reserved[r.name], reserved[r.name] + r.size) for r in pipes if r.space is buffer.space]
        in_place: list[_Range] = []
        for other in (table[base] for base in placed if table[base].space is buffer.space):
            taken = placed[other.base], placed[other.base] + other.total
            free = may_share and not buffer.fixed and not other.fixed and not graph.conflict(buffer.base, other.base)
            if not free:
                rivals.append(taken)
            elif other.base in graph.in_place.get(buffer.base, ()):
                in_place.append(taken)
        address = buffer.address
        if address is None:
            address = _lowest(buffer.space, buffer.total, rivals, ctx, in_place)
        if address + buffer.total > ctx.target.capacity(buffer.space):
            raise _overflow(buffer, table, interference(function, ctx.target, copies_may_share=False), ctx)
        placed[buffer.base] = address

    def addressed(m: MemRef, t: TileType) -> MemRef:
        address = placed.get(m.base)
        if address is None or address == m.offset:
            return m
        return MemRef(m.base, address, m.size, m.pinned, m.slots, m.slot)

    return map_memrefs(with_bases(function, ctx, reserved), ctx, addressed)


_Range = tuple[int, int]
"""First byte, first byte behind."""


def _lowest(
    space: Space, size: int, rivals: Sequence[_Range], ctx: PassContext, in_place: Sequence[_Range] = ()
) -> int:
    """The lowest aligned address of `space` where `size` bytes overlap no rival range, and none of `in_place` but from
    its start on."""
    align = ctx.target.alignment(space)
    apart = 0
    for start, end in sorted((*rivals, *in_place)):
        if apart + size <= start:
            break
        apart = max(apart, -(-end // align) * align)

    def fits(address: int) -> bool:
        others = (*rivals, *(other for other in in_place if other[0] != address))
        return all(address + size <= start or end <= address for start, end in others)

    return min((start for start, _ in in_place if start < apart and fits(start)), default=apart)


def _place_reserved(pipes: list[Reserved], ctx: PassContext) -> dict[str, int]:
    """Addresses by name: the author's, else the lowest free one."""
    placed: dict[str, int] = {}
    for r in sorted(pipes, key=lambda r: r.address is None):
        rivals = [(placed[o.name], placed[o.name] + o.size) for o in pipes if o.name in placed and o.space is r.space]
        placed[r.name] = r.address if r.address is not None else _lowest(r.space, r.size, rivals, ctx)
        if placed[r.name] + r.size > ctx.target.capacity(r.space):
            raise PassError(
                f"reserved buffer '{r.name}' of {r.size} bytes does not fit into {r.space.value}, which has "
                f"{ctx.target.capacity(r.space)}", r.span.location, help="reserve fewer or smaller slots",
            )
    return placed


def _overflow(buffer: Buffer, table: dict[str, Buffer], graph: Interference, ctx: PassContext) -> PassError:
    space = buffer.space
    tiles = _fullest(space, table, graph)
    total = sum(b.total for b in tiles)
    listing = ", ".join(f"{_describe(b)}" for b in tiles)
    return PassError(
        f"{space.value} overflows: {total} bytes are live at once, {ctx.target.name} has {ctx.target.capacity(space)}; "
        f"live tiles: {listing}",
        buffer.span.location,
        help="use smaller tiles, split the work into more loop trips, or let tiles die earlier",
    )


def _fullest(space: Space, table: dict[str, Buffer], graph: Interference) -> list[Buffer]:
    """The buffers of the space that hold values at the point where these need the most bytes."""
    best: list[Buffer] = []
    for live, _ in graph.live_at:
        here = [b for b in table.values() if b.space is space and (b.base in live or b.fixed) and not b.slot]
        if sum(b.total for b in here) > sum(b.total for b in best):
            best = here
    return best


def _describe(b: Buffer) -> str:
    slots = f" x {b.slots} slots" if b.slots > 1 else ""
    line = f" (line {b.span.line})" if b.span.line else ""
    return f"'{b.owner}' {show(b.type.shape)} {b.type.dtype!r} {b.size} bytes{slots}{line}"
