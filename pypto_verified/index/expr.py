"""Integer index expressions in one normal form, interned so that equal expressions are one object.

An expression is a polynomial: a sorted sum of `coefficient * monomial`, a monomial being a sorted product of *atoms*.
Atoms are symbols and the irreducible forms `floordiv(a, b)`, `mod(a, b)`, `min(...)`, `max(...)`. Division is floor
division and `mod` has the sign of the divisor (Python's meaning). Both are partial: a zero divisor has no value.
"""

from __future__ import annotations

from functools import reduce
from math import gcd
from typing import TYPE_CHECKING, TypeAlias, Union

from pypto_verified.records import dataclass

if TYPE_CHECKING:
    from pypto_verified.index.cond import Cond

Bound: TypeAlias = Union[int, None]
"""An end of a range; None is unbounded."""

Monomial: TypeAlias = "tuple[Atom, ...]"


class Atom:
    """An irreducible factor. `kind` is 'sym', 'floordiv', 'mod', 'min' or 'max'; `args` its operands.

    `order` sorts atoms by what they say, symbols first, so that texts do not depend on what was built before.
    """

    __slots__ = ("args", "hi", "kind", "lo", "name", "order", "uid")

    def __init__(self, kind: str, name: str, args: tuple[Expr, ...], lo: Bound, hi: Bound, uid: int) -> None:
        self.kind = kind
        self.name = name
        self.args = args
        self.lo = lo
        self.hi = hi
        self.uid = uid
        self.order = ("", name, uid) if kind == "sym" else (kind, repr(self), uid)

    def __hash__(self) -> int:
        return self.uid

    def __eq__(self, other: object) -> bool:
        return self is other

    def __repr__(self) -> str:
        if self.kind == "sym":
            return self.name
        if self.kind in ("floordiv", "mod"):
            sign = "//" if self.kind == "floordiv" else "%"
            return f"{_grouped(self.args[0])} {sign} {_grouped(self.args[1])}"
        return f"{self.kind}({', '.join(map(repr, self.args))})"


class Expr:
    """An interned polynomial over atoms. `lo`/`hi` are sound bounds (None: unbounded); all units are the caller's."""

    __slots__ = ("constant", "hi", "lo", "terms", "uid")

    def __init__(self, terms: tuple[tuple[Monomial, int], ...], constant: int, lo: Bound, hi: Bound, uid: int) -> None:
        self.terms = terms
        self.constant = constant
        self.lo = lo
        self.hi = hi
        self.uid = uid

    def __hash__(self) -> int:
        return self.uid

    @property
    def value(self) -> int | None:
        """The integer this is, if it is a constant."""
        return self.constant if not self.terms else None

    def __add__(self, other: IntLike) -> Expr:
        right = as_expr(other)
        if not right.terms and right.constant == 0:
            return self
        total = dict(self.terms)
        for mono, c in right.terms:
            total[mono] = total.get(mono, 0) + c
        return polynomial(total, self.constant + right.constant)

    __radd__ = __add__

    def __neg__(self) -> Expr:
        return polynomial({m: -c for m, c in self.terms}, -self.constant)

    def __sub__(self, other: IntLike) -> Expr:
        right = as_expr(other)
        if not right.terms and right.constant == 0:
            return self
        total = dict(self.terms)
        for mono, c in right.terms:
            total[mono] = total.get(mono, 0) - c
        return polynomial(total, self.constant - right.constant)

    def __rsub__(self, other: IntLike) -> Expr:
        return as_expr(other) - self

    def __mul__(self, other: IntLike) -> Expr:
        right = as_expr(other)
        if not right.terms:
            k = right.constant
            return polynomial({m: c * k for m, c in self.terms}, self.constant * k)
        if not self.terms:
            return right * self.constant
        total: dict[Monomial, int] = {}
        lefts = [*self.terms, ((), self.constant)]
        rights = [*right.terms, ((), right.constant)]
        for lm, lc in lefts:
            for rm, rc in rights:
                mono = tuple(sorted(lm + rm, key=_atom_order))
                total[mono] = total.get(mono, 0) + lc * rc
        constant = total.pop((), 0)
        return polynomial(total, constant)

    __rmul__ = __mul__

    def __floordiv__(self, other: IntLike) -> Expr:
        return _floordiv(self, as_expr(other))

    def __rfloordiv__(self, other: IntLike) -> Expr:
        return _floordiv(as_expr(other), self)

    def __mod__(self, other: IntLike) -> Expr:
        return _mod(self, as_expr(other))

    def __rmod__(self, other: IntLike) -> Expr:
        return _mod(as_expr(other), self)

    def __divmod__(self, other: IntLike) -> tuple[Expr, Expr]:
        return self // other, self % other

    def __le__(self, other: IntLike) -> Cond:
        return _nonneg(as_expr(other) - self)

    def __lt__(self, other: IntLike) -> Cond:
        return _nonneg(as_expr(other) - self - 1)

    def __ge__(self, other: IntLike) -> Cond:
        return _nonneg(self - other)

    def __gt__(self, other: IntLike) -> Cond:
        return _nonneg(self - other - 1)

    def __eq__(self, other: object) -> Cond:  # type: ignore[override]  # a condition, like numpy and z3
        from pypto_verified.index.cond import eq

        if not isinstance(other, (int, Expr)):
            return NotImplemented
        return eq(self, other)

    def __ne__(self, other: object) -> Cond:  # type: ignore[override]
        from pypto_verified.index.cond import ne

        if not isinstance(other, (int, Expr)):
            return NotImplemented
        return ne(self, other)

    def __bool__(self) -> bool:
        raise TypeError("an index expression has no truth value; compare it and use holds() or a solver")

    def __repr__(self) -> str:
        parts: list[str] = []
        for mono, c in self.terms:
            factors = [] if abs(c) == 1 else [str(abs(c))]
            alone = len(mono) == 1 and not factors and (c > 0 or parts)  # "-a % b" is another number than -(a % b)
            factors += [repr(a) if alone or a.kind not in ("floordiv", "mod") else f"({a!r})" for a in mono]
            text = "*".join(factors)
            parts.append(f"- {text}" if c < 0 else f"+ {text}")
        if self.constant or not parts:
            parts.append(f"- {-self.constant}" if self.constant < 0 else f"+ {self.constant}")
        text = " ".join(parts)
        return text[2:] if text.startswith("+ ") else "-" + text[2:]


