"""`pypto-verify simulate`: one run of a kernel or of a `.pto` function on inputs that the user names.

Inputs are written `a=FILE.npy` or `a=KIND` with a KIND of `trials.KINDS`, `randn`, `zeros`, `ones` or `ramp`; where no
type says the shape (a `.pto` argument) `a=KIND:16x64`. Sizes and scalars are written `M=37`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import numpy as np

from pypto_verified import inputs, language, simulator
from pypto_verified.compiler import compile_function, kernels_of
from pypto_verified.errors import InputError, Location
from pypto_verified.given import array, integer, number, of_numpy
from pypto_verified.ir.stmt import Direction, Function
from pypto_verified.ir.types import TensorType
from pypto_verified.labels import labels
from pypto_verified.layouts import Space
from pypto_verified.pto.module import Func, Module, Op, Value
from pypto_verified.pto.reader import read
from pypto_verified.pto.types import PtrType
from pypto_verified.pto.walk import walk_ops
from pypto_verified.simulator.errors import SimError, UnmodelledError
from pypto_verified.simulator.memory import Access
from pypto_verified.simulator.replay import tensor_shapes
from pypto_verified.simulator.run import LAUNCH_ARGUMENTS
from pypto_verified.simulator.tile import Tile
from pypto_verified.targets import Target, target
from pypto_verified.tile_table import table
from pypto_verified.trials import Array, Scalar, extent, from_memory, in_memory

Chosen = TypeVar("Chosen")
_LAUNCH = {"block_idx": 0, "block_num": 1, "subblock_idx": 0}


@dataclass(frozen=True, slots=True)
class Request:
    """What to run. `inputs` and `sets`: by name, as the user wrote them; `sets` may name block_idx, block_num and
    subblock_idx too. `target`: '' for the one that a `.pto` names, else a2a3. `dumps`: lines of the kernel (or of the
    `.pto`) after which the written tiles are shown."""

    path: str
    function: str = ""
    inputs: Mapping[str, str] = field(default_factory=dict)
    sets: Mapping[str, str] = field(default_factory=dict)
    target: str = ""
    trace: bool = False
    dumps: tuple[int, ...] = ()
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Simulation:
    """What a run gave: arrays by name, those that it wrote (`written`), faults in order, and what was assumed where the
    user said nothing (`notes`)."""

    function: str
    outputs: dict[str, Array]
    written: frozenset[str]
    errors: list[SimError]
    notes: tuple[str, ...]

    def exit_code(self) -> int:
        """0 without faults, 3 for a run that met something not modelled, else 1."""
        if not self.errors:
            return 0
        return 3 if isinstance(self.errors[-1], UnmodelledError) else 1


@dataclass(frozen=True, slots=True)
class _Kernel:
    """A function of `.pto` with the author's names. `types` are the tensor parameters; a `.pto` alone has none."""

    func: Func
    target: Target
    names: Mapping[str, str]
    types: Mapping[str, TensorType]
    directions: Mapping[str, Direction]

    def name(self, argument: Value) -> str:
        return self.names.get(argument.name, argument.name)


def simulate(request: Request, show: Callable[[str], None]) -> Simulation:
    """Run as requested; the trace and the dumps go to `show`, line by line.

    InputError: a file, function, name or value that does not exist or does not fit. Raises what compiling raises.
    """
    kernel = _kernel(request)
    chip = kernel.target
    launch = _launch(request.sets)
    scalars = _scalars(kernel, request)
    notes: list[str] = []
    arrays = _arrays(kernel, request, scalars, notes)
    by_argument = {a.name: kernel.name(a) for a in kernel.func.args}
    watched = _Shown(request, show, by_argument)
    lone = any(op.name.startswith(("pto.tpop_", "pto.tpush_")) for op in walk_ops(kernel.func))
    if lone:
        notes.append("the other core of the pipe is absent: what is popped is arbitrary, what is pushed is dropped")
    program = simulator.compile(kernel.func, chip, lone=lone, watch=watched.tiles if request.dumps else None)
    outcome = simulator.execute(
        program, arrays, scalars, block=(launch["block_idx"], max(launch["block_num"], launch["block_idx"] + 1)),
        lane=(launch["subblock_idx"], chip.lanes_per_cube), trace=watched.accesses if request.trace else None,
    )
    if request.dumps and not watched.shown:
        notes.append(f"no op that writes a tile stands at line {', '.join(map(str, request.dumps))}")
    sizes = _sizes(kernel, scalars)
    outputs = {
        by_argument[name]: _logical(kernel, by_argument[name], left, sizes)
        for name, left in outcome.outputs.items() if not kernel.names or name in kernel.names
    }
    written = frozenset(by_argument[n] for n, buffer in program.buffers.items() if buffer.written) & set(outputs)
    return Simulation(kernel.func.name, outputs, written, outcome.errors, tuple(notes))


