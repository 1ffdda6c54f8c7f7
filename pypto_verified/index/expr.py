"""Integer index expressions in one normal form, interned so that equal expressions are one object.

An expression is a polynomial: a sorted sum of `coefficient * monomial`, a monomial being a sorted product of *atoms*.
Atoms are symbols and the irreducible forms `floordiv(a, b)`, `mod(a, b)`, `min(...)`, `max(...)`. Division is floor
division and `mod` has the sign of the divisor (Python's meaning). Both are partial: a zero divisor has no value.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias, Union

from pypto_verified.index.ranges import Bound, sum_range
from pypto_verified.records import dataclass

if TYPE_CHECKING:
    from pypto_verified.index.cond import Cond

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
        lo, hi = sum_range(terms, constant)
        found = Expr(terms, constant, lo, hi, _TABLE.fresh())
        _TABLE.exprs[key] = found
    return found


def irreducible(kind: str, name: str, args: tuple[Expr, ...], lo: Bound, hi: Bound) -> Expr:
    """The expression that is just the atom of this kind; two of one name or of the same operands are one."""
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
    return irreducible("sym", name, (), lo, hi)


def as_expr(value: IntLike) -> Expr:
    """`value` itself, or the constant."""
    return value if isinstance(value, Expr) else const(int(value))


def _nonneg(e: Expr) -> Cond:
    from pypto_verified.index.cond import nonneg

    return nonneg(e)


def _floordiv(e: Expr, d: Expr) -> Expr:
    from pypto_verified.index.division import floordiv

    return floordiv(e, d)


def _mod(e: Expr, d: Expr) -> Expr:
    from pypto_verified.index.division import mod

    return mod(e, d)
