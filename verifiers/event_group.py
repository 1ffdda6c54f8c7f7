"""EVENT: flags that cores of one kind pass to each other: all of them, or the vector cores of a cube. Each core runs
the same text, so what one gives the others give too; a set is passed on when all have given it.

If no core comes to them less often than another, a wait that stands behind a set of its own in the text never hangs: of
all cores that are stuck take the one whose wait is the earliest; its set is behind no other stuck one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache

from pypto_verified.index import Cond, implies
from pypto_verified.index.cond import FALSE, TRUE
from pypto_verified.records import dataclass
from pypto_verified.targets import Target
from pypto_verified.targets.pipes import Scope
from verifiers.access import AccessProgram
from verifiers.cross_flags import NamedFlag, named_flag
from verifiers.event_launch import comes_apart
from verifiers.flags import Action, Trace, trip_names
from verifiers.race.parts import parts_of
from verifiers.rule import SAFETY, Rule, always
from verifiers.sites import Context, Site, op_text

_WORDS = {Scope.KIND: "all cores of the kind", Scope.LANES: "both vector cores of the cube"}


@dataclass(frozen=True, slots=True)
class GroupSite(Site):
    """A set or a wait, or the last set before the end (`what`: 'set', 'wait', 'exit'), of a flag that a group of cores
    gives and takes. `fine`: it is free when it is set, set when it is waited for, and free in the end."""

    what: str
    flag: NamedFlag
    fine: Cond
    within: Cond
    why: str


@lru_cache(maxsize=1)
def _flags(program: AccessProgram, target: Target) -> Mapping[int, NamedFlag]:
    found = ((s.index, named_flag(s, target)) for s in program.steps)
    return {index: flag for index, flag in found if flag is not None}


def _sites(context: Context) -> Iterator[GroupSite]:
    """Where a function runs on one kind of cores; elsewhere EVENT-CORES speaks of them."""
    program, flags = context.program, _flags(context.program, context.target)
    own = {i: f for i, f in flags.items() if f.scope in _WORDS}
    if not own or parts_of(context):
        return
    actions = {i: Action(f.step, f.sets, ("cores", str(f.scope)), f.id) for i, f in own.items()}
    for flag in (f for f in own.values() if f.id is None):
        yield GroupSite(context, flag.step.op, flag.step.path, op_text(flag.step.op), "set" if flag.sets else "wait",
                        flag, FALSE, TRUE, "its id is not expressed")
    traces = [Trace(program, actions, pair, id, context.ladder) for pair in dict.fromkeys(
        a.pair for a in actions.values()) for id in range(context.target.flag_ids)]
    for trace in (t for t in traces if t.actions or t.at_exit.why):
        ahead = _ahead(context, trace) or _shared(trace, own, flags)
        for action in trace.actions:
            step, moment = action.step, trace.before[action.step.index]
            why = ahead or moment.why or comes_apart(context, step)
            yield GroupSite(
                context, step.op, step.path, f"{op_text(step.op)} {trace.id}", "set" if action.sets else "wait",
                own[step.index], _fine(trace, action), moment.within, why)
        sets = [a.step for a in trace.actions if a.sets]
        if sets and all(_known(context, trace, a) for a in trace.actions):
            end = trace.at_exit
            yield GroupSite(
                context, sets[-1].op, TRUE, f"{op_text(sets[-1].op)} {trace.id} exit", "exit", own[sets[-1].index],
                ~end.occupied, end.within, ahead or end.why or comes_apart(context, sets[-1]))


def _ahead(context: Context, trace: Trace) -> str:
    """Why the flag is more than one bit: some set may come while an earlier one is not yet waited for."""
    for action in trace.actions:
        if action.sets and not _known(context, trace, action):
            line = context.program.location(action.step.op).line
            return f"line {line} may set it twice before it is waited for, which is not followed"
    return ""


def _fine(trace: Trace, action: Action) -> Cond:
    occupied = trace.before[action.step.index].occupied
    return implies(action.on(trace.id), ~occupied if action.sets else occupied)


def _known(context: Context, trace: Trace, action: Action) -> bool:
    """Whether a set finds the flag free, or a wait finds it set, in every run."""
    facts = context.program.symbols.facts & context.assumed & trace.before[action.step.index].within
    return context.ladder.entails(facts & action.step.path, _fine(trace, action))


def _shared(trace: Trace, own: Mapping[int, NamedFlag], flags: Mapping[int, NamedFlag]) -> str:
    """Why who gives the flag is not told: its counter is that of all flags with this id."""
    pairs = {a.step.index for a in trace.actions}
    others = (f for i, f in flags.items() if i not in pairs and (f.id is None or f.id.value in (None, trace.id)))
    other = next((f for f in others if f.scope not in _WORDS or f.step.index in own), None)
    return f"{op_text(other.step.op)} may name it too, for other cores" if other is not None else ""


_WRONG = {
    "wait": "waits for flag {id}, which {group} set less often: each waits for ever",
    "exit": "sets flag {id}, which is not waited for as often: the next kernel's first wait takes it",
}


EVENT_GROUP: Rule[GroupSite] = Rule(
    id="EVENT-GROUP",
    formula="sets(flag) - waits(flag) in {0, 1} on every core, 0 at every exit",
    kind=SAFETY, observable=True, requires=("EV-06",), source="PTO-ISA ffts_cross_core_sync, modes 0 and 1",
    claim="a flag among cores of one kind is set by each before it waits, and free when they end",
    sites=_sites, applies=always, given=lambda s: s.within if not s.why else FALSE, undecided=lambda s: s.why,
    chosen=lambda s: trip_names(s.context.program), goal=lambda s: s.fine if not s.why else FALSE,
    explain=lambda s, w: f"{op_text(s.op)} " + _WRONG[s.what].format(
        id=s.label.split()[1], group=_WORDS[s.flag.scope] if s.flag.scope is not None else ""),
    help=lambda s: "set the flag on every core of the group as often as it is waited for, and before",
    mutant=lambda s: True)


RULES = (EVENT_GROUP,)
