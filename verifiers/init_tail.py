"""INIT-TAIL: between tiles of UB an a2a3 moves whole 32-byte blocks, so that what stood behind the last column of the
destination, up to 31 bytes in each row, is lost."""

from __future__ import annotations

from collections.abc import Iterator

from pypto_verified.index import Cond, Expr, any_of
from pypto_verified.layouts import BLayout
from pypto_verified.records import dataclass
from verifiers.access import Step
from verifiers.last_write import effects_of, last_writes_of
from verifiers.must_write import states_of
from verifiers.op_sites import empty, is_vec
from verifiers.reaching import Source
from verifiers.regions import Region, anchored
from verifiers.rule import SAFETY, Rule, Witness, always
from verifiers.sites import Context, Site, op_text

_BLOCK = 32


@dataclass(frozen=True, slots=True)
class TailSite(Site):
    """A read of a tile into a part of which `move` was made last, and of what had been written beside that before. The
    columns are those of the tile that both are parts of. `why`: what keeps their order from being known."""

    move: Source
    region: Region
    last: Expr
    until: Expr
    why: str


def _sites(context: Context) -> Iterator[TailSite]:
    program = context.program
    if context.target.name != "a2a3" or not any(_partial(s) for s in program.steps):
        return
    known, effects, states = last_writes_of(program), effects_of(program), states_of(program, True)
    for (index, number), sources in known.items():
        step, region = program.steps[index], effects[index][0][number]
        first = anchored(region.tile)[2]
        for move in (s for s in sources if _partial(s.step) and s.tile.root is region.tile.root):
            before = (c for covers in states[move.step.index].covers.values() for c in covers)
            if any(c.tile.root is region.tile.root for c in before):
                label = f"{op_text(step.op)} {region.tile.name} after {op_text(move.step.op)}"
                yield TailSite(
                    context, step.op, step.path & move.path, label, move, region,
                    anchored(move.tile)[2] + move.cols, first + region.cols,
                    _unordered(step, move.step, [s.step for s in sources if s.step is not move.step]))


def _partial(step: Step) -> bool:
    """Whether the op moves into a part of a tile of UB with rows of their own."""
    targets = step.tiles("dst") if step.op.name == "pto.tmov" else ()
    return any(
        t.how == "subview" and t.type.blayout is BLayout.ROW and not t.type.boxed and is_vec(t)
        and all(is_vec(s) for s in step.tiles("src")) for t in targets)


def _unordered(read: Step, move: Step, others: list[Step]) -> str:
    """'' where the others come before the move, and that before the read, in each iteration that both take part in."""
    before = all(o.index < move.index and o.loops == move.loops[:len(o.loops)] for o in others)
    if before and move.index < read.index and read.loops[:len(move.loops)] == move.loops:
        return ""
    return f"whether something else writes there again after {op_text(move.op)} is not followed"


def _whole(s: TailSite) -> Cond:
    """The last block is whole, or the read ends before what follows in it."""
    size = s.move.tile.type.dtype.bytes
    return any_of((
        (s.last * size) % _BLOCK == 0, s.until <= s.last, empty(s.region.rows, s.region.cols),
        empty(s.move.rows, s.move.cols)))


def _explain(s: TailSite, w: Witness) -> str:
    line = s.context.program.location(s.move.step.op).line
    return (
        f"{op_text(s.op)} reads {s.region.tile.name} up to column {w(s.until) - 1}; {op_text(s.move.step.op)} at line "
        f"{line} ends with column {w(s.last) - 1} and overwrites the rest of that 32-byte block")


INIT_TAIL: Rule[TailSite] = Rule(
    id="INIT-TAIL",
    formula="last*size % 32 = 0, or the read ends at last",
    kind=SAFETY, observable=False, requires=("VF-01",),
    source="PTO-ISA npu/a2a3 TMov.hpp: rows are copied in whole blocks; the a5 masks what is behind",
    claim="a move into a part of a tile of UB leaves alone what is read behind its last column",
    unseen="what the source holds behind its last column may be what stood there",
    sites=_sites, applies=always, undecided=lambda s: s.why, given=lambda s: not s.why,
    goal=_whole, explain=_explain,
    help=lambda s: "move whole 32-byte blocks, or move this part first and what is beside it after that",
    mutant=lambda s: (s.last * s.move.tile.type.dtype.bytes) % (_BLOCK // 8) == 0)


RULES = (INIT_TAIL,)
