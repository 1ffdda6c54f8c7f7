"""Run a kernel file and lower what it defines."""

from __future__ import annotations

import types
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from pypto_verified.errors import InputError, LanguageError, Location, PtoError
from pypto_verified.ir.expr import Span
from pypto_verified.ir.stmt import Function, Program
from pypto_verified.language.discover import factory_calls
from pypto_verified.language.functions import lower
from pypto_verified.language.imports import kernel_imports
from pypto_verified.language.markers import KernelMark, ProgramMark, Recorder
from pypto_verified.language.public import public_names
from pypto_verified.language.sources import SourceFile, SourceTable

_LARGEST = 4_000_000
"""Bytes of the largest file that is read."""


@dataclass(frozen=True, slots=True)
class LoadedFile:
    """The programs of a file in source order; `notes` tell what was found and left out, and why."""

    path: Path
    programs: tuple[Program, ...]
    notes: tuple[str, ...]


def load_file(path: Path, bindings: Mapping[str, object] = MappingProxyType({})) -> LoadedFile:
    """Load a kernel file. Raises InputError (unreadable), LanguageError or OpError (the author's mistakes)."""
    try:
        raw = path.read_bytes()
    except OSError as e:
        raise InputError(f"can't read {path}: {e.strerror}", Location(str(path))) from None
    if len(raw) > _LARGEST:
        raise InputError(f"{path} has {len(raw)} bytes, more than {_LARGEST}", Location(str(path)))
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as e:
        line = raw[: e.start].count(b"\n") + 1
        raise InputError("not UTF-8 text", Location(str(path), line, 0), "save the file as UTF-8") from None
    return load_source(text, str(path), bindings)


def load_source(text: str, file: str, bindings: Mapping[str, object] = MappingProxyType({})) -> LoadedFile:
    """Load a kernel from its text; `file` names it in locations and tells where its sibling modules lie.
    `bindings` are members of `pypto` by path (`ir.compile`) that the file shall get instead of the built-in ones."""
    source = SourceFile(file, text)
    sources = SourceTable()
    sources.add(source)
    path = Path(file)
    tree = source.tree
    with kernel_imports(path.absolute().parent, {**public_names(), **bindings}) as recorder:
        module = _run(source, path.stem)
        direct = len(recorder.programs), len(recorder.kernels)
        notes = [*factory_calls(tree, module, source)]
    return _lowered(path, recorder, direct, sources, notes)


def lower_program(mark: ProgramMark) -> Program:
    """The IR of a `@pl.program` class, for a `compile` that a kernel file calls itself. Raises like `load_file`."""
    sources = SourceTable()
    functions = tuple(lower(k, sources.of(k.function)) for k in mark.kernels)
    return Program(mark.cls.__name__, functions, _span(functions))


def _run(source: SourceFile, stem: str) -> types.ModuleType:
    """The module after its top level ran under the file's own name (so that `__main__` code does not)."""
    module = types.ModuleType(stem)
    module.__file__ = source.name
    try:
        exec(compile(source.tree, source.name, "exec", dont_inherit=True), vars(module))
    except PtoError:
        raise
    except Exception as e:
        raise _python_error(source, e) from e
    except SystemExit:
        raise LanguageError("the file exits when it is loaded", Location(source.name)) from None
    return module


def _python_error(source: SourceFile, error: Exception) -> LanguageError:
    """A Python error at the deepest line of the user's file."""
    line, trace = 0, error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == source.name:
            line = trace.tb_lineno
        trace = trace.tb_next
    text = source.line(line)
    column = len(text) - len(text.lstrip()) + 1 if text else 0
    return LanguageError(
        f"the file stops with {type(error).__name__}: {error}", Location(source.name, line, column),
        "the code at module level must run without a device", text,
    )


def _lowered(
    path: Path, recorder: Recorder, direct: tuple[int, int], sources: SourceTable, notes: list[str]
) -> LoadedFile:
    """Lower programs and free functions, each definition once. A mistake in what module level defines is raised; in
    what was found by calling a factory with guessed arguments it is a note and the next guess counts."""
    programs: dict[tuple[str, int], Program] = {}
    in_programs: set[KernelMark] = set()
    for position, mark in enumerate(recorder.programs):
        in_programs.update(mark.kernels)
        key = (mark.cls.__qualname__, _line(mark))
        if key in programs or not mark.kernels:
            continue
        try:
            functions = tuple(lower(k, sources.of(k.function)) for k in mark.kernels)
        except PtoError as e:
            if position < direct[0]:
                raise
            notes.append(f"{mark.cls.__name__}: {e}")
            continue
        programs[key] = Program(mark.cls.__name__, functions, _span(functions))
    free: dict[tuple[str, int], Function] = {}
    for position, kernel in enumerate(recorder.kernels):
        key = (kernel.function.__qualname__, kernel.function.__code__.co_firstlineno)
        if kernel in in_programs or key in free or _method_of_program(kernel, recorder):
            continue
        try:
            free[key] = lower(kernel, sources.of(kernel.function))
        except PtoError as e:
            if position < direct[1]:
                raise
            notes.append(f"{kernel.function.__name__}: {e}")
    found = [*programs.values()]
    if free:
        found.append(Program(path.stem, tuple(free.values()), _span(tuple(free.values()))))
    unique = tuple(dict.fromkeys(notes))
    return LoadedFile(path, tuple(sorted(found, key=lambda p: p.span.line)), unique)


def _method_of_program(kernel: KernelMark, recorder: Recorder) -> bool:
    """Whether the same definition belongs to a program that another factory call made."""
    name = kernel.function.__qualname__.rpartition(".")[0]
    return any(p.cls.__qualname__ == name for p in recorder.programs)


def _line(mark: ProgramMark) -> int:
    return mark.kernels[0].function.__code__.co_firstlineno if mark.kernels else 0


def _span(functions: tuple[Function, ...]) -> Span:
    first, last = functions[0].span, functions[-1].span
    return Span(first.file, first.line, first.column, last.end_line, last.end_column)
