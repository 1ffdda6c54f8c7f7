"""Flags, barriers and events between the pipes of one core.

A flag is one bit a (source pipe, destination pipe, id). Whether a set finds it free and a wait finds it set is asked in
program order, where the text is right or wrong whatever the schedule; a set of an occupied flag is lost. In time, a
wait holds its pipe until its own set has been given. Source: PTO-ISA event.hpp, TSync.hpp.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import field, replace
from typing import TypeAlias

from pypto_verified.pto.module import EnumAttr, Op
from pypto_verified.records import dataclass
from pypto_verified.simulator.errors import UnmodelledError
from pypto_verified.simulator.schedule.clocks import Timeline, Token, together
from pypto_verified.simulator.schedule.code import Issue
from pypto_verified.simulator.schedule.core import SCALAR, Core
from pypto_verified.simulator.schedule.faults import EventError, LeftSetError
from pypto_verified.simulator.schedule.queue import Item, Want
from pypto_verified.targets.events import pipe_of
from pypto_verified.targets.pipes import ALL, barrier_holds, is_pipe

Key: TypeAlias = tuple[str, str, int]
"""(source pipe, destination pipe, id)."""


@dataclass(slots=True)
class Flag:
    """`set_by`: the op that set it and that no wait has followed, and `waited`: the last wait, both in program order;
    `tokens`: given and not taken yet."""

    set_by: Op | None = None
    waited: Wait | None = None
    tokens: deque[Token] = field(default_factory=deque)


def flag_of(core: Core, key: Key) -> Flag:
    """The core's flag of that key."""
    found = core.flags.get(key)
    if found is None:
        found = core.flags[key] = Flag()
    return found


def _named(key: Key) -> str:
    return f"flag {key[0]} -> {key[1]} id {key[2]}"


class Set(Item):
    """Given when all earlier ops of its pipe are complete. `lost`: the flag is occupied."""

    __slots__ = ("after", "flag", "key", "lost")

    def __init__(self, core: Core, op: Op, key: Key, flag: Flag, lost: bool) -> None:
        super().__init__(core, op, key[0])
        self.key = key
        self.flag = flag
        self.lost = lost
        self.after = flag.waited

    def run(self, lane: Timeline) -> None:
        if self.core.world.strict:
            self._require_waited(lane)
        if not self.lost:
            self.flag.tokens.append(lane.token())

    def _require_waited(self, lane: Timeline) -> None:
        """The strict reading: nothing but an order keeps a set from overtaking the wait before it. A pipe does not
        overtake its own."""
        before = self.after
        if before is None or self.lost or self.key[0] == self.key[1]:
            return
        if before.ran is None or lane.known[before.ran[0]] < before.ran[1]:
            self.core.world.report(EventError(
                f"{_named(self.key)} is set while nothing orders it after the wait at {self.core.source(before.op)}",
                help="let the destination pipe tell the source pipe, or take another id"), self)

    def gives(self) -> object:
        return (self.core.index, self.key)


class Wait(Item):
    """Holds its pipe until the flag is given, and takes it."""

    __slots__ = ("flag", "key", "ran")

    def __init__(self, core: Core, op: Op, key: Key, flag: Flag) -> None:
        super().__init__(core, op, key[1])
        self.key = key
        self.flag = flag
        self.ran: tuple[int, int] | None = None

    def ready(self) -> bool:
        return bool(self.flag.tokens) or not self.core.world.ordering

    def run(self, lane: Timeline) -> None:
        if not self.core.world.ordering:
            return
        token = self.flag.tokens.popleft()
        self.ran = (lane.index, lane.step())
        if self.key[0] == self.key[1] and self.core.world.strict:
            return  # the strict reading: a pipe that waits for itself learns nothing
        if self.pipe == SCALAR:
            self.core.hold(token, self.core.world.strict)
        else:
            lane.learn(token)

    def want(self) -> Want:
        return Want(_named(self.key), (self.core.index, self.key))


class Barrier(Item):
    """The pipe's later ops start when its earlier ones are complete."""

    __slots__ = ()

    def run(self, lane: Timeline) -> None:
        lane.drain()


class BarrierAll(Item):
    """The scalar unit holds until all pipes of its core are done."""

    __slots__ = ()

    def __init__(self, core: Core, op: Op) -> None:
        super().__init__(core, op, SCALAR)

    def ready(self) -> bool:
        return self.core.idle() or not self.core.world.ordering

    def run(self, lane: Timeline) -> None:
        if self.core.world.ordering:
            self.core.hold(self.core.everything())

    def want(self) -> Want:
        return Want("all pipes of its core", ("idle", self.core.index))


class Fence(Item):
    """Drains the pipes that touch global memory, then publishes all writes of the core that are complete.
    Source: PTOAS, lowering of fence.barrier_all."""

    __slots__ = ()

    def __init__(self, core: Core, op: Op) -> None:
        super().__init__(core, op, SCALAR)

    def ready(self) -> bool:
        return not any(self.core.queues[p] for p in ("MTE2", "MTE3", "FIX")) or not self.core.world.ordering

    def run(self, lane: Timeline) -> None:
        core = self.core
        if not core.world.ordering:
            return
        token = together([core.lanes[p].token() for p in ("MTE2", "MTE3", "FIX", SCALAR)])
        published = list(token.published)
        for own in core.lanes.values():
            published[own.index] = token.done[own.index]
        core.hold(replace(token, seen=token.done, published=published))

    def want(self) -> Want:
        return Want("MTE2, MTE3 and FIX of its core", ("idle", self.core.index))


