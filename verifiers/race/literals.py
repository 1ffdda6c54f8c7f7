"""What is known along one path: conditions that held at its branches, and what follows from them at once."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

from pypto_verified.index import Cond
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
        if fact.kind != "nonneg" or fact.expr is None:
            continue
        # fact.expr >= 0, so whatever exceeds it by a positive amount is positive.
        above, below = c.expr - fact.expr, -c.expr - fact.expr
        if c.kind == "nonneg":
            if above.lo is not None and above.lo >= 0:
                return TRUE
            if below.lo is not None and below.lo >= 1:
                return FALSE
        elif (above.lo is not None and above.lo >= 1) or (below.lo is not None and below.lo >= 1):
            return FALSE
    return c


def with_conjuncts(known: Literals, c: Cond) -> Literals:
    """What is known once `c` held too."""
    parts: Iterable[Cond] = c.parts if c.kind == "and" else (c,)
    return strongest((*known, *parts))


def strongest(known: Iterable[Cond]) -> Literals:
    """The same without what follows from the rest by a constant difference."""
    kept: list[Cond] = []
    for c in known:
        if c is TRUE or any(_follows(c, other) for other in kept):
            continue
        kept = [other for other in kept if not _follows(other, c)]
        kept.append(c)
    return frozenset(kept)


def _follows(c: Cond, fact: Cond) -> bool:
    if c is fact or c.kind != "nonneg" or fact.kind != "nonneg" or c.expr is None or fact.expr is None:
        return c is fact
    difference = (c.expr - fact.expr).value
    return difference is not None and difference >= 0
