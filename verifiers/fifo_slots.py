"""FIFO: the slots of pipes between cores. What is pushed fits one, the ring has room for all, none is written while it
is read."""

from __future__ import annotations

from collections.abc import Iterator

from pypto_verified.index import TRUE, Cond, Expr
from pypto_verified.index.cond import as_cond
from pypto_verified.layouts import Space
from pypto_verified.pto.legality_context import INITS, pipe_id
from pypto_verified.pto.legality_context import Context as ModuleFacts
from pypto_verified.records import dataclass
from pypto_verified.targets.fifo import LEDGERS, Ledger, local_slots, ring_slots
from verifiers.access import Step
from verifiers.fifo_few import Few, Moved, few
from verifiers.flags import trip_names
from verifiers.pipes import LANES, facts_of, peers, through_memory, used
from verifiers.rule import SAFETY, Rule, always
from verifiers.sites import Context, Site, op_text

_SOURCE = "PTO-ISA TPush.hpp, TPop.hpp, class TPipe"


@dataclass(frozen=True, slots=True)
class SlotSite(Site):
    """A push: the bytes that its lanes put into one slot of `slot` bytes, of a ring of `ring` bytes, and whether it is
    the only one."""

    bytes: Expr
    slot: int
    ring: int
    alone: Few

    @property
    def only(self) -> Cond:
        """That nothing else is ever in the ring."""
        return (self.bytes <= self.ring) & self.alone.holds


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
            bytes_ = rows * cols * tile.type.dtype.bytes * lanes
            pushes = Moved(program, step.op.name, pipe_id(step.op), 0, step=step.index)
            alone = Few() if (bytes_ <= size) is TRUE else few(context, (pushes,), 1, bytes_.value is not None)
            yield SlotSite(
                context, step.op, step.path, f"{op_text(step.op)} {tile.name}", bytes_, size,
                slots_of_pipe(context, init) * size, alone)


def _init(context: Context, step: Step) -> Step | None:
    """The op that makes the pipe of a step."""
    return next(
        (s for s in context.program.steps if s.op.name in INITS and pipe_id(s.op) == pipe_id(step.op)), None)


FIFO_SLOT: Rule[SlotSite] = Rule(
    id="FIFO-SLOT",
    formula="bytes(lanes) <= slot_size, or pushes(pipe) <= 1",
    kind=SAFETY, observable=False, requires=("XC-02", "XC-12"), source=_SOURCE,
    claim="what is pushed fits a slot, the parts of both lanes together",
    unseen="a run has slots as large as what is pushed",
    sites=_pushes, applies=always, chosen=lambda s: trip_names(s.context.program),
    goal=lambda s: (s.bytes <= s.slot) | s.only, shown=lambda s: s.alone.given,
    explain=lambda s, w: (
        f"{op_text(s.op)} puts {w.show(s.bytes)} bytes into a slot of {s.slot}: the rest lands in the next slot"),
    help=lambda s: "make slot_size as large as the whole tile that crosses",
    mutant=lambda s: s.bytes <= 2 * s.slot,
)


@dataclass(frozen=True, slots=True)
class RingSite(Site):
    """A pipe where its consumer reserves memory for it: `slots` of `size` bytes in `reserved`. `fits`: whether no slot
    behind the reserved memory is ever reached; `alone`: there is no text of the end that pushes."""

    slots: int
    size: int
    reserved: int
    fits: Few
    alone: bool

    @property
    def needed(self) -> int:
        return self.slots * self.size


