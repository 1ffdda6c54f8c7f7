"""A run that breaks an order: the function walked with numbers for its symbols, each access where it is."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass

from pypto_verified.index import Cond, Expr, const
from pypto_verified.index.cond import FALSE
from verifiers.access import Branch, Loop, Node, Sequence, Step
from verifiers.race.items import Item
from verifiers.race.order import Order
from verifiers.race.places import Box, OnChip, Place, apart
from verifiers.race.rings import ring_slot
from verifiers.race.values import Values, choices
from verifiers.race.walker import Core, Pair, PairKey, Walker
from verifiers.recurrence import counted

MOST_STEPS = 40_000
"""Steps of all runs that look for a failure of one function."""


@dataclass(frozen=True, slots=True)
class Witness:
    """A run in which nothing orders a pair. `given`: the numbers chosen; `first`, `second`: the loop counters at the
    two accesses, under the names users know; `place` of the bytes; `asked`: values that nobody may choose on which it
    depends."""

    given: dict[str, int]
    first: dict[str, int]
    second: dict[str, int]
    place: str
    asked: frozenset[str]


class _Enough(Exception):
    """The run is over: all that was wanted is found, or the budget is spent."""


class Run(Walker):
    """One run under `given`. `found`: a witness for each pair that nothing orders."""

    def __init__(self, core: Core, given: dict[str, int], wanted: set[PairKey], budget: int) -> None:
        super().__init__(core)
        self.values = Values(self.program, given)
        self.given = given
        self.wanted = wanted
        self.budget = budget
        self.found: dict[PairKey, Witness] = {}
        self._order = Order()
        self._names = {s.expr.uid: name for name, s in self.program.symbols.shown.items()}
        self._when: dict[int, dict[str, int]] = {}
        self._pops: dict[int, int] = {}
        self._slots: dict[Hashable, Hashable] = {}
        try:
            self._run(self.program.body)
        except _Enough:
            pass
        except ZeroDivisionError:
            self.found.clear()

    def meet(self, a: Place, b: Place) -> bool:
        return apart(a, b) is FALSE

    def _run(self, node: Node) -> None:
        if isinstance(node, Step):
            self._step(node)
        elif isinstance(node, Sequence):
            for item in node.items:
                self._run(item)
        elif isinstance(node, Branch):
            self._run(node.then if self.values.holds(node.cond) else node.orelse)
        else:
            self._loop(node)

    def _loop(self, loop: Loop) -> None:
        own = counted(loop)
        if own is None or loop.inside is FALSE:
            return
        base = self.values.of(own.base)
        outer = self.values.get(own.name)
        k = 0
        while True:
            self.values[own.name] = base + k
            if not self.values.holds(self._goes_on(loop)):
                break
            self._run(loop.body)
            k += 1
            self._spend()
        if outer is None:
            del self.values[own.name]
        else:
            self.values[own.name] = outer

    def _goes_on(self, loop: Loop) -> Cond:
        if loop.var is not None and loop.upper is not None:
            return loop.var < loop.upper
        return loop.inside

    def _step(self, step: Step) -> None:
        sync = self.syncs.get(step.index)
        if sync is not None:
            self._spend()
            id = None if sync.id is None else self.values.of(sync.id)
            self.apply(sync, id, self._order)
        if step.index in self.accesses:
            self._spend()
            self._access(step)

    def _access(self, step: Step) -> None:
        if step.made is not None:
            self._slots[step.made.root] = ring_slot(step, self.program, self.core.target, self._pops)
        phases: dict[int, list[Item]] = {}
        for access in self.accesses[step.index]:
            place = self._at(access.place)
            for pipe in access.readings:
                item = self.items.item(access, pipe, place, ())
                phases.setdefault(access.phase, []).append(item)
        self.touch([tuple(p) for _, p in sorted(phases.items())], self._order)
        counters = self._counters(step)
        for items in phases.values():
            for item in items:
                self._when[item.bit] = counters

    def _at(self, place: Place) -> Place:
        if isinstance(place, OnChip):
            return OnChip(self._slots.get(place.arena, place.arena), self._number(place.base), place.rect)
        offsets, sizes, strides = (
            tuple(self._number(e) for e in part) for part in (place.offsets, place.sizes, place.strides))
        return Box(place.arena, self._number(place.offset), offsets, sizes, strides, place.itemsize)

    def _number(self, e: Expr) -> Expr:
        return e if e.value is not None else const(self.values.of(e))

    def found_open(self, pair: Pair, earlier: Item, later: Item) -> None:
        if (earlier.pipe, later.pipe) != (pair.first.pipe, pair.second.pipe) and pair.key in self.found:
            return
        if pair.key in self.wanted and (pair.key not in self.found or pair.fails):
            place = earlier.place if isinstance(earlier.place, Box) else later.place
            self.found[pair.key] = Witness(
                self.given, self._when.get(earlier.bit, {}), self._counters(later.access.step), str(place),
                frozenset(self.values.asked))
            if pair.fails:
                self.wanted.discard(pair.key)
                if not self.wanted:
                    raise _Enough

    def _counters(self, step: Step) -> dict[str, int]:
        """The loop variables around a step."""
        return {
            self._names.get(loop.var.uid, repr(loop.var)): self.values.of(loop.var)
            for loop in step.loops if loop.var is not None}

    def _spend(self) -> None:
        self.budget -= 1
        if self.budget <= 0:
            raise _Enough


def search(core: Core, wanted: Iterable[PairKey], background: Cond) -> dict[PairKey, Witness]:
    """For each pair, a run in which nothing orders it, if one is found among small numbers."""
    left = set(wanted)
    found: dict[PairKey, Witness] = {}
    loops = list(dict.fromkeys(loop for step in core.program.steps for loop in step.loops))
    budget = MOST_STEPS
    for given in choices(core.program, background, loops):
        if not left or budget <= 0:
            break
        run = Run(core, given, set(left), budget)
        budget = min(run.budget, budget - 1)
        for key, witness in run.found.items():
            known = found.get(key)
            if known is None or (known.asked and not witness.asked):
                found[key] = witness
            if not witness.asked:
                left.discard(key)
    return found
