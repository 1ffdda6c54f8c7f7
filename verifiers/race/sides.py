"""What both cores of a kernel come to for every trip count, once a kernel."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Set
from dataclasses import replace
from functools import cached_property, lru_cache, partial
from itertools import product

from pypto_verified.index import Cond, IntLike, all_of, substitute_cond
from pypto_verified.index.cond import FALSE, TRUE
from pypto_verified.targets import Target
from verifiers.access import AccessProgram
from verifiers.cross_flags import named_flag
from verifiers.pipes import LANES
from verifiers.race.accesses import Access, accesses_of, is_global
from verifiers.race.exchange import Pair
from verifiers.race.hearing import Hearing, Told
from verifiers.race.members import LANE
from verifiers.race.parts import Part, parts_of, shared_by
from verifiers.race.places import apart
from verifiers.race.remainders import cases
from verifiers.race.sync import is_manual
from verifiers.race.talk import NotFollowedError, Talk
from verifiers.race.together import MANY_ACTS, MOST_ACTS, Together
from verifiers.sites import Context
from verifiers.solver.cone import conjuncts, names_of

_TOLD_APART = 4
"""Iterations of which the places are told apart where each has its own: one core is rarely further ahead."""
_AS_THEY_ARE: Mapping[str, IntLike] = {}
_FEW_AGES = 4
"""Waits of a flag that are told apart at first: the answer of the other core is rarely older."""


class Sides:
    """The `parts` of a kernel. `meeting`: accesses to global memory, of the cube and of a vector core, that may share a
    byte and conflict."""

    def __init__(
        self, parts: tuple[Part, ...], shared: frozenset[str], target: Target, automatic: bool, strict: bool,
        known: Cond,
    ) -> None:
        self._strict = strict
        lanes = LANES if any(_by_lane(p, target) for p in parts) else LANES[:1]
        self.parts, self._shared, self._target = parts, shared, target
        self._lanes = lanes
        self._talks = [self._pair(lane, {}) for lane in lanes]
        self._automatic = automatic
        self._known = known
        self._meeting = [_meeting(*talks, target) for talks in self._talks]
        self.meeting = {(a.number, b.number): (a, b) for here in self._meeting for a, b in here}

    @cached_property
    def _walks(self) -> tuple[tuple[Together, ...], str]:
        """The walk of each lane with its cube, and what keeps one from being told."""
        meeting = [_both_ways(here) for here in self._meeting]
        try:
            own = tuple(self._walk(talks, here) for talks, here in zip(self._talks, meeting, strict=True))
            if all(map(_tells, own)) or any(t.gave_up for t in own):
                return own, ""
            told = self._each(lambda n, talks, sizes: self._walk(talks, meeting[n], sizes=sizes))
            return told or own, ""
        except NotFollowedError as error:
            return (), str(error)

    @cached_property
    def _split(self) -> list[tuple[int, tuple[Talk, Talk], Mapping[str, IntLike]]]:
        """The cores of each lane, by its number, in each case of the sizes that something divides."""
        try:
            made = cases((t for talks in self._talks for t in talks), self._shared)
        except NotFollowedError:
            return []
        return [
            (n, self._pair(lane, sizes), sizes)
            for n, lane in enumerate(self._lanes) for sizes in made
            if not any(substitute_cond(c, sizes) is FALSE for c in conjuncts(self._known))]

    def _pair(self, lane: int, sizes: Mapping[str, IntLike]) -> tuple[Talk, Talk]:
        one, other = (Talk(p, lane, self._shared, self._target, sizes) for p in self.parts)
        return one, other

    def _each(self, walk: Callable[[int, tuple[Talk, Talk], Mapping[str, IntLike]], Together]) -> tuple[Together, ...]:
        """The walks of all cases of the sizes; none if one does not tell all that is asked."""
        found: list[Together] = []
        for case in self._split:
            found.append(walk(*case))
            if not _tells(found[-1]):
                return ()
        return tuple(found)

    def bounded(self, kind: str, step: int | None = None) -> str:
        """What keeps it open whether the flags of the core of that kind fit their counters, or that of a set, '' if
        they do in every run."""
        why = self.ahead(kind)
        over = self._over if why else frozenset[tuple[str, int]]()
        if over is None:
            return self.unordered or why
        return why if any(own == kind and step in (None, at) for own, at in over) else ""

    def ahead(self, kind: str) -> str:
        """The same, whatever orders the pipes of each core: a core of that kind goes on whenever it can."""
        return self._ahead[kind == self._talks[0][1].kind]

    @cached_property
    def _ahead(self) -> tuple[str, str]:
        return self._eagerly(0), self._eagerly(1)

    def _eagerly(self, core: int) -> str:
        try:
            stuck = next((t for t in (self._walk(talks, eager=core) for talks in self._talks) if t.why), None)
            if stuck is None or stuck.gave_up:
                return stuck.why if stuck is not None else ""
            told = self._each(lambda _, talks, sizes: self._walk(talks, eager=core, sizes=sizes))
            return "" if told else stuck.why
        except NotFollowedError as error:
            return str(error)

    @cached_property
    def _over(self) -> frozenset[tuple[str, int]] | None:
        """Sets that may be too far ahead of the waits that they are not behind, by kind of core and step; None where
        that is not known of any."""
        found: frozenset[tuple[str, int]] | None = None
        for ages in (_FEW_AGES, self._target.flag_count_max) if not self.why else ():
            walks = tuple(self._walk(talks, ages=ages) for talks in self._talks)
            if not all(map(_tells, walks)):
                walks = self._each(partial(self._aged, ages)) or walks
            if not any(t.why or t.exchange.mixed for t in walks):
                found = frozenset[tuple[str, int]]().union(*(t.exchange.over for t in walks))
            if not found:
                break
        return found

    def _aged(self, ages: int, _: int, talks: tuple[Talk, Talk], sizes: Mapping[str, IntLike]) -> Together:
        return self._walk(talks, ages=ages, sizes=sizes)

    def _walk(
        self, talks: tuple[Talk, Talk], meeting: frozenset[Pair] | None = None, eager: int | None = None,
        ages: int = 0, sizes: Mapping[str, IntLike] = _AS_THEY_ARE,
    ) -> Together:
        names = talks[0].names() | talks[1].names() | sizes.keys()
        known = all_of(substitute_cond(c, sizes) for c in conjuncts(self._known) if names_of(c) <= names)

        def walked(forgets: bool = False, even: bool = False, every: int = 1) -> Together:
            return Together(
                talks, self._target, self._automatic, known, meeting, eager, self._strict, forgets, ages, even, every,
                MANY_ACTS if sizes else MOST_ACTS)

        found = walked()
        if eager is not None or _tells(found):
            return found
        if found.gave_up:
            return walked(forgets=True)
        tried = (walked(even=True, every=every) for every in (1, _TOLD_APART) if every == 1 or not found.why)
        return next((t for t in tried if _tells(t)), found)

    @property
    def lanes(self) -> tuple[Together, ...]:
        return self._walks[0]

    @property
    def why(self) -> str:
        """What keeps the walks from standing for all runs, '' if nothing."""
        return self._walks[1] or next((t.why for t in self.lanes if t.why), "")

    @property
    def unordered(self) -> str:
        """What keeps the order of both cores' accesses from being told for all runs, '' if nothing."""
        return self.why or next((t.exchange.mixed for t in self.lanes if t.exchange.mixed), "")

    def ordered(self, *pairs: Pair) -> bool:
        """Whether pairs of accesses of different cores are ordered in every run."""
        return not self.unordered and not any(p in t.exchange.unordered for t in self.lanes for p in pairs)

    def hearing(self, kind: str) -> Hearing:
        """What the waits of the core of that kind tell it of its own sets, and order of its accesses."""
        (other,) = {"cube", "vector"} - {kind}
        if self.unordered:
            return Hearing(other=other, why=self.unordered)
        open_ = frozenset((a, b) for t in self.lanes for one, a, two, b in t.exchange.unordered if one == two == kind)
        lanes = [t.exchange for t in self.lanes]
        waits = {wait for t in lanes for own, wait in t.heard if own == kind}
        always = {w: self._sets(kind, [t.heard.get((kind, w), -1) for t in lanes], True) for w in waits}
        ever = {w: self._sets(kind, [t.maybe.get((kind, w), 0) for t in lanes], False) for w in waits}
        earlier = {w: self._sets(kind, [t.earlier.get((kind, w), 0) for t in lanes], False) for w in waits}
        exact = not any(t.forgets for t in self.lanes)
        return Hearing(always, ever if exact else None, earlier, None if self._automatic else open_, other)

    def _sets(self, kind: str, bits: list[int], always: bool) -> frozenset[Told]:
        """The sets that both lanes, or one of them, have these bits for."""
        told = [frozenset(t.exchange.sets_of(kind, own)) for t, own in zip(self.lanes, bits, strict=True)]
        return frozenset.intersection(*told) if always else frozenset.union(*told)


