"""How a loop is walked for every trip count: some first iterations one by one, then the rest by their residue modulo a
period, so that conditions on the counter are decided and ids and slots taken in turn are numbers."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping
from math import lcm

from pypto_verified.index import Cond, Expr, const, substitute, substitute_cond, symbol, symbols_of
from pypto_verified.index.cond import FALSE, TRUE
from pypto_verified.records import dataclass
from verifiers.access import Loop
from verifiers.access.program import Scalar
from verifiers.access.symbols import Symbols
from verifiers.race.accesses import Access
from verifiers.race.places import apart
from verifiers.recurrence import counted, trips
from verifiers.solver.cone import names_of, with_conditions

LONGEST_PERIOD = 16
MOST_PEELED = 4
UNROLLED = 4
"""Loops of at most so many trips, where that is known, are walked iteration by iteration."""


@dataclass(frozen=True, slots=True, eq=False)
class Cycle:
    """The walk of one loop: iterations 0 to `first` - 1, then iteration `first + period*round + r` for each residue r.
    `round` counts up; an access of an earlier round has a smaller one. `length`: the trip count, if it is constant."""

    loop: Loop
    name: str
    base: Expr
    first: int
    period: int
    round: Expr
    length: int | None

    def steady(self, r: int) -> Expr:
        """The number, from 0, of the iteration of residue `r` in the current round."""
        return self.first + self.period * self.round + r

    def may_end(self, r: int) -> bool:
        """Whether the loop can end after residue `r`, as far as its length tells."""
        return self.length is None or (
            self.length - 1 - self.first - r >= 0 and (self.length - 1 - self.first - r) % self.period == 0)

    def goes_on(self, n: Expr) -> Cond:
        """Whether iteration `n` takes place, in terms of the loop's own bounds."""
        loop = self.loop
        if loop.lower is not None and loop.upper is not None and loop.step is not None:
            return loop.lower + loop.step * n < loop.upper
        return substitute_cond(loop.inside, {self.name: self.base + n})


def cycle_of(
    loop: Loop, number: int, conds: Iterable[Cond], exprs: Iterable[Expr], accesses: Iterable[Access] = ()
) -> Cycle | None:
    """The walk of a loop whose body has these branch conditions, ids, places and accesses; None for one without a
    counter."""
    own = counted(loop)
    if own is None:
        return None
    count = trips(loop)
    length = count.value if count is not None else None
    touching = [c for c in conds if own.name in symbols_of(c)]
    placed = [e for e in exprs if own.name in symbols_of(e)]
    period = _period(own.name, [*_exprs(touching), *placed])
    if length is not None and length <= UNROLLED:
        return Cycle(loop, own.name, own.base, length, 1, symbol(f"{own.name}@{number}", 0), length)
    least = 1 if _first_stands_alone(own.name, own.base, accesses) else 0
    best, first = None, least
    for peel in range(least, MOST_PEELED + 1):
        round_ = symbol(f"{own.name}@{number}", 0)
        left = sum(
            _undecided(substitute_cond(c, {own.name: own.base + peel + period * round_ + r}), round_)
            for c in touching for r in range(period))
        left += sum(
            _bent(substitute(e, {own.name: own.base + peel + period * round_}), round_) for e in placed)
        if best is None or left < best:
            best, first = left, peel
        if not left:
            break
    most = None if length is None else max(0, (length - 1 - first) // period)
    return Cycle(
        loop, own.name, own.base, first, period, symbol(f"{own.name}@{number}", 0, most if most else None), length)


def _first_stands_alone(name: str, base: Expr, accesses: Iterable[Access]) -> bool:
    """Whether the place of an access, which moves with the counter, meets one that stays in the first iteration only:
    no earlier iteration of the same run of the loop has touched those bytes."""
    moving: dict[Hashable, list[Access]] = {}
    staying: dict[Hashable, list[Access]] = {}
    for a in accesses:
        groups = moving if name in a.names else staying
        groups.setdefault(a.place.arena, []).append(a)
    later = {name: base + 1 + symbol(f"{name}+", 0)}
    for arena, own in moving.items():
        for a in own:
            first, rest = a.place.at({name: base}), a.place.at(later)
            for b in staying.get(arena, ()):
                if (a.writes or b.writes) and apart(rest, b.place) is TRUE and apart(first, b.place) is not TRUE:
                    return True
    return False


def stepped_variable(loop: Loop, counter: str, base: Expr) -> tuple[str, Expr] | None:
    """(name, value) of a loop variable that is a symbol beside the counter, as it is where the step is one."""
    variable, lower, step = loop.var, loop.lower, loop.step
    if variable is None or lower is None or step is None or counter in symbols_of(variable):
        return None
    names = tuple(symbols_of(variable))
    return (names[0], lower + step * (symbol(counter, 0) - base)) if len(names) == 1 else None


def _undecided(c: Cond, round_: Expr) -> bool:
    """Whether a condition depends on the round alone and is not decided."""
    return c is not TRUE and c is not FALSE and symbols_of(c).keys() == symbols_of(round_).keys()


def _bent(e: Expr, round_: Expr) -> bool:
    """Whether an expression bends at some round."""
    (name,) = symbols_of(round_)
    return any(a.kind in ("min", "max") and name in symbols_of(*a.args) for mono, _ in e.terms for a in mono)


def _exprs(conds: Iterable[Cond]) -> Iterator[Expr]:
    for c in conds:
        if c.expr is not None:
            yield c.expr
        yield from _exprs(c.parts)


def _period(name: str, exprs: list[Expr]) -> int:
    """Iterations after which the remainders in these come round: in the first of them, where not in all."""
    found = 1
    for e in exprs:
        for divisor in _moduli(name, e, 1):
            both = lcm(found, divisor)
            found = both if both <= LONGEST_PERIOD else found
    return found


def _moduli(name: str, e: Expr, scale: int) -> Iterator[int]:
    """What a counter has to go through before remainders of it come round."""
    for mono, _ in e.terms:
        for atom in mono:
            divisor = atom.args[1].value if atom.kind in ("mod", "floordiv") else None
            if not atom.args or name not in symbols_of(*atom.args):
                continue
            if divisor is None or divisor <= 0:
                inner = scale
            elif atom.kind == "mod":
                inner = scale
                yield divisor * scale
            else:
                inner = scale * divisor
            for part in atom.args:
                yield from _moduli(name, part, inner)


def second_turn(loop: Loop, symbols: Symbols, facts: Cond) -> Cond | None:
    """What holds where a while loop takes two turns, by the values of the first one; None where what it hands on is not
    expressed, or its condition is about more than that."""
    if loop.counter is None or loop.counter.value is not None or not loop.carried:
        return None
    if any(c.start is None or c.following is None for c in loop.carried):
        return None
    (counter,) = symbols_of(loop.counter)
    own = {c.name for c in loop.carried}
    if any(n not in own and n != counter and not symbols.is_older(n, counter) for n in names_of(loop.inside)):
        return None

    def first(c: Cond) -> Cond:
        return _handed(c, {x.name: x.start for x in loop.carried}, {counter: const(0)})

    again = _handed(loop.inside, {x.name: x.following for x in loop.carried}, {counter: const(1)})
    return first(loop.inside) & first(facts) & first(again)


def _handed(c: Cond, values: Mapping[str, Scalar], numbers: Mapping[str, Expr]) -> Cond:
    """A condition where a loop has handed on these values."""
    truths = {n: v for n, v in values.items() if isinstance(v, Cond)}
    return with_conditions(substitute_cond(c, {
        **numbers, **{n: v for n, v in values.items() if isinstance(v, Expr)}}), truths)
