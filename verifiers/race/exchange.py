"""What two cores of a kernel that are followed side by side tell each other: the signals under way, what each knows of
the other's accesses, and which pairs of these some run leaves unordered."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from typing import TypeAlias, TypeVar

from pypto_verified.index import Expr, substitute
from pypto_verified.index.cond import TRUE
from pypto_verified.targets import Target
from pypto_verified.targets.pipes import SCALAR
from verifiers.race.hearing import Told, told_of
from verifiers.race.instances import Instances, Touch
from verifiers.race.order import PIPES
from verifiers.race.places import apart
from verifiers.race.side_state import Key, State, equalities, values_of
from verifiers.race.so_far import apart_so_far, ways_of
from verifiers.race.sync import Kind
from verifiers.race.talk import Act, NotFollowedError, Talk

Pair: TypeAlias = tuple[str, int, str, int]
"""Kind of core and step of the earlier access, and of the later one."""
Said: TypeAlias = tuple[str, Told]
"""A set or a wait of a core of that kind."""
_T = TypeVar("_T", bound=Hashable)


class Exchange:
    """`unordered` has every pair of accesses, of one core or of two as `meeting` gives them, that some run leaves
    unordered; accesses are left out where that is None. `heard` says for each wait which sets of its own core the other
    one has heard of whenever it has answered, `maybe` of which in some run, `earlier` of which by an earlier time; they
    are bits, see `sets_of`. `mixed`: what keeps the order of the signals under one name from being that of the text, ''
    if nothing. Where the core number `eager` runs ahead, signals are counted and no more. `over`: sets that may find
    their counter full, by kind of core and step, where that is asked (`Ahead`)."""

    def __init__(
        self, talks: tuple[Talk, Talk], target: Target, automatic: bool, meeting: frozenset[Pair] | None,
        eager: int | None, strict: bool, every: int = 1,
    ) -> None:
        self.mixed = ""
        self.unordered: set[Pair] = set()
        self.over: set[tuple[str, int]] = set()
        self.heard: dict[Said, int] = {}
        self.maybe: dict[Said, int] = {}
        self.earlier: dict[Said, int] = {}
        self._bits: dict[Said, int] = {}
        self._first: dict[Said, int] = {}
        self._talks = talks
        self._target = target
        self._automatic = automatic
        self._meeting = meeting or frozenset()
        self._touched = meeting is not None
        self._eager = eager
        self._strict = strict
        self._on_pipe: dict[tuple[int, str], int] = {(c, p): 0 for c in (0, 1) for p in PIPES}
        self.instances = Instances(talks, self._touched, every)
        self._touch_bits: dict[Touch, int] = {}
        self._used = 0
        self._apart: dict[tuple[Touch, Touch], bool] = {}
        self._ends: dict[Hashable, dict[str, int]] = {}
        self._ways = {
            (act.step, core): way for core, talk in enumerate(talks) for act, way in ways_of(talk.said)}
        self._waiting = tuple(set(self._held(t)) for t in talks)

    def sets_of(self, kind: str, bits: int) -> Iterator[Told]:
        """The sets that these bits stand for."""
        return (told for (own, told), bit in self._bits.items() if own == kind and bits & bit)

    def act(self, state: State, core: int, act: Act) -> bool:
        """Whether the core gets past an op. NotFollowedError where that can't be told."""
        order = state.orders[core]
        if act.needs is not None:
            if not state.signals.get((act.needs, core)):
                return False
            state.signals[act.needs, core] = state.signals[act.needs, core][1:]
        if act.meets:
            if not self._meet(state, core, act):
                return False
        elif act.takes is not None:
            key = self._signal(state, core, act, act.takes, core)
            if key is None:
                return True
            tokens = state.signals.get(key, ())
            if not tokens:
                return False
            ends = self._ends.setdefault(("takes", key), {})
            ends[act.pipe] = 0
            if len(ends) > 1:
                raise NotFollowedError(self._by_two_pipes(core, act, "waited for by", ends))
            state.signals[key] = tokens[1:]
            if self._eager is None:
                order.learn(SCALAR if self._automatic else act.pipe, tokens[0])
                if act.takes == "flag":
                    self._answered(state, core, act)
                    self._taken(state, core, act, key)
        if act.frees is not None:
            key = (act.frees, 1 - core)
            state.signals[key] = (*state.signals.get(key, ()), -1)
        if self._eager is None:
            if act.sync is not None:
                self._sync(state, core, act)
            if self._touched:
                self._touch(state, core, act)
        if act.gives is not None:
            self._give(state, core, act)
        return True

    # Signals

    def _signal(self, state: State, core: int, act: Act, name: Hashable, receiver: int) -> Key | None:
        """None for a flag of the other lane."""
        if act.id is None:
            return (name, receiver)
        number = self._number(state, core, act.id)
        if number is None:
            raise NotFollowedError(f"the {self._talks[core].kind} core computes the id of a flag, {act.id!r}, which is "
                                   "not followed")
        own = self._talks[core].own_id(act, number)
        return ((name, own), receiver) if own is not None else None

    def _number(self, state: State, core: int, e: Expr) -> int | None:
        here = substitute(e, values_of(state.stacks[core]))
        return here.value if here.value is not None else substitute(here, equalities(state.known)).value

    def _said(self, state: State, core: int, act: Act) -> Said:
        """A set or wait, told apart by its id where an op has several."""
        number = None if act.id is None else self._number(state, core, act.id)
        return self._talks[core].kind, told_of(act.step, number, self._target)

    def _answered(self, state: State, core: int, act: Act) -> None:
        """Note which sets of this core the other one had heard of when it gave what is taken here."""
        wait, order = self._said(state, core, act), state.orders[core]
        now = ~order.waits_for(act.pipe)
        self.heard[wait] = self.heard.get(wait, -1) & now
        self.maybe[wait] = self.maybe.get(wait, 0) | (now & order.live)
        for told, bit in self._first.items():
            if now & order.live & bit:
                self.earlier[wait] = self.earlier.get(wait, 0) | self._bits[told]

    def _give(self, state: State, core: int, act: Act) -> None:
        key = self._signal(state, core, act, act.gives, 1 - core)
        if key is None:
            return
        order = state.orders[core]
        if act.gives == "flag" and self._eager is None:
            said = self._said(state, core, act)
            bit, first = self._bit_of(self._bits, said), self._bit_of(self._first, said)
            self._begin(state, bit | (first & ~order.live), core, act.pipe)
            ends = self._ends.setdefault(("gives", key), {})
            ends[act.pipe] = ends.get(act.pipe, 0) | bit
            if any(order.waits_for(act.pipe) & bits for pipe, bits in ends.items() if pipe != act.pipe):
                self.mixed = self.mixed or self._by_two_pipes(core, act, "set by", ends)
        if act.gives == "flag" and self._eager is not None and self._waiting[core] - {SCALAR, act.pipe}:
            raise NotFollowedError(
                f"{act.pipe} of the {self._talks[core].kind} core may set the flag of line "
                f"{self._talks[core].line(act.step)} while another pipe waits")
        done = self._own(core) if self._automatic else self._on_pipe[core, act.pipe]
        state.signals[key] = (*state.signals.get(key, ()), order.waits_for(act.pipe) & ~done)
        state.givers[key] = act.step
        if act.gives == "flag":
            self._given(state, core, act, key)
        most = self._target.flag_count_max
        if core == self._eager and act.gives == "flag" and len(state.signals[key]) > most:
            raise NotFollowedError(
                f"line {self._talks[core].line(act.step)} may set its flag {most + 1} times before the "
                f"{self._talks[1 - core].kind} core waits for it")
        if len(state.signals[key]) > 2 * most:
            raise NotFollowedError(
                f"line {self._talks[core].line(act.step)} may run ahead of the waits of the "
                f"{self._talks[1 - core].kind} core by any number of turns")

    def _taken(self, state: State, core: int, act: Act, key: Key) -> None:
        """A flag has been waited for."""

    def _given(self, state: State, core: int, act: Act, key: Key) -> None:
        """A flag has been set."""

    def _held(self, talk: Talk) -> Iterator[str]:
        """The pipes of a core that wait for the other core, by themselves."""
        for act in talk.acts():
            if act.takes is not None:
                yield act.pipe
            elif act.needs is not None:
                yield act.pipe if self._target.on_chip_pipe else SCALAR

    def _by_two_pipes(self, core: int, act: Act, does: str, pipes: Iterable[str]) -> str:
        return (f"the flag of line {self._talks[core].line(act.step)} is {does} {' and '.join(sorted(pipes))} of the "
                f"{self._talks[core].kind} core, in an order that nothing fixes")

    # What is complete

    def _bit_of(self, bits: dict[_T, int], of: _T) -> int:
        """The bit of an access, or of a set, and one of its own the first time."""
        if of not in bits:
            bits[of] = self._reserve(1)
        return bits[of]

    def _reserve(self, count: int) -> int:
        """So many bits that nothing has; the lowest."""
        self._used += count
        return 1 << (self._used - count)

    def _own(self, core: int) -> int:
        found = 0
        for pipe in PIPES:
            found |= self._on_pipe[core, pipe]
        return found

    def _begin(self, state: State, bits: int, core: int, pipe: str) -> None:
        self._on_pipe[core, pipe] |= bits
        for order in state.orders:
            order.issue(bits, 0)
        state.signals = {k: tuple(t | bits for t in tokens) for k, tokens in state.signals.items()}

    def _touch(self, state: State, core: int, act: Act) -> None:
        for access in act.touched:
            touch = self.instances.touch(state, core, access)
            bit = self._bit_of(self._touch_bits, touch)
            pending = state.orders[core].waits_for(access.pipe) & state.orders[core].live
            for earlier, other in self._touch_bits.items():
                if pending & other:
                    self._meets(earlier, touch, state)
            self._begin(state, bit, core, access.pipe)

    def _meets(self, earlier: Touch, later: Touch, state: State) -> None:
        """Nothing orders the two in some run, if what the earlier one has done so far is where the later one is."""
        pair = (*self._step(earlier), *self._step(later))
        if pair in self.unordered or not (earlier.access.writes or later.access.writes):
            return
        own = earlier.core == later.core
        if not own and pair not in self._meeting:
            return
        both = (earlier, later)
        if both not in self._apart:
            place = self._talks[earlier.core].earlier(earlier.place) if own else earlier.place
            self._apart[both] = apart(place, later.place) is TRUE
        way = self._ways[earlier.access.step, earlier.core]
        if not self._apart[both] and (own or not apart_so_far(state, earlier, way, later)):
            self.unordered.add(pair)

    def _step(self, touch: Touch) -> tuple[str, int]:
        return self._talks[touch.core].kind, touch.access.step.index

    def _sync(self, state: State, core: int, act: Act) -> None:
        order, sync = state.orders[core], act.sync
        if sync is None:
            return
        on_pipe = self._on_pipe.get((core, sync.pipe), 0)
        if sync.kind is Kind.DRAIN:
            order.gather(self._own(core))
        elif sync.kind is Kind.FENCE:
            order.fence({p: self._on_pipe[core, p] for p in PIPES})
        elif sync.kind is Kind.BARRIER:
            order.barrier(sync.pipe, on_pipe)
        elif sync.kind in (Kind.SET, Kind.WAIT) and sync.id is not None:
            id = self._number(state, core, self._talks[core].mark(sync.id))
            if id is not None and sync.kind is Kind.SET:
                order.set((sync.pair, id), sync.pipe, on_pipe)
            elif id is not None and (sync.pipe != sync.other or not self._strict):  # the strict reading of SELF-FLAG
                order.wait((sync.pair, id), sync.pipe, not self._strict)

    def _meet(self, state: State, core: int, act: Act) -> bool:
        """All cores have done all they had begun when any goes on."""
        if state.met[core] == state.met[1 - core]:
            other = state.stacks[1 - core]
            at = other[-1].block[other[-1].next] if other and 0 <= other[-1].next < len(other[-1].block) else None
            if not isinstance(at, Act) or at.meets != act.meets:
                return False
            for order in state.orders:
                for own in (0, 1):
                    order.learn(SCALAR, ~self._own(own))
        state.met[core] += 1
        return True
