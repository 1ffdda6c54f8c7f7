"""Which tiles must live in one memory space, and in which: the analysis of InferTileMemorySpace."""

from __future__ import annotations

from dataclasses import dataclass, field

from pypto_verified.ir.expr import Call, Expr, Var
from pypto_verified.ir.stmt import Assign, Eval, For, Function, If, Stmt, While
from pypto_verified.ir.types import TileType
from pypto_verified.layouts import Space
from pypto_verified.ops.registry import lookup
from pypto_verified.passes.rewrite import yielded

PREFERENCE = (Space.VEC, Space.MAT, Space.ACC, Space.LEFT, Space.RIGHT, Space.BIAS, Space.SCALING)
"""When an operand may live in several spaces and must be moved, it goes to the first of these."""


@dataclass(slots=True)
class SpaceClasses:
    """Tiles joined by views, in-place ops, loops and branches. `given`: spaces that producers in the class have of
    themselves; `wanted`: spaces that consumers ask for."""

    parent: dict[str, str] = field(default_factory=dict)
    given: dict[str, list[Space]] = field(default_factory=dict)
    wanted: dict[str, list[Space]] = field(default_factory=dict)

    def find(self, name: str) -> str:
        """The representative of a variable's class."""
        while (up := self.parent.get(name, name)) != name:
            name = up
        return name

    def join(self, a: str, b: str) -> None:
        """Put two variables into one class."""
        a, b = self.find(a), self.find(b)
        if a != b:
            self.parent[b] = a
            self.given.setdefault(a, []).extend(self.given.pop(b, []))
            self.wanted.setdefault(a, []).extend(self.wanted.pop(b, []))

    def choose(self, name: str, is_load: bool) -> Space:
        """The space of a producer that could live in several: that of the others of its class, else what its consumers
        want (anything rather than Vec, which is the default). Global memory loads into Vec and Mat only."""
        root = self.find(name)
        spaces = self.given.get(root) or self.wanted.get(root) or [Space.VEC]
        chosen = next((s for s in spaces if s is not Space.VEC), Space.VEC)
        return Space.MAT if is_load and chosen is not Space.VEC else chosen


def space_classes(function: Function) -> SpaceClasses:
    """The classes of a whole SSA function."""
    classes = SpaceClasses()
    _block(function.body, classes)
    return classes


def is_open(call: Call) -> bool:
    """Whether the op's result may live in several spaces and the author did not say in which."""
    return lookup(call.op).space_keyword and call.kwarg("target_memory") is None


def _block(body: tuple[Stmt, ...], classes: SpaceClasses) -> None:
    for s in body:
        match s:
            case Assign(value=Call() as call, var=var):
                _call(call, var, classes)
            case Eval(call=call):
                _call(call, None, classes)
            case For() | While():
                _block(s.body, classes)
                for a, value, result in zip(s.iter_args, yielded(s.body), s.results, strict=True):
                    _join(classes, a.var, a.init, value, result)
            case If():
                _block(s.then, classes)
                _block(s.orelse, classes)
                for result, x, y in zip(s.results, yielded(s.then), yielded(s.orelse), strict=False):
                    _join(classes, result, x, y)
            case _:
                pass


def _join(classes: SpaceClasses, first: Var, *others: Expr) -> None:
    for other in others:
        if isinstance(other, Var) and isinstance(first.type, TileType):
            classes.join(first.name, other.name)


def _call(call: Call, var: Var | None, classes: SpaceClasses) -> None:
    decl = lookup(call.op)
    for param, arg in zip(decl.params, call.args, strict=False):
        if isinstance(arg, Var) and param.spaces:
            wanted = next(s for s in PREFERENCE if s in param.spaces)
            classes.wanted.setdefault(classes.find(arg.name), []).append(wanted)
    if var is None or not isinstance(var.type, TileType):
        return
    if decl.space_from is not None:
        source = call.args[decl.space_from]
        if isinstance(source, Var):
            classes.join(source.name, var.name)
        return
    space = call.kwarg("target_memory") if decl.space_keyword else decl.out_space
    space = space if space is not None else var.type.space if is_open(call) else None
    if isinstance(space, Space):
        classes.given.setdefault(classes.find(var.name), []).append(space)
