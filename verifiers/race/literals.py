"""What is known along one path: conditions that held at its branches, and what follows from them at once."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from functools import lru_cache
from typing import TypeAlias

from pypto_verified.index import Cond, Expr
from pypto_verified.index.cond import FALSE, TRUE

Literals: TypeAlias = frozenset[Cond]


def decided(c: Cond, known: Literals) -> Cond:
    """TRUE or FALSE if what is known says so by itself or by a constant difference, else `c`."""
    if c is TRUE or c is FALSE or not known:
        return c
    if c in known:
        return TRUE
    if ~c in known:
        return FALSE
    if c.kind in ("and", "or"):
        parts = [decided(p, known) for p in c.parts]
        short, unit = (FALSE, TRUE) if c.kind == "and" else (TRUE, FALSE)
        if short in parts:
            return short
        return unit if all(p is unit for p in parts) else c
    if c.kind == "not":
        inner = decided(c.parts[0], known)
        return ~inner if inner is TRUE or inner is FALSE else c
    return _by_difference(c, known)


def _by_difference(c: Cond, known: Literals) -> Cond:
    if c.expr is None:
        return c
    for fact in known:
        if fact.kind != "nonneg":
            continue
        # fact.expr >= 0, so whatever exceeds it by a positive amount is positive.
        above, below = _least(c, fact)
        if c.kind == "nonneg":
            if above is not None and above >= 0:
                return TRUE
            if below is not None and below >= 1:
                return FALSE
        elif (above is not None and above >= 1) or (below is not None and below >= 1):
            return FALSE
    return c


@lru_cache(maxsize=1 << 15)
def _least(c: Cond, fact: Cond) -> tuple[int | None, int | None]:
    """What c.expr and -c.expr are at least beyond fact.expr, or some times as much. Paths ask it of the same literals
    many times."""
    assert c.expr is not None and fact.expr is not None
    return _beyond(c.expr, fact.expr), _beyond(-c.expr, fact.expr)


def _beyond(e: Expr, fact: Expr) -> int | None:
    once = (e - fact).lo
    if once is not None and once >= 1:
        return once
    owned = dict(fact.terms)
    times = {n // owned[mono] for mono, n in e.terms if mono in owned and n % owned[mono] == 0}
    return max((lo for n in times if n > 1 and (lo := (e - n * fact).lo) is not None), default=once)


def with_conjuncts(known: Literals, c: Cond) -> Literals:
    """What is known once `c` held too."""
    parts: Iterable[Cond] = c.parts if c.kind == "and" else (c,)
    return strongest((*known, *parts))


def strongest(known: Iterable[Cond]) -> Literals:
    """The same without what follows from the rest by a constant difference: of lower bounds for one polynomial, the
    highest."""
    kept: dict[Hashable, Cond] = {}
    for c in known:
        if c is TRUE:
            continue
        if c.kind != "nonneg" or c.expr is None:
            kept[c] = c
            continue
        other = kept.get(c.expr.terms)
        if other is None or other.expr is None or other.expr.constant > c.expr.constant:
            kept[c.expr.terms] = c
    return frozenset(kept.values())
