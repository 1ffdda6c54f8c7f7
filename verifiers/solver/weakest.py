"""The condition that would settle an UNKNOWN obligation, over symbols that a user can assume something about."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pypto_verified.index import Cond, Expr, all_of, any_of, substitute, symbols_of
from pypto_verified.index.cond import TRUE, nonneg
from pypto_verified.index.expr import Monomial, from_atom, polynomial
from verifiers.solver.cone import booleans_of, conjuncts
from verifiers.solver.ladder import Ladder
from verifiers.solver.points import holds_at

_PROBES = 40
"""Numbers up to two to this power are looked at for the ends of an interval."""

_MANY = 8
"""Conditions beyond which a user is shown all of them."""


def weakest_condition(ladder: Ladder, hypotheses: Cond, goal: Cond, inner: frozenset[str]) -> Cond:
    """The goal with the symbols `inner` (loop counters, block indices) replaced by their extreme values, checked to
    settle the goal, without parts that the others imply; the goal itself where that does not work."""
    projected = _absorb(_split_extremes(_project(goal, hypotheses, inner)))
    if projected is goal or projected.kind == "false" or not ladder.entails(hypotheses & projected, goal):
        projected = goal
    parts = [_without_special_cases(ladder, hypotheses, c) for c in conjuncts(projected)]
    found = _interval(ladder, hypotheses, all_of(parts))
    return all_of(without_implied(ladder, hypotheses, conjuncts(found)))


def without_implied(ladder: Ladder, hypotheses: Cond, parts: Sequence[Cond]) -> list[Cond]:
    """Those of the conditions that the hypotheses and the others do not imply; all of them if they are many."""
    kept = list(parts)
    if len(kept) > _MANY:
        return kept
    for part in parts:
        rest = [p for p in kept if p is not part]
        if rest and ladder.entails(all_of((hypotheses, *rest)), part):
            kept = rest
    return kept


def _without_special_cases(ladder: Ladder, hypotheses: Cond, c: Cond) -> Cond:
    """An alternative without the cases that another one covers."""
    kept = list(c.parts) if c.kind == "or" and len(c.parts) <= _MANY else [c]
    for part in kept[:]:
        rest = [p for p in kept if p is not part]
        if rest and ladder.entails(hypotheses & part, any_of(rest)):
            kept = rest
    return any_of(kept)


def _interval(ladder: Ladder, hypotheses: Cond, c: Cond) -> Cond:
    """A condition on one number as `low <= x and x <= high`, where that is the same under the hypotheses."""
    names = symbols_of(c)
    if len(names) != 1 or any(True for _ in booleans_of(c)) or all(map(_is_bound, conjuncts(c))):
        return c
    ((name, atom),) = names.items()
    low, high = _ends(lambda n: holds_at(c, {name: n}))
    x = from_atom(atom)
    found = all_of(([] if low is None else [x >= low]) + ([] if high is None else [x <= high]))
    same = found is not TRUE and ladder.entails(hypotheses & found, c) and ladder.entails(hypotheses & c, found)
    return found if same else c


def _is_bound(c: Cond) -> bool:
    """`x <= 7` and the like."""
    return c.kind == "nonneg" and c.expr is not None and all(
        len(mono) == 1 and mono[0].kind == "sym" and abs(k) == 1 for mono, k in c.expr.terms)


def _ends(holds_for: Callable[[int], bool]) -> tuple[int | None, int | None]:
    """Where the stretch of numbers begins and ends at which something holds; None for an end beyond all probes."""
    probes = sorted({sign * n for k in range(_PROBES) for n in (0, 1 << k, (1 << k) - 1) for sign in (-1, 1)})
    inside = [n for n in probes if holds_for(n)]
    if not inside:
        return None, None
    ends: list[int | None] = []
    for last, step in ((inside[0], -1), (inside[-1], 1)):
        at = probes.index(last) + step
        if not 0 <= at < len(probes):
            ends.append(None)
            continue
        outside = probes[at]
        while abs(outside - last) > 1:
            middle = (outside + last) // 2
            last, outside = (middle, outside) if holds_for(middle) else (last, middle)
        ends.append(last)
    return ends[0], ends[1]


def _project(goal: Cond, hypotheses: Cond, inner: frozenset[str]) -> Cond:
    if goal.kind in ("and", "or"):
        parts = [_project(p, hypotheses, inner) for p in goal.parts]
        return all_of(parts) if goal.kind == "and" else any_of(parts)
    if goal.kind != "nonneg" or goal.expr is None:
        return goal
    e = goal.expr
    for _ in range(len(inner)):
        name = next((n for n in symbols_of(e) if n in inner), None)
        if name is None:
            break
        bound = _extreme(e, name, hypotheses)
        if bound is None:
            return goal
        e = substitute(e, {name: bound})
    return nonneg(e)


def _split_extremes(c: Cond) -> Cond:
    """`max(a, b) <= n` as `a <= n and b <= n`, and so on: the parts are easier to read and to assume."""
    if c.kind in ("and", "or"):
        parts = [_split_extremes(p) for p in c.parts]
        return all_of(parts) if c.kind == "and" else any_of(parts)
    if c.kind != "nonneg" or c.expr is None:
        return c
    for mono, factor in c.expr.terms:
        if len(mono) == 1 and mono[0].kind in ("min", "max"):
            rest = polynomial({m: k for m, k in c.expr.terms if m != mono}, c.expr.constant)
            cases = [_split_extremes(nonneg(rest + arg * factor)) for arg in mono[0].args]
            return all_of(cases) if (mono[0].kind == "min") == (factor > 0) else any_of(cases)
    return c


def _absorb(c: Cond) -> Cond:
    """Drop a bound that another one of the same terms makes superfluous: `n <= 0 or n <= 8` is `n <= 8`."""
    if c.kind not in ("and", "or"):
        return c
    bounds: dict[tuple[tuple[Monomial, int], ...], int] = {}
    kept: list[Cond] = []
    for part in map(_absorb, c.parts):
        if part.kind == "nonneg" and part.expr is not None:
            slack = part.expr.constant
            known = bounds.get(part.expr.terms, slack)
            bounds[part.expr.terms] = min(known, slack) if c.kind == "and" else max(known, slack)
        else:
            kept.append(part)
    kept += [nonneg(polynomial(dict(terms), slack)) for terms, slack in bounds.items()]
    return all_of(kept) if c.kind == "and" else any_of(kept)


def _coefficient(e: Expr, name: str) -> int:
    """The constant factor of a symbol that occurs only linearly, else 0."""
    linear = 0
    for mono, c in e.terms:
        if name in symbols_of(polynomial({mono: 1}, 0)):
            if len(mono) != 1 or mono[0].kind != "sym":
                return 0
            linear = c
    return linear


def _slope(e: Expr, name: str) -> int:
    """1 if `e` never falls while the symbol grows, -1 if it never rises, 0 if neither is plain."""
    signs = set()
    for mono, c in e.terms:
        if name in symbols_of(polynomial({mono: 1}, 0)):
            signs.add((1 if c > 0 else -1) * _atom_slope(mono, name))
    return signs.pop() if len(signs) == 1 else 0


def _atom_slope(mono: Monomial, name: str) -> int:
    if len(mono) != 1:
        return 0
    atom = mono[0]
    if atom.kind == "sym":
        return 1
    if atom.kind == "floordiv":
        divisor = atom.args[1].value
        return _slope(atom.args[0], name) if divisor is not None and divisor > 0 else 0
    slopes = {_slope(x, name) for x in atom.args if name in symbols_of(x)}
    return slopes.pop() if atom.kind in ("min", "max") and len(slopes) == 1 else 0


def _extreme(e: Expr, name: str, hypotheses: Cond) -> Expr | None:
    """The value of `name` at which `e` is least, from the linear hypotheses about it."""
    slope = _slope(e, name)
    if slope == 0:
        return None
    for part in conjuncts(hypotheses):
        if part.kind != "nonneg" or part.expr is None:
            continue
        own = _coefficient(part.expr, name)
        if own == 0 or (own < 0) != (slope < 0):
            continue
        rest = polynomial(_without(part.expr, name), part.expr.constant)
        # own*x + rest >= 0: x <= rest // -own, or x >= -(rest // own).
        return rest // -own if own < 0 else -(rest // own)
    atom = symbols_of(e)[name]
    bound = atom.hi if slope < 0 else atom.lo
    return polynomial({}, bound) if bound is not None else None


def _without(e: Expr, name: str) -> dict[Monomial, int]:
    return {m: c for m, c in e.terms if not (len(m) == 1 and m[0].name == name and m[0].kind == "sym")}
