"""Event ids: few, and never one that may still be set when it is set again.

Two flags of a pair may share an id, and a flag its own id in the next turn, where the pipe that sets it already knows
that the wait for the one before has returned. Then no schedule of the pipes finds the flag occupied.
"""

from __future__ import annotations

from collections.abc import Iterable

from pypto_verified.pto.module import Func
from pypto_verified.pto.walk import walk_ops
from pypto_verified.sync.plan import Flag, Plan
from pypto_verified.sync.walk import Event
from pypto_verified.targets import Target
from pypto_verified.targets.model import Pair


def usable_ids(func: Func, target: Target, pair: Pair) -> list[int]:
    """The ids of a pair of pipes that neither the library ops in the function nor the assembler use."""
    ops = {op.name.removeprefix("pto.") for op in walk_ops(func)}
    taken = {row.event for row in target.reserved_events if row.pair == pair and not ops.isdisjoint(row.ops)}
    if pair in target.auto_sync_reserved:
        taken.add(target.event_ids - 1)
    return [i for i in range(target.event_ids) if i not in taken]


def assign(plan: Plan, trace: list[Event], func: Func, target: Target) -> list[Flag]:
    """Choose the ids of all flags; those that get none are returned. `trace`: the flag events of a complete run."""
    left: list[Flag] = []
    placed: dict[Pair, list[Flag]] = {}
    events = _by_pair(trace)
    for flag in plan.flags():
        own = [e for e in events.get(flag.pair, ()) if e.flag is flag]
        count = _count(flag, own)
        others = placed.setdefault(flag.pair, [])
        first = _first_free(flag, count, others, events.get(flag.pair, []), usable_ids(func, target, flag.pair))
        if first is None:
            left.append(flag)
        else:
            flag.first, flag.ids = first, count
            others.append(flag)
    return left


def _by_pair(trace: Iterable[Event]) -> dict[Pair, list[Event]]:
    found: dict[Pair, list[Event]] = {}
    for e in trace:
        found.setdefault(e.flag.pair, []).append(e)
    return found


def _count(flag: Flag, own: list[Event]) -> int:
    """How many ids a flag takes in turn, 0 if no number makes it safe."""
    if flag.turns:
        return flag.turns if _safe(own, 0) else 0
    counted = flag.loop is not None and flag.loop.counter is not None
    return next((n for n in (1, 2, 3, 4) if (n == 1 or counted) and _safe(own, n)), 0)


def _safe(own: list[Event], ids: int) -> bool:
    """Whether each set comes after the wait for the set that had the same id before. 0 ids: after the wait of its own
    turn. A loop that starts anew may start with any id that the last turn has used."""
    waits: list[int] = []
    sets = since = 0
    for e in own:
        if not e.sets:
            waits.append(e.time)
            continue
        if e.turn == 0 and ids > 1:
            since, sets = len(waits), len(waits)
        before = sets - ids if sets - ids >= since else since - 1
        if before >= 0 and (before >= len(waits) or e.known < waits[before]):
            return False
        sets += 1
    return True


def _first_free(
    flag: Flag, count: int, others: list[Flag], events: list[Event], usable: list[int]
) -> int | None:
    """The lowest run of `count` ids whose other users are done whenever one of them is set."""
    for first in usable if count else ():
        wanted = range(first, first + count)
        rivals = [o for o in others if o.first < wanted.stop and wanted.start < o.first + o.ids]
        if set(wanted) <= set(usable) and all(_apart(flag, o, events) for o in rivals):
            return first
    return None


def _apart(a: Flag, b: Flag, events: list[Event]) -> bool:
    """Whether one is always waited for, as far as the setting pipe knows, before the other is set."""
    if a.turns or b.turns:
        return False
    latest: Event | None = None
    for e in events:
        if e.flag is not a and e.flag is not b:
            continue
        if e.sets and latest is not None and e.flag is not latest.flag and (latest.sets or e.known < latest.time):
            return False
        latest = e
    return True
