"""Runs under a witness: buffers as large as it says, random contents, until something goes wrong; and comparisons of
such a run with one on a kinder machine.

A witness names arguments as the `.pto` does, and `block_idx`, `block_num`, `subblock_idx`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from math import prod

import numpy as np

from pypto_verified.layouts import Space
from pypto_verified.pto.module import EnumAttr, Func, Op, Value
from pypto_verified.pto.types import PtrType, ScalarType
from pypto_verified.records import dataclass
from pypto_verified.simulator.contents import ANY, SMALL_INTEGERS, Contents
from pypto_verified.simulator.errors import Place, SimError, UnmodelledError
from pypto_verified.simulator.machine import Trace
from pypto_verified.simulator.memory import Access
from pypto_verified.simulator.program import Program, walk
from pypto_verified.simulator.run import MAX_STEPS, Outcome, compile, execute
from pypto_verified.simulator.scalars import pure
from pypto_verified.simulator.values import Array, Scalar, storage
from pypto_verified.targets import Target

DEFAULT_EXTENT = 128
"""An extent of a tensor that the witness does not name."""
UNSHAPED_ELEMENTS = 4096
"""Elements of an argument that no view of known extents describes."""
LARGEST_BYTES = 1 << 30
"""A larger argument is not allocated."""
RANDOM_ELEMENTS = 1 << 22
"""Random elements of a larger argument; the rest is 0, which costs no memory until it is read."""


@dataclass(frozen=True, slots=True)
class Difference:
    """The first element of a tensor that two runs leave differently: on the device, and as it was meant."""

    argument: str
    element: tuple[int, ...]
    device: str
    meant: str

    def __str__(self) -> str:
        return f"%{self.argument} element {self.element} is {self.device} instead of {self.meant}"


@dataclass(slots=True)
class _Evaluation:
    """Numbers and pointers known before the first op that touches memory."""

    numbers: dict[int, Scalar] = field(default_factory=dict)
    pointers: dict[int, tuple[str, int]] = field(default_factory=dict)
    elements: dict[str, int] = field(default_factory=dict)
    shapes: dict[str, tuple[int, ...]] = field(default_factory=dict)

    def all(self, values: tuple[Value, ...]) -> tuple[Scalar, ...] | None:
        """The values as numbers, or None if one is unknown."""
        if any(id(v) not in self.numbers for v in values):
            return None
        return tuple(self.numbers[id(v)] for v in values)


def replay(
    func: Func, witness: Mapping[str, int], target: Target, seed: int = 0, *, max_steps: int = MAX_STEPS,
    private: frozenset[str] | None = None, declared: bool = False, integers: tuple[int, int] = SMALL_INTEGERS,
    trace: Trace | None = None, peer: bool = False,
) -> Outcome:
    """Run `func` under `witness` on random inputs.

    Every pointer argument gets a buffer of exactly what its views describe. `private` names allocations (SSA names of
    `pto.alloc_tile`) that get storage of their own. A scalar that the witness does not name is DEFAULT_EXTENT when it
    is an extent of a tensor, else 1. `declared`: on the machine that addresses operands as their types say. What the
    partner core of a pipe would send is arbitrary. `integers`: what integer tensors hold, from (included) and to (not).
    `trace` sees what each op touched; with `peer` the peer core writes into reserved rings after each instead.
    """
    shapes = shape_operands(func)
    scalars = {a.name: scalar_of(a, witness, a in shapes) for a in func.args if isinstance(a.type, ScalarType)}
    try:
        inputs = inputs_of(func, scalars, seed, Contents(integers))
    except SimError as error:
        return Outcome({}, [error], stopped=True)
    program = compile(func, target, private, declared, lone=True)
    return _once(witness, scalars, inputs, max_steps, program, _peer(program, seed) if peer else trace)


def replay_overlap(
    func: Func, witness: Mapping[str, int], target: Target, private: frozenset[str] | None = None, seed: int = 0, *,
    max_steps: int = MAX_STEPS,
) -> Difference | None:
    """Compare a run with one where allocations have storage of their own; None when results agree.

    `private` None: each allocation in turn. One that is read before it is written (it names another one's bytes on
    purpose: a reshape, the result of a branch) shows nothing that way and is passed over.
    """
    shared = replay(func, witness, target, seed, max_steps=max_steps)
    names = allocations(func) if private is None else ()
    for apart in [frozenset({n}) for n in names] if private is None else [private]:
        separate = replay(func, witness, target, seed, max_steps=max_steps, private=apart)
        if len(separate.errors) <= len(shared.errors):
            found = _difference(shared.outputs, separate.outputs)
            if found is not None:
                return found
    return None


def allocations(func: Func) -> tuple[str, ...]:
    """SSA names of the allocations of a function."""
    ops = walk(func.body) if func.body is not None else ()
    return tuple(op.result.name for op in ops if op.name in ("pto.alloc_tile", "pto.alloc_multi_tile"))


def _difference(shared: Mapping[str, Array], separate: Mapping[str, Array]) -> Difference | None:
    for name, left in shared.items():
        right = separate.get(name, left)
        if np.array_equal(left.view(np.uint8), right.view(np.uint8)):
            continue
        differs = left.view(np.uint8).reshape(-1, left.itemsize) != right.view(np.uint8).reshape(-1, left.itemsize)
        index = int(np.argmax(differs.any(axis=1)))
        return Difference(name, (index,), str(left.reshape(-1)[index]), str(right.reshape(-1)[index]))
    return None


def replay_layout(
    func: Func, witness: Mapping[str, int], target: Target, seed: int = 0, *, max_steps: int = MAX_STEPS
) -> Difference | None:
    """Compare a run with one that addresses operands as their types say; None when results agree."""
    device = replay(func, witness, target, seed, max_steps=max_steps)
    declared = replay(func, witness, target, seed, max_steps=max_steps, declared=True)
    return _difference(device.outputs, declared.outputs)


def replay_peer(
    func: Func, witness: Mapping[str, int], target: Target, seed: int = 0, *, max_steps: int = MAX_STEPS
) -> Difference | None:
    """Compare a run with one in which the peer core writes into the reserved rings after every op; None when results
    agree."""
    alone = replay(func, witness, target, seed, max_steps=max_steps)
    beside = replay(func, witness, target, seed, max_steps=max_steps, peer=True)
    return _difference(beside.outputs, alone.outputs)


def _peer(program: Program, seed: int) -> Trace:
    """What the peer does after an op: it fills the reserved rings with anything."""
    body, random = program.func.body, np.random.default_rng(seed)
    rings = [op.attrs for op in (walk(body) if body is not None else ()) if op.name == "pto.reserve_buffer"]

    def write(op: Op, accesses: list[Access]) -> None:
        for ring in rings:
            space, base, size = ring.get("location"), ring.get("base"), ring.get("size")
            if isinstance(space, EnumAttr) and isinstance(base, int) and isinstance(size, int):
                program.machine.memories[Space(space.member)].data[base:base + size] = random.integers(0, 256, size)

    return write


def written_elements(
    func: Func, witness: Mapping[str, int], target: Target, seed: int = 0, *, max_steps: int = MAX_STEPS
) -> dict[str, Array] | str:
    """Whether a run writes each element of each pointer argument's buffer. What stopped the run, if something did."""
    writes: list[Access] = []

    def note(op: Op, accesses: list[Access]) -> None:
        writes.extend(a for a in accesses if a.writes and a.space is Space.GM)

    outcome = replay(func, witness, target, seed, max_steps=max_steps, trace=note)
    if outcome.stopped:
        return str(outcome.errors[-1])
    written = {name: np.zeros(array.nbytes, np.bool_) for name, array in outcome.outputs.items()}
    for a in writes:
        np.ndarray(a.shape, np.bool_, written[a.owner], a.start, a.strides)[...] = True
    return {name: marks[:: outcome.outputs[name].itemsize] for name, marks in written.items()}


