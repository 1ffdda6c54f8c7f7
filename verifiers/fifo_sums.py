"""In how many turns of loops a condition holds, as an expression of the sizes.

Of one loop of `n` turns, numbered from 0: conditions `a*k + b >= 0` leave an interval of turns `lo <= k < hi`, with
`0 <= lo` and `hi <= n`; conditions on the rest of `k` by a number leave some rests. Below `x >= 0` the turns of rest
`r` by `m`, with `0 <= r < m`, are `(x + m - 1 - r) // m`, so in the interval there are

    sum over the rests of (max(lo, hi) + m - 1 - r) // m - (lo + m - 1 - r) // m

Where `k == v` must not hold, those with `k == v` are taken away. Of two loops, the inner one of `n` turns in each turn
of the outer one: turn `j` of the inner one in turn `i` of the outer one is turn `i*n + j` of one loop, if nothing else
is asked of the two.
"""

from __future__ import annotations

from math import lcm

from pypto_verified.index import Cond, Expr, const, maximum, minimum, substitute, substitute_cond, symbol, symbols_of
from pypto_verified.index.cond import FALSE, TRUE
from verifiers.race.choices import divisors
from verifiers.solver.cone import names_of

_LONGEST = 24
"""Turns after which all conditions on rests come round."""
_MOST_RESTS = 4
"""Rests that are summed up."""


def turns_that_hold(loops: tuple[tuple[Expr, str], ...], held: frozenset[Cond]) -> Expr | None:
    """How often all of `held` holds in loops, outermost first, each with the number of its turns, not negative, and the
    name of the turn; None for another form of conditions, or loops whose numbers depend on the turns of others."""
    if any(name in symbols_of(number) for number, _ in loops for _, name in loops):
        return None
    if len(loops) > 1:
        return _of_nest(loops, held)
    ((number, name),) = loops
    return _of_loop(number, name, held)


def _of_nest(loops: tuple[tuple[Expr, str], ...], held: frozenset[Cond]) -> Expr | None:
    """The same for more than one, of which the two innermost are joined, or one left out of which nothing is asked."""
    for one in loops:
        if not any(one[1] in names_of(c) for c in held):
            rest = turns_that_hold(tuple(other for other in loops if other is not one), held)
            return rest * one[0] if rest is not None else None
    *around, (outer, i), (inner, j) = loops
    for n in _as_factor(inner):
        joined = {j: symbol(j, 0) - n * symbol(i, 0)}
        moved = frozenset(substitute_cond(c, joined) for c in held)
        if not any(i in names_of(c) for c in moved):
            return turns_that_hold((*around, (outer * inner, j)), moved)
    return None


def _as_factor(number: Expr) -> list[Expr]:
    """A number of turns, and what it is where there are any: n for max(n, 0)."""
    atom = number.terms[0][0][0] if len(number.terms) == 1 and not number.constant else None
    if atom is None or atom.kind != "max" or number.terms[0][1] != 1 or len(number.terms[0][0]) > 1:
        return [number]
    return [number, *(e for e in atom.args if e.terms)]


def _of_loop(number: Expr, name: str, held: frozenset[Cond]) -> Expr | None:
    differs = next((c for c in held if c.kind == "not" and c.parts[0].kind == "zero" and _rests(c, name) is None), None)
    if differs is not None:
        every, equal = (
            _of_loop(number, name, held - {differs} | more) for more in (frozenset[Cond](), {differs.parts[0]}))
        return every - equal if every is not None and equal is not None else None
    lo, hi, rests, by = const(0), number, {0}, 1
    for c in held:
        found = _rests(c, name)
        if found is not None:
            own, modulus = found
            both = lcm(by, modulus)
            rests = {r for r in range(both) if r % by in rests and r % modulus in own}
            by = both
            continue
        span = _span(c, name)
        if span is None:
            return None
        lo = maximum(lo, *(b for b in span[:1] if b is not None))
        hi = minimum(hi, *(b for b in span[1:] if b is not None))
    if by > _LONGEST or len(rests) > _MOST_RESTS:
        return None
    end, total = maximum(lo, hi), const(0)
    for r in sorted(rests):
        total = total + (end + (by - 1 - r)) // by - (lo + (by - 1 - r)) // by
    return total


def _rests(c: Cond, name: str) -> tuple[set[int], int] | None:
    """The rests of a turn for which a condition holds, and by what; None where more than a rest decides."""
    by = lcm(*(n for e in _exprs(c) for n in divisors(e) if n > 0))
    if by == 1 or by > _LONGEST:
        return None
    turns = symbol(f"{name}, rounds", 0)
    each = [substitute_cond(c, {name: by * turns + r}) for r in range(by)]
    return ({r for r, at in enumerate(each) if at is TRUE}, by) if all(at in (TRUE, FALSE) for at in each) else None


def _exprs(c: Cond) -> list[Expr]:
    return [*([c.expr] if c.expr is not None else []), *(e for part in c.parts for e in _exprs(part))]


def _span(c: Cond, name: str) -> tuple[Expr | None, Expr | None] | None:
    """From where, and up to where, a condition holds; None for another form."""
    if c.expr is None or c.kind not in ("nonneg", "zero"):
        return None
    rest = substitute(c.expr, {name: 0})
    factor = (substitute(c.expr, {name: 1}) - rest).value
    if not factor or (c.expr - factor * symbol(name, 0) - rest).value != 0:
        return None
    if c.kind == "zero":
        if abs(factor) != 1:
            return None
        at = -factor * rest
        return at, at + 1
    if factor > 0:
        return (factor - 1 - rest) // factor, None
    return None, rest // -factor + 1
