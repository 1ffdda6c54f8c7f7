"""Loops in loops that move one store along an axis."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from proofs.lemmas import product_bound
from proofs.theorem import Claim, Mutant, Theorem, claim
from pypto_verified.index import Cond, Expr, all_of, any_of, const, minimum, symbol
from pypto_verified.records import dataclass
from verifiers import write_nest
from verifiers.write_levels import Level, Nest


@dataclass(frozen=True, slots=True)
class Nests:
    """What the product says that a nest writes of an axis of some extent."""

    written: Callable[[Nest, Expr], write_nest.Written]


def _nests(nests: Nests) -> Iterator[Claim]:
    fine = Level("j", symbol("turns", 1), symbol("inner", 1))
    coarse = Level("i", symbol("rounds", 1), symbol("outer", 1))
    yield from _claims(nests, "one loop", fine, None)
    yield from _claims(nests, "two loops", fine, coarse)
    yield from _claims(nests, "a loop in blocks", fine, replace(coarse, count=None))


def _claims(nests: Nests, name: str, fine: Level, coarse: Level | None) -> Iterator[Claim]:
    size, extent, x, i, j = symbol("size", 1), symbol("extent", 1), symbol("x", 0), symbol("i", 0), symbol("j", 0)
    found = nests.written(Nest(const(0), size, (fine,) if coarse is None else (fine, coarse), (), True), extent)
    turns = fine.count
    assert turns is not None, "the finer level is a loop"
    # Which window has x: the round that x // outer says, and in it the turn that what is left of x says.
    outer = const(0) if coarse is None else coarse.pace
    round_ = const(0) if coarse is None else _at_most(x // outer, coarse.count)
    turn = _at_most((x - outer * round_) // fine.pace, turns)
    start = outer * round_ + fine.pace * turn
    end = extent if found.open else minimum(extent, found.reached)
    yield claim(f"{name}: covered", found.whole & (x < end), all_of((turn >= 0, start <= x, x < start + size)))
    # The windows that are not those on both sides of x: none reaches it.
    inside = [j < turns, product_bound(j, fine.pace), product_bound(turns - 1 - j, fine.pace)]
    if coarse is not None:
        inside += [coarse.pace >= fine.pace, product_bound(i, outer)]
    if coarse is not None and coarse.count is not None:
        inside += [i < coarse.count, product_bound(coarse.count - 1 - i, outer)]
    other = fine.pace * j + outer * i
    below: list[Cond] = []
    for place, gap in zip(("a turn", "a round"), found.gaps, strict=False):
        missing = all_of((*below, gap.count > 1, gap.length <= x, x < gap.pace))
        yield claim(f"{name}: nothing between {place} and the next", all_of((missing, *inside)), _apart(x, other, size))
        below.append(gap.pace <= gap.length)
    if not found.open:
        yield claim(f"{name}: nothing behind", all_of((x >= found.reached, *inside)), _apart(x, other, size))


def _at_most(turn: Expr, count: Expr | None) -> Expr:
    return turn if count is None else minimum(turn, count - 1)


def _apart(x: Expr, start: Expr, size: Expr) -> Cond:
    return any_of((x < start, x >= start + size))


def _wider(nests: Nests) -> Nests:
    def written(nest: Nest, extent: Expr) -> write_nest.Written:
        made = nests.written(nest, extent)
        return replace(made, gaps=tuple(replace(g, length=g.length + 1) for g in made.gaps))
    return Nests(written)


def _further(nests: Nests) -> Nests:
    def written(nest: Nest, extent: Expr) -> write_nest.Written:
        made = nests.written(nest, extent)
        return replace(made, reached=made.reached + 1)
    return Nests(written)


def _nearer(nests: Nests) -> Nests:
    def written(nest: Nest, extent: Expr) -> write_nest.Written:
        made = nests.written(nest, extent)
        return replace(made, reached=made.reached - 1)
    return Nests(written)


NEST: Theorem[Nests] = Theorem(
    id="GRID-NEST",
    statement="Windows that loops in loops move along an axis by constant steps, the longer steps further out, leave "
    "nothing out exactly if no step is longer than what the loops below it write together and the last window reaches "
    "the end: what lies between two windows is in none of the others.",
    formula="outer <= (turns - 1)*inner + size and inner <= size  =>  0 <= x < reached in [outer*i + inner*j, + size) "
    "for some i, j;  else x = (turns - 1)*inner + size, or x = size, in none",
    ranges="any steps, window, extent and numbers of turns >= 1; two levels: the finer is a window of the next",
    rests=("WRITE-NEST",),
    subject=lambda: Nests(write_nest.written),
    claims=_nests,
    mutants=(
        Mutant("a gap of one element passes", _wider),
        Mutant("the last window is one element longer", _further),
        Mutant("the last window is one element shorter", _nearer),
    ),
)

THEOREMS = (NEST,)
