"""From a kernel's IR to `.pto`: pipeline, code generation, and the self-check that the text says what was generated."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from enum import Enum
from pathlib import Path

from pypto_verified import inputs, language
from pypto_verified.codegen import generate
from pypto_verified.errors import CodegenError, InputError, Location, NotModelled
from pypto_verified.ir.printer import print_function
from pypto_verified.ir.stmt import Direction, Function, FunctionKind, Program
from pypto_verified.ir.types import ScalarType, TensorType
from pypto_verified.labels import labels
from pypto_verified.language.markers import ProgramMark
from pypto_verified.language.public import BackendType, OptimizationStrategy
from pypto_verified.passes import pipeline
from pypto_verified.pipe_order import COMPILE
from pypto_verified.pto import reader, writer
from pypto_verified.pto.module import Module
from pypto_verified.pto.types import PtrType
from pypto_verified.records import dataclass
from pypto_verified.targets import Target, target

_LAUNCHERS = (FunctionKind.ORCHESTRATION, FunctionKind.GROUP, FunctionKind.SPMD)


class MemoryPlanner(Enum):
    """Who gives tiles their addresses: PYPTO and DSA_RP here (level3), PTOAS the assembler (level2, no addresses)."""

    PYPTO = "PYPTO"
    DSA_RP = "DSA_RP"
    PTOAS = "PTOAS"


@dataclass(frozen=True, slots=True)
class Artifact:
    """The `.pto` of one function: its text and the module that reading the text gives. `names` maps each argument of
    the text (`arg2`) to the parameter or dynamic size that it is (`M`); `outputs` are those declared `pl.Out`; `notes`
    say what does not hold of inserted flags and barriers under the stricter readings."""

    function: str
    text: str
    module: Module
    names: Mapping[str, str]
    outputs: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def compile_function(
    function: Function,
    chip: Target,
    planner: MemoryPlanner = MemoryPlanner.PYPTO,
    emit_source_loc: bool = True,
    on_pass: pipeline.OnPass | None = None,
    read_back: bool = True,
    sync: str = "assembler",
    strict: bool = False,
) -> Artifact:
    """Lower one function to `.pto` and read the text back; without `read_back` there is no text, only the module.

    `sync` "assembler" leaves the order of the pipes to the assembler or to what the kernel says; "insert" inserts flags
    and barriers in place of what it says (EV-07), with `strict` under the stricter reading of each assumption.
    Raises what the stages raise (PassError, CodegenError, NotModelled), InputError for another `sync`, and CodegenError
    if the text does not read back as the module that was generated: a fault of this tool.
    """
    if function.opaque:
        where = function.span.location
        raise NotModelled(function.opaque, where, function.advice)
    lowered = pipeline.run(function, chip, planner.value, on_pass)
    module = generate([lowered], chip, emit_source_loc, planner is not MemoryPlanner.PTOAS)
    remarks: list[str] = []
    if _inserts(sync):
        from pypto_verified.sync import insert_sync

        module = insert_sync(module, chip, strict, remarks)
    text = ""
    if read_back:
        text, module = _read_back(function, module, emit_source_loc)
    names = _argument_names(function, module)
    declared = {p.var.name for p in function.params if p.direction is Direction.OUT}
    outputs = tuple(a for a, name in names.items() if name in declared)
    return Artifact(function.name, text, module, names, outputs, tuple(remarks))


def _inserts(sync: str) -> bool:
    if sync not in COMPILE:
        raise InputError(f"there is no sync={sync!r}", help=f"use one of: {', '.join(COMPILE)}")
    return sync == "insert"


def _read_back(function: Function, module: Module, locations: bool) -> tuple[str, Module]:
    """The text of a module and what reading it gives, which must be the module."""
    text = writer.write(module, locations)
    again = reader.read(text)
    if again != module:
        where = Location(function.span.file, function.span.line)
        raise CodegenError(f"internal error: the .pto of {function.name} does not read back as generated", where,
                           "please report this kernel")
    return text, again


def _argument_names(function: Function, module: Module) -> dict[str, str]:
    """What the author calls the arguments of the text: tensors come first, then scalars, then sizes (CG-03). A pointer
    that code generation adds behind the tensors has no name."""
    tensors = [p.var.name for p in function.params if isinstance(p.var.type, TensorType)]
    scalars = [p.var.name for p in function.params if isinstance(p.var.type, ScalarType)]
    arguments = module.funcs[0].args
    pointers = [a.name for a in arguments if isinstance(a.type, PtrType)]
    others = [a.name for a in arguments if not isinstance(a.type, PtrType)]
    return dict((*zip(pointers, tensors, strict=False), *zip(others, [*scalars, *function.dynamic], strict=False)))


def kernels_of(program: Program) -> tuple[Function, ...]:
    """The functions that become device code: all but those that launch others."""
    return tuple(f for f in program.functions if f.kind not in _LAUNCHERS)


def compile(
    program: Program | ProgramMark,
    strategy: OptimizationStrategy = OptimizationStrategy.Default,
    backend_type: BackendType = BackendType.Ascend910B,
    memory_planner: MemoryPlanner = MemoryPlanner.PYPTO,
    output_dir: str | Path | None = None,
    emit_source_loc: bool | None = None,
    sync: str = "assembler",
    strict: bool = False,
) -> Path:
    """Compile the kernels of a program, an IR one or the class that `@pl.program` marked, and return the output
    directory (default `build_output/<program>`).

    Writes `ptoas/<function>.pto` and, per pass that changed something, `passes_dump/<function>/NN_<pass>.py`; a second
    kernel of one name is `<function>#2`.
    `emit_source_loc` None follows the environment: `PYPTO_EMIT_PTO_LOC=0` leaves locations out. `sync` and
    `strict` as for `compile_function`.
    Raises what `compile_function` raises, and InputError if the program has no kernel.
    """
    program = _as_ir(program)
    root = Path(output_dir) if output_dir is not None else Path("build_output") / program.name
    _write([program], root, backend_type, memory_planner, emit_source_loc, sync, strict)
    return root


def _write(
    programs: Sequence[Program], root: Path, backend_type: BackendType, memory_planner: MemoryPlanner,
    emit_source_loc: bool | None, sync: str, strict: bool,
) -> list[str]:
    """Compile the kernels of the programs into one directory. The notes of their artifacts."""
    if emit_source_loc is None:
        emit_source_loc = os.environ.get("PYPTO_EMIT_PTO_LOC", "1") != "0"
    for program in programs:
        if not kernels_of(program):
            where = Location(program.span.file, program.span.line)
            raise InputError(f"program {program.name} has no kernel to compile", where)
    functions = [f for program in programs for f in kernels_of(program)]
    chip = target(backend_type.value)
    notes: list[str] = []
    for function, label in zip(functions, labels(f.name for f in functions), strict=True):
        dump = _PassDump(root / "passes_dump" / label)
        artifact = compile_function(function, chip, memory_planner, emit_source_loc, dump, True, sync, strict)
        path = root / "ptoas" / f"{label}.pto"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(artifact.text, encoding="utf-8")
        notes += artifact.notes
    return notes


class PTOCodegen:
    """The code generator of the Python API: the text of a program's kernels in one module."""

    def __init__(self, backend_type: BackendType = BackendType.Ascend910B) -> None:
        self.backend_type = backend_type

    def generate(
        self, program: Program | ProgramMark, emit_tile_addr: bool = True, emit_source_loc: bool = True
    ) -> str:
        """Raises what the pipeline and code generation raise. `emit_tile_addr=False` leaves addresses to the
        assembler."""
        chip = target(self.backend_type.value)
        planner = MemoryPlanner.PYPTO if emit_tile_addr else MemoryPlanner.PTOAS
        lowered = [pipeline.run(f, chip, planner.value) for f in kernels_of(_as_ir(program))]
        return writer.write(generate(lowered, chip, emit_source_loc, emit_tile_addr), emit_source_loc)


