"""FIFO: no slot is given back before its tile is popped, where a free tells the producer anything."""

from __future__ import annotations

from collections.abc import Iterator

from pypto_verified.index import Expr
from pypto_verified.index.cond import TRUE, Cond, as_cond
from pypto_verified.pto.legality_context import pipe_id
from pypto_verified.records import dataclass
from verifiers.access import AccessProgram, Step
from verifiers.pipes import used
from verifiers.race.copied import copied
from verifiers.race.rings import FREES, frees_before, pops_before
from verifiers.rule import SAFETY, Rule, Witness, always
from verifiers.sites import Context, Site, op_text


@dataclass(frozen=True, slots=True)
class FreeSite(Site):
    """A free with the tiles that were popped from its pipe, and freed, before it; None where that is not expressed.
    `own_pop`: each free of the pipe stands behind a pop of its own in its block, so that there are never too many."""

    popped: Expr | None
    freed: Expr | None
    own_pop: bool

    @property
    def why(self) -> str:
        unknown = self.popped is None or self.freed is None
        return "how many tiles were popped and freed before is not told" if unknown and not self.own_pop else ""

    @property
    def holds(self) -> Cond:
        if self.popped is None or self.freed is None:
            return as_cond(self.own_pop)
        return TRUE if self.own_pop else as_cond(self.popped > self.freed)


def _sites(context: Context) -> Iterator[FreeSite]:
    program = context.program
    popped, freed = pops_before(program), frees_before(program)
    for op, free in FREES.items():
        for pipe in used(program, free):
            if copied(program, op, pipe, context.target) and (context.target.on_chip_pipe or not context.strict):
                continue
            frees = [s for s in program.steps if s.op.name == free and pipe_id(s.op) == pipe]
            own_pop = _after_pops(program, op, pipe, frees)
            for step in frees:
                yield FreeSite(context, step.op, step.path, f"{op_text(step.op)} pipe {pipe}", popped[step.index],
                               freed[step.index], own_pop)


def _after_pops(program: AccessProgram, op: str, pipe: int, frees: list[Step]) -> bool:
    """Whether in each block the n-th free stands behind the n-th pop."""
    pops: dict[tuple[int, ...], list[Step]] = {}
    for step in program.steps:
        if step.op.name == op and pipe_id(step.op) == pipe:
            pops.setdefault(step.region, []).append(step)
    left = {region: iter(steps) for region, steps in pops.items()}
    for free in frees:
        pop = next(left.get(free.region, iter(())), None)
        if pop is None or pop.index > free.index:
            return False
    return True


def _explain(s: FreeSite, w: Witness) -> str:
    if s.popped is None or s.freed is None:
        return f"{op_text(s.op)} gives a slot back before its tile is popped"
    return (f"{op_text(s.op)} gives a slot back after {w(s.popped)} pops and {w(s.freed)} frees: the producer may "
            "write over a tile that is not popped yet")


FIFO_EARLY: Rule[FreeSite] = Rule(
    id="FIFO-EARLY",
    formula="pops(pipe) > frees(pipe) before each free",
    kind=SAFETY, observable=True, requires=("XC-09",), source="PTO-ISA npu/a5 TFree.hpp, class TPipe",
    claim="no slot is given back before its tile is popped",
    sites=_sites, applies=always, assumptions=("FREE-NEEDED",),
    given=lambda s: not s.why, undecided=lambda s: s.why, goal=lambda s: s.holds,
    explain=_explain, help=lambda s: "free each tile once, after its pop and its last use",
    mutant=lambda s: TRUE,
)


RULES = (FIFO_EARLY,)
