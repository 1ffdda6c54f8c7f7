"""FIFO: rings in global memory. No tile that waits in one is overwritten by what is pushed into another: that of
another pipe, of the other direction, of another block."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations, product

from pypto_verified.index import TRUE, Cond, Expr, any_of, substitute, symbol, symbols_of
from pypto_verified.index.cond import as_cond
from pypto_verified.pto.legality_context import INITS, pipe_id
from pypto_verified.pto.types import PtrType
from pypto_verified.records import dataclass
from pypto_verified.targets import Target
from verifiers.access import BLOCK, BLOCKS, Step, TensorView
from verifiers.access.program import Pointer
from verifiers.access.symbols import UNCONSTRAINED
from verifiers.fifo_mirror import OPS
from verifiers.fifo_overwrite import Overwritten, Ring, Tried, Way, overwritten
from verifiers.fifo_slots import slots_of_pipe
from verifiers.fifo_turns import way
from verifiers.launched import OTHER_BLOCK, counts_to_judge, two_blocks
from verifiers.pipes import facts_of, peers
from verifiers.rule import SAFETY, Rule, Witness, always
from verifiers.sites import Context, Site, op_text

_OTHER = BLOCK + "_other"
_BOTH = 3
"""The mask of a pipe with both directions."""
_WORDS = {"aiv": "to the vector cores", "aic": "to the cube"}


@dataclass(frozen=True, slots=True)
class InMemory:
    """The ring of one direction of a pipe: `slots` of `size` bytes from byte `base` behind the pointer `arena`."""

    init: Step
    way: Way
    arena: str
    base: Expr
    slots: int
    size: int

    @property
    def bytes(self) -> int:
        return self.slots * self.size

    def __str__(self) -> str:
        return f"pipe {self.way[1]} {_WORDS[self.way[0]]}"


def _rings(context: Context) -> list[InMemory]:
    """The rings that a function's transfers use. Those of a pipe with both directions follow each other, but where the
    pipe hands out slots as tensors both lie at one place (PTO-ISA TAlloc.hpp, TPop.hpp)."""
    program = context.program
    used = {(way(s.op.name), pipe_id(s.op)) for s in program.steps if s.op.name in OPS}
    found: list[InMemory] = []
    for step in (s for s in program.steps if s.op.name in INITS):
        place, size = ring_start(step, context.target), step.op.attrs.get("slot_size")
        if place is None or not isinstance(size, int):
            continue
        slots = slots_of_pipe(context, step)
        for end in ("aiv", "aic"):
            behind = slots * size if (end == "aic" and step.op.attrs.get("dir_mask") == _BOTH
                                      and "gm_slot_buffer" in step.op.args) else 0
            if (end, pipe_id(step.op)) in used:
                found.append(InMemory(
                    step, (end, pipe_id(step.op)), place[0], place[1] + behind, slots, size))
    return found


def ring_start(init: Step, target: Target) -> tuple[str, Expr] | None:
    """The pointer and the byte where the slots of a pipe begin, None if they lie on the chip."""
    ring = next(iter(init.operands.get("gm_slot_buffer", ())), None)
    type_ = init.op.arg("gm_slot_buffer").type if ring is not None else None
    if isinstance(ring, Pointer) and isinstance(type_, PtrType) and not target.on_chip_pipe:
        return ring.base, ring.offset * type_.dtype.bytes
    view = next(iter(init.operands.get("gm_slot_tensor", ())), None)
    if isinstance(view, Pointer) and isinstance(type_ := init.op.arg("gm_slot_tensor").type, PtrType):
        return view.base, view.offset * type_.dtype.bytes
    return (view.base, view.offset * view.dtype.bytes) if isinstance(view, TensorView) else None


@dataclass(frozen=True, slots=True)
class ApartSite(Site):
    """Two rings, and what trying the transfers of the function and of its peer has shown where they share bytes."""

    one: InMemory
    other: InMemory
    tried: Tried | None = None

    @property
    def found(self) -> Overwritten | None:
        return self.tried.found if self.tried is not None else None

    @property
    def why(self) -> str:
        return self.tried.why if self.tried is not None and self.found is None else ""

    @property
    def apart(self) -> Cond:
        return any_of((
            self.one.base + self.one.bytes <= self.other.base, self.other.base + self.other.bytes <= self.one.base))


def _pairs(context: Context) -> Iterator[ApartSite]:
    for one, other in combinations(_rings(context), 2):
        if one.arena == other.arena:
            site = ApartSite(context, other.init.op, TRUE, f"{op_text(other.init.op)} {one} and {other}", one, other)
            yield site if site.apart is TRUE else replace(site, tried=_try(context, one, other))


def _try(context: Context, one: InMemory, other: InMemory) -> Tried:
    """What happens where the two rings overlap."""
    module, distance = context.module, (other.base - one.base).value
    if module is None or distance is None:
        return Tried(why="where the two rings lie to each other depends on the run")
    facts = facts_of(id(module), tuple(module.funcs), context.target.name)
    met = [(ring.way[1], p) for ring in (one, other) for p in peers(context.program, facts, ring.way[1])]
    ends = {p.program.func: p for _, p in met}
    if any(p.id != number for number, p in met):
        return Tried(why="the two ends number the pipes differently")
    if len(ends) != 1:
        return Tried(why="the other end of the pipes is not one function")
    slots = {pipe_id(s.op): slots_of_pipe(context, s) for s in context.program.steps if s.op.name in INITS}
    pair = Ring(one.way, 0, one.slots, one.size), Ring(other.way, distance, other.slots, other.size)
    tried = overwritten(
        context.program, next(iter(ends.values())), slots, pair, context.program.symbols.facts & context.assumed)
    given = tried.found.given if tried.found is not None else {}
    callers = [f"{n} = {v}" for n, v in given.items() if context.program.symbols.kinds.get(n) in UNCONSTRAINED]
    if callers:
        return Tried(why=f"a push overwrites a tile that waits if callers pass {', '.join(callers)}")
    return tried


def _explain(s: ApartSite, w: Witness) -> str:
    found = s.found
    if found is None:
        return f"the slots of {s.one} and of {s.other} share bytes"
    program = s.context.program
    pushed, victim = (f"{op_text(x.op)} at line {program.location(x.op).line}" for x in (found.push, found.victim))
    return (f"the slots of {s.one} and of {s.other} share bytes: {pushed} overwrites the tile that {victim} has "
            "pushed, before it is popped")


FIFO_APART: Rule[ApartSite] = Rule(
    id="FIFO-APART",
    formula="start(ring) + bytes(ring) <= start(other), or start(other) + bytes(other) <= start(ring)",
    kind=SAFETY, observable=True, requires=("XC-09",),
    source="PTO-ISA TPush.hpp, TAlloc.hpp; pto-isa#226, pypto#2269",
    claim="the rings of a kernel in global memory do not overwrite each other's tiles",
    sites=_pairs, applies=always, given=lambda s: not s.why, undecided=lambda s: s.why,
    shown=lambda s: s.found.given if s.found is not None else {},
    goal=lambda s: s.apart, explain=_explain,
    help=lambda s: f"let one ring begin {s.one.bytes} bytes behind the other, in a workspace for both",
    mutant=lambda s: s.apart | as_cond(s.one.way[0] != s.other.way[0]),
)


@dataclass(frozen=True, slots=True)
class BlocksSite(Site):
    """Where one ring begins in a block of a launch, and another, or the same, in another block. `both`: what tells the
    blocks apart; `few`: not any number of them (assumption FEW-BLOCKS)."""

    one: InMemory
    other: InMemory
    first: Expr
    second: Expr
    both: Cond
    few: bool

    @property
    def apart(self) -> Cond:
        return any_of((self.first + self.one.bytes <= self.second, self.second + self.other.bytes <= self.first))


def _of_blocks(context: Context) -> Iterator[BlocksSite]:
    """Rings whose place is computed from the index of the block. One that is not is each block's own."""
    for one, other in product(_rings(context), repeat=2):
        if one.arena == other.arena and BLOCK in {*symbols_of(one.base), *symbols_of(other.base)}:
            yield from _compared(context, one, other)


