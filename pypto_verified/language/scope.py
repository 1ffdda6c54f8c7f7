"""What a name or an expression means at compile time: values of the Python scope in which a kernel was written."""

from __future__ import annotations

import ast
import builtins

from pypto_verified.language.markers import KernelMark
from pypto_verified.language.sources import SourceFile
from pypto_verified.records import dataclass


@dataclass(frozen=True, slots=True)
class Unknown:
    """No compile-time value; `why` is the Python error."""

    why: str


@dataclass(frozen=True, slots=True)
class Unsettled(Unknown):
    """A local name without one value at this place; `why` tells what came between."""

    @property
    def help(self) -> str:
        """What to do about it."""
        return "write the value where it is used, or make it once, before the branch or loop"


class Scope:
    """Names visible to a kernel: those of enclosing functions and classes, then module globals, then builtins."""

    def __init__(self, mark: KernelMark, source: SourceFile) -> None:
        function = mark.function
        self._names: dict[str, object] = {**function.__globals__, **mark.scope}
        for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
            try:
                self._names[name] = cell.cell_contents
            except ValueError:
                continue
        self.source = source

    def __contains__(self, name: str) -> bool:
        return name in self._names or hasattr(builtins, name)

    def lookup(self, name: str) -> object:
        """The value of a name, or Unknown."""
        if name in self._names:
            return self._names[name]
        return getattr(builtins, name, Unknown(f"name {name!r} is not defined"))

    def evaluate(self, node: ast.expr) -> object:
        """The value of an expression over these names, or Unknown."""
        match node:
            case ast.Constant():
                return node.value
            case ast.Name():
                return self.lookup(node.id)
            case ast.Attribute():
                owner = self.evaluate(node.value)
                if isinstance(owner, Unknown):
                    return owner
                try:
                    return getattr(owner, node.attr)
                except AttributeError as e:
                    return Unknown(str(e))
        try:
            return eval(compile(ast.Expression(node), self.source.name, "eval"), self._names)
        except Exception as e:
            return Unknown(f"{type(e).__name__}: {e}")
