"""The order of pipes along all paths of a function at once: a fixpoint over its loops.

Each loop is walked as `cycles` says. A path is a set of conditions that held at its branches, kept where a later
condition speaks of the same names. What is found ordered is ordered in every run; what is not may be.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import field

from pypto_verified.index import Cond, Expr, substitute, substitute_cond, symbols_of
from pypto_verified.index.cond import FALSE, TRUE
from pypto_verified.records import dataclass
from verifiers.access import Branch, Loop, Node, Sequence, Step
from verifiers.race.accesses import Access
from verifiers.race.cycles import Cycle
from verifiers.race.given_up import leave_all_open
from verifiers.race.items import Item
from verifiers.race.knowledge import Knowledge
from verifiers.race.literals import decided
from verifiers.race.loops import Loops
from verifiers.race.paths import Paths, join, joined, merge, put
from verifiers.race.places import Place
from verifiers.race.questions import Questions
from verifiers.race.settings import Setting, begins, iteration, outside, residue
from verifiers.race.starts import starts
from verifiers.race.sync import Sync
from verifiers.race.walker import Core, Walker
from verifiers.solver import Ladder
from verifiers.solver.cone import conjuncts

MOST_STEPS = 300_000
"""Steps walked for one function, all paths and rounds together."""


@dataclass(slots=True, eq=False)
class _Visit:
    """What is known of a loop in one setting: paths at its heads, and of each residue, as `residue` says; `exits`:
    those that leave it, by the residue of the number of its iterations."""

    entry: Paths = field(default_factory=dict)
    heads: list[Paths] = field(default_factory=list)
    exits: dict[int, Paths] = field(default_factory=dict)
    settings: list[tuple[Setting, Setting, Cond]] = field(default_factory=list)

    def leave(self, residue: int, paths: Paths) -> None:
        join(self.exits.setdefault(residue, {}), paths)

    def behind(self) -> list[Paths]:
        return [{k: o.copy() for k, o in paths.items()} for _, paths in sorted(self.exits.items())]


class _GivenUp(Exception):
    """The walk is given up."""


class Flow(Walker):
    """The result: `pairs`, and `blind`, what kept some order from being seen ('' if nothing did). A walk that takes too
    long is given up and leaves all open."""

    def __init__(self, core: Core, ladder: Ladder, assumed: Cond = TRUE) -> None:
        super().__init__(core)
        self.ladder = ladder
        self.questions = Questions(self.program, ladder, assumed)
        self.knowledge = Knowledge(self.program, self.items)
        self.items.anew = self.knowledge.anew
        self.loops = Loops(self.accesses, self.syncs)
        self._visits: dict[Hashable, _Visit] = {}
        self._placed: dict[tuple[int, Hashable], list[tuple[Item, ...]]] = {}
        self._conds: dict[tuple[int, Hashable], Cond] = {}
        self._ids: dict[tuple[int, Hashable], int | None] = {}
        self._left = MOST_STEPS
        self.given_up = False
        try:
            for n, case in enumerate(starts(self.program, self.syncs.values())):
                self.questions.case = case.says
                self.items.ask_anew()
                at = outside(case, n)
                given = substitute_cond(assumed, case.values)
                self._run(self.program.body, {frozenset(conjuncts(given)): self.start()}, at)
        except _GivenUp:
            self.given_up = True
            self.blind = self.blind or "it has too many paths"
            self.questions.no_more()
            self.items.ask_anew()
            leave_all_open(self)

    # Nodes

    def _run(self, node: Node, paths: Paths, at: Setting) -> Paths:
        if isinstance(node, Step):
            self._step(node, paths, at)
            return paths
        if isinstance(node, Sequence):
            return self._sequence(node, paths, at)
        if isinstance(node, Branch):
            return self._branch(node, paths, at)
        return joined(self._loop(node, paths, at))

    def _sequence(self, node: Sequence, paths: Paths, at: Setting) -> Paths:
        """What a loop with flags in turn knows when it ends depends on the turn that was its last, and that is told
        apart until the flags are waited for behind it: by each flag alone too little is known, by all of them, of one
        run, as much as by the last one."""
        ways = [paths]
        for item in node.items:
            if isinstance(item, Step) and item.index in self.syncs and item.index not in self.accesses:
                for way in ways:
                    self._step(item, way, at)
            elif isinstance(item, Loop):
                ways = self._loop(item, joined(ways), at)
            elif not isinstance(item, Step) or item.index in self.accesses:
                ways = [self._run(item, joined(ways), at)]
        return joined(ways)

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
        if accesses is not None and not self.questions.stores_nothing(step):
            phases = self._items_at(step, accesses, at)
            for order in paths.values():
                self.touch(phases, order)

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
                    if not names.isdisjoint(symbols_of(c.round)) or any(self.knowledge.anew(n, c) for n in names))
                for pipe in access.readings:
                    phases.setdefault(access.phase, []).append(self.items.item(access, pipe, place, ages))
            found = self._placed[key] = [tuple(own) for _, own in sorted(phases.items())]
        return found

    def meet(self, a: Place, b: Place) -> bool:
        return self.questions.meet(a, b)

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
            if here is not FALSE and self.questions.reached(branch, branch.cond):
                put(then, self.knowledge.once(known, here), order.copy() if here is not TRUE else order)
            if here is not TRUE and self.questions.reached(branch, ~branch.cond):
                put(orelse, self.knowledge.once(known, ~here), order)
        done = self._run(branch.then, then, at) if then else {}
        other = self._run(branch.orelse, orelse, at) if orelse else {}
        merge(done, other)
        return done

    # Loops

    def _loop(self, loop: Loop, paths: Paths, at: Setting) -> list[Paths]:
        """The paths behind it, by where it starts and by the residue of the number of its iterations."""
        if loop.inside is FALSE and not self.loops.turn(loop)[0].items:
            return [paths]
        if (loop.counter is not None and loop.counter.value == 0) or self.questions.ends_at_once(loop):
            return [self._branch(self.loops.at_most_once(loop), paths, at)]
        cycle = self.loops.cycle(loop)
        if cycle is None:
            self.blind = self.blind or f"the loop at line {self.program.location(loop.op).line} is not counted"
            raise _GivenUp
        ways: list[Paths] = []
        for here, start in begins(cycle, at):
            on, paths = self.knowledge.part(here, paths) if here is not TRUE else (paths, {})
            if on:
                ways += self._from(cycle, on, start)
        return ways

    def _from(self, cycle: Cycle, paths: Paths, at: Setting) -> list[Paths]:
        """All iterations of a loop, from a start that is known as well as it may be."""
        loop = cycle.loop
        head, body = self.loops.turn(loop)
        visit = self._visits.setdefault((id(loop), at.key), _Visit())
        if not join(visit.entry, paths):
            return visit.behind()
        starts = {k: o.copy() for k, o in visit.entry.items()}
        starts = self._run(head, starts, iteration(cycle, 0, at, 0, "head"))
        first = {c.name: c.start for c in loop.carried if isinstance(c.start, Expr)}
        enters = substitute_cond(cycle.goes_on(cycle.base - cycle.base), first)
        current, left = self.knowledge.part(substitute_cond(enters, at.values), starts)
        visit.leave(0, self.knowledge.over(left, cycle) if head.items else left)
        for j in range(cycle.first):
            if not current:
                break
            current = self.knowledge.over(self._run(body, current, iteration(cycle, j, at, j)), cycle)
            current = self._run(head, current, iteration(cycle, j + 1, at, j + 1, "head"))
            next_ = cycle.steady(0) - cycle.period * cycle.round - cycle.first + (j + 1)
            current, left = self.knowledge.part(substitute_cond(cycle.goes_on(next_), at.values), current)
            visit.leave((j + 1) % cycle.period, self.knowledge.over(left, cycle))
        if current and (cycle.length is None or cycle.length > cycle.first):
            self._steady(cycle, visit, current, at)
        return visit.behind()

    def _steady(self, cycle: Cycle, visit: _Visit, entry: Paths, at: Setting) -> None:
        """Rounds until nothing new comes to any head."""
        period = cycle.period
        head, body = self.loops.turn(cycle.loop)
        if not visit.heads:
            visit.heads = [{} for _ in range(period)]
            visit.settings = [residue(cycle, r, at) for r in range(period)]
        pending = [False] * period
        pending[0] = join(visit.heads[0], entry)
        r = 0
        while any(pending):
            if pending[r]:
                pending[r] = False
                current = {k: o.copy() for k, o in visit.heads[r].items()}
                here, test, goes_on = visit.settings[r]
                current = self.knowledge.forget(self._run(body, current, here), cycle)
                following = (r + 1) % period
                if following or head.items:
                    current = {k: o.mapped(lambda bits: self.items.renew(bits, cycle)) for k, o in current.items()}
                current = self._run(head, current, test)
                on, left = self.knowledge.part(goes_on, current)
                if cycle.may_end(r):
                    visit.leave(
                        (cycle.first + r + 1) % period,
                        self.knowledge.ended(left if cycle.length is None else current, cycle))
                if following == 0:
                    on = self.knowledge.next_round(on, cycle)
                pending[following] |= join(visit.heads[following], on)
            r = (r + 1) % period
