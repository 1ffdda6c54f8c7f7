"""What each pipe knows to be done: one row of times a pipe.

Times count the accesses and waits of a run in program order. `known[q][p] = t`: whatever starts on pipe `q` from now on
starts after all ops that pipe `p` was given up to time `t` are done.
"""

from __future__ import annotations

from collections.abc import Iterable

from pypto_verified.targets.pipes import ALL

Message = list[int]
"""What a flag tells the pipe that waits for it: a time for each pipe."""


class Clocks:
    """The state of one path. `last[p]`: when pipe `p` was given its last access or wait on this path."""

    __slots__ = ("index", "known", "last")

    def __init__(self, pipes: tuple[str, ...]) -> None:
        self.index = {p: i for i, p in enumerate(pipes)}
        self.known = [[0] * len(pipes) for _ in pipes]
        self.last = [0] * len(pipes)

    def copy(self) -> Clocks:
        made = Clocks.__new__(Clocks)
        made.index = self.index
        made.known = [row[:] for row in self.known]
        made.last = self.last[:]
        return made

    def given(self, pipe: str, now: int) -> None:
        """Pipe `pipe` was given something to do."""
        self.last[self.index[pipe]] = now

    def knows(self, pipe: str, of: str) -> int:
        """Up to when all that `of` was given is done for what `pipe` is given next."""
        return self.known[self.index[pipe]][self.index[of]]

    def message(self, src: str, now: int) -> Message:
        """What a flag tells that `src` sets now: all that `src` was given is done, and all that `src` waited for."""
        told = self.known[self.index[src]][:]
        told[self.index[src]] = now
        return told

    def learn(self, pipe: str, told: Message) -> None:
        """A wait of `pipe` returned."""
        row = self.known[self.index[pipe]]
        for i, t in enumerate(told):
            if t > row[i]:
                row[i] = t

    def barrier(self, pipe: str, now: int) -> None:
        """A barrier: later ops of the pipe start after its earlier ones, with ALL after those of all pipes."""
        if pipe == ALL:
            for row in self.known:
                row[:] = [now] * len(row)
        else:
            i = self.index[pipe]
            self.known[i][i] = now

    @classmethod
    def meet(cls, paths: Iterable[Clocks], now: int) -> Clocks:
        """What is known whichever path was taken. On a path where nothing of a pipe is open, nothing of it will be."""
        first, *others = paths
        met = first.copy()
        met.known = [first._closed(row, now) for row in first.known]
        for other in others:
            met.known = [
                [min(pair) for pair in zip(mine, other._closed(theirs, now), strict=True)]
                for mine, theirs in zip(met.known, other.known, strict=True)
            ]
            met.last = [max(pair) for pair in zip(met.last, other.last, strict=True)]
        return met

    def _closed(self, row: list[int], now: int) -> list[int]:
        return [now if known >= last else known for known, last in zip(row, self.last, strict=True)]
