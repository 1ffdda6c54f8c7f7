"""The least and the greatest of some index expressions, in normal form."""

from __future__ import annotations

from pypto_verified.index.expr import Expr, IntLike, as_expr, irreducible


def minimum(*values: IntLike) -> Expr:
    """The least of `values` (at least one)."""
    return _extreme("min", values)


def maximum(*values: IntLike) -> Expr:
    """The greatest of `values` (at least one)."""
    return _extreme("max", values)


def _extreme(kind: str, values: tuple[IntLike, ...]) -> Expr:
    """Flatten, drop constants but one, drop operands that ranges or constant differences show to be dominated."""
    flat: list[Expr] = []
    for v in map(as_expr, values):
        only = v.terms[0][0][0] if len(v.terms) == 1 and v.constant == 0 and v.terms[0][1] == 1 else None
        if only is not None and len(v.terms[0][0]) == 1 and only.kind == kind:
            flat.extend(only.args)
        else:
            flat.append(v)
    kept: list[Expr] = []
    for v in flat:
        if any(_dominates(kind, k, v) for k in kept):
            continue
        kept = [k for k in kept if not _dominates(kind, v, k)]
        kept.append(v)
    if len(kept) == 1:
        return kept[0]
    kept.sort(key=lambda e: (not e.terms, repr(e)))
    los, his = [k.lo for k in kept], [k.hi for k in kept]
    if kind == "min":
        lo = None if None in los else min(b for b in los if b is not None)
        hi = min((b for b in his if b is not None), default=None)
    else:
        lo = max((b for b in los if b is not None), default=None)
        hi = None if None in his else max(b for b in his if b is not None)
    return irreducible(kind, "", tuple(kept), lo, hi)


def _dominates(kind: str, winner: Expr, loser: Expr) -> bool:
    diff = loser - winner if kind == "min" else winner - loser
    return diff.lo is not None and diff.lo >= 0
