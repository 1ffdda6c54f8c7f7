"""Counted flags between cores: FFTS on both targets, intra-block on a5.

An FFTS set is passed on when every core of its group has given one: mode 0 all cores of the kind, 1 the vector cores of
a cluster, 2 a cube and its vector cores (a cube's set reaches both, a cube's wait needs both). An intra-block flag goes
from one core to one: ids from 16 on are the second lane's, on the cube's side. Source: PTO-ISA TSync.hpp.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import field

from pypto_verified.pto.module import Op
from pypto_verified.records import dataclass
from pypto_verified.simulator.errors import UnmodelledError
from pypto_verified.simulator.schedule.clocks import Timeline, Token, together
from pypto_verified.simulator.schedule.code import Issue
from pypto_verified.simulator.schedule.core import SCALAR, Core
from pypto_verified.simulator.schedule.faults import CounterError, LeftError, PipeError
from pypto_verified.simulator.schedule.flags import member, number
from pypto_verified.simulator.schedule.queue import Item, Want
from pypto_verified.simulator.schedule.world import World
from pypto_verified.targets.pipes import CROSS_FLAGS, LANE_IDS, Scope, cross_flag, flag_count

SETS = frozenset(row.set for row in CROSS_FLAGS)
WAITS = frozenset(row.wait for row in CROSS_FLAGS)


@dataclass(frozen=True, slots=True)
class Signal:
    """A set that has run: what it tells, and the op that gave it."""

    token: Token
    giver: Set


@dataclass(slots=True)
class Counter:
    """A core's counter of one id: signals given and not taken."""

    signals: deque[Signal] = field(default_factory=deque)


@dataclass(slots=True)
class Group:
    """Sets of one id that are passed on together, by the core that gave them."""

    given: dict[int, deque[Signal]] = field(default_factory=dict)


def counter(world: World, core: int, id: int) -> Counter:
    """The counter of `id` at a core."""
    found = world.signals.setdefault(("counter", core, id), Counter())
    assert isinstance(found, Counter)
    return found


def cluster(core: Core, kind: str) -> list[Core]:
    """The cores of a kind in the cluster of `core`."""
    return [c for c in core.world.cores if c.block == core.block and c.kind == kind]


class Set(Item):
    """Counts up at `receivers` once every core of `members` has done so; never, without members."""

    __slots__ = ("group", "id", "members", "receivers")

    def __init__(self, core: Core, op: Op, pipe: str, id: int, group: object, members: list[int],
                 receivers: list[tuple[int, int]]) -> None:
        super().__init__(core, op, pipe)
        self.id = id
        self.group = group
        self.members = members
        self.receivers = receivers

    def run(self, lane: Timeline) -> None:
        world = self.core.world
        group = world.signals.setdefault(self.group, Group())
        assert isinstance(group, Group)
        group.given.setdefault(self.core.index, deque()).append(Signal(lane.token().abroad(), self))
        while self.members and all(group.given.get(m) for m in self.members):
            tokens = [group.given[m].popleft().token for m in self.members]
            for index, id in self.receivers:
                self._count_up(world, index, id, together(tokens))

    def _count_up(self, world: World, index: int, id: int, token: Token) -> None:
        signals = counter(world, index, id).signals
        signals.append(Signal(token, self))
        if len(signals) > world.target.flag_count_max:
            world.report(CounterError(
                f"the counter of id {id} at {world.cores[index].name} exceeds {world.target.flag_count_max}",
                help="let the other core wait more often"), self)

    def gives(self) -> object:
        return ("counter", self.id)


class Wait(Item):
    """Counts down, and holds its pipe, or the whole core, until it can."""

    __slots__ = ("id", "open", "stalls")

    def __init__(self, core: Core, op: Op, pipe: str, id: int, stalls: bool, given: bool) -> None:
        super().__init__(core, op, SCALAR if stalls else pipe)
        self.id = id
        self.stalls = stalls
        self.open = not core.world.ordering or given

    def ready(self) -> bool:
        return self.open or bool(counter(self.core.world, self.core.index, self.id).signals)

    def run(self, lane: Timeline) -> None:
        signals = counter(self.core.world, self.core.index, self.id).signals
        if not signals:
            return
        token = signals.popleft().token
        if self.pipe == SCALAR:
            self.core.hold(token, self.core.world.strict and not self.stalls)
        else:
            lane.learn(token)

    def want(self) -> Want:
        return Want(f"cross-core flag {self.id}", ("counter", self.id))


