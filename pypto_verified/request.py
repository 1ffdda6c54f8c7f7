"""What a user asks to be simulated: the kernel, its tensors and numbers under the author's names.

Inputs are written `a=FILE.npy` or `a=KIND` with a KIND of `trials.KINDS`, `randn`, `zeros`, `ones` or `ramp`; where no
type says the shape (a `.pto` argument) `a=KIND:16x64`. Sizes and scalars are written `M=37`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import TypeVar

import numpy as np

from pypto_verified import inputs, language
from pypto_verified.compiler import Artifact, compile_function, kernels_of
from pypto_verified.dtypes import INDEX
from pypto_verified.errors import InputError, Location, PtoError
from pypto_verified.given import array, integer, scalar, shape_of_file
from pypto_verified.index import evaluate
from pypto_verified.ir.expr import Dim, Var
from pypto_verified.ir.index_form import to_index
from pypto_verified.ir.stmt import Direction, Function
from pypto_verified.ir.types import TensorType
from pypto_verified.labels import labels
from pypto_verified.pto.module import Func, Module, Value
from pypto_verified.pto.reader import read
from pypto_verified.pto.types import PtrType, ScalarType
from pypto_verified.pto.walk import walk_ops
from pypto_verified.records import dataclass
from pypto_verified.simulator.errors import SimError, UnmodelledError
from pypto_verified.simulator.replay import tensor_shapes
from pypto_verified.simulator.run import LAUNCH_ARGUMENTS
from pypto_verified.targets import Target, target
from pypto_verified.trials import Array, Scalar, extent, from_memory, in_memory

Chosen = TypeVar("Chosen")
_LAUNCH = {"block_idx": 0, "block_num": 1, "subblock_idx": 0}


@dataclass(frozen=True, slots=True)
class Request:
    """What to run. `inputs` and `sets`: by name, as the user wrote them; `sets` may name block_idx, block_num and
    subblock_idx too. `target`: '' for the one that a `.pto` names, else a2a3. `dumps`: lines of the kernel (or of the
    `.pto`) after which the written tiles are shown. `schedule`: '' for one core in program order, else a schedule of
    `simulator.schedule`, with all cores of the kernel: `blocks` of them on a chip with `cores` cubes; `explicit`: a
    text without any flag or barrier is run as it is, not with those that it needs; `held`: lines whose ops run when
    nothing else can, with schedule `program`."""

    path: str
    function: str = ""
    inputs: Mapping[str, str] = field(default_factory=dict)
    sets: Mapping[str, str] = field(default_factory=dict)
    target: str = ""
    trace: bool = False
    dumps: tuple[int, ...] = ()
    seed: int = 0
    schedule: str = ""
    explicit: bool = False
    blocks: int | None = None
    cores: int | None = None
    held: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Simulation:
    """What a run gave: arrays by name, those that it wrote (`written`), faults in order, what else is wrong with the
    order of the ops (`findings`), and what was assumed where the user said nothing (`notes`)."""

    function: str
    outputs: dict[str, Array]
    written: frozenset[str]
    errors: list[SimError]
    notes: tuple[str, ...]
    findings: tuple[str, ...] = ()

    def exit_code(self) -> int:
        """0 without faults, 3 where all that stopped the run is not modelled, else 1."""
        if self.findings or any(not isinstance(e, UnmodelledError) for e in self.errors):
            return 1
        return 3 if self.errors else 0


@dataclass(frozen=True, slots=True)
class Kernel:
    """A function of `.pto` with the author's names. `types` are the tensor parameters; a `.pto` alone has none."""

    func: Func
    names: Mapping[str, str]
    types: Mapping[str, TensorType]
    directions: Mapping[str, Direction]

    def name(self, argument: Value) -> str:
        return self.names.get(argument.name, argument.name)


@dataclass(frozen=True, slots=True)
class Program:
    """The functions that a request is about, and the module that they stand in; why others do not (`left_out`)."""

    kernels: tuple[Kernel, ...]
    module: Module
    target: Target
    left_out: tuple[str, ...] = ()


