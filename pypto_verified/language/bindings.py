"""What names stand for while the statements of a kernel are translated: bound where they are assigned, and known no
longer where paths meet that differ in them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import contextmanager

from pypto_verified.ir.expr import Var
from pypto_verified.ir.types import Type
from pypto_verified.language.expressions import Expressions
from pypto_verified.language.scope import Unsettled
from pypto_verified.language.statics import Statics


def define(x: Expressions, name: str, t: Type) -> Var:
    """`name` is a variable from here on."""
    var = Var(name, t)
    x.variables[name] = var
    x.statics.assigned(name)
    return var


def bind_static(x: Expressions, name: str, value: object) -> None:
    """`name` is a value that is known here, such as a list or an event."""
    x.variables.pop(name, None)
    x.statics[name] = value


def join(x: Expressions, other: Statics) -> None:
    """Another path ends here."""
    x.statics.join(other, x.variables)
    for name, value in x.statics.items():
        if isinstance(value, Unsettled):
            x.variables.pop(name, None)


@contextmanager
def turns(x: Expressions, body: list[ast.stmt]) -> Iterator[None]:
    """Around the translation of a loop's body."""
    before = x.statics.copy()
    x.statics.enter_loop(body)
    yield
    join(x, before)


def names_of(x: Expressions, target: ast.expr) -> tuple[str, ...]:
    """The names of a target, one or several. LanguageError for one that is no name."""
    nodes = target.elts if isinstance(target, ast.Tuple) else [target]
    names = [n.id for n in nodes if isinstance(n, ast.Name)]
    if len(names) != len(nodes):
        x.fail(target, "a value is unpacked into plain names only", "a, b = ...")
    return tuple(names)
