"""Which slot of its ring a popped tile lies in. Source: PTO-ISA TPop.hpp: pop `i` of a pipe takes local slot i modulo
their number."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from functools import lru_cache

from pypto_verified.index import Expr, const, symbols_of
from pypto_verified.pto.legality_context import INITS, pipe_id
from pypto_verified.targets import Target, fifo
from verifiers.access import AccessProgram, Branch, Loop, Node, Root, Sequence, Step
from verifiers.recurrence import counted, trips


@dataclass(frozen=True, slots=True)
class InRing:
    """Where a popped tile lies in the ring `name` of `bytes` bytes. `base`: its first byte there; None where the number
    of its pop is not expressed, so that it may lie in any slot."""

    name: Hashable
    base: Expr | None
    bytes: int


@lru_cache(maxsize=4)
def ring_places(program: AccessProgram, target: Target) -> dict[Root, InRing]:
    """Where each popped tile lies. A tile on the chip whose slot is not told is left out: what writes there next is
    another core's."""
    found: dict[Root, InRing] = {}
    pops: dict[tuple[str, int], list[Step]] = {}
    for step in program.steps:
        if step.op.name.startswith("pto.tpop"):
            pops.setdefault((step.op.name, pipe_id(step.op)), []).append(step)
    for key, steps in pops.items():
        slots, size = ring_slots(program, target, key[1]), max((s.made.root.bytes for s in steps if s.made), default=0)
        numbers: dict[int, Expr | None] = dict.fromkeys(s.index for s in steps)
        _number(program.body, const(0), program, numbers)
        for step in steps:
            number = numbers[step.index]
            if step.made is not None and (number is not None or not target.on_chip_pipe):
                base = (number % slots) * size if number is not None else None
                found[step.made.root] = InRing(("ring", *key), base, slots * size)
    return found


def _number(node: Node, before: Expr | None, program: AccessProgram, numbers: dict[int, Expr | None]) -> Expr | None:
    """How many of the steps that `numbers` names have run after a node, `before` of them in front of it; None if that
    is not expressed. Fills in how many have run before each."""
    if isinstance(node, Step):
        if node.index not in numbers:
            return before
        numbers[node.index] = before
        return before + 1 if before is not None else None
    if isinstance(node, Sequence):
        for item in node.items:
            before = _number(item, before, program, numbers)
        return before
    if isinstance(node, Branch):
        then, orelse = (_number(arm, before, program, numbers) for arm in (node.then, node.orelse))
        return then if then is not None and orelse is not None and then.uid == orelse.uid else None
    return _number_of_loop(node, before, program, numbers)


def _number_of_loop(
    loop: Loop, before: Expr | None, program: AccessProgram, numbers: dict[int, Expr | None]
) -> Expr | None:
    each = _number(loop.body, const(0), program, numbers)
    if each is not None and each.value == 0:
        return before
    own, times = counted(loop), trips(loop)
    same = each is not None and loop.counter is not None and (
        own is None or all(program.symbols.is_older(n, own.name) for n in symbols_of(each)))
    if before is None or each is None or loop.counter is None or not same:
        _number(loop.body, None, program, numbers)
        return None
    _number(loop.body, before + loop.counter * each, program, numbers)
    return before + times * each if times is not None else None


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