def _kernel(request: Request) -> _Kernel:
    source = inputs.read(request.path)
    if source.suffix == inputs.PTO:
        units = list(read(source.text, source.path).units())
        known = {f.name: (f, unit.arch) for unit in units for f in unit.funcs if f.body}
        if not request.function and len(entries := known.keys() - _called(units)) == 1:
            known = {name: known[name] for name in entries}
        func, arch = _chosen(request, known)
        return _Kernel(func, target(request.target or ("a5" if arch == "a5" else "a2a3")), {}, {}, {})
    chip = target(request.target or "a2a3")
    loaded = language.load_file(Path(request.path))
    kernels = [f for program in loaded.programs for f in kernels_of(program)]
    functions = dict(zip(labels(f.name for f in kernels), kernels, strict=True))
    function: Function = _chosen(request, functions)
    artifact = compile_function(function, chip)
    return _Kernel(
        artifact.module.funcs[0], chip, artifact.names,
        {p.var.name: p.var.type for p in function.params if isinstance(p.var.type, TensorType)},
        {p.var.name: p.direction for p in function.params},
    )


def _called(units: list[Module]) -> set[str]:
    """Names of the functions that others call."""
    funcs = [f for unit in units for f in unit.funcs]
    return {str(op.attrs["callee"]).lstrip("@") for f in funcs for op in walk_ops(f) if op.name == "func.call"}


def _chosen(request: Request, functions: Mapping[str, Chosen]) -> Chosen:
    known = ", ".join(functions) or "none"
    where = Location(request.path)
    if request.function:
        if request.function not in functions:
            raise InputError(f"no function {request.function} in this file; it has: {known}", where)
        return functions[request.function]
    if len(functions) != 1:
        raise InputError(f"which function? this file has: {known}", where, "name one with --function")
    return next(iter(functions.values()))


def _launch(sets: Mapping[str, str]) -> dict[str, int]:
    return {name: integer(name, sets[name]) if name in sets else value for name, value in _LAUNCH.items()}


def _scalars(kernel: _Kernel, request: Request) -> dict[str, Scalar]:
    """Values of the scalar arguments, by argument. InputError for one without a value, and for a name nobody has."""
    found: dict[str, Scalar] = {}
    known, missing = set(_LAUNCH), []
    for argument in kernel.func.args:
        if isinstance(argument.type, PtrType) or argument.name in LAUNCH_ARGUMENTS:
            continue
        name = kernel.name(argument)
        known.add(name)
        if name in request.sets:
            found[argument.name] = number(name, request.sets[name])
        else:
            missing.append(name)
    if missing:
        raise InputError(
            f"no value for {', '.join(missing)}", Location(request.path),
            "give it: " + " ".join(f"--set {name}=37" for name in missing),
        )
    unknown = sorted(set(request.sets) - known)
    if unknown:
        raise InputError(f"--set {unknown[0]}: there is no such scalar; there are: {', '.join(sorted(known))}")
    return found


def _sizes(kernel: _Kernel, scalars: Mapping[str, Scalar]) -> dict[str, int]:
    return {kernel.names.get(a, a): value for a, value in scalars.items() if isinstance(value, int)}


