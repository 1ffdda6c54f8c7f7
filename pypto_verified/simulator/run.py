"""Running a function of a `pto.Module`: bind arguments, execute in program order, hand back tensors and faults."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any, TypeAlias, TypeVar

import numpy as np

from pypto_verified.errors import InputError
from pypto_verified.pto.module import Func
from pypto_verified.pto.types import PtrType, ScalarType
from pypto_verified.records import dataclass
from pypto_verified.simulator.errors import Place, SimError, UnmodelledError
from pypto_verified.simulator.machine import Trace
from pypto_verified.simulator.program import Program, Registers, Watch
from pypto_verified.simulator.tile import Buffer, Pointer
from pypto_verified.simulator.values import Array, Scalar, storage
from pypto_verified.targets import Target

MAX_STEPS = 10_000_000
T = TypeVar("T")
Given: TypeAlias = Mapping[str, T] | Mapping[int, T]
"""Arguments by name or by position."""

LAUNCH_ARGUMENTS = {"__pypto_spmd_block_idx": 0, "__pypto_spmd_block_num": 1, "__pypto_spmd_subblock_idx": 2}
"""Arguments that PyPTO adds and its runtime fills in: positions in (block index, block count, lane)."""
OTHER_BLOCK = "other_block_idx"
"""What a witness of two blocks calls the index of the second one."""


@dataclass(slots=True)
class Outcome:
    """What a run leaves: each pointer argument's contents by name, and the faults in the order they happened.

    `stopped`: the last fault ended the run. A replay (see Machine) also gives its suspicions and the lines that ran.
    """

    outputs: dict[str, Array] = field(default_factory=dict)
    errors: list[SimError] = field(default_factory=list)
    stopped: bool = False
    suspicions: list[SimError] = field(default_factory=list)
    visited: set[int] = field(default_factory=set)


def compile(
    func: Func, target: Target, private: frozenset[str] | None = None, declared: bool = False, lone: bool = False,
    watch: Watch | None = None,
) -> Program:
    """Compile once for many runs.

    `private`: allocations that get storage of their own instead of their address. `declared`: for a machine that
    addresses operands as their types say; `lone`: the partner of a pipe is absent (see Machine).
    `watch` sees the tiles that each op wrote.
    """
    return Program(func, target, private, declared, lone, watch)


def run(
    func: Func,
    inputs: Given[Array],
    scalars: Given[Scalar],
    target: Target,
    *,
    block: tuple[int, int] = (0, 1),
    lane: tuple[int, int] = (0, 1),
    max_steps: int = MAX_STEPS,
    trace: Trace | None = None,
) -> Outcome:
    """Run `func` once as block `block` (index, count) and vector lane `lane`.

    `inputs`: an array for each pointer argument, by name or position; it is copied, and its size is the buffer's.
    `scalars`: a number for each other argument. `max_steps` bounds the ops executed in loops. Faults are in the
    outcome; InputError when an argument is missing.
    """
    return execute(compile(func, target), inputs, scalars, block=block, lane=lane, max_steps=max_steps, trace=trace)


def execute(
    program: Program,
    inputs: Given[Array],
    scalars: Given[Scalar],
    *,
    block: tuple[int, int] = (0, 1),
    lane: tuple[int, int] = (0, 1),
    max_steps: int = MAX_STEPS,
    trace: Trace | None = None,
    in_place: bool = False,
    replaying: bool = False,
) -> Outcome:
    """`run` for a compiled program.

    `in_place`: the (contiguous) tensors are themselves read and written. `replaying`: see Machine.
    """
    try:
        env, arrays = _bind(program, inputs, scalars, trace, owned=False, in_place=in_place)
    except SimError as error:
        return Outcome({}, [error], stopped=True)
    machine = program.machine
    stopped = _launch(program, env, block, lane, max_steps, trace, replaying)
    return Outcome(_outputs(program, arrays), machine.errors, stopped, machine.suspicions, machine.visited)


def run_grid(
    program: Program,
    inputs: Given[Array],
    scalars: Given[Scalar],
    blocks: int,
    *,
    lane: tuple[int, int] = (0, 1),
    max_steps: int = MAX_STEPS,
    trace: Trace | None = None,
) -> Outcome:
    """All blocks of a launch, one after the other on one global memory. Two blocks that write the same bytes without
    an atomic are a ConflictError."""
    env, arrays = _bind(program, inputs, scalars, trace, owned=True)
    errors: list[SimError] = []
    stopped = False
    for index in range(blocks):
        stopped |= _launch(program, env, (index, blocks), lane, max_steps, trace)
        errors += program.machine.errors
    return Outcome(_outputs(program, arrays), errors, stopped)


def _argument(given: Given[T], name: str, position: int) -> T:
    known: Mapping[Any, T] = given
    for key in (name, position):
        if key in known:
            return known[key]
    raise InputError(f"no value for argument {position}, %{name}", help="give it by name or by position")


def _bind(
    program: Program, inputs: Given[Array], scalars: Given[Scalar], trace: Trace | None,
    owned: bool, in_place: bool = False,
) -> tuple[Registers, dict[str, Array]]:
    """The registers before the first op, and the arrays given for the pointer arguments."""
    env = program.registers.copy()
    arrays: dict[str, Array] = {}
    for position, (value, cell) in enumerate(zip(program.func.args, program.arguments, strict=True)):
        if value.name in LAUNCH_ARGUMENTS:
            continue
        if isinstance(value.type, ScalarType):
            env[cell] = _argument(scalars, value.name, position)
            continue
        if not isinstance(value.type, PtrType):
            raise UnmodelledError(f"an argument of type {type(value.type).__name__}", Place(value.name))
        array = arrays[value.name] = _argument(inputs, value.name, position)
        content: Array = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
        buffer = program.buffers.get(value.name)
        if in_place:
            buffer = Buffer(value.name, content)
        elif buffer is None or buffer.data.size != array.nbytes:
            buffer = Buffer(value.name, content.copy())
        else:
            buffer.data[...] = content
        program.buffers[value.name] = buffer
        buffer.owner = np.full(array.nbytes, -1, np.int32) if owned else None
        buffer.log = program.machine.log if trace is not None else None
        buffer.written = False
        env[cell] = Pointer(buffer, 0, storage(value.type.dtype))
    return env, arrays


def _launch(
    program: Program, env: Registers, block: tuple[int, int], lane: tuple[int, int], max_steps: int,
    trace: Trace | None, replaying: bool = False,
) -> bool:
    """Run the program; whether a fault stopped it."""
    program.machine.start(block, lane, trace, replaying)
    program.machine.budget = max_steps
    for argument, cell in zip(program.func.args, program.arguments, strict=True):
        if argument.name in LAUNCH_ARGUMENTS:
            env[cell] = (*block, lane[0])[LAUNCH_ARGUMENTS[argument.name]]
    with np.errstate(all="ignore"):
        try:
            for step in program.steps:
                step(env)
        except SimError as error:
            program.machine.errors.append(error)
            return True
    return False


def _outputs(program: Program, arrays: dict[str, Array]) -> dict[str, Array]:
    found: dict[str, Array] = {}
    for name, array in arrays.items():
        buffer = program.buffers[name]
        unchanged = not buffer.written or np.may_share_memory(buffer.data, array)
        found[name] = array if unchanged else buffer.data.copy().view(array.dtype).reshape(array.shape)
    return found
