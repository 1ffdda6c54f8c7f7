"""The order of pipes along all paths of a function at once: a fixpoint over its loops.

Each loop is walked as `cycles` says. A path is a set of conditions that held at its branches, kept where a later
condition speaks of the same names. What is found ordered is ordered in every run; what is not may be.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import field
from functools import cached_property

from pypto_verified.index import Cond, Expr, IntLike, substitute, substitute_cond, symbol, symbols_of
from pypto_verified.index.cond import FALSE, TRUE
from pypto_verified.records import dataclass
from pypto_verified.report.model import Verdict
from verifiers.access import Branch, Loop, Node, Sequence, Step, SymbolKind, Window
from verifiers.race.accesses import Access
from verifiers.race.cycles import Cycle, cycle_of, second_turn, stepped_variable
from verifiers.race.items import Item
from verifiers.race.literals import Literals, decided, strongest, with_conjuncts
from verifiers.race.order import Order
from verifiers.race.paths import Paths, join, merge, nodes, put, spoken, subject
from verifiers.race.places import Place, apart, taken_for_granted
from verifiers.race.starts import starts
from verifiers.race.sync import Kind, Sync
from verifiers.race.walker import Again, Core, Walker
from verifiers.solver import Ladder
from verifiers.solver.cone import conjuncts, names_of, split_by_relevance
from verifiers.solver.points import plain_model

MOST_STEPS = 300_000
"""Steps walked for one function, all paths and rounds together."""
_QUESTIONS = 200
"""Pairs of symbolic places that the solver is asked about."""
_MADE = frozenset({SymbolKind.DATA, SymbolKind.OPAQUE, SymbolKind.DEFINED})
"""Kinds of symbols that ops make, where and whenever they run."""
_OF_ITERATIONS = _MADE | {SymbolKind.TRIP}
"""Kinds that are another number in another iteration."""

@dataclass(frozen=True, slots=True, eq=False)
class Setting:
    """Where a walk is: what stands for the counters of the loops around, and a key that tells such places apart."""

    values: Mapping[str, IntLike]
    key: tuple[Hashable, ...]
    cycles: tuple[Cycle, ...]


OUTSIDE = Setting({}, (), ())


@dataclass(slots=True, eq=False)
class _Visit:
    """What is known of a loop in one setting: paths at its heads, and those that leave it; of each residue, as
    `_residue` says."""

    entry: Paths = field(default_factory=dict)
    heads: list[Paths] = field(default_factory=list)
    exits: Paths = field(default_factory=dict)
    settings: list[tuple[Setting, Setting, Cond]] = field(default_factory=list)


class _GivenUp(Exception):
    """The walk is given up."""


class Flow(Walker):
    """The result: `pairs`, and `blind`, what kept some order from being seen ('' if nothing did). A walk that takes too
    long is given up and leaves all open."""

    def __init__(self, core: Core, ladder: Ladder, assumed: Cond = TRUE) -> None:
        super().__init__(core)
        self.ladder = ladder
        self._facts = self.program.symbols.facts & assumed
        self._questions = 0
        self.items.anew = self._anew
        self._loops: dict[Loop, Cycle | None] = {}
        self._branches: dict[Loop, Branch] = {}
        self._turns: dict[Loop, tuple[Sequence, Sequence]] = {}
        self._visits: dict[Hashable, _Visit] = {}
        self._placed: dict[tuple[int, Hashable], list[tuple[Item, ...]]] = {}
        self._conds: dict[tuple[int, Hashable], Cond] = {}
        self._ids: dict[tuple[int, Hashable], int | None] = {}
        self._empty: dict[int, bool] = {}
        self._once: dict[Loop, bool] = {}
        self._ways: dict[tuple[Branch, Cond], bool] = {}
        self._spoken = spoken(self.program)
        self._left = MOST_STEPS
        self._case = TRUE
        self.given_up = False
        try:
            for n, (values, case) in enumerate(starts(self.program, self.syncs.values())):
                self._case = case
                self.items.ask_anew()
                at = Setting(values, (("case", n),), ()) if values else OUTSIDE
                given = substitute_cond(assumed, values)
                self._run(self.program.body, {frozenset(conjuncts(given)): self.start()}, at)
        except _GivenUp:
            self.given_up = True
            self.blind = self.blind or "it has too many paths"
            self._look_at_all()
            for pair in self.pairs.values():
                pair.open.add((pair.first.pipe, pair.second.pipe))
                pair.unseen = bool(pair.fences)
            for again in self.again.values():
                again.open = True

    def _look_at_all(self) -> None:
        """Find each two ops that may meet in any order, as a walk that is given up has not seen them all."""
        self._questions = _QUESTIONS
        order = self.start()
        waits: list[Sync] = []
        again = {s for n in nodes(self.program.body) if isinstance(n, Loop) for s in nodes(n.body)}
        for earlier in (True, False):
            for step in self.program.steps:
                if not earlier and step not in again:
                    continue
                if step.index in self.syncs:
                    self._look_at(self.syncs[step.index], order, waits)
                if step.index in self.accesses:
                    before = order.live
                    self.touch(self._anywhere(self.accesses[step.index], earlier), order)
                    order.live |= before  # another path may leave out the write

    def _look_at(self, sync: Sync, order: Order, waits: list[Sync]) -> None:
        if sync.kind is Kind.NOTIFY:
            order.unfenced = 0  # those that are early are what the walk has seen
            self._notify(sync.step, order)
        elif sync.kind is Kind.WAIT and self.core.strict:
            waits.append(sync)
        elif sync.kind is Kind.SET:
            for wait in waits:
                if wait.pair == sync.pair and _may_be_one(wait.id, sync.id):
                    self.again.setdefault((wait.step.index, sync.step.index), Again(wait.step, sync))

    def _anywhere(self, accesses: tuple[Access, ...], earlier: bool) -> list[tuple[Item, ...]]:
        """The items of a step in any iteration, or in an earlier one than that."""
        phases: dict[int, list[Item]] = {}
        for access in accesses:
            made = {
                n: symbol(f"{n}~", a.lo, a.hi) for n, a in symbols_of(*access.place.exprs()).items()
                if self.program.symbols.kinds.get(n) in _OF_ITERATIONS}
            place = access.place.at(made) if earlier and made else access.place
            for pipe in access.readings:
                phases.setdefault(access.phase, []).append(self.items.item(access, pipe, place, ()))
        return [tuple(own) for _, own in sorted(phases.items())]

    # Nodes

    def _run(self, node: Node, paths: Paths, at: Setting) -> Paths:
        if isinstance(node, Step):
            self._step(node, paths, at)
            return paths
        if isinstance(node, Sequence):
            for item in node.items:
                if not isinstance(item, Step) or item.index in self.accesses or item.index in self.syncs:
                    paths = self._run(item, paths, at)
            return paths
        if isinstance(node, Branch):
            return self._branch(node, paths, at)
        return self._loop(node, paths, at)

    def _step(self, step: Step, paths: Paths, at: Setting) -> None:
        self._left -= len(paths)
        if self._left < 0:
            raise _GivenUp
        sync = self.syncs.get(step.index)
        if sync is not None:
            number = self._id(sync, at)
            for order in paths.values():
                self.apply(sync, number, order)
        accesses = self.accesses.get(step.index)
        if accesses is not None and not self._stores_nothing(step):
            phases = self._items_at(step, accesses, at)
            for order in paths.values():
                self.touch(phases, order)

    def _stores_nothing(self, step: Step) -> bool:
        """Whether a store is reached only where its window has no rows or no columns."""
        if step.op.name != "pto.tstore":
            return False
        found = self._empty.get(step.index)
        if found is None:
            path = names_of(step.path)
            sizes = [n for o in step.operands.get("dst", ()) if isinstance(o, Window) for n in o.sizes]
            found = any(
                not path.isdisjoint(symbols_of(n)) and self._consistent
                and not self._possible(step.path & self._facts & (n >= 1)) for n in sizes)
            self._empty[step.index] = found
        return found

    def _id(self, sync: Sync, at: Setting) -> int | None:
        if sync.id is None or sync.id.value is not None:
            return sync.id.value if sync.id is not None else None
        key = (sync.step.index, at.key)
        if key not in self._ids:
            self._ids[key] = substitute(sync.id, at.values).value
        return self._ids[key]

    def _items_at(self, step: Step, accesses: tuple[Access, ...], at: Setting) -> list[tuple[Item, ...]]:
        """The items of a step, phase by phase."""
        key = (step.index, at.key)
        found = self._placed.get(key)
        if found is None:
            phases: dict[int, list[Item]] = {}
            for access in accesses:
                place = access.place.at(at.values) if access.names & at.values.keys() else access.place
                names = {n for e in place.exprs() for n in symbols_of(e)}
                ages = tuple(
                    (c, 0) for c in at.cycles
                    if not names.isdisjoint(symbols_of(c.round)) or any(self._anew(n, c) for n in names))
                for pipe in access.readings:
                    phases.setdefault(access.phase, []).append(self.items.item(access, pipe, place, ages))
            found = self._placed[key] = [tuple(own) for _, own in sorted(phases.items())]
        return found

    def meet(self, a: Place, b: Place) -> bool:
        goal = apart(a, b)
        if goal is TRUE or goal is FALSE:
            return goal is FALSE
        relevant, _, _ = split_by_relevance(self._facts & self._case & taken_for_granted(a, b), names_of(goal))
        if plain_model(relevant & ~goal) is not None:
            return True
        self._questions += 1
        if self._questions > _QUESTIONS:
            return True
        return not self.ladder.entails(relevant, goal)

    # Branches

    def _branch(self, branch: Branch, paths: Paths, at: Setting) -> Paths:
        key = (branch.op.line, id(branch), at.key)
        cond = self._conds.get(key[1:])
        if cond is None:
            cond = self._conds[key[1:]] = substitute_cond(branch.cond, at.values)
        then: Paths = {}
        orelse: Paths = {}
        for known, order in paths.items():
            here = decided(cond, known)
            if here is not FALSE and self._reached(branch, branch.cond):
                put(then, self._with(known, here), order.copy() if here is not TRUE else order)
            if here is not TRUE and self._reached(branch, ~branch.cond):
                put(orelse, self._with(known, ~here), order)
        done = self._run(branch.then, then, at) if then else {}
        other = self._run(branch.orelse, orelse, at) if orelse else {}
        merge(done, other)
        return done

    def _reached(self, branch: Branch, cond: Cond) -> bool:
        """Whether some run may take this way of a branch. One that none takes is no path, and what stands there makes
        no difference."""
        found = self._ways.get((branch, cond))
        if found is None:
            asked = len(self._ways) < _QUESTIONS and self._consistent
            found = not asked or self._possible(branch.path & cond & self._facts)
            self._ways[branch, cond] = found
        return found

    @cached_property
    def _consistent(self) -> bool:
        """Whether what is assumed can hold at all."""
        return self._possible(self._facts)

    def _possible(self, c: Cond) -> bool:
        return self.ladder.satisfiable(c).verdict is not Verdict.VACUOUS

    def _with(self, known: Literals, c: Cond) -> Literals:
        """A condition is kept if another one of the function may be about the same."""
        if c is TRUE or self._spoken[subject(c)] < 2:
            return known
        return with_conjuncts(known, c)

    # Loops

    def _loop(self, loop: Loop, paths: Paths, at: Setting) -> Paths:
        head, body = self._turn(loop)
        if loop.inside is FALSE and not head.items:
            return paths
        if (loop.counter is not None and loop.counter.value == 0) or self._ends_at_once(loop):
            return self._branch(self._at_most_once(loop), paths, at)
        cycle = self._cycle(loop)
        if cycle is None:
            self.blind = self.blind or f"the loop at line {self.program.location(loop.op).line} is not counted"
            raise _GivenUp
        visit = self._visits.setdefault((id(loop), at.key), _Visit())
        if not join(visit.entry, paths):
            return {k: o.copy() for k, o in visit.exits.items()}
        starts = {k: o.copy() for k, o in visit.entry.items()}
        starts = self._run(head, starts, _setting(cycle, 0, at, 0, "head"))
        first = {c.name: c.start for c in loop.carried if isinstance(c.start, Expr)}
        enters = substitute_cond(cycle.goes_on(cycle.base - cycle.base), first)
        current, left = self._part(substitute_cond(enters, at.values), starts)
        join(visit.exits, self._over(left, cycle) if head.items else left)
        for j in range(cycle.first):
            if not current:
                break
            current = self._over(self._run(body, current, _setting(cycle, j, at, j)), cycle)
            current = self._run(head, current, _setting(cycle, j + 1, at, j + 1, "head"))
            next_ = cycle.steady(0) - cycle.period * cycle.round - cycle.first + (j + 1)
            current, left = self._part(substitute_cond(cycle.goes_on(next_), at.values), current)
            join(visit.exits, self._over(left, cycle))
        if current and (cycle.length is None or cycle.length > cycle.first):
            self._steady(cycle, visit, current, at)
        return {k: o.copy() for k, o in visit.exits.items()}

    def _ends_at_once(self, loop: Loop) -> bool:
        """Whether a while loop can't go on after its first turn, by what it hands on there."""
        found = self._once.get(loop)
        if found is None:
            again = None if loop.head or loop.var is not None else second_turn(loop, self.program.symbols, self._facts)
            found = again is not None and self._consistent and not self._possible(again)
            self._once[loop] = found
        return found

    def _over(self, paths: Paths, cycle: Cycle) -> Paths:
        """The paths after an iteration whose number is known: what it has made is made anew in the next."""
        placed = cycle in self.items.of_cycle
        made: Paths = {}
        for known, order in paths.items():
            put(made, frozenset(self._lasting(known, cycle)),
                order.mapped(lambda bits: self.items.end(bits, cycle)) if placed else order)
        return made

    def _anew(self, name: str, cycle: Cycle) -> bool:
        """Whether each iteration of a loop makes a symbol anew."""
        symbols = self.program.symbols
        return symbols.kinds.get(name) in _MADE and not symbols.is_older(name, cycle.name)

    def _turn(self, loop: Loop) -> tuple[Sequence, Sequence]:
        """What a loop does before each test of its condition, where that counts, and what it does after it."""
        if loop not in self._turns:
            items = loop.body.items
            works = any(
                isinstance(s, Step) and (s.index in self.accesses or s.index in self.syncs)
                for item in items[:loop.head] for s in nodes(item))
            count = loop.head if works else 0
            self._turns[loop] = Sequence(items[:count]), Sequence(items[count:]) if count else loop.body
        return self._turns[loop]

    def _at_most_once(self, loop: Loop) -> Branch:
        if loop not in self._branches:
            self._branches[loop] = Branch(loop.op, loop.inside, loop.body, Sequence([]), loop.path)
        return self._branches[loop]

    def _steady(self, cycle: Cycle, visit: _Visit, entry: Paths, at: Setting) -> None:
        """Rounds until nothing new comes to any head."""
        period = cycle.period
        head, body = self._turn(cycle.loop)
        if not visit.heads:
            visit.heads = [{} for _ in range(period)]
            visit.settings = [_residue(cycle, r, at) for r in range(period)]
        pending = [False] * period
        pending[0] = join(visit.heads[0], entry)
        r = 0
        while any(pending):
            if pending[r]:
                pending[r] = False
                current = {k: o.copy() for k, o in visit.heads[r].items()}
                here, test, goes_on = visit.settings[r]
                current = self._forget(self._run(body, current, here), cycle)
                following = (r + 1) % period
                if following or head.items:
                    current = {k: o.mapped(lambda bits: self.items.renew(bits, cycle)) for k, o in current.items()}
                current = self._run(head, current, test)
                on, left = self._part(goes_on, current)
                if cycle.may_end(r):
                    join(visit.exits, self._ended(left if cycle.length is None else current, cycle))
                if following == 0:
                    on = self._next_round(on, cycle)
                pending[following] |= join(visit.heads[following], on)
            r = (r + 1) % period

    def _part(self, cond: Cond, paths: Paths) -> tuple[Paths, Paths]:
        """(paths on which a loop goes on, paths on which it ends)."""
        on: Paths = {}
        left: Paths = {}
        for known, order in paths.items():
            here = decided(cond, known)
            if here is not FALSE:
                put(on, self._with(known, here), order.copy())
            if here is not TRUE:
                put(left, self._with(known, ~here), order)
        return on, left

    def _next_round(self, paths: Paths, cycle: Cycle) -> Paths:
        (name,) = symbols_of(cycle.round)
        made: Paths = {}
        for known, order in paths.items():
            put(made, strongest(
                substitute_cond(c, {name: cycle.round - 1}) for c in self._lasting(known, cycle)),
                order.mapped(lambda bits: self.items.shift(bits, cycle)))
        return made

    def _ended(self, paths: Paths, cycle: Cycle) -> Paths:
        (name,) = symbols_of(cycle.round)
        made: Paths = {}
        for known, order in paths.items():
            put(made, frozenset(c for c in self._lasting(known, cycle) if name not in symbols_of(c)),
                 order.mapped(lambda bits: self.items.end(bits, cycle)))
        return made

    def _forget(self, paths: Paths, cycle: Cycle) -> Paths:
        """The paths after an iteration: the next one gives the names of what it makes to what it makes itself."""
        made: Paths = {}
        for known, order in paths.items():
            put(made, frozenset(self._lasting(known, cycle)), order)
        return made

    def _lasting(self, known: Literals, cycle: Cycle) -> Iterator[Cond]:
        """What does not speak of things that each iteration makes anew."""
        symbols = self.program.symbols
        for c in known:
            if all("@" in n or symbols.is_older(n, cycle.name) for n in names_of(c)):
                yield c

    def _cycle(self, loop: Loop) -> Cycle | None:
        if loop not in self._loops:
            conds, exprs, accesses = self._inside(loop.body)
            self._loops[loop] = cycle_of(loop, len(self._loops), conds, exprs, accesses)
        return self._loops[loop]

    def _inside(self, node: Node) -> tuple[list[Cond], list[Expr], list[Access]]:
        """Branch conditions, ids and places, and accesses, of a loop's body."""
        conds: list[Cond] = []
        exprs: list[Expr] = []
        accesses: list[Access] = []
        for inner in nodes(node):
            if isinstance(inner, Branch):
                conds.append(inner.cond)
            elif isinstance(inner, Step):
                sync = self.syncs.get(inner.index)
                if sync is not None and sync.id is not None:
                    exprs.append(sync.id)
                accesses += self.accesses.get(inner.index, ())
        exprs += [e for a in accesses for e in a.place.exprs()]
        return conds, exprs, accesses


