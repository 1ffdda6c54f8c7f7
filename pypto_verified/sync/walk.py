"""A run through a function that follows what each pipe knows, with two or more turns of every loop.

Two turns show what one turn leaves for the next; a pattern that repeats every n turns takes n + 1. Both arms of a
branch are taken, and a loop may also be passed by unless the text says how many turns it takes: at the end of both,
only what all paths know is known.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from dataclasses import field

from pypto_verified.records import dataclass
from pypto_verified.sync.clocks import Clocks, Message
from pypto_verified.sync.depend import Dependence
from pypto_verified.sync.plan import Flag, Plan
from pypto_verified.sync.program import Access, Branch, Item, Loop, Meeting, Sequence
from pypto_verified.targets.model import Pair
from pypto_verified.targets.pipes import ALL


@dataclass(frozen=True, slots=True)
class Missing:
    """An order that is missing at the access that the run stands at: `pair` of pipes, `time` of the earlier access."""

    dependence: Dependence
    pair: Pair
    time: int


@dataclass(frozen=True, slots=True)
class Event:
    """A flag was set, or its wait returned, in this `turn` of the flag's loop. `known`: up to when the setting pipe
    knows that the waiting pipe's waits for its flags are over."""

    flag: Flag
    sets: bool
    time: int
    known: int
    turn: int


@dataclass(slots=True)
class Frame:
    """One run of a block: the state after what stands at each position."""

    after: dict[int, Clocks] = field(default_factory=dict)
    times: dict[int, int] = field(default_factory=dict)


Repair = Callable[["Walk", Access, list[Missing]], bool]
"""Told what is missing before an access. True: it changed the plan and the state, and the run goes on; else it ends."""


class Walk:
    """One run. `repair` None: `complete` tells in the end whether all orders are there. `trace`: all flag events."""

    def __init__(
        self, pipes: tuple[str, ...], needs: dict[int, list[Dependence]], plan: Plan, turns: dict[int, int],
        repair: Repair | None = None,
    ) -> None:
        self.clocks = Clocks(pipes)
        self.now = 0
        self.plan = plan
        self.frames: dict[Sequence, list[Frame]] = {}
        self.complete = True
        self.trace: list[Event] = []
        self._needs = needs
        self._turns = turns
        self._repair = repair
        self._executed: dict[int, list[int]] = {}
        self._starts: dict[int, list[int]] = {}
        self._told: dict[Flag, list[Message | None]] = {}

    def block(self, s: Sequence) -> None:
        """Run a block once."""
        frame = Frame()
        self.frames.setdefault(s, []).append(frame)
        items: dict[int, list[Item]] = {}
        for position, item in s.items:
            items.setdefault(position, []).append(item)
        for position in sorted({*items, *self.plan.points(s)}):
            if not self.complete:
                return
            self.point(s, position)
            for item in items.get(position, ()):
                self.item(item)
            if self._repair is not None:
                frame.after[position], frame.times[position] = self.clocks.copy(), self.now

    def point(self, s: Sequence, position: int) -> None:
        """The flags and barriers before a position."""
        point = self.plan.points(s).get(position)
        if point is None:
            return
        for flag in point.sets:
            self.set(flag)
        for flag in point.waits:
            self.wait(flag)
        for barrier in point.barriers:
            self.clocks.barrier(barrier.pipe, self.now)

    def set(self, flag: Flag) -> None:
        self.note(flag, True, self.clocks.heard(flag.src, flag.dst))
        self.tell(flag, self.clocks.message(flag.src, self.now))

    def note(self, flag: Flag, sets: bool, known: int) -> None:
        turn = len(self._starts[flag.loop.number]) - 1 if flag.loop is not None else 0
        self.trace.append(Event(flag, sets, self.now, known, turn))

    def tell(self, flag: Flag, message: Message | None) -> None:
        """The flag was set and tells this."""
        self._told.setdefault(flag, []).append(message)

    def wait(self, flag: Flag) -> None:
        """Take what the flag tells: the last set, or that of `turns` turns before; in the first turns nothing."""
        told = self._told.get(flag, [])
        message = told[-max(flag.turns, 1)] if len(told) >= max(flag.turns, 1) else None
        self.receive(flag, message)

    def receive(self, flag: Flag, message: Message | None) -> None:
        if message is not None:
            self.clocks.learn(flag.dst, message)
        self.now += 1
        self.clocks.wait(flag.dst, flag.src, self.now)
        self.note(flag, False, 0)

    def item(self, item: Item) -> None:
        if isinstance(item, Access):
            self.access(item)
        elif isinstance(item, Loop):
            self.loop(item)
        elif isinstance(item, Branch):
            self.branch(item)
        elif isinstance(item, Meeting):
            self.clocks.barrier(ALL, self.now)

    def access(self, a: Access) -> None:
        while missing := self.missing(a):
            if self._repair is None or not self._repair(self, a, missing):
                self.complete = False
                return
        self.now += 1
        self._executed.setdefault(a.index, []).append(self.now)
        for pipe in a.pipes:
            self.clocks.access(pipe, self.now)

    def missing(self, a: Access) -> list[Missing]:
        """The orders that are not there yet, the one after the latest access first."""
        found = [
            Missing(d, (p, q), time)
            for d in self._needs.get(a.index, ()) for time in (self.time_of(d),) if time
            for p, q in d.pipes if self.clocks.knows(q, p) < time
        ]
        return sorted(found, key=lambda m: -m.time)

    def time_of(self, d: Dependence) -> int:
        """When the access ran that must be done; 0 if it has not."""
        times = self._executed.get(d.earlier.index, [])
        if d.loop is None:
            return times[-1] if times else 0
        starts = self._starts[d.loop.number]
        if len(starts) <= d.distance:
            return 0
        before = bisect_left(times, starts[-d.distance] + 1)
        return times[before - 1] if before and times[before - 1] > starts[0] else 0

    def loop(self, loop: Loop) -> None:
        """Some turns of a loop, or none. What flags told in an earlier run of the loop counts for nothing."""
        ends = [] if loop.turns else [self.clocks.copy()]
        self._starts[loop.number] = starts = []
        self.frames[loop.body] = []
        for flag in [f for f in self._told if f.turns and f.at is loop.body]:
            del self._told[flag]
        turns = self._turns[loop.number]
        for _ in range(turns if loop.turns is None else min(turns, loop.turns)):
            starts.append(self.now)
            self.block(loop.body)
            ends.append(self.clocks.copy())
        self.clocks = Clocks.meet(ends, self.now)

    def branch(self, branch: Branch) -> None:
        before, ends = self.clocks, []
        for arm in branch.arms:
            self.clocks = before.copy()
            self.block(arm)
            ends.append(self.clocks)
        if len(branch.arms) < 2:
            ends.append(before)
        self.clocks = Clocks.meet(ends, self.now)
