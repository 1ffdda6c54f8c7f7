"""A truth value that a loop's iterations hand on: closed forms of `S(k+1) = S(k) and keep(k) or gain(k)`.

A form is only used once it is shown to be the recurrence's own solution, for every trip count: it starts right and each
iteration takes it to its next value. So what is derived from it neither misses a failure nor invents one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeAlias

from pypto_verified.index import Cond, Expr, IntLike, all_of, any_of, as_expr, eq, implies, maximum, substitute_cond
from pypto_verified.index.cond import FALSE, TRUE, variable
from pypto_verified.index.expr import Atom, from_atom
from pypto_verified.records import dataclass
from verifiers.access import Loop, Symbols
from verifiers.access.scalars import ceiling
from verifiers.solver import Ladder
from verifiers.solver.cone import names_of, split_by_relevance

Form: TypeAlias = Callable[[IntLike], Cond]
"""The truth value before iteration k, counted from 0."""

@dataclass(frozen=True, slots=True)
class Solution:
    """`form`: the value before iteration k, for every k up to `known` (None: for every one; below 0: for none)."""

    form: Form
    known: int | None = None

    def within(self, k: IntLike) -> Cond:
        """Whether the form stands for iteration `k`."""
        return TRUE if self.known is None else as_expr(k) <= self.known


_ANY = variable("unfollowed?")
"""A truth value that nobody knows. It is no constant, so that neither it nor its opposite ever holds."""
UNSOLVED = Solution(lambda k: _ANY, -1)

_LATEST_FIRST = 8
"""Iterations after which a form may change for good: a target has eight flags a pipe pair."""
_UNROLLED = 64
"""Trips up to which a loop of known length is run through."""


@dataclass(frozen=True, slots=True)
class Transfer:
    """What a piece of program does to a truth value: `S and keep or gain`."""

    keep: Cond
    gain: Cond

    def __call__(self, before: Cond) -> Cond:
        return any_of((all_of((before, self.keep)), self.gain))

    def then(self, after: Transfer) -> Transfer:
        """This piece, then another."""
        return Transfer(all_of((self.keep, after.keep)), after(self.gain))

    @property
    def idle(self) -> bool:
        return self.keep is TRUE and self.gain is FALSE


IDLE = Transfer(TRUE, FALSE)


def choice(cond: Cond, a: Transfer, b: Transfer) -> Transfer:
    """`a` where `cond` holds, else `b`."""
    if a == b:
        return a
    return Transfer(_either(cond, a.keep, b.keep), _either(cond, a.gain, b.gain))


def _either(cond: Cond, a: Cond, b: Cond) -> Cond:
    return a if a is b else any_of((all_of((cond, a)), all_of((~cond, b))))


@dataclass(frozen=True, slots=True)
class Counted:
    """The counter of a loop as a symbol: iteration k has `name` = `base` + k."""

    name: str
    base: Expr

    def at(self, c: Cond, k: IntLike) -> Cond:
        """`c` of the current iteration as that of iteration `k`."""
        return substitute_cond(c, {self.name: self.base + k})


def counted(loop: Loop) -> Counted | None:
    """The counter of a loop that has one."""
    if loop.counter is None or not loop.counter.terms:
        return None
    own = loop.var.terms if loop.var is not None else ()
    mono, factor = next((t for t in loop.counter.terms if (t,) == own), loop.counter.terms[0])
    if factor != 1 or len(mono) != 1 or mono[0].kind != "sym":
        return None
    return Counted(mono[0].name, _base(loop.counter, mono[0]))


def _base(counter: Expr, atom: Atom) -> Expr:
    """`base` of a counter `atom - base`."""
    return from_atom(atom) - counter


def trips(loop: Loop) -> Expr | None:
    """How often the body runs; None if that is not expressed."""
    if loop.lower is None or loop.upper is None or loop.step is None:
        return None
    if loop.step.lo is None or loop.step.lo <= 0:
        return None
    return maximum(ceiling(loop.upper - loop.lower, loop.step), 0)


class Solver:
    """Finds closed forms for the loops of one function."""

    def __init__(self, symbols: Symbols, ladder: Ladder) -> None:
        self.symbols = symbols
        self.ladder = ladder

    def solve(self, loop: Loop, body: Transfer, start: Cond) -> Solution:
        """The value before each iteration of a loop that is entered with `start`."""
        if body.idle:
            return Solution(lambda k: start)
        if loop.counter is not None and loop.counter.value == 0:
            return Solution(_listed([start, body(start)]))
        own = counted(loop)
        if own is None:
            return UNSOLVED
        for form in self._forms(loop, own, body, start):
            if self._solves(loop, own, body, start, form):
                return Solution(form)
        return self._unrolled(loop, own, body, start)

    def _forms(self, loop: Loop, own: Counted, body: Transfer, start: Cond) -> Iterator[Form]:
        yield lambda k: start
        if trips(loop) is None:
            return
        if self._known_per_iteration(own, body):
            for depth in sorted({1, *_periods(body)}):
                yield _looking_back(own, body, start, depth)
        for first in range(_LATEST_FIRST + 1):
            yield _changed_after(start, TRUE, first)
            yield _changed_after(start, FALSE, first)

    def _known_per_iteration(self, own: Counted, body: Transfer) -> bool:
        """Whether what an iteration does depends on its number and on what was there before the loop alone."""
        names = names_of(body.keep) | names_of(body.gain)
        return all(n == own.name or self.symbols.is_older(n, own.name) for n in names)

    def _solves(self, loop: Loop, own: Counted, body: Transfer, start: Cond, form: Form) -> bool:
        assert loop.counter is not None
        now, following = form(loop.counter), form(loop.counter + 1)
        return self._same(loop.path, form(0), start) and self._same(loop.inside, body(now), following)

    def _same(self, given: Cond, a: Cond, b: Cond) -> bool:
        if a is b:
            return True
        goal = all_of((implies(a, b), implies(b, a)))
        relevant, _, _ = split_by_relevance(given & self.symbols.facts, names_of(goal))
        return self.ladder.entails(relevant, goal)

    def _unrolled(self, loop: Loop, own: Counted, body: Transfer, start: Cond) -> Solution:
        """A loop of known length run through, or the first iterations of another."""
        count = trips(loop)
        if count is None or not self._known_per_iteration(own, body):
            return UNSOLVED
        length = count.value if count.value is not None and count.value <= _UNROLLED else None
        values = [start]
        for k in range(length if length is not None else _LATEST_FIRST):
            values.append(Transfer(own.at(body.keep, k), own.at(body.gain, k))(values[-1]))
        return Solution(_listed(values)) if length is not None else Solution(_listed(values, _ANY), _LATEST_FIRST)


def _listed(values: list[Cond], later: Cond = FALSE) -> Form:
    """These values, one an iteration, then another one for ever."""
    return lambda k: any_of((
        *(all_of((eq(k, i), value)) for i, value in enumerate(values)), all_of((as_expr(k) >= len(values), later))))


def _looking_back(own: Counted, body: Transfer, start: Cond, depth: int) -> Form:
    """The form that `depth` iterations determine wholly."""

    def before(k: IntLike, left: int) -> Cond:
        if left == 0:
            return start
        last = as_expr(k) - 1
        since = Transfer(own.at(body.keep, last), own.at(body.gain, last))(before(last, left - 1))
        return any_of((all_of((as_expr(k) <= 0, start)), all_of((as_expr(k) >= 1, since))))

    return lambda k: before(k, depth)


def _changed_after(start: Cond, to: Cond, first: int) -> Form:
    """`start` up to iteration `first`, then `to`."""
    return lambda k: any_of((all_of((as_expr(k) <= first, start)), all_of((as_expr(k) > first, to))))


def _periods(body: Transfer) -> set[int]:
    """Moduli that occur in conditions."""
    return {n for c in (body.keep, body.gain) for n in _moduli(c) if n <= _LATEST_FIRST}


def _moduli(c: Cond) -> Iterator[int]:
    if c.expr is not None:
        for mono, _ in c.expr.terms:
            for atom in mono:
                divisor = atom.args[1].value if atom.kind == "mod" else None
                if divisor is not None and divisor > 0:
                    yield divisor
    for part in c.parts:
        yield from _moduli(part)
