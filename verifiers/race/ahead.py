"""How far the sets of a flag between two cores may run ahead of its waits, where each wait holds back one pipe.

Of a flag let `s(n)` be its n-th set and `w(n)` its n-th wait, in the order of their cores, both counted from 1. What
`before` says of them is the order that RACE has: pipes, flags, events and barriers of each core, and what the cores
tell each other. When `s(n)` takes place, no set after it counts, so the counter holds at most n minus the waits that
are over. Let k(n) be the number of waits that are before `s(n)`:

    count at s(n)  <=  n - k(n)

Waits of a flag take place on one pipe, in turn, so that where `w(j)` is before `s(n)` so are all before `w(j)`: k(n) is
the largest such j. In the walk, which puts nothing before what it comes after, m >= k(n) waits have taken place when it
comes to `s(n)`: n - m signals are under way, with that one, and the last u = m - k(n) waits are not known to be over to
the pipe that sets. So

    under way + u <= 15  for every set   =>   the counter holds at most 15 in every order of both cores.

A set on another pipe changes nothing: of those that have taken place the last one bounds the count. How old a wait is,
and not which turn it was of, is what is kept, so that turns of a loop come to the same state again.
"""

from __future__ import annotations

from pypto_verified.targets import Target
from verifiers.race.exchange import Exchange
from verifiers.race.side_state import Key, State
from verifiers.race.sync import Kind
from verifiers.race.talk import Act, Talk


class Ahead(Exchange):
    """An exchange that keeps how old the waits of each flag are that a pipe need not know to be over: bit i of the
    flag's bits is its last wait but i, and the highest of `ages` stands for all older ones too. What the assembler adds
    to a core without flags of its own is not counted on."""

    def __init__(self, talks: tuple[Talk, Talk], target: Target, strict: bool, ages: int) -> None:
        super().__init__(talks, target, False, None, None, strict)
        self._ages = ages
        self._last: dict[Key, int] = {}

    def _taken(self, state: State, core: int, act: Act, key: Key) -> None:
        if key not in self._last:
            self._last[key] = self._reserve(self._ages)
        last = self._last[key]
        every, oldest = self._every(last), last << (self._ages - 1)
        self._on_pipe[core, act.pipe] |= every

        def older(bits: int) -> int:
            aged = (bits & every) << 1 & every
            return bits & ~every | bits & oldest | aged | last

        state.orders = [o.mapped(older) for o in state.orders]
        state.signals = {k: tuple(map(older, tokens)) for k, tokens in state.signals.items()}
        state.orders[core].learn(act.pipe, ~last)

    def _given(self, state: State, core: int, act: Act, key: Key) -> None:
        last = self._last.get(key, 0)
        unknown = state.orders[core].waits_for(act.pipe) & self._every(last)
        since = unknown.bit_length() - last.bit_length() + 1 if unknown else 0
        if since == self._ages or len(state.signals[key]) + since > self._target.flag_count_max:
            self.over.add((self._talks[core].kind, act.step.index))

    def _every(self, last: int) -> int:
        return (last << self._ages) - last

    def _sync(self, state: State, core: int, act: Act) -> None:
        """A fence waits for what moves data, not for waits."""
        if act.sync is not None and act.sync.kind is not Kind.FENCE:
            super()._sync(state, core, act)
