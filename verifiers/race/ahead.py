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
    """An exchange that keeps, for each flag, which of its last waits a pipe need not know to be over: bit i of the
    flag's bits is its last wait but i, and the highest of `ages` stands for all older ones too. What the assembler adds
    to a core without flags of its own is not counted on."""

    def __init__(self, talks: tuple[Talk, Talk], target: Target, strict: bool, ages: int) -> None:
        super().__init__(talks, target, False, None, None, strict)
        self._ages = ages
        self._waits: dict[Key, int] = {}

    def _taken(self, state: State, core: int, act: Act, key: Key) -> None:
        last = self._bit_of(self._waits, key, self._ages)
        all_ages = self._all_ages(last)
        oldest = last << (self._ages - 1)
        self._on_pipe[core, act.pipe] |= all_ages

        def one_older(bits: int) -> int:
            aged = (bits & all_ages) << 1 & all_ages
            return bits & ~all_ages | bits & oldest | aged | last

        state.orders = [o.mapped(one_older) for o in state.orders]
        state.signals = {k: tuple(map(one_older, tokens)) for k, tokens in state.signals.items()}
        state.orders[core].learn(act.pipe, ~last)

    def _given(self, state: State, core: int, act: Act, key: Key) -> None:
        last = self._waits.get(key, 0)
        unknown = state.orders[core].waits_for(act.pipe) & self._all_ages(last)
        since = unknown.bit_length() - last.bit_length() + 1 if unknown else 0
        most = self._target.flag_count_max
        if since == self._ages or len(state.signals[key]) + since > most:
            self.over.add((self._talks[core].kind, act.step.index))

    def _all_ages(self, last: int) -> int:
        return (last << self._ages) - last

    def _sync(self, state: State, core: int, act: Act) -> None:
        """A fence waits for what moves data, not for waits."""
        if act.sync is not None and act.sync.kind is not Kind.FENCE:
            super()._sync(state, core, act)