IntLike: TypeAlias = Union[int, Expr]


def _grouped(e: Expr) -> str:
    text = repr(e)
    return text if " " not in text else f"({text})"


@dataclass(slots=True)
class _Table:
    exprs: dict[tuple[object, ...], Expr]
    atoms: dict[tuple[object, ...], Atom]
    next_uid: int = 1

    def fresh(self) -> int:
        self.next_uid += 1
        return self.next_uid


_TABLE = _Table({}, {})


def _atom_order(a: Atom) -> tuple[str, str, int]:
    return a.order


def polynomial(total: dict[Monomial, int], constant: int) -> Expr:
    """The interned sum of `coefficient * monomial` and `constant`; zero coefficients drop out."""
    terms: tuple[tuple[Monomial, int], ...] = ()
    if len(total) == 1:
        (term,) = total.items()
        if term[1]:
            terms = (term,)
    elif total:
        terms = tuple(
            sorted(((m, c) for m, c in total.items() if c), key=lambda t: [_atom_order(a) for a in t[0]])
        )
    key: tuple[object, ...] = (terms, constant)
    found = _TABLE.exprs.get(key)
    if found is None:
        lo, hi = _sum_range(terms, constant)
        found = Expr(terms, constant, lo, hi, _TABLE.fresh())
        _TABLE.exprs[key] = found
    return found


def _atom(kind: str, name: str, args: tuple[Expr, ...], lo: Bound, hi: Bound) -> Expr:
    key: tuple[object, ...] = (kind, name, lo, hi) if kind == "sym" else (kind, tuple(a.uid for a in args))
    found = _TABLE.atoms.get(key)
    if found is None:
        found = Atom(kind, name, args, lo, hi, _TABLE.fresh())
        _TABLE.atoms[key] = found
    return from_atom(found)


def from_atom(a: Atom) -> Expr:
    """The expression that is just `a`."""
    found = _TABLE.exprs.get(((((a,), 1),), 0))
    return polynomial({(a,): 1}, 0) if found is None else found


def const(value: int) -> Expr:
    """The constant `value`."""
    found = _TABLE.exprs.get(((), value))
    return polynomial({}, value) if found is None else found


def symbol(name: str, lo: Bound = None, hi: Bound = None) -> Expr:
    """A free integer with inclusive bounds; the same name with other bounds is another symbol."""
    if lo is not None and lo == hi:
        return const(lo)
    return _atom("sym", name, (), lo, hi)


def as_expr(value: IntLike) -> Expr:
    """`value` itself, or the constant."""
    return value if isinstance(value, Expr) else const(int(value))


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
    return _atom(kind, "", tuple(kept), lo, hi)


