"""FIFO: no tile that is popped is used after its slot is freed, where it lies in that slot."""

from __future__ import annotations

from collections.abc import Iterator

from pypto_verified.index.cond import FALSE, as_cond
from pypto_verified.pto.legality_context import pipe_id
from pypto_verified.records import dataclass
from verifiers.access import Step, TileUse
from verifiers.pipes import used
from verifiers.race.copied import copied
from verifiers.race.rings import FREES
from verifiers.rule import SAFETY, Rule, always
from verifiers.sites import Context, Site, op_text


@dataclass(frozen=True, slots=True)
class UseSite(Site):
    """A popped tile, its last use, if any, and its free; `inner`: the free stands in a branch or loop of the pop's
    block, and may have run before that use."""

    last: Step | None
    free: Step
    inner: bool = False

    @property
    def why(self) -> str:
        free, last = _line(self, self.free), _line(self, self.last)
        return f"line {free} may free its slot before line {last} uses it" if self.inner else ""


def _uses(context: Context) -> Iterator[UseSite]:
    """Pops with the free that is theirs: the first one of a block frees the first popped tile."""
    program = context.program
    for op, free in FREES.items():
        for pipe in used(program, op):
            if copied(program, op, pipe, context.target) and not context.strict:
                continue
            blocks: dict[tuple[int, ...], tuple[list[Step], list[Step]]] = {}
            for step in program.steps:
                if step.op.name in (op, free) and pipe_id(step.op) == pipe:
                    blocks.setdefault(step.region, ([], []))[step.op.name == free].append(step)
            for popped, freed in blocks.values():
                for pop, release in zip(popped, freed, strict=False):
                    last = max((s for s in program.steps if _touches(s, pop.made)), key=lambda s: s.index, default=None)
                    yield UseSite(context, pop.op, pop.path, f"{op_text(pop.op)} pipe {pipe}", last, release)
                for pop in popped[len(freed):]:
                    within = [r for block, (_, frees) in blocks.items() if _inside(block, pop.region) for r in frees]
                    yield from _freed_within(context, pop, within, f"{op_text(pop.op)} pipe {pipe}")


def _inside(block: tuple[int, ...], outer: tuple[int, ...]) -> bool:
    return len(block) > len(outer) and block[:len(outer)] == outer


def _freed_within(context: Context, pop: Step, frees: list[Step], label: str) -> Iterator[UseSite]:
    """A pop whose free stands in a branch or loop of its block: no use may come after any such free."""
    uses = [s for s in context.program.steps if _touches(s, pop.made)]
    after = [(use, free) for free in frees if free.index > pop.index for use in uses
             if use.index > free.index and (use.path & free.path) is not FALSE]
    for use, free in after[-1:]:
        yield UseSite(context, pop.op, pop.path, label, use, free, True)
    if frees and not after:
        yield UseSite(context, pop.op, pop.path, label, None, frees[0])


def _touches(step: Step, tile: TileUse | None) -> bool:
    return tile is not None and any(
        t.root is tile.root for t in (*step.reads(), *step.writes()) if t is not step.made)


def _line(s: UseSite, step: Step | None) -> int:
    return s.context.program.location(step.op).line if step is not None else 0


FIFO_USED: Rule[UseSite] = Rule(
    id="FIFO-USED",
    formula="the last use of a popped tile comes before its free",
    kind=SAFETY, observable=False, requires=("XC-09",), source="PTO-ISA TPop.hpp, TFree.hpp, class TPipe",
    claim="a popped tile is not used after its slot is freed",
    unseen="the slot may still hold the tile, or one of the same values",
    sites=_uses, applies=always, assumptions=("FREE-NEEDED",),
    given=lambda s: not s.why, undecided=lambda s: s.why,
    goal=lambda s: as_cond(not s.why and (s.last is None or s.last.index < s.free.index)),
    explain=lambda s, w: (
        f"the tile of {op_text(s.op)} is used at line {_line(s, s.last)}, but line {_line(s, s.free)} has freed its "
        "slot before: the producer may have written the next tile there"),
    help=lambda s: "free the tile after its last use, or copy it first",
    mutant=lambda s: as_cond(s.last is None or s.last.index != s.free.index),
)


RULES = (FIFO_USED,)
