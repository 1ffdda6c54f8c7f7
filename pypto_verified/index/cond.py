"""Conditions over index expressions: interned, simplified by range where that decides them."""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from math import gcd
from typing import TypeAlias, Union

from pypto_verified.index.expr import Expr, IntLike, as_expr, const, polynomial

CondLike: TypeAlias = Union["Cond", bool]


class Cond:
    """A Boolean term. `kind`: 'true', 'false', 'nonneg' (e >= 0), 'zero' (e == 0), 'not', 'and', 'or', 'var'.

    `&`, `|`, `~` build; `bool()` only works on TRUE and FALSE, so that an undecided condition never reads as one.
    """

    __slots__ = ("_negated", "_text", "expr", "kind", "name", "parts", "uid")

    def __init__(self, kind: str, expr: Expr | None, parts: tuple[Cond, ...], name: str, uid: int) -> None:
        self.kind = kind
        self.expr = expr
        self.parts = parts
        self.name = name
        self.uid = uid
        self._text = ""
        self._negated: Cond | None = None

    def __hash__(self) -> int:
        return self.uid

    def __eq__(self, other: object) -> bool:
        return self is other

    def __and__(self, other: CondLike) -> Cond:
        return all_of((self, other))

    __rand__ = __and__

    def __or__(self, other: CondLike) -> Cond:
        return any_of((self, other))

    __ror__ = __or__

    def __invert__(self) -> Cond:
        return negate(self)

    def __bool__(self) -> bool:
        if self is TRUE:
            return True
        if self is FALSE:
            return False
        raise TypeError(f"undecided condition used as a truth value: {self!r}")

    def __repr__(self) -> str:
        if not self._text:
            self._text = self._spelled()
        return self._text

    def _spelled(self) -> str:
        if self.kind in ("true", "false"):
            return self.kind
        if self.kind == "var":
            return self.name
        if self.kind == "not":
            inner = self.parts[0]
            if inner.kind == "zero" and inner.expr is not None:
                return _relation(inner.expr, "!=")
            return f"not ({inner!r})"
        if self.expr is not None:
            return _relation(self.expr, ">=" if self.kind == "nonneg" else "==")
        sep = f" {self.kind} "
        return sep.join(f"({p!r})" if p.kind in ("and", "or") else repr(p) for p in self.parts)


def _relation(e: Expr | None, sign: str) -> str:
    """Positive terms left, negative ones right: `a + 32 <= M` style, readable as an `--assume` text."""
    assert e is not None
    left = const(0)
    right = const(0)
    for mono, c in e.terms:
        term = polynomial({mono: abs(c)}, 0)
        left, right = (left + term, right) if c > 0 else (left, right + term)
    if e.constant >= 0:
        left = left + e.constant
    else:
        right = right - e.constant
    if sign == ">=" and not left.terms:
        return f"{right!r} <= {left!r}"
    return f"{left!r} {sign} {right!r}"


_COND_TABLE: dict[tuple[object, ...], Cond] = {}


def _make(kind: str, expr: Expr | None = None, parts: tuple[Cond, ...] = (), name: str = "") -> Cond:
    key: tuple[object, ...] = (kind, expr.uid if expr is not None else 0, tuple(p.uid for p in parts), name)
    found = _COND_TABLE.get(key)
    if found is None:
        found = Cond(kind, expr, parts, name, len(_COND_TABLE) + 1)
        _COND_TABLE[key] = found
    return found


TRUE = _make("true")
FALSE = _make("false")


def as_cond(value: CondLike) -> Cond:
    """`value` itself, or TRUE/FALSE."""
    if isinstance(value, Cond):
        return value
    return TRUE if value else FALSE


def variable(name: str) -> Cond:
    """An opaque Boolean (a branch on data the index language can't express)."""
    return _make("var", name=name)


def nonneg(e: Expr) -> Cond:
    """`e >= 0`, divided by the gcd of its coefficients (the constant rounds down: sound and complete on integers)."""
    if e.lo is not None and e.lo >= 0:
        return TRUE
    if e.hi is not None and e.hi < 0:
        return FALSE
    g = reduce(gcd, (c for _, c in e.terms), 0)
    if g > 1:
        e = polynomial({m: c // g for m, c in e.terms}, e.constant // g)
        return nonneg(e)
    return _make("nonneg", e)


def eq(a: IntLike, b: IntLike) -> Cond:
    """`a == b`."""
    e = as_expr(a) - as_expr(b)
    if e.value is not None:
        return TRUE if e.value == 0 else FALSE
    if (e.lo is not None and e.lo > 0) or (e.hi is not None and e.hi < 0):
        return FALSE
    g = reduce(gcd, (c for _, c in e.terms), 0)
    if e.constant % g:
        return FALSE
    if e.terms[0][1] < 0:
        e = -e
    if g > 1:
        e = polynomial({m: c // g for m, c in e.terms}, e.constant // g)
    return _make("zero", e)


def ne(a: IntLike, b: IntLike) -> Cond:
    """`a != b`."""
    return negate(eq(a, b))


def negate(c: Cond) -> Cond:
    """The complement; De Morgan over and/or, `not e >= 0` is `-e - 1 >= 0`."""
    if c._negated is None:
        c._negated = _complement(c)
    return c._negated


def _complement(c: Cond) -> Cond:
    if c.kind == "true":
        return FALSE
    if c.kind == "false":
        return TRUE
    if c.kind == "not":
        return c.parts[0]
    if c.kind == "nonneg":
        assert c.expr is not None
        return nonneg(-c.expr - 1)
    if c.kind == "and":
        return any_of(negate(p) for p in c.parts)
    if c.kind == "or":
        return all_of(negate(p) for p in c.parts)
    return _make("not", parts=(c,))


def all_of(parts: Iterable[CondLike]) -> Cond:
    """The conjunction; TRUE of nothing."""
    return _junction("and", parts, TRUE, FALSE)


def any_of(parts: Iterable[CondLike]) -> Cond:
    """The disjunction; FALSE of nothing."""
    return _junction("or", parts, FALSE, TRUE)


def _junction(kind: str, parts: Iterable[CondLike], unit: Cond, zero: Cond) -> Cond:
    flat: dict[int, Cond] = {}
    for part in parts:
        c = as_cond(part)
        if c is zero:
            return zero
        for leaf in c.parts if c.kind == kind else (c,):
            if leaf is not unit:
                flat[leaf.uid] = leaf
    if any(negate(c).uid in flat for c in flat.values() if c.kind not in ("and", "or")):
        return zero
    if not flat:
        return unit
    if len(flat) == 1:
        return next(iter(flat.values()))
    return _make(kind, parts=tuple(sorted(flat.values(), key=repr)))


def implies(a: CondLike, b: CondLike) -> Cond:
    """`not a or b`."""
    return any_of((negate(as_cond(a)), b))
