"""Which slot of its ring a popped tile lies in. Source: PTO-ISA TPop.hpp: pop `i` of a pipe takes local slot i modulo
their number."""

from __future__ import annotations

from collections.abc import Hashable
from functools import lru_cache

from pypto_verified.index import Expr, const, symbols_of
from pypto_verified.pto.legality_context import INITS, pipe_id
from pypto_verified.records import dataclass
from pypto_verified.targets import Target, fifo
from verifiers.access import AccessProgram, Branch, Loop, Node, Root, Sequence, Step
from verifiers.race.copied import copied
from verifiers.recurrence import Counted, counted, trips

FREES = {"pto.tpop_from_aic": "pto.tfree_from_aic", "pto.tpop_from_aiv": "pto.tfree_from_aiv"}
POP_OF = {free: pop for pop, free in FREES.items()}


@dataclass(frozen=True, slots=True)
class InRing:
    """Where a popped tile lies in the ring `name` of `slots` of `size` bytes. `number`: of its pop, from 0; None where
    that is not expressed, so that it may lie in any slot."""

    name: Hashable
    number: Expr | None
    slots: int
    size: int

    @property
    def base(self) -> Expr | None:
        """Its first byte in the ring."""
        return self.slot(self.number) if self.number is not None else None

    @property
    def bytes(self) -> int:
        return self.slots * self.size

    def slot(self, number: Expr) -> Expr:
        """The first byte of the slot of a pop."""
        return (number % self.slots) * self.size


@lru_cache(maxsize=4)
def ring_places(program: AccessProgram, target: Target) -> dict[Root, InRing]:
    """Where each popped tile lies. A tile on the chip whose slot is not told is left out: what writes there next is
    another core's."""
    found: dict[Root, InRing] = {}
    pops: dict[tuple[str, int], list[Step]] = {}
    for step in program.steps:
        if step.op.name in FREES and step.made is not None:
            pops.setdefault((step.op.name, pipe_id(step.op)), []).append(step)
    numbers = pops_before(program)
    for key, steps in pops.items():
        slots, size = ring_slots(program, target, key[1]), max(s.made.root.bytes for s in steps if s.made is not None)
        for step in steps:
            number = numbers[step.index]
            if step.made is not None and (number is not None or copied(program, *key, target)):
                found[step.made.root] = InRing(("ring", *key), number, slots, size)
    return found


@lru_cache(maxsize=4)
def pops_before(program: AccessProgram) -> dict[int, Expr | None]:
    """How many tiles were popped from its pipe before each pop and free; None where that is not expressed."""
    return _before(program, frozenset(FREES))


@lru_cache(maxsize=4)
def frees_before(program: AccessProgram) -> dict[int, Expr | None]:
    """The same of the tiles that were freed."""
    return _before(program, frozenset(POP_OF))


def _before(program: AccessProgram, asked: frozenset[str]) -> dict[int, Expr | None]:
    """How many of the ops `asked` each pop and free of a pipe has before it there."""
    found: dict[int, Expr | None] = {}
    uses: dict[tuple[str, int], set[int]] = {}
    for step in program.steps:
        pop = step.op.name if step.op.name in FREES else POP_OF.get(step.op.name)
        if pop is not None:
            uses.setdefault((pop, pipe_id(step.op)), set()).add(step.index)
            found[step.index] = None
    for own in uses.values():
        _Numbering(program, own, asked, found).run(program.body, const(0))
    return found


@dataclass(frozen=True, slots=True)
class _Numbering:
    """The ops `asked` before each of the steps `own`, written to `found`."""

    program: AccessProgram
    own: set[int]
    asked: frozenset[str]
    found: dict[int, Expr | None]

    def run(self, node: Node, before: Expr | None) -> Expr | None:
        """Their number after a node, with `before` of them in front of it."""
        if isinstance(node, Step):
            if node.index in self.own:
                self.found[node.index] = before
            counts = node.index in self.own and node.op.name in self.asked
            return before + 1 if before is not None and counts else before
        if isinstance(node, Sequence):
            for item in node.items:
                before = self.run(item, before)
            return before
        if isinstance(node, Branch):
            then, orelse = self.run(node.then, before), self.run(node.orelse, before)
            return then if then is not None and orelse is not None and then.uid == orelse.uid else None
        return self._loop(node, before)

    def _loop(self, loop: Loop, before: Expr | None) -> Expr | None:
        each = self.run(loop.body, const(0))
        own, times = counted(loop), trips(loop)
        turns = loop.counter
        if each is None or turns is None or (each.value is None and not self._lasts(each, own)):
            before = None
        if before is None or each is None or turns is None:
            self.run(loop.body, None)
            return None
        self.run(loop.body, before + turns * each)
        if each.value == 0:
            return before
        return before + times * each if times is not None else None

    def _lasts(self, each: Expr, own: Counted | None) -> bool:
        """Whether a number is that of every turn."""
        return own is not None and all(self.program.symbols.is_older(n, own.name) for n in symbols_of(each))


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
            copies = any(copied(program, pop, id, target) for pop in FREES)
            return fifo.local_slots(attrs.get("local_slot_num"), slots) if copies else slots
    return 1
