"""One loop that numbers the tiles of several axes, `i // k` along one and `i % k` along another, as a loop in a loop.

Its turns below the last whole round of `k` are those of two loops, one in the other; what is left is one more round,
which ends early (theorem GRID-DIGITS). A digit may be taken apart again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from pypto_verified.index import Expr, as_expr, const, maximum, minimum, symbols_of
from pypto_verified.index.division import multiple_of
from pypto_verified.index.expr import Atom, from_atom
from pypto_verified.records import dataclass
from verifiers.access.scalars import ceiling
from verifiers.write_levels import Moved, Turn, Untold

MANY = "a loop that numbers tiles, in rounds that do not come out even twice, is not followed"


@dataclass(frozen=True, slots=True)
class Digits:
    """The turns of a loop as `over`, the round, and `within` it: `rounds` whole ones, and one of `rest` turns."""

    over: Turn
    within: Turn
    rounds: Expr
    rest: Expr

    @property
    def even(self) -> bool:
        """Whether it is known that no round ends early."""
        return self.rest.value == 0


def digits(turn: Turn, radix: Expr) -> Digits:
    """Turn `i` is round `i // radix` and turn `i % radix` of it. Theorem GRID-DIGITS."""
    exact = _quotient(turn.upper, radix)
    rounds = exact if exact is not None else turn.upper // radix
    rest = const(0) if exact is not None else turn.upper % radix
    many = rounds if exact is not None else ceiling(turn.upper, radix)
    one = const(1)
    return Digits(
        Turn(f"{turn.name}_over", const(0), many, one), Turn(f"{turn.name}_within", const(0), radix, one), rounds, rest)


@dataclass(frozen=True, slots=True)
class Numbered:
    """A store whose loops are taken apart. `last`: the digits of the loop whose last round may end early."""

    moved: Moved
    last: Digits | None

    def rounds(self) -> Moved:
        """The same without the round that ends early."""
        return self._with(lambda d: (replace(d.over, upper=d.rounds), d.within))

    def ending(self) -> Moved:
        """The same with every round as long as that one."""
        return self._with(lambda d: (d.over, replace(d.within, upper=d.rest)))

    def _with(self, changed: Callable[[Digits], tuple[Turn, Turn]]) -> Moved:
        if self.last is None:
            return self.moved
        over, within = changed(self.last)
        by_name = {over.name: over, within.name: within}
        return replace(self.moved, turns=tuple(by_name.get(t.name, t) for t in self.moved.turns))


def in_digits(made: Moved) -> Numbered:
    """Untold where more than one loop is taken apart into rounds that do not come out even."""
    last: Digits | None = None
    while (found := _next(made)) is not None:
        turn, radix = found
        if last is not None and turn.name in (last.over.name, last.within.name):
            raise Untold(MANY)
        parts = digits(turn, radix)
        if not parts.even:
            if last is not None:
                raise Untold(MANY)
            last = parts
        made = _taken_apart(made, turn, parts)
    return Numbered(made, last)


def _taken_apart(made: Moved, turn: Turn, parts: Digits) -> Moved:
    within, radix = parts.within.counter, parts.within.upper
    values = {turn.name: radix * parts.over.counter + within}

    def apart(e: Expr) -> Expr:
        return _apart(e, values, within, radix)

    turns: list[Turn] = []
    for t in made.turns:
        kept = replace(t, lower=apart(t.lower), upper=apart(t.upper), step=apart(t.step))
        turns += (parts.within, parts.over) if t is turn else (kept,)
    starts, sizes = (tuple(map(apart, part)) for part in (made.starts, made.sizes))
    return replace(made, starts=starts, sizes=sizes, turns=tuple(turns))


def _next(made: Moved) -> tuple[Turn, Expr] | None:
    """A loop that is to be taken apart, and the radix: that one of its divisors which divides the others."""
    moving = {t.name for t in made.turns}
    for turn in made.turns:
        divisors = dict.fromkeys(d for e in made.starts for d in _divisors(e, turn.counter))
        own = [d for d in divisors if d.lo is not None and d.lo >= 0 and not moving & set(symbols_of(d))]
        for radix in own if turn.lower.value == 0 and turn.step.value == 1 else ():
            if all(_quotient(d, radix) is not None for d in own) and not moving & set(symbols_of(turn.upper)):
                return turn, radix
    return None


def _quotient(e: Expr, d: Expr) -> Expr | None:
    """`q` with `e == q*d` whatever the symbols are, or None."""
    if d.value is None:
        return multiple_of(e, d)
    return e // d if d.value > 0 and (e % d).value == 0 else None


def _divisors(e: Expr, counter: Expr) -> list[Expr]:
    """What a counter itself is divided by, in an expression."""
    found: list[Expr] = []
    for atom in (a for mono, _ in e.terms for a in mono):
        if atom.kind in ("floordiv", "mod") and atom.args[0] is counter:
            found.append(atom.args[1])
        found += [d for x in atom.args for d in _divisors(x, counter)]
    return found


def _apart(e: Expr, values: Mapping[str, Expr], within: Expr, radix: Expr) -> Expr:
    """`e` with a counter replaced by `radix*over + within`, where 0 <= within < radix."""
    total = const(e.constant)
    for mono, factor in e.terms:
        product = const(factor)
        for atom in mono:
            product = product * _atom(atom, values, within, radix)
        total = total + product
    return total


def _atom(atom: Atom, values: Mapping[str, Expr], within: Expr, radix: Expr) -> Expr:
    if atom.kind == "sym":
        return as_expr(values.get(atom.name, from_atom(atom)))
    args = [_apart(x, values, within, radix) for x in atom.args]
    if atom.kind in ("min", "max"):
        return minimum(*args) if atom.kind == "min" else maximum(*args)
    rounds, times = _quotient(args[0] - within, radix), _quotient(args[1], radix)
    if rounds is None or times is None:
        return args[0] // args[1] if atom.kind == "floordiv" else args[0] % args[1]
    # radix*rounds + within, by radix*times: what is below the radix is below what divides.
    if atom.kind == "floordiv":
        return rounds // times
    return radix * (rounds % times) + within