def _rings(context: Context) -> Iterator[RingSite]:
    module, program = context.module, context.program
    inits = [s for s in program.steps if s.op.name in INITS]
    if module is None or not inits or not program.reserved:
        return
    facts = facts_of(id(module), tuple(module.funcs), context.target.name)
    for step in inits:
        size, names = step.op.attrs.get("slot_size"), facts.buffer_names(step.op)
        for ring in program.reserved:
            if isinstance(size, int) and size > 0 and ring.op.attrs.get("name") in names:
                slots = slots_of_pipe(context, step)
                if not context.target.on_chip_pipe:
                    slots = local_slots(step.op.attrs.get("local_slot_num"), slots)
                tiles, alone = _tiles(context, facts, step)
                enough = slots * size <= ring.bytes
                fits = Few() if enough else few(context, tiles, ring.bytes // size)
                yield RingSite(
                    context, step.op, TRUE, f"{op_text(step.op)} {ring.name}", slots, size, ring.bytes, fits,
                    alone and not enough)


def _tiles(context: Context, facts: ModuleFacts, init: Step) -> tuple[tuple[Moved, ...], bool]:
    """(what writes tiles into the slots that the end which `init` makes reserves: what the other end pushes where slots
    are on the chip, what this end pops where it copies them from global memory; whether the other end is absent, which
    is taken to push what this one pops)."""
    pipe, to_vector = pipe_id(init.op), init.op.name == "pto.aiv_initialize_pipe"
    on_chip = not through_memory(context.program, pipe)
    ends = peers(context.program, facts, pipe) if on_chip else ()
    if not ends:
        pop = "pto.tpop_from_aic" if to_vector else "pto.tpop_from_aiv"
        return tuple(Moved(context.program, pop, pipe, lane) for lane in LANES), on_chip
    push = "pto.tpush_to_aiv" if to_vector else "pto.tpush_to_aic"
    return tuple(Moved(p.program, push, p.id, lane, p.shared) for p in ends for lane in LANES), False


def slots_of(context: Context, step: Step) -> int:
    """The slots of the pipe of a push or pop."""
    init = _init(context, step)
    return slots_of_pipe(context, init) if init is not None else 1


def slots_of_pipe(context: Context, step: Step) -> int:
    """The slots of the pipe that a step makes."""
    return ring_slots(step.op.attrs.get("slot_num"), step.op.attrs.get("dir_mask"))


FIFO_RING: Rule[RingSite] = Rule(
    id="FIFO-RING",
    formula="slots * slot_size <= bytes(buffer), or tiles(pipe) * slot_size <= bytes(buffer)",
    kind=SAFETY, observable=False, requires=("XC-02",), source=_SOURCE,
    claim="the memory that a consumer reserves holds all slots that lie in it",
    unseen="a run has a ring for each pipe",
    sites=_rings, applies=always, chosen=lambda s: trip_names(s.context.program),
    goal=lambda s: as_cond(s.needed <= s.reserved) | s.fits.holds, shown=lambda s: s.fits.given,
    assumptions=("ABSENT-CORE",), unneeded=lambda s: () if s.alone else ("ABSENT-CORE",),
    explain=lambda s, w: (
        f"{op_text(s.op)} keeps {s.slots} slots of {s.size} bytes in a buffer of {s.reserved}: from tile "
        f"{s.reserved // s.size + 1} on, tiles are written behind it, over what lies there"),
    help=lambda s: f"reserve {s.needed} bytes, or take fewer slots",
    mutant=lambda s: as_cond(s.needed <= 2 * s.reserved),
)


@dataclass(frozen=True, slots=True)
class CreditSite(Site):
    """A pipe with that many slots, how its target keeps count of free ones, and whether its producer pushes no more
    tiles than that."""

    slots: int
    ledger: Ledger
    fits: Few


def _pipes(context: Context) -> Iterator[CreditSite]:
    program = context.program
    for step in (s for s in program.steps if s.op.name in INITS):
        pipe = pipe_id(step.op)
        for op in ("pto.tpush_to_aiv", "pto.tpush_to_aic"):
            if pipe in used(program, op):
                ledger = LEDGERS[context.target.name] if context.strict else LEDGERS["a2a3"]
                slots = slots_of_pipe(context, step)
                lanes = LANES if op == "pto.tpush_to_aic" else LANES[:1]
                pushes = tuple(Moved(program, op, pipe, lane) for lane in lanes)
                fits = Few() if ledger.safe(slots) else few(context, pushes, slots)
                yield CreditSite(
                    context, step.op, TRUE, f"{op_text(step.op)} pipe {pipe}", slots, ledger, fits)


FIFO_OVERRUN: Rule[CreditSite] = Rule(
    id="FIFO-OVERRUN",
    formula="outstanding(slots) <= slots, or pushes <= slots",
    kind=SAFETY, observable=True, requires=("XC-12",),
    source="PTO-ISA npu/*/TPush.hpp, theorem FIFO-OVERRUN",
    claim="the producer never writes a slot that the consumer has not read",
    sites=_pipes, applies=always, assumptions=("FIFO-CREDITS",), chosen=lambda s: trip_names(s.context.program),
    goal=lambda s: as_cond(s.ledger.safe(s.slots)) | s.fits.holds, shown=lambda s: s.fits.given,
    explain=lambda s, w: (
        f"{op_text(s.op)} with {s.slots} slots lets its producer be {s.ledger.outstanding(s.slots)} tiles ahead"),
    help=lambda s: "use 1, 2 or 3 slots, or an even number" if not s.ledger.primed else "push no more tiles than slots",
    mutant=lambda s: as_cond(s.ledger.outstanding(s.slots) <= 2 * s.slots),
)


def _counters(context: Context) -> Iterator[CreditSite]:
    """The same pipes, with whether their producer pushes no more tiles than a counter holds."""
    program, most = context.program, context.target.flag_count_max
    for step in (s for s in program.steps if s.op.name in INITS):
        pipe, slots = pipe_id(step.op), slots_of_pipe(context, step)
        ledger = LEDGERS[context.target.name] if context.strict else LEDGERS["a2a3"]
        for op in ("pto.tpush_to_aiv", "pto.tpush_to_aic"):
            if pipe in used(program, op):
                pushes = tuple(Moved(program, op, pipe, lane) for lane in LANES)
                fits = Few() if ledger.outstanding(slots) <= most else few(context, pushes, most)
                yield CreditSite(context, step.op, TRUE, f"{op_text(step.op)} pipe {pipe}", slots, ledger, fits)


FIFO_COUNTER: Rule[CreditSite] = Rule(
    id="FIFO-COUNTER",
    formula="outstanding(slots) <= 15, or pushes <= 15",
    kind=SAFETY, observable=True, requires=("XC-09",),
    source="PTO-ISA npu/*/TPush.hpp, Producer::record: a flag a tile; set_cross_core: counters of 4 bits",
    claim="no pipe has more tiles waiting than the counter of its flag holds",
    sites=_counters, applies=always, assumptions=("FIFO-CREDITS",), chosen=lambda s: trip_names(s.context.program),
    goal=lambda s: as_cond(s.ledger.outstanding(s.slots) <= s.context.target.flag_count_max) | s.fits.holds,
    shown=lambda s: s.fits.given,
    explain=lambda s, w: (
        f"{op_text(s.op)} with {s.slots} slots lets its producer be {s.ledger.outstanding(s.slots)} tiles ahead, and "
        f"the counter of its flag holds {s.context.target.flag_count_max}"),
    help=lambda s: f"use {s.context.target.flag_count_max} slots at most",
    mutant=lambda s: as_cond(s.ledger.outstanding(s.slots) <= 2 * s.context.target.flag_count_max),
)


RULES = (FIFO_SLOT, FIFO_RING, FIFO_OVERRUN, FIFO_COUNTER)
