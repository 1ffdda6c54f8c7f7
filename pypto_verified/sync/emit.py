"""Writing a plan into the blocks of its function."""

from __future__ import annotations

from pypto_verified.dtypes import INDEX
from pypto_verified.errors import NOWHERE, Location
from pypto_verified.pto.module import EnumAttr, Func, Op, Value
from pypto_verified.pto.types import ScalarType
from pypto_verified.pto.walk import walk_ops
from pypto_verified.sync.plan import Barrier, Flag, Plan
from pypto_verified.sync.program import Loop, Sequence

_INDEX = ScalarType(INDEX)

AFTER_LOOP, SET, WAIT, BARRIER, BEFORE_LOOP = range(5)
"""The order of what stands at one place of a block."""


def emit(plan: Plan, func: Func, home: dict[Loop, tuple[Sequence, int]]) -> None:
    """Put the flags and barriers of a plan into the blocks of the function. `home`: where the outermost loop around a
    loop stands: flags that are set in advance are set before it and waited for after it."""
    writer = _Writer(func)
    for sync in plan.chosen:
        if isinstance(sync, Barrier):
            writer.put(sync.at, sync.position, BARRIER, _barrier(sync))
        else:
            writer.flag(sync, home)
    writer.write()


class _Writer:
    def __init__(self, func: Func) -> None:
        self.func = func
        self.names = {v.name for v in func.args} | {v.name for op in walk_ops(func) for v in _defined(op)}
        self.head: list[Op] = []
        self.constants: dict[int, Value] = {}
        self.numbers: dict[tuple[Loop, int, int], Value] = {}
        self.placed: dict[Sequence, list[tuple[int, int, Op]]] = {}

    def put(self, at: Sequence, position: int, order: int, op: Op) -> None:
        """An op before a position. It is located like the op that it comes after or holds back; at the end of a block,
        and beside what has no place of its own, like the last op before."""
        near = position - 1 if order in (AFTER_LOOP, SET) else position
        op.loc = _place(at.block.ops, near)
        self.placed.setdefault(at, []).append((position, order, op))

    def flag(self, flag: Flag, home: dict[Loop, tuple[Sequence, int]]) -> None:
        """The set and the wait of a flag, and those around the loop for one that tells of earlier turns."""
        number = self.number(flag.loop, flag) if flag.ids > 1 and flag.loop is not None else None
        self.put(flag.at, flag.set_at, SET, _flag(flag, "set", flag.first, number))
        self.put(flag.at, flag.wait_at, WAIT, _flag(flag, "wait", flag.first, number))
        if flag.turns and flag.loop is not None:
            around, position = home[flag.loop]
            for id in range(flag.first, flag.first + flag.ids):
                self.put(around, position, BEFORE_LOOP, _flag(flag, "set", id, None))
                self.put(around, position + 1, AFTER_LOOP, _flag(flag, "wait", id, None))

    def number(self, loop: Loop, flag: Flag) -> Value:
        """The id of a turn: the turn's number modulo the ids of the flag, above the first of them."""
        key = (loop, flag.ids, flag.first)
        if key not in self.numbers:
            turn = self.turn(loop)
            id = self.scalar(loop, "arith.remsi", turn, self.constant(flag.ids))
            self.numbers[key] = self.scalar(loop, "arith.addi", id, self.constant(flag.first)) if flag.first else id
        return self.numbers[key]

    def turn(self, loop: Loop) -> Value:
        """The number of the turn, counted from 0."""
        variable, lower, step = loop.op.regions[0].args[0], loop.op.arg("lower"), loop.op.arg("step")
        if self.known(lower) != 0:
            variable = self.scalar(loop, "arith.subi", variable, lower)
        return variable if self.known(step) == 1 else self.scalar(loop, "arith.divsi", variable, step)

    def scalar(self, loop: Loop, name: str, lhs: Value, rhs: Value) -> Value:
        """A scalar op at the start of a loop's body."""
        result = Value(self.fresh("turn"), _INDEX)
        self.put(loop.body, 0, AFTER_LOOP, Op(name, {"lhs": (lhs,), "rhs": (rhs,)}, results=(result,)))
        return result

    def known(self, value: Value) -> int | None:
        """The integer that a value is by a constant op of the function."""
        for op in walk_ops(self.func):
            if op.name == "arith.constant" and op.result is value:
                payload = op.attrs["value"]
                return payload if isinstance(payload, int) else None
        return None

    def constant(self, number: int) -> Value:
        """An index constant at the head of the function, one that is there if there is one."""
        if number not in self.constants:
            assert self.func.body is not None
            there = [op.result for op in self.func.body.ops
                     if op.name == "arith.constant" and op.attrs["value"] == number and op.result.type == _INDEX]
            made = there[0] if there else Value(self.fresh(f"c{number}_index"), _INDEX)
            if not there:
                self.head.append(Op("arith.constant", attrs={"value": number}, results=(made,)))
            self.constants[number] = made
        return self.constants[number]

    def fresh(self, stem: str) -> str:
        name = next(n for n in (stem, *(f"{stem}_{k}" for k in range(len(self.names) + 1))) if n not in self.names)
        self.names.add(name)
        return name

    def write(self) -> None:
        """Put everything into its place."""
        for at, ops in self.placed.items():
            before: dict[int, list[Op]] = {}
            for position, _, op in sorted(ops, key=lambda entry: entry[:2]):
                before.setdefault(position, []).append(op)
            old = at.block.ops
            at.block.ops = [
                op for position in range(len(old) + 1)
                for op in (*before.get(position, ()), *old[position:position + 1])]
        if self.func.body is not None:
            self.func.body.ops[:0] = self.head


def _place(ops: list[Op], last: int) -> Location:
    """Where the last op up to a position stands that tells it, or one inside of it."""
    for position in range(min(last, len(ops) - 1), -1, -1):
        op = ops[position]
        found = op.loc if op.loc.line else next(
            (p for region in reversed(op.regions) if (p := _place(region.ops, len(region.ops) - 1)).line), NOWHERE)
        if found.line:
            return found
    return NOWHERE


def _defined(op: Op) -> list[Value]:
    return [*op.results, *(v for region in op.regions for v in region.args)]


def _barrier(barrier: Barrier) -> Op:
    return Op("pto.barrier", attrs={"pipe": EnumAttr("pipe", f"PIPE_{barrier.pipe}")})


def _flag(flag: Flag, what: str, id: int, number: Value | None) -> Op:
    pipes = {"src_pipe": EnumAttr("pipe", f"PIPE_{flag.src}"), "dst_pipe": EnumAttr("pipe", f"PIPE_{flag.dst}")}
    if number is not None:
        return Op(f"pto.{what}_flag_dyn", {"event_id": (number,)}, {**pipes})
    return Op(f"pto.{what}_flag", {}, {**pipes, "event_id": EnumAttr("event", f"EVENT_ID{id}")})
