"""A run that breaks an order: the function walked with numbers for its symbols, each access where it is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TypeAlias

from pypto_verified.index import Cond, Expr, const, symbols_of
from pypto_verified.index.cond import FALSE, TRUE
from pypto_verified.pto.legality_context import pipe_id
from pypto_verified.targets.fifo import posts
from verifiers.access import AccessProgram, Branch, Loop, Node, Sequence, Step, SymbolKind
from verifiers.access.overlap import needed, touched
from verifiers.cross_flags import named_flag
from verifiers.led import truths_passed
from verifiers.race.accesses import Access
from verifiers.race.answered import Answered
from verifiers.race.busy import busy
from verifiers.race.certain import touched_in_run
from verifiers.race.copied import copies
from verifiers.race.cycles import stepped_variable
from verifiers.race.hearing import told_of
from verifiers.race.items import Item
from verifiers.race.order import PIPES, Order
from verifiers.race.places import Box, OnChip, Place, apart
from verifiers.race.rings import ring_slot, ring_slots
from verifiers.race.values import Values, deciding
from verifiers.race.walker import Again, Core, Pair, PairKey, Walker
from verifiers.recurrence import counted
from verifiers.solver.cone import booleans_of, names_of

PASSED = (SymbolKind.PARAM, SymbolKind.SIZE, SymbolKind.LAUNCH)
"""Kinds of symbols that callers decide."""


@dataclass(frozen=True, slots=True)
class Witness:
    """A run in which nothing orders a pair. `given`: the numbers chosen; `first`, `second`: the loop counters at the
    two accesses, under the names users know; `place` of the bytes; `asked`: values that nobody may choose on which it
    depends, `beside`: those of them that decide more than which way the run takes, `forked`: those that only one
    condition of a branch speaks of; `led`: data alone decide which way it takes, so a run of these data has to show it;
    `lone`: the argument of a caller that it takes one way of a branch by."""

    given: dict[str, int]
    first: dict[str, int]
    second: dict[str, int]
    place: str
    asked: frozenset[str]
    beside: frozenset[str] = frozenset()
    forked: frozenset[str] = frozenset()
    led: bool = False
    lone: str = ""


_WHILE_TURN = 50
"""Steps that a turn of a while loop counts for: it may go on for ever."""

Want: TypeAlias = tuple[str, PairKey | tuple[int, int]]
"""'order' or 'seen' and a pair of accesses; 'again' and a wait and a set of one flag."""


def of_data(program: AccessProgram, names: frozenset[str]) -> frozenset[str]:
    """Those of some values that nobody may choose which no caller passes."""
    kinds, passed = program.symbols.kinds, truths_passed(program)
    return frozenset(n for n in names if n not in passed and kinds.get(n) not in PASSED)


class Enough(Exception):
    """The run is over: all that was wanted is found, or the budget is spent."""


class Run(Walker):
    """One run under `given`. `found`: a witness for each pair of `wanted` that it breaks; `ran`: how often each
    step took place, of those that move data whether they wrote, and touched anything; `beside`: what decides more than
    which way it takes."""

    def __init__(
        self, core: Core, given: dict[str, int], truth: bool, wanted: set[Want], budget: int,
        truths: Mapping[str, bool] = MappingProxyType({}),
    ) -> None:
        super().__init__(core)
        self.values = Values(self.program, given, truth, truths)
        self.given = given
        self.beside: set[str] = set()
        self._forks: dict[frozenset[Cond], frozenset[str]] = {}
        self._looped: set[str] = set()
        self.moving = deciding(self.program)
        self._open = self.values.watched | self.values.derived
        self._passed = frozenset(n for n in self.values.watched if self.program.symbols.kinds[n] in PASSED)
        self.wanted = wanted
        self.budget = budget
        self.found: dict[Want, Witness] = {}
        self.ran: Counter[tuple[int, bool]] = Counter()
        self._busy = busy(core)
        self._order = self.start()
        self._answered = Answered(core.hearing)
        self.spared: dict[Want, str] = {}
        self._names = {s.expr.uid: name for name, s in self.program.symbols.shown.items()}
        self._when: dict[int, dict[str, int]] = {}
        self._turns: Counter[Loop] = Counter()
        self._during: dict[int, dict[Loop, int]] = {}
        self._written: list[Access] = []
        self._after: dict[int, int] = {}
        self._pops: dict[int, int] = {}
        self._freed: dict[int, int] = {}
        self._unposted: dict[int, list[tuple[int, Item]]] = {}
        self._tile_freed = 0
        self._early: dict[Want, tuple[int, int, Witness]] = {}
        self._slots: dict[Hashable, Hashable] = {}
        self._copied: set[Hashable] = set()
        self._told: dict[int, Access] = {}
        try:
            self.walk()
        except Enough:
            pass
        except ZeroDivisionError:
            self.found.clear()

    def walk(self) -> None:
        """All of the function."""
        self._run(self.program.body)

    def meet(self, a: Place, b: Place) -> bool:
        return apart(a, b) is FALSE

    def _run(self, node: Node) -> None:
        if isinstance(node, Step):
            self._step(node)
        elif isinstance(node, Sequence):
            for item in self._busy[id(node)]:
                self._run(item)
        elif isinstance(node, Branch):
            self.values.decide(node.cond)
            self._forks[frozenset((node.cond, ~node.cond))] = self._asked_by(node.cond)
            self._run(node.then if self.values.holds(node.cond) else node.orelse)
        else:
            self._loop(node)

    def _loop(self, loop: Loop) -> None:
        own = counted(loop)
        if own is None:
            self._at_most_once(loop)
            return
        base = self.values.of(own.base)
        count = 0 if loop.inside is FALSE else self._trips(loop)
        stepped = stepped_variable(loop, own.name, own.base)
        self.values.hand_on((c.name, c.start) for c in loop.carried)
        k = 0
        while True:
            self.values.computed(own.name, base + k)
            if stepped is not None:
                name, value = stepped
                self.values[name] = self.values.of(value)
            if k == count or (count is None and not self._goes_on(loop)):
                for item in loop.body.items[:loop.head]:
                    self._run(item)
                break
            self._turns[loop] += 1
            self._run(loop.body)
            self.values.hand_on((c.name, c.following) for c in loop.carried)
            k += 1
            self._spend(1 if count is not None else _WHILE_TURN)
        self.values.hand_on(loop.results)
        self.values.pop(own.name, None)

    def _at_most_once(self, loop: Loop) -> None:
        self.values.hand_on((c.name, c.start) for c in loop.carried)
        if loop.inside is not FALSE and self._goes_on(loop):
            self._run(loop.body)
            self.values.hand_on((c.name, c.following) for c in loop.carried)
        self.values.hand_on(loop.results)

    def _trips(self, loop: Loop) -> int | None:
        """How often a counted loop runs; None for a while loop. Its own counter is not asked: its range is known."""
        if loop.lower is None or loop.upper is None or loop.step is None:
            return None
        self.values.decide(loop.lower, loop.upper, loop.step)
        self._looped |= self._asked_by(loop.lower) | self._asked_by(loop.upper) | self._asked_by(loop.step)
        lower, upper, step = (self.values.of(e) for e in (loop.lower, loop.upper, loop.step))
        return max(0, -((lower - upper) // step)) if step > 0 else 0

    def _goes_on(self, loop: Loop) -> bool:
        self.values.decide(loop.inside)
        self._looped |= self._asked_by(loop.inside)
        return self.values.holds(loop.inside)

    def _step(self, step: Step) -> None:
        sync = self.syncs.get(step.index)
        if sync is not None:
            self._spend()
            self.ran[step.index, False] += 1
            id = None
            if sync.id is not None:
                self.values.decide(sync.id)
                self.beside |= self.values.behind(sync.id)
                id = self.values.of(sync.id)
            self.apply(sync, id, self._order)
        if step.index in self.accesses:
            self._spend()
            self._access(step)
        elif step.op not in self.core.foreign:
            self._between_cores(step)

    def _between_cores(self, step: Step) -> None:
        flag = named_flag(step, self.core.target)
        if flag is not None:
            pipe = flag.pipe
            open_ = self._order.waits_for(pipe) & ~self.items.on_pipe[pipe] if pipe in PIPES else -1
            id = None if flag.id is None else self.values.of(flag.id)
            self._answered.flag(flag, told_of(step, id, self.core.target), self._order.live & ~open_)

    def _access(self, step: Step) -> None:
        if step.made is not None:
            self._slots[step.made.root] = ring_slot(step, self.program, self.core.target, self._pops)
            if copies(step, self.program, self.core.target):
                self._copied.add(step.made.root)
            self._written_again(pipe_id(step.op))
        phases: dict[int, list[Item]] = {}
        for told in self.accesses[step.index]:
            access = self._in_slot(told)
            place = self._at(access)
            if place is None:
                continue
            for pipe in access.readings:
                item = self.items.item(access, pipe, place, ())
                phases.setdefault(access.phase, []).append(item)
        if not phases:
            return
        self.ran.update({(step.index, i.access.writes): 1 for items in phases.values() for i in items})
        self.touch([tuple(p) for _, p in sorted(phases.items())], self._order)
        self._written += [i.access for items in phases.values() for i in items if i.access.fills_place]
        counters, turns = self.counters(step), {loop: self._turns[loop] for loop in step.loops}
        for items in phases.values():
            for item in items:
                self._when[item.bit] = counters
                self._during[item.bit] = turns
                self._after[item.bit] = len(self._written)
                self._answered.begun(1 << item.bit)

    def _written_perhaps(self, earlier: Item) -> frozenset[str]:
        """What decides whether something has been written over since: where it is, and where those writes are."""
        own = earlier.access
        since = dict.fromkeys(self._written[self._after.get(earlier.bit, 0):])
        near = [a for a in since if a is not own and a.place.arena == own.place.arena
                and (a.names | own.names) & self._open and apart(a.place, own.place) is not TRUE]
        return self.values.sources(self._open.intersection(n for a in near for n in a.names | own.names))

    def _in_slot(self, access: Access) -> Access:
        """What lies in any slot of a ring for all that the text tells lies in a certain one here."""
        if not access.somewhere or access.tile is None or access.tile.root not in self._slots:
            return access
        if access.number not in self._told:
            self._told[access.number] = replace(access, somewhere=False)
        return self._told[access.number]

    def _at(self, access: Access) -> Place | None:
        """Where an access is in this run; None if it touches nothing."""
        place = access.place
        if isinstance(place, OnChip):
            arena, base, rect = place.arena, place.base, place.rect
            if access.tile is not None and access.tile.root in self._slots and access.tile.root in self._copied:
                part = (touched if access.writes else needed)(access.step, access.tile)
                arena, base, rect = part.root, part.rect.base, part.rect
            if access.tile is not None:
                base, rect = touched_in_run(
                    access.step, access.tile, access.writes, rect, base, self.values.of, self._extent)
            if not rect.span:
                return None
            return OnChip(self._slots.get(arena, arena), self._number(base), rect)
        offsets, sizes, strides = (
            tuple(self._number(e) for e in part) for part in (place.offsets, place.sizes, place.strides))
        return Box(
            place.arena, self._number(place.offset), offsets, sizes, strides, place.itemsize,
            TRUE if place.nested is TRUE or self.values.holds(place.nested) else FALSE)

    def _extent(self, valid: Expr) -> int:
        """A valid extent. A single row or column is there in every tile that is not empty, unless it is computed from
        what is not known: that may be none. That there are more of them is what callers decide."""
        found = self.values.of(valid)
        if valid.value is None:
            names = symbols_of(valid)
            if found > 1:
                self.beside |= self._passed.intersection(names)
            if found > 0 and len(valid.terms) + (valid.constant != 0) + (valid.terms[0][0][0].kind != "sym") > 1:
                self.beside |= self.values.sources(self._open.intersection(names)) - self._passed
            self.values.asked |= self.beside
        return found

    def _asked_by(self, term: Expr | Cond) -> frozenset[str]:
        return self.values.behind(term).union(booleans_of(term) if isinstance(term, Cond) else ())

    def _forked(self, beside: frozenset[str]) -> frozenset[str]:
        """What one condition of a branch alone has asked for so far, and for nothing else."""
        alone = (names for (c, *_), names in self._forks.items() if len(names) == 1 and names == names_of(c))
        asked = Counter(n for names in self._forks.values() for n in names)
        return frozenset(n for names in alone for n in names if asked[n] == 1) - self._looped - beside

    def _number(self, e: Expr) -> Expr:
        return e if e.value is not None else const(self.values.of(e))

    def called(self, order: Order) -> None:
        """Nor does a refutation count on its absence."""
        order.drain()

    def release(self, items: tuple[Item, ...], order: Order) -> None:
        """Credits stand for several tiles: what was freed since the last one is given back with the next."""
        pipe = pipe_id(items[0].access.step.op)
        number = self._freed.get(pipe, 0)
        self._freed[pipe] = number + 1
        unposted = self._unposted.setdefault(pipe, [])
        if len(items) == 1:
            unposted.append((number, items[0]))
        if posts(ring_slots(self.program, self.core.target, pipe), self._pops.get(pipe, 0) - 1) is True:
            tiles = [(number - n, item) for n, item in enumerate(items)][::-1] if len(items) > 1 else unposted
            for tile, item in tiles:
                self._tile_freed = tile
                super().release((item,), order)
            unposted.clear()

    def _written_again(self, pipe: int) -> None:
        """What the next tile of a pipe shows: its slot was given back too early."""
        for want, (other, tile, witness) in list(self._early.items()):
            if other == pipe and tile < self._pops[pipe] and want in self.wanted:
                self._found(want, witness)

    def found_open(self, pair: Pair, earlier: Item, later: Item) -> None:
        want: Want = ("order", pair.key)
        answer = self._answered.by(earlier.bit, later.pipe)
        if answer is not None:
            self.spared[want] = self.core.hearing.unsure(self.program, *answer)
            return
        if pair.fails and later.access.releases and want in self.wanted:
            pipe = pipe_id(later.access.step.op)
            again = self._tile_freed + ring_slots(self.program, self.core.target, pipe)
            self._early.setdefault(want, (pipe, again, self._witness(pair, earlier, later)))
        elif pair.fails:
            self._note(("order", pair.key), pair, earlier, later)

    def found_unseen(self, pair: Pair, earlier: Item, later: Item) -> None:
        self._note(("seen", pair.key), pair, earlier, later)

    def found_again(self, again: Again) -> None:
        want: Want = ("again", again.key)
        if want in self.wanted:
            shown = {n: v for n, v in self.given.items() if n in self.moving}
            beside = frozenset(self.beside)
            self._found(want, Witness(
                shown, {}, self.counters(again.set.step), "", frozenset(self.values.asked), beside,
                self._forked(beside)))

    def _note(self, want: Want, pair: Pair, earlier: Item, later: Item) -> None:
        if want in self.wanted:
            self._found(want, self._witness(pair, earlier, later))

    def _found(self, want: Want, witness: Witness) -> None:
        self.found[want] = witness
        self.wanted.discard(want)
        if not self.wanted:
            raise Enough

    def _witness(self, pair: Pair, earlier: Item, later: Item) -> Witness:
        place = earlier.place if isinstance(earlier.place, Box) else later.place
        shared = names_of(apart(pair.first.place, pair.second.place)) | self._anew(earlier, later)
        shown = {n: v for n, v in self.given.items() if n in self.moving or n in shared}
        passed = truths_passed(self.program)
        truths = self.values.truths
        shown |= {name.partition("?")[0]: int(truths[name]) for name in self.values.asked & passed.keys()}
        beside = self.values.sources(shared & self._open).union(self.beside, self._written_perhaps(earlier))
        return Witness(
            shown, self._when.get(earlier.bit, {}), self.counters(later.access.step), str(place),
            beside.union(self.values.asked), beside, self._forked(beside))

    def _anew(self, earlier: Item, later: Item) -> frozenset[str]:
        """What says where both are and was made anew in between: though it has one name, it is two numbers."""
        then = self._during.get(earlier.bit, {})
        since = [
            own.name for loop in later.access.step.loops
            if then.get(loop, self._turns[loop]) != self._turns[loop] and (own := counted(loop)) is not None]
        asked = self._open & (earlier.access.names | later.access.names)
        return frozenset(n for n in asked if not all(self.program.symbols.is_older(n, loop) for loop in since))

    def counters(self, step: Step) -> dict[str, int]:
        """The loop variables around a step."""
        return {
            self._names.get(loop.var.uid, repr(loop.var)): self.values.of(loop.var)
            for loop in step.loops if loop.var is not None}

    def _spend(self, steps: int = 1) -> None:
        self.budget -= steps
        if self.budget <= 0:
            raise Enough
