"""A small judge of flags and barriers that shares nothing with what inserts them: it runs a function op by op with
given numbers, writes down which bytes each op touches, and looks at every pair of ops that touch one byte.

A clock counts, for every pipe, the ops it was given that are known to be done. Waits count as ops, so that the judge
also sees a flag that could be set while nobody has waited for its last set.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from pypto_verified.layouts import BLayout, SLayout
from pypto_verified.pto.module import Block, EnumAttr, Func, Op, Value
from pypto_verified.pto.rows import TABLE
from pypto_verified.pto.types import PtrType, TileBufType
from pypto_verified.targets import Target
from pypto_verified.targets.pipes import Hazard, ordered_on_pipe

_SETS = ("pto.set_flag", "pto.set_flag_dyn")
_WAITS = ("pto.wait_flag", "pto.wait_flag_dyn")


@dataclass(frozen=True)
class Bytes:
    """Bytes of one memory as the bits of an integer; of global memory, elements behind one pointer."""

    memory: str
    mask: int

    def meets(self, other: Bytes) -> bool:
        return self.memory == other.memory and bool(self.mask & other.mask)


@dataclass(frozen=True)
class Handle:
    """A tile: its allocation, and where in it the handle starts."""

    base: int
    stored: TileBufType
    row: int
    col: int


@dataclass(frozen=True)
class Window:
    """A box of a tensor."""

    pointer: str
    strides: list[int]
    offsets: list[int]
    sizes: list[int]


@dataclass
class Done:
    """An op that ran: the place of its pipe's counter, and what it touched."""

    op: Op
    pipe: str
    number: int
    reads: list[Bytes]
    writes: list[Bytes]


@dataclass
class Judge:
    """Runs functions on a target. `faults` are the findings of all runs, in words."""

    target: Target
    faults: list[str] = field(default_factory=list)
    syncs: int = 0

    def run(self, func: Func, numbers: Mapping[str, int]) -> list[str]:
        """Run once, with a number for each argument that is one; the faults of this run."""
        before = len(self.faults)
        _Run(self, func, numbers).all()
        return self.faults[before:]


