"""FIFO: both ends of a pipe through global memory look for its slots at one place."""

from __future__ import annotations

from collections.abc import Iterator

from pypto_verified.index import TRUE, Cond, Expr, eq
from pypto_verified.index.cond import FALSE, as_cond
from pypto_verified.pto.legality_context import INITS, pipe_id
from pypto_verified.pto.module import Func
from pypto_verified.records import dataclass
from verifiers.access import BLOCKS, Step
from verifiers.fifo_apart import ring_start
from verifiers.pipes import Peer, facts_of, peers
from verifiers.rule import SAFETY, Rule, Witness, always
from verifiers.sites import Context, Site, op_text


@dataclass(frozen=True, slots=True)
class BaseSite(Site):
    """An end of a pipe and the other one, in the function `peer`. `place`, `there`: the argument behind which the ring
    begins, and the byte; `one`: whether it is the same argument of both; `why`: what keeps them from being compared."""

    place: tuple[str, Expr]
    there: tuple[str, Expr]
    one: bool
    peer: str
    why: str

    @property
    def same(self) -> Cond:
        return eq(self.place[1], self.there[1]) if self.one else FALSE


def _ends(context: Context) -> Iterator[BaseSite]:
    """The vector core's end of each pipe, against the cube's."""
    module, program = context.module, context.program
    inits = [s for s in program.steps if s.op.name == "pto.aiv_initialize_pipe"]
    if module is None or not inits:
        return
    facts = facts_of(id(module), tuple(module.funcs), context.target.name)
    for step in inits:
        own = ring_start(step, context.target)
        for peer in peers(program, facts, pipe_id(step.op)) if own is not None else ():
            for other in _inits(peer):
                found = ring_start(other, context.target)
                if own is not None and found is not None:
                    yield _site(context, step, own, peer, found)


def _inits(peer: Peer) -> list[Step]:
    return [s for s in peer.program.steps if s.op.name in INITS and pipe_id(s.op) == peer.id
            and s.op.name != "pto.aiv_initialize_pipe"]


def _site(
    context: Context, step: Step, own: tuple[str, Expr], peer: Peer, found: tuple[str, Expr]
) -> BaseSite:
    here, there = context.program.func, peer.program.func
    one = own[0] == found[0] or _number(here, own[0]) == _number(there, found[0])
    why = ""
    alike = all((a.name, a.type) == (b.name, b.type) for a, b in zip(here.args, there.args, strict=False))
    if not one and not alike:
        why = f"whether callers pass the same tensor for {own[0]} and for {found[0]} of {there.name} is not told"
    elif own[1].uid != found[1].uid and not peer.comparable(own[1], found[1]):
        why = "the ends compute the place of the ring from values of their own"
    return BaseSite(
        context, step.op, TRUE, f"{op_text(step.op)} pipe {pipe_id(step.op)}", own, found, one, there.name, why)


def _number(func: Func, pointer: str) -> int:
    """Which argument of a function a pointer is."""
    return next(n for n, arg in enumerate(func.args) if arg.name == pointer)


def _explain(s: BaseSite, w: Witness) -> str:
    here, there = (f"byte {w.show(at)} of {tensor}" for tensor, at in (s.place, s.there))
    return f"the slots begin at {here} here and at {there} in {s.peer}: what one end pushes the other never sees"


FIFO_BASE: Rule[BaseSite] = Rule(
    id="FIFO-BASE",
    formula="start(ring, vector) = start(ring, cube)",
    kind=SAFETY, observable=False, requires=("XC-02", "XC-09"), source="PTO-ISA TPush.hpp, TPop.hpp, class TPipe",
    unseen="a replay gives both ends one ring",
    claim="both ends of a pipe look for its slots at the same place of global memory",
    sites=_ends, applies=always, chosen=lambda s: frozenset({BLOCKS}), given=lambda s: not s.why,
    undecided=lambda s: s.why,
    goal=lambda s: s.same if not s.why else FALSE, explain=_explain,
    help=lambda s: f"give {s.peer} and this function one gm_slot_buffer for the pipe",
    mutant=lambda s: as_cond(s.one),
)


RULES = (FIFO_BASE,)
