"""What is known along paths, from branch to branch and from one iteration of a loop to the next."""

from __future__ import annotations

from collections.abc import Iterator

from pypto_verified.index import Cond, substitute_cond, symbols_of
from pypto_verified.index.cond import FALSE, TRUE
from verifiers.access import AccessProgram, SymbolKind
from verifiers.race.cycles import Cycle
from verifiers.race.items import Items
from verifiers.race.literals import Literals, decided, strongest, with_conjuncts
from verifiers.race.paths import Paths, put, spoken, subject
from verifiers.solver.cone import names_of

MADE = frozenset({SymbolKind.DATA, SymbolKind.OPAQUE, SymbolKind.DEFINED})
"""Kinds of symbols that ops make, where and whenever they run."""


class Knowledge:
    """Takes the paths of a function over its branches and iterations; `items` are those that their orders speak of."""

    def __init__(self, program: AccessProgram, items: Items) -> None:
        self.symbols = program.symbols
        self.items = items
        self._spoken = spoken(program)

    def once(self, known: Literals, c: Cond) -> Literals:
        """What is known once `c` held too: it is kept if another one of the function may be about the same."""
        if c is TRUE or self._spoken[subject(c)] < 2:
            return known
        return with_conjuncts(known, c)

    def part(self, cond: Cond, paths: Paths) -> tuple[Paths, Paths]:
        """(paths on which a loop goes on, paths on which it ends)."""
        on: Paths = {}
        left: Paths = {}
        for known, order in paths.items():
            here = decided(cond, known)
            if here is not FALSE:
                put(on, self.once(known, here), order.copy())
            if here is not TRUE:
                put(left, self.once(known, ~here), order)
        return on, left

    def anew(self, name: str, cycle: Cycle) -> bool:
        """Whether each iteration of a loop makes a symbol anew."""
        return self.symbols.kinds.get(name) in MADE and not self.symbols.is_older(name, cycle.name)

    def over(self, paths: Paths, cycle: Cycle) -> Paths:
        """The paths after an iteration whose number is known: what it has made is made anew in the next."""
        placed = cycle in self.items.of_cycle
        made: Paths = {}
        for known, order in paths.items():
            put(made, frozenset(self._lasting(known, cycle)),
                order.mapped(lambda bits: self.items.end(bits, cycle)) if placed else order)
        return made

    def forget(self, paths: Paths, cycle: Cycle) -> Paths:
        """The paths after an iteration: the next one gives the names of what it makes to what it makes itself."""
        made: Paths = {}
        for known, order in paths.items():
            put(made, frozenset(self._lasting(known, cycle)), order)
        return made

    def next_round(self, paths: Paths, cycle: Cycle) -> Paths:
        """The paths as the next round sees them: what was in this one is a round older."""
        (name,) = symbols_of(cycle.round)
        made: Paths = {}
        for known, order in paths.items():
            put(made, strongest(
                substitute_cond(c, {name: cycle.round - 1}) for c in self._lasting(known, cycle)),
                order.mapped(lambda bits: self.items.shift(bits, cycle)))
        return made

    def ended(self, paths: Paths, cycle: Cycle) -> Paths:
        """The paths after a loop, where its rounds are no longer told apart."""
        (name,) = symbols_of(cycle.round)
        made: Paths = {}
        for known, order in paths.items():
            put(made, frozenset(c for c in self._lasting(known, cycle) if name not in symbols_of(c)),
                order.mapped(lambda bits: self.items.end(bits, cycle)))
        return made

    def _lasting(self, known: Literals, cycle: Cycle) -> Iterator[Cond]:
        """What does not speak of things that each iteration makes anew."""
        for c in known:
            if all("@" in n or self.symbols.is_older(n, cycle.name) for n in names_of(c)):
                yield c
