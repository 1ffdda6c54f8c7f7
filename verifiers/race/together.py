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
from verifiers.cross_flags import through_calls, two_channels
from verifiers.race.ahead import Ahead
from verifiers.race.exchange import Exchange, Pair
from verifiers.race.literals import decided, strongest
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

MOST_ACTS = 6_000
"""Ops that are followed, on all paths together; each place where both cores wait or are at a loop counts as ten."""
MANY_ACTS = 24_000
"""The same where signals alone are counted, or less is told apart."""
_MUCH_KNOWN = 12
"""Literals known at a place past which each costs as much as one more place: loops in loops whose bounds are not
compared pile them up. What is followed to its end has six."""
_MOST_SEEN = 80
"""Times that the cores come to the same places with the same signals."""
_FEW = 4
"""Rounds that a loop is followed iteration by iteration, where it is known that there are no more."""
_TOO_MANY = "the cube core and the vector core have too many paths together"
_MOST_ALIKE = 3
"""Paths to one place, with the same signals, that are told apart by what they know."""


class Together:
    """The walk. `why`: what keeps it from standing for all runs, '' if nothing; then no core waits for ever, no flag
    is left, and `exchange` holds for all runs. The core number `eager` goes on whenever it can: then no counter of the
    other one ever exceeds what it holds, in any order of the two. Where it `forgets` which trip count an inner loop
    had, and what some paths alone have seen complete, `exchange.maybe` and `exchange.earlier` leave out what is so on
    some paths; `gave_up`: it may help to do so."""

    def __init__(
        self, talks: tuple[Talk, Talk], target: Target, automatic: bool, assumed: Cond,
        meeting: frozenset[Pair] | None = None, eager: int | None = None, strict: bool = False, forgets: bool = False,
        ages: int = 0, even: bool = False, every: int = 1, most: int = MOST_ACTS,
    ) -> None:
        self.why = ""
        self.gave_up = False
        self.exchange = (
            Ahead(talks, target, strict, ages) if ages else
            Exchange(talks, target, automatic, meeting, eager, strict, every))
        self._eager = eager
        self._assumed = frozenset(conjuncts(assumed))
        self.forgets = forgets
        self._even = even
        self._joined: dict[Hashable, State] = {}
        self._talks = talks
        self._seen: dict[Hashable, list[Seen]] = {}
        self._left = most if eager is None and not forgets else MANY_ACTS
        self._made = 0
        start = State([(Frame(t.said, 0),) for t in talks], [Order(), Order()], self._assumed)
        for core, talk in enumerate(talks):
            start.signals |= {(name, core): (-1,) * n for name, n in talk.slots(least=eager is None).items()}
        try:
            called = next(filter(None, (through_calls(t.program, t.foreign, target) for t in talks)), "")
            mixed = called or two_channels((act.step for talk in talks for act in talk.acts()), target)
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
            self._spend(10 * max(1, len(state.known) - _MUCH_KNOWN))
            live = symbols_of(*state.numbers()).keys()
            older = (without_turns(c, {n for n in names_of(c) if n.startswith(TURN)} - live) for c in state.known)
            state.known = strongest(c for c in older if self._lasts(state, heads, c))
            if self.forgets:
                self._forget(state, heads)
            if self._followed(state):
                return None
            self._generalised(state)
            core = self._eager if self._eager in heads else self._next(state, heads)
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

    def _next(self, state: State, heads: list[int]) -> int:
        """Whose loop goes on: in turn, but the inner one of two if those around are to start together, and where `even`
        first that for which more signals are under way: none is ahead for longer than the text makes it be."""
        depths = [len(state.stacks[core]) for core in heads]
        if self.forgets and len(set(depths)) > 1:
            return heads[depths.index(max(depths))]
        if self._even and len(heads) == 2:
            due = [sum(len(tokens) for (_, receiver), tokens in state.signals.items() if receiver == c) for c in heads]
            if due[0] != due[1]:
                return heads[due[1] > due[0]]
        return heads[0] if len(heads) == 1 or state.last != heads[0] else heads[1]

    def _forget(self, state: State, heads: list[int]) -> None:
        """At the next iteration of loops around loops, what is known but of their own trip counts is what was assumed:
        else each trip count of an inner loop would be followed on its own through all that comes after it."""
        loops = [f.turns for core in heads if (f := state.stacks[core][-1]).turns is not None]
        together = len({state.stacks[core][-1].k.uid for core in heads}) == 1 and len(heads) == 2
        if together and all(any(isinstance(one, Turns) for one in t.body) for t in loops):
            own = symbols_of(*(e for t in loops for e in (t.lower, t.upper, t.step)))
            state.known = frozenset(
                c for c in state.known if c in self._assumed or own.keys() & names_of(c)
                or decided(c, self._assumed) is TRUE) | self._assumed
            known = self._joined.get(state.place())
            if known is not None:
                state.join(known)
            self._joined[state.place()] = state.copy()

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
        if any(covers(seen, numbers, state.known) for seen in reversed(found)):
            return True
        same = [seen for seen in found if seen.turn is None and same_turns(seen.numbers, numbers)]
        if len(same) >= (_MOST_ALIKE if self._eager is None else _MOST_SEEN):
            for seen in same:
                state.known = frozenset(c for c in state.known if decided(c, seen.known) is TRUE)
        if len(found) >= _MOST_SEEN:
            self.gave_up = True
            raise NotFollowedError(_TOO_MANY)
        found.append(Seen(numbers, state.known))
        return False

    def _generalised(self, state: State) -> None:
        """From here on this state stands for all those that are some iterations on, where it has come again."""
        numbers = state.numbers()
        found = self._seen[state.key()]
        for seen in found[:-1]:
            steps = turns_apart(seen.numbers, numbers) if seen.turn is None else None
            if steps is None or not self._comes_round(state, steps) or self._ends_soon(state, steps):
                continue
            if any(decided(c, state.known) is FALSE for c in seen.known):
                continue  # another path
            self._made += 1
            name = f"{TURN}{self._made}"
            known = state.known
            for (core, depth), step in zip(state.turns(), steps, strict=True):
                frame = state.stacks[core][depth]
                if step and frame.turns is not None:
                    stack, outer = list(state.stacks[core]), values_of(state.stacks[core][:depth])
                    stack[depth] = replace(frame, k=frame.k + step * symbol(name, 0))
                    state.stacks[core] = tuple(stack)
                    here, there = (frame.turns.goes(f.k - (f.next < 0), outer) for f in (frame, stack[depth]))
                    if decided(here, known) is TRUE:
                        state.known = with_literal(state.known, there)
                    for c in moved_on(seen.known, known, here, there, name):
                        state.known = with_literal(state.known, c)
            found.append(Seen(numbers, state.known, symbol(name, 0), steps))
            return

    def _comes_round(self, state: State, steps: tuple[int, ...]) -> bool:
        """Whether so many iterations on all that is taken in turn is as it was."""
        frames = (state.stacks[core][depth] for core, depth in state.turns())
        return not any(
            frame.turns is not None and n % self.exchange.instances.period(frame.turns)
            for frame, n in zip(frames, steps, strict=True))

    def _ends_soon(self, state: State, steps: tuple[int, ...]) -> bool:
        """Whether one of the loops that go on is known to end: then its iterations are followed one by one."""
        frames = [(core, depth, n) for (core, depth), n in zip(state.turns(), steps, strict=True) if n]
        ends = (
            (frame := state.stacks[core][depth]).turns is not None and frame.turns.goes(
                frame.k + _FEW * n, values_of(state.stacks[core][:depth])) for core, depth, n in frames)
        return any(isinstance(c, Cond) and decided(c, state.known) is FALSE for c in ends)

    def _spend(self, acts: int) -> None:
        self._left -= acts
        if self._left < 0:
            self.gave_up = True
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
