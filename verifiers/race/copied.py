"""Which pops copy their tile out of its slot, and which hand the slot itself out."""

from __future__ import annotations

from functools import lru_cache

from pypto_verified.pto.legality_context import INITS, pipe_id
from pypto_verified.targets import Target
from pypto_verified.targets.fifo import COPY_PIPE
from verifiers.access import AccessProgram, Step


@lru_cache(maxsize=16)
def copied(program: AccessProgram, op: str, id: int, chip: Target) -> bool:
    """Whether the pops `op` of a pipe copy tiles out of its slots, and so give these back by themselves: on a2a3 those
    of tiles, on a5 those of tiles from a pipe that goes one way through global memory. What hands out the slot itself,
    as a tile or as a tensor, gives nothing back. Source: PTO-ISA npu/*/TPop.hpp, PTOAS getTPipeDirectionToken."""
    if not all(s.made is not None for s in program.steps if s.op.name == op and pipe_id(s.op) == id):
        return False
    inits = [s.op for s in program.steps if s.op.name in INITS and pipe_id(s.op) == id]
    return not chip.on_chip_pipe or any(
        "gm_slot_tensor" in init.args and init.attrs.get("dir_mask") in (1, 2) for init in inits)


def copies(step: Step, program: AccessProgram, chip: Target) -> bool:
    """Whether a pop copies its tile."""
    return copied(program, step.op.name, pipe_id(step.op), chip)


def copy_pipe(step: Step, program: AccessProgram, chip: Target) -> str:
    """The pipe that copies a popped tile, '' where nothing is copied."""
    return COPY_PIPE if copies(step, program, chip) else ""
