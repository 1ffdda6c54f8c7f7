"""Which of the recorded definitions are the file's programs: each definition once, the best of several guesses."""

from __future__ import annotations

from pypto_verified.errors import PtoError
from pypto_verified.ir.expr import Span
from pypto_verified.ir.stmt import Function, Program
from pypto_verified.language.functions import ABSENT, lower
from pypto_verified.language.markers import KernelMark, ProgramMark, Recorder
from pypto_verified.language.sources import SourceTable

_Key = tuple[str, int]
"""Qualified name and first line of a definition."""


def program_of(name: str, functions: tuple[Function, ...]) -> Program:
    """The program of these functions (at least one), which it spans."""
    first, last = functions[0].span, functions[-1].span
    return Program(name, functions, Span(first.file, first.line, first.column, last.end_line, last.end_column))


def _key(qualified: str, kernel: KernelMark) -> _Key:
    return qualified, kernel.function.__code__.co_firstlineno


class Collection:
    """The programs and free functions of one module.

    A mistake in what module level defines is raised. A mistake in what a factory made counts if no other arguments
    load; it is only a note if the arguments were not the file's own.
    """

    def __init__(self, module: str, sources: SourceTable) -> None:
        self._module = module
        self._sources = sources
        self._programs: dict[_Key, Program] = {}
        self._free: dict[_Key, Function] = {}
        self._seen = 0, 0
        self._errors: dict[_Key, PtoError] = {}
        self.notes: list[str] = []

    def own(self, recorder: Recorder) -> None:
        """Lower what running the file has recorded. Raises LanguageError or OpError."""
        members = _members(recorder)
        for mark in recorder.programs:
            if mark.cls.__module__ == self._module and mark.kernels:
                self._programs[_key(mark.cls.__qualname__, mark.kernels[0])] = self._lower_program(mark)
        for kernel in recorder.kernels:
            if kernel.function.__module__ == self._module and kernel not in members:
                self._free[_key(kernel.function.__qualname__, kernel)] = self._lower(kernel)
        self._seen = len(recorder.programs), len(recorder.kernels)

    def guessed(self, recorder: Recorder) -> None:
        """Lower what calling the factories has recorded since."""
        members = _members(recorder)
        classes = {p.cls.__qualname__ for p in recorder.programs}
        for mark in recorder.programs[self._seen[0] :]:
            if mark.cls.__module__ != self._module or not mark.kernels:
                continue
            key = _key(mark.cls.__qualname__, mark.kernels[0])
            if key in self._programs and not _wanting(self._programs[key].functions):
                continue
            try:
                self._programs[key] = self._lower_program(mark)
            except PtoError as e:
                self._failed(key, mark.certain, e)
        for kernel in recorder.kernels[self._seen[1] :]:
            function = kernel.function
            if kernel in members or function.__qualname__.rpartition(".")[0] in classes:
                continue
            key = _key(function.__qualname__, kernel)
            if function.__module__ != self._module or (key in self._free and not _wanting((self._free[key],))):
                continue
            try:
                self._free[key] = self._lower(kernel)
            except PtoError as e:
                self._failed(key, kernel.certain, e)

    def _failed(self, key: _Key, certain: bool, error: PtoError) -> None:
        if certain:
            self._errors.setdefault(key, error)
        else:
            self.notes.append(f"{key[0].rpartition('.')[2]}: {error}")

    def errors(self) -> tuple[PtoError, ...]:
        """The mistakes in definitions that loaded with no arguments."""
        return tuple(e for key, e in self._errors.items() if key not in self._programs and key not in self._free)

    def _lower(self, kernel: KernelMark) -> Function:
        return lower(kernel, self._sources.of(kernel.function))

    def _lower_program(self, mark: ProgramMark) -> Program:
        return program_of(mark.cls.__name__, tuple(map(self._lower, mark.kernels)))

    def programs(self, stem: str) -> tuple[Program, ...]:
        """The programs in source order; the free functions are one, named after the file."""
        free = [program_of(stem, tuple(self._free.values()))] if self._free else []
        return tuple(sorted([*self._programs.values(), *free], key=lambda p: p.span.line))


def _members(recorder: Recorder) -> set[KernelMark]:
    return {k for p in recorder.programs for k in p.kernels}


def _wanting(functions: tuple[Function, ...]) -> bool:
    """Whether other arguments could lower more: a type depended on a value that nobody gave."""
    return any(ABSENT in f.opaque for f in functions)
