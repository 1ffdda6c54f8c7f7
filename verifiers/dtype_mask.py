"""DTYPE, masks: what a comparison writes is a bit for each element, eight to a byte, and no number.

Selections and bitwise ops take masks; ops that compute with elements take the bytes for numbers.
"""

from __future__ import annotations

from collections.abc import Iterator

from pypto_verified.index import Cond, all_of, any_of
from pypto_verified.index.cond import FALSE, TRUE
from pypto_verified.records import dataclass
from verifiers.access import AccessProgram, SymbolKind, TileUse
from verifiers.access.overlap import disjoint, same_bytes
from verifiers.elementwise import OPS
from verifiers.last_write import effects_of, last_writes_of
from verifiers.op_sites import COL_EXPANSION, COL_REDUCTION, PARTIAL, ROW_EXPANSION, ROW_REDUCTION, names
from verifiers.reaching import Source, around
from verifiers.rule import SAFETY, Rule, always
from verifiers.sites import Context, Site, op_text

_COMPARISONS = names("tcmp tcmps")
_ON_BITS = names("tand tor txor tnot tands tors txors tshl tshr tshls tshrs")
_ON_NUMBERS = (OPS | PARTIAL | ROW_REDUCTION | COL_REDUCTION | ROW_EXPANSION | COL_EXPANSION) - _ON_BITS


@dataclass(frozen=True, slots=True)
class MaskSite(Site):
    """A tile that an op computes with and, if there is one, the `origin` of a mask that may be in it, where `path`
    holds. `apart`: when what it wrote is not what is read: elsewhere, or written again since; where another write may
    have come between, that is up to a symbol that is not chosen at will."""

    tile: TileUse
    origin: str
    apart: Cond


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
            tile, label = region.tile, f"{op_text(step.op)} {region.tile.name}"
            masks = [s for s in sources if s.step.op.name in _COMPARISONS]
            if not masks:
                yield MaskSite(context, step.op, step.path, label, tile, "", TRUE)
            others = [s for s in sources if s.step.op.name not in _COMPARISONS]
            for mask in masks:
                later = [o for o in others if _may_be_later(program, o, mask)]
                between = any_of(all_of((o.path, ~disjoint(o.tile, tile))) for o in later)
                if between is not FALSE:
                    luck = program.symbols.new(f"{tile.name}_written_between", SymbolKind.OPAQUE, 0, 1)
                    between = all_of((between, luck >= 1))
                again = any_of(_again(program, o, mask, tile) for o in later)
                apart = any_of((disjoint(mask.tile, tile), again, between))
                origin = f"{op_text(mask.step.op)} at line {program.location(mask.step.op).line}"
                yield MaskSite(context, step.op, step.path & mask.path, label, tile, origin, apart)


def _may_be_later(program: AccessProgram, other: Source, mask: Source) -> bool:
    if other.step.index > mask.step.index:
        return True
    shared = set(around(program, other.step)) & set(around(program, mask.step))
    return bool(shared) and not (_of_this_turn(program, other) and _of_this_turn(program, mask))


def _again(program: AccessProgram, other: Source, mask: Source, tile: TileUse) -> Cond:
    """When a later write of the same iteration has surely replaced what is read. What an earlier iteration wrote has
    lost its condition: it may be the older one."""
    known = other.step.index > mask.step.index and _of_this_turn(program, other) and _of_this_turn(program, mask)
    return all_of((other.path, same_bytes(other.tile, tile))) if known else FALSE


def _of_this_turn(program: AccessProgram, source: Source) -> bool:
    """Whether a write was surely made in the iteration of the read; what a while loop tests is made again too."""
    return not around(program, source.step) or (source.path is not TRUE and source.path is source.step.path)


DTYPE_MASK: Rule[MaskSite] = Rule(
    id="DTYPE-MASK",
    formula="no mask among the numbers that an op reads",
    kind=SAFETY, observable=False, requires=("VF-01",), source="PTO-ISA docs/isa, TCMP: a packed mask",
    claim="an op that computes with numbers is not given the mask of a comparison",
    unseen="the bytes of a mask are numbers like any other",
    sites=_sites, applies=always,
    goal=lambda s: s.apart,
    explain=lambda s, w: (
        f"{op_text(s.op)} takes the bytes of {s.tile.name} for numbers; they are a mask, eight elements to a byte, "
        f"written by {s.origin}"),
    help=lambda s: "select numbers with it first (tsel, tsels)",
    mutant=lambda s: TRUE,
)

RULES = (DTYPE_MASK,)
