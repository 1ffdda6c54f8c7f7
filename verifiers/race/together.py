"""Both cores of a kernel side by side, for every trip count: whether one waits for ever, and what is left of their
flags. What they tell each other meanwhile: `exchange`.

Signals between two cores are counted and each is taken by one core alone, so what the cores come to does not depend on
which of them goes first: one schedule is followed, in which loops of both go in turn. Where the cores come to the same
places a second time with the same signals under way, only some iterations on, all later such times are followed at
once: iteration `n + d*t` for any t. What a path knows is kept as literals, so that loops with equal bounds end
together.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace

from pypto_verified.index import Cond, substitute_cond, symbol, symbols_of
from pypto_verified.index.cond import FALSE, TRUE
from pypto_verified.targets import Target
from verifiers.cross_flags import two_channels
from verifiers.race.exchange import Exchange, Pair
from verifiers.race.literals import decided
from verifiers.race.order import Order
from verifiers.race.side_state import (
    TURN,
    Frame,
    Seen,
    State,
    covers,
    moved_on,
    same_turns,
    turns_apart,
    values_of,
    with_literal,
    without_turns,
)
from verifiers.race.talk import Act, Choice, NotFollowedError, Talk, Turns
from verifiers.solver.cone import conjuncts, names_of

MOST_ACTS = 4_000
"""Ops that are followed, on all paths together; each place where both cores wait or are at a loop counts as ten."""
_MOST_SEEN = 24
"""Times that the cores come to the same places with the same signals."""
_TOO_MANY = "the cube core and the vector core have too many paths together"
_MOST_ALIKE = 3
"""Paths to one place, with the same signals, that are told apart by what they know."""


class Together:
    """The walk. `why`: what keeps it from standing for all runs, '' if nothing; then no core waits for ever, no flag
    is left, and `exchange` holds for all runs. The core number `eager` goes on whenever it can: then no counter of the
    other one ever exceeds what it holds, in any order of the two."""

    def __init__(
        self, talks: tuple[Talk, Talk], target: Target, automatic: bool, assumed: Cond, meeting: frozenset[Pair],
        eager: int | None = None, strict: bool = False,
    ) -> None:
        self.why = ""
        self.exchange = Exchange(talks, target, automatic, meeting, eager, strict)
        self._eager = eager
        self._talks = talks
        self._seen: dict[Hashable, list[Seen]] = {}
        self._left = MOST_ACTS
        self._made = 0
        start = State([(Frame(t.said, 0),) for t in talks], [Order(), Order()], frozenset(conjuncts(assumed)))
        for core, talk in enumerate(talks):
            start.signals |= {(name, core): (-1,) * n for name, n in talk.slots(least=eager is None).items()}
        try:
            mixed = two_channels((act.step for talk in talks for act in talk.acts()), target)
            if mixed:
                raise NotFollowedError(mixed)
            self._follow(start)
        except NotFollowedError as error:
            self.why = str(error)

    # Paths

    def _follow(self, start: State) -> None:
        todo = [start]
        while todo:
            state: State | None = todo.pop()
            while state is not None:
                state = self._on(state, todo)

    def _on(self, state: State, todo: list[State]) -> State | None:
        """Both cores as far as they get, then one loop's next iteration; None where the path ends."""
        asked = self._advance(state)
        if asked is None:
            heads = [c for c, stack in enumerate(state.stacks) if stack and stack[-1].next < 0]
            if not heads:
                self._ended(state)
                return None
            self._spend(10)
            live = symbols_of(*state.numbers()).keys()
            older = (without_turns(c, {n for n in names_of(c) if n.startswith(TURN)} - live) for c in state.known)
            state.known = frozenset(c for c in older if c is not TRUE and self._lasts(state, heads, c))
            if self._followed(state):
                return None
            self._generalised(state)
            core = self._eager if self._eager in heads else (
                heads[0] if len(heads) == 1 or state.last != heads[0] else heads[1])
            asked = core, self._goes(state, core)
        core, cond = asked
        taken = decided(cond, state.known)
        if taken is not TRUE and taken is not FALSE:
            other = state.copy()
            other.known = with_literal(state.known, ~taken)
            self._take(other, core, False)
            todo.append(other)
            state.known = with_literal(state.known, taken)
        self._take(state, core, taken is not FALSE)
        return state

    def _goes(self, state: State, core: int) -> Cond:
        frame = state.stacks[core][-1]
        assert frame.turns is not None
        return frame.turns.goes(frame.k, values_of(state.stacks[core][:-1]))

    def _take(self, state: State, core: int, yes: bool) -> None:
        """Go on with a loop, or with a branch."""
        *outer, frame = state.stacks[core]
        if frame.next < 0:
            state.last = core
            state.stacks[core] = (*outer, replace(frame, next=0)) if yes else tuple(outer)
            return
        choice = frame.block[frame.next]
        assert isinstance(choice, Choice)
        inner = Frame(choice.then if yes else choice.orelse, 0)
        state.stacks[core] = (*outer, replace(frame, next=frame.next + 1), inner)

    def _lasts(self, state: State, heads: list[int], c: Cond) -> bool:
        """Whether a literal speaks of nothing that the next iterations make anew."""
        loops = [f.turns for core in heads if (f := state.stacks[core][-1]).turns is not None]
        return all(name.startswith(TURN) or all(turns.lasts(name) for turns in loops) for name in names_of(c))

    def _ended(self, state: State) -> None:
        for core, stack in enumerate(state.stacks):
            if stack:
                act = stack[-1].block[stack[-1].next]
                assert isinstance(act, Act)
                raise NotFollowedError(self._never(core, act))
        for (name, receiver), tokens in state.signals.items():
            if tokens and isinstance(name, tuple) and name[0] == "flag":
                taker, giver = self._talks[receiver], self._talks[1 - receiver]
                raise NotFollowedError(
                    f"whether the {taker.kind} core waits for flag {name[1]} as often as line "
                    f"{giver.line(state.givers[name, receiver])} sets it is not known for every trip count")

    def _never(self, core: int, act: Act) -> str:
        own, other = self._talks[core], self._talks[1 - core]
        if act.meets:
            return (f"whether the {other.kind} core comes to the meeting at line {own.line(act.step)} is not known for "
                    "every trip count")
        what = f"flag {act.id!r}" if act.takes == "flag" else "a tile" if act.takes is not None else "a slot back"
        return (f"whether the {other.kind} core gives {what} that the {own.kind} core waits for at line "
                f"{own.line(act.step)} is not known for every trip count")

    # Iterations

    def _followed(self, state: State) -> bool:
        """Whether this state, or one that stands for it, was followed before."""
        key, numbers = state.key(), state.numbers()
        found = self._seen.setdefault(key, [])
        if any(covers(seen, numbers, state.known) for seen in found):
            return True
        same = [seen for seen in found if seen.turn is None and same_turns(seen.numbers, numbers)]
        if len(same) >= _MOST_ALIKE:
            for seen in same:
                state.known = frozenset(c for c in state.known if decided(c, seen.known) is TRUE)
        if len(found) >= _MOST_SEEN:
            raise NotFollowedError(_TOO_MANY)
        found.append(Seen(numbers, state.known))
        return False

    def _generalised(self, state: State) -> None:
        """From here on this state stands for all those that are some iterations on, where it has come again."""
        numbers = state.numbers()
        found = self._seen[state.key()]
        for seen in found[:-1]:
            steps = turns_apart(seen.numbers, numbers) if seen.turn is None else None
            if steps is None or not self._comes_round(state, steps):
                continue
            self._made += 1
            name = f"{TURN}{self._made}"
            turn = symbol(name, 0)
            known = state.known
            for (core, depth), step in zip(state.turns(), steps, strict=True):
                frame = state.stacks[core][depth]
                if step and frame.turns is not None:
                    stack = list(state.stacks[core])
                    stack[depth] = replace(frame, k=frame.k + step * turn)
                    state.stacks[core] = tuple(stack)
                    before = frame.turns.goes(
                        frame.k + step * turn - (1 if frame.next < 0 else 0), values_of(state.stacks[core][:depth]))
                    first = substitute_cond(before, {name: 0})
                    if decided(first, known) is TRUE:
                        state.known = with_literal(state.known, before)
            for c in moved_on(seen.known, known, turn):
                state.known = with_literal(state.known, c)
            found.append(Seen(numbers, state.known, turn, steps))
            return

    def _comes_round(self, state: State, steps: tuple[int, ...]) -> bool:
        """Whether so many iterations on all that is taken in turn is as it was."""
        frames = (state.stacks[core][depth] for core, depth in state.turns())
        return not any(
            frame.turns is not None and n % self.exchange.instances.period(frame.turns)
            for frame, n in zip(frames, steps, strict=True))

    def _spend(self, acts: int) -> None:
        self._left -= acts
        if self._left < 0:
            raise NotFollowedError(_TOO_MANY)

    # One core

    def _advance(self, state: State) -> tuple[int, Cond] | None:
        """Both cores until each waits, has ended or is at a loop; or a core and the branch that it comes to."""
        moved = True
        while moved:
            moved = False
            for core in (0, 1) if self._eager != 1 else (1, 0):
                while state.stacks[core]:
                    *outer, frame = state.stacks[core]
                    if frame.next < 0:
                        if core == self._eager:
                            return None
                        break
                    if frame.next == len(frame.block):
                        again = replace(frame, next=-1, k=frame.k + 1)
                        state.stacks[core] = (*outer, again) if frame.turns is not None else tuple(outer)
                        continue
                    said = frame.block[frame.next]
                    if isinstance(said, Choice):
                        cond = substitute_cond(said.cond, values_of(state.stacks[core]))
                        return core, cond
                    if isinstance(said, Turns):
                        following = replace(frame, next=frame.next + 1)
                        state.stacks[core] = (*outer, following, Frame(said.body, -1, said))
                        continue
                    self._spend(1)
                    if not self.exchange.act(state, core, said):
                        break
                    state.stacks[core] = (*outer, replace(frame, next=frame.next + 1))
                    moved = True
                    if self._eager not in (None, core) and (said.gives is not None or said.frees is not None):
                        break
        return None
