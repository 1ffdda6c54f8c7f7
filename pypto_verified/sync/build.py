"""From a function of a module to the program of accesses that is synchronised."""

from __future__ import annotations

from pypto_verified.errors import NotModelled
from pypto_verified.index import Expr, const, symbol
from pypto_verified.layouts import Space
from pypto_verified.pto.module import Block, EnumAttr, Func, Op, Value
from pypto_verified.pto.op_pipes import op_phases
from pypto_verified.pto.rows import TABLE
from pypto_verified.sync.handles import Handles
from pypto_verified.sync.places import Local, Place, Window
from pypto_verified.sync.program import Access, Branch, Loop, Meeting, Program, Sequence, where
from pypto_verified.sync.slots import FREES, POPS, Slots, pipe_of_pop
from pypto_verified.sync.values import Values
from pypto_verified.targets import Target
from pypto_verified.targets.events import pipe_of
from pypto_verified.targets.fifo import release_pipe
from pypto_verified.targets.pipes import CROSS_FLAGS

ANYWHERE = Window("", const(0), (), (), ())
"""All of global memory."""

_CROSS = {row.set: "reads" for row in CROSS_FLAGS} | {row.wait: "writes" for row in CROSS_FLAGS}
_IGNORED = frozenset({
    "pto.set_ffts", "pto.fence.barrier_all", "pto.cmo.cacheinvalid", "pto.aic_initialize_pipe",
    "pto.aiv_initialize_pipe", "pto.reserve_buffer", "pto.import_reserved_buffer", "pto.set_validshape",
})


def build(func: Func, target: Target) -> Program:
    """The program of a function with a body. NotModelled for branches between blocks, sections, calls, ops without a
    row, and tiles whose address the text does not give."""
    assert func.body is not None
    builder = _Builder(func, target)
    return Program(builder.sequence(func.body, None, (), ()), builder.accesses, builder.values.owner)


_Chain = tuple[tuple[Sequence, int], ...]


