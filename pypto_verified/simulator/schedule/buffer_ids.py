"""Buffer ids of a5: a pipe that acquires one waits for every release of it that stands before, in program order.
Source: PTOAS micro-isa/01-pipeline-sync.md, mode 0.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field

from pypto_verified.pto.module import Op
from pypto_verified.records import dataclass
from pypto_verified.simulator.errors import UnmodelledError
from pypto_verified.simulator.schedule.clocks import Timeline, Token
from pypto_verified.simulator.schedule.code import Issue
from pypto_verified.simulator.schedule.core import Core
from pypto_verified.simulator.schedule.flags import member, number
from pypto_verified.simulator.schedule.queue import Item, Want


@dataclass(slots=True)
class BufferId:
    """An a5 buffer id of a core: the last release of each pipe in program order, which stands for those before it."""

    last: dict[str, Release] = field(default_factory=dict)


class Release(Item):
    """Tells that the pipe is done with the buffer."""

    __slots__ = ("key", "token")

    def __init__(self, core: Core, op: Op, pipe: str, key: object) -> None:
        super().__init__(core, op, pipe)
        self.key = key
        self.token: Token | None = None

    def run(self, lane: Timeline) -> None:
        self.token = lane.token()

    def gives(self) -> object:
        return self.key


class Acquire(Item):
    """Holds its pipe until every release that stands before it in the program has been given."""

    __slots__ = ("key", "needed")

    def __init__(self, core: Core, op: Op, pipe: str, buffer: BufferId, key: object) -> None:
        super().__init__(core, op, pipe)
        self.key = key
        self.needed = list(buffer.last.values())

    def ready(self) -> bool:
        return all(r.token is not None for r in self.needed) or not self.core.world.ordering

    def run(self, lane: Timeline) -> None:
        for release in self.needed:
            if release.token is not None:
                lane.learn(release.token)

    def want(self) -> Want:
        return Want(f"the releases of {self.key}", self.key)


def buffer_id(core: Core, issue: Issue) -> Iterator[Item]:
    """`get_buf`, `rls_buf` in mode 0. Source: PTOAS micro-isa/01-pipeline-sync.md."""
    op = issue.op
    if op.attrs.get("mode", 0) not in (0, None):
        raise UnmodelledError(f"{op.name} in mode {op.attrs['mode']}")
    key = ("buffer id", core.index, number(op, issue.operands(core.env), "buf_id"))
    found = core.world.signals.setdefault(key, BufferId())
    assert isinstance(found, BufferId)
    pipe = member(op, "op_type")
    if op.name.startswith("pto.rls_buf"):
        found.last[pipe] = release = Release(core, op, pipe, key)
        yield release
    else:
        yield Acquire(core, op, pipe, found, key)
