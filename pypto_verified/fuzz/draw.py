"""The one source of choices of the generator. A driver answers with numbers; everything else stands on top."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Protocol, TypeVar

Item = TypeVar("Item")


class Draw(Protocol):
    """Answers each question of the generator with an integer."""

    def integer(self, low: int, high: int) -> int:
        """A number of low..high, both included."""


class Seeded:
    """The driver of campaigns: equal seeds give equal kernels, on every machine."""

    def __init__(self, seed: int, example: int) -> None:
        self._random = random.Random(f"{seed}:{example}")

    def integer(self, low: int, high: int) -> int:
        return low + int(self._random.random() * (high - low + 1))


def choice(draw: Draw, items: Sequence[Item]) -> Item:
    """One of the items, each as likely as the others."""
    return items[draw.integer(0, len(items) - 1)]


def weighted(draw: Draw, items: Sequence[tuple[Item, int]]) -> Item:
    """One of the items, each as likely as its weight says."""
    at = draw.integer(0, sum([weight for _, weight in items]) - 1)
    for item, weight in items:
        at -= weight
        if at < 0:
            return item
    raise AssertionError("weights are positive")


def chance(draw: Draw, percent: int) -> bool:
    """True in `percent` of 100 draws."""
    return draw.integer(1, 100) > 100 - percent
