"""EVENT: the names of flags, whatever their state: ids that a pair of pipes has, flags between cores that nobody else
uses, pipes that the core has."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pypto_verified.index import Cond, Expr, all_of, const, ne
from pypto_verified.pto.module import EnumAttr
from pypto_verified.targets.events import FOREIGN_PIPES, pipe_of
from pypto_verified.targets.model import Pair
from verifiers.flags import actions_of, sections_of, trip_names
from verifiers.rule import SAFETY, Rule, always
from verifiers.sites import Context, Site, op_text

_WITH_PIPES = frozenset({
    "pto.set_flag", "pto.wait_flag", "pto.set_flag_dyn", "pto.wait_flag_dyn", "pto.barrier", "pto.sync.set",
    "pto.sync.wait", "pto.record_event", "pto.wait_event", "pto.barrier_sync", "pto.get_buf", "pto.rls_buf",
    "pto.set_intra_block", "pto.wait_intra_block", "pto.set_cross_block", "pto.wait_cross_block",
})
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
    """A flag between cores that the text sets or waits for, and who else uses flags of that kind."""

    id: Expr
    free: Cond
    first: int


def _between_cores(context: Context) -> Iterator[CrossSite]:
    reserved = context.target.reserved_flags
    for step in context.program.steps:
        if step.op.name not in ("pto.sync.set", "pto.sync.wait"):
            continue
        fixed, computed = step.op.attrs.get("event_id"), step.operands.get("event_id_dyn", ())
        id = const(fixed) if isinstance(fixed, int) else next((v for v in computed if isinstance(v, Expr)), None)
        if id is not None:
            free = all_of((id >= 0, *(ne(id, row.flag) for row in reserved), id < context.target.flag_ids))
            label = f"{op_text(step.op)} {id!r}"
            yield CrossSite(context, step.op, step.path, label, id, free, min(row.flag for row in reserved))


EVENT_CROSS: Rule[CrossSite] = Rule(
    id="EVENT-CROSS",
    formula="id not in the ids that the library keeps for itself",
    kind=SAFETY, observable=False, requires=("EV-03",), source="PTO-ISA SyncAll.hpp, PTOAS syncall",
    claim="a flag between cores is not one that synchronisation of all cores uses",
    unseen="a run has no assembler that uses the same flags",
    sites=_between_cores, applies=always, assumptions=("RESERVED-FLAGS",),
    goal=lambda s: s.free,
    explain=lambda s, w: (
        f"{op_text(s.op)} uses flag {w.show(s.id)}; flags from {s.first} on belong to syncall and to the assembler"),
    help=lambda s: f"use flags 0 to {s.first - 1}",
    mutant=lambda s: s.id <= s.first,
)


@dataclass(frozen=True, slots=True)
class PipeSite(Site):
    """A pipe that a flag or a barrier names, on a core of a kind ('cube' or 'vector')."""

    pipe: str
    kind: str


def _named_pipes(context: Context) -> Iterator[PipeSite]:
    program = context.program
    kinds = {op: name for name, ops in sections_of(program).items() for op in ops}
    for step in program.steps:
        kind = kinds.get(step.op, program.func.kernel_kind)
        if kind and step.op.name in _WITH_PIPES:
            named = (step.op.attrs.get(a) for a in _PIPE_ATTRS)
            for pipe in dict.fromkeys(pipe_of(a.member) for a in named if isinstance(a, EnumAttr)):
                yield PipeSite(context, step.op, step.path, f"{op_text(step.op)} {pipe}", pipe, kind)


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
