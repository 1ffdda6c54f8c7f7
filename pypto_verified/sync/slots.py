"""Where popped tiles lie in the memory of their pipe: slots in turn."""

from __future__ import annotations

from pypto_verified.index import Expr, const
from pypto_verified.pto.module import Block, Func, Op
from pypto_verified.pto.types import TileBufType
from pypto_verified.pto.walk import walk_ops
from pypto_verified.sync.program import Loop
from pypto_verified.sync.values import Values
from pypto_verified.targets import Target
from pypto_verified.targets.fifo import local_slots, ring_slots

POPS = {"pto.tpop_from_aic": "c2v", "pto.tpop_from_aiv": "v2c"}
FREES = {"pto.tfree_from_aic": "c2v", "pto.tfree_from_aiv": "v2c"}


def pipe_of_pop(op: Op) -> str:
    """Names the pipe of a pop or free: its direction and id."""
    direction = POPS.get(op.name) or FREES[op.name]
    return f"{direction} {number_of_pipe(op)}"


def number_of_pipe(op: Op) -> int:
    """The id of the pipe that an op makes or uses; 0 if it is not given."""
    id = op.attrs.get("id", 0)
    return id if isinstance(id, int) else 0


class Slots:
    """Counts the pops of each pipe. On a2a3 a pop copies into a small local buffer, whose slots it takes in turn and
    which only this core's own order protects. On a5 a slot is the pipe's own: the producer waits until it is free."""

    def __init__(self, func: Func, values: Values, target: Target) -> None:
        self._values = values
        self._target = target
        self._next: dict[str, Expr] = {}
        self._local: dict[int, int] = {}
        self._bytes: dict[str, int] = {}
        for op in walk_ops(func):
            if op.name in POPS and isinstance(op.result.type, TileBufType):
                pipe = pipe_of_pop(op)
                self._bytes[pipe] = max(self._bytes.get(pipe, 0), op.result.type.bytes)
            if op.name.endswith("_initialize_pipe"):
                slots = ring_slots(op.attrs.get("slot_num"), op.attrs.get("dir_mask"))
                self._local[number_of_pipe(op)] = local_slots(op.attrs.get("local_slot_num"), slots)

    def pop(self, op: Op) -> tuple[str, Expr]:
        """(the memory, the byte in it) that a pop hands out; the next pop takes the next slot."""
        pipe = pipe_of_pop(op)
        index = self._next.get(pipe, const(0))
        self._next[pipe] = index + 1
        slot = index if self._target.on_chip_pipe else index % self._local.get(number_of_pipe(op), 1)
        return pipe, slot * self._bytes[pipe]

    def enter(self, loop: Loop, body: Block) -> None:
        """A loop begins: a turn goes on where the one before ended, if every turn pops as often."""
        for pipe in self._bytes:
            straight = sum(op.name in POPS and pipe_of_pop(op) == pipe for op in body.ops)
            if straight == sum(op.name in POPS and pipe_of_pop(op) == pipe for op in walk_ops(_alone(body))):
                turn = loop.counter if loop.counter is not None else self._values.unknown("turn", loop.number, 0)
                self._next[pipe] = self._next.get(pipe, const(0)) + turn * straight
            else:
                self.forget(pipe, loop.number)

    def leave(self, body: Block, around: int) -> None:
        """A loop or branch has ended: how often it popped is not known."""
        for pipe in self._bytes:
            if any(op.name in POPS and pipe_of_pop(op) == pipe for op in walk_ops(_alone(body))):
                self.forget(pipe, around)

    def forget(self, pipe: str, loop: int) -> None:
        self._next[pipe] = self._values.unknown(f"pops of {pipe}", loop, 0)


def _alone(body: Block) -> Func:
    return Func("", [], body)