def program_of(request: Request) -> Program:
    """The function that a request names, alone in its program. Raises what compiling raises."""
    source = inputs.read(request.path)
    if source.suffix == inputs.PTO:
        units = list(read(source.text, source.path).units())
        known = {f.name: (f, unit) for unit in units for f in unit.funcs if f.body}
        if not request.function and len(entries := known.keys() - _called(units)) == 1:
            known = {name: known[name] for name in entries}
        func, unit = chosen(request, known)
        return Program((Kernel(func, {}, {}, {}),), unit, _chip(request, unit))
    chip = target(request.target or "a2a3")
    function: Function = chosen(request, _functions(request))
    artifact = compile_function(function, chip)
    return Program((_kernel(function, artifact),), artifact.module, chip)


def group_of(request: Request) -> Program:
    """The function that a request names, and all others of its program: some of them may run with it. Those that do not
    compile are left out. Raises what compiling the named one raises."""
    source = inputs.read(request.path)
    if source.suffix == inputs.PTO:
        units = [u for u in read(source.text, source.path).units() if any(f.body for f in u.funcs)]
        homes = {f.name: unit for unit in units for f in unit.funcs if f.body}
        unit = units[0] if len(units) == 1 and not request.function else chosen(request, homes)
        return Program(tuple(Kernel(f, {}, {}, {}) for f in unit.funcs if f.body), unit, _chip(request, unit))
    chip = target(request.target or "a2a3")
    found: list[tuple[Function, Artifact]] = []
    left_out: list[str] = []
    functions = _functions(request)
    for name, function in functions.items():
        try:
            found.append((function, compile_function(function, chip)))
        except PtoError as error:
            if request.function == name or len(functions) == 1:
                raise
            left_out.append(f"{name} is left out: {error}")
    return Program(
        tuple(_kernel(function, artifact) for function, artifact in found),
        Module([f for _, artifact in found for f in artifact.module.funcs], {}), chip, tuple(left_out),
    )


def _functions(request: Request) -> dict[str, Function]:
    loaded = language.load_file(Path(request.path))
    kernels = [f for program in loaded.programs for f in kernels_of(program)]
    return dict(zip(labels(f.name for f in kernels), kernels, strict=True))


def _kernel(function: Function, artifact: Artifact) -> Kernel:
    return Kernel(
        artifact.module.funcs[0], artifact.names,
        {p.var.name: p.var.type for p in function.params if isinstance(p.var.type, TensorType)},
        {p.var.name: p.direction for p in function.params},
    )


def _chip(request: Request, unit: Module) -> Target:
    return target(request.target or ("a5" if unit.arch == "a5" else "a2a3"))


def _called(units: list[Module]) -> set[str]:
    """Names of the functions that others call."""
    funcs = [f for unit in units for f in unit.funcs]
    return {str(op.attrs["callee"]).lstrip("@") for f in funcs for op in walk_ops(f) if op.name == "func.call"}


def chosen(request: Request, functions: Mapping[str, Chosen]) -> Chosen:
    """The function that a request names, or the only one."""
    known = ", ".join(functions)
    where = Location(request.path)
    if request.function:
        if request.function not in functions:
            raise InputError(f"no function {request.function} in this file; it has: {known}", where)
        return functions[request.function]
    if not functions:
        raise InputError("no kernel in this file", where)
    if len(functions) != 1:
        raise InputError(f"which function? this file has: {known}", where, "name one with --function")
    return next(iter(functions.values()))


def launch_of(sets: Mapping[str, str], lanes: int) -> dict[str, int]:
    """The block and lane that the user asks for, on a cube with so many vector `lanes`. InputError for one that no
    launch has."""
    found = {name: integer(name, sets[name]) if name in sets else value for name, value in _LAUNCH.items()}
    count = found["block_num"] if "block_num" in sets else found["block_idx"] + 1
    if not 0 <= found["block_idx"] < count:
        raise InputError(f"--set block_idx={found['block_idx']}: blocks are 0 to {count - 1}")
    if not 0 <= found["subblock_idx"] < lanes:
        raise InputError(f"--set subblock_idx={found['subblock_idx']}: lanes are 0 to {lanes - 1}")
    return found


