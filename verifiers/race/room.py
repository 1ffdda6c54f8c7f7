"""Free slots of a pipe between cores: which ops of its producer wait for one, which of its consumer give one back."""

from __future__ import annotations

from functools import lru_cache

from pypto_verified.pto.legality_context import INITS, pipe_id
from pypto_verified.targets import Target, fifo
from verifiers.access import AccessProgram, Step, TensorView
from verifiers.race.copied import copied, copies
from verifiers.race.rings import FREES, POP_OF

PUSHES = ("pto.tpush_to_aiv", "pto.tpush_to_aic")
ALLOCATES = ("pto.talloc_to_aiv", "pto.talloc_to_aic")


def takes_slot(step: Step) -> bool:
    """Whether a step waits until its tile has a slot: where tiles are made in their slots, they ask for these first."""
    name = step.op.name
    in_place = any(isinstance(o, TensorView) for o in step.operands.get("tile", ()))
    return name in ALLOCATES or (name in PUSHES and not in_place)


def gives_slot(step: Step, program: AccessProgram, target: Target) -> bool:
    """Whether a step gives a slot back: a pop, where it copies the tile out of it, else the free."""
    name = step.op.name
    if name in FREES:
        return copies(step, program, target)
    return name in POP_OF and (target.on_chip_pipe or not copied(program, POP_OF[name], pipe_id(step.op), target))


def ledger_of(target: Target) -> fifo.Ledger:
    """How the target counts them."""
    return fifo.LEDGERS[target.name]


@lru_cache(maxsize=16)
def slots_of(program: AccessProgram, id: int) -> int:
    """Slots of a pipe, as the end of its producer says."""
    attrs = next((s.op.attrs for s in program.steps if s.op.name in INITS and pipe_id(s.op) == id), {})
    return fifo.ring_slots(attrs.get("slot_num"), attrs.get("dir_mask"))
