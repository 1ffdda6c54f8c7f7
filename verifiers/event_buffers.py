"""EVENT: buffer ids of a5. A pipe takes an id, works, and gives it back; others that ask for the id wait until then."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from pypto_verified.index import Cond, Expr, all_of, const, implies
from pypto_verified.index.cond import TRUE
from pypto_verified.records import dataclass
from pypto_verified.targets import Target
from verifiers.access import AccessProgram, Step
from verifiers.flags import Action, Trace, cores_of, trip_names
from verifiers.race.sync import Kind, sync_of
from verifiers.rule import SAFETY, Rule, Witness, always
from verifiers.sites import Context, Site, op_text
from verifiers.solver import Ladder

BUFFER_IDS = 32
"""Source: PTOAS, verifier of get_buf."""


@dataclass(frozen=True, slots=True)
class BufferSite(Site):
    """A take or a return of a buffer id by a pipe, or the end of the function (`what`: 'get', 'rls', 'exit')."""

    what: str
    pipe: str
    id: Expr
    fine: Cond
    in_range: Cond
    within: Cond
    why: str


@lru_cache(maxsize=1)
def _actions(program: AccessProgram, target: Target) -> dict[int, Action]:
    """Takes count as sets and returns as waits of a flag of the pipe."""
    found: dict[int, Action] = {}
    for step in program.steps:
        sync = sync_of(step, target) if step.op.name.startswith(("pto.get_buf", "pto.rls_buf")) else None
        if sync is not None and sync.pipe:
            found[step.index] = Action(step, sync.kind is Kind.ACQUIRE, ("buffer", sync.pipe), sync.id)
    return found


@lru_cache(maxsize=1)
def _traces(program: AccessProgram, target: Target, ladder: Ladder) -> list[Trace]:
    """Each core of the function has ids of its own."""
    every = _actions(program, target)
    found: list[Trace] = []
    for foreign in cores_of(program).values() if every else ():
        actions = {i: a for i, a in every.items() if a.step.op not in foreign}
        for pair in dict.fromkeys(a.pair for a in actions.values()):
            fixed = {a.id.value for a in actions.values() if a.pair == pair and a.id is not None}
            ids = range(BUFFER_IDS) if None in fixed else sorted(i for i in fixed if i is not None)
            found += [Trace(program, actions, pair, id, ladder) for id in ids]
    return [t for t in found if t.actions or t.at_exit.why]


def _sites(context: Context) -> Iterator[BufferSite]:
    traces = _traces(context.program, context.target, context.ladder)
    for action in _actions(context.program, context.target).values():
        own = [t for t in traces if t.pair == action.pair and action.step.index in t.before]
        moments = [(t, t.before[action.step.index]) for t in own]
        fine = all_of(implies(action.on(t.id), ~m.occupied if action.sets else m.occupied) for t, m in moments)
        within = all_of(m.within for _, m in moments)
        why = next((m.why for _, m in moments if m.why), "")
        yield _site(context, action.step, "get" if action.sets else "rls", action, fine, within, why)
    for trace in traces:
        takes = [a for a in trace.actions if a.sets]
        if takes:
            end, last = trace.at_exit, takes[-1]
            yield _site(context, last.step, "exit", last, ~end.occupied, end.within, end.why, const(trace.id))


def _site(
    context: Context, step: Step, what: str, action: Action, fine: Cond, within: Cond, why: str, at: Expr | None = None
) -> BufferSite:
    id = at if at is not None else action.id if action.id is not None else const(0)
    label = f"{op_text(step.op)} {action.pair[1]} {id!r}" + (" exit" if what == "exit" else "")
    in_range = all_of((id >= 0, id < BUFFER_IDS))
    path = TRUE if what == "exit" else step.path
    return BufferSite(context, step.op, path, label, what, action.pair[1], id, fine, in_range, within, why)


_WRONG = {
    "get": "takes buffer id {id} for {pipe}, which has it already: it waits for itself",
    "rls": "gives back buffer id {id} of {pipe}, which does not have it: whoever waits for the id goes on too early",
    "exit": "takes buffer id {id} for {pipe}, which still has it at the end: the next kernel waits for ever",
}


def _explain(s: BufferSite, w: Witness) -> str:
    if w(s.id) < 0 or w(s.id) >= BUFFER_IDS:
        return f"{op_text(s.op)} names buffer id {w.show(s.id)}; there are {BUFFER_IDS}"
    return f"{op_text(s.op)} " + _WRONG[s.what].format(id=w(s.id), pipe=s.pipe)


EVENT_BUFFER: Rule[BufferSite] = Rule(
    id="EVENT-BUFFER",
    formula="0 <= id < 32 and takes(id, pipe) - releases(id, pipe) in {0, 1}, 0 at every exit",
    kind=SAFETY, observable=False, requires=("EV-03",), source="PTOAS BufidSync",
    unseen="a run stops at a pipe that waits for itself",
    claim="a pipe takes a buffer id that it does not have, gives back one that it has, and ends without any",
    sites=_sites, applies=always, given=lambda s: s.within, undecided=lambda s: s.why,
    chosen=lambda s: trip_names(s.context.program),
    goal=lambda s: all_of((s.fine, s.in_range)), explain=_explain,
    help=lambda s: "pair each get_buf with one rls_buf of the same pipe and id, on every path",
    mutant=lambda s: s.in_range)

RULES = (EVENT_BUFFER,)
