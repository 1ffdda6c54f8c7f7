"""What linear reasoning does not know about products. A theorem may add instances of these to its hypotheses: they hold
for all integers, as the theorem LEMMA-PRODUCTS shows of the very functions that make the instances."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from proofs.theorem import Claim, Mutant, Theorem, claim
from pypto_verified.index import TRUE, Cond, Expr, eq, implies, symbol
from pypto_verified.records import dataclass


def product_bound(a: Expr, b: Expr) -> Cond:
    """A product of two positive integers is no less than either (said of one; swap them for the other)."""
    return implies((a >= 1) & (b >= 1), a * b >= b)


def same_product(a: Expr, b: Expr, factor: Expr) -> Cond:
    """Equals times equals."""
    return implies(eq(a, b), eq(a * factor, b * factor))


@dataclass(frozen=True, slots=True)
class Lemmas:
    """The functions that make instances."""

    bound: Callable[[Expr, Expr], Cond]
    same: Callable[[Expr, Expr, Expr], Cond]


def _claims(lemmas: Lemmas) -> Iterator[Claim]:
    a, b, factor = symbol("a"), symbol("b"), symbol("factor")
    yield claim("bound", TRUE, lemmas.bound(a, b))
    yield claim("equal factors", TRUE, lemmas.same(a, b, factor))


PRODUCTS: Theorem[Lemmas] = Theorem(
    id="LEMMA-PRODUCTS",
    statement="A product of positive integers is no less than a factor, and equal factors make equal products: the "
    "only facts about products that other theorems add to their hypotheses.",
    formula="a >= 1 and b >= 1  =>  a*b >= b;   a = b  =>  a*f = b*f",
    ranges="all integers",
    rests=(),
    subject=lambda: Lemmas(product_bound, same_product),
    claims=_claims,
    mutants=(
        Mutant("a factor may be zero", lambda s: replace(
            s, bound=lambda a, b: implies((a >= 0) & (b >= 1), a * b >= b))),
        Mutant("the bound is strict", lambda s: replace(
            s, bound=lambda a, b: implies((a >= 1) & (b >= 1), a * b > b))),
    ),
)

THEOREMS = (PRODUCTS,)
