"""One loop that numbers the tiles of several axes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from proofs.lemmas import product_bound, same_product
from proofs.theorem import Claim, Mutant, Theorem, claim
from pypto_verified.index import Expr, all_of, any_of, const, eq, substitute, substitute_cond, symbol
from pypto_verified.index.cond import TRUE
from pypto_verified.records import dataclass
from verifiers import write_digits
from verifiers.write_digits import Digits, Numbered
from verifiers.write_levels import Moved, Turn


@dataclass(frozen=True, slots=True)
class Numbering:
    """How the product counts the rounds of a loop, and how it writes a place in terms of them."""

    digits: Callable[[Turn, Expr], Digits]
    in_digits: Callable[[Moved], Numbered]


def _claims(numbering: Numbering) -> Iterator[Claim]:
    k = symbol("k", 1)
    yield from _turns(numbering, "some turns", symbol("n", 0), k)
    yield from _turns(numbering, "whole rounds", symbol("rounds", 0) * k, k)
    yield from _places(numbering, k)


def _turns(numbering: Numbering, name: str, count: Expr, k: Expr) -> Iterator[Claim]:
    made = numbering.digits(Turn("i", const(0), count, const(1)), k)
    i, over, within = symbol("i", 0), symbol("over", 0), symbol("within", 0)
    at = {"over": i // k, "within": i % k}
    of_a_round = any_of((over < made.rounds, eq(over, made.rounds) & (within < made.rest)))
    within_one = all_of((of_a_round, over < made.over.upper, within < made.within.upper))
    bounds = [product_bound(i // k - made.rounds, k), same_product(i // k, made.rounds, k),
              product_bound(i // k - made.over.upper + 1, k)]
    yield claim(f"{name}: each is of a round", all_of((i < count, *bounds)), substitute_cond(within_one, at))
    back = [product_bound(made.rounds - over, k), same_product(over, made.rounds, k)]
    inside = all_of((of_a_round, within < made.within.upper, *back))
    yield claim(f"{name}: what is of a round is one", inside, k * over + within < count)


def _places(numbering: Numbering, k: Expr) -> Iterator[Claim]:
    """A place says the same of tile i and of its digits: of two, and of three, whose first is one of the rounds'."""
    i, m, over, within = symbol("i", 0), symbol("m", 1), symbol("i_over", 0), symbol("i_within", 0)
    found = (k * over + within) // k
    two = [product_bound(found - over, k), product_bound(over - found, k), same_product(found, over, k)]
    for name, start in (("round", i // k), ("turn of a round", i % k)):
        after = numbering.in_digits(_numbered((start,), k)).moved.starts[0]
        before = substitute(start, {"i": k * over + within})
        yield claim(name, all_of((within < k, *two)), eq(before, after))
    higher, lower = symbol("i_over_over", 0), symbol("i_over_within", 0)
    place, both = k * (m * higher + lower) + within, k * m
    far = place // both
    three = [product_bound(m - lower, k), product_bound(lower + 1, k), product_bound(k, m),
             product_bound(far - higher, both), product_bound(higher - far, both), same_product(far, higher, both)]
    for name, start in (("round of rounds", i // both), ("turn of such a round", i % both)):
        after = numbering.in_digits(_numbered((start, i // k), both)).moved.starts[0]
        yield claim(name, all_of((within < k, lower < m, *three)), eq(substitute(start, {"i": place}), after))


def _numbered(starts: tuple[Expr, ...], radix: Expr) -> Moved:
    """Places that a loop of whole rounds goes over."""
    return Moved(starts, (), (), (Turn("i", const(0), symbol("n", 0) * radix, const(1)),), TRUE)


def _longer_rest(numbering: Numbering) -> Numbering:
    def digits(turn: Turn, radix: Expr) -> Digits:
        made = numbering.digits(turn, radix)
        return replace(made, rest=made.rest + 1)
    return replace(numbering, digits=digits)


def _fewer_rounds(numbering: Numbering) -> Numbering:
    def digits(turn: Turn, radix: Expr) -> Digits:
        made = numbering.digits(turn, radix)
        return replace(made, rounds=made.rounds - 1)
    return replace(numbering, digits=digits)


def _further(numbering: Numbering) -> Numbering:
    def in_digits(made: Moved) -> Numbered:
        found = numbering.in_digits(made)
        starts = tuple(start + 1 for start in found.moved.starts)
        return replace(found, moved=replace(found.moved, starts=starts))
    return replace(numbering, in_digits=in_digits)


DIGITS: Theorem[Numbering] = Theorem(
    id="GRID-DIGITS",
    statement="A loop over n tiles that places tile i by i // k and i % k takes the turns of two loops, one in the "
    "other: n // k whole rounds of k turns, and one of n % k; what is a digit of its number is one of theirs.",
    formula="0 <= i < n  <=>  i = k*q + r, 0 <= r < k, and q < n // k or q = n // k and r < n % k; "
    "(k*q + r) // (k*m) = q // m",
    ranges="any n >= 0, any k, m >= 1",
    rests=("WRITE-NEST",),
    subject=lambda: Numbering(write_digits.digits, write_digits.in_digits),
    claims=_claims,
    mutants=(
        Mutant("the last round is one turn longer", _longer_rest),
        Mutant("one round fewer", _fewer_rounds),
        Mutant("a tile stands one element further on", _further),
    ),
)

THEOREMS = (DIGITS,)