class _Builder:
    def __init__(self, func: Func, target: Target) -> None:
        self.target = target
        self.values = Values()
        self.slots = Slots(func, self.values, target)
        self.handles = Handles(self.values)
        self.accesses: list[Access] = []
        self.loops = 0

    def sequence(self, block: Block, loop: Loop | None, loops: tuple[Loop, ...], chain: _Chain) -> Sequence:
        if block.followers:
            raise NotModelled("automatic synchronisation of branches between blocks")
        made = Sequence(block, loop, loops)
        if loop is not None:
            loop.body = made
        for position, op in enumerate(block.ops):
            self.op(op, position, made, chain)
        return made

    def op(self, op: Op, position: int, around: Sequence, chain: _Chain) -> None:
        here = (*chain, (around, position))
        owner = around.loops[-1].number if around.loops else 0
        if op.name == "scf.for":
            around.items.append((position, self.counted(op, around, here)))
        elif op.name == "scf.while":
            around.items.append((position, self.conditional(op, around, here)))
        elif op.name == "scf.if":
            for result in op.results:
                self.values.bind(result, self.values.unknown(result.name, owner))
            arms = tuple(self.sequence(region, None, around.loops, here) for region in op.regions)
            for region in op.regions:
                self.slots.leave(region, owner)
            around.items.append((position, Branch(op, arms)))
        elif op.name == "pto.syncall":
            around.items.append((position, Meeting(op)))
        elif op.name in POPS or op.name in FREES or op.name in _CROSS:
            self.between_cores(op, around, here)
        elif not self.handles.define(op):
            self.plain(op, owner, around, here)

    def plain(self, op: Op, owner: int, around: Sequence, here: _Chain) -> None:
        row = TABLE.get(op.name)
        if row is None or op.regions or op.name == "func.call":
            raise NotModelled(f"automatic synchronisation of {op.name}", where(op))
        self.values.define(op, owner)
        if row.effect in ("compute", "sync") and op.name not in _IGNORED:
            self.access(op, around, here)

    def access(self, op: Op, around: Sequence, here: _Chain) -> None:
        """The steps of an op under the reading of its row, each on the pipes of all readings."""
        readings = op_phases(op, self.target.name)
        if not readings:
            return
        for phase in readings[0]:
            pipes = (phase.pipe,) if len(readings[0]) > 1 else tuple(r[0].pipe for r in readings)
            reads = tuple(self.handles.place(op, g, v) for g in phase.reads for v in op.args[g])
            writes = tuple(self.handles.place(op, g, v) for g in phase.writes for v in op.args[g])
            if phase.pipe and (reads or writes):
                self.add(op, pipes, reads, writes, around, here)

    def between_cores(self, op: Op, around: Sequence, here: _Chain) -> None:
        """A pop writes its slot; a free lets the other core write it; a flag between cores stands for all that the
        other core reads or writes in global memory."""
        if op.name in POPS:
            pipes = tuple(dict.fromkeys(p.pipe for r in op_phases(op, self.target.name) for p in r))
            slot = self.handles.pop(op, *self.slots.pop(op))
            self.add(op, pipes, (), (slot,), around, here)
        elif op.name in FREES:
            space = Space.VEC if FREES[op.name] == "c2v" else Space.MAT
            pipe, slots = release_pipe(self.target.name, space), self.popped(pipe_of_pop(op))
            if pipe and slots:
                self.add(op, (pipe,), (), slots, around, here)
        else:
            pipe = _flag_pipe(op)
            places: tuple[Place, ...] = (ANYWHERE,)
            reads = places if _CROSS[op.name] == "reads" else ()
            self.add(op, (pipe,), reads, () if reads else places, around, here)

    def popped(self, pipe: str) -> tuple[Place, ...]:
        """The slots of a pipe that were popped up to here."""
        return tuple(dict.fromkeys(
            place for a in self.accesses for place in a.writes if isinstance(place, Local) and place.root == pipe))

    def add(
        self, op: Op, pipes: tuple[str, ...], reads: tuple[Place, ...], writes: tuple[Place, ...], around: Sequence,
        here: _Chain,
    ) -> None:
        made = Access(len(self.accesses), op, pipes, reads, writes, here)
        self.accesses.append(made)
        around.items.append((here[-1][1], made))

    def counted(self, op: Op, around: Sequence, here: _Chain) -> Loop:
        self.loops += 1
        number = self.loops
        counter = symbol(f"turn#{number}", 0)
        self.values.owner[f"turn#{number}"] = number
        lower, step = self.values.of(op.arg("lower")), self.values.of(op.arg("step"))
        rising = step.lo is not None and step.lo > 0
        variable, *carried = op.regions[0].args
        self.values.bind(variable, lower + step * counter if rising else self.values.unknown("at", number))
        loop = Loop(op, number, around, counter, _turns(lower, self.values.of(op.arg("upper")), step))
        return self.repeated(loop, op.regions[0], carried, around, here)

    def conditional(self, op: Op, around: Sequence, here: _Chain) -> Loop:
        self.loops += 1
        head, body = op.regions
        for argument in head.args:
            self.values.bind(argument, self.values.unknown(argument.name, self.loops))
        for inner in head.ops:
            row = TABLE.get(inner.name)
            if row is None or row.effect not in ("pure", "control"):
                raise NotModelled(f"automatic synchronisation of {inner.name} in the condition of a loop", where(inner))
            self.values.define(inner, self.loops)
        return self.repeated(Loop(op, self.loops, around), body, list(body.args), around, here)

    def repeated(self, loop: Loop, body: Block, carried: list[Value], around: Sequence, here: _Chain) -> Loop:
        for argument in carried:
            self.values.bind(argument, self.values.unknown(argument.name, loop.number))
        self.slots.enter(loop, body)
        self.sequence(body, loop, (*around.loops, loop), here)
        loop.inner = frozenset(range(loop.number, self.loops + 1))
        outer = around.loops[-1].number if around.loops else 0
        self.slots.leave(body, outer)
        for result in loop.op.results:
            self.values.bind(result, self.values.unknown(result.name, outer))
        return loop


def _turns(lower: Expr, upper: Expr, step: Expr) -> int | None:
    """How many turns constant bounds give."""
    if lower.value is None or upper.value is None or step.value is None or step.value <= 0:
        return None
    return max(0, -(-(upper.value - lower.value) // step.value))


def _flag_pipe(op: Op) -> str:
    named = op.attrs.get("pipe")
    assert isinstance(named, EnumAttr)
    return pipe_of(named.member)
