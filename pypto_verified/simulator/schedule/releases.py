"""Slots on the chip that a consumer gives back: once its pipe has done what it began before. What its other pipes still
do there races with the next tile in that slot, if there is one."""

from __future__ import annotations

from functools import partial

from pypto_verified.pto.module import Op
from pypto_verified.simulator.memory import Access
from pypto_verified.simulator.schedule.clocks import Timeline
from pypto_verified.simulator.schedule.core import Core
from pypto_verified.simulator.schedule.cross import cluster
from pypto_verified.simulator.schedule.ends import CHIP_POP_PIPE, SPACE, TO_VECTOR, End, Give, Tokens, consumes


class Release(Give):
    """Tells the producer that the slots of `tiles` are free."""

    __slots__ = ("end", "tiles")

    def __init__(self, core: Core, op: Op, end: End, tiles: range, tokens: list[Tokens], key: object) -> None:
        super().__init__(core, op, CHIP_POP_PIPE[consumes(core)], tokens, key)
        self.end = end
        self.tiles = tiles

    def run(self, lane: Timeline) -> None:
        super().run(lane)
        core, end, direction = self.core, self.end, consumes(self.core)
        for tile in self.tiles:
            start = end.buffers[direction] + tile % end.slots * end.slot_size
            slot = Access(SPACE[direction], "", start, (end.slot_size,), (1,), 1, True)
            core.world.checks.released(self, lane, slot, partial(_written_again, core, end, tile))


def _written_again(core: Core, end: End, tile: int) -> bool:
    """Whether the producer has put another tile where this one was."""
    direction = consumes(core)
    producers = cluster(core, "cube" if direction == TO_VECTOR else "vector")
    return any(
        other.tiles[direction] > tile + end.slots
        for producer in producers for other in producer.ends.values()
        if other.mask & direction and other.names[direction] == end.names[direction])
