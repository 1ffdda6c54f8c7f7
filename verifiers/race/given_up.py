"""What is left open where a walk over all paths has been given up: each two ops that may meet, in any order."""

from __future__ import annotations

from pypto_verified.index import Expr, symbol, symbols_of
from verifiers.access import Loop, SymbolKind
from verifiers.race.accesses import Access
from verifiers.race.items import Item
from verifiers.race.knowledge import MADE
from verifiers.race.order import Order
from verifiers.race.paths import nodes
from verifiers.race.sync import Kind, Sync
from verifiers.race.walker import Again, Walker

_OF_ITERATIONS = MADE | {SymbolKind.TRIP}
"""Kinds of symbols that are another number in another iteration."""


def leave_all_open(walker: Walker) -> None:
    """Nothing that the walk has found, nor what it had yet to find, is known to be ordered."""
    _look_at_all(walker)
    for pair in walker.pairs.values():
        pair.open.add((pair.first.pipe, pair.second.pipe))
        pair.unseen = bool(pair.fences)
    for again in walker.again.values():
        again.open = True


def _look_at_all(walker: Walker) -> None:
    """Find each two ops that may meet in any order, as a walk that is given up has not seen them all."""
    order = walker.start()
    waits: list[Sync] = []
    again = {s for n in nodes(walker.program.body) if isinstance(n, Loop) for s in nodes(n.body)}
    for earlier in (True, False):
        for step in walker.program.steps:
            if not earlier and step not in again:
                continue
            if step.index in walker.syncs:
                _look_at(walker, walker.syncs[step.index], order, waits)
            if step.index in walker.accesses:
                before = order.live
                walker.touch(_anywhere(walker, walker.accesses[step.index], earlier), order)
                order.live |= before  # another path may leave out the write


def _look_at(walker: Walker, sync: Sync, order: Order, waits: list[Sync]) -> None:
    if sync.kind is Kind.NOTIFY:
        order.unfenced = 0  # those that are early are what the walk has seen
        walker.notify(sync.step, order)
    elif sync.kind is Kind.WAIT and walker.core.strict:
        waits.append(sync)
    elif sync.kind is Kind.SET:
        for wait in waits:
            if wait.pair == sync.pair and _may_be_one(wait.id, sync.id):
                walker.again.setdefault((wait.step.index, sync.step.index), Again(wait.step, sync))


def _anywhere(walker: Walker, accesses: tuple[Access, ...], earlier: bool) -> list[tuple[Item, ...]]:
    """The items of a step in any iteration, or in an earlier one than that."""
    phases: dict[int, list[Item]] = {}
    for access in accesses:
        made = {
            n: symbol(f"{n}~", a.lo, a.hi) for n, a in symbols_of(*access.place.exprs()).items()
            if walker.program.symbols.kinds.get(n) in _OF_ITERATIONS}
        place = access.place.at(made) if earlier and made else access.place
        for pipe in access.readings:
            phases.setdefault(access.phase, []).append(walker.items.item(access, pipe, place, ()))
    return [tuple(own) for _, own in sorted(phases.items())]


def _may_be_one(a: Expr | None, b: Expr | None) -> bool:
    """Whether two ids may name the same flag in some iterations."""
    return a is None or b is None or a.value is None or b.value is None or a.value == b.value
