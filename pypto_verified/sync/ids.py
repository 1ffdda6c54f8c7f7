"""Event ids: few, and never one that may still be set when it is set again.

Two flags of a pair may share an id, and a flag its own id in the next turn, where the pipe that sets it already knows
that the wait for the one before has returned. Then no schedule of the pipes finds the flag occupied.
"""

from __future__ import annotations

from collections.abc import Iterable
from heapq import merge
from itertools import combinations

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


def assign(plan: Plan, trace: list[Event], func: Func, target: Target, strict: bool) -> list[Flag]:
    """Choose the ids of all flags; those that get none are returned. `trace`: the flag events of a complete run.

    Flags of one source pipe share no id, whatever their destination, where its ids suffice for that: so they hold under
    both readings of assumption EVENT-KEY. Where they do not, `strict` leaves some flags without an id; else flags of
    another pair may have the same (`one_key` tells)."""
    left: list[Flag] = []
    events = _by_flag(trace)
    by_source: dict[str, list[Flag]] = {}
    for flag in plan.flags():
        by_source.setdefault(flag.src, []).append(flag)
    for flags in by_source.values():
        without = _assign(flags, events, func, target, True)
        left += _assign(flags, events, func, target, False) if without and not strict else without
    return left


def one_key(plan: Plan, trace: list[Event]) -> dict[str, list[str]]:
    """The source pipes of which flags to several pipes share an id while two of them may be set, with those pipes."""
    events = _by_flag(trace)
    found: dict[str, set[str]] = {}
    for a, b in combinations(plan.flags(), 2):
        common = max(a.first, b.first) < min(a.first + a.ids, b.first + b.ids)
        if a.src == b.src and a.dst != b.dst and common and not _apart(a, b, events):
            found.setdefault(a.src, set()).update((a.dst, b.dst))
    return {src: sorted(others) for src, others in found.items()}


def _assign(
    flags: Iterable[Flag], events: _Events, func: Func, target: Target, across: bool
) -> list[Flag]:
    """Give ids to the flags of a source pipe; `across`: whose id is one flag, whatever the destination."""
    left: list[Flag] = []
    users: dict[tuple[str, ...], dict[int, list[Flag]]] = {}
    usable: dict[Pair, list[int]] = {}
    for flag in flags:
        if flag.pair not in usable:
            usable[flag.pair] = usable_ids(func, target, flag.pair)
        count = _count(flag, [e for _, e in events.get(flag, ())])
        taken = users.setdefault((flag.src,) if across else flag.pair, {})
        first = _first_free(flag, count, taken, events, usable[flag.pair])
        if first is None:
            left.append(flag)
        else:
            flag.first, flag.ids = first, count
            for id in range(first, first + count):
                taken.setdefault(id, []).append(flag)
    return left


_Events = dict[Flag, list[tuple[int, Event]]]
"""The events of each flag, with their places in the run."""


def _by_flag(trace: list[Event]) -> _Events:
    found: _Events = {}
    for place, e in enumerate(trace):
        found.setdefault(e.flag, []).append((place, e))
    return found


def _count(flag: Flag, own: list[Event]) -> int:
    """How many ids a flag takes in turn, 0 if no number makes it safe. A run of n turns shows nothing of n ids, but
    where the loop has no more."""
    if flag.turns:
        return flag.turns if _safe(own, 0) else 0
    counted = flag.loop is not None and flag.loop.counter is not None
    seen = max((e.turn for e in own), default=0) if counted else 0
    if flag.loop is not None and flag.loop.turns == seen + 1:
        seen += 1
    return next((n for n in range(1, max(seen, 1) + 1) if n <= MOST_IDS and _safe(own, n)), 0)


MOST_IDS = 4
"""Ids that one flag may take in turn."""


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
    flag: Flag, count: int, taken: dict[int, list[Flag]], events: _Events, usable: list[int]
) -> int | None:
    """The lowest run of `count` ids whose other users are done whenever one of them is set."""
    for first in usable if count else ():
        wanted = range(first, first + count)
        rivals = (o for id in wanted for o in reversed(taken.get(id, ())))
        if set(wanted) <= set(usable) and all(_apart(flag, o, events) for o in rivals):
            return first
    return None


def _apart(a: Flag, b: Flag, events: _Events) -> bool:
    """Whether one is always waited for, as far as the setting pipe knows, before the other is set."""
    if a.turns or b.turns:
        return False
    latest: Event | None = None
    for _, e in merge(events.get(a, ()), events.get(b, ()), key=lambda entry: entry[0]):
        if e.sets and latest is not None and e.flag is not latest.flag:
            unknown = a.pair == b.pair and e.known < latest.time
            if latest.sets or unknown:
                return False
        latest = e
    return True
