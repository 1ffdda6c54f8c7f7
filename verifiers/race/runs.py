"""A run that breaks an order: the function walked with numbers for its symbols, each access where it is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from types import MappingProxyType

from pypto_verified.index.cond import FALSE, TRUE
from pypto_verified.pto.legality_context import pipe_id
from verifiers.access import Branch, Loop, Node, Sequence, Step
from verifiers.cross_flags import named_flag
from verifiers.led import truths_passed
from verifiers.race.answered import Answered
from verifiers.race.busy import busy
from verifiers.race.choices import deciding
from verifiers.race.cycles import stepped_variable
from verifiers.race.depends import Dependence
from verifiers.race.hearing import told_of
from verifiers.race.history import History
from verifiers.race.items import Item
from verifiers.race.order import PIPES, Order
from verifiers.race.placed import Placed
from verifiers.race.places import Box, Place, apart
from verifiers.race.slots import Slots
from verifiers.race.values import Values
from verifiers.race.walker import Again, Core, Pair, Walker
from verifiers.race.witness import Want, Witness
from verifiers.recurrence import counted
from verifiers.solver.cone import names_of

_WHILE_TURN = 50
"""Steps that a turn of a while loop counts for: it may go on for ever."""


class Enough(Exception):
    """The run is over: all that was wanted is found, or the budget is spent."""


class Run(Walker):
    """One run under `given`. `found`: a witness for each pair of `wanted` that it breaks; `ran`: how often each
    step took place, of those that move data whether they wrote, and touched anything; `spared`: why a pair that it
    leaves open is not shown to fail."""

    def __init__(
        self, core: Core, given: dict[str, int], truth: bool, wanted: set[Want], budget: int,
        truths: Mapping[str, bool] = MappingProxyType({}),
    ) -> None:
        super().__init__(core)
        self.values = Values(self.program, given, truth, truths)
        self.depends = Dependence(self.program, self.values)
        self._rings = Slots(self.program, core.target)
        self.given = given
        self.moving = deciding(self.program)
        self.wanted = wanted
        self.budget = budget
        self.found: dict[Want, Witness] = {}
        self.spared: dict[Want, str] = {}
        self.ran: Counter[tuple[int, bool]] = Counter()
        self._placed = Placed(self.values, self._rings, self.depends)
        self._history = History()
        self._answered = Answered(core.hearing)
        self._busy = busy(core)
        self._order = self.start()
        self._names = {s.expr.uid: name for name, s in self.program.symbols.shown.items()}
        self._tile_freed = 0
        self._early: dict[Want, tuple[int, int, Witness]] = {}
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
            self.depends.branch(node.cond)
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
            self._history.turns[loop] += 1
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
        self.depends.loop(loop.lower, loop.upper, loop.step)
        lower, upper, step = (self.values.of(e) for e in (loop.lower, loop.upper, loop.step))
        return max(0, -((lower - upper) // step)) if step > 0 else 0

    def _goes_on(self, loop: Loop) -> bool:
        self.depends.loop(loop.inside)
        return self.values.holds(loop.inside)

    def _step(self, step: Step) -> None:
        sync = self.syncs.get(step.index)
        if sync is not None:
            self._spend()
            self.ran[step.index, False] += 1
            id = None
            if sync.id is not None:
                self.depends.id(sync.id)
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
            self._rings.pop(step, step.made.root)
            self._written_again(pipe_id(step.op))
        phases: dict[int, list[Item]] = {}
        for told in self.accesses[step.index]:
            access = self._rings.told(told)
            place = self._placed.at(access)
            if place is None:
                continue
            for pipe in access.readings:
                item = self.items.item(access, pipe, place, ())
                phases.setdefault(access.phase, []).append(item)
        if not phases:
            return
        items = [item for _, own in sorted(phases.items()) for item in own]
        self.ran.update({(step.index, i.access.writes): 1 for i in items})
        self.touch([tuple(p) for _, p in sorted(phases.items())], self._order)
        self._history.took_place(step, items, self.counters(step))
        for item in items:
            self._answered.begun(1 << item.bit)

    def _written_perhaps(self, earlier: Item) -> frozenset[str]:
        """What decides whether something has been written over since: where it is, and where those writes are."""
        own = earlier.access
        near = [a for a in self._history.written_since(earlier) if a is not own and a.place.arena == own.place.arena
                and (a.names | own.names) & self.depends.open and apart(a.place, own.place) is not TRUE]
        return self.values.sources(self.depends.open.intersection(n for a in near for n in a.names | own.names))

    def called(self, order: Order) -> None:
        """Nor does a refutation count on its absence."""
        order.drain()

    def release(self, items: tuple[Item, ...], order: Order) -> None:
        """Each slot that is given back with this one."""
        for tile, item in self._rings.given_back(items):
            self._tile_freed = tile
            super().release((item,), order)

    def _written_again(self, pipe: int) -> None:
        """What the next tile of a pipe shows: its slot was given back too early."""
        for want, (other, tile, witness) in list(self._early.items()):
            if other == pipe and tile < self._rings.pops[pipe] and want in self.wanted:
                self._found(want, witness)

    def found_open(self, pair: Pair, earlier: Item, later: Item) -> None:
        want: Want = ("order", pair.key)
        answer = self._answered.by(earlier.bit, later.pipe)
        if answer is not None:
            self.spared[want] = self.core.hearing.unsure(self.program, *answer)
            return
        if pair.fails and later.access.releases and want in self.wanted:
            pipe = pipe_id(later.access.step.op)
            again = self._rings.next_in(pipe, self._tile_freed)
            self._early.setdefault(want, (pipe, again, self._witness(pair, earlier, later)))
        elif pair.fails:
            self._note(("order", pair.key), pair, earlier, later)

    def found_unseen(self, pair: Pair, earlier: Item, later: Item) -> None:
        self._note(("seen", pair.key), pair, earlier, later)

    def found_again(self, again: Again) -> None:
        want: Want = ("again", again.key)
        if want in self.wanted:
            shown = {n: v for n, v in self.given.items() if n in self.moving}
            beside = frozenset(self.depends.beside)
            self._found(want, Witness(
                shown, {}, self.counters(again.set.step), "", frozenset(self.values.asked), beside,
                self.depends.forked(beside)))

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
        beside = self.values.sources(shared & self.depends.open).union(
            self.depends.beside, self._written_perhaps(earlier))
        return Witness(
            shown, self._history.counters(earlier), self.counters(later.access.step), str(place),
            beside.union(self.values.asked), beside, self.depends.forked(beside))

    def _anew(self, earlier: Item, later: Item) -> frozenset[str]:
        """What says where both are and was made anew in between: though it has one name, it is two numbers."""
        turned = self._history.turned_since(earlier, later.access.step)
        since = [own.name for loop in turned if (own := counted(loop)) is not None]
        asked = self.depends.open & (earlier.access.names | later.access.names)
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
