"""Floor division of index expressions and its remainder, in normal form."""

from __future__ import annotations

from functools import reduce
from math import gcd

from pypto_verified.index.expr import Expr, Monomial, const, irreducible, polynomial
from pypto_verified.index.ranges import Bound


def multiple_of(e: Expr, d: Expr) -> Expr | None:
    """`q` with `e == q*d` when `d` is one monomial that divides each term of `e`, else None."""
    if d.constant or len(d.terms) != 1:
        return None
    dm, dc = d.terms[0]
    if e.constant:
        return None
    q: dict[Monomial, int] = {}
    for mono, c in e.terms:
        rest = list(mono)
        for a in dm:
            if a not in rest:
                return None
            rest.remove(a)
        if c % dc:
            return None
        q[tuple(rest)] = q.get(tuple(rest), 0) + c // dc
    constant = q.pop((), 0)
    return polynomial(q, constant)


def floordiv(e: Expr, d: Expr) -> Expr:
    """The greatest integer that is not above `e / d`."""
    k = d.value
    if k is not None:
        if k == 0:
            return irreducible("floordiv", "", (e, d), None, None)
        if k < 0:
            return floordiv(-e, const(-k))
        if e.value is not None:
            return const(e.value // k)
        if k == 1:
            return e
        common = reduce(gcd, (c for _, c in e.terms), k)
        if common > 1:
            # floor((g*x + c) / (g*m)) == floor((x + floor(c/g)) / m)
            reduced = polynomial({m: c // common for m, c in e.terms}, e.constant // common)
            return floordiv(reduced, const(k // common))
        q, r = _split_multiple(e, k)
        if r.lo is not None and r.hi is not None and r.lo // k == r.hi // k:
            return q + r.lo // k
        inner = _nested_floordiv(r, k)
        if inner is not None:
            return q + inner
        lo = r.lo // k if r.lo is not None else None
        hi = r.hi // k if r.hi is not None else None
        return q + irreducible("floordiv", "", (r, d), lo, hi)
    if e.value == 0:
        return e  # where the division has a value at all
    exact = multiple_of(e, d)
    if exact is not None and d.lo is not None and d.lo > 0:
        return exact
    lo, hi = _quotient_range(e, d)
    return irreducible("floordiv", "", (e, d), lo, hi)


def mod(e: Expr, d: Expr) -> Expr:
    """What `floordiv` leaves: `e - d*floordiv(e, d)`."""
    k = d.value
    if k is not None and k != 0:
        if e.value is not None:
            return const(e.value % k)
        if abs(k) == 1:
            return const(0)
        if k > 0:
            r = polynomial({m: c % k for m, c in e.terms if c % k}, e.constant % k)
            if r.value is not None:
                return const(r.value % k)
            if r.lo is not None and r.hi is not None and r.lo // k == r.hi // k:
                return r - k * (r.lo // k)
            e = r
        lo, hi = (0, k - 1) if k > 0 else (k + 1, 0)
        return irreducible("mod", "", (e, d), lo, hi)
    if e.value == 0:
        return e  # where the remainder has a value at all
    if multiple_of(e, d) is not None:
        return const(0) if d.lo is not None and d.lo > 0 else irreducible("mod", "", (e, d), None, None)
    if d.lo is not None and d.lo > 0:
        return irreducible("mod", "", (e, d), 0, d.hi - 1 if d.hi is not None else None)
    return irreducible("mod", "", (e, d), None, None)


def _split_multiple(e: Expr, k: int) -> tuple[Expr, Expr]:
    """`e = k*q + r` termwise: whole multiples of `k` go to q, each other coefficient and the constant stay as r."""
    q: dict[Monomial, int] = {}
    r: dict[Monomial, int] = {}
    for mono, c in e.terms:
        (q if c % k == 0 else r)[mono] = c // k if c % k == 0 else c
    return polynomial(q, e.constant // k), polynomial(r, e.constant % k)


def _nested_floordiv(r: Expr, k: int) -> Expr | None:
    """(x // a + c) // k == (x + c*a) // (a*k) for positive a, k."""
    if len(r.terms) == 1 and r.terms[0][1] == 1 and len(r.terms[0][0]) == 1:
        atom = r.terms[0][0][0]
        if atom.kind == "floordiv":
            a = atom.args[1].value
            if a is not None and a > 0:
                return floordiv(atom.args[0] + r.constant * a, const(a * k))
    return None


def _quotient_range(e: Expr, d: Expr) -> tuple[Bound, Bound]:
    if d.lo is None or d.lo <= 0 or e.lo is None or e.lo < 0:
        return None, None
    return (e.lo // d.hi if d.hi is not None else 0), (e.hi // d.lo if e.hi is not None else None)