def number(op: Op, args: dict[str, object], group: str) -> int:
    """An id: an attribute (EVENT_IDn or a number) or an operand. UnmodelledError when it is neither."""
    attr = op.attrs.get(group)
    if isinstance(attr, EnumAttr):
        return int(attr.member.removeprefix("EVENT_ID"))
    for value in (attr, args.get(group), args.get(f"{group}_dyn")):
        found = value[0] if isinstance(value, tuple | list) and value else value
        if isinstance(found, int):
            return found
    raise UnmodelledError(f"{op.name} without an id")


def member(op: Op, name: str) -> str:
    """The pipe that an enum attribute names. UnmodelledError for one on which no op runs."""
    found = op.attrs.get(name)
    if not isinstance(found, EnumAttr | str):
        raise UnmodelledError(f"{op.name} without {name}")
    pipe = pipe_of(found.member if isinstance(found, EnumAttr) else found)
    if not is_pipe(pipe):
        raise UnmodelledError(f"{op.name} of pipe {pipe}")
    return pipe


def _key(core: Core, issue: Issue) -> Key:
    """The flag that an op names. EventError for an id that there is not."""
    known = issue.site.plan
    if isinstance(known, tuple):
        return known
    op = issue.op
    names = ("src_op", "dst_op") if "src_op" in op.attrs else ("src_pipe", "dst_pipe")
    key = (member(op, names[0]), member(op, names[1]), number(op, issue.operands(core.env), "event_id"))
    for pipe in key[:2]:
        if pipe not in core.lanes:
            raise UnmodelledError(f"{op.name} with pipe {pipe}")
    if not 0 <= key[2] < core.world.target.event_ids:
        raise EventError(f"id {key[2]} of {core.world.target.event_ids}", help="ids count from 0 for each pipe pair")
    if "event_id" not in op.args:
        issue.site.plan = key
    return key


def _occupied(core: Core, key: Key) -> tuple[Key, Op] | None:
    """The flag that keeps `key` from being set: itself, or in the strict reading one of the same source pipe and id."""
    for other, flag in core.flags.items():
        same = other == key or (core.world.strict and (other[0], other[2]) == (key[0], key[2]))
        if same and flag.set_by is not None:
            return other, flag.set_by
    return None


def set_flag(core: Core, issue: Issue) -> Iterator[Item]:
    """`set_flag`, `record_event`. EventError noted when the flag is occupied."""
    key = _key(core, issue)
    flag = flag_of(core, key)
    lost = flag.set_by is not None
    item = Set(core, issue.op, key, flag, lost)
    held = _occupied(core, key)
    if held is not None:
        core.world.report(EventError(
            f"{_named(key)} is set while {_named(held[0])} is still set by {core.source(held[1])}, "
            "which nothing has waited for",
            help="wait for the flag before it is set again, or take another id"), item)
    flag.set_by = issue.op
    yield item


def wait_flag(core: Core, issue: Issue) -> Iterator[Item]:
    """`wait_flag`, `wait_event`. EventError noted when nothing has set the flag."""
    key = _key(core, issue)
    flag = flag_of(core, key)
    item = Wait(core, issue.op, key, flag)
    if flag.set_by is None:
        last = flag.waited
        why = f"{core.source(last.op)} has waited for it already" if last is not None else "nothing has set it"
        core.world.report(EventError(
            f"waits for {_named(key)}, which is free: {why}", help="set it before, on every path"), item)
    flag.set_by, flag.waited = None, item
    yield item


def barrier(core: Core, issue: Issue) -> Iterator[Item]:
    """`barrier` of one pipe or of all."""
    pipe = issue.site.plan
    if pipe is None:
        pipe = member(issue.op, "pipe" if "pipe" in issue.op.attrs else "op_type")
        issue.site.plan = pipe = pipe if barrier_holds(core.world.target, pipe) else ""
    if pipe == ALL:
        yield BarrierAll(core, issue.op)
    elif pipe in core.lanes:
        yield Barrier(core, issue.op, pipe)


def fence(core: Core, issue: Issue) -> Iterator[Item]:
    """`fence.barrier_all`: only one that covers global memory does something here."""
    scope = issue.op.attrs.get("scope")
    if isinstance(scope, EnumAttr) and scope.member == "local_memory":
        return
    yield Fence(core, issue.op)


def nothing(core: Core, issue: Issue) -> Iterator[Item]:
    """Ops without an effect on order."""
    return iter(())


def left_set(core: Core) -> None:
    """Note the flags that are set when the function ends."""
    for key, flag in core.flags.items():
        if flag.set_by is not None:
            error = LeftSetError(f"{_named(key)} is still set when the kernel ends", help="wait for it once more")
            error.at(flag.set_by)
            core.world.outcome.errors.append(error)
