"""FIFO: the slots of pipes between cores. What is pushed fits one, the ring has room for all, none is written while it
is read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pypto_verified.index import TRUE, Cond, Expr, any_of
from pypto_verified.index.cond import FALSE, as_cond
from pypto_verified.layouts import Space
from pypto_verified.pto.legality_context import INITS, pipe_id
from pypto_verified.targets.fifo import LEDGERS, Ledger, local_slots, ring_slots
from verifiers.access import Step
from verifiers.fifo_counts import Count, compared, runs
from verifiers.pipes import facts_of, through_memory, used
from verifiers.rule import SAFETY, Rule, always
from verifiers.sites import Context, Site, op_text

_SOURCE = "PTO-ISA TPush.hpp, TPop.hpp, class TPipe"


@dataclass(frozen=True, slots=True)
class SlotSite(Site):
    """A push: the bytes that its lanes put into one slot of `slot` bytes."""

    bytes: Expr
    slot: int


def _pushes(context: Context) -> Iterator[SlotSite]:
    """Pushes of tiles as they are: an epilogue stores other elements than the accumulator has."""
    program = context.program
    for step in program.steps:
        tile = next(iter(step.tiles("tile")), None)
        init = _init(context, step)
        if step.op.name not in ("pto.tpush_to_aiv", "pto.tpush_to_aic") or tile is None or init is None:
            continue
        size = init.op.attrs.get("slot_size")
        if isinstance(size, int) and "acc_push_epilogue" not in init.op.attrs:
            rows, cols = tile.valid_rows, tile.valid_cols
            if not through_memory(program, pipe_id(step.op)):
                rows, cols = rows * 0 + tile.type.rows, cols * 0 + tile.type.cols
            lanes = 2 if step.op.attrs.get("split") and tile.type.loc is Space.VEC else 1
            yield SlotSite(
                context, step.op, step.path, f"{op_text(step.op)} {tile.name}",
                rows * cols * tile.type.dtype.bytes * lanes, size)


def _init(context: Context, step: Step) -> Step | None:
    """The op that makes the pipe of a step."""
    return next(
        (s for s in context.program.steps if s.op.name in INITS and pipe_id(s.op) == pipe_id(step.op)), None)


FIFO_SLOT: Rule[SlotSite] = Rule(
    id="FIFO-SLOT", kind=SAFETY, observable=False, requires=("XC-02", "XC-12"), source=_SOURCE,
    claim="what is pushed fits a slot, the parts of both lanes together",
    unseen="a run has slots as large as what is pushed",
    sites=_pushes, applies=always,
    goal=lambda s: s.bytes <= s.slot,
    explain=lambda s, w: (
        f"{op_text(s.op)} puts {w.show(s.bytes)} bytes into a slot of {s.slot}: the rest lands in the next slot"),
    help=lambda s: "make slot_size as large as the whole tile that crosses",
    mutant=lambda s: s.bytes <= 2 * s.slot,
)


@dataclass(frozen=True, slots=True)
class RingSite(Site):
    """A pipe where its consumer reserves memory for it: `needed` of `reserved` bytes."""

    needed: int
    reserved: int


def _rings(context: Context) -> Iterator[RingSite]:
    module, program = context.module, context.program
    inits = [s for s in program.steps if s.op.name in INITS]
    if module is None or not inits or not program.reserved:
        return
    facts = facts_of(id(module), tuple(module.funcs), context.target.name)
    for step in inits:
        size, names = step.op.attrs.get("slot_size"), facts.buffer_names(step.op)
        for ring in program.reserved:
            if isinstance(size, int) and ring.op.attrs.get("name") in names:
                slots = slots_of_pipe(context, step)
                if not context.target.on_chip_pipe:
                    slots = local_slots(step.op.attrs.get("local_slot_num"), slots)
                yield RingSite(context, step.op, TRUE, f"{op_text(step.op)} {ring.name}", slots * size, ring.bytes)


def slots_of(context: Context, step: Step) -> int:
    """The slots of the pipe of a push or pop."""
    init = _init(context, step)
    return slots_of_pipe(context, init) if init is not None else 1


def slots_of_pipe(context: Context, step: Step) -> int:
    """The slots of the pipe that a step makes."""
    return ring_slots(step.op.attrs.get("slot_num"), step.op.attrs.get("dir_mask"))


FIFO_RING: Rule[RingSite] = Rule(
    id="FIFO-RING", kind=SAFETY, observable=False, requires=("XC-02",), source=_SOURCE,
    claim="the memory that a consumer reserves holds all slots that lie in it",
    unseen="a run has a ring for each pipe",
    sites=_rings, applies=always,
    goal=lambda s: as_cond(s.needed <= s.reserved),
    explain=lambda s, w: (
        f"{op_text(s.op)} keeps {s.needed} bytes of slots in a buffer of {s.reserved}: the last slots lie on other "
        "tiles"),
    help=lambda s: f"reserve {s.needed} bytes, or take fewer slots",
    mutant=lambda s: as_cond(s.needed <= 2 * s.reserved),
)


@dataclass(frozen=True, slots=True)
class CreditSite(Site):
    """A pipe with that many slots, how its target keeps count of free ones, and how often its producer pushes."""

    slots: int
    ledger: Ledger
    pushes: Count


def _pipes(context: Context) -> Iterator[CreditSite]:
    program = context.program
    for step in (s for s in program.steps if s.op.name in INITS):
        pipe = pipe_id(step.op)
        for op in ("pto.tpush_to_aiv", "pto.tpush_to_aic"):
            if pipe in used(program, op):
                ledger = LEDGERS[context.target.name] if context.strict else LEDGERS["a2a3"]
                yield CreditSite(
                    context, step.op, TRUE, f"{op_text(step.op)} pipe {pipe}", slots_of_pipe(context, step), ledger,
                    runs(program, op, pipe, 0))


def _few(s: CreditSite) -> Cond:
    """Whether the pipe ends before any slot is used again."""
    return FALSE if s.pushes.why else compared(s.pushes, Count(), lambda a, _: a <= s.slots)


FIFO_OVERRUN: Rule[CreditSite] = Rule(
    id="FIFO-OVERRUN",
    formula="outstanding(slots) <= slots, or pushes <= slots",
    kind=SAFETY, observable=True, requires=("XC-12",),
    source="PTO-ISA npu/*/TPush.hpp, theorem FIFO-OVERRUN",
    claim="the producer never writes a slot that the consumer has not read",
    sites=_pipes, applies=always, assumptions=("FIFO-CREDITS",),
    goal=lambda s: any_of((as_cond(s.ledger.safe(s.slots)), _few(s))),
    explain=lambda s, w: (
        f"{op_text(s.op)} with {s.slots} slots lets its producer be {s.ledger.outstanding(s.slots)} tiles ahead"),
    help=lambda s: "use 1, 2 or 3 slots, or an even number" if not s.ledger.primed else "push no more tiles than slots",
    mutant=lambda s: as_cond(s.ledger.outstanding(s.slots) <= 2 * s.slots),
)


RULES = (FIFO_SLOT, FIFO_RING, FIFO_OVERRUN)
