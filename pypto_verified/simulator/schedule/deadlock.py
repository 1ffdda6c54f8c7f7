"""Why no pipe can go on: what each waits for, and where what it waits for would come from."""

from __future__ import annotations

from collections.abc import Iterator

from pypto_verified.pto.module import EnumAttr, Op
from pypto_verified.simulator.schedule.core import SCALAR, Core
from pypto_verified.simulator.schedule.cross import SETS
from pypto_verified.simulator.schedule.ends import TO_CUBE, TO_VECTOR, End, number_of
from pypto_verified.simulator.schedule.outcome import Blocked, Deadlock
from pypto_verified.simulator.schedule.queue import Item, Want
from pypto_verified.simulator.schedule.world import World
from pypto_verified.targets.events import pipe_of

_FLAG_SETS = frozenset({"pto.set_flag", "pto.set_flag_dyn", "pto.record_event"})
_PUSHES = {TO_VECTOR: ("pto.tpush_to_aiv", "pto.tpush"), TO_CUBE: ("pto.tpush_to_aic", "pto.tpush")}
_POPS = {TO_VECTOR: ("pto.tpop_from_aic", "pto.tpop"), TO_CUBE: ("pto.tpop_from_aiv", "pto.tpop")}
_FREES = {TO_VECTOR: ("pto.tfree_from_aic", "pto.tfree"), TO_CUBE: ("pto.tfree_from_aiv", "pto.tfree")}
"""Ops on a pipe by its direction."""


def explain(world: World) -> Deadlock:
    """One entry for each pipe whose first step can't start."""
    found: list[Blocked] = []
    for core in world.cores:
        heads = [(SCALAR, core.pending[0])] if core.pending else []
        heads += [(pipe, queue[0]) for pipe, queue in core.queues.items() if queue]
        for _, item in heads:
            if not item.ready():
                want = item.want()
                found.append(Blocked(core.at(item), want.text, _because(world, core, item, want)))
    return Deadlock(tuple(found))


def _because(world: World, core: Core, item: Item, want: Want) -> str:
    for other in world.cores:
        for pipe, queue in other.queues.items():
            for place, waiting in enumerate(queue):
                if waiting.gives() == want.key is not None and waiting is not item:
                    head = queue[0]
                    behind = "" if place == 0 else f", behind {head.op.name} at {other.source(head.op)}"
                    return f"{other.source(waiting.op)} gives it, but waits in pipe {pipe} of {other.name}{behind}"
    key = want.key
    if isinstance(key, tuple) and key[:1] == ("idle",):
        return "one of them waits"
    if isinstance(key, tuple) and key[:1] == ("meeting",):
        return "the others do not come, or not as often"
    givers = [(c, op) for c in world.cores for op in _givers(world, core, c, key)]
    ahead = [(c, op) for c, op in givers if not c.ended]
    if ahead:
        other, op = ahead[0]
        blocked = other.pending[0].op if other.pending else None
        held = f": its scalar unit is held at {other.source(blocked)}" if blocked is not None else ""
        return f"{op.name} at {other.source(op)} would give it, and {other.name} has not come there{held}"
    if givers:
        places = ", ".join(dict.fromkeys(f"{o.source(op)}" for o, op in givers))
        computed = all("event_id" in op.args or "event_id_dyn" in op.args for _, op in givers)
        what = "gives flags of these pipes by a computed id, but not this one" if computed else "gives it, but not"
        return f"{places} {what} as often as it is waited for"
    return "nobody gives it"


def _givers(world: World, core: Core, other: Core, key: object) -> Iterator[Op]:
    """Ops of `other` that would give the signal."""
    if not isinstance(key, tuple):
        return
    for op in other.code.issued:
        if isinstance(key[0], int) and other is core and op.name in _FLAG_SETS:
            names = ("src_op", "dst_op") if "src_op" in op.attrs else ("src_pipe", "dst_pipe")
            pair = tuple(pipe_of(a.member) for a in (op.attrs.get(n) for n in names) if isinstance(a, EnumAttr))
            event = op.attrs.get("event_id")
            id = int(event.member.removeprefix("EVENT_ID")) if isinstance(event, EnumAttr) else None
            if pair == key[1][:2] and id in (None, key[1][2]):
                yield op
        elif key[0] == "counter" and other is not core and op.name in SETS:
            if op.attrs.get("event_id", key[1]) == key[1]:
                yield op
        elif key[0] in ("data", "credit") and other is not core and other.block == core.block and (
            _signals(other, op, key[0], key[2], key[3])
        ):
            yield op


def _signals(core: Core, op: Op, what: str, name: object, direction: int) -> bool:
    """Whether an op gives the data or the credits of the pipe `name`, as far as the core has made it: a pop gives a
    credit only if it copies its slot, else the free does (see `fifo.py`)."""
    end = _end_of(core, op)
    if end is not None and end.names.get(direction) != name:
        return False
    if what == "data":
        return op.name in _PUSHES[direction]
    giving = (*_POPS[direction], *_FREES[direction]) if end is not None else _POPS[direction]
    return op.name in giving and (end is None or end.frees(op))


def _end_of(core: Core, op: Op) -> End | None:
    """The pipe of an op, by its handle or by its number; None if the core has not made it yet."""
    handle = op.opt("pipe_handle")
    if handle is None:
        return core.ends.get(number_of(op, "id", 0))
    return next((end for end in core.ends.values() if handle in end.init.results), None)
