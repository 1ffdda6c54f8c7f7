"""Free slots of a pipe between cores: which ops of its producer wait for one, which of its consumer give one back."""

from __future__ import annotations

from functools import lru_cache

from pypto_verified.pto.legality_context import INITS, pipe_id
from pypto_verified.targets import Target, fifo
from verifiers.access import AccessProgram, Step
from verifiers.race.rings import FREES

PUSHES = ("pto.tpush_to_aiv", "pto.tpush_to_aic")
ALLOCATES = ("pto.talloc_to_aiv", "pto.talloc_to_aic")


def takes_slot(step: Step, program: AccessProgram) -> bool:
    """Whether a step waits until its tile has a slot: where tiles are made in their slots, they ask for these first."""
    return step.op.name in (ALLOCATES if _in_place(program, pipe_id(step.op)) else PUSHES)


def gives_slot(step: Step, program: AccessProgram, target: Target) -> bool:
    """Whether a step gives a slot back: a pop, where it copies the tile out of it, else the free."""
    name = step.op.name
    if name in FREES:
        return not target.on_chip_pipe and not _in_place(program, pipe_id(step.op))
    return name in FREES.values() and (target.on_chip_pipe or _in_place(program, pipe_id(step.op)))


def ledger_of(target: Target) -> fifo.Ledger:
    """How the target counts them."""
    return fifo.LEDGERS[target.name]


@lru_cache(maxsize=16)
def slots_of(program: AccessProgram, id: int) -> int:
    """Slots of a pipe, as the end of its producer says."""
    attrs = next((s.op.attrs for s in program.steps if s.op.name in INITS and pipe_id(s.op) == id), {})
    return fifo.ring_slots(attrs.get("slot_num"), attrs.get("dir_mask"))


@lru_cache(maxsize=16)
def _in_place(program: AccessProgram, id: int) -> bool:
    """Whether a pipe hands out its slots in global memory, to be written and read there."""
    inits = (s.op for s in program.steps if s.op.name in INITS and pipe_id(s.op) == id)
    return any("gm_slot_tensor" in op.args for op in inits)
