"""EVENT: no counter of a flag between cores is asked to hold more than it can."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from itertools import islice

from pypto_verified.records import dataclass
from pypto_verified.targets.pipes import cross_flag
from verifiers.access import Step
from verifiers.flags import trip_names
from verifiers.race.choices import choices
from verifiers.race.cluster import Cluster
from verifiers.race.handover import members_of, walk_cores
from verifiers.race.members import LANE
from verifiers.race.overrun import Overrun, all_seen, holds_pipes
from verifiers.race.parts import Part, deciding_both, parts_of
from verifiers.race.rests import ORDERS, SIGNALS, unneeded
from verifiers.race.sides import sides_of
from verifiers.race.sync import is_manual
from verifiers.race.values import Values
from verifiers.rule import SAFETY, Rule, Witness, always
from verifiers.sites import Context, Site, op_text

_ORDERS = tuple(a for a in ORDERS if a != "SYNC-LEFT")
"""What the assembler adds is not counted on."""
_MOST_SMALL = 4
"""Choices of small numbers that are tried."""


@dataclass(frozen=True, slots=True)
class CounterSite(Site):
    """A set of a flag for a core of `other` kind. `given`: the numbers of a run in which it finds the counter full;
    `why`: what keeps it from being decided; `ordered`: whether the order of each core's pipes is counted on."""

    other: str
    over: bool
    given: Mapping[str, int]
    why: str
    ordered: bool


def _sites(context: Context) -> Iterator[CounterSite]:
    own, target = context.program, context.target
    steps = [s for s in own.steps if _sets(s, target.name)]
    sides = sides_of(context) if steps else None
    if sides is None:
        return
    for part in parts_of(context):
        if part.program is not own:
            continue
        (other,) = {"cube", "vector"} - {part.kind}
        ordered = bool(sides.ahead(part.kind))
        of_core = [s for s in steps if s.op not in part.foreign]
        open_ = {s.index: why for s in of_core if (why := sides.bounded(part.kind, s.index))}
        over, asked = _over(context, part.kind, open_.keys()) if open_ else ({}, {})
        for step in of_core:
            why = asked.get(step.index, open_.get(step.index, "")) if step.index not in over else ""
            yield CounterSite(context, step.op, step.path, f"{op_text(step.op)} counter", other, step.index in over,
                              over.get(step.index, {}), why, ordered)


def _sets(step: Step, target: str) -> bool:
    row = cross_flag(step.op.name, target)
    return row is not None and step.op.name == row.set


def _over(
    context: Context, kind: str, sets: Set[int]
) -> tuple[dict[int, Mapping[str, int]], dict[int, str]]:
    """Those of `sets`, of a core of that kind, that find a counter full in some run: its numbers, or what it depends
    on."""
    own, parts = context.program, parts_of(context)
    names = deciding_both(parts)
    background = own.symbols.facts & context.assumed
    found: dict[int, Mapping[str, int]] = {}
    asked: dict[int, str] = {}
    for given in _tried(context, list(islice(choices(own, background), _MOST_SMALL)) or [{}]):
        if found.keys() >= sets:
            break
        if not Values(own, given).holds(background):
            continue
        for run in _runs(context, parts, given, kind):
            open_ = sorted({n for m in run.members for n in m.values.asked})
            for index in run.over.keys() & sets if not run.blind else ():
                if open_:
                    asked.setdefault(index, f"it depends on {', '.join(open_)}")
                else:
                    found.setdefault(index, {n: v for n, v in given.items() if n in names})
    return found, asked


def _runs(context: Context, parts: list[Part], given: dict[str, int], kind: str) -> Iterator[Cluster]:
    """The core of that kind goes on whenever it can; then each pipe does, where the text tells all that holds it
    back."""
    yield walk_cores(context, parts, given, symbolic=False, eager=kind, touches=False)
    manual = context.explicit_sync or any(is_manual(p.program) for p in parts)
    if manual and holds_pipes(parts, context.target) and all_seen(parts, context.target):
        run = Overrun(members_of(parts, given), context.target, given[LANE], context.strict)
        run.run()
        if not run.mixed and not run.stuck:
            yield run


def _tried(context: Context, few: list[dict[str, int]]) -> Iterator[dict[str, int]]:
    """Small numbers, and as many turns of some loop, or of all, as a counter cannot hold, or four of them in turn; on
    both lanes."""
    full, names = context.target.flag_count_max + 1, trip_names(context.program)
    many = [{**dict.fromkeys(names, rest), n: full} for rest in (1, 0) for n in sorted(names)]
    many += [dict.fromkeys(names, n) for n in (full, 4 * full)]
    for given in (*({**few[0], **more} for more in many), *few):
        for lane in (0, 1):
            yield {**given, LANE: lane}


def _unneeded(s: CounterSite) -> tuple[str, ...]:
    used = _ORDERS if s.ordered else SIGNALS
    return (*(a for a in _ORDERS if a not in used), *unneeded(s.context, used))


def _held_back(s: CounterSite) -> str:
    """Where only a pipe waits for the other core, and not the one that sets the flag."""
    return ", on the pipe that sets the flag, or let that one wait for the pipe that does" if s.ordered else ""


def _explain(s: CounterSite, w: Witness) -> str:
    most = s.context.target.flag_count_max
    return (f"{op_text(s.op)} may run more than {most} times ahead of the waits of the {s.other} core, and the flag's "
            f"counter holds {most}")


COUNTERS: Rule[CounterSite] = Rule(
    id="EVENT-COUNT",
    formula="sets(flag) - waits(flag) <= 15 in every order of the two cores",
    kind=SAFETY, observable=True, requires=("EV-06",), source="PTO-ISA set_cross_core: counters of 4 bits",
    claim="no core sets a flag between cores more often ahead of the waits than its counter holds",
    sites=_sites, applies=always, assumptions=_ORDERS, unneeded=_unneeded,
    undecided=lambda s: s.why, given=lambda s: not s.why,
    goal=lambda s: not s.over and not s.why, shown=lambda s: s.given, explain=_explain,
    help=lambda s: f"wait for an answer of the {s.other} core from time to time{_held_back(s)}",
    mutant=lambda s: True)
