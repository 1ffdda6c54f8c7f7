"""Run a kernel file and lower what it defines."""

from __future__ import annotations

import sys
import types
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from pypto_verified.errors import InputError, LanguageError, Location, NotModelled, PtoError, told
from pypto_verified.ir.stmt import Program
from pypto_verified.language.collect import Collection, program_of
from pypto_verified.language.discover import factory_calls
from pypto_verified.language.functions import lower
from pypto_verified.language.imports import kernel_imports, package_of
from pypto_verified.language.markers import ProgramMark
from pypto_verified.language.public import public_names
from pypto_verified.language.sources import SourceFile, SourceTable
from pypto_verified.language.stubs import is_stub
from pypto_verified.language.surroundings import is_interrupt, own_surroundings
from pypto_verified.records import dataclass

_LARGEST = 4_000_000
"""Bytes of the largest file that is read."""


@dataclass(frozen=True, slots=True)
class LoadedFile:
    """The programs of a file in source order; `notes` tell what was found and left out, and why; `errors` are the
    author's mistakes in kernels that functions of the file make (those at module level are raised)."""

    path: Path
    programs: tuple[Program, ...]
    notes: tuple[str, ...]
    errors: tuple[PtoError, ...] = ()


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
    The file runs in this process and `pypto` is bound for the whole process meanwhile: one load at a time.
    `bindings` are members of `pypto` by path (`ir.compile`) that the file shall get instead of the built-in ones."""
    source = SourceFile(file, text)
    sources = SourceTable()
    sources.add(source)
    path = Path(file)
    tree = source.tree
    with kernel_imports(path, {**public_names(), **bindings}) as recorder, own_surroundings(file):
        module = _run(source, path)
        collection = Collection(module.__name__, sources)
        collection.own(recorder)
        notes = [*factory_calls(tree, module, source, recorder)]
    collection.guessed(recorder)
    unique = tuple(dict.fromkeys([*notes, *collection.notes]))
    return LoadedFile(path, collection.programs(path.stem), unique, collection.errors())


def lower_program(mark: ProgramMark) -> Program:
    """The IR of a `@pl.program` class, for a `compile` that a kernel file calls itself. Raises like `load_file`."""
    sources = SourceTable()
    return program_of(mark.cls.__name__, tuple(lower(k, sources.of(k.function)) for k in mark.kernels))


def _run(source: SourceFile, path: Path) -> types.ModuleType:
    """The module after its top level ran under the file's own name (so that `__main__` code does not)."""
    package, _ = package_of(path)
    module = types.ModuleType(package if path.stem == "__init__" else f"{package}.{path.stem}".lstrip("."))
    module.__file__ = source.name
    module.__package__ = package
    if path.stem == "__init__":
        module.__path__ = [str(path.absolute().parent)]
    sys.modules.setdefault(module.__name__, module)
    try:
        exec(compile(source.tree, source.name, "exec", dont_inherit=True), vars(module))
    except PtoError:
        raise
    except SystemExit:
        raise LanguageError("the file exits when it is loaded", Location(source.name)) from None
    except BaseException as e:
        if is_interrupt(e):
            raise
        raise _python_error(source, e, vars(module)) from e
    return module


def _python_error(source: SourceFile, error: BaseException, names: Mapping[str, object]) -> PtoError:
    """A Python error at the deepest line of the user's file; NotModelled where it may come of a stub among the file's
    `names`, which has no value of its own (names and imports that fail never do)."""
    if isinstance(error, SyntaxError) and error.filename == source.name:
        return source.not_python(error)
    line, trace = 0, error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == source.name:
            line = trace.tb_lineno
        trace = trace.tb_next
    text = source.line(line)
    column = len(text) - len(text.lstrip()) + 1 if text else 0
    place = Location(source.name, line, column)
    absent = sorted(name for name, value in names.items() if is_stub(value))
    if absent and not isinstance(error, (NameError, ImportError)):
        return NotModelled(
            f"a file that stops with {told(error)}, maybe for want of {', '.join(absent)}", place,
            "keep what these modules compute out of the code at module level", text,
        )
    return LanguageError(
        f"the file stops with {told(error)}", place,
        "the code at module level must run without a device", text,
    )