def _may_be_one(a: Expr | None, b: Expr | None) -> bool:
    """Whether two ids may name the same flag in some iterations."""
    return a is None or b is None or a.value is None or b.value is None or a.value == b.value


def _setting(cycle: Cycle, n: IntLike, at: Setting, *key: Hashable) -> Setting:
    """Iteration `n` of a loop."""
    return Setting(_values(cycle, n, at), (*at.key, *key), (*at.cycles, cycle))


def _residue(cycle: Cycle, r: int, at: Setting) -> tuple[Setting, Setting, Cond]:
    """The iterations of a residue, the test after them, and whether another one follows."""
    here = _setting(cycle, cycle.steady(r), at, "s", r)
    test = _setting(cycle, cycle.steady(r) + 1, at, "s", r, "head")
    return here, test, substitute_cond(cycle.goes_on(cycle.steady(r) + 1), here.values)


def _values(cycle: Cycle, n: IntLike, at: Setting) -> dict[str, IntLike]:
    """What stands for the counters in iteration `n`."""
    values = {**at.values, cycle.name: substitute(cycle.base, at.values) + n}
    stepped = stepped_variable(cycle.loop, cycle.name, cycle.base)
    if stepped is not None:
        name, value = stepped
        values[name] = substitute(value, values)
    return values
