"""Ops that compute: their meaning is that of the simulator; here they get a place in time.

An op of several phases occupies each pipe in turn, and each phase starts when the one before is complete; what it does
to memory happens in the last one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from pypto_verified.pto.module import EnumAttr
from pypto_verified.simulator.errors import UnmodelledError
from pypto_verified.simulator.schedule.clocks import Timeline, Token
from pypto_verified.simulator.schedule.code import Issue
from pypto_verified.simulator.schedule.core import Core
from pypto_verified.simulator.schedule.queue import Item
from pypto_verified.simulator.tile import Tile

_NOWHERE: dict[str, object] = {}


class Compute(Item):
    """The op itself, on operands as they were when it was issued."""

    __slots__ = ("atomic", "issue", "operands", "scratch")

    def __init__(self, core: Core, issue: Issue, pipe: str) -> None:
        super().__init__(core, issue.op, pipe)
        env = core.env
        self.issue = issue
        self.operands: Sequence[Any] = tuple([o.copy() if isinstance(o, Tile) else o for o in issue.gather(env)])
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
        world.accessed(self, lane, count, self.atomic, _NOWHERE)


class Begin(Item):
    """A phase before the last one: it occupies its pipe, and the next phase follows its completion."""

    __slots__ = ("token",)

    def __init__(self, core: Core, issue: Issue, pipe: str) -> None:
        super().__init__(core, issue.op, pipe)
        self.token: Token | None = None

    def run(self, lane: Timeline) -> None:
        lane.step()
        self.token = lane.token()


class After(Compute):
    """The last phase: it starts when the one before it is complete."""

    __slots__ = ("before",)

    def __init__(self, core: Core, issue: Issue, pipe: str, before: Begin) -> None:
        super().__init__(core, issue, pipe)
        self.before = before

    def ready(self) -> bool:
        return self.before.token is not None

    def run(self, lane: Timeline) -> None:
        assert self.before.token is not None
        lane.learn(self.before.token)
        super().run(lane)


def compute(core: Core, issue: Issue) -> Iterator[Item]:
    """The steps of an op with a meaning. Operands are taken now: a handle's valid extents may change before it runs."""
    if issue.meaning is None or not issue.phases:
        raise UnmodelledError(issue.op.name)
    *early, last = issue.phases
    before: Begin | None = None
    for phase in early:
        before = Begin(core, issue, phase.pipe)
        yield before
    yield Compute(core, issue, last.pipe or "S") if before is None else After(core, issue, last.pipe, before)
