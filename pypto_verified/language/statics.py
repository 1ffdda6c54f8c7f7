"""Local names that have a value while a kernel is translated: lists of sizes, element types, events.

Such a value is written wherever its name is used. That is what the kernel says only while every path to the use gives
the name this value, and while nothing that the value mentions is assigned again: else the name is `Unsettled`.
"""

from __future__ import annotations

import ast
from collections.abc import Container, Iterable

from pypto_verified.ir.expr import Var
from pypto_verified.ir.walk import walk_expr
from pypto_verified.language.events import EventMark
from pypto_verified.language.markers import MemRefMark, TypeMark
from pypto_verified.language.scope import Unsettled
from pypto_verified.language.values import is_expr, lift


class Statics(dict[str, object]):
    """The values by name."""

    def copy(self) -> Statics:
        """The same values, apart."""
        return Statics(self)

    def assigned(self, name: str) -> None:
        """A variable is assigned: no value of that name any more, and none that mentions what it was."""
        self.pop(name, None)
        self._again({name})

    def enter_loop(self, body: Iterable[ast.stmt]) -> None:
        """A loop begins, whose later turns follow what its body assigns."""
        stored = {n.id for s in body for n in ast.walk(s) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        for name in stored & self.keys():
            self[name] = Unsettled(f"{name}, which is assigned again in this loop")
        self._again(stored)

    def join(self, other: dict[str, object], variables: Container[str]) -> None:
        """Another path ends here, with `other` values. A name that one path alone knows keeps its value, as the other
        has none to use, unless that one made it a variable."""
        for name in self.keys() | other.keys():
            both = name in self and name in other
            if (not _same(self[name], other[name])) if both else name in variables:
                self[name] = Unsettled(f"{name}, which is not the same on each path to here")
            elif not both:
                self[name] = self.get(name, other.get(name))

    def _again(self, names: set[str]) -> None:
        for held, value in self.items():
            for name in sorted(names & _mentioned(value)):
                self[held] = Unsettled(f"{held}, which mentions {name}, which is assigned again")


def _mentioned(value: object) -> set[str]:
    """The variables that a value mentions."""
    if is_expr(value):
        e = lift(value)
        return {v.name for v in walk_expr(e) if isinstance(v, Var)} if e is not None else set()
    match value:
        case list() | tuple():
            return {name for item in value for name in _mentioned(item)}
        case TypeMark():
            return _mentioned(value.items)
        case MemRefMark() | EventMark():
            return _mentioned(value.slot)
        case _:
            return set()


def _same(a: object, b: object) -> bool:
    return a is b or (type(a) is type(b) and bool(a == b))
