"""Vector clocks of the pipes of all cores of a run.

A clock has one entry a pipe of a core: how many of its ops are known to be complete. Ops of one pipe start in order;
that one is complete is known to a later op of the same pipe only where the pipe is in order, or after a barrier.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TypeAlias

from pypto_verified.records import dataclass

Clock: TypeAlias = list[int]


def join(a: Clock, b: Clock) -> Clock:
    """What is known by either."""
    return list(map(max, a, b))


@dataclass(frozen=True, slots=True)
class Token:
    """What a signal carries: `done`, ops that are complete; `seen`, those whose writes to global memory this core sees,
    by a fence behind them; `published`, those that any core sees, by a fence of the core that has written; `cleaned`,
    those between which and the data cache a cleaning stands; `origin`, the steps of the run that gave it."""

    done: Clock
    seen: Clock
    published: Clock
    cleaned: Clock
    origin: tuple[int, ...] = ()

    def abroad(self) -> Token:
        """What it tells another core: a fence of this one has published nothing that others have written."""
        return replace(self, seen=self.published)


class Timeline:
    """One pipe of one core: entry `index` of the clocks.

    `known`: complete before the pipe's next op starts; `done`: complete when all its ops so far are; `seen`,
    `published`, `cleaned`: as in Token, of what it knows; `count`: its ops so far; `learned`: what the scalar unit's
    last wait told it; `now`: the pipe's last step in the run, `heard` the steps that it waited for.
    """

    __slots__ = ("cleaned", "count", "done", "fresh", "heard", "in_order", "index", "known", "learned", "now",
                 "published", "seen")

    def __init__(self, index: int, size: int, in_order: bool) -> None:
        self.index = index
        self.in_order = in_order
        self.count = 0
        self.known: Clock = [0] * size
        self.done: Clock = [0] * size
        self.seen: Clock = [0] * size
        self.published: Clock = [0] * size
        self.cleaned: Clock = [0] * size
        self.learned: Token | None = None
        self.fresh = False
        self.now = -1
        self.heard: list[int] = []

    def learn(self, token: Token) -> None:
        """What `token` tells is known from here on."""
        self.known = join(self.known, token.done)
        self.seen = join(self.seen, token.seen)
        self.published = join(self.published, token.published)
        self.cleaned = join(self.cleaned, token.cleaned)
        self.fresh = True
        self.heard += token.origin

    def step(self) -> int:
        """Start the next op; its number."""
        self.count += 1
        if self.fresh:
            self.done = join(self.done, self.known)
            self.fresh = False
        self.done[self.index] = self.count
        return self.count

    def settle(self) -> None:
        """After an op: on a pipe that is in order the next one follows its completion."""
        if self.in_order:
            self.known[self.index] = self.count

    def drain(self) -> None:
        """A barrier of this pipe: the next op starts when all before it are complete."""
        self.known = join(self.known, self.done)

    def token(self) -> Token:
        """What a signal tells that is given when all ops so far are complete."""
        done = join(self.done, self.known) if self.fresh else list(self.done)
        return Token(done, list(self.seen), list(self.published), list(self.cleaned), (self.now,))


def together(tokens: list[Token]) -> Token:
    """What several signals tell."""
    first = tokens[0]
    done, seen, published, cleaned, origin = first.done, first.seen, first.published, first.cleaned, first.origin
    for token in tokens[1:]:
        done, seen, cleaned = join(done, token.done), join(seen, token.seen), join(cleaned, token.cleaned)
        published = join(published, token.published)
        origin += token.origin
    return Token(done, seen, published, cleaned, origin)