def run_script(path: str | Path) -> None:
    """Run a Python file that compiles its kernels itself with `pypto.ir.compile`. Raises what the file raises."""
    bindings = {"ir.compile": compile, "pypto_core.codegen.PTOCodegen": PTOCodegen}
    language.load_file(Path(path), bindings)


def _as_ir(program: Program | ProgramMark) -> Program:
    return program if isinstance(program, Program) else language.lower_program(program)


def compile_file(
    kernel: str | Path, output_dir: str | Path, backend_type: BackendType, memory_planner: MemoryPlanner,
    emit_source_loc: bool | None, sync: str = "assembler", strict: bool = False,
) -> list[str]:
    """Compile every program of a kernel file into one directory. The notes of their artifacts. Raises what loading it
    and `compile` raise."""
    if inputs.read(str(kernel)).suffix == inputs.PTO:
        raise InputError(f"{kernel} is compiled already: compile takes a kernel .py")
    programs = language.load_file(Path(kernel)).programs
    if not programs:
        raise InputError("no kernel in this file", Location(str(kernel)))
    return _write(programs, Path(output_dir), backend_type, memory_planner, emit_source_loc, sync, strict)


class _PassDump:
    """Writes the IR after each pass that changed it, numbered by the pass's place in the pipeline."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.count = 0

    def __call__(self, name: str, before: Function, after: Function) -> None:
        self.count += 1
        if after is before and self.count > 1:
            return
        self.directory.mkdir(parents=True, exist_ok=True)
        (self.directory / f"{self.count:02}_{name}.py").write_text(print_function(after), encoding="utf-8")