def _arrays(
    kernel: _Kernel, request: Request, scalars: Mapping[str, Scalar], notes: list[str]
) -> dict[str, Array]:
    """The contents of the tensors as they lie in memory, by argument."""
    random, sizes = np.random.default_rng(request.seed), _sizes(kernel, scalars)
    found: dict[str, Array] = {}
    pointers = {kernel.name(a): a for a in kernel.func.args if isinstance(a.type, PtrType)}
    viewed = {} if kernel.types else tensor_shapes(kernel.func, scalars)
    unknown = sorted(set(request.inputs) - set(pointers))
    if unknown:
        raise InputError(f"--input {unknown[0]}: there is no such tensor; there are: {', '.join(pointers)}")
    for name, argument in pointers.items():
        assert isinstance(argument.type, PtrType)
        if kernel.names and argument.name not in kernel.names:
            found[argument.name] = np.zeros(0, np.uint8)  # the ring of a pipe: a lone core does not touch it
            continue
        type_ = kernel.types.get(name)
        shape = None if type_ is None else tuple(extent(d, sizes) for d in type_.shape)
        text = request.inputs.get(name)
        if text is None:
            # Integers may be indices: small ones are more often where they ought to be.
            text = "randn" if argument.type.dtype.is_float else "small"
            text = "zeros" if kernel.directions.get(name) is Direction.OUT else text
            size = f" {list(viewed[name])} as its view says" if name in viewed else ""
            notes.append(f"{name}: {text}{size}, since no --input names it")
        if type_ is None and ":" not in text and not text.endswith(".npy"):
            shape = viewed.get(name)
        made = array(name, text, argument.type.dtype, shape, random)
        found[argument.name] = made if type_ is None else in_memory(made, type_, sizes)
    return found


def _logical(kernel: _Kernel, name: str, left: Array, sizes: Mapping[str, int]) -> Array:
    type_ = kernel.types.get(name)
    if type_ is None:
        return left
    return from_memory(left, type_, tuple(extent(d, sizes) for d in type_.shape), sizes)


def save(simulation: Simulation, directory: Path) -> list[Path]:
    """Write each tensor after the run as `NAME.npy` (bfloat16 and 8-bit floats as f32 numbers). OSError where that
    fails."""
    directory.mkdir(parents=True, exist_ok=True)
    written = []
    for name, tensor in simulation.outputs.items():
        path = directory / f"{name}.npy"
        np.save(path, tensor if of_numpy(tensor.dtype) else tensor.astype(np.float32))
        written.append(path)
    return written


@dataclass(slots=True)
class _Shown:
    """Writes the trace and the dumps while the run goes on."""

    request: Request
    show: Callable[[str], None]
    names: Mapping[str, str]
    shown: bool = False

    def accesses(self, op: Op, found: list[Access]) -> None:
        reads = ", ".join(self._range(a) for a in found if not a.writes)
        writes = ", ".join(self._range(a) for a in found if a.writes)
        self.show(f"{_place(op)}  {op.name}  {reads or 'nothing'} -> {writes or 'nothing'}")

    def tiles(self, op: Op, written: list[Tile]) -> None:
        line = op.loc.line if op.loc.file else op.line
        if line not in self.request.dumps or op.name == "pto.alloc_tile":
            return
        for tile in written:
            self.shown = True
            self.show(f"{_place(op)}  {op.name}")
            self.show(table(tile))

    def _range(self, a: Access) -> str:
        """The bytes of an access, first to last; a tensor by the author's name."""
        last = a.start + sum((n - 1) * s for n, s in zip(a.shape, a.strides, strict=True)) + a.itemsize - 1
        owner = self.names.get(a.owner, a.owner) if a.space is Space.GM else f"%{a.owner}"
        return f"{a.space.value} {owner} {a.start}..{last}"


def _place(op: Op) -> str:
    return str(op.loc) if op.loc.file else f"line {op.line}"
