"""Models that need no solver: most conditions that can hold do so at small sizes, first trips and with nothing to
choose."""

from __future__ import annotations

from collections.abc import Mapping

from pypto_verified.index import Cond, holds, symbols_of
from verifiers.solver.cone import booleans_of


def holds_at(c: Cond, point: Mapping[str, int]) -> bool:
    """Whether a condition holds for some values: not where one of its terms has none."""
    try:
        return holds(c, point)
    except ZeroDivisionError:
        return False


def plain_model(c: Cond) -> tuple[dict[str, int], dict[str, bool]] | None:
    """A model among a few plain points, or None."""
    shown = symbols_of(c)
    bools = set(booleans_of(c))
    for size in (1, 0, 16, 256):
        for truth in (True, False) if bools else (True,):
            env = {n: max(a.lo, min(size, a.hi or size)) if a.lo is not None else size for n, a in shown.items()}
            choice = dict.fromkeys(bools, truth)
            try:
                if holds(c, env, choice):
                    return env, choice
            except ZeroDivisionError:
                continue
    return None
