"""From a kernel's IR to `.pto`: pipeline, code generation, and the self-check that the text says what was generated."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from pypto_verified.codegen import generate
from pypto_verified.errors import CodegenError, InputError, Location, NotModelled
from pypto_verified.ir.stmt import Function, FunctionKind, Program
from pypto_verified.passes import pipeline
from pypto_verified.pto import reader, writer
from pypto_verified.pto.module import Module
from pypto_verified.targets import Target, target

OnPass = Callable[[str, Function, Function], None]


class OptimizationStrategy(Enum):
    """How much the passes do; there is one strategy."""

    Default = "Default"


class BackendType(Enum):
    """The chips, by the names of the Python API; the value is the target."""

    Ascend910B = "a2a3"
    Ascend950 = "a5"


class MemoryPlanner(Enum):
    """Who gives tiles their addresses: PYPTO and DSA_RP here (level3), PTOAS the assembler (level2, no addresses)."""

    PYPTO = "PYPTO"
    DSA_RP = "DSA_RP"
    PTOAS = "PTOAS"


@dataclass(frozen=True, slots=True)
class Artifact:
    """The `.pto` of one function: its text and the module that reading the text gives."""

    function: str
    text: str
    module: Module


def compile_function(
    function: Function,
    chip: Target,
    planner: MemoryPlanner = MemoryPlanner.PYPTO,
    emit_source_loc: bool = True,
    on_pass: OnPass | None = None,
) -> Artifact:
    """Lower one function to `.pto` and read the text back.

    Raises what the stages raise (PassError, CodegenError, NotModelled), and CodegenError if the text does not read back
    as the module that was generated: a fault of this tool.
    """
    if function.opaque:
        where = Location(function.span.file, function.span.line, function.span.column)
        raise NotModelled(function.opaque.removeprefix("not modelled: "), where)
    lowered = pipeline.run(function, chip, planner.value, on_pass)
    module = generate([lowered], chip, emit_source_loc, planner is not MemoryPlanner.PTOAS)
    text = writer.write(module, emit_source_loc)
    again = reader.read(text)
    if again != module:
        where = Location(function.span.file, function.span.line)
        raise CodegenError(f"internal error: the .pto of {function.name} does not read back as generated", where,
                           "please report this kernel")
    return Artifact(function.name, text, again)


def kernels_of(program: Program) -> tuple[Function, ...]:
    """The functions that become device code: all but orchestration."""
    return tuple(f for f in program.functions if f.kind is not FunctionKind.ORCHESTRATION)


def compile(
    program: Program,
    strategy: OptimizationStrategy = OptimizationStrategy.Default,
    backend_type: BackendType = BackendType.Ascend910B,
    memory_planner: MemoryPlanner = MemoryPlanner.PYPTO,
    output_dir: str | Path | None = None,
    emit_source_loc: bool | None = None,
) -> Path:
    """Compile the kernels of a program and return the output directory (default `build_output/<program>`).

    Writes `ptoas/<function>.pto` and, per pass that changed something, `passes_dump/<function>/NN_<pass>.txt`.
    `emit_source_loc` None follows the environment: `PYPTO_EMIT_PTO_LOC=0` leaves locations out.
    Raises what `compile_function` raises, and InputError if the program has no kernel.
    """
    if emit_source_loc is None:
        emit_source_loc = os.environ.get("PYPTO_EMIT_PTO_LOC", "1") != "0"
    functions = kernels_of(program)
    if not functions:
        where = Location(program.span.file, program.span.line)
        raise InputError(f"program {program.name} has no kernel to compile", where)
    root = Path(output_dir) if output_dir is not None else Path("build_output") / program.name
    chip = target(backend_type.value)
    for function in functions:
        dump = _PassDump(root / "passes_dump" / function.name)
        artifact = compile_function(function, chip, memory_planner, emit_source_loc, dump)
        path = root / "ptoas" / f"{function.name}.pto"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(artifact.text, encoding="utf-8")
    return root


def compile_file(
    kernel: str | Path, output_dir: str | Path, backend_type: BackendType, memory_planner: MemoryPlanner,
    emit_source_loc: bool,
) -> None:
    """Compile every program of a kernel file into one directory. Raises what loading it and `compile` raise."""
    from pypto_verified import inputs, language

    inputs.read(str(kernel))
    programs = language.load_file(Path(kernel)).programs
    if not programs:
        raise InputError("no kernel in this file", Location(str(kernel)))
    for program in programs:
        compile(program, OptimizationStrategy.Default, backend_type, memory_planner, output_dir, emit_source_loc)


class _PassDump:
    """Writes the IR after each pass that changed it, numbered by the pass's place in the pipeline."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.count = 0

    def __call__(self, name: str, before: Function, after: Function) -> None:
        from pypto_verified.ir.printer import print_function

        self.count += 1
        if after is before and self.count > 1:
            return
        self.directory.mkdir(parents=True, exist_ok=True)
        (self.directory / f"{self.count:02}_{name}.txt").write_text(print_function(after), encoding="utf-8")


