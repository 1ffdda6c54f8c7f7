"""EVENT: no core waits for ever for another, and no flag between them stays set."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field
from itertools import islice

from pypto_verified.records import dataclass
from pypto_verified.targets import Target
from pypto_verified.targets.pipes import cross_flag
from verifiers.access import Step
from verifiers.cross_flags import named_flag
from verifiers.race.choices import choices
from verifiers.race.cluster import Cluster
from verifiers.race.handover import MOST_RUNS, walk_cores
from verifiers.race.members import LANE, meets_both
from verifiers.race.parts import KINDS, Part, deciding_both, parts_of
from verifiers.race.rests import unneeded
from verifiers.race.sides import sides_of
from verifiers.rule import SAFETY, Rule, Witness, always
from verifiers.sites import Context, Site, op_text


@dataclass(frozen=True, slots=True)
class TalkSite(Site):
    """A flag between cores, or a meeting of both kinds. `fault`: what happens to it in the run `given`, '' if nothing
    is found; `why`: what keeps it from being decided; `alone`: there is no text of the other core."""

    fault: str
    given: Mapping[str, int]
    why: str
    alone: bool = False


@dataclass(slots=True, eq=False)
class _Seen:
    """What happened in the runs: the fault of a step, and the numbers; `maybe` where those are not for us to choose or
    the pipes of a core go on by themselves."""

    sure: dict[int, tuple[str, dict[str, int]]] = field(default_factory=dict)
    maybe: dict[int, str] = field(default_factory=dict)
    blind: str = ""


def _talks(step: Step, target: str) -> bool:
    return step.op.name == "pto.syncall" or cross_flag(step.op.name, target) is not None


def _sites(context: Context) -> Iterator[TalkSite]:
    own = context.program
    steps = [s for s in own.steps if _talks(s, context.target.name)]
    parts = parts_of(context) if steps else []
    if not parts:
        yield from _alone(context, steps)
        return
    seen = _seen(context, parts)
    sides = sides_of(context) if seen.blind or seen.maybe else None
    open_ = sides.why if sides is not None else ""
    for step in steps:
        fault, given = seen.sure.get(step.index, ("", {}))
        why = "" if fault or not open_ else seen.maybe.get(step.index, "") or open_
        yield TalkSite(context, step.op, step.path, op_text(step.op), fault, given, why)


def _alone(context: Context, steps: list[Step]) -> Iterator[TalkSite]:
    """Without a text of the other core, it does its part; cores of one kind have this text (EVENT-GROUP)."""
    for step in steps:
        flag, kind = named_flag(step, context.target), context.program.func.kernel_kind
        if (flag is not None and flag.between_kinds) or (kind in KINDS and meets_both(step)):
            why = "the text of the other core is not at hand" if context.strict else ""
            yield TalkSite(context, step.op, step.path, op_text(step.op), "", {}, why, alone=True)


def _seen(context: Context, parts: list[Part]) -> _Seen:
    own, named = context.program, deciding_both(parts)
    seen = _Seen()
    tried = list(islice(choices(own, own.symbols.facts & context.assumed), MOST_RUNS))
    if not tried:
        seen.blind = "no small numbers are as the assumptions say"
    for given in tried:
        for lane in (0, 1):
            run = walk_cores(context, parts, {**given, LANE: lane}, symbolic=False, touches=False)
            seen.blind = seen.blind or run.blind or next((
                f"it is not followed for all runs, because {m.why}" for m in run.members if m.why), "")
            if not run.blind:
                _note(context, run, seen, {n: v for n, v in {**given, LANE: lane}.items() if n in named})
    return seen


def _note(context: Context, run: Cluster, seen: _Seen, given: dict[str, int]) -> None:
    asked = sorted({n for m in run.members for n in m.values.asked})
    steps = {id(s): s for s in context.program.steps}
    faults = {id(s): (s, "waits for ever") for s in run.waiting.values() if run.stuck}
    if not run.stuck:
        faults = {id(s): (s, "is never waited for") for s in run.left}
    each_other = len(run.waiting) > 1 and not all(_stalls(s, context.target) for s in run.waiting.values())
    for key, (step, fault) in faults.items():
        if key not in steps or not _talks(step, context.target.name):
            continue
        if asked:
            seen.maybe.setdefault(step.index, f"it depends on {', '.join(asked)}")
        elif each_other:
            seen.maybe.setdefault(step.index, "the cores wait for each other unless their pipes go on by themselves")
        else:
            seen.sure.setdefault(step.index, (_told(run, step, fault), given))


def _stalls(step: Step, target: Target) -> bool:
    """Whether a core that waits there waits with all its pipes."""
    row = cross_flag(step.op.name, target.name)
    return row.stalls_core if row is not None else step.op.name == "pto.syncall" or not target.on_chip_pipe


def _told(run: Cluster, step: Step, fault: str) -> str:
    """The fault, with what the other core waits for meanwhile."""
    others = [(m, run.waiting[m.kind]) for m in run.members if run.waiting.get(m.kind, step) is not step]
    if not run.stuck:
        return f"{fault}: it is still set when the cores end, and the next kernel's first wait takes it"
    for member, other in others:
        line = member.program.location(other.op).line
        return f"{fault}: the {member.kind} core waits for this one in {op_text(other.op)} at line {line}"
    return f"{fault}: the other core has ended"


def _explain(s: TalkSite, w: Witness) -> str:
    return f"{op_text(s.op)} {s.fault}"


def _unneeded(s: TalkSite) -> tuple[str, ...]:
    absent = () if s.alone else ("ABSENT-CORE",)
    return (*absent, *unneeded(s.context, ("POP-PIPE", "LANE-OFFSET")))


WAITING: Rule[TalkSite] = Rule(
    id="EVENT-CORES",
    formula="each wait of a core has a set of another, and sets(flag) = waits(flag) when all cores end",
    kind=SAFETY, observable=True, requires=("EV-06",), source="PTO-ISA set_cross_core, SyncAll.hpp",
    claim="no core waits for ever for another, and every flag between them is free when they end",
    assumptions=("ABSENT-CORE", "POP-PIPE", "LANE-OFFSET"), unneeded=_unneeded,
    sites=_sites, applies=always, undecided=lambda s: s.why, given=lambda s: not s.why,
    goal=lambda s: not s.fault and not s.why, shown=lambda s: s.given, explain=_explain,
    help=lambda s: "set the flag as often as it is waited for, and before this core waits itself",
    mutant=lambda s: True)
