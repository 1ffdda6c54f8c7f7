"""Which of the recorded definitions are the file's programs: what a factory makes of different arguments are different
programs, whatever makes the same one again adds nothing."""

from __future__ import annotations

from typing import TypeVar

from pypto_verified.errors import PtoError
from pypto_verified.ir.equal import equal
from pypto_verified.ir.expr import Span
from pypto_verified.ir.stmt import Function, Program
from pypto_verified.language.functions import ABSENT, lower
from pypto_verified.language.markers import KernelMark, ProgramMark, Recorder
from pypto_verified.language.sources import SourceTable

_Key = tuple[str, int]
"""Name and first line of a definition."""
_Definition = TypeVar("_Definition", Program, Function)


def program_of(name: str, functions: tuple[Function, ...]) -> Program:
    """The program of these functions (at least one), which it spans."""
    first, last = functions[0].span, functions[-1].span
    return Program(name, functions, Span(first.file, first.line, first.column, last.end_line, last.end_column))


def _key(name: str, kernel: KernelMark) -> _Key:
    return name, kernel.function.__code__.co_firstlineno


class Collection:
    """The programs and free functions of one module.

    A mistake in what module level defines is raised. A mistake in what a factory made counts if no other arguments
    load; it is only a note if the arguments were not the file's own.
    """

    def __init__(self, module: str, sources: SourceTable) -> None:
        self._module = module
        self._sources = sources
        self._programs: dict[_Key, list[Program]] = {}
        self._free: dict[_Key, list[Function]] = {}
        self._seen = 0, 0
        self._errors: dict[_Key, PtoError] = {}
        self.notes: list[str] = []

    def own(self, recorder: Recorder) -> None:
        """Lower what running the file has recorded. Raises LanguageError or OpError."""
        members = _members(recorder)
        for mark in recorder.programs:
            if mark.cls.__module__ == self._module and mark.kernels:
                key = _key(mark.cls.__name__, mark.kernels[0])
                _add(self._programs.setdefault(key, []), self._lower_program(mark))
        for kernel in recorder.kernels:
            if kernel.function.__module__ == self._module and kernel not in members:
                key = _key(kernel.function.__name__, kernel)
                _add(self._free.setdefault(key, []), self._lower(kernel))
        self._seen = len(recorder.programs), len(recorder.kernels)

    def guessed(self, recorder: Recorder) -> None:
        """Lower what calling the factories has recorded since. Values that are not the file's own add nothing to a
        definition that has a program already."""
        members = _members(recorder)
        classes = {p.cls.__qualname__ for p in recorder.programs}
        for mark in recorder.programs[self._seen[0] :]:
            if mark.cls.__module__ != self._module or not mark.kernels:
                continue
            key = _key(mark.cls.__name__, mark.kernels[0])
            programs = self._programs.setdefault(key, [])
            if mark.certain or not _settled(programs):
                try:
                    _add(programs, self._lower_program(mark))
                except PtoError as e:
                    self._failed(key, mark.certain, e)
        for kernel in recorder.kernels[self._seen[1] :]:
            function = kernel.function
            if kernel in members or function.__qualname__.rpartition(".")[0] in classes:
                continue
            if function.__module__ != self._module:
                continue
            key = _key(function.__name__, kernel)
            functions = self._free.setdefault(key, [])
            if kernel.certain or not _settled(functions):
                try:
                    _add(functions, self._lower(kernel))
                except PtoError as e:
                    self._failed(key, kernel.certain, e)
        for key, error in self._errors.items():
            if self._loaded(key):
                self.notes.append(f"{key[0]}: {error}")

    def _failed(self, key: _Key, certain: bool, error: PtoError) -> None:
        if certain:
            self._errors.setdefault(key, error)
        else:
            self.notes.append(f"{key[0]}: {error}")

    def _loaded(self, key: _Key) -> bool:
        return bool(self._programs.get(key) or self._free.get(key))

    def errors(self) -> tuple[PtoError, ...]:
        """The mistakes in definitions that loaded with no arguments."""
        return tuple(e for key, e in self._errors.items() if not self._loaded(key))

    def _lower(self, kernel: KernelMark) -> Function:
        return lower(kernel, self._sources.of(kernel.function))

    def _lower_program(self, mark: ProgramMark) -> Program:
        return program_of(mark.cls.__name__, tuple(map(self._lower, mark.kernels)))

    def programs(self, stem: str) -> tuple[Program, ...]:
        """The programs in source order, those of one definition in the order in which they were made; the free
        functions are one program, named after the file."""
        functions = tuple(f for made in self._free.values() for f in made)
        free = [program_of(stem, functions)] if functions else []
        return tuple(sorted([*(p for made in self._programs.values() for p in made), *free], key=lambda p: p.span.line))


def _members(recorder: Recorder) -> set[KernelMark]:
    return {k for p in recorder.programs for k in p.kernels}


def _add(known: list[_Definition], new: _Definition) -> None:
    """Add what one definition gave if it differs from what it gave before; a complete one replaces those whose types
    depended on a value that nobody gave."""
    if known and _wanting(new):
        return
    known[:] = [old for old in known if not _wanting(old)]
    if not any(equal(old, new) for old in known):
        known.append(new)


def _settled(known: list[_Definition]) -> bool:
    return bool(known) and not any(map(_wanting, known))


def _wanting(made: Program | Function) -> bool:
    """Whether other arguments could lower more: a type depended on a value that nobody gave."""
    return any(ABSENT in f.opaque for f in (made.functions if isinstance(made, Program) else (made,)))
