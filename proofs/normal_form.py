"""The index normal form: each rewriting keeps the value of every expression, for all values of its symbols.

A claim never compares two normal forms, which rewriting itself could make equal. It introduces operands and result as
free integers, tied by the definition of the operation, and asks whether the rewritten form equals the result and
whether the result lies in the range that the rewritten form is given.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from proofs.lemmas import product_bound, same_product
from proofs.symbolic import iff
from proofs.theorem import EVERY_RULE, Claim, Mutant, Theorem, claim
from pypto_verified.index import (
    Cond,
    Expr,
    IntLike,
    all_of,
    any_of,
    cond,
    const,
    eq,
    maximum,
    minimum,
    symbol,
    walk,
)
from pypto_verified.records import dataclass

RADICES = (2, 3, 8, 16, 32, 64, 256, 512)

X, Y = symbol("x"), symbol("y")
SMALL = symbol("small", 0, 20)
VALUE, RESULT = symbol("value"), symbol("result")


@dataclass(frozen=True, slots=True)
class Index:
    """The operations of the index language."""

    floordiv: Callable[[Expr, Expr], Expr]
    mod: Callable[[Expr, Expr], Expr]
    minimum: Callable[[Expr, Expr], Expr]
    maximum: Callable[[Expr, Expr], Expr]
    multiply: Callable[[Expr, Expr], Expr]
    nonneg: Callable[[Expr], Cond]
    equal: Callable[[Expr, Expr], Cond]
    negate: Callable[[Cond], Cond]
    substitute: Callable[[Expr, Mapping[str, IntLike]], Expr]


def _product() -> Index:
    return Index(
        lambda a, b: a // b, lambda a, b: a % b, minimum, maximum, lambda a, b: a * b, cond.nonneg, cond.eq,
        cond.negate, walk.substitute)


def _is(made: Expr, result: Expr) -> Cond:
    """That the rewritten form has the value `result`, and that this lies in its range."""
    parts = [eq(made, result)]
    parts += [result >= made.lo] if made.lo is not None else []
    parts += [result <= made.hi] if made.hi is not None else []
    return all_of(parts)


def _operands(k: int) -> Iterator[tuple[str, Expr]]:
    """One operand for each way in which a division by `k` is rewritten."""
    yield "multiples and a rest", X * k + Y + 5
    yield "common factor", X * (2 * k) + Y * (6 * k) + 2 * k + 1
    yield "rest within the divisor", X * k + symbol("digit", 0, k - 1)
    yield "rest beyond the divisor", X * (3 * k) + SMALL - 7
    yield "quotient", (X + 3) // 6 - 2
    yield "remainder", X * (k + 1) + Y % (2 * k)
    yield "coefficient beyond the divisor", X * (5 * k + 3) + 7


def _divisions(index: Index) -> Iterator[Claim]:
    rest = symbol("rest")
    for k in RADICES:
        for name, e in _operands(k):
            digits = all_of((eq(VALUE, e), eq(VALUE, RESULT * k + rest), rest >= 0, rest < k))
            yield claim(f"{name} // {k}", digits, _is(index.floordiv(e, const(k)), RESULT))
            yield claim(f"{name} % {k}", digits, _is(index.mod(e, const(k)), rest))
        digits = all_of((eq(VALUE, X * 4 + 6), eq(VALUE, RESULT * -k + rest), rest <= 0, rest > -k))
        yield claim(f"negative divisor // -{k}", digits, _is(index.floordiv(X * 4 + 6, const(-k)), RESULT))
        yield claim(f"negative divisor % -{k}", digits, _is(index.mod(X * 4 + 6, const(-k)), rest))
    divisor = symbol("divisor", 1)
    known = product_bound(RESULT - X, divisor) & product_bound(X - RESULT, divisor)
    digits = all_of((eq(X * divisor, RESULT * divisor + rest), rest >= 0, rest < divisor, known))
    yield claim("multiple // symbol", digits, _is(index.floordiv(X * divisor, divisor), RESULT))
    yield claim("multiple % symbol", digits, _is(index.mod(X * divisor, divisor), rest))


DIVISION: Theorem[Index] = Theorem(
    id="INDEX-DIVISION",
    statement="Floor division and remainder of the index language have their mathematical values however an operand is "
    "rewritten: multiples taken out, common factors divided out, nested quotients merged, ranges used.",
    formula="e = q*k + r, 0 <= r < k  =>  [e // k] = q and [e % k] = r, both in their ranges",
    ranges=f"any values of the symbols; divisors {', '.join(map(str, RADICES))}, their negatives, and a symbol",
    rests=(EVERY_RULE,),
    subject=_product,
    claims=_divisions,
    mutants=(
        Mutant("division rounds up", lambda s: replace(s, floordiv=lambda a, b: (a + b - 1) // b)),
        Mutant("the remainder is that of twice the divisor", lambda s: replace(
            s, mod=lambda a, b: s.mod(a, b * 2))),
    ),
)


def _ring(index: Index) -> Iterator[Claim]:
    left, right = symbol("left"), symbol("right")
    known = all_of((
        same_product(left, X + Y, right), same_product(right, X - Y + 3, X), same_product(right, X - Y + 3, Y)))
    given = all_of((eq(left, X + Y), eq(right, X - Y + 3), known, eq(RESULT, left * right)))
    yield claim("product", given, _is(index.multiply(X + Y, X - Y + 3), RESULT))
    pairs = (
        ("unrelated", X, Y), ("one below the other", X, X + 3), ("decided by range", SMALL, const(25)),
        ("bounded", SMALL, const(5)), ("nested", minimum(X, Y), X + 1), ("constants", const(3), const(4)),
        ("of remainders", X % 8, Y % 16))
    for name, a, b in pairs:
        one = all_of((eq(VALUE, a), eq(symbol("other"), b), any_of((eq(RESULT, VALUE), eq(RESULT, symbol("other"))))))
        least = all_of((one, RESULT <= VALUE, symbol("other") >= RESULT))
        most = all_of((one, RESULT >= VALUE, symbol("other") <= RESULT))
        yield claim(f"min {name}", least, _is(index.minimum(a, b), RESULT))
        yield claim(f"max {name}", most, _is(index.maximum(a, b), RESULT))
    terms = (
        ("sum", X * 3 - Y), ("quotient", (X + Y) // 4), ("remainder", (X * 2 + 3) % 8), ("min", minimum(X, Y)))
    for name, e in terms:
        given = all_of((eq(X, Y * 2 + 1), eq(RESULT, e)))
        yield claim(f"substitution in {name}", given, _is(index.substitute(e, {"x": Y * 2 + 1}), RESULT))


RING: Theorem[Index] = Theorem(
    id="INDEX-TERMS",
    statement="Products, minima, maxima and substitution of the index language have their mathematical values, also "
    "where an operand is dropped because ranges or differences show it to be dominated.",
    formula="[a*b] = a*b;  [min(a, b)] = min(a, b);  [max(a, b)] = max(a, b);  x = t  =>  [e[t/x]] = e",
    ranges="any values of the symbols",
    rests=(EVERY_RULE,),
    subject=_product,
    claims=_ring,
    mutants=(
        Mutant("the greater operand is kept", lambda s: replace(s, minimum=maximum)),
        Mutant("substitution is off by one", lambda s: replace(
            s, substitute=lambda e, env: walk.substitute(e, {k: v + 1 for k, v in env.items()}))),
    ),
)


def _conditions(index: Index) -> Iterator[Claim]:
    terms = (
        ("plain", X - Y + 1), ("common factor", X * 4 + Y * 8 - 3), ("negative factor", X * -6 + 4),
        ("always by range", SMALL + 1), ("never by range", SMALL - 21), ("open by range", SMALL - 9),
        ("quotient", (X + 1) // 16 - Y))
    for name, e in terms:
        given = eq(VALUE, e)
        yield claim(f"{name} >= 0", given, iff(index.nonneg(e), VALUE >= 0))
        yield claim(f"not {name} >= 0", given, iff(index.negate(index.nonneg(e)), VALUE < 0))
    pairs = (
        ("plain", X, Y + 1), ("common factor", X * 4 + 2, Y * 6), ("no common solution", X * 4 + Y * 8, const(2)),
        ("out of range", SMALL, const(21)), ("negative factor", X * -3, Y * 6 + 9))
    for name, a, b in pairs:
        same = all_of((VALUE >= 0, VALUE <= 0))
        yield claim(f"{name} ==", eq(VALUE, a - b), iff(index.equal(a, b), same))
        yield claim(f"not {name} ==", eq(VALUE, a - b), iff(index.negate(index.equal(a, b)), cond.negate(same)))
    both = index.nonneg(X - Y) & index.equal(X % 4, const(1))
    given = eq(VALUE, X - Y) & eq(RESULT, X % 4)
    yield claim("not and", given, iff(index.negate(both), any_of((VALUE < 0, RESULT < 1, RESULT > 1))))


CONDITIONS: Theorem[Index] = Theorem(
    id="INDEX-CONDITIONS",
    statement="Comparisons of the index language hold exactly when the mathematical ones do, also where they are "
    "divided by a common factor or decided by ranges, and negation is the complement.",
    formula="v = e  =>  ([e >= 0] <=> v >= 0), ([e = 0] <=> v = 0), and [not c] <=> not c",
    ranges="any values of the symbols",
    rests=(EVERY_RULE,),
    subject=_product,
    claims=_conditions,
    mutants=(
        Mutant("a bound rounds the wrong way", lambda s: replace(s, nonneg=lambda e: cond.nonneg(e + 1))),
        Mutant("the complement keeps the border", lambda s: replace(s, negate=lambda c: (
            cond.nonneg(-c.expr) if c.kind == "nonneg" and c.expr is not None else cond.negate(c)))),
    ),
)

THEOREMS = (DIVISION, RING, CONDITIONS)
