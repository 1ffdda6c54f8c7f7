"""Ops that compute: their meaning is that of the simulator; here they get a place in time.

An op of several phases occupies each pipe in turn, and each phase starts when the one before is complete; what it does
to memory happens in the last one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from pypto_verified.pto.module import EnumAttr
from pypto_verified.pto.spec import Phase
from pypto_verified.simulator.errors import UnmodelledError
from pypto_verified.simulator.schedule.checks import NOTIFY
from pypto_verified.simulator.schedule.clocks import Clock, Timeline, Token
from pypto_verified.simulator.schedule.code import Issue
from pypto_verified.simulator.schedule.core import Core
from pypto_verified.simulator.schedule.queue import Item
from pypto_verified.simulator.tile import Tensor, Tile

_NOWHERE: dict[str, object] = {}


class Compute(Item):
    """The op itself, on operands as they were when it was issued."""

    __slots__ = ("atomic", "issue", "operands", "scratch")

    def __init__(self, core: Core, issue: Issue, pipe: str) -> None:
        super().__init__(core, issue.op, pipe)
        env = core.env
        self.issue = issue
        self.operands: Sequence[Any] = issue.gather(env)
        if core.code.mutates:
            self.operands = [o.copy() if isinstance(o, Tile) else o for o in self.operands]
        self.scratch = [(env[tmp], env[dst]) for tmp, dst in issue.scratch]
        atomic = issue.op.attrs.get("atomicType")
        self.atomic = isinstance(atomic, EnumAttr) and atomic.member != "atomic_none"

    def run(self, lane: Timeline) -> None:
        issue, core, world = self.issue, self.core, self.core.world
        count = lane.step()
        world.log.clear()
        assert issue.meaning is not None
        result = issue.meaning.handler(issue.site, *self.operands)
        if issue.out:
            core.env[issue.out] = result
        for tmp, dst in self.scratch:
            if tmp.shares(dst):
                dst.clobber()
        if core.machine.errors:
            world.outcome.errors += core.machine.errors
            core.machine.errors.clear()
        self.settle(lane, count)

    def settle(self, lane: Timeline, count: int) -> None:
        """Account for what the op has accessed."""
        self.core.world.checks.accessed(self, lane, count, self.atomic, _NOWHERE)
        if self.op.name == NOTIFY:
            self.core.world.checks.notified(self, lane)


class Begin(Item):
    """A phase before the last one: it occupies its pipe, and the next phase follows its completion."""

    __slots__ = ("phase", "stamp", "token")

    def __init__(self, core: Core, issue: Issue, phase: Phase) -> None:
        super().__init__(core, issue.op, phase.pipe)
        self.phase = phase
        self.token: Token | None = None
        self.stamp: tuple[Timeline, int, Clock] | None = None

    def run(self, lane: Timeline) -> None:
        known = list(lane.known)
        self.stamp = (lane, lane.step(), known)
        self.token = lane.token()


class Next(Begin):
    """A phase in the middle: it starts when the one before it is complete."""

    __slots__ = ("previous",)

    def __init__(self, core: Core, issue: Issue, phase: Phase, previous: Begin) -> None:
        super().__init__(core, issue, phase)
        self.previous = previous

    def ready(self) -> bool:
        return self.previous.token is not None

    def run(self, lane: Timeline) -> None:
        if self.previous.token is not None:
            lane.learn(self.previous.token)
        super().run(lane)


class After(Compute):
    """The last phase: it starts when those before it are complete. What an operand that belongs to an earlier phase was
    accessed for counts there."""

    __slots__ = ("early",)

    def __init__(self, core: Core, issue: Issue, pipe: str, early: list[Begin]) -> None:
        super().__init__(core, issue, pipe)
        self.early = early

    def ready(self) -> bool:
        return all(b.token is not None for b in self.early)

    def run(self, lane: Timeline) -> None:
        for begin in self.early:
            if begin.token is not None:
                lane.learn(begin.token)
        super().run(lane)

    def settle(self, lane: Timeline, count: int) -> None:
        log = self.core.world.log
        every = list(log)
        for begin in self.early:
            if begin.stamp is not None:
                own = [a for a in every if (_owner(self, a.owner), a.writes) in _named(begin.phase)]
                every = [a for a in every if a not in own]
                log[:] = own
                begun, number, known = begin.stamp
                self.core.world.checks.accessed(begin, begun, number, self.atomic, _NOWHERE, known)
        log[:] = every
        super().settle(lane, count)


def _owner(item: Compute, name: str) -> str:
    """The operand group that a tile or a tensor of that name was given as."""
    groups = item.issue.meaning.groups if item.issue.meaning is not None else ()
    for group, operand in zip(groups, item.operands, strict=True):
        own = operand.name if isinstance(operand, Tile) else (
            operand.pointer.buffer.name if isinstance(operand, Tensor) else "")
        if own == name:
            return group
    return ""


def _named(phase: Phase) -> set[tuple[str, bool]]:
    return {(g, False) for g in phase.reads} | {(g, True) for g in phase.writes}


def compute(core: Core, issue: Issue) -> Iterator[Item]:
    """The steps of an op with a meaning. Operands are taken now: a handle's valid extents may change before it runs."""
    if issue.meaning is None or not issue.phases:
        raise UnmodelledError(issue.op.name)
    *early, last = issue.phases
    begun: list[Begin] = []
    for phase in early:
        begun.append(Begin(core, issue, phase) if not begun else Next(core, issue, phase, begun[-1]))
        yield begun[-1]
    yield After(core, issue, last.pipe, begun) if begun else Compute(core, issue, last.pipe or "S")
