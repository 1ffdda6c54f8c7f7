"""Which slot of its ring a popped tile lies in. Source: PTO-ISA TPop.hpp: pop `i` of a pipe takes local slot i modulo
their number."""

from __future__ import annotations

from collections.abc import Hashable
from functools import lru_cache

from pypto_verified.index import TRUE, Expr, const
from pypto_verified.pto.legality_context import INITS, pipe_id
from pypto_verified.targets import Target, fifo
from verifiers.access import AccessProgram, Root, Step


@lru_cache(maxsize=4)
def ring_places(program: AccessProgram, target: Target) -> dict[Root, tuple[Hashable, Expr]]:
    """(ring, first byte in it) of each popped tile, where pops of its pipe follow one another in one loop, or in none,
    whatever the path: then their numbers count up with it."""
    found: dict[Root, tuple[Hashable, Expr]] = {}
    pops: dict[int, list[Step]] = {}
    for step in program.steps:
        if step.op.name.startswith("pto.tpop"):
            pops.setdefault(pipe_id(step.op), []).append(step)
    for id, steps in pops.items():
        loops = steps[0].loops
        always = loops[-1].inside if loops else TRUE
        if len(loops) > 1 or any(s.loops != loops or s.path is not always or s.made is None for s in steps):
            continue
        counter = loops[0].counter if loops else const(0)
        size = max(s.made.root.bytes for s in steps if s.made is not None)
        for place, step in enumerate(steps):
            if counter is not None and step.made is not None:
                number = counter * len(steps) + place
                found[step.made.root] = ("ring", id), (number % ring_slots(program, target, id)) * size
    return found


def ring_slot(step: Step, program: AccessProgram, target: Target, pops: dict[int, int]) -> tuple[str, int, int]:
    """The slot that a pop hands out, as a name; counts the pop in `pops`."""
    id = pipe_id(step.op)
    number = pops.get(id, 0)
    pops[id] = number + 1
    return ("slot", id, number % ring_slots(program, target, id))


def ring_slots(program: AccessProgram, target: Target, id: int) -> int:
    """How many slots the popped tiles of a pipe take in turn."""
    for step in program.steps:
        if step.op.name in INITS and pipe_id(step.op) == id:
            attrs = step.op.attrs
            slots = fifo.ring_slots(attrs.get("slot_num"), attrs.get("dir_mask"))
            return slots if target.on_chip_pipe else fifo.local_slots(attrs.get("local_slot_num"), slots)
    return 1
