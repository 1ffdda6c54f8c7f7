"""EVENT: no counter of a flag between cores is asked to hold more than it can."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice

from pypto_verified.records import dataclass
from pypto_verified.targets.pipes import cross_flag
from verifiers.access import Step
from verifiers.flags import trip_names
from verifiers.race.handover import walk_cores
from verifiers.race.parts import deciding_both, parts_of
from verifiers.race.rests import ORDERS, SIGNALS, unneeded
from verifiers.race.sides import sides_of
from verifiers.race.values import Values, choices
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
        open_ = sides.bounded(part.kind)
        ordered = bool(sides.ahead(part.kind))
        over, asked = _over(context, part.kind) if open_ else ({}, {})
        for step in (s for s in steps if s.op not in part.foreign):
            why = sides.bounded(part.kind, step.index) if step.index not in over else ""
            why = why and asked.get(step.index, why)
            yield CounterSite(context, step.op, step.path, f"{op_text(step.op)} counter", other, step.index in over,
                              over.get(step.index, {}), why, ordered)


def _sets(step: Step, target: str) -> bool:
    row = cross_flag(step.op.name, target)
    return row is not None and step.op.name == row.set


def _over(context: Context, kind: str) -> tuple[dict[int, Mapping[str, int]], dict[int, str]]:
    """Sets of a core that goes on whenever it can, which find a counter full: the numbers of the run, or what it
    depends on."""
    own, parts = context.program, parts_of(context)
    names = deciding_both(parts)
    background = own.symbols.facts & context.assumed
    found: dict[int, Mapping[str, int]] = {}
    asked: dict[int, str] = {}
    sets = {s.index for p in parts if p.program is own and p.kind == kind for s in own.steps
            if _sets(s, context.target.name) and s.op not in p.foreign}
    for given in _tried(context, list(islice(choices(own, background), _MOST_SMALL)) or [{}]):
        if found.keys() >= sets:
            break
        if not Values(own, given).holds(background):
            continue
        run = walk_cores(context, parts, given, symbolic=False, eager=kind, touches=False)
        open_ = sorted({n for m in run.members for n in m.values.asked})
        for index in run.over if not run.blind else ():
            if open_:
                asked.setdefault(index, f"it depends on {', '.join(open_)}")
            else:
                found.setdefault(index, {n: v for n, v in given.items() if n in names})
    return found, asked


def _tried(context: Context, few: list[dict[str, int]]) -> Iterator[dict[str, int]]:
    """Small numbers, and as many turns of all loops, or of some, as a counter cannot hold, or four of them in turn; on
    both lanes."""
    full, names = context.target.flag_count_max + 1, trip_names(context.program)
    none = dict.fromkeys(names, 0)
    many = [dict.fromkeys(names, n) for n in (full, 4 * full)] + [{**none, n: full} for n in sorted(names)]
    for given in (*({**few[0], **more} for more in many), *few):
        for lane in (0, 1):
            yield {**given, "subblock_idx": lane}


def _unneeded(s: CounterSite) -> tuple[str, ...]:
    used = _ORDERS if s.ordered else SIGNALS
    return (*(a for a in _ORDERS if a not in used), *unneeded(s.context, used))


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
    help=lambda s: f"wait for an answer of the {s.other} core from time to time",
    mutant=lambda s: True)