class _Run:
    def __init__(self, judge: Judge, func: Func, numbers: Mapping[str, int]) -> None:
        self.judge = judge
        self.func = func
        scalars = [a for a in func.args if not isinstance(a.type, PtrType)]
        self.env: dict[Value, object] = {a: numbers.get(a.name, 3) for a in scalars}
        self.given: dict[str, int] = {}
        self.known: dict[str, dict[str, int]] = {}
        self.flags: dict[tuple[str, str, int], dict[str, int] | None] = {}
        self.waited: dict[tuple[str, str, int], int] = {}
        self.done: list[Done] = []

    def all(self) -> None:
        assert self.func.body is not None
        self.block(self.func.body)
        self.judge.faults += [f"{key} is still set at the end" for key, told in self.flags.items() if told is not None]

    def fault(self, op: Op, text: str) -> None:
        self.judge.faults.append(f"line {op.loc.line or op.line}: {op.name}: {text}")

    def block(self, block: Block) -> tuple[object, ...]:
        for op in block.ops:
            if op.name in ("scf.yield", "scf.condition"):
                return tuple(self.env[v] for v in op.operands())
            self.op(op)
        return ()

    def op(self, op: Op) -> None:
        if op.name == "scf.for":
            self.loop(op)
        elif op.name == "scf.while":
            self.while_loop(op)
        elif op.name == "scf.if":
            arms = op.regions if self.env[op.arg("cond")] else op.regions[1:]
            results = self.block(arms[0]) if arms else ()
            self.env |= dict(zip(op.results, results, strict=True))
        elif op.name in _SETS:
            self.set(op)
        elif op.name in _WAITS:
            self.wait(op)
        elif op.name == "pto.barrier":
            self.barrier(_pipe(op, "pipe"))
        elif op.name.startswith("arith."):
            self.env[op.result] = _arith(op, [self.env[v] for v in op.operands()])
        elif op.results and op.name.startswith("pto.") and TABLE[op.name].effect in ("alloc", "view"):
            self.env[op.result] = self.handle(op)
        elif TABLE[op.name].effect == "compute":
            self.access(op)
            self.env |= dict.fromkeys(op.results, 0)

    def loop(self, op: Op) -> None:
        lower, upper, step = (self.number(op.arg(g)) for g in ("lower", "upper", "step"))
        variable, *carried = op.regions[0].args
        values: tuple[object, ...] = tuple(self.env[v] for v in op.args.get("init", ()))
        for i in range(lower, upper, step):
            self.env |= {variable: i, **dict(zip(carried, values, strict=True))}
            values = self.block(op.regions[0])
        self.env |= dict(zip(op.results, values, strict=True))

    def while_loop(self, op: Op) -> None:
        head, body = op.regions
        values: tuple[object, ...] = tuple(self.env[v] for v in op.args.get("init", ()))
        while True:
            self.env |= dict(zip(head.args, values, strict=True))
            go, *values_ = self.block(head)
            if not go:
                self.env |= dict(zip(op.results, values_, strict=True))
                return
            self.env |= dict(zip(body.args, values_, strict=True))
            values = self.block(body)

    def number(self, value: Value) -> int:
        found = self.env[value]
        assert isinstance(found, int)
        return found

    # Orders

    def clock(self, pipe: str) -> dict[str, int]:
        return self.known.setdefault(pipe, {})

    def key(self, op: Op) -> tuple[str, str, int]:
        id = op.attrs.get("event_id")
        fixed = int(id.member.removeprefix("EVENT_ID")) if isinstance(id, EnumAttr) else None
        number = fixed if fixed is not None else self.number(op.arg("event_id"))
        return _pipe(op, "src_pipe"), _pipe(op, "dst_pipe"), number

    def set(self, op: Op) -> None:
        self.judge.syncs += 1
        key = self.key(op)
        src, dst, id = key
        if not 0 <= id < self.judge.target.event_ids:
            self.fault(op, f"there is no id {id}")
        if self.flags.get(key) is not None:
            self.fault(op, f"{key} is set already")
        elif self.waited.get(key, 0) > self.clock(src).get(dst, 0):
            self.fault(op, f"{key} may still be set: {src} does not know of the last wait")
        self.flags[key] = {**self.clock(src), src: self.given.get(src, 0)}

    def wait(self, op: Op) -> None:
        key = self.key(op)
        told = self.flags.get(key)
        if told is None:
            self.fault(op, f"{key} is not set: it hangs")
            told = {}
        self.flags[key] = None
        clock = self.clock(key[1])
        for pipe, count in told.items():
            clock[pipe] = max(clock.get(pipe, 0), count)
        self.given[key[1]] = self.given.get(key[1], 0) + 1
        self.waited[key] = self.given[key[1]]

    def barrier(self, pipe: str) -> None:
        self.judge.syncs += 1
        if pipe == "ALL":
            for each in self.judge.target.pipes:
                self.known[each] = dict(self.given)
        elif pipe in self.judge.target.barriers:
            self.clock(pipe)[pipe] = self.given.get(pipe, 0)

    def access(self, op: Op) -> None:
        for phase in TABLE[op.name].phases(op, self.judge.target.name):
            reads = [self.bytes(op, v) for g in phase.reads for v in op.args[g]]
            writes = [self.bytes(op, v) for g in phase.writes for v in op.args[g]]
            for earlier in self.done:
                self.compare(earlier, op, phase.pipe, reads, writes)
            self.given[phase.pipe] = self.given.get(phase.pipe, 0) + 1
            self.done.append(Done(op, phase.pipe, self.given[phase.pipe], reads, writes))

    def compare(self, earlier: Done, op: Op, pipe: str, reads: list[Bytes], writes: list[Bytes]) -> None:
        pairs = ((Hazard.RAW, earlier.writes, reads), (Hazard.WAR, earlier.reads, writes),
                 (Hazard.WAW, earlier.writes, writes))
        for hazard, first, second in pairs:
            if not any(a.meets(b) for a in first for b in second):
                continue
            if earlier.pipe == pipe and ordered_on_pipe(self.judge.target, pipe, hazard):
                continue
            if self.clock(pipe).get(earlier.pipe, 0) < earlier.number:
                self.fault(op, f"{hazard.value} of {earlier.op.name} at line {earlier.op.loc.line or earlier.op.line}")

    # Bytes

    def handle(self, op: Op) -> Handle | Window:
        if op.name == "pto.alloc_tile":
            type_ = op.result.type
            assert isinstance(type_, TileBufType)
            return Handle(self.number(op.arg("addr")), type_, 0, 0)
        if op.name == "pto.subview":
            source = self.tile(op.arg("source"))
            row, col = (self.number(v) for v in op.args["offsets"])
            return Handle(source.base, source.stored, source.row + row, source.col + col)
        if op.name in ("pto.treshape", "pto.bitcast"):
            source, shape = self.tile(op.arg("src")), op.result.type
            assert (source.row, source.col) == (0, 0) and isinstance(shape, TileBufType)
            return Handle(source.base, shape, 0, 0)
        if op.name == "pto.make_tensor_view":
            sizes = [self.number(v) for v in op.args["shape"]]
            strides = [self.number(v) for v in op.args["strides"]]
            return Window(op.arg("ptr").name, strides, [0] * len(sizes), sizes)
        assert op.name == "pto.partition_view", op.name
        view = self.env[op.arg("source")]
        assert isinstance(view, Window)
        inner = [self.number(v) for v in op.args["offsets"]]
        offsets = [a + b for a, b in zip(view.offsets, inner, strict=True)]
        return Window(view.pointer, view.strides, offsets, [self.number(v) for v in op.args["sizes"]])

    def tile(self, value: Value) -> Handle:
        found = self.env[value]
        assert isinstance(found, Handle)
        return found

    def bytes(self, op: Op, value: Value) -> Bytes:
        if isinstance(value.type, TileBufType):
            tile = self.tile(value)
            return Bytes(tile.stored.loc.name, _tile_mask(tile, value.type.rows, value.type.cols))
        if isinstance(value.type, PtrType):
            return Bytes(value.name, 1 << self.number(op.arg("offset")))
        window = self.env[value]
        assert isinstance(window, Window)
        places = [0]
        for stride, offset, size in zip(window.strides, window.offsets, window.sizes, strict=True):
            places = [p + stride * (offset + k) for p in places for k in range(size)]
        mask = 0
        for p in places:
            mask |= 1 << p
        return Bytes(window.pointer, mask)


