"""DTYPE, masks: what a comparison writes is a bit for each element, eight to a byte, and no number.

Selections and bitwise ops take masks; ops that compute with elements take the bytes for numbers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from verifiers.access import Step, TileUse
from verifiers.elementwise import OPS
from verifiers.last_write import effects_of, last_writes_of
from verifiers.op_sites import COL_EXPANSION, COL_REDUCTION, PARTIAL, ROW_EXPANSION, ROW_REDUCTION, names
from verifiers.rule import SAFETY, Rule, always
from verifiers.sites import Context, Site, op_text

_COMPARISONS = names("tcmp tcmps")
_ON_BITS = names("tand tor txor tnot tands tors txors tshl tshr tshls tshrs")
_ON_NUMBERS = (OPS | PARTIAL | ROW_REDUCTION | COL_REDUCTION | ROW_EXPANSION | COL_EXPANSION) - _ON_BITS


@dataclass(frozen=True, slots=True)
class MaskSite(Site):
    """A tile that an op computes with, and the comparisons that may have written it last."""

    tile: TileUse
    comparisons: tuple[Step, ...]


def _sites(context: Context) -> Iterator[MaskSite]:
    program = context.program
    if not any(s.op.name in _COMPARISONS for s in program.steps):
        return
    known, effects = last_writes_of(program), effects_of(program)
    for step in program.steps:
        if step.op.name not in _ON_NUMBERS:
            continue
        for number, region in enumerate(effects[step.index][0]):
            sources = known.get((step.index, number), {})
            masks = tuple(s.step for s in sources if s.step.op.name in _COMPARISONS)
            label = f"{op_text(step.op)} {region.tile.name}"
            yield MaskSite(context, step.op, step.path, label, region.tile, masks)


def _origin(s: MaskSite) -> str:
    step = s.comparisons[0]
    return f"{op_text(step.op)} at line {s.context.program.location(step.op).line}"


DTYPE_MASK: Rule[MaskSite] = Rule(
    id="DTYPE-MASK",
    formula="no mask among the numbers that an op reads",
    kind=SAFETY, observable=False, requires=("VF-01",), source="PTO-ISA docs/isa, TCMP: a packed mask",
    claim="an op that computes with numbers is not given the mask of a comparison",
    unseen="the bytes of a mask are numbers like any other",
    sites=_sites, applies=always,
    goal=lambda s: not s.comparisons,
    explain=lambda s, w: (
        f"{op_text(s.op)} takes the bytes of {s.tile.name} for numbers; they are a mask, eight elements to a byte, "
        f"written by {_origin(s)}"),
    help=lambda s: "select numbers with it first (tsel, tsels)",
    mutant=lambda s: len(s.comparisons) != 2,
)

RULES = (DTYPE_MASK,)
