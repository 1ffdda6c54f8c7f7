"""Tiles on their way into and out of the slots of a pipe, and slots that are handed out as tensors."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from pypto_verified.layouts import Space
from pypto_verified.simulator.errors import Place, UnmodelledError
from pypto_verified.simulator.schedule.clocks import Timeline
from pypto_verified.simulator.schedule.code import Issue
from pypto_verified.simulator.schedule.core import Core
from pypto_verified.simulator.schedule.cross import cluster
from pypto_verified.simulator.schedule.ends import (
    PUSH_PIPE,
    SPACE,
    TO_CUBE,
    TO_VECTOR,
    WORD,
    End,
    consumes,
    lanes_of,
    produces,
)
from pypto_verified.simulator.schedule.queue import Item
from pypto_verified.simulator.schedule.transfer import arbitrary, load, store, to_cube, to_lane
from pypto_verified.simulator.tile import Buffer, Pointer, Tensor, Tile
from pypto_verified.simulator.values import Array
from pypto_verified.targets.split import SPLITS, Split, popped, pushed


class Push(Item):
    """Moves a tile into its slot."""

    __slots__ = ("direction", "end", "issue", "number", "split", "tile")

    def __init__(self, core: Core, issue: Issue, end: End, tile: Tile, split: Split, number: int) -> None:
        direction = produces(core)
        super().__init__(core, issue.op, PUSH_PIPE[direction])
        self.issue = issue
        self.end = end
        self.tile = tile
        self.split = split
        self.direction = direction
        self.number = number

    def run(self, lane: Timeline) -> None:
        core, end, site, tile = self.core, self.end, self.issue.site, self.tile
        world = core.world
        count = lane.step()
        world.log.clear()
        owners: dict[str, object] = {}
        number = core.lane
        if tile.rows and tile.cols and end.alone:
            tile.reads(tile.rows, tile.cols)
        elif tile.rows and tile.cols and not end.on_chip:
            whole = pushed(SPLITS[0] if tile.space is Space.ACC else self.split, tile.rows, tile.cols, number)
            slot = _slot(core, end, self.direction, self.number)
            store(site, tile, slot, whole, _unset(core, slot))
        elif tile.rows and tile.cols:
            addr = end.buffers[self.direction] + self.number % end.slots * end.slot_size
            move = to_lane if self.direction == TO_VECTOR else to_cube
            for receiver in cluster(core, "vector" if self.direction == TO_VECTOR else "cube"):
                part = receiver.lane if self.direction == TO_VECTOR else number
                if self.direction == TO_CUBE or part in lanes_of(core, self.split):
                    name = f"slot {self.number % end.slots} of {receiver.name}"
                    owners[name] = (receiver.index, SPACE[self.direction])
                    move(site, tile, receiver, part, addr, self.split, name)
        if core.machine.errors:
            world.outcome.errors += core.machine.errors
            core.machine.errors.clear()
        world.checks.accessed(self, lane, count, False, owners)


class Pop(Item):
    """Loads a tile from its slot in global memory. A partner that is not there sends arbitrary numbers."""

    __slots__ = ("end", "issue", "number", "split", "tile")

    def __init__(self, core: Core, issue: Issue, end: End, tile: Tile, split: Split, number: int, pipe: str) -> None:
        super().__init__(core, issue.op, pipe)
        self.issue = issue
        self.end = end
        self.tile = tile
        self.split = split
        self.number = number

    def run(self, lane: Timeline) -> None:
        core, tile = self.core, self.tile
        count = lane.step()
        core.world.log.clear()
        if tile.rows and tile.cols and self.end.alone:
            arbitrary(self.issue.site, tile)
        elif tile.rows and tile.cols:
            part = SPLITS[0] if tile.space is Space.MAT else self.split
            window = popped(part, tile.rows, tile.cols, core.lane)
            slot = _slot(core, self.end, consumes(core), self.number)
            load(self.issue.site, tile, slot, window, _unset(core, slot))
        core.world.checks.accessed(self, lane, count, False, {})


def _slot(core: Core, end: End, direction: int, number: int) -> Pointer:
    """A slot in global memory: the ring of a two-way pipe holds the slots to the cube behind those to the vector
    cores."""
    if end.ring is None:
        raise UnmodelledError("a pipe without a ring in global memory", Place(end.init.name))
    ring = end.ring
    if core.world.apart:
        return Pointer(_own(core, end, direction), number % end.slots * end.slot_size, ring.kind)
    behind = end.slots * end.slot_size if end.mask == TO_VECTOR | TO_CUBE and direction == TO_CUBE else 0
    return Pointer(ring.buffer, ring.offset + behind + number % end.slots * end.slot_size, ring.kind)


def _own(core: Core, end: End, direction: int) -> Buffer:
    """Memory that only this direction of the pipe uses."""
    key = ("own ring", core.block, end.id, direction)
    found = core.world.signals.get(key)
    if not isinstance(found, Buffer):
        name = f"slots of pipe {end.id} to {WORD[direction]} of block {core.block}"
        found = core.world.signals[key] = Buffer(name, np.zeros(end.slots * end.slot_size, np.uint8))
        found.log = core.world.log
    return found


def _unset(core: Core, slot: Pointer) -> Array:
    """Which bytes of a ring hold no defined value."""
    key = ("ring", slot.buffer.name)
    found = core.world.signals.get(key)
    if not isinstance(found, np.ndarray):
        found = core.world.signals[key] = np.ones(slot.buffer.data.size, np.bool_)
    return found


def slot_of(core: Core, end: End, entry: Tensor, number: int, split: Split, direction: int) -> Tensor:
    """A slot as the tensor that the pipe was made with, from the lane's part on. The library places halves of columns
    and odd parts one row of the lane further, and both rings of a two-way pipe at one address (PTO-ISA TAlloc.hpp,
    TPop.hpp)."""
    rows, cols = entry.sizes[3], entry.sizes[4]
    part = core.lane * (rows * cols if split.axis == 0 and not split.odd else cols) if split.axis is not None else 0
    start = entry.pointer.offset + number % end.slots * end.slot_size + part * entry.pointer.kind.itemsize
    place = Pointer(entry.pointer.buffer, start, entry.pointer.kind)
    if core.world.apart:
        place = Pointer(_own(core, end, direction), start - entry.pointer.offset, entry.pointer.kind)
    return replace(entry, pointer=place, _windows={})