def _tile_mask(tile: Handle, rows: int, cols: int) -> int:
    mask, size = 0, tile.stored.dtype.bytes
    for r in range(tile.row, tile.row + rows):
        for c in range(tile.col, tile.col + cols):
            mask |= ((1 << size) - 1) << (tile.base + size * _element(tile.stored, r, c))
    return mask


def _element(t: TileBufType, r: int, c: int) -> int:
    """The place of an element, in elements (PTO-ISA, tile storage)."""
    if t.slayout is SLayout.NONE:
        return r * t.cols + c if t.blayout is BLayout.ROW else c * t.rows + r
    long = 16 if t.fractal == 1024 else 32 // t.dtype.bytes
    high, wide = (16, long) if t.slayout is SLayout.ROW else (long, 16)
    br, ir, bc, ic = r // high, r % high, c // wide, c % wide
    box = high * wide
    start = (br * t.cols * high + bc * box) if t.blayout is BLayout.ROW else (bc * t.rows * wide + br * box)
    return start + (ir * wide + ic if t.slayout is SLayout.ROW else ic * high + ir)


def _pipe(op: Op, attr: str) -> str:
    named = op.attrs[attr]
    assert isinstance(named, EnumAttr)
    return named.member.removeprefix("PIPE_")


def _arith(op: Op, args: list[object]) -> object:
    if op.name == "arith.constant":
        return op.attrs["value"]
    if op.name in ("arith.index_cast", "arith.extsi", "arith.trunci"):
        return args[0]
    a, b = args[0], args[-1]
    if not isinstance(a, int) or not isinstance(b, int):
        return 0.0
    if op.name == "arith.cmpi":
        compare = {"eq": a == b, "ne": a != b, "slt": a < b, "sle": a <= b, "sgt": a > b, "sge": a >= b}
        return compare[str(op.attrs["predicate"])]
    return {
        "arith.addi": a + b, "arith.subi": a - b, "arith.muli": a * b, "arith.minsi": min(a, b),
        "arith.maxsi": max(a, b), "arith.divsi": abs(a) // (abs(b) or 1), "arith.remsi": abs(a) % (abs(b) or 1),
    }[op.name]