def _scope(op: Op, world: World) -> Scope | None:
    row = cross_flag(op.name, world.target.name)
    return row.scope_of(op.attrs.get("ffts_mode")) if row is not None else None


def absent(core: Core, id: int, scope: Scope | None) -> bool:
    """Whether nobody in the launch sets the flag, and a kind of core that could is missing: what it signals is taken as
    given."""
    cores = core.world.cores
    return scope not in (Scope.KIND, Scope.LANES) and len({c.kind for c in cores}) < 2 and not any(
        op.name in SETS and op.attrs.get("event_id", id) == id for c in cores for op in c.code.issued)


def _ids(core: Core, issue: Issue) -> int:
    return number(issue.op, issue.operands(core.env), "event_id")


def set_cross(core: Core, issue: Issue) -> Iterator[Item]:
    """An op of SETS."""
    op, world = issue.op, core.world
    id, pipe = _ids(core, issue), member(op, "pipe")
    if pipe not in core.lanes:
        raise UnmodelledError(f"{op.name} on {pipe}")
    scope = _scope(op, world)
    limit = flag_count(scope, core.kind, world.target)
    if not 0 <= id < limit:
        raise PipeError(f"cross-core flag {id} of {limit}")
    if scope is Scope.LANE:
        yield _intra_set(core, op, pipe, id)
        return
    if scope is Scope.BLOCK:
        members = [core] if core.kind == "cube" else cluster(core, "vector")
        receivers = cluster(core, "vector" if core.kind == "cube" else "cube")
        where: object = core.block
    elif scope is Scope.LANES:
        members = receivers = cluster(core, "vector")
        where = core.block
    elif scope is Scope.KIND:
        # A hard `syncall` is made of these: they count the cores of the chip too, and are not passed on without them.
        members = receivers = [c for c in world.cores if c.kind == core.kind]
        if len(members) < world.chip * (world.target.lanes_per_cube if core.kind == "vector" else 1):
            members = []
        where = "all"
    else:
        raise UnmodelledError(f"{op.name} with ffts_mode = {op.attrs.get('ffts_mode')}")
    key = ("ffts", scope, core.kind, where, id)
    yield Set(core, op, pipe, id, key, [c.index for c in members], [(c.index, id) for c in receivers])


def _intra_set(core: Core, op: Op, pipe: str, id: int) -> Item:
    """An a5 flag from one core to one."""
    if core.kind == "cube":
        lane, at = divmod(id, LANE_IDS)
        receivers = [(c.index, at) for c in cluster(core, "vector") if c.lane == lane]
    else:
        receivers = [(c.index, id + LANE_IDS * core.lane) for c in cluster(core, "cube")]
    return Set(core, op, pipe, id, ("intra", core.index, id), [core.index], receivers)


def wait_cross(core: Core, issue: Issue) -> Iterator[Item]:
    """An op of WAITS."""
    op, id = issue.op, _ids(core, issue)
    row = cross_flag(op.name, core.world.target.name)
    stalls = row.stalls_core if row is not None else True
    yield Wait(core, op, member(op, "pipe"), id, stalls, absent(core, id, _scope(op, core.world)))


def left_set(world: World) -> None:
    """Note the sets that no core has waited for when all have ended, and those that were never passed on."""
    for key, found in world.signals.items():
        if isinstance(found, Counter) and isinstance(key, tuple):
            at = world.cores[key[1]].name
            _left(world, found.signals, f"is still set at {at} when the cores end", "wait for it once more")
        elif isinstance(found, Group):
            for core, signals in found.given.items():
                _left(world, signals, f"of {world.cores[core].name} is not passed on: the other cores of its group set "
                      "it less often", "set it on every core of the group")


def _left(world: World, signals: Iterable[Signal], how: str, help: str) -> None:
    for giver in dict.fromkeys(s.giver for s in signals if s.giver.members):
        world.report(LeftError(f"cross-core flag {giver.id} {how}", help=help), giver)
