"""AllocateMemoryAddr: every buffer gets a byte address in its space."""

from __future__ import annotations

from dataclasses import replace

from pypto_verified.errors import PassError
from pypto_verified.ir.stmt import Function
from pypto_verified.ir.types import MemRef, TileType
from pypto_verified.layouts import Space
from pypto_verified.passes.buffer_table import Buffer, buffer_table
from pypto_verified.passes.context import PassContext, Planner, at
from pypto_verified.passes.dims import show
from pypto_verified.passes.interference import Interference, interference
from pypto_verified.passes.rebase import map_memrefs


def allocate_memory_addr(function: Function, ctx: PassContext) -> Function:
    """Place each buffer at the lowest aligned address that is free.

    Under PYPTO that is disjoint from every other buffer (sharing was MemoryReuse's work), under DSA_RP disjoint from
    those it interferes with, largest first.

    Alignment and capacity are the target's (MP-07). A buffer with several slots gets one region; its MemRef keeps the
    slot index and `offset` is the region's start. Addresses pinned by the author are kept. Runs for PYPTO and DSA_RP.
    Raises PassError at the first tile that does not fit; the message lists the tiles live at the fullest point.
    """
    table = buffer_table(function)
    graph = interference(function, ctx.target, copies_may_share=False)
    shared = ctx.planner is Planner.DSA_RP
    order = sorted(table.values(), key=lambda b: (b.address is None, -b.total if shared else 0))
    placed: dict[str, int] = {}
    for buffer in (b for b in order if not b.slot):
        rivals = [
            (placed[o.base], placed[o.base] + o.total) for o in table.values()
            if o.base in placed and o.space is buffer.space
            and not (shared and not buffer.fixed and not o.fixed and not graph.conflict(buffer.base, o.base))
        ]
        address = buffer.address if buffer.address is not None else _lowest(buffer, rivals, ctx)
        if address + buffer.total > ctx.target.capacity(buffer.space):
            raise _overflow(buffer, table, graph, ctx)
        placed[buffer.base] = address

    def addressed(m: MemRef, t: TileType) -> MemRef:
        return replace(m, offset=placed[m.base]) if m.base in placed else m

    return map_memrefs(function, ctx, addressed)


def _lowest(buffer: Buffer, rivals: list[tuple[int, int]], ctx: PassContext) -> int:
    """The lowest aligned address where the buffer overlaps no rival range."""
    align = ctx.target.alignment(buffer.space)
    address = 0
    for start, end in sorted(rivals):
        if address + buffer.total <= start:
            break
        address = max(address, -(-end // align) * align)
    return address


def _overflow(buffer: Buffer, table: dict[str, Buffer], graph: Interference, ctx: PassContext) -> PassError:
    space = buffer.space
    tiles = _fullest(space, table, graph)
    total = sum(b.total for b in tiles)
    listing = ", ".join(f"{_describe(b)}" for b in tiles)
    return PassError(
        f"{space.value} overflows: {total} bytes are live at once, {ctx.target.name} has {ctx.target.capacity(space)}; "
        f"live tiles: {listing}",
        at(buffer.span),
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
