"""What every access of a run is asked: is it ordered after those before it that it conflicts with, and is what it reads
visible to it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from operator import attrgetter
from typing import TYPE_CHECKING, TypeAlias

from pypto_verified.layouts import Space
from pypto_verified.simulator.memory import Access
from pypto_verified.simulator.schedule.clocks import Clock, Timeline
from pypto_verified.simulator.schedule.core import Core
from pypto_verified.simulator.schedule.history import Conflict, History, Region, Stamp, conflicts, record
from pypto_verified.simulator.schedule.outcome import Race, Unseen
from pypto_verified.simulator.schedule.queue import Item
from pypto_verified.targets.pipes import CACHE, FENCE, Hazard, fences_between, ordered_on_pipe

if TYPE_CHECKING:
    from pypto_verified.simulator.schedule.world import World

NOTIFY = "pto.comm.tnotify"
"""The op that tells another device that data is there."""
_PUSH, _POP = "pto.tpush", "pto.tpop"
_WRITES = attrgetter("writes")
Touched: TypeAlias = tuple[object, Region, bool]
"""(memory, region, whether it was written) of a step."""


class Checks:
    """The history of a run's accesses. `touched`: those of the last step."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.touched: list[Touched] = []
        self._history = History()
        self._waw_in_order = {
            p: ordered_on_pipe(world.target, p, Hazard.WAW, world.strict) for p in world.target.pipes}
        self._places: dict[int, tuple[Access, object, Region | None]] = {}
        self._pairs: dict[tuple[int, int, str, str], set[Hazard]] = {}
        self._unseen: set[tuple[int, int, bool]] = set()
        self._released: dict[Region, list[tuple[Stamp, Callable[[], bool]]]] = {}
        self._early: list[tuple[Conflict, Item, object, Callable[[], bool]]] = []

    def accessed(
        self, item: Item, lane: Timeline, count: int, atomic: bool, owners: Mapping[str, object],
        known: Clock | None = None,
    ) -> None:
        """Check and remember what the log holds. `owners`: memories of tiles of other cores, by name; `known`: what was
        known when the access began, if that is not now."""
        if not self.world.ordering:
            self.world.log.clear()
            return
        core = item.core
        waw = self._waw_in_order[item.pipe]
        stamp = Stamp(lane.index, count, item, atomic)
        recorded: list[tuple[Region, bool]] = []
        for access in sorted(self.world.log, key=_WRITES):
            memory, region = self._place(core, access, owners)
            if region is None:
                continue
            self.touched.append((memory, region, access.writes))
            for found in conflicts(region, stamp, access.writes, known or lane.known, waw):
                self._race(found, item, memory)
            if self._released:
                self._late(region, item, memory, access.writes)
            if access.space is Space.GM and not access.writes:
                self._check_seen(region, item, lane, self._name(memory))
            if access.space is Space.GM and access.writes and item.op.name != NOTIFY:
                core.stored[lane.index] = (stamp, region, self._name(memory))
                if core.notified is not None and item.seq < core.notified.seq:
                    self.notified(core.notified, core.lanes["S"])
            recorded.append((region, access.writes))
        # Only now: what an op reads must not hide an earlier reader from what it writes.
        for region, writes in recorded:
            record(region, stamp, writes)
        self.world.log.clear()

    def _place(
        self, core: Core, access: Access, owners: Mapping[str, object]
    ) -> tuple[object, Region | None]:
        """The memory and the region of an access. A window of a tile gives the same accesses again and again."""
        known = self._places.get(id(access))
        if known is not None and known[0] is access:
            return known[1], known[2]
        local = access.space is not Space.GM
        memory: object = access.owner
        if local:
            memory = owners.get(access.owner) or (core.index, access.space)
        region = self._history.region(memory, access)
        if local:
            self._places[id(access)] = (access, memory, region)
        return memory, region

    def released(self, item: Item, lane: Timeline, slot: Access, again: Callable[[], bool]) -> None:
        """Another core may write `slot` once all is complete that `lane` has begun. What this core does there without
        that pipe's knowledge is a race if the other core ever writes there `again`, which the end of the run tells."""
        memory = (item.core.index, slot.space)
        region = self._history.region(memory, slot)
        if region is None or not self.world.ordering:
            return
        stamp = Stamp(lane.index, lane.count, item, False)
        for found in conflicts(region, stamp, True, lane.token().done, True):
            if found.earlier.item.core is item.core:
                self._early.append((found, item, memory, again))
        self._released.setdefault(region, []).append((stamp, again))

    def _late(self, region: Region, item: Item, memory: object, writes: bool) -> None:
        """What stands before a release in the program and runs after it."""
        for near in region.near:
            for stamp, again in reversed(self._released.get(near, ())):
                if stamp.item.core is not item.core or stamp.item.seq < item.seq:
                    break
                low, high = region.shared(near) or (region.start, region.start)
                self._early.append((Conflict(stamp, True, writes, low, high), item, memory, again))

    def close(self) -> None:
        """The run is over: note the slots that were given back too early and written again."""
        for found, item, memory, again in self._early:
            if again():
                self._race(found, item, memory)
        self._early.clear()

    def notified(self, item: Item, lane: Timeline) -> None:
        """Another device is told to read: what this core has stored must be published before, and what stands before
        in the program must have been stored."""
        item.core.notified = item
        for stamp, region, memory in item.core.stored.values():
            writer = "scalar" if stamp.item.pipe == "S" else "bulk"
            fences = fences_between(writer, "device", self.world.strict)
            if fences and not _visible(stamp, lane, fences) and stamp.item.seq < item.seq:
                self._missing(stamp, item, memory, (region.start, region.start + region.pattern.high), fences)

    def _missing(
        self, write: Stamp, item: Item, memory: str, shared: tuple[int, int], fences: tuple[str, ...],
        covered: bool = False,
    ) -> None:
        """Note a write that is not visible to `item`, once a pair of ops; `covered`: another core has written over
        it."""
        pair = (id(write.item.op), id(item.op), covered)
        if pair not in self._unseen:
            self._unseen.add(pair)
            outcome = self.world.outcome
            (outcome.covered if covered else outcome.unseen).append(
                Unseen(write.item.core.at(write.item), item.core.at(item), memory, *shared, fences))

    def _race(self, found: Conflict, item: Item, memory: object) -> None:
        first, second = found.earlier.item, item
        writes = (found.earlier_writes, found.writes)
        if first.core is second.core and first.seq > second.seq:
            first, second, writes = second, first, writes[::-1]
        key = (id(first.op), id(second.op), first.core.kind, second.core.kind)
        known = self._pairs.setdefault(key, set())
        hazard = Hazard.WAR if not writes[0] else Hazard.WAW if writes[1] else Hazard.RAW
        if hazard in known:
            return
        races = self.world.outcome.also if known else self.world.outcome.races
        known.add(hazard)
        races.append(Race(
            hazard, first.core.at(first), second.core.at(second), self._name(memory), found.low, found.high))

    def _name(self, memory: object) -> str:
        if not isinstance(memory, tuple):
            return f"tensor {memory}"
        index, space = memory
        core = self.world.cores[index]
        return f"{space.value} of {core.name}"

    def _check_seen(self, region: Region, item: Item, lane: Timeline, memory: str) -> None:
        """Whether each write that is ordered before this read has been made visible."""
        for near in region.near:
            for last in (near.writer, near.covered.get(item.core.index)):
                if last is not None:
                    self._check_write(last, near, region, item, lane, memory)

    def _check_write(
        self, last: Stamp, near: Region, region: Region, item: Item, lane: Timeline, memory: str
    ) -> None:
        if last.thread == lane.index or last.count > lane.known[last.thread]:
            return
        if item.op.name.startswith(_POP) and last.item.op.name.startswith(_PUSH):
            return  # a pipe of the library shows what it hands on (PTO-ISA TPush.hpp, TPop.hpp)
        kind = "scalar" if last.item.pipe == "S" else "bulk"
        unit = "scalar" if item.pipe == "S" else "bulk"
        own = last.item.core is item.core
        fences = fences_between(kind, unit if own else f"other {unit}", self.world.strict)
        shared = region.shared(near)
        if fences and not _visible(last, lane, fences) and shared is not None:
            self._missing(last, item, memory, shared, fences, last is not near.writer)


def _visible(write: Stamp, lane: Timeline, fences: tuple[str, ...]) -> bool:
    """Whether one of `fences` stands behind a write, as far as a pipe knows."""
    return (FENCE in fences and write.count <= lane.seen[write.thread]) or (
        CACHE in fences and write.count <= lane.cleaned[write.thread])
