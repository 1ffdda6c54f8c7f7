"""What each pipe knows to be done: one row of times a pipe.

Times count the accesses and waits of a run in program order. Whatever starts on pipe `q` from now on starts after all
accesses that pipe `p` was given up to the time `knows(q, p)` are done, and after all its waits for flags of `q` up to
the time `heard(q, p)`.
"""

from __future__ import annotations

from collections.abc import Iterable

from pypto_verified.targets.pipes import ALL

Message = list[int]
"""What a flag tells the pipe that waits for it: times as in a row of `Clocks`."""


class Clocks:
    """The state of one path. Of n pipes a row has n times, of each pipe's accesses, then n for each pipe, of its waits
    for flags of each source: a pipe that waits for a third one is not behind with those of the first. `last` are the
    times when each was given its last on this path."""

    __slots__ = ("index", "known", "last")

    def __init__(self, pipes: tuple[str, ...]) -> None:
        self.index = {p: i for i, p in enumerate(pipes)}
        self.known = [[0] * len(pipes) * (len(pipes) + 1) for _ in pipes]
        self.last = [0] * len(pipes) * (len(pipes) + 1)

    def copy(self) -> Clocks:
        made = Clocks.__new__(Clocks)
        made.index = self.index
        made.known = [row[:] for row in self.known]
        made.last = self.last[:]
        return made

    def access(self, pipe: str, now: int) -> None:
        """Pipe `pipe` was given an access."""
        self.last[self.index[pipe]] = now

    def wait(self, pipe: str, source: str, now: int) -> None:
        """Pipe `pipe` was given a wait for a flag of `source`."""
        self.last[self._waits(pipe) + self.index[source]] = now

    def knows(self, pipe: str, of: str) -> int:
        """Up to when all accesses that `of` was given are done for what `pipe` is given next."""
        return self.known[self.index[pipe]][self.index[of]]

    def heard(self, pipe: str, of: str) -> int:
        """Up to when all waits of `of` for flags of `pipe` are over for what `pipe` is given next."""
        return self.known[self.index[pipe]][self._waits(of) + self.index[pipe]]

    def _waits(self, pipe: str) -> int:
        """Where the times of a pipe's waits begin in a row."""
        return (self.index[pipe] + 1) * len(self.index)

    def message(self, src: str, now: int) -> Message:
        """What a flag tells that `src` sets now: all that `src` was given is done, and all that `src` waited for."""
        told = self.known[self.index[src]][:]
        self._done(told, src, now)
        return told

    def _done(self, row: list[int], pipe: str, now: int) -> None:
        """All that a pipe was given is done."""
        row[self.index[pipe]] = now
        first, pipes = self._waits(pipe), len(self.index)
        row[first:first + pipes] = [now] * pipes

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
            self._done(self.known[self.index[pipe]], pipe, now)

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