def scalars_of(kernels: Sequence[Kernel], request: Request, notes: list[str]) -> dict[str, Scalar]:
    """Values of the scalar arguments, by the author's name; a size that nobody sets comes from an input file.
    InputError for one without a value, and for a name nobody has."""
    found: dict[str, Scalar] = {}
    known = {
        k.name(a): a.type for k in kernels for a in k.func.args
        if not isinstance(a.type, PtrType) and a.name not in LAUNCH_ARGUMENTS}
    for name, type_ in known.items():
        if name in request.sets:
            dtype = type_.dtype if isinstance(type_, ScalarType) else INDEX
            found[name] = scalar(name, request.sets[name], dtype)
    for name, (size, path) in _told_by_files(kernels, request).items():
        if name in known and name not in found:
            found[name] = size
            notes.append(f"{name}: {size}, as the shape of {path} says")
    missing = [name for name in known if name not in found]
    if missing:
        raise InputError(
            f"no value for {', '.join(missing)}", Location(request.path),
            "give it: " + " ".join(f"--set {name}=37" for name in missing),
        )
    unknown = sorted(set(request.sets) - set(known) - set(_LAUNCH))
    if unknown:
        names = ", ".join(sorted({*known, *_LAUNCH}))
        raise InputError(f"--set {unknown[0]}: there is no such scalar; there are: {names}")
    return found


def _told_by_files(kernels: Sequence[Kernel], request: Request) -> dict[str, tuple[int, str]]:
    """Names that are a dim of a tensor whose contents are in a file: its extent, and the file."""
    found: dict[str, tuple[int, str]] = {}
    for tensor, path in request.inputs.items():
        type_ = next((k.types[tensor] for k in kernels if tensor in k.types), None)
        if type_ is not None and path.endswith(".npy"):
            for dim, size in zip(type_.shape, shape_of_file(path), strict=False):
                if isinstance(dim, Var):
                    found.setdefault(dim.name, (size, path))
    return found


def by_argument(kernel: Kernel, scalars: Mapping[str, Scalar]) -> dict[str, Scalar]:
    """Scalars under the names that the text has for them."""
    return {a.name: scalars[kernel.name(a)] for a in kernel.func.args if kernel.name(a) in scalars}


def sizes_of(scalars: Mapping[str, Scalar]) -> dict[str, int]:
    return {name: value for name, value in scalars.items() if isinstance(value, int)}


def arrays_of(
    kernels: Sequence[Kernel], request: Request, scalars: Mapping[str, Scalar], notes: list[str],
    own: frozenset[str] = frozenset(),
) -> dict[str, Array]:
    """The contents of the tensors as they lie in memory, by the author's name; a ring of a pipe has no author. `own`:
    tensors that a run makes itself where the user gives nothing for them."""
    random, sizes = np.random.default_rng(request.seed), sizes_of(scalars)
    found: dict[str, Array] = {}
    pointers: dict[str, tuple[Kernel, Value]] = {}
    for kernel in kernels:
        for argument in kernel.func.args:
            if isinstance(argument.type, PtrType):
                pointers.setdefault(kernel.name(argument), (kernel, argument))
    unknown = sorted(set(request.inputs) - set(pointers))
    if unknown:
        raise InputError(f"--input {unknown[0]}: there is no such tensor; there are: {', '.join(pointers)}")
    viewed: dict[str, tuple[int, ...]] = {}
    for kernel in kernels if not any(k.types for k in kernels) else ():
        numbers = by_argument(kernel, scalars)
        views = (op for op in walk_ops(kernel.func) if op.name == "pto.make_tensor_view")
        for dim in (v.name for op in views for v in op.args["shape"]):
            if numbers.get(dim, 0) < 0:
                raise InputError(f"--set {dim}={numbers[dim]}: a dim of a tensor is 0 or more")
        viewed |= tensor_shapes(kernel.func, numbers)
    for name, (kernel, argument) in pointers.items():
        assert isinstance(argument.type, PtrType)
        if (kernel.names and argument.name not in kernel.names) or (name in own and name not in request.inputs):
            continue
        type_ = kernel.types.get(name)
        shape = None if type_ is None else tuple(_extent(name, d, sizes) for d in type_.shape)
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
        found[name] = made if type_ is None else in_memory(made, type_, sizes)
    return found


def _extent(tensor: str, dim: Dim, sizes: Mapping[str, int]) -> int:
    """A dim of the tensor. InputError for a negative one, which no launch passes."""
    size = evaluate(to_index(dim), sizes)
    if size < 0:
        raise InputError(f"{tensor} has a dim of {size} elements", help="--set sizes that are 0 or more")
    return size


def logical(kernels: Sequence[Kernel], name: str, left: Array, sizes: Mapping[str, int]) -> Array:
    """A tensor in the order of its indices, as the author sees it."""
    type_ = next((k.types[name] for k in kernels if name in k.types), None)
    if type_ is None:
        return left
    return from_memory(left, type_, tuple(extent(d, sizes) for d in type_.shape), sizes)
