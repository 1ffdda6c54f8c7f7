"""What a run shows: the numbers, data and flags by which a pair of ops is not in order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from verifiers.access import AccessProgram, SymbolKind
from verifiers.led import truths_passed
from verifiers.race.walker import PairKey

PASSED = (SymbolKind.PARAM, SymbolKind.SIZE, SymbolKind.LAUNCH)
"""Kinds of symbols that callers decide."""

Want: TypeAlias = tuple[str, PairKey | tuple[int, int]]
"""'order' or 'seen' and a pair of accesses; 'again' and a wait and a set of one flag."""


@dataclass(frozen=True, slots=True)
class Witness:
    """A run in which nothing orders a pair. `given`: the numbers chosen; `first`, `second`: the loop counters at the
    two accesses, under the names users know; `place` of the bytes; `asked`: values that nobody may choose on which it
    depends, `beside`: those of them that decide more than which way the run takes, `forked`: those that only one
    condition of a branch speaks of; `led`: data alone decide which way it takes, so a run of these data has to show it;
    `lone`: the argument of a caller that it takes one way of a branch by."""

    given: dict[str, int]
    first: dict[str, int]
    second: dict[str, int]
    place: str
    asked: frozenset[str]
    beside: frozenset[str] = frozenset()
    forked: frozenset[str] = frozenset()
    led: bool = False
    lone: str = ""


def of_data(program: AccessProgram, names: frozenset[str]) -> frozenset[str]:
    """Those of some values that nobody may choose which no caller passes."""
    kinds, passed = program.symbols.kinds, truths_passed(program)
    return frozenset(n for n in names if n not in passed and kinds.get(n) not in PASSED)
