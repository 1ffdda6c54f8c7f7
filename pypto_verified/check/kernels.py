"""The kernels of a `.py` file: compiled, and their text verified."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from pypto_verified.check.module import note_unused, remarks_on_sync, unused_in, verify_module
from pypto_verified.check.options import DEFAULT_TARGET, CheckOptions
from pypto_verified.errors import InputError, Location, NotModelled, PtoError
from pypto_verified.findings import error_finding, internal_error
from pypto_verified.inputs import Source
from pypto_verified.pipe_order import Sync
from pypto_verified.report.model import FileResult, Finding, FunctionResult

if TYPE_CHECKING:
    from pypto_verified.compiler import Artifact
    from pypto_verified.ir.stmt import Function, Program
    from pypto_verified.targets import Target
    from verifiers import Launch


def check_kernels(source: Source, result: FileResult, options: CheckOptions) -> None:
    """Load a file of kernels, compile and verify each. PtoError if it does not load or has no kernel."""
    from pypto_verified import language
    from pypto_verified.targets import target

    chip = target(options.target or DEFAULT_TARGET)
    result.target = chip.name
    loaded = language.load_file(Path(source.path))
    result.notes.extend(loaded.notes)
    result.findings.extend(error_finding(e, source.path) for e in loaded.errors)
    unused = set(options.assume)
    for program in loaded.programs:
        _check_program(program, chip, result, options, unused)
    note_unused(result, unused)
    if not result.functions and not loaded.errors:
        here = Location(source.path)
        names = [f.name for program in loaded.programs for f in program.functions]
        if not names:
            raise InputError("no kernel in this file: no @pl.program, @pl.function or @pl.jit", here)
        raise NotModelled(f"orchestration, and this file has nothing else: {', '.join(names)}", here)


def _check_program(
    program: Program, chip: Target, result: FileResult, options: CheckOptions, unused: set[str]
) -> None:
    """Kernels joined by a pipe, or by flags, are verified as one module, each other kernel alone. A kernel that does
    not compile has an error of its own."""
    from pypto_verified.compiler import kernels_of
    from pypto_verified.pairs import by_flags, has_pipe, together, without_peer

    kernels = kernels_of(program)
    for function in program.functions:
        if function not in kernels:
            kind = function.kind.value.lower()
            result.notes.append(f"{kind} function {function.name} is not modelled, but for how many blocks it launches")
    launches = _launches(program, chip)
    found: dict[str, FunctionResult] = {}
    alone: list[Artifact] = []
    ends: list[Artifact] = []
    for function in kernels:
        made = _compiled(function, chip, result.path, options)
        if isinstance(made, Finding):
            found[function.name] = FunctionResult(function.name, findings=[made])
        else:
            (ends if has_pipe(made) else alone).append(made)
            result.notes.extend(made.notes)
    for group in by_flags(alone):
        found.update(_verified(group, chip, result.path, options, unused, launches))
    if ends:
        found.update(_verified(ends, chip, result.path, options, unused, launches))
    if len(ends) == 1:
        without_peer(found[ends[0].function])
    if alone or ends:
        result.notes.extend(remarks_on_sync(together([*alone, *ends]), chip, options, found.values()))
    for function in kernels:
        result.functions.append(_placed(found[function.name], function, result.path))
        if options.passes:
            _check_passes(function, chip, result, options)


def _launches(program: Program, chip: Target) -> dict[str, tuple[Launch, ...]]:
    """How the functions of a program launch its kernels, by kernel."""
    from verifiers import Launch

    cores = {"cube": chip.cubes, "vector": chip.cubes * chip.lanes_per_cube}
    found: dict[str, tuple[Launch, ...]] = {}
    for launch in (launch for function in program.functions for launch in function.launches):
        blocks = cores.get(launch.fills, launch.blocks)
        found[launch.kernel] = (
            *found.get(launch.kernel, ()), Launch(blocks, launch.together, launch.span.line))
    return found


def _compiled(function: Function, chip: Target, path: str, options: CheckOptions) -> Artifact | Finding:
    from pypto_verified.compiler import compile_function

    sync: Sync = "insert" if options.sync == "insert" else "assembler"
    try:
        return compile_function(function, chip, sync=sync, strict=options.strict)
    except PtoError as error:
        return error_finding(error, path)
    except Exception as error:
        return internal_error(error, path)


def _verified(
    group: Sequence[Artifact], chip: Target, path: str, options: CheckOptions, unused: set[str],
    launches: Mapping[str, tuple[Launch, ...]],
) -> dict[str, FunctionResult]:
    """The verdicts on kernels that are one module, by name: what their compiled text says. Assumptions that they have
    the names of are taken out of `unused`."""
    from pypto_verified.pairs import together, with_shared_arguments

    group = with_shared_arguments(group) if len(group) > 1 else group
    module, options = together(group), replace(options, level=3)
    names = {a.function: a.names for a in group}
    try:
        unused.intersection_update(unused_in(module, chip, options, names))
        results = verify_module(module, chip, options, names, {a.function: a.outputs for a in group}, launches)
        return {r.name: r for r in results}
    except PtoError as error:
        return {name: FunctionResult(name, findings=[error_finding(error, path)]) for name in names}
    except Exception as error:
        return {name: FunctionResult(name, findings=[internal_error(error, path)]) for name in names}


def _placed(result: FunctionResult, function: Function, path: str) -> FunctionResult:
    """What a rule says about the function as a whole points at its definition: the text has no place for it (CG-17)."""
    span = function.span
    result.findings = [
        f if f.file else replace(f, file=path, line=span.line, column=span.column) for f in result.findings]
    return result


def _check_passes(function: Function, chip: Target, result: FileResult, options: CheckOptions) -> None:
    from pypto_verified.passcheck import check_passes

    finding, note = check_passes(function, chip, options.seed)
    if finding is not None:
        result.functions[-1].findings.append(finding)
    else:
        result.notes.append(note)
