"""Barriers of cores: each drains its pipes, arrives, and leaves when all that are waited for have come as often.
Source: PTO-ISA SyncAll.hpp.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field

from pypto_verified.pto.module import EnumAttr, Op
from pypto_verified.records import dataclass
from pypto_verified.simulator.errors import UnmodelledError
from pypto_verified.simulator.schedule.clocks import Timeline, Token, together
from pypto_verified.simulator.schedule.code import Issue
from pypto_verified.simulator.schedule.core import SCALAR, Core
from pypto_verified.simulator.schedule.faults import PipeError
from pypto_verified.simulator.schedule.queue import Item, Want
from pypto_verified.simulator.tile import Pointer, Tensor


@dataclass(slots=True)
class Meeting:
    """A barrier of cores: what each has arrived with, one a call."""

    arrived: dict[int, list[Token]] = field(default_factory=dict)


class Arrive(Item):
    """A core has drained its pipes and is at the barrier."""

    __slots__ = ("meeting",)

    def __init__(self, core: Core, op: Op, meeting: Meeting) -> None:
        super().__init__(core, op, SCALAR)
        self.meeting = meeting

    def ready(self) -> bool:
        return self.core.idle()

    def run(self, lane: Timeline) -> None:
        token = self.core.everything()
        self.core.hold(token)
        self.meeting.arrived.setdefault(self.core.index, []).append(token.abroad())

    def want(self) -> Want:
        return Want("all pipes of its core", ("idle", self.core.index))


class Leave(Item):
    """Goes on when `expected` cores have arrived as often as this one. `room`: for how many the chip has cores, 0 where
    that is not known."""

    __slots__ = ("expected", "hard", "meeting", "participants", "room")

    def __init__(
        self, core: Core, op: Op, meeting: Meeting, participants: list[int], expected: int, hard: bool, room: int
    ) -> None:
        super().__init__(core, op, SCALAR)
        self.meeting = meeting
        self.participants = participants
        self.expected = expected
        self.hard = hard
        self.room = room

    def _there(self) -> list[Token]:
        arrived = self.meeting.arrived
        turn = len(arrived.get(self.core.index, ()))
        return [arrived[i][turn - 1] for i in self.participants if len(arrived.get(i, ())) >= turn]

    def ready(self) -> bool:
        # Blocks without a core begin when others have ended, which wait for them here.
        return len(self._there()) >= self.expected and not self._crowded()

    def _crowded(self) -> bool:
        """Whether more run than the chip has cores."""
        return 0 < self.room < len(self.participants)

    def run(self, lane: Timeline) -> None:
        self.core.hold(together(self._there()))

    def want(self) -> Want:
        launched = len(self.participants)
        text = f"{self.expected} cores at the barrier, {len(self._there())} are there"
        if launched < self.expected:
            text += f" and only {launched} run this kernel" + (
                ": a hard barrier counts every core of the chip" if self.hard else "")
        elif self._crowded():
            text += f", but {launched} run this kernel, and the chip has no more cores"
        return Want(text, ("meeting", id(self.meeting)))


_KINDS = {"aiv_only": ("vector",), "aic_only": ("cube",), "mix": ("cube", "vector")}


def _workspace(operands: Mapping[str, object]) -> object:
    """Where a soft barrier counts who has come."""
    given = operands.get("gm_workspace")
    place = given[0] if isinstance(given, list | tuple) and given else None
    at, origin = (place.pointer, place.origin) if isinstance(place, Tensor) else (place, ())
    return (id(at.buffer), at.offset, origin) if isinstance(at, Pointer) else None


def syncall(core: Core, issue: Issue) -> Iterator[Item]:
    """`syncall`: a hard one waits for every core of the chip, a soft one for those of the launch (or `used_cores`)."""
    op, world = issue.op, core.world
    mode, type_ = op.attrs.get("mode"), op.attrs.get("core_type")
    kinds = _KINDS.get(type_.member if isinstance(type_, EnumAttr) else "mix")
    if kinds is None:
        raise UnmodelledError(f"{op.name} of {type_}")
    hard = isinstance(mode, EnumAttr) and mode.member == "hard"
    participants = [c.index for c in world.cores if c.kind in kinds]
    if core.index not in participants:
        raise PipeError(f"a barrier of {' and '.join(kinds)} cores on a {core.kind} core: it takes no part",
                        help="name the kinds of cores that run this code")
    operands = issue.operands(core.env)
    used = operands.get("used_cores")
    expected = len(participants)
    room = sum(world.chip * (world.target.lanes_per_cube if k == "vector" else 1) for k in kinds)
    if hard and room:
        expected = room
    elif not hard and isinstance(used, list | tuple) and used and isinstance(used[0], int) and used[0] > 0:
        expected = used[0]
    meeting = world.signals.setdefault(("meeting", hard, kinds, _workspace(operands)), Meeting())
    assert isinstance(meeting, Meeting)
    yield Arrive(core, op, meeting)
    yield Leave(core, op, meeting, participants, expected, hard, room)
