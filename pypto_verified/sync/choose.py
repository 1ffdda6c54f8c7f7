"""Choosing flags and barriers: one where an order is missing, then none that the others make up for."""

from __future__ import annotations

from itertools import pairwise

from pypto_verified.errors import NotModelled
from pypto_verified.sync.clocks import Message
from pypto_verified.sync.depend import FARTHEST, Dependence
from pypto_verified.sync.plan import Barrier, Flag, Plan, Sync
from pypto_verified.sync.program import Access, Program, Sequence, parting, position_in, where
from pypto_verified.sync.walk import Missing, Walk
from pypto_verified.targets import Target
from pypto_verified.targets.pipes import ALL, SCALAR, barrier_holds

MOST_TURNS = 4
"""Flags that one dependence between turns may take: half of a pair's ids."""


MOST_TRIES = 4
"""Flags that are tried for one dependence before a barrier of all pipes is taken."""


class Chooser:
    """Makes the plan of one function, whose core has `pipes`."""

    def __init__(
        self, program: Program, needs: dict[int, list[Dependence]], target: Target, pipes: tuple[str, ...]
    ) -> None:
        self.program = program
        self.needs = needs
        self.target = target
        self.pipes = pipes
        self.plan = Plan()
        self.turns = _turns(program, needs)
        self.tried: dict[Dependence, int] = {}

    def choose(self) -> Plan:
        """A plan with which no order is missing, and without a part that the rest makes up for."""
        self.complete()
        if any(s is not self.program.body for s in self.program.sequences()):
            self.reduce()
        return self.plan

    def complete(self) -> None:
        """Add what is missing. A flag that goes back in time helps the next run only, so run until nothing is added."""
        while True:
            before = len(self.plan.chosen)
            self.walk(repair=True)
            if len(self.plan.chosen) == before:
                return

    def reduce(self) -> None:
        """Drop what the others make up for, the dearest first, and answers to what has gone: one to a flag that is
        there orders nothing, but frees its id."""
        self._spare([s for s in self.plan.chosen if isinstance(s, Barrier) or s.answers is None])
        self._spare([f for f in self.plan.flags() if f.answers is not None and f.answers not in self.plan.chosen])

    def _spare(self, parts: list[Sync]) -> None:
        for sync in sorted(parts, key=_price):
            self.plan.drop(sync)
            if not self.holds():
                self.plan.add(sync)

    def holds(self) -> bool:
        """Whether no order is missing."""
        return self.walk().complete

    def walk(self, repair: bool = False) -> Walk:
        """A run through the function."""
        run = Walk(self.pipes, self.needs, self.plan, self.turns, self.repair if repair else None)
        run.block(self.program.body)
        return run

    def repair(self, run: Walk, a: Access, missing: list[Missing]) -> bool:
        """Order the latest of what is missing: its pipe often knows of the others. False if that changes what was known
        before the block of the access began, so that the run must start again."""
        first = missing[0]
        d, (src, dst) = first.dependence, first.pair
        at, early, late = self.places(d)
        readings = {m.pair for m in missing if m.dependence is d}
        self.tried[d] = self.tried.get(d, 0) + 1
        if self.tried[d] > MOST_TRIES + 1:
            raise NotModelled("an order that neither flags nor barriers give", where(a.op))
        if len(readings) > 1 or self.tried[d] > MOST_TRIES:
            self.barrier(run, ALL, at, late)
        elif src == dst:
            self.barrier(run, src if barrier_holds(self.target, src) else ALL, at, late)
        elif d.loop is None or early < late:
            self.forward(run, Flag(src, dst, at, early + 1, late), a)
        elif d.distance == 1 and self.first_of_turn(dst, at, late):
            self.at_end_of_turn(run, src, dst, d, at)
        else:
            self.between_turns(run, src, dst, at, early, late, d.distance)
        return self.plan.chosen[-1].at is a.chain[-1][0]

    def places(self, d: Dependence) -> tuple[Sequence, int, int]:
        """The block in which to order a dependence, and the positions of what holds its ends."""
        if d.loop is not None:
            at = d.loop.body
            return at, position_in(d.earlier, at), position_in(d.later, at)
        found = parting(d.earlier, d.later)
        assert found is not None, "accesses in different arms do not wait for each other"
        return found

    def first_of_turn(self, pipe: str, at: Sequence, late: int) -> bool:
        """Whether `pipe` does nothing in a turn before a position: then it may as well wait at the end of the turn
        before, and the flag need not be set once in advance. The scalar pipe issues everything."""
        return not any(position < late for position in self.given(pipe, at))

    def busy(self, pipe: str, at: Sequence, after: int) -> bool:
        """Whether `pipe` has something to do in a block after a position."""
        return any(position > after for position in self.given(pipe, at))

    def given(self, pipe: str, at: Sequence) -> list[int]:
        """The positions in a block where `pipe` is given something, at any depth."""
        return [
            position_in(a, at) for a in self.program.accesses
            if (pipe in a.pipes or pipe == SCALAR) and any(s is at for s, _ in a.chain)]

    def barrier(self, run: Walk, pipe: str, at: Sequence, late: int) -> None:
        self.plan.add(Barrier(pipe, at, late))
        run.clocks.barrier(pipe, run.now)

    def forward(self, run: Walk, flag: Flag, later: Access) -> None:
        """A flag whose wait comes after its set in the same turn. What one arm of a branch alone waits for is set there
        too: a flag that is set on every path must be waited for on every path, where nothing else may need it."""
        told = _message(run, flag, flag.set_at - 1, -1)
        for inner, position in self.inside(later, flag.at):
            if inner.loop is not None or self.elsewhere(flag.dst, flag.at, flag.wait_at, inner):
                break
            flag = Flag(flag.src, flag.dst, inner, 0, position)
        self.plan.add(flag)
        run.receive(flag, told)

    def inside(self, a: Access, at: Sequence) -> tuple[tuple[Sequence, int], ...]:
        """The blocks around an access that stand within a block, with the access's positions in them."""
        return a.chain[1 + [s for s, _ in a.chain].index(at):]

    def elsewhere(self, pipe: str, at: Sequence, position: int, arm: Sequence) -> bool:
        """Whether a pipe is given something on another arm of the branch at a position of a block."""
        return any(
            pipe in a.pipes for a in self.program.accesses
            for (s, p), (inner, _) in pairwise(a.chain) if s is at and p == position and inner is not arm)

    def at_end_of_turn(self, run: Walk, src: str, dst: str, d: Dependence, at: Sequence) -> None:
        """A flag that is waited for at the end of the turn that sets it. What is done on one arm of a branch only is
        reported on that arm, where `dst` has nothing to do after it: a set on every path could be one too many."""
        block, early = at, position_in(d.earlier, at)
        for inner, position in self.inside(d.earlier, at):
            if inner.loop is not None or self.busy(dst, block, early) or self.elsewhere(src, block, early, inner):
                break
            block, early = inner, position
        flag = Flag(src, dst, block, early + 1, block.end)
        self.plan.add(flag)
        again = any(s is block for s, _ in d.later.chain)
        run.receive(flag, _message(run, flag, early, -2 if again else -1))

    def between_turns(
        self, run: Walk, src: str, dst: str, at: Sequence, early: int, late: int, distance: int
    ) -> None:
        """A flag of an earlier turn. Without a count of turns there is one id, which the turn before has set."""
        counted = at.loop is not None and at.loop.counter is not None
        turns = min(distance, MOST_TURNS) if counted and distance <= FARTHEST else 1
        flag = Flag(src, dst, at, early + 1, late, turns=turns, ids=turns)
        self.plan.add(flag)
        frames = run.frames[at]
        for k in range(-len(frames), -1):
            run.tell(flag, _message(run, flag, early, k))
        run.wait(flag)


