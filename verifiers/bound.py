"""BOUND: what an op reads or writes in global memory lies inside the tensor, for every value of dims, trips and
blocks."""

from __future__ import annotations

from collections.abc import Iterator

from pypto_verified.index import Expr, any_of, maximum
from verifiers.rule import SAFETY, Rule, Witness, always
from verifiers.sites import AxisSite, Context, window_axes


def unclamped(start: Expr) -> Expr:
    """The offset that a text clamps with `max(offset, 0)`: compilers do that to every run-time offset, which hides a
    negative one behind a wrong address."""
    if start.constant == 0 and len(start.terms) == 1 and start.terms[0][1] == 1 and len(start.terms[0][0]) == 1:
        atom = start.terms[0][0][0]
        if atom.kind == "max" and any(a.value == 0 for a in atom.args):
            return maximum(*(a for a in atom.args if a.value != 0))
    return start


def _clamped(context: Context) -> Iterator[AxisSite]:
    """Windows whose offset a compiler may have clamped: in a kernel it is the author who wrote `max(offset, 0)`."""
    if not context.authored:
        yield from (s for s in window_axes(context) if unclamped(s.start) is not s.start)


def _place(s: AxisSite) -> str:
    return f"{s.what}s {s.name} on axis {s.axis}"


def _past_the_end(s: AxisSite, w: Witness) -> str:
    start, size, extent = w(s.start), w(s.size), w(s.extent)
    return (f"{_place(s)}: elements {start} to {start + size - 1} of {extent} "
            f"(offset {w.show(s.start)}, size {w.show(s.size)}, extent {w.show(s.extent)})")


def _cut_help(s: AxisSite) -> str:
    left = s.extent - s.start
    return f"narrow the window to min({s.size!r}, {left!r}), or make {s.extent!r} a whole number of windows"


BOUND_UPPER: Rule[AxisSite] = Rule(
    id="BOUND-UPPER", kind=SAFETY, observable=True, requires=("CG-06",),
    source="PTOAS partition_view (static windows only), PTO-ISA GlobalTensor",
    claim="a window ends inside its tensor",
    sites=window_axes, applies=always,
    goal=lambda s: any_of((s.size <= 0, s.start + s.size <= s.extent)),
    explain=_past_the_end, help=_cut_help,
    mutant=lambda s: any_of((s.size <= 0, s.start <= s.extent)),
)

BOUND_LOWER: Rule[AxisSite] = Rule(
    id="BOUND-LOWER", kind=SAFETY, observable=True, requires=("CG-06",), source="PTOAS partition_view, pypto#2201",
    claim="a window starts inside its tensor",
    sites=window_axes, applies=always,
    goal=lambda s: any_of((s.size <= 0, s.start >= 0)),
    explain=lambda s, w: f"{_place(s)}: the offset {w.show(s.start)} is negative",
    help=lambda s: f"keep {s.start!r} at 0 or more",
    mutant=lambda s: any_of((s.size <= 0, s.start >= -1)),
)

BOUND_CLAMP: Rule[AxisSite] = Rule(
    id="BOUND-CLAMP", kind=SAFETY, observable=False, requires=("CG-06",), source="pypto#2201, PR 2202",
    unseen="the run touches another part of the tensor, and nothing lies outside",
    claim="an offset that a text clamps to 0 is not negative to begin with",
    sites=_clamped, applies=always,
    goal=lambda s: any_of((s.size <= 0, unclamped(s.start) >= 0)),
    explain=lambda s, w: (
        f"{_place(s)}: the offset {w.show(unclamped(s.start))} is negative; the text clamps it to 0, so another part "
        "of the tensor is touched"),
    help=lambda s: f"keep {unclamped(s.start)!r} at 0 or more",
    mutant=lambda s: any_of((s.size <= 0, unclamped(s.start) >= -1)),
)

BOUND_SIZE: Rule[AxisSite] = Rule(
    id="BOUND-SIZE", kind=SAFETY, observable=True, requires=("CG-06",),
    source="PTOAS partition_view: size > 0; PTOAS#544",
    claim="a window's extent is not negative",
    sites=window_axes, applies=always,
    goal=lambda s: s.size >= 0,
    explain=lambda s, w: f"{_place(s)}: the window's size {w.show(s.size)} is negative",
    help=lambda s: f"bound it: max({s.size!r}, 0)",
    mutant=lambda s: any_of((s.size >= 0, s.start >= 0)),
)

RULES = (BOUND_UPPER, BOUND_LOWER, BOUND_CLAMP, BOUND_SIZE)
