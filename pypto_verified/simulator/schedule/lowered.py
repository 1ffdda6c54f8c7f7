"""Pipes as the assembler has lowered them: handles, and tiles that get their bytes when they are popped."""

from __future__ import annotations

from collections.abc import Iterator

from pypto_verified.pto.types import TileBufType
from pypto_verified.simulator.errors import UnmodelledError
from pypto_verified.simulator.schedule.code import Issue
from pypto_verified.simulator.schedule.core import Core
from pypto_verified.simulator.schedule.ends import TO_CUBE, TO_VECTOR, End, consumes, number_of, produces
from pypto_verified.simulator.schedule.fifo import alone, prime
from pypto_verified.simulator.schedule.queue import Item
from pypto_verified.simulator.tile import Tensor, Tile, device_layout
from pypto_verified.simulator.values import storage

INITS = frozenset({"pto.initialize_l2g2l_pipe", "pto.initialize_l2l_pipe"})


def declare_tile(core: Core, issue: Issue) -> Iterator[Item]:
    """A handle without bytes."""
    type_ = issue.op.result.type
    if not isinstance(type_, TileBufType):
        raise UnmodelledError(f"{issue.op.name} of {type_}")
    layout = device_layout(type_, core.world.target.left_layout, storage(type_.dtype).itemsize)
    rows = type_.rows if type_.v_row is None else type_.v_row
    cols = type_.cols if type_.v_col is None else type_.v_col
    core.env[issue.out] = Tile(
        core.machine.memories[type_.loc], 0, type_, layout, (rows, cols), (0, 0), issue.op.result.name)
    return iter(())


def initialize(core: Core, issue: Issue) -> Iterator[Item]:
    """`initialize_l2g2l_pipe` (a ring in global memory), `initialize_l2l_pipe` (on the chip). A one-way pipe names its
    consumer's buffer, a two-way pipe the core's own and the other's; both ends have one `flag_base`."""
    op = issue.op
    args = issue.operands(core.env)
    mask, slots = number_of(op, "dir_mask", TO_VECTOR), number_of(op, "slot_num", 8)
    local = args["local_addr"][0] if "local_addr" in args else 0
    peer = args["peer_local_addr"][0] if "peer_local_addr" in args else local
    if mask == TO_VECTOR | TO_CUBE:
        buffers = {consumes(core): local, produces(core): peer}
    else:
        buffers = {TO_VECTOR: local, TO_CUBE: local}
    names: dict[int, object] = dict.fromkeys((TO_VECTOR, TO_CUBE), ("flags", number_of(op, "flag_base", 0)))
    ring = args["gm_addr"][0] if "gm_addr" in args else None
    if isinstance(ring, Tensor):
        ring = ring.pointer
    if core.world.target.on_chip_pipe and mask == TO_VECTOR | TO_CUBE:
        ring = None  # PTOAS getTPipeDirectionToken: a5 has no such pipe through global memory
    end = End(
        op, number_of(op, "flag_base", 0), mask, number_of(op, "slot_size", 0), slots,
        number_of(op, "local_slot_num", slots), ring,
        core.world.target.on_chip_pipe, names, buffers, alone(core),
    )
    core.env[issue.out] = core.ends[end.id] = end
    return prime(core, end, op.attrs.get("nosplit") is True)
