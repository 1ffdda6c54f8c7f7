"""EVENT: the names of flags, whatever their state: ids that a pair of pipes has, flags between cores that nobody else
uses, pipes that the core has."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from pypto_verified.index import Cond, Expr, all_of, ne
from pypto_verified.index.cond import FALSE
from pypto_verified.pto.module import EnumAttr
from pypto_verified.pto.rows import TABLE
from pypto_verified.records import dataclass
from pypto_verified.targets.events import FOREIGN_PIPES, pipe_of
from pypto_verified.targets.model import Pair
from pypto_verified.targets.pipes import LANE_IDS, flag_count
from verifiers.cross_flags import named_flag
from verifiers.flags import actions_of, run_by, trip_names
from verifiers.rule import SAFETY, Rule, Witness, always
from verifiers.sites import Context, Site, op_text

_GIVES = ("pto.set_", "pto.record_event", "pto.rls_buf", "pto.sync.set")
_PIPE_ATTRS = ("src_pipe", "dst_pipe", "pipe", "src_op", "dst_op", "op_type")


@dataclass(frozen=True, slots=True)
class IdSite(Site):
    """A set or wait of the flag whose id is computed, of `ids` that the pair has."""

    pair: Pair
    id: Expr
    ids: int


def _computed(context: Context) -> Iterator[IdSite]:
    for action in actions_of(context.program).values():
        if action.id is not None and "event_id" in action.step.op.args:
            label = f"{op_text(action.step.op)} {action.pair[0]}>{action.pair[1]} {action.id!r}"
            yield IdSite(
                context, action.step.op, action.step.path, label, action.pair, action.id, context.target.event_ids)


EVENT_ID: Rule[IdSite] = Rule(
    id="EVENT-ID", kind=SAFETY, observable=False, requires=("EV-03",), source="PTO-ISA EVENT_ID_MAX",
    claim="a computed id is one that the pipe pair has",
    unseen="a run has as many flags as it is asked for",
    sites=_computed, applies=always, assumptions=("EVENT-KEY",), chosen=lambda s: trip_names(s.context.program),
    goal=lambda s: all_of((s.id >= 0, s.id < s.ids)),
    explain=lambda s, w: (
        f"{op_text(s.op)} {s.pair[0]} -> {s.pair[1]}: id {w.show(s.id)} is not one of 0 to {s.ids - 1}"),
    help=lambda s: f"take it modulo the number of ids in use: ({s.id!r}) % {s.ids}",
    mutant=lambda s: s.id >= 0,
)


@dataclass(frozen=True, slots=True)
class CrossSite(Site):
    """A flag between cores that the text sets or waits for, of `ids` that its core has. `id` is None where the text
    computes it in a way that is not expressed; `free`: nobody else uses it; `first`: of those that others use."""

    id: Expr | None
    free: Cond
    first: int
    ids: int
    kind: str

    @property
    def why(self) -> str:
        return "its id is not expressed" if self.id is None else ""


def _between_cores(context: Context) -> Iterator[CrossSite]:
    target, reserved = context.target, context.target.reserved_flags
    kinds_of = run_by(context.program)
    for step in context.program.steps:
        flag = named_flag(step, target)
        if flag is None:
            continue
        kinds, first = kinds_of(step), min(row.flag for row in reserved)
        kind = min(kinds, key=lambda kind: flag_count(flag.scope, kind, target), default="")
        ids, label = flag_count(flag.scope, kind, target), op_text(step.op)
        if flag.id is None:
            yield CrossSite(context, step.op, step.path, label, None, FALSE, first, ids, kind)
            continue
        base = flag.id % LANE_IDS if flag.of_one_lane else flag.id
        free = all_of((flag.id >= 0, *(ne(base, row.flag) for row in reserved), flag.id < ids))
        yield CrossSite(context, step.op, step.path, f"{label} {flag.id!r}", flag.id, free, first, ids, kind)


def _explain_cross(s: CrossSite, w: Witness) -> str:
    if s.id is None or not 0 <= w(s.id) < s.ids:
        core = f"a {s.kind} core" if s.kind else "a core"
        return f"{op_text(s.op)} names flag {w.show(s.id) if s.id is not None else '?'}; {core} has {s.ids} of these"
    return f"{op_text(s.op)} uses flag {w.show(s.id)}; {_taken(s)} belong to syncall and to the assembler"


def _taken(s: CrossSite) -> str:
    second = f", and from {s.first + LANE_IDS} on," if s.ids > LANE_IDS else ""
    return f"flags from {s.first} on{f' to {LANE_IDS - 1}' if second else ''}{second}"


def _help_cross(s: CrossSite) -> str:
    second = f", and {LANE_IDS} to {s.first + LANE_IDS - 1} for the second vector core" if s.ids > LANE_IDS else ""
    return f"use flags 0 to {s.first - 1}{second}"


EVENT_CROSS: Rule[CrossSite] = Rule(
    id="EVENT-CROSS",
    formula="0 <= id < ids(core), and id not in the ids that the library keeps for itself",
    kind=SAFETY, observable=False, requires=("EV-03",), source="PTO-ISA SyncAll.hpp, PTOAS syncall",
    claim="a flag between cores is one that the core has, and not one that synchronisation of all cores uses",
    unseen="a run has no assembler that uses the same flags",
    sites=_between_cores, applies=always, assumptions=("RESERVED-FLAGS", "LANE-OFFSET"),
    unneeded=lambda s: () if s.ids > LANE_IDS else ("LANE-OFFSET",),
    undecided=lambda s: s.why, chosen=lambda s: trip_names(s.context.program),
    goal=lambda s: s.free, explain=_explain_cross, help=_help_cross,
    mutant=lambda s: s.id <= s.first if s.id is not None else True,
)


@dataclass(frozen=True, slots=True)
class PipeSite(Site):
    """A pipe that a flag or a barrier names, on a core of a kind ('cube' or 'vector'); not that of a wait which holds
    back the whole core, whatever it names."""

    pipe: str
    kind: str


def _named_pipes(context: Context) -> Iterator[PipeSite]:
    kinds_of = run_by(context.program)
    for step in context.program.steps:
        row, flag = TABLE.get(step.op.name), named_flag(step, context.target)
        ignored = flag is not None and not flag.sets and flag.row.stalls_core
        if row is not None and row.effect == "sync" and not ignored:
            named = (step.op.attrs.get(a) for a in _PIPE_ATTRS)
            pipes = dict.fromkeys(pipe_of(a.member) for a in named if isinstance(a, EnumAttr))
            for pipe, kind in product(pipes, kinds_of(step)):
                yield PipeSite(context, step.op, step.path, f"{op_text(step.op)} {pipe} {kind}", pipe, kind)


EVENT_PIPE: Rule[PipeSite] = Rule(
    id="EVENT-PIPE",
    formula="pipe in pipes(kind of core)",
    kind=SAFETY, observable=False, requires=("EV-05",), source="PTO-ISA machine model; PTOAS#1026",
    claim="a flag or barrier names pipes that the core has",
    unseen="a run has every pipe on every core",
    sites=_named_pipes, applies=always,
    goal=lambda s: s.pipe not in FOREIGN_PIPES[s.kind],
    explain=lambda s, w: (
        f"{op_text(s.op)} names pipe {s.pipe}, which a {s.kind} core does not have: "
        f"{'it is never given' if s.op.name.startswith(_GIVES) else 'it waits for ever'}"),
    help=lambda s: f"move it to the core that has {s.pipe}, or name the pipe that does the work here",
    mutant=lambda s: s.pipe not in FOREIGN_PIPES["vector" if s.kind == "cube" else "cube"],
)


RULES = (EVENT_ID, EVENT_CROSS, EVENT_PIPE)
