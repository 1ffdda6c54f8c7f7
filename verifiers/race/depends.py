"""On what a run depends that nobody may choose, or callers decide: values behind branches, bounds, ids and extents."""

from __future__ import annotations

from collections import Counter

from pypto_verified.index import Cond, Expr, symbols_of
from verifiers.access import AccessProgram
from verifiers.race.values import Values
from verifiers.race.witness import PASSED
from verifiers.solver.cone import booleans_of, names_of


class Dependence:
    """`beside`: what decides more than which way the run takes; `open`: symbols whose values nobody may choose, or a
    hypothesis defines."""

    def __init__(self, program: AccessProgram, values: Values) -> None:
        self.values = values
        self.beside: set[str] = set()
        self.open = values.watched | values.derived
        self._passed = frozenset(n for n in values.watched if program.symbols.kinds[n] in PASSED)
        self._forks: dict[frozenset[Cond], frozenset[str]] = {}
        self._looped: set[str] = set()

    def branch(self, cond: Cond) -> None:
        """The run comes to a branch."""
        self.values.decide(cond)
        self._forks[frozenset((cond, ~cond))] = self._behind(cond)

    def loop(self, *terms: Expr | Cond) -> None:
        """The run comes to a loop whose turns these tell."""
        self.values.decide(*terms)
        for term in terms:
            self._looped |= self._behind(term)

    def id(self, id: Expr) -> None:
        """The run comes to a sync op of this id."""
        self.values.decide(id)
        self.beside |= self.values.behind(id)

    def extent(self, valid: Expr) -> int:
        """A valid extent. A single row or column is there in every tile that is not empty, unless it is computed from
        what is not known: that may be none. That there are more of them is what callers decide."""
        found = self.values.of(valid)
        if valid.value is None:
            names = symbols_of(valid)
            if found > 1:
                self.beside |= self._passed.intersection(names)
            if found > 0 and len(valid.terms) + (valid.constant != 0) + (valid.terms[0][0][0].kind != "sym") > 1:
                self.beside |= self.values.sources(self.open.intersection(names)) - self._passed
            self.values.asked |= self.beside
        return found

    def _behind(self, term: Expr | Cond) -> frozenset[str]:
        return self.values.behind(term).union(booleans_of(term) if isinstance(term, Cond) else ())

    def forked(self, beside: frozenset[str]) -> frozenset[str]:
        """What one condition of a branch alone has asked for so far, and for nothing else."""
        alone = (names for (c, *_), names in self._forks.items() if len(names) == 1 and names == names_of(c))
        asked = Counter(n for names in self._forks.values() for n in names)
        return frozenset(n for names in alone for n in names if asked[n] == 1) - self._looped - beside
