"""RACE: what one block of a launch writes to global memory and another one reads, or writes by another op.

All blocks run the same text at once, on the same tensors, and nothing but a barrier of all cores orders them. Judged
are any two of as many as launches or callers tell, else of any number, or of few where it does not hold for more
(assumption FEW-BLOCKS). Where the index of the block tells a part of what they use, the author divides the tensor;
where it does not, or data and callers have a part in it too, they are taken not to disturb each other (BLOCKS-DATA),
unless they meet whatever callers pass. Where the index says nothing of the place, all may write there one value.
One op by which both write, at a place that is told from the index: WRITE-TWICE.
"""

from __future__ import annotations

from collections.abc import Iterator

from pypto_verified.index import Cond, any_of, symbol
from pypto_verified.index.cond import FALSE, TRUE
from pypto_verified.pto.module import Op
from pypto_verified.records import dataclass
from verifiers.access import BLOCK
from verifiers.launched import OTHER_BLOCK
from verifiers.rule import SAFETY, Rule, Witness, always
from verifiers.sites import Context, Site, op_text

OTHER = "_other"
"""How the names end that the other block has for its own values."""


@dataclass(frozen=True, slots=True)
class BlockSite(Site):
    """An access of one block to `tensor`, and one of another block, `other` at `line`, that may share bytes with it;
    whether each `writes`. `both`: what is known of the other block; `apart`: that they share none; `parted`: a barrier
    of all cores stands between them; `ordered`: what may order them, and is not followed; `by_data`: the index of the
    block alone does not decide (assumption BLOCKS-DATA)."""

    tensor: str
    other: Op
    line: int
    writes: tuple[bool, bool]
    both: Cond
    apart: Cond
    parted: bool
    ordered: str
    by_data: bool
    chosen: frozenset[str]
    shows: bool
    few: bool = False

    @property
    def why(self) -> str:
        if self.parted or self.apart is TRUE:
            return ""
        if not self.by_data:
            return self.ordered
        return "more than the index of the block decides which bytes each one uses" if self.context.strict else ""

    @property
    def holds(self) -> Cond:
        """As far as it is claimed."""
        if self.why:
            return FALSE
        return TRUE if self.parted or self.by_data else self.apart


def _sites(context: Context) -> Iterator[BlockSite]:
    """Pairs of accesses, of a function that may have a partner or asks for its block; most have neither."""
    kinds = {f.kernel_kind for f in context.module.funcs} if context.module is not None else set()
    if BLOCK in context.program.symbols.kinds or kinds >= {"cube", "vector"}:
        from verifiers.race.block_pairs import pairs

        yield from pairs(context)


def _explain(s: BlockSite, w: Witness) -> str:
    one, two = (w(symbol(n, 0)) for n in (BLOCK + OTHER, BLOCK))
    first, second = ("writes" if writes else "reads" for writes in s.writes)
    return (f"{op_text(s.op)} of block {two} {second} bytes of {s.tensor} that {op_text(s.other)} at line {s.line} of "
            f"block {one} {first}: nothing orders the two")


def _unneeded(s: BlockSite) -> tuple[str, ...]:
    needed = {"SYNCALL-WAITS": s.parted, "BLOCKS-DATA": s.by_data, "FEW-BLOCKS": s.few, "CORES-SEE": s.shows}
    return tuple(name for name, is_so in needed.items() if not is_so)


BLOCKS_APART: Rule[BlockSite] = Rule(
    id="RACE-BLOCK",
    formula="bytes(a, block i) and bytes(b, block j != i) share none, or a barrier of all cores stands between a and b",
    kind=SAFETY, observable=True, requires=("EV-06", "VF-01"), source="pypto#1371; PTO-ISA SyncAll.hpp",
    claim="no block uses what another one writes, unless a barrier of all cores stands between",
    sites=_sites, applies=always,
    assumptions=("BLOCK-INDEX", "DISTINCT-POINTERS", "SYNCALL-WAITS", "BLOCKS-DATA", "FEW-BLOCKS", "CORES-SEE"),
    unneeded=_unneeded, undecided=lambda s: s.why,
    given=lambda s: s.both if not s.why else FALSE, chosen=lambda s: s.chosen,
    named=lambda s: {OTHER_BLOCK: symbol(BLOCK + OTHER, 0)},
    goal=lambda s: s.holds,
    explain=_explain,
    help=lambda s: "let each block use memory of its own, or put a barrier of all cores between the two",
    mutant=lambda s: any_of((s.apart, symbol(BLOCK, 0) < symbol(BLOCK + OTHER, 0))))


RULES = (BLOCKS_APART,)