def _compared(context: Context, one: InMemory, other: InMemory) -> Iterator[BlocksSite]:
    label = f"{op_text(one.init.op)} {one} and {other} of another block"
    theirs = symbol(_OTHER, 0)

    def site(number: int, few: bool = False) -> BlocksSite:
        count = {BLOCKS: number} if number else {}
        first, second = substitute(one.base, count), substitute(other.base, {**count, BLOCK: theirs})
        both = two_blocks(symbol(BLOCK, 0), theirs, number, alike=False)
        return BlocksSite(context, one.init.op, TRUE, label, one, other, first, second, both, few)

    def holds(number: int) -> bool:
        made = site(number)
        known = context.program.symbols.facts & context.assumed & made.both
        return context.ladder.entails(known, made.apart, brief=True)

    for number, few in counts_to_judge(context, holds):
        yield site(number, few)


FIFO_BLOCKS: Rule[BlocksSite] = Rule(
    id="FIFO-BLOCKS",
    formula="start(ring, i) + bytes(ring) <= start(other, j), or start(other, j) + bytes(other) <= start(ring, i)",
    kind=SAFETY, observable=False, requires=("XC-09",), source="PTOAS#481, PTO-ISA TPush.hpp",
    unseen="a replay runs one block",
    claim="no two blocks of a launch have rings that share a byte",
    sites=_of_blocks, applies=always, assumptions=("BLOCK-INDEX", "FEW-BLOCKS"),
    unneeded=lambda s: () if s.few else ("FEW-BLOCKS",), chosen=lambda s: frozenset({BLOCKS}),
    named=lambda s: {OTHER_BLOCK: symbol(_OTHER, 0)},
    given=lambda s: s.both, goal=lambda s: s.apart,
    explain=lambda s, w: (
        f"the {s.one.bytes} bytes of {s.one} begin at byte {w(s.first)} in block {w(symbol(BLOCK, 0))}, the "
        f"{s.other.bytes} of {s.other} at byte {w(s.second)} in block {w(symbol(_OTHER, 0))}"),
    help=lambda s: "let the place grow by the bytes of all rings of a block from one block to the next",
    mutant=lambda s: s.apart | as_cond(s.one.way != s.other.way),
)


RULES = (FIFO_APART, FIFO_BLOCKS)
