"""A theorem is one declaration: what it says of a declaration that the product runs, for which values, and wrong
versions of that declaration that must be caught."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Generic, TypeVar

from pypto_verified.index import FALSE, Cond
from pypto_verified.index.cond import CondLike, as_cond
from pypto_verified.records import dataclass

D = TypeVar("D")

EVERY_RULE = "every rule"
"""Stands for all rule ids where all rest on a theorem."""


@dataclass(frozen=True, slots=True)
class Claim:
    """One formula of a theorem: wherever `hypotheses` hold, `goal` holds. `holds` False: it must fail somewhere, and
    the counterexample is part of the theorem."""

    label: str
    hypotheses: Cond
    goal: Cond
    holds: bool = True


def claim(label: str, hypotheses: CondLike, goal: CondLike, holds: bool = True) -> Claim:
    """The same, from plain Booleans too."""
    return Claim(label, as_cond(hypotheses), as_cond(goal), holds)


@dataclass(frozen=True, slots=True)
class Mutant(Generic[D]):
    """A wrong version of the declaration, made from the right one."""

    what: str
    make: Callable[[D], D]


@dataclass(frozen=True, slots=True)
class Theorem(Generic[D]):
    """`statement` says it in plain words, `formula` in symbols; `ranges` are the only bounds on its values. `subject`
    fetches the declaration from the product when it is asked, `claims` evaluates it symbolically. `rests`: ids of the
    rules that rest on the theorem."""

    id: str
    statement: str
    formula: str
    ranges: str
    rests: tuple[str, ...]
    subject: Callable[[], D]
    claims: Callable[[D], Iterable[Claim]]
    mutants: tuple[Mutant[D], ...]


AnyTheorem = Theorem[Any]
"""A theorem over some declaration; theorems about different ones stand in one table."""


def counting(claims: Iterable[Claim]) -> Iterator[Claim]:
    """The claims that count: not those that the normal form alone makes true. Such a claim shows nothing; under a wrong
    declaration it is no longer true, and then it counts."""
    return (c for c in claims if not c.holds or c.hypotheses is FALSE or c.hypotheses & ~c.goal is not FALSE)
