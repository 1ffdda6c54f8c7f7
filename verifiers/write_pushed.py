"""WRITE: whole tiles that both lanes of a vector core push into one slot. A push without a split writes from the slot's
first byte, whichever lane pushes it (PTO-ISA npu/a2a3 and npu/a5 TPush.hpp, TILE_NO_SPLIT: a single writer)."""

from __future__ import annotations

from verifiers.access import AccessProgram, Step
from verifiers.pipes import LANES, Transfer, transfers, used

_PUSH = "pto.tpush_to_aic"


def pushed_by_both(program: AccessProgram) -> tuple[Step, ...]:
    """The pushes of whole tiles to a cube on pipes on which each lane may push some, by one op or two."""
    found: dict[int, Step] = {}
    for pipe in used(program, _PUSH):
        lanes = [[t.step for t in transfers(program, _PUSH, pipe, lane) if _writes(t)] for lane in LANES]
        if all(lanes):
            found.update((step.index, step) for steps in lanes for step in steps)
    return tuple(found[index] for index in sorted(found))


def _writes(transfer: Transfer) -> bool:
    """Whether it is of a whole tile that may hold anything: a lane that only keeps in step pushes an empty one."""
    return not transfer.step.op.attrs.get("split") and transfer.rows.value != 0 and transfer.cols.value != 0