def sides_of(context: Context) -> Sides | None:
    """None for a function that runs alone."""
    parts = parts_of(context)
    if not parts:
        return None
    module = context.module
    return _sides(
        context.program, tuple(module.funcs) if module is not None else (), context.target, context.explicit_sync,
        context.strict, context.assumed, tuple(parts))


def sides_without(context: Context, parts: tuple[Part, ...], gone: Set[Hashable]) -> Sides:
    """Both cores of a kernel without some of their ops."""
    rest = tuple(replace(p, foreign=p.foreign | gone) for p in parts)
    return _made(context.program, context.target, context.explicit_sync, context.strict, context.assumed, rest)


def _tells(walk: Together) -> bool:
    """Whether a walk stands for all runs, and leaves open no pair of accesses of different cores and no counter."""
    apart = all(one == other for one, _, other, _ in walk.exchange.unordered)
    return not walk.why and not walk.exchange.mixed and apart and not walk.exchange.over


@lru_cache(maxsize=1)
def _sides(
    own: AccessProgram, funcs: tuple[object, ...], target: Target, explicit: bool, strict: bool, assumed: Cond,
    parts: tuple[Part, ...],
) -> Sides:
    return _made(own, target, explicit, strict, assumed, parts)


def _made(
    own: AccessProgram, target: Target, explicit: bool, strict: bool, assumed: Cond, parts: tuple[Part, ...]
) -> Sides:
    shared = shared_by(parts, target)
    known = all_of(c for c in conjuncts(own.symbols.facts & assumed) if names_of(c) <= shared)
    automatic = not explicit and not any(is_manual(p.program) for p in parts)
    return Sides(parts, shared, target, automatic, strict, known)


def _by_lane(part: Part, target: Target) -> bool:
    """Whether the lanes may differ in what they do."""
    flags = (named_flag(s, target) for s in part.program.steps)
    return bool(part.first) or LANE in part.program.symbols.kinds or any(
        f is not None and f.of_one_lane for f in flags)


def _meeting(cube: Talk, vector: Talk, target: Target) -> list[tuple[Access, Access]]:
    """Accesses to global memory of two cores that may share a byte, one of which writes."""
    return [
        (a, b) for a, b in product(_global(cube, target), _global(vector, target))
        if a.place.arena == b.place.arena and (a.writes or b.writes)
        and apart(cube.mark_place(a.place), vector.mark_place(b.place)) is not TRUE]


def _both_ways(meeting: list[tuple[Access, Access]]) -> frozenset[Pair]:
    ends = [(("cube", a.step.index), ("vector", b.step.index)) for a, b in meeting]
    return frozenset((*x, *y) for one, other in ends for x, y in ((one, other), (other, one)))


def _global(talk: Talk, target: Target) -> list[Access]:
    return [a for own in accesses_of(talk.program, target).values() for a in own
            if is_global(a) and a.step.op not in talk.foreign]
