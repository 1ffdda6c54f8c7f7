"""Which slot of its ring a popped tile lies in. Source: PTO-ISA TPop.hpp: pop `i` of a pipe takes local slot i modulo
their number."""

from __future__ import annotations

from collections.abc import Hashable
from functools import lru_cache

from pypto_verified.index import TRUE, Expr, const
from pypto_verified.pto.legality_context import INITS, pipe_id
from pypto_verified.targets import Target
from verifiers.access import AccessProgram, Root, Step

_LOCAL_SLOTS = 2
"""Slots that a2a3 copies popped tiles to, if a text does not say."""
_SLOTS = {3: 4}
"""Slots of a ring by direction mask, if a text does not say; 8 for the others (PTOAS)."""


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
            named = step.op.attrs.get("slot_num" if target.on_chip_pipe else "local_slot_num")
            if isinstance(named, int) and named > 0:
                return named
            mask = step.op.attrs.get("dir_mask")
            if target.on_chip_pipe:
                return _SLOTS.get(mask, 8) if isinstance(mask, int) else 8
    return _LOCAL_SLOTS
