"""EVENT: each flag is free when it is set, set when it is waited for, and free in the end, on every path and for every
trip count. Flags are 0/1 in program order.

That is enough for no wait to hang: each wait has a set before it in program order, pipes are in order, so of all waits
that are stuck the first in program order would have its set behind no other stuck one. It says nothing of waits for
another core, and nothing of a set that runs ahead of the wait before it (EVENT-AGAIN, under the stricter reading)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import TypeAlias

from pypto_verified.index import Cond, Expr, all_of, const, implies, symbols_of
from pypto_verified.index.cond import FALSE, TRUE
from pypto_verified.records import dataclass
from pypto_verified.targets import Target
from pypto_verified.targets.model import Pair
from verifiers.access import AccessProgram, Step
from verifiers.branch_taken import BRANCH_TAKEN, keep_to, lone_argument, passed
from verifiers.event_runs import Broken, broken
from verifiers.flags import Action, Moment, Trace, actions_of, cores_of, trip_names
from verifiers.recurrence import counted
from verifiers.rule import SAFETY, Rule, Witness, always
from verifiers.sites import Context, Site, op_text
from verifiers.solver import Ladder
from verifiers.solver.cone import names_of

_SOURCE = "PTO-ISA event.hpp: FREE -record-> SET -wait-> FREE"

Key: TypeAlias = tuple[str, Pair, int]
"""Core, pipes, id."""


@dataclass(frozen=True, slots=True)
class FlagSite(Site):
    """A flag at one op. `fine`: it is there as it has to be; `fine_at_first`: the same in the first iteration of every
    loop around; `lines`: of the sets that may have left it; `within`: where that is known; `why`: what stopped the
    analysis, if anything; `run`: one that fails there all the same, `led`: the numbers of one where data lead there;
    `shared`: the destinations of other flags that the stricter reading takes for the same, if these are what the site
    is about; `lone`: the argument that alone decides a branch by which it fails (assumption BRANCH-TAKEN)."""

    pair: Pair
    id: Expr
    fine: Cond
    fine_at_first: Cond
    lines: tuple[int, ...] = ()
    within: Cond = TRUE
    why: str = ""
    run: Broken | None = None
    led: Mapping[str, int] | None = None
    shared: tuple[str, ...] = ()
    lone: str = ""

    @property
    def given(self) -> Mapping[str, int] | None:
        """The numbers of a run that fails here."""
        return self.run.given if self.run is not None else None

    @property
    def flag(self) -> str:
        return f"{self.pair[0]} -> {self.pair[1]}"


@lru_cache(maxsize=1)
def _traces(program: AccessProgram, ladder: Ladder, target: Target, strict: bool) -> dict[Key, Trace]:
    """Every flag that the function uses."""
    found: dict[Key, Trace] = {}
    everything = actions_of(program)
    for core, foreign in cores_of(program).items() if everything else ():
        actions = {i: a for i, a in everything.items() if a.step.op not in foreign}
        for pair in dict.fromkeys(a.pair for a in actions.values()):
            asked = _library_steps(program, target, pair)
            if strict:
                asked += [i for i, a in actions.items() if a.sets and a.pair[0] == pair[0]]
            for id in range(target.event_ids):
                trace = Trace(program, actions, pair, id, ladder, asked)
                if trace.actions or trace.at_exit.why:
                    found[core, pair, id] = trace
    return found


def _library_steps(program: AccessProgram, target: Target, pair: Pair) -> list[int]:
    """Library ops that use flags of a pair inside."""
    ops = {op for row in target.reserved_events if row.pair == pair for op in row.ops}
    return [step.index for step in program.steps if op_text(step.op) in ops]


def _all(context: Context) -> dict[Key, Trace]:
    return _traces(context.program, context.ladder, context.target, context.strict)


def _first(c: Cond, step: Step) -> Cond:
    for loop in step.loops:
        own = counted(loop)
        if own is not None:
            c = own.at(c, 0)
    return c


def _site(
    context: Context, step: Step, pair: Pair, id: Expr, fine: Cond, traces: list[Trace], label: str
) -> FlagSite:
    program = context.program
    lines = dict.fromkeys(
        program.location(a.step.op).line for t in traces for a in _latest_first(t, step.index) if a.sets)
    within, why = _known([t.before[step.index] for t in traces])
    return FlagSite(
        context, step.op, step.path, label, pair, id, fine, _first(fine, step), tuple(lines), within, why)


def _known(moments: list[Moment]) -> tuple[Cond, str]:
    return all_of(m.within for m in moments), next((m.why for m in moments if m.why), "")


def _latest_first(trace: Trace, index: int) -> list[Action]:
    """What happens to a flag, from a place back to the beginning, then from the end."""
    actions = list(reversed(trace.actions))
    return [a for a in actions if a.step.index < index] + [a for a in actions if a.step.index >= index]


def _uses(sets: bool, context: Context) -> Iterator[FlagSite]:
    """One site for each set, or for each wait."""
    traces = _all(context)
    by_step: dict[int, list[tuple[Trace, Action]]] = {}
    for trace in traces.values():
        for action in trace.actions:
            if action.sets is sets:
                by_step.setdefault(action.step.index, []).append((trace, action))
    for _, uses in sorted(by_step.items()):
        action = uses[0][1]
        fine: list[Cond] = []
        for trace, _ in uses:
            occupied = trace.before[action.step.index].occupied
            fine.append(implies(action.on(trace.id), ~occupied if sets else occupied))
        id = action.id if action.id is not None else const(0)
        label = f"{op_text(action.step.op)} {action.pair[0]}>{action.pair[1]} {id!r}"
        yield _site(context, action.step, action.pair, id, all_of(fine), [t for t, _ in uses], label)
        others = _same_source(traces, uses) if sets and context.strict else []
        if others:
            apart = all_of(implies(action.on(t.id), ~t.before[action.step.index].occupied) for t in others)
            site = _site(context, action.step, action.pair, id, apart, others, f"{label} beside {others[0].pair[1]}")
            yield replace(site, shared=tuple(dict.fromkeys(t.pair[1] for t in others)))


def _same_source(traces: dict[Key, Trace], uses: list[tuple[Trace, Action]]) -> list[Trace]:
    """The stricter reading of EVENT-KEY: flags of one source pipe and id of a core are one."""
    own, (source, destination) = [t for t, _ in uses], uses[0][1].pair
    asked = {(core, t.id) for (core, _, _), t in traces.items() if t in own}
    return [t for (core, _, _), t in traces.items()
            if (core, t.id) in asked and t.pair[0] == source and t.pair[1] != destination]


def _tried(context: Context, sites: Iterator[FlagSite]) -> Iterator[FlagSite]:
    """What is not followed for all runs may fail in a small one."""
    for site in sites:
        run = _run_of(context, site) if site.why else None
        if not site.why:
            yield _led_along(context, site)
        elif run is None:
            yield site
        elif run.asked:
            why = f"{site.why}; it fails for {run}, which callers or data decide"
            yield replace(site, why=why, led=run.given if run.led else None)
        else:
            yield replace(site, id=const(run.id), fine=FALSE, fine_at_first=TRUE, within=TRUE, why="", run=run,
                          lone=run.lone)


def _led_along(context: Context, site: FlagSite) -> FlagSite:
    """A site with the argument that leads to its failure by one branch around ops of its flags, if one alone does."""
    program = context.program
    names = names_of(site.fine & site.path) - trip_names(program)
    if not passed(program, names):
        return site
    actions = [a for a in actions_of(program).values() if a.pair == site.pair]
    ids = {n for a in actions if a.id is not None for n in symbols_of(a.id)}
    here = [s for s in program.steps if s.op is site.op]
    lone = lone_argument(program, names, [*here, *(a.step for a in actions)], frozenset(ids))
    known = all_of((site.path, program.symbols.facts, context.assumed, site.within))
    return replace(site, lone=lone) if lone and not context.ladder.entails(known, site.fine) else site


def _run_of(context: Context, site: FlagSite) -> Broken | None:
    program, background = context.program, context.program.symbols.facts & context.assumed
    index = {id(s.op): s.index for s in program.steps}.get(id(site.op))
    at = None if site.label.startswith("exit") else index
    for foreign in cores_of(program).values():
        found = broken(program, context.target, frozenset(foreign), background).get(at)
        if found is not None and found.pair == site.pair:
            return found
    return None


def _set_before(s: FlagSite) -> str:
    here = s.context.program.location(s.op).line
    places = [f"line {n}" for n in s.lines if n != here]
    return places[0] if places else "an earlier iteration"


def _explain_set(s: FlagSite, w: Witness) -> str:
    flag = f"{op_text(s.op)} sets flag {s.flag} id {w(s.id)}"
    if s.shared:
        other = " or ".join(f"{s.pair[0]} -> {d}" for d in s.shared)
        where = f" by line {s.lines[0]}" if s.lines else ""
        return (f"{flag} while {other} of the same id is still set{where}: the stricter reading takes flags of one "
                "source and id for one")
    return f"{flag}, which is still set: {_set_before(s)} set it and nothing waited for it since"


def _chosen(s: FlagSite) -> frozenset[str]:
    return trip_names(s.context.program) | frozenset({s.lone} - {""})


def _unneeded(s: FlagSite) -> tuple[str, ...]:
    return () if s.lone else (BRANCH_TAKEN,)


EVENT_SET: Rule[FlagSite] = Rule(
    id="EVENT-SET",
    formula="sets(flag) - waits(flag) = 0 before every set, along every path",
    kind=SAFETY, observable=True, requires=("EV-03", "VF-01"), source=_SOURCE,
    claim="a flag that is set is free: what it told before has been waited for",
    sites=lambda c: _tried(c, _uses(True, c)), applies=always, unneeded=_unneeded,
    assumptions=("EVENT-KEY", "FLAG-WAITS", BRANCH_TAKEN), given=lambda s: s.within, undecided=lambda s: s.why,
    chosen=_chosen,
    goal=lambda s: s.fine, shown=lambda s: s.given, led=lambda s: s.led,
    explain=_explain_set,
    help=lambda s: "wait for the flag before it is set again, or take another id in turn" + keep_to(s.lone),
    mutant=lambda s: s.fine_at_first,
)


def _never_set(s: FlagSite) -> str:
    if not s.lines:
        return "nothing ever sets it"
    places = ", ".join(f"line {n}" for n in sorted(s.lines))
    return f"it is free there: what {places} set has been waited for already, or is not reached"


EVENT_WAIT: Rule[FlagSite] = Rule(
    id="EVENT-WAIT",
    formula="sets(flag) - waits(flag) = 1 before every wait, along every path",
    kind=SAFETY, observable=True, requires=("EV-03", "VF-01"), source=_SOURCE,
    claim="a flag that is waited for has been set: no wait hangs",
    sites=lambda c: _tried(c, _uses(False, c)), applies=always, unneeded=_unneeded,
    assumptions=("EVENT-KEY", BRANCH_TAKEN), given=lambda s: s.within, undecided=lambda s: s.why, chosen=_chosen,
    goal=lambda s: s.fine, shown=lambda s: s.given, led=lambda s: s.led,
    explain=lambda s, w: f"{op_text(s.op)} waits for flag {s.flag} id {w(s.id)}: {_never_set(s)}",
    help=lambda s: "set the flag on every path before the wait (before the loop, if the loop waits first), or drop the "
                   "wait" + keep_to(s.lone),
    mutant=lambda s: s.fine_at_first,
)


def _ends(context: Context) -> Iterator[FlagSite]:
    """At the last set: one site for each flag of a pair whose ids are constant, one for all flags of another pair; and
    for each condition on which sets of it are reached, since nobody else has to free it."""
    groups: dict[tuple[str, Pair, int], list[Trace]] = {}
    for (core, pair, id), trace in _all(context).items():
        if any(a.sets for a in trace.actions):
            fixed = all(a.id is not None and a.id.value is not None for a in trace.actions)
            groups.setdefault((core, pair, id if fixed else -1), []).append(trace)
    for (_, pair, id), traces in groups.items():
        sets = {a.step.index: a.step for t in traces for a in t.actions if a.sets}
        free = all_of(~t.at_exit.occupied for t in traces)
        reached: dict[Cond, Step] = {_entry(step): step for _, step in sorted(sets.items())}
        if free is TRUE or len(reached) > _MOST_ENTRIES:
            reached = {TRUE: sets[max(sets)]}
        within, why = _known([t.at_exit for t in traces])
        which = str(id) if id >= 0 else "any"
        for path, step in reached.items():
            yield FlagSite(
                context, step.op, path, f"exit {pair[0]}>{pair[1]} {which}", pair, const(id), free,
                TRUE if step.loops else free, (), within, why)


_MOST_ENTRIES = 8
"""Conditions on which one flag is set that are judged one by one."""


def _entry(step: Step) -> Cond:
    """What holds where a step, or the outermost loop around it, is reached: else it does not take place."""
    return step.loops[0].path if step.loops else step.path


def _some_id(s: FlagSite) -> str:
    return f"flag {s.flag} id {s.id!r}" if s.id.value != -1 else f"some flag {s.flag}"


EVENT_EXIT: Rule[FlagSite] = Rule(
    id="EVENT-EXIT",
    formula="sets(flag) - waits(flag) = 0 at every exit",
    kind=SAFETY, observable=True, requires=("EV-03", "VF-01"), source=_SOURCE,
    claim="every flag is free when the function ends",
    sites=lambda c: _tried(c, _ends(c)), applies=always, unneeded=_unneeded,
    assumptions=("EVENT-KEY", BRANCH_TAKEN), given=lambda s: s.within, undecided=lambda s: s.why, chosen=_chosen,
    goal=lambda s: s.fine, shown=lambda s: s.given, led=lambda s: s.led,
    explain=lambda s, w: (
        f"{_some_id(s)}, set here, is still set when the function ends: the next kernel's first wait passes too early, "
        "or its set is lost"),
    help=lambda s: "wait for the flag after the last set" + keep_to(s.lone),
    mutant=lambda s: s.fine_at_first,
)


def _library(context: Context) -> Iterator[FlagSite]:
    """Library ops that set and wait flags on their own, at each such flag that the function uses too."""
    traces = _all(context)
    for step in context.program.steps if traces else ():
        for row in context.target.reserved_events:
            if op_text(step.op) not in row.ops:
                continue
            for (_, pair, id), trace in traces.items():
                if (pair, id) == (row.pair, row.event) and step.index in trace.before:
                    fine = FALSE if context.strict else ~trace.before[step.index].occupied
                    label = f"{op_text(step.op)} {pair[0]}>{pair[1]} {id}"
                    yield _site(context, step, pair, const(id), fine, [trace], label)


EVENT_LIBRARY: Rule[FlagSite] = Rule(
    id="EVENT-LIBRARY",
    formula="sets(flag) - waits(flag) = 0 wherever an op uses the flag inside",
    kind=SAFETY, observable=False, requires=("EV-03",), source="PTO-ISA npu/*/T*.hpp",
    claim="a flag that a library op sets and waits for inside is free while the op runs",
    unseen="a run does not set the flags that are used inside of library ops",
    sites=_library, applies=always, assumptions=("EVENT-KEY", "RESERVED-IDS"),
    given=lambda s: s.within, undecided=lambda s: s.why, chosen=_chosen,
    goal=lambda s: s.fine,
    explain=lambda s, w: (
        f"{op_text(s.op)} sets and waits for flag {s.flag} id {w(s.id)} inside, and {_set_before(s)} has set it"),
    help=lambda s: "use another id for this pair of pipes",
    mutant=lambda s: s.fine_at_first,
)


RULES = (EVENT_SET, EVENT_WAIT, EVENT_EXIT, EVENT_LIBRARY)