def _once(
    witness: Mapping[str, int], scalars: Mapping[str, Scalar], inputs: Mapping[str, Array],
    max_steps: int, program: Program, trace: Trace | None,
) -> Outcome:
    block = witness.get("block_idx", 0)
    lanes = program.target.lanes_per_cube
    return execute(
        program, inputs, scalars, max_steps=max_steps, in_place=True, replaying=True, trace=trace,
        block=(block, witness.get("block_num", block + 1)), lane=(witness.get("subblock_idx", 0), lanes),
    )


def shape_operands(func: Func) -> set[Value]:
    """Values that an extent of a tensor is computed from."""
    found: set[Value] = set()
    for op in reversed(func.body.ops if func.body is not None else ()):
        if op.name == "pto.make_tensor_view":
            found.update(op.args.get("shape", ()))
        elif op.name.startswith("arith.") and op.result in found:
            found.update(op.operands())
    return found


def scalar_of(argument: Value, witness: Mapping[str, int], is_extent: bool, contents: Contents = ANY) -> Scalar:
    """The value of an argument."""
    if isinstance(argument.type, ScalarType) and argument.type.dtype.is_float:
        return float(witness[argument.name]) if argument.name in witness else contents.number(argument.name)
    return witness.get(argument.name, DEFAULT_EXTENT if is_extent else 1)