def _dominates(kind: str, winner: Expr, loser: Expr) -> bool:
    diff = loser - winner if kind == "min" else winner - loser
    return diff.lo is not None and diff.lo >= 0


def _split_multiple(e: Expr, k: int) -> tuple[Expr, Expr]:
    """`e = k*q + r` termwise: whole multiples of `k` go to q, each other coefficient and the constant stay as r."""
    q: dict[Monomial, int] = {}
    r: dict[Monomial, int] = {}
    for mono, c in e.terms:
        (q if c % k == 0 else r)[mono] = c // k if c % k == 0 else c
    return polynomial(q, e.constant // k), polynomial(r, e.constant % k)


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


def _floordiv(e: Expr, d: Expr) -> Expr:
    k = d.value
    if k is not None:
        if k == 0:
            return _atom("floordiv", "", (e, d), None, None)
        if k < 0:
            return _floordiv(-e, const(-k))
        if e.value is not None:
            return const(e.value // k)
        if k == 1:
            return e
        common = reduce(gcd, (c for _, c in e.terms), k)
        if common > 1:
            # floor((g*x + c) / (g*m)) == floor((x + floor(c/g)) / m)
            reduced = polynomial({m: c // common for m, c in e.terms}, e.constant // common)
            return _floordiv(reduced, const(k // common))
        q, r = _split_multiple(e, k)
        if r.lo is not None and r.hi is not None and r.lo // k == r.hi // k:
            return q + r.lo // k
        inner = _nested_floordiv(r, k)
        if inner is not None:
            return q + inner
        lo = r.lo // k if r.lo is not None else None
        hi = r.hi // k if r.hi is not None else None
        return q + _atom("floordiv", "", (r, d), lo, hi)
    if e.value == 0:
        return e  # where the division has a value at all
    exact = multiple_of(e, d)
    if exact is not None and d.lo is not None and d.lo > 0:
        return exact
    lo, hi = _quotient_range(e, d)
    return _atom("floordiv", "", (e, d), lo, hi)


def _nested_floordiv(r: Expr, k: int) -> Expr | None:
    """(x // a + c) // k == (x + c*a) // (a*k) for positive a, k."""
    if len(r.terms) == 1 and r.terms[0][1] == 1 and len(r.terms[0][0]) == 1:
        atom = r.terms[0][0][0]
        if atom.kind == "floordiv":
            a = atom.args[1].value
            if a is not None and a > 0:
                return _floordiv(atom.args[0] + r.constant * a, const(a * k))
    return None


def _mod(e: Expr, d: Expr) -> Expr:
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
        return _atom("mod", "", (e, d), lo, hi)
    if e.value == 0:
        return e  # where the remainder has a value at all
    if multiple_of(e, d) is not None:
        return const(0) if d.lo is not None and d.lo > 0 else _atom("mod", "", (e, d), None, None)
    if d.lo is not None and d.lo > 0:
        return _atom("mod", "", (e, d), 0, d.hi - 1 if d.hi is not None else None)
    return _atom("mod", "", (e, d), None, None)


def _quotient_range(e: Expr, d: Expr) -> tuple[Bound, Bound]:
    if d.lo is None or d.lo <= 0 or e.lo is None or e.lo < 0:
        return None, None
    return (e.lo // d.hi if d.hi is not None else 0), (e.hi // d.lo if e.hi is not None else None)


def _sum_range(terms: tuple[tuple[Monomial, int], ...], constant: int) -> tuple[Bound, Bound]:
    lo: Bound = constant
    hi: Bound = constant
    for mono, c in terms:
        ml, mh = _product_range(mono)
        if c < 0:
            ml, mh = mh, ml
        lo = None if lo is None or ml is None else lo + c * ml
        hi = None if hi is None or mh is None else hi + c * mh
    return lo, hi


def _product_range(mono: Monomial) -> tuple[Bound, Bound]:
    lo, hi = mono[0].lo, mono[0].hi
    for a in mono[1:]:
        if lo is not None and lo >= 0 and a.lo is not None and a.lo >= 0:
            lo, hi = lo * a.lo, (hi * a.hi if hi is not None and a.hi is not None else None)
        elif lo is not None and hi is not None and a.lo is not None and a.hi is not None:
            corners = (lo * a.lo, lo * a.hi, hi * a.lo, hi * a.hi)
            lo, hi = min(corners), max(corners)
        else:
            lo, hi = None, None
    return lo, hi


def _nonneg(e: Expr) -> Cond:
    from pypto_verified.index.cond import nonneg

    return nonneg(e)
