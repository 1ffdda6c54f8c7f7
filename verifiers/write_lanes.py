"""WRITE, across the two lanes of a vector core: what they write of one output leaves no gap between them.

Judged is the only store to a tensor whose place along an axis is computed from the lane and from extents alone: nothing
else of the launch comes by there.
"""

from __future__ import annotations

from collections.abc import Iterator

from pypto_verified.index import Cond, Expr, any_of, substitute, symbols_of
from pypto_verified.pto.lanes import first_lane_alone
from pypto_verified.records import dataclass
from verifiers.access import LANE, Step, SymbolKind, Window
from verifiers.bound import unclamped
from verifiers.rule import SAFETY, Rule, always
from verifiers.sites import Context, Site, op_text
from verifiers.solver.cone import names_of
from verifiers.write_grid import lone_stores


@dataclass(frozen=True, slots=True)
class LaneSite(Site):
    """One axis of a store: what lane 0 writes ends before `end`, lane 1 writes `size` elements from `start` on, out of
    `extent`. `alone`: lane 1 does not run, and all the rest is missing."""

    tensor: str
    axis: int
    end: Expr
    start: Expr
    size: Expr
    extent: Expr
    alone: bool


def _axes(context: Context) -> Iterator[LaneSite]:
    kinds = context.program.symbols.kinds
    for step, window in lone_stores(context):
        for axis, size in enumerate(window.sizes):
            placed = set(symbols_of(unclamped(window.offsets[axis])))
            given = {kinds.get(n) for n in (placed | set(symbols_of(size))) - {LANE}}
            if LANE in placed and given <= {SymbolKind.DIM} and LANE not in names_of(step.path):
                yield _site(context, step, window, axis)


def _site(context: Context, step: Step, window: Window, axis: int) -> LaneSite:
    start, size = unclamped(window.offsets[axis]), window.sizes[axis]
    (first, length), (second, rest) = ((substitute(start, {LANE: i}), substitute(size, {LANE: i})) for i in (0, 1))
    label, extent = f"{op_text(step.op)} {window.view.name}[{axis}]", window.bounds[axis]
    alone = step.op in first_lane_alone(context.program.func, context.target)
    if alone:
        second, rest = extent, extent - first - length
    return LaneSite(
        context, step.op, step.path, label, window.view.name, axis, first + length, second, rest, extent, alone)


def _joined(s: LaneSite, slack: int = 0) -> Cond:
    return any_of((s.size <= 0, s.end + slack >= s.start, s.end >= s.extent))


WRITE_LANES: Rule[LaneSite] = Rule(
    id="WRITE-LANES", kind=SAFETY, observable=True, requires=("XC-04", "VF-01"), source="pypto#2388, pypto#1448",
    claim="what the two lanes write of an output leaves no gap between them",
    sites=_axes, applies=always, assumptions=("LANE-INDEX",),
    goal=_joined,
    explain=lambda s, w: (
        f"axis {s.axis} of {s.tensor}: lane 0 writes up to {w(s.end) - 1}, " + (
            "and lane 1 does not run: the rest is never written" if s.alone else
            f"lane 1 from {w(s.start)} on: what lies between is never written")),
    help=lambda s: (
        "an op that asks for the lane keeps the assembler from leaving all of it to the first one" if s.alone else
        "let lane 0 write all of its half: its extent is that of the whole, at most the half"),
    mutant=lambda s: _joined(s, 8),
)

RULES = (WRITE_LANES,)
