"""The conductor: load, compile, read back, verify, replay, report. The Python API behind the command.

Every way in which an input can be wrong ends in a finding, never in an exception: one file does not spoil a run.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Never, TypeAlias

from pypto_verified import inputs
from pypto_verified.allow import settle
from pypto_verified.errors import InputError, Location, NotModelled, PtoError
from pypto_verified.findings import (
    OWN_CLAIMS,
    error_finding,
    failed_file,
    internal_error,
    nothing_to_prove,
    second_opinion,
    with_source,
)
from pypto_verified.inputs import Source
from pypto_verified.labels import labels
from pypto_verified.pipe_order import CHECK, Sync
from pypto_verified.report.model import FileResult, Finding, FunctionResult, Report
from pypto_verified.workers import Failure, Workers

if TYPE_CHECKING:
    from pypto_verified.cache import Cache
    from pypto_verified.compiler import Artifact
    from pypto_verified.ir.stmt import Function, Program
    from pypto_verified.pto.module import Module
    from pypto_verified.targets import Target
    from verifiers import Launch, Options

DEFAULT_TARGET = "a2a3"
NOTHING: Mapping[str, Never] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class CheckOptions:
    """What a run assumes and how it goes about it. `target` None: the module's own, else a2a3. `level` None: 3 if the
    module has addresses, else 2. `timeout` in seconds per file, 0 is no limit and no process of its own. `cache`: a
    directory where results of unchanged `.pto` files and answers of the solver are kept, None for none. `passes`: run
    both sides of every pass on random inputs too. `versions`: look up what the report needs to be reproduced. `second`:
    ask a second solver too, and keep the questions there that the two differ in. `baseline`: a file of findings to
    accept. `sync`: who orders the pipes of a function, `assembler`, `explicit` or `insert` (see `pipe_order`)."""

    target: str | None = None
    level: int | None = None
    assume: tuple[str, ...] = ()
    strict: bool = False
    timeout: float = 60.0
    jobs: int = 1
    simulate: bool = True
    seed: int = 0
    cache: Path | None = None
    passes: bool = False
    versions: bool = True
    second: Path | None = None
    baseline: str | None = None
    sync: Sync = "assembler"


Progress: TypeAlias = Callable[[int, int], None]
"""Called with the number of files done and of all files."""


def check_paths(
    paths: Sequence[str], options: CheckOptions = CheckOptions(), progress: Progress | None = None
) -> Report:
    """Check kernels (`.py`), modules (`.pto`) and directories of them. InputError for an assumption or a baseline that
    can't be read, another word for `sync`, or a second solver that is not there; whatever is wrong with a path is in
    the report."""
    if options.sync not in CHECK:
        raise InputError(f"there is no sync={options.sync!r}", help=f"use one of: {', '.join(CHECK)}")
    accepted = None
    if options.baseline is not None:
        from pypto_verified import baseline

        accepted = baseline.read(options.baseline)
    if options.assume:
        from verifiers.assume import check_assumption

        for text in options.assume:
            check_assumption(text)
    if options.second is not None and importlib.util.find_spec("cvc5") is None:
        raise InputError("a second opinion needs the extra: pip install 'pypto-verified[cross]'")
    files: list[str] = []
    found: list[FileResult] = []
    for path in dict.fromkeys(paths):
        try:
            files.extend(inputs.expand([path]))
        except InputError as error:
            found.append(FileResult(path, findings=[error_finding(error, path)]))
    files = sorted(set(files))
    kept = _cache(options) if any(path.endswith(inputs.PTO) for path in files) else None
    if kept is not None:
        found += [result for result in map(kept.get, files) if result is not None]
    known = {result.path for result in found}
    fresh = _check_files([path for path in files if path not in known], options, progress)
    if kept is not None:
        for result in fresh:
            kept.put(result)
    files_checked = found + fresh
    settle(files_checked, _text)
    if accepted is not None:
        baseline.apply(accepted, files_checked)
    return _report(files_checked, options)


def _text(path: str) -> str:
    """The text of a file that was checked, '' if it is gone by now."""
    try:
        return inputs.read(path).text
    except InputError:
        return ""


def _cache(options: CheckOptions) -> Cache | None:
    if options.cache is None:
        return None
    from pypto_verified.cache import Cache

    return Cache(options.cache, repr(replace(options, cache=None, timeout=0, jobs=1, baseline=None)))


def _check_files(files: list[str], options: CheckOptions, progress: Progress | None) -> list[FileResult]:
    """Check files that no cache has: each in a process of its own, unless there is no time limit and one job."""
    if options.timeout or options.jobs > 1:
        if len(files) > 1:
            _preload()
        workers = Workers(partial(check_file, options=options), options.jobs, options.timeout)
        results = workers.run(files, progress)
        return [failed_file(path, r) if isinstance(r, Failure) else r for path, r in zip(files, results, strict=True)]
    found: list[FileResult] = []
    for path in files:
        found.append(check_file(path, options))
        if progress is not None:
            progress(len(found), len(files))
    return found


def _preload() -> None:
    """Import once what every file needs, so that the process forked for each need not. The solver and the simulator
    are in it: with several files one of them is likely to want them."""
    for name in ("pypto_verified.compiler", "pypto_verified.simulator", "verifiers.engine", "verifiers.solver.smt"):
        importlib.import_module(name)


def _report(files: list[FileResult], options: CheckOptions) -> Report:
    from pypto_verified.targets.assumptions import ASSUMPTIONS, reading

    used = {name for file in files for f in file.functions for o in f.obligations for name in o.assumptions}
    targets = sorted({f.target for f in files if f.target}) or [options.target or DEFAULT_TARGET]
    known = {name: reading(name, options.strict) for name in used if name in ASSUMPTIONS}
    return Report(
        target=",".join(targets),
        files=sorted(files, key=lambda f: f.path),
        assumptions=[(name, known.get(name, "given on the command line")) for name in sorted(used)],
        versions=_versions() if options.versions else {},
        claims=_claims(files) if options.versions else {},
    )


def _claims(files: list[FileResult]) -> dict[str, str]:
    """What each rule claims that has a finding."""
    from verifiers.legal import legality_rules
    from verifiers.registry import all_rules

    used = {a.finding.rule for file in files for a in file.accepted}
    used |= {f.rule for file in files for part in file.parts for f in part.findings}
    known = dict(OWN_CLAIMS)
    known.update((rule.id, rule.claim) for rule in all_rules())
    known.update((rule.id, rule.claim) for rule in legality_rules() if rule.id in used)
    return {rule: known[rule] for rule in sorted(used) if rule in known}


def _versions() -> dict[str, str]:
    from pypto_verified.report.versions import versions

    return versions()


def check_file(path: str, options: CheckOptions = CheckOptions()) -> FileResult:
    """Check one file in this process. Whatever is wrong with it, or goes wrong here, is in the result."""
    result = FileResult(path)
    lines: list[str] = []
    try:
        source = inputs.read(path)
        result.sha256 = source.sha256
        lines = source.text.splitlines()
        with contextlib.redirect_stdout(sys.stderr):
            if source.suffix == inputs.PTO:
                _check_pto(source, result, options)
            else:
                _check_kernels(source, result, options)
    except PtoError as error:
        result.findings.append(error_finding(error, path))
    except (Exception, SystemExit) as error:
        result.findings.append(internal_error(error, path))
    for function, label in zip(result.functions, labels(f.name for f in result.functions), strict=True):
        function.name = label
        if not function.obligations and not function.findings:
            function.findings.append(nothing_to_prove(function.name, path))
        function.findings = [with_source(f, path, lines) for f in function.findings]
    result.findings = [with_source(f, path, lines) for f in result.findings]
    if options.second is not None:
        result.notes.append(second_opinion(result))
    result.notes = list(dict.fromkeys(result.notes))
    return result


def _check_kernels(source: Source, result: FileResult, options: CheckOptions) -> None:
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
    _note_unused(result, unused)
    if not result.functions and not loaded.errors:
        here = Location(source.path)
        names = [f.name for program in loaded.programs for f in program.functions]
        if not names:
            raise InputError("no kernel in this file: no @pl.program, @pl.function or @pl.jit", here)
        raise NotModelled(f"orchestration, and this file has nothing else: {', '.join(names)}", here)


def _note_unused(result: FileResult, assumptions: Iterable[str]) -> None:
    for text in sorted(assumptions):
        result.notes.append(f'--assume "{text}" is left out: no kernel of this file has all of its names')


def _check_program(
    program: Program, chip: Target, result: FileResult, options: CheckOptions, unused: set[str]
) -> None:
    """Kernels joined by a pipe are verified as one module, each other kernel alone. A kernel that does not compile has
    an error of its own."""
    from pypto_verified.compiler import kernels_of
    from pypto_verified.pairs import has_pipe, together, without_peer

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
    for group in ([a] for a in alone):
        found.update(_verified(group, chip, result.path, options, unused, launches))
    if ends:
        found.update(_verified(ends, chip, result.path, options, unused, launches))
    if len(ends) == 1:
        without_peer(found[ends[0].function])
    if alone or ends:
        result.notes.extend(_sync_remarks(together([*alone, *ends]), chip, options))
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
        unused.intersection_update(_unused(module, chip, options, names))
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


def _check_pto(source: Source, result: FileResult, options: CheckOptions) -> None:
    from pypto_verified.pto import reader
    from pypto_verified.targets import target

    module = reader.read(source.text, source.path)
    units = [unit for unit in module.units() if any(func.body for func in unit.funcs)]
    if not units:
        raise InputError("no function with a body in this module", Location(source.path))
    unused: list[set[str]] = []
    for unit in units:
        chip = target(options.target or unit.arch or DEFAULT_TARGET)
        result.target = result.target or chip.name
        if options.target and unit.arch and unit.arch != options.target:
            result.notes.append(f"the module is for {unit.arch}; checked for {options.target} as --target says")
        if options.sync == "insert":
            unit = _synchronised(unit, chip, result, options)
        unused.append(set(_unused(unit, chip, options, {})))
        result.functions.extend(verify_module(unit, chip, options))
        result.notes.extend(_sync_remarks(unit, chip, options))
    _note_unused(result, sorted(set.intersection(*unused)))


def _synchronised(module: Module, chip: Target, result: FileResult, options: CheckOptions) -> Module:
    """The module with inserted flags and barriers. It stays built in memory: findings keep the lines of the file."""
    from pypto_verified.sync import insert_sync

    return insert_sync(module, chip, options.strict, result.notes)


def _sync_remarks(module: Module, chip: Target, options: CheckOptions) -> list[str]:
    from verifiers.race.remarks import sync_remarks

    return sync_remarks(module, chip, _verifier_options(options, {}))


def _unused(
    module: Module, chip: Target, options: CheckOptions, names: Mapping[str, Mapping[str, str]]
) -> tuple[str, ...]:
    from verifiers import unused_assumptions

    return unused_assumptions(module, chip, _verifier_options(options, names)) if options.assume else ()


def _verifier_options(
    options: CheckOptions, names: Mapping[str, Mapping[str, str]], outputs: Mapping[str, tuple[str, ...]] = NOTHING,
    launches: Mapping[str, tuple[Launch, ...]] = NOTHING,
) -> Options:
    from verifiers import Options

    level = f"level{options.level}" if options.level else ""
    return Options(
        options.assume, options.strict, options.seed, names, outputs, level, answers=options.cache,
        second=options.second, explicit_sync=options.sync != "assembler", launches=launches)


def verify_module(
    module: Module, chip: Target, options: CheckOptions, names: Mapping[str, Mapping[str, str]] = NOTHING,
    outputs: Mapping[str, tuple[str, ...]] = NOTHING, launches: Mapping[str, tuple[Launch, ...]] = NOTHING,
) -> list[FunctionResult]:
    """The verdicts on a module's functions; `names` gives, by function, what users call the arguments of the text,
    `outputs` which of those the author declared as written only, `launches` how the function is launched."""
    from pypto_verified.witness import replayed
    from verifiers import verify

    results = verify(module, chip, _verifier_options(options, names, outputs, launches))
    if not options.simulate:
        return results
    return [
        replayed(
            r, module, chip, options.seed, names.get(r.name, {}), outputs.get(r.name, ()), options.strict)
        for r in results]