def inputs_of(
    func: Func, scalars: Mapping[str, Scalar], seed: int, contents: Contents
) -> dict[str, Array]:
    """An array for each pointer argument. UnmodelledError for one that is too large."""
    sizes = _sizes(func, scalars)
    random = np.random.default_rng((seed, contents.mix) if contents.among else seed)
    found: dict[str, Array] = {}
    for argument in func.args:
        if isinstance(argument.type, PtrType):
            kind = storage(argument.type.dtype)
            count = sizes.get(argument.name, UNSHAPED_ELEMENTS)
            if count * kind.itemsize > LARGEST_BYTES:
                raise UnmodelledError(f"a tensor of {count * kind.itemsize} bytes", Place(argument.name))
            some = min(count, RANDOM_ELEMENTS)
            found[argument.name] = np.zeros(count, kind)
            found[argument.name][:some] = contents.elements(kind, some, random)
    return found


def _sizes(func: Func, scalars: Mapping[str, Scalar]) -> dict[str, int]:
    """Elements behind each pointer: the farthest element of any view whose shape is known before the first loop."""
    return _evaluated(func, scalars).elements


def tensor_shapes(func: Func, scalars: Mapping[str, Scalar]) -> dict[str, tuple[int, ...]]:
    """The shape of each pointer argument, as the view says that covers all of it row by row; else its elements in one
    row. UNSHAPED_ELEMENTS where no view of known extents describes it."""
    known = _evaluated(func, scalars)
    found = {}
    for argument in func.args:
        if isinstance(argument.type, PtrType):
            count = known.elements.get(argument.name, UNSHAPED_ELEMENTS)
            shape = known.shapes.get(argument.name, ())
            found[argument.name] = shape if prod(shape) == count and shape else (count,)
    return found


def _evaluated(func: Func, scalars: Mapping[str, Scalar]) -> _Evaluation:
    """What is known before the first loop."""
    known = _Evaluation()
    for argument in func.args:
        if isinstance(argument.type, PtrType):
            known.pointers[id(argument)] = (argument.name, 0)
        elif argument.name in scalars:
            known.numbers[id(argument)] = scalars[argument.name]
    for op in func.body.ops if func.body is not None else ():
        if op.name == "arith.constant":
            known.numbers[id(op.result)] = _constant(op)
        elif op.name.startswith("arith."):
            _evaluate(op, known)
        elif op.name == "pto.addptr":
            offset = known.all(op.args["offset"])
            base = known.pointers.get(id(op.arg("ptr")))
            if offset is not None and base is not None:
                known.pointers[id(op.result)] = (base[0], base[1] + int(offset[0]))
        elif op.name == "pto.make_tensor_view":
            _measure(op, known)
    return known


def _constant(op: Op) -> Scalar:
    value = op.attrs["value"]
    return value if isinstance(value, int | float) else 0


def _evaluate(op: Op, known: _Evaluation) -> None:
    operands = known.all(tuple(op.operands()))
    if operands is not None:
        try:
            known.numbers[id(op.result)] = pure(op)(*operands)
        except SimError:
            return  # the run itself will report it, at its op


def _measure(op: Op, known: _Evaluation) -> None:
    base = known.pointers.get(id(op.arg("ptr")))
    shape, strides = known.all(op.args.get("shape", ())), known.all(op.args.get("strides", ()))
    if base is None or shape is None or strides is None:
        return
    empty = any(int(n) <= 0 for n in shape)
    last = sum((int(n) - 1) * int(s) for n, s in zip(shape, strides, strict=True))
    needed = 0 if empty else base[1] + last + 1
    known.elements[base[0]] = max(known.elements.get(base[0], 0), needed)
    extents = tuple(int(n) for n in shape)
    if base[1] == 0 and strides == tuple(prod(extents[i + 1 :]) for i in range(len(extents))):
        known.shapes.setdefault(base[0], extents)
