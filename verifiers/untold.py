"""Ops that write tiles of which it is not known where they are, and calls: what they leave alone is nobody's claim."""

from __future__ import annotations

from functools import lru_cache

from pypto_verified.layouts import Space
from pypto_verified.pto.types import TileBufType
from verifiers.access import AccessProgram, Step, TileUse
from verifiers.access.calls import CALL
from verifiers.sites import op_text


@lru_cache(maxsize=1)
def _writers(program: AccessProgram) -> dict[Space, Step]:
    """The first such op for each memory."""
    found: dict[Space, Step] = {}
    for step in program.steps:
        for group in (g for p in step.phases for g in p.writes):
            for value, operand in zip(step.op.args.get(group, ()), step.operands.get(group, ()), strict=False):
                if operand is None and isinstance(value.type, TileBufType):
                    found.setdefault(value.type.loc, step)
        if step.op.name == CALL:
            for value in step.op.operands():
                if isinstance(value.type, TileBufType):
                    found.setdefault(value.type.loc, step)
    return found


def written_unseen(program: AccessProgram, tile: TileUse) -> str:
    """Why what was written last to a tile is not known; '' if it is."""
    step = _writers(program).get(tile.root.space)
    if step is None:
        return ""
    return f"{op_text(step.op)} at line {program.location(step.op).line} may write it too"
