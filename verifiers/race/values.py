"""Numbers for the symbols of one run, and which of those that nobody may choose it came to depend on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from types import MappingProxyType

from pypto_verified.index import Cond, Expr, evaluate, holds, symbols_of
from pypto_verified.index.expr import from_atom
from verifiers.access import AccessProgram, SymbolKind
from verifiers.access.symbols import UNCONSTRAINED
from verifiers.flags import trip_names
from verifiers.solver.cone import booleans_of, conjuncts, names_of


class _CircularError(Exception):
    """A value was looked for in an equation with one that is looked for already."""


class Values(dict[str, int]):
    """Values by name. Those that a hypothesis defines are computed where they are asked for; one that is not given
    reads as its least value that is not 0. `asked`: those that decided something though nobody may choose them;
    `watched`: those that nobody may choose, `derived`: those that a hypothesis defines.
    `truth`: of opaque Booleans, but for those that `truths` tells. What loops hand on is as known as what it is
    computed from."""

    def __init__(
        self, program: AccessProgram, given: Mapping[str, int], truth: bool = False,
        truths: Mapping[str, bool] = MappingProxyType({}),
    ) -> None:
        super().__init__(given)
        self.asked: set[str] = set()
        self.truths = Truths(self.asked, truth, truths)
        self.watched = unconstrained(program)
        self._sources: dict[str, frozenset[str]] = {}
        self._named: dict[int, frozenset[str]] = {}
        self._kinds = program.symbols.kinds
        self.derived = frozenset(n for n, k in self._kinds.items() if k is SymbolKind.DEFINED)
        self._opaque = frozenset(program.symbols.truths)
        self._facts = _facts_by_name(program, program.symbols.facts)
        self._open: set[str] = set()
        self._least = {n: a.lo for n, a in symbols_of(program.symbols.facts).items()}

    def __missing__(self, name: str) -> int:
        if self._kinds.get(name) is SymbolKind.DEFINED:
            found = self._defined(name)
            if found is not None:
                return found
        return max(1, self._least.get(name) or 1)

    def of(self, e: Expr) -> int:
        """The number an expression is. Raises ZeroDivisionError where it has none."""
        return e.constant if not e.terms else evaluate(e, self)

    def decide(self, *terms: Expr | Cond) -> None:
        """Note what these depend on: the run goes on by them."""
        for term in terms:
            self.asked |= self.behind(term)

    def behind(self, term: Expr | Cond) -> frozenset[str]:
        """What a term depends on though nobody may choose it."""
        found = self._named.get(id(term))
        if found is None:
            found = self._named[id(term)] = self._names(term)
        known = (n for n in self._behind(found) if n in self._sources or n in self.watched)
        return frozenset[str]().union(*(self._sources.get(n, frozenset((n,))) for n in known))

    def _names(self, term: Expr | Cond) -> frozenset[str]:
        """The watched symbols, those that hypotheses define, and the opaque Booleans of a term."""
        booleans = booleans_of(term) if isinstance(term, Cond) else ()
        return (self.watched | self.derived).intersection(symbols_of(term)).union(booleans)

    def _behind(self, names: Iterable[str]) -> Iterator[str]:
        """These names; instead of one that a hypothesis defines, what its value is computed from."""
        todo, done = list(names), set[str]()
        while todo:
            name = todo.pop()
            if name in done:
                continue
            done.add(name)
            source = self._source_of(name) if name in self.derived and name not in self else None
            if source is None:
                yield name
            else:
                todo += source & (self.watched | self.derived | self._opaque)

    def sources(self, names: Iterable[str]) -> frozenset[str]:
        """What these come from: values that a loop hands on, from those that made them."""
        known = (n for n in self._behind(names) if n not in self.derived or n in self._sources)
        return frozenset[str]().union(*(self._sources.get(n, frozenset((n,))) for n in known))

    def computed(self, name: str, value: int) -> None:
        """The run itself gives a symbol this value."""
        self[name] = value
        self._sources[name] = frozenset()

    def hand_on(self, values: Iterable[tuple[str, Expr | Cond | None]]) -> None:
        """A loop gives its carried symbols these values, all at once. One that is not expressed stays open."""
        before = self.asked.copy()
        found = [
            (name, value, None if value is None else self.holds(value) if isinstance(value, Cond) else self.of(value),
             frozenset[str]() if value is None else self.sources(self._names(value))) for name, value in values]
        self.asked.intersection_update(before)
        for name, value, number, sources in found:
            if number is None:
                self._sources.pop(name, None)
                self.pop(name, None)
                self.truths.pop(name, None)
                continue
            self._sources[name] = sources
            if isinstance(value, Cond):
                self.truths[name] = bool(number)
            else:
                self[name] = number

    def holds(self, c: Cond) -> bool:
        return holds(c, self, self.truths)

    def _defined(self, name: str) -> int | None:
        """The value that a fact gives."""
        found = self._given_by(name)
        return found[0] if found is not None else None

    def _source_of(self, name: str) -> frozenset[str] | None:
        """The other names of the fact that gives a value."""
        found = self._given_by(name)
        return found[1] - {name} if found is not None else None

    def _given_by(self, name: str) -> tuple[int, frozenset[str]] | None:
        """The value that a fact gives, and the names of that fact. What one branch hands to another is in one equation
        with it: that one is read from the side that is known."""
        if name in self._open:
            raise _CircularError
        self._open.add(name)
        circular = False
        try:
            for fact, names in self._facts.get(name, ()):
                try:
                    value = self._solved_by(fact, name)
                except _CircularError:
                    circular = True
                    continue
                if value is not None:
                    return value, names
        finally:
            self._open.discard(name)
        if circular and self._open:
            raise _CircularError
        return None

    def _solved_by(self, fact: Cond, name: str) -> int | None:
        parts = fact.parts if fact.kind == "or" else (fact,)
        for part in parts:
            value = self._solved(part, name)
            if value is not None and not any(
                    self.holds(other) for other in parts if other is not part and name not in names_of(other)):
                return value
        return None

    def _solved(self, c: Cond, name: str) -> int | None:
        """The value of a symbol that makes a linear equation hold."""
        if c.kind != "zero" or c.expr is None:
            return None
        for mono, factor in c.expr.terms:
            if len(mono) == 1 and mono[0].kind == "sym" and mono[0].name == name and abs(factor) == 1:
                rest = c.expr - factor * _alone(c.expr, name)
                return -factor * self.of(rest) if name not in symbols_of(rest) else None
        return None


@lru_cache(maxsize=4)
def _facts_by_name(
    program: AccessProgram, facts: Cond
) -> Mapping[str, tuple[tuple[Cond, frozenset[str]], ...]]:
    """The facts that speak of each name, with all names of each: first those that were told when it was made, which say
    what it is; in others it may say what a later one is."""
    age = {name: n for n, name in enumerate(program.symbols.kinds)}
    found: dict[str, list[tuple[bool, Cond, frozenset[str]]]] = {}
    for fact in conjuncts(facts):
        names = names_of(fact)
        newest = max((n for n in names if n in age), key=age.__getitem__, default="")
        for name in names:
            found.setdefault(name, []).append((name != newest, fact, names))
    return {name: tuple((c, n) for _, c, n in sorted(own, key=lambda f: f[0])) for name, own in found.items()}


def _alone(e: Expr, name: str) -> Expr:
    return from_atom(symbols_of(e)[name])


class Truths(dict[str, bool]):
    """Opaque Booleans: all of one truth but for those that are told, and noted."""

    def __init__(self, asked: set[str], truth: bool, told: Mapping[str, bool]) -> None:
        super().__init__()
        self._asked = asked
        self._truth = truth
        self._told = told

    def __missing__(self, name: str) -> bool:
        self._asked.add(name)
        return self._told.get(name, self._truth)


def unconstrained(program: AccessProgram) -> frozenset[str]:
    """Symbols that no refutation may choose."""
    return frozenset(n for n, k in program.symbols.kinds.items() if k in UNCONSTRAINED) - trip_names(program)
