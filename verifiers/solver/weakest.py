"""The condition that would settle an UNKNOWN obligation, over symbols that a user can assume something about."""

from __future__ import annotations

from collections.abc import Sequence

from pypto_verified.index import Cond, Expr, all_of, any_of, substitute, symbols_of
from pypto_verified.index.cond import nonneg
from pypto_verified.index.expr import Monomial, polynomial
from verifiers.solver.cone import conjuncts
from verifiers.solver.ladder import Ladder

_MANY = 32
"""Conditions beyond which a user is shown all of them."""


def weakest_condition(ladder: Ladder, hypotheses: Cond, goal: Cond, inner: frozenset[str]) -> Cond:
    """The goal with the symbols `inner` (loop counters, block indices) replaced by their extreme values, checked to
    settle the goal, without parts that the others imply; the goal itself where that does not work."""
    projected = _absorb(_split_extremes(_project(goal, hypotheses, inner)))
    if projected is goal or projected.kind == "false" or not ladder.entails(hypotheses & projected, goal):
        projected = goal
    return all_of(without_implied(ladder, hypotheses, conjuncts(projected)))


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


def _extreme(e: Expr, name: str, hypotheses: Cond) -> Expr | None:
    """The value of `name` at which `e` is least, from the linear hypotheses about it."""
    slope = _coefficient(e, name)
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
