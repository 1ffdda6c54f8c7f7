"""The slots of rings in one run: which one a popped tile lies in, and which ones are given back together."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace

from pypto_verified.pto.legality_context import pipe_id
from pypto_verified.targets import Target
from pypto_verified.targets.fifo import posts
from verifiers.access import AccessProgram, Root, Step
from verifiers.race.accesses import Access
from verifiers.race.copied import copies
from verifiers.race.items import Item
from verifiers.race.rings import ring_slot, ring_slots


class Slots:
    """`pops`: tiles popped so far, by pipe."""

    def __init__(self, program: AccessProgram, target: Target) -> None:
        self.program = program
        self.target = target
        self.pops: dict[int, int] = {}
        self._slots: dict[Hashable, Hashable] = {}
        self._copied: set[Hashable] = set()
        self._told: dict[int, Access] = {}
        self._freed: dict[int, int] = {}
        self._unposted: dict[int, list[tuple[int, Item]]] = {}

    def pop(self, step: Step, root: Root) -> None:
        """`step` pops a tile with this root."""
        self._slots[root] = ring_slot(step, self.program, self.target, self.pops)
        if copies(step, self.program, self.target):
            self._copied.add(root)

    def arena(self, arena: Hashable) -> Hashable:
        """The slot that something lies in, if it lies in one."""
        return self._slots.get(arena, arena)

    def copied(self, root: Root) -> bool:
        """Whether a tile is a copy of what its slot holds."""
        return root in self._slots and root in self._copied

    def told(self, access: Access) -> Access:
        """What lies in any slot of a ring for all that the text tells lies in a certain one here."""
        if not access.somewhere or access.tile is None or access.tile.root not in self._slots:
            return access
        if access.number not in self._told:
            self._told[access.number] = replace(access, somewhere=False)
        return self._told[access.number]

    def given_back(self, items: tuple[Item, ...]) -> list[tuple[int, Item]]:
        """What an op that frees a tile gives back, with the number of each tile. Credits stand for several tiles: what
        was freed since the last one is given back with the next."""
        pipe = pipe_id(items[0].access.step.op)
        number = self._freed.get(pipe, 0)
        self._freed[pipe] = number + 1
        unposted = self._unposted.setdefault(pipe, [])
        if len(items) == 1:
            unposted.append((number, items[0]))
        if posts(ring_slots(self.program, self.target, pipe), self.pops.get(pipe, 0) - 1) is not True:
            return []
        tiles = [(number - n, item) for n, item in enumerate(items)][::-1] if len(items) > 1 else list(unposted)
        unposted.clear()
        return tiles

    def next_in(self, pipe: int, tile: int) -> int:
        """The number of the tile that comes into the slot of `tile` next."""
        return tile + ring_slots(self.program, self.target, pipe)
