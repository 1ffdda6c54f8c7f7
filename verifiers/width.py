"""BOUND-WIDTH: scalars that a text computes in 32 bits or less. Index arithmetic is taken as that of integers;
whether it stays within its width is asked with `--strict` alone, for extents and parameters that fit into 32 bits."""

from __future__ import annotations

from collections.abc import Iterator

from pypto_verified.index import Cond, Expr, all_of, const, symbol, symbols_of
from pypto_verified.index.cond import TRUE
from pypto_verified.records import dataclass
from verifiers.rule import SAFETY, Rule, always
from verifiers.sites import Context, Site, op_text

_WIDEST = 32


@dataclass(frozen=True, slots=True)
class WidthSite(Site):
    """A value computed in `bits` bits, signed."""

    value: Expr
    bits: int


def _narrow(context: Context) -> Iterator[WidthSite]:
    for made in context.program.narrow:
        label = f"{made.op.name} {made.op.result.name}"
        yield WidthSite(context, made.op, made.path, label, made.value, made.bits)


def _within(value: Expr, bits: int) -> Cond:
    return all_of((value >= -(1 << (bits - 1)), value < const(1 << (bits - 1))))


def _given(s: WidthSite) -> Cond:
    atoms = symbols_of(s.value)
    return all_of(_within(symbol(n, a.lo, a.hi), _WIDEST) for n, a in atoms.items())


BOUND_WIDTH: Rule[WidthSite] = Rule(
    id="BOUND-WIDTH", kind=SAFETY, observable=False, requires=("VF-01",), assumptions=("SCALAR-ROUND-TRIP",),
    unseen="the simulator computes scalars as integers",
    source="MLIR arith: results wrap around",
    claim="with --strict, a scalar computed in 32 bits or less does not wrap around",
    sites=_narrow, applies=always, given=_given,
    goal=lambda s: _within(s.value, s.bits) if s.context.strict else TRUE,
    explain=lambda s, w: f"{op_text(s.op)} has {w.show(s.value)}, which i{s.bits} can't hold",
    help=lambda s: "compute it as index, which has 64 bits",
    mutant=lambda s: s.value >= -(1 << (s.bits - 1)),
)

RULES = (BOUND_WIDTH,)
