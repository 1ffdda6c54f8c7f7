"""Accesses of two cores that are followed side by side, told apart by their places where these are taken in turn: the
slots of a ring in global memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from math import lcm

from pypto_verified.index import Cond, Expr, IntLike, const, symbol, symbols_of
from pypto_verified.records import dataclass
from verifiers.race.accesses import Access
from verifiers.race.choices import divisors
from verifiers.race.places import Box, Place
from verifiers.race.side_state import TURN, State, equalities
from verifiers.race.talk import Act, Choice, Said, Talk, Turns

_MOST_IN_TURN = 8
"""Ids of flags, slots and branches that are taken in turn and told apart for every trip count."""
_LONGEST = 24
"""Iterations after which the slots of all rings and all branches have to come round."""


@dataclass(frozen=True, slots=True, eq=False)
class Touch:
    """An access of a core at a place; the same one each time. In the place the number of an iteration stands for any
    one, and by another name on each core, but for loops in which the access comes back to the same few places. `every`,
    `rest`: it is one in an iteration k of the innermost loop around it with `k % every == rest`."""

    core: int
    access: Access
    place: Place
    every: int = 1
    rest: int = 0


class Instances:
    """What comes round in which loops; accesses only if they are `touched`. Those at a place of their own in each
    iteration are told apart by the rest of its number by `every`."""

    def __init__(self, talks: tuple[Talk, Talk], touched: bool, every: int = 1) -> None:
        self._every = every
        self._parted: dict[tuple[int, int], Turns] = {}
        self._periods: dict[Turns, int] = {}
        self._places: dict[tuple[int, int], tuple[Place, frozenset[Turns]]] = {}
        self._known: dict[object, Touch] = {}
        inside = [(core, one, around) for core, talk in enumerate(talks) for one, around in _inside(talk.said, ())]
        for _, one, around in inside:
            if isinstance(one, Act):
                ids = (one.id, one.sync.id if one.sync is not None else None)
                self._note(around, *(id for id in ids if id is not None))
        places = [(core, access, talks[core].mark_place(access.place), around) for core, one, around in inside
                  if touched and isinstance(one, Act) for access in one.touched]
        for _, _, place, around in places:
            self._note(around, *place.exprs(), most=_LONGEST)
        for _, one, around in inside:
            if isinstance(one, Choice):
                self._note(around, *_exprs(one.cond), most=_LONGEST)
        for core, access, place, around in places:
            options = [(p, self._rounds(p, around)) for p in (place, _widened(place))]
            chosen = next((o for o in options if o[1]), options[0])
            self._places[core, access.number] = chosen
            if every > 1 and around and around[-1] not in chosen[1] and _moves(place, around[-1]):
                self._part(core, access, around[-1])

    def period(self, turns: Turns) -> int:
        """Iterations of a loop after which the ids, places and branches that its counter decides come round."""
        return self._periods.get(turns, 1)

    def touch(self, state: State, core: int, access: Access) -> Touch:
        """The access as it takes place now."""
        place, in_turn = self._places[core, access.number]
        values: Mapping[str, IntLike] = {}
        for frame in state.stacks[core]:
            if frame.turns is not None and frame.turns in in_turn:
                values = frame.turns.within(frame.k, values)
        here = place.at(values)
        for found in (here.at(equalities(state.known)), here, place):
            if not any(n.startswith(TURN) for n in symbols_of(*found.exprs())):
                break
        every, rest = 1, 0
        parted = self._parted.get((core, access.number))
        if parted is not None:
            (k,) = (frame.k for frame in state.stacks[core] if frame.turns is parted)
            number = (k % self._every).value
            every, rest = (self._every, number) if number is not None else (1, 0)
        return self._known.setdefault(
            (core, access.number, found.key(), every, rest), Touch(core, access, found, every, rest))

    def _part(self, core: int, access: Access, turns: Turns) -> None:
        both = lcm(self.period(turns), self._every)
        if both <= _LONGEST:
            self._periods[turns] = both
            self._parted[core, access.number] = turns

    def _note(self, around: tuple[Turns, ...], *exprs: Expr, most: int = 1 << 30) -> None:
        """What the counters of the loops around are divided by in these."""
        own = lcm(*(n for e in exprs for n in divisors(e) if n <= _MOST_IN_TURN))
        names = set(symbols_of(*exprs))
        for turns in reversed(around):
            if names & turns.within(const(0), {}).keys():
                both = lcm(self.period(turns), own)
                self._periods[turns] = both if both <= most else self.period(turns)
                names |= symbols_of(turns.base, turns.lower, turns.step).keys()

    def _rounds(self, place: Place, around: tuple[Turns, ...]) -> frozenset[Turns]:
        return frozenset(turns for turns in around if _comes_round(place, turns, self.period(turns)))


def _comes_round(place: Place, turns: Turns, every: int) -> bool:
    """Whether an access comes back to its place after so many iterations of a loop, as soon as it has run a while."""
    there = place.at(turns.within(every * (symbol(TURN, 0) + 1), {}))
    return _moves(place, turns) and TURN not in symbols_of(*there.exprs())


def _moves(place: Place, turns: Turns) -> bool:
    return bool(turns.within(const(0), {}).keys() & symbols_of(*place.exprs()).keys())


def _widened(place: Place) -> Place:
    """The box with the largest extents that it may have."""
    if not isinstance(place, Box):
        return place
    return replace(place, sizes=tuple(n if n.hi is None else const(n.hi) for n in place.sizes))


def _inside(said: tuple[Said, ...], around: tuple[Turns, ...]) -> Iterator[tuple[Act | Choice, tuple[Turns, ...]]]:
    """All ops and branches, with the loops around them."""
    for one in said:
        if isinstance(one, Turns):
            yield from _inside(one.body, (*around, one))
            continue
        yield one, around
        if isinstance(one, Choice):
            yield from _inside((*one.then, *one.orelse), around)


def _exprs(cond: Cond) -> Iterator[Expr]:
    if cond.expr is not None:
        yield cond.expr
    for part in cond.parts:
        yield from _exprs(part)
