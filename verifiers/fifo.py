"""FIFO: the pipes between cores. Each tile that one end pushes the other pops and frees, once, before the kernel ends;
what is pushed fits a slot; a slot is not written while it is read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pypto_verified.index import TRUE, Cond, Expr, any_of, eq
from pypto_verified.index.cond import FALSE, as_cond
from pypto_verified.layouts import Space
from pypto_verified.pto.legality_context import INITS, pipe_id
from pypto_verified.targets.fifo import LEDGERS, LOCAL_SLOTS, Ledger, slot_count
from verifiers.access import Step, TileUse
from verifiers.fifo_counts import Count, compared, runs, why_not
from verifiers.pipes import LANES, Peer, facts_of, peers, through_memory, used
from verifiers.rule import SAFETY, Rule, Witness, always
from verifiers.sites import Context, Site, op_text

_SOURCE = "PTO-ISA TPush.hpp, TPop.hpp, class TPipe"
_PEER = {
    "pto.tpop_from_aic": "pto.tpush_to_aiv", "pto.tpop_from_aiv": "pto.tpush_to_aic",
    "pto.tpush_to_aiv": "pto.tpop_from_aic", "pto.tpush_to_aic": "pto.tpop_from_aiv",
}
_FREE = {"pto.tpop_from_aic": "pto.tfree_from_aic", "pto.tpop_from_aiv": "pto.tfree_from_aiv"}


@dataclass(frozen=True, slots=True)
class CountSite(Site):
    """An end of a pipe, seen by one lane: how often `own` runs here and `other` there; `shared`: the names that mean
    the same at both."""

    lane: int
    own: Count
    other: Count
    other_op: str
    shared: frozenset[str] | None

    @property
    def why(self) -> str:
        apart = self.shared is not None and not (self.own.names() | self.other.names()) <= self.shared
        return why_not(self.own, self.other) or ("the ends count by values of their own" if apart else "")


def _ends(context: Context, *ops: str) -> Iterator[CountSite]:
    """The ops of this function that have a counterpart in another one."""
    module, program = context.module, context.program
    if module is None or not any(s.op.name in INITS for s in program.steps):
        return
    facts = facts_of(id(module), tuple(module.funcs), context.target.name)
    for op in ops:
        for pipe in used(program, op):
            first = next(s for s in program.steps if s.op.name == op and pipe_id(s.op) == pipe)
            for peer in peers(program, facts, pipe):
                for lane in _lanes(context, first):
                    yield _end(context, first, pipe, peer, lane)


def _lanes(context: Context, first: Step) -> tuple[int, ...]:
    """The lanes that take part: both, but of an unsplit transfer on a5 the first alone."""
    alone = context.target.on_chip_pipe and not first.op.attrs.get("split")
    return LANES[:1] if alone else LANES


def _end(context: Context, first: Step, pipe: int, peer: Peer, lane: int) -> CountSite:
    op, other = first.op.name, _PEER[first.op.name]
    return CountSite(
        context, first.op, TRUE, f"{op_text(first.op)} pipe {pipe} lane {lane}", lane,
        runs(context.program, op, pipe, lane), runs(peer.program, other, pipe, lane), other.removeprefix("pto."),
        peer.shared)


def _no_more(s: CountSite) -> Cond:
    return FALSE if s.why else compared(s.own, s.other, lambda a, b: a <= b)


def _how_often(s: CountSite, w: Witness) -> tuple[int, int]:
    """Both counts at the numbers of a witness."""
    both = [
        sum(w(times) for conditions, times in count.terms if all(_holds(c, w) for c in conditions))
        for count in (s.own, s.other)]
    return both[0], both[1]


def _holds(c: Cond, w: Witness) -> bool:
    if c.kind in ("nonneg", "zero") and c.expr is not None:
        return w(c.expr) >= 0 if c.kind == "nonneg" else w(c.expr) == 0
    if c.kind == "not":
        return not _holds(c.parts[0], w)
    if c.kind in ("and", "or"):
        found = [_holds(p, w) for p in c.parts]
        return all(found) if c.kind == "and" else any(found)
    return c.kind == "true"


def _times(n: int) -> str:
    return {0: "never", 1: "once"}.get(n, f"{n} times")


def _explain_pop(s: CountSite, w: Witness) -> str:
    own, other = _how_often(s, w)
    return (f"{op_text(s.op)} runs {_times(own)} on lane {s.lane}, but the other end runs {s.other_op} "
            f"{_times(other)}: a pop waits for ever")


FIFO_POP: Rule[CountSite] = Rule(
    id="FIFO-POP", kind=SAFETY, observable=False, requires=("XC-09",), source=_SOURCE,
    claim="nothing is popped that is not pushed",
    sites=lambda c: _ends(c, *_FREE), applies=always, assumptions=("LANE-INDEX",),
    given=lambda s: not s.why, undecided=lambda s: s.why, goal=_no_more, explain=_explain_pop,
    help=lambda s: "push as often as is popped: the loops and branches around both ends must agree",
    mutant=lambda s: as_cond(bool(s.other.terms)),
)


def _explain_drain(s: CountSite, w: Witness) -> str:
    own, other = _how_often(s, w)
    return (f"{op_text(s.op)} runs {_times(own)}, but the other end runs {s.other_op} {_times(other)} on lane "
            f"{s.lane}: what is left in the pipe is what the next kernel pops, or nobody frees its slot")


FIFO_DRAIN: Rule[CountSite] = Rule(
    id="FIFO-DRAIN", kind=SAFETY, observable=False, requires=("XC-09",), source=_SOURCE,
    claim="everything that is pushed is popped before the kernel ends",
    sites=lambda c: _ends(c, "pto.tpush_to_aiv", "pto.tpush_to_aic"), applies=always, assumptions=("LANE-INDEX",),
    given=lambda s: not s.why, undecided=lambda s: s.why, goal=_no_more, explain=_explain_drain,
    help=lambda s: "pop as often as is pushed: the loops and branches around both ends must agree",
    mutant=lambda s: as_cond(bool(s.other.terms)),
)


def _frees(context: Context) -> Iterator[CountSite]:
    """The pops of this function and its own frees, where a slot stays taken until it is freed."""
    program = context.program
    if not context.target.on_chip_pipe and not context.strict:
        return
    for op, free in _FREE.items():
        for pipe in used(program, op):
            first = next(s for s in program.steps if s.op.name == op and pipe_id(s.op) == pipe)
            for lane in _lanes(context, first):
                yield CountSite(
                    context, first.op, TRUE, f"{op_text(first.op)} pipe {pipe} lane {lane}", lane,
                    runs(program, op, pipe, lane), runs(program, free, pipe, lane), free.removeprefix("pto."), None)


def _explain_free(s: CountSite, w: Witness) -> str:
    own, other = _how_often(s, w)
    effect = "the producer waits for a slot for ever" if other < own else "the producer writes slots that are in use"
    return f"{op_text(s.op)} runs {_times(own)} on lane {s.lane}, {s.other_op} {_times(other)}: {effect}"


FIFO_FREE: Rule[CountSite] = Rule(
    id="FIFO-FREE", kind=SAFETY, observable=False, requires=("XC-09",), source=_SOURCE,
    claim="each popped slot is freed once",
    sites=_frees, applies=always, assumptions=("LANE-INDEX", "FREE-NEEDED"),
    given=lambda s: not s.why, undecided=lambda s: s.why,
    goal=lambda s: FALSE if s.why else compared(s.own, s.other, eq), explain=_explain_free,
    help=lambda s: "free each popped tile once, after its last use",
    mutant=lambda s: as_cond(bool(s.other.terms)),
)


@dataclass(frozen=True, slots=True)
class UseSite(Site):
    """A popped tile: the places of its last use and of its free in the block of the pop, -1 for none."""

    last: Step | None
    free: Step


def _uses(context: Context) -> Iterator[UseSite]:
    """Pops with the free that is theirs: the first one of a block frees the first popped tile."""
    program = context.program
    if not context.target.on_chip_pipe and not context.strict:
        return
    for op, free in _FREE.items():
        for pipe in used(program, op):
            blocks: dict[tuple[int, ...], tuple[list[Step], list[Step]]] = {}
            for step in program.steps:
                if step.op.name in (op, free) and pipe_id(step.op) == pipe:
                    blocks.setdefault(step.region, ([], []))[step.op.name == free].append(step)
            for popped, freed in blocks.values():
                for pop, release in zip(popped, freed, strict=False):
                    last = max((s for s in program.steps if _touches(s, pop.made)), key=lambda s: s.index, default=None)
                    yield UseSite(context, pop.op, pop.path, f"{op_text(pop.op)} pipe {pipe}", last, release)


def _touches(step: Step, tile: TileUse | None) -> bool:
    return tile is not None and any(
        t.root is tile.root for t in (*step.reads(), *step.writes()) if t is not step.made)


def _line(s: UseSite, step: Step | None) -> int:
    return s.context.program.location(step.op).line if step is not None else 0


FIFO_USED: Rule[UseSite] = Rule(
    id="FIFO-USED", kind=SAFETY, observable=False, requires=("XC-09",), source=_SOURCE,
    claim="a popped tile is not used after its slot is freed",
    sites=_uses, applies=always, assumptions=("FREE-NEEDED",),
    goal=lambda s: as_cond(s.last is None or s.last.index < s.free.index),
    explain=lambda s, w: (
        f"the tile of {op_text(s.op)} is used at line {_line(s, s.last)}, but line {_line(s, s.free)} has freed its "
        "slot before: the producer may have written the next tile there"),
    help=lambda s: "free the tile after its last use, or copy it first",
    mutant=lambda s: as_cond(s.last is None or s.last.index != s.free.index),
)


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
                slots = _slots(context, step) if context.target.on_chip_pipe else _local_slots(step)
                yield RingSite(context, step.op, TRUE, f"{op_text(step.op)} {ring.name}", slots * size, ring.bytes)


def _local_slots(step: Step) -> int:
    given = step.op.attrs.get("local_slot_num")
    return given if isinstance(given, int) else LOCAL_SLOTS


def _slots(context: Context, step: Step) -> int:
    given, mask = step.op.attrs.get("slot_num"), step.op.attrs.get("dir_mask")
    return given if isinstance(given, int) else slot_count(mask if isinstance(mask, int) else 0)


FIFO_RING: Rule[RingSite] = Rule(
    id="FIFO-RING", kind=SAFETY, observable=False, requires=("XC-02",), source=_SOURCE,
    claim="the memory that a consumer reserves holds all slots that lie in it",
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
                    context, step.op, TRUE, f"{op_text(step.op)} pipe {pipe}", _slots(context, step), ledger,
                    runs(program, op, pipe, 0))


def _few(s: CreditSite) -> Cond:
    """Whether the pipe ends before any slot is used again."""
    return FALSE if s.pushes.why else compared(s.pushes, Count(), lambda a, _: a <= s.slots)


FIFO_OVERRUN: Rule[CreditSite] = Rule(
    id="FIFO-OVERRUN", kind=SAFETY, observable=False, requires=("XC-12",),
    source="PTO-ISA npu/*/TPush.hpp, theorems FIFO-OUTSTANDING, FIFO-OVERRUN",
    claim="the producer never writes a slot that the consumer has not read",
    sites=_pipes, applies=always, assumptions=("FIFO-CREDITS",),
    goal=lambda s: any_of((as_cond(s.ledger.safe(s.slots)), _few(s))),
    explain=lambda s, w: (
        f"{op_text(s.op)} with {s.slots} slots lets its producer be {s.ledger.outstanding(s.slots)} tiles ahead"),
    help=lambda s: "use 1, 2 or 3 slots, or an even number" if not s.ledger.primed else "push no more tiles than slots",
    mutant=lambda s: as_cond(s.ledger.outstanding(s.slots) <= 2 * s.slots),
)


RULES = (FIFO_POP, FIFO_DRAIN, FIFO_FREE, FIFO_USED, FIFO_SLOT, FIFO_RING, FIFO_OVERRUN)