def _message(run: Walk, flag: Flag, early: int, frame: int) -> Message | None:
    """What the flag would have told, had it been set after the op at position `early` in a run of its block: the
    current one (-1) or one before (-2, ...)."""
    frames = run.frames[flag.at]
    if len(frames) < -frame or early not in frames[frame].after:
        return None
    there = frames[frame]
    return there.after[early].message(flag.src, there.times[early])


def _price(sync: Sync) -> int:
    """The more a part costs the lower: a flag set in advance, a barrier of all pipes, a flag, a barrier."""
    if isinstance(sync, Barrier):
        return 1 if sync.pipe == ALL else 3
    return 0 if sync.turns else 2


def _turns(program: Program, needs: dict[int, list[Dependence]]) -> dict[int, int]:
    """How many turns of each loop a run takes: one more than the farthest order between them needs. All of an inner
    loop that has few: so it is seen how many ids are enough for it."""
    found = {s.loop.number: 2 for s in program.sequences() if s.loop is not None}
    for loop in (s.loop for s in program.sequences() if s.loop is not None and len(s.loop.inner) == 1):
        if loop.turns is not None and 2 < loop.turns <= MOST_TURNS:
            found[loop.number] = loop.turns
    for d in (d for ds in needs.values() for d in ds):
        if d.loop is not None:
            found[d.loop.number] = max(found[d.loop.number], min(d.distance, MOST_TURNS) + 1)
    return found
