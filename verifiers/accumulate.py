"""PLAN: an accumulating product adds to what its destination holds; the accumulator that the text names is not read."""

from __future__ import annotations

from collections.abc import Iterator

from pypto_verified.records import dataclass
from verifiers.access import TileUse
from verifiers.access.overlap import comparable, same_bytes
from verifiers.rule import SAFETY, Rule, always
from verifiers.sites import Context, Site, op_text


@dataclass(frozen=True, slots=True)
class AccumulateSite(Site):
    """A product added to `named`, as the text has it, and what it is written to."""

    named: TileUse
    target: TileUse


def _accumulating(context: Context) -> Iterator[AccumulateSite]:
    for step in context.program.steps:
        for named in step.tiles("acc_in"):
            for target in step.tiles("dst"):
                label = f"{op_text(step.op)} {named.name} to {target.name}"
                yield AccumulateSite(context, step.op, step.path, label, named, target)


PLAN_ACCUMULATOR: Rule[AccumulateSite] = Rule(
    id="PLAN-ACCUMULATOR", kind=SAFETY, observable=True, requires=("MP-02",), assumptions=("ACC-IN-PLACE",),
    source="PTO-ISA TMatmul.hpp; pypto#537",
    claim="the accumulator that a product is added to is its destination",
    sites=_accumulating, applies=always,
    goal=lambda s: same_bytes(s.named, s.target),
    explain=lambda s, w: (
        f"{op_text(s.op)} is written to {s.target.name}, and adds to what that holds; the text names {s.named.name}, "
        "which lies elsewhere"),
    help=lambda s: f"give {s.target.name} the bytes of {s.named.name}",
    mutant=lambda s: comparable(s.named.root, s.target.root),
)

RULES = (PLAN_ACCUMULATOR,)
