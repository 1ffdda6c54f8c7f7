"""Looks for runs that show failures: leads them to the ops in question, and asks whether callers can avoid what is
found."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import replace
from itertools import product
from types import MappingProxyType
from typing import TypeVar

from pypto_verified.index import TRUE, Cond, substitute_cond
from pypto_verified.index.cond import FALSE
from pypto_verified.targets.pipes import Hazard
from verifiers.access import AccessProgram, SymbolKind
from verifiers.led import truths_passed
from verifiers.race.busy import named
from verifiers.race.choices import choices
from verifiers.race.directed import leads, models, told_by_data, way, whole_way
from verifiers.race.runs import Run
from verifiers.race.walker import Core, steps_of
from verifiers.race.witness import PASSED, Want, Witness, of_data
from verifiers.solver import Ladder
from verifiers.solver.cone import names_of

MOST_STEPS = 40_000
"""Steps of the runs that look for failures along one way, or with one choice of what callers pass."""
MOST_OF_ALL = 80_000
"""Steps of all that look for failures of one function, and again of all that ask whether callers can avoid them. Ways
that have less left than LEAST_STEPS get so many."""
LEAST_STEPS = 2_000


def search(
    core: Core, wanted: Iterable[Want], background: Cond, ladder: Ladder, spared: dict[Want, str] | None = None,
    narrowed: Callable[[Iterable[Want]], Core] | None = None,
) -> dict[Want, Witness]:
    """For each pair that is asked for, a run in which nothing orders it, or makes it visible, if one is found among
    small numbers. A run that depends on what its caller passes counts if each value that is tried and lets both ops
    take place leads to a failure: then no caller is right; so does one that takes one way of a branch by one argument
    alone, for the text has a way for each (BRANCH-TAKEN). One that depends on data does not count: it is `led` where
    data decide nothing but the way that it takes. `spared` gets why a pair is not shown to fail though this core alone
    does not order it. `narrowed`: the core with what matters to some of what is wanted."""
    found: dict[Want, Witness] = {}
    program, kinds = core.program, core.program.symbols.kinds
    ways = {want: way(program, want[1][:2]) for want in wanted}
    known = list(dict.fromkeys(ways.values()))[:_WAYS]
    groups = _grouped({want: led if led in known else TRUE for want, led in ways.items()})
    purse = _Purse(len(groups))
    for led, group in groups.items():
        purse.next()
        own = narrowed(group) if narrowed is not None else core
        about = named(own, background)
        for told in leads(program, led, background, steps_of(core)[1], ladder):
            left = {want for want in group if want not in found or not found[want].asked <= names_of(led)}
            if left:
                _try(own, left, found, choices(program, background, told, about), purse, spared)
    missing = {want: whole_way(program, want[1][:2]) for want in ways if want not in found}
    further = _grouped({want: led for want, led in missing.items() if led is not ways[want]})
    purse = _Purse(len(further))
    for led, group in further.items():
        purse.next()
        known_way = told_by_data(program, led, background, ladder)
        if known_way is not None:
            own = narrowed(group) if narrowed is not None else core
            tried = choices(program, background, known_way[0], named(own, background))
            _try(own, set(group), found, tried, purse, spared, told=known_way[1])
    asking = _grouped({w: (ways[w], found[w].asked) for w in found if found[w].asked})
    purse = _Purse(len(asking))
    for (led, names), group in asking.items():
        purse.next()
        own = narrowed(group) if narrowed is not None else core
        about = named(own, background)
        flags, data = names & truths_passed(program).keys(), of_data(program, names)
        names -= data
        if not names or not all(kinds.get(n) in PASSED for n in names - flags):
            continue
        read = {n: v for want in group for n, v in found[want].given.items() if n in data}
        asked = [{n: v for n, v in m.items() if n in names} for m in models(ladder, led, background, _MODELS)]
        others = [dict.fromkeys(names - flags, value) for value in (_TRIED if names - flags else _TRIED[:1])]
        others += [{**told, **model} for model in asked[:1] if model for told in others]
        for told, truth in product((*others, *asked), _BOTH if flags else _BOTH[:1]):
            there = {want for want in group if substitute_cond(ways[want], told) is not FALSE}
            if there:
                here: dict[Want, Witness] = {}
                tried = choices(program, background, {**read, **told}, about)
                ran = _try(
                    own, set(there), here, tried, purse, truths=(_BOTH if data or not flags else (truth,)), once=True,
                    told=dict.fromkeys(flags, truth))
                group -= {want for want in there - here.keys() if purse.short or _took_place(want, ran)}
        for want in group:
            found[want] = replace(found[want], asked=found[want].asked & data)
    return {want: _judged(program, witness) for want, witness in found.items()}


def _judged(program: AccessProgram, witness: Witness) -> Witness:
    """Whether it takes data to show it, and whether one argument of a caller alone decides by one branch."""
    data = of_data(program, witness.asked)
    passed = witness.asked - data
    if len(passed) == 1 and passed <= witness.forked and not any(
            program.symbols.kinds.get(n) is SymbolKind.LAUNCH for n in passed):
        witness = replace(witness, asked=data, lone=next(iter(passed)))
    return replace(witness, led=bool(witness.asked) and witness.asked <= data - witness.beside)


_Key = TypeVar("_Key", bound=Hashable)


def _grouped(keys: Mapping[Want, _Key]) -> dict[_Key, set[Want]]:
    """The wants by what they are given."""
    groups: dict[_Key, set[Want]] = {}
    for want, key in keys.items():
        groups.setdefault(key, set()).add(want)
    return groups


def _took_place(want: Want, ran: Counter[tuple[int, bool]]) -> bool:
    """Whether the second op was reached after the first: in the next round, where it does not stand behind it."""
    first, second = want[1][:2]
    hazard = want[1][2] if len(want[1]) == 3 else None
    writes = hazard in (Hazard.RAW, Hazard.WAW), hazard in (Hazard.WAR, Hazard.WAW)
    return bool(ran[first, writes[0]]) and ran[second, writes[1]] >= (1 if first < second else 2)


_TRIED = (0, 1, 2, 3, 17)
"""Values of what a caller passes."""
_BOTH = (False, True)
"""What opaque Booleans are, all of them."""
_WAYS = 6
"""Conditions of branches for which runs are led there, each with a budget of its own."""
_MODELS = 3
"""Values of the same that the branches around both ops ask for."""


class _Purse:
    """The steps of one function, shared out between groups: what one leaves is there for the others, and one that needs
    more may take half of theirs. `short`: the last try had less than it would have had alone, and spent it."""

    def __init__(self, groups: int) -> None:
        self._groups = groups
        self._left = MOST_OF_ALL
        self._own = 0
        self.short = False

    def next(self) -> None:
        """The next group begins."""
        self._left += self._own
        share = self._left // self._groups
        self._groups -= 1
        self._own = share + (self._left - share) // 2
        self._left -= self._own

    def take(self) -> int:
        """The steps of a try."""
        return max(LEAST_STEPS, min(MOST_STEPS, self._own))

    def spent(self, steps: int, of: int) -> None:
        """A try that had `of` has ended."""
        self._own = max(0, self._own - steps)
        self.short = steps >= of and of < MOST_STEPS


def _try(
    core: Core, left: set[Want], found: dict[Want, Witness], tried: Iterable[dict[str, int]], purse: _Purse,
    spared: dict[Want, str] | None = None, truths: tuple[bool, ...] = _BOTH, once: bool = False,
    told: Mapping[str, bool] = MappingProxyType({}),
) -> Counter[tuple[int, bool]]:
    """Run until all of `left` are found or the budget is spent; those that depend on nothing that is not chosen leave
    `left`, with `once` any that is found. `told`: what some opaque Booleans are. How often each step took place in one
    run at most, as in `Run`."""
    most = budget = purse.take()
    opaque = False
    ran: Counter[tuple[int, bool]] = Counter()
    for given, truth in product(tried, truths):
        if not left or budget <= 0:
            break
        if truth is not truths[0] and not opaque:
            continue
        run = Run(core, given, truth, set(left), budget, told)
        ran |= run.ran
        if spared is not None:
            spared.update(run.spared)
        opaque = opaque or any("?" in name for name in run.values.asked)
        budget = min(run.budget, budget - 1)
        for want, witness in run.found.items() if not run.blind else ():
            known = found.get(want)
            if known is None or (known.asked and not witness.asked):
                found[want] = witness
            if once or not witness.asked:
                left.discard(want)
    purse.spent(most - max(budget, 0), most)
    return ran
