"""A planted fault, and how it is switched on and off.

Most faults are an `Edit`: other words in one place of a function, which then runs other code for whoever calls it, by
whatever name. The rest put another object into a table or a module.
"""

from __future__ import annotations
import __future__

import ast
import importlib
import inspect
import textwrap
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import Enum
from types import CodeType, FunctionType
from typing import TypeAlias

from pypto_verified.records import dataclass

Change: TypeAlias = Callable[[object], object]
"""From the right value of a name to a wrong one."""


@dataclass(frozen=True, slots=True)
class Edit:
    """`new` in the one place of a function's source where `old` stands. Both use the same variables of outer functions.
    """

    old: str
    new: str

    def code(self, right: FunctionType) -> CodeType:
        """The code of the edited function. ValueError when `old` does not stand there exactly once."""
        source = textwrap.dedent(inspect.getsource(right))
        if source.count(self.old) != 1:
            raise ValueError(f"{right.__qualname__} has {source.count(self.old)} places with {self.old!r}")
        (function,) = ast.parse(source.replace(self.old, self.new)).body
        assert isinstance(function, ast.FunctionDef)
        function.decorator_list = []
        outer = ast.parse("def outer():\n    pass")
        holder = outer.body[0]
        assert isinstance(holder, ast.FunctionDef)
        free = [ast.parse(f"{name} = None").body[0] for name in right.__code__.co_freevars]
        holder.body = [ast.Global([function.name]), *free, function]
        module = compile(ast.fix_missing_locations(outer), right.__code__.co_filename, "exec",
                         right.__code__.co_flags & __future__.annotations.compiler_flag, dont_inherit=True)
        return _inner(_inner(module, "outer"), function.name)


def _inner(code: CodeType, name: str) -> CodeType:
    return next(c for c in code.co_consts if isinstance(c, CodeType) and c.co_name == name)


@dataclass(frozen=True, slots=True)
class Fault:
    """One mistake. `module` and `name` (`Class.method`, or `TABLE[key]` for an entry of a table) say where it sits,
    `what` in words what is wrong; `recreates`: ids of mistakes of real compilers and libraries that had this root
    cause; `shared`: in a room that both meanings stand on, so that comparing them alone can't see it."""

    id: str
    module: str
    name: str
    what: str
    change: Change | Edit
    recreates: str = ""
    shared: bool = False

    @property
    def where(self) -> str:
        """The place, from the project's root."""
        return f"{self.module.removeprefix('pypto_verified.').replace('.', '/')}:{self.name}"

    @contextmanager
    def planted(self) -> Iterator[None]:
        """Run with the fault."""
        owner, attribute = self._place()
        if attribute.endswith("]"):
            table, _, key = attribute[:-1].partition("[")
            entries = getattr(owner, table)
            entry = next(k for k in entries if spelt(k) == key)
            assert not isinstance(self.change, Edit), "an entry of a table is replaced"
            right = entries[entry]
            entries[entry] = self.change(right)
            try:
                yield
            finally:
                entries[entry] = right
            return
        right = getattr(owner, attribute)
        if isinstance(self.change, Edit):
            with _edited(right, self.change):
                yield
            return
        setattr(owner, attribute, self.change(right))
        try:
            yield
        finally:
            setattr(owner, attribute, right)

    def _place(self) -> tuple[object, str]:
        owner: object = importlib.import_module(self.module)
        *outer, last = self.name.split(".") if "[" not in self.name else [self.name]
        for part in outer:
            owner = getattr(owner, part)
        return owner, last


@contextmanager
def _edited(right: object, edit: Edit) -> Iterator[None]:
    """The function runs other code; what it remembers is forgotten before and after."""
    function = inspect.unwrap(right.fget if isinstance(right, property) else right)  # type: ignore[arg-type]
    function = getattr(function, "__func__", function)
    assert isinstance(function, FunctionType)
    forget = getattr(right, "cache_clear", lambda: None)
    code = function.__code__
    function.__code__ = edit.code(function)
    forget()
    try:
        yield
    finally:
        function.__code__ = code
        forget()


def spelt(key: object) -> object:
    """A table's key as a fault names it."""
    return key.name if isinstance(key, Enum) else key.__name__ if isinstance(key, type) else key


def always(value: object) -> Change:
    """A function that gives one value."""
    return lambda right: lambda *args, **kwargs: value


def other(module: str, table: str, key: object) -> Change:
    """Another entry of a table."""

    def change(right: object) -> object:
        entries = getattr(importlib.import_module(module), table)
        return next(value for k, value in entries.items() if spelt(k) == key)

    return change


def without(name: str) -> Change:
    """A pipeline without one pass."""

    def change(passes: object) -> object:
        assert isinstance(passes, tuple)
        return tuple(p for p in passes if p.name != name)

    return change


def having(**fields: object) -> Change:
    """A declaration with other fields."""

    def change(right: object) -> object:
        from dataclasses import replace

        return replace(right, **fields)  # type: ignore[type-var]  # declarations are dataclasses

    return change
