"""WRITE-WHOLE: what is left of an output where its caller decides: a window at a fixed place, or at one that is
computed from the index of a block or from a scalar, and loops that turn as often as a scalar says."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from pypto_verified.index import TRUE, Cond, all_of, any_of, const
from verifiers.bound import unclamped
from verifiers.rule import SAFETY, Rule, always
from verifiers.sites import Context
from verifiers.write_grid import (
    CALLERS_PLACE,
    GridSite,
    Walk,
    grid,
    lone_stores,
    moving_loops,
    outside,
    plain_walk,
    reached,
    walked,
    without_gap,
)
from verifiers.write_nest import nest_site
from verifiers.write_parts import by_element


def _blocks(context: Context) -> Iterator[GridSite]:
    """The axes that the function itself does not go over to their end; a window at a fixed place is a walk of one turn.
    """
    for step, window in lone_stores(context):
        for axis, extent in enumerate(window.bounds):
            if walked(context, step, window, axis) or nest_site(context, step, window, axis) is not None:
                continue
            start, size = unclamped(window.offsets[axis]), window.sizes[axis]
            moving = moving_loops(step, start)
            if moving and by_element(context, step, window):
                continue
            walk = plain_walk(moving[0], start, size) if len(moving) == 1 and step.path is outside(step) else None
            alone = Walk("alone", const(1), start, size, step.path)
            untold = CALLERS_PLACE if context.strict and moving else ""
            yield replace(grid(context, step, window, axis, walk or alone, extent), untold=untold)


def _whole(s: GridSite) -> Cond:
    """The stricter reading of BLOCK-OF-GRID: the function alone writes all of it."""
    return _alone(s) if s.context.strict else TRUE


def _alone(s: GridSite) -> Cond:
    return all_of((any_of((s.extent <= 0, s.first <= 0)), reached(s), without_gap(s)))


WRITE_WHOLE: Rule[GridSite] = Rule(
    id="WRITE-WHOLE", kind=SAFETY, observable=False, requires=("VF-01",), assumptions=("BLOCK-OF-GRID",),
    unseen="the rest is left to other blocks",
    source="PyPTO: an Out is written wholly",
    claim="a store of a fixed window writes its block of the output; with --strict, it writes all of the output",
    sites=_blocks, applies=always, unneeded=lambda s: ("BLOCK-OF-GRID",) if _alone(s) is TRUE else (),
    given=lambda s: not s.untold, undecided=lambda s: s.untold,
    goal=_whole,
    explain=lambda s, w: (
        f"axis {s.axis} of {s.tensor} has {w.show(s.extent)}, this function alone writes {w(s.first)} to "
        f"{w(s.reached) - 1} of it"),
    help=lambda s: "write all of the output, or check without --strict: other blocks write the rest",
    mutant=lambda s: TRUE,
)

RULES = (WRITE_WHOLE,)
