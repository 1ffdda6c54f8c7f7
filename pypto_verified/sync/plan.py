"""The flags and barriers of a function while they are chosen, and where they stand."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field
from typing import TypeAlias, Union

from pypto_verified.records import dataclass
from pypto_verified.sync.program import Loop, Sequence
from pypto_verified.targets.model import Pair


@dataclass(slots=True, eq=False)
class Flag:
    """A flag that pipe `src` sets and pipe `dst` waits for in block `at`, before the ops at positions `set_at` and
    `wait_at`.

    `turns` 0: the wait comes after the set, in the same turn. Else `at` is a loop's body, the wait comes first and is
    for the set `turns` turns before: as many flags are set before the outermost loop around and waited for after it.
    `ids`: how many ids it takes in turn; `first`: the lowest of them, -1 until chosen. `answers`: the flag of which it
    tells the setting pipe that its wait is over.
    """

    src: str
    dst: str
    at: Sequence
    set_at: int
    wait_at: int
    turns: int = 0
    ids: int = 1
    first: int = -1
    answers: Flag | None = None

    @property
    def pair(self) -> Pair:
        return self.src, self.dst

    @property
    def loop(self) -> Loop | None:
        """The loop whose turns tell its ids apart."""
        return self.at.loops[-1] if self.at.loops else None


@dataclass(slots=True, eq=False)
class Barrier:
    """A barrier of `pipe` ('ALL': of all) in block `at` before the op at `position`."""

    pipe: str
    at: Sequence
    position: int


Sync: TypeAlias = Union[Flag, Barrier]


@dataclass(slots=True)
class Point:
    """What stands at one place of a block, in this order."""

    sets: list[Flag] = field(default_factory=list)
    waits: list[Flag] = field(default_factory=list)
    barriers: list[Barrier] = field(default_factory=list)


class Plan:
    """The flags and barriers chosen so far."""

    def __init__(self) -> None:
        self.chosen: list[Sync] = []
        self._points: dict[Sequence, dict[int, Point]] = {}

    def add(self, sync: Sync) -> None:
        self.chosen.append(sync)
        self._place(sync)

    def drop(self, sync: Sync) -> None:
        self.chosen.remove(sync)
        at = self._points[sync.at]
        if isinstance(sync, Barrier):
            at[sync.position].barriers.remove(sync)
        else:
            at[sync.set_at].sets.remove(sync)
            at[sync.wait_at].waits.remove(sync)

    def points(self, s: Sequence) -> dict[int, Point]:
        """What stands in a block, by position."""
        return self._points.get(s, {})

    def flags(self) -> Iterable[Flag]:
        return (s for s in self.chosen if isinstance(s, Flag))

    def _place(self, sync: Sync) -> None:
        at = self._points.setdefault(sync.at, {})
        if isinstance(sync, Barrier):
            at.setdefault(sync.position, Point()).barriers.append(sync)
        else:
            at.setdefault(sync.set_at, Point()).sets.append(sync)
            at.setdefault(sync.wait_at, Point()).waits.append(sync)
