"""Which tiles must live in one memory space, and in which: the analysis of InferTileMemorySpace."""

from __future__ import annotations

from dataclasses import field

from pypto_verified.ir.expr import Call, Expr, Var
from pypto_verified.ir.stmt import Assign, For, Function, If, Stmt, While
from pypto_verified.ir.types import TileType
from pypto_verified.layouts import Space
from pypto_verified.ops.registry import OPS
from pypto_verified.passes.rewrite import yielded
from pypto_verified.records import dataclass

PREFERENCE = (Space.VEC, Space.MAT, Space.ACC, Space.LEFT, Space.RIGHT, Space.BIAS, Space.SCALING)
"""When an operand may live in several spaces and must be moved, it goes to the first of these."""


@dataclass(slots=True)
class SpaceClasses:
    """Tiles joined by views, in-place ops, loops and branches. `given`: the spaces that producers in the class have of
    themselves."""

    parent: dict[str, str] = field(default_factory=dict)
    given: dict[str, list[Space]] = field(default_factory=dict)

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

    def choose(self, name: str) -> Space:
        """The space of an open tile: that of the others of its class, Vec if there are none."""
        return next(iter(self.given.get(self.find(name), ())), Space.VEC)


def space_classes(function: Function) -> SpaceClasses:
    """The classes of a whole SSA function."""
    classes = SpaceClasses()
    _block(function.body, classes)
    return classes


def is_open(call: Call) -> bool:
    """Whether the result may still live anywhere: an empty tile that was created in Vec, which is also the default."""
    return call.op == "tile.create" and call.kwarg("target_memory") is Space.VEC


def _block(body: tuple[Stmt, ...], classes: SpaceClasses) -> None:
    for s in body:
        match s:
            case Assign(value=Call() as call, var=var):
                _call(call, var, classes)
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


def _call(call: Call, var: Var, classes: SpaceClasses) -> None:
    if not isinstance(var.type, TileType) or is_open(call):
        return
    decl = OPS[call.op]
    if decl.space_from is not None:
        source = call.args[decl.space_from]
        if isinstance(source, Var):
            classes.join(source.name, var.name)
        return
    space = call.kwarg("target_memory") if decl.space_keyword else decl.out_space
    if isinstance(space, Space):
        classes.given.setdefault(classes.find(var.name), []).append(space)
    if decl.inplace is not None:
        target = call.args[decl.inplace]
        if isinstance(target, Var):
            classes.join(target.name, var.name)
