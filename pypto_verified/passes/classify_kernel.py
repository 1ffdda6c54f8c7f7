"""ClassifyKernel: a kernel runs on the cube core or on the vector core."""

from __future__ import annotations

from pypto_verified.errors import NotModelled, PassError
from pypto_verified.ir.changed import replace
from pypto_verified.ir.expr import Call
from pypto_verified.ir.stmt import Assign, Function, FunctionKind
from pypto_verified.ir.types import TileType
from pypto_verified.ir.walk import walk_stmts
from pypto_verified.layouts import Space
from pypto_verified.passes.context import PassContext


def classify_kernel(function: Function, ctx: PassContext) -> Function:
    """AIC if tiles live in the cube core's memories, AIV if in Vec; a kernel without tiles runs on the vector core.

    Requires: a space on every tile. A kind that the author gave is checked. Raises NotModelled for a kernel with tiles
    on both cores, naming a line of each, and PassError for one whose declared kind says otherwise.
    """
    spaces = {t.space for t in ctx.scan(function).tiles if t.space is not None}
    on_vector = Space.VEC in spaces
    on_cube = len(spaces) > on_vector
    if on_vector and on_cube:
        cube, vector = _first(function, vector=False), _first(function, vector=True)
        raise NotModelled(
            f"mixed cube/vector kernel: ExpandMixedKernel ({_what(cube)}; {_what(vector)})", vector.span.location)
    found = FunctionKind.AIC if on_cube else FunctionKind.AIV
    if function.kind in (FunctionKind.AIC, FunctionKind.AIV):
        if spaces and found is not function.kind:
            s = _first(function, on_vector)
            raise PassError(f"{function.kind.value} kernel '{function.name}' has {_what(s)}", s.span.location)
        return function
    return replace(function, kind=found)


def _first(function: Function, vector: bool) -> Assign:
    """The first tile of the vector core, or of the cube core."""
    return next(
        s for s in walk_stmts(function.body)
        if isinstance(s, Assign) and isinstance(s.var.type, TileType) and s.var.type.space is not None
        and (s.var.type.space is Space.VEC) is vector
    )


def _what(s: Assign) -> str:
    assert isinstance(s.var.type, TileType) and s.var.type.space is not None, "asked about a placed tile"
    op = f" of {s.value.op}" if isinstance(s.value, Call) else ""
    return f"'{s.var.name}'{op} in {s.var.type.space.value}, line {s.span.line}"
