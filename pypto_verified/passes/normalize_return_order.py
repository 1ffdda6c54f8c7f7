"""NormalizeReturnOrder: a kernel returns its written parameters, in order."""

from __future__ import annotations

from pypto_verified.errors import PassError
from pypto_verified.ir.changed import replace
from pypto_verified.ir.expr import Call, Expr, Var
from pypto_verified.ir.stmt import Assign, Direction, For, Function, If, Return, Stmt, While
from pypto_verified.ir.types import TensorType
from pypto_verified.ops.registry import lookup
from pypto_verified.passes.context import PassContext
from pypto_verified.passes.rewrite import yielded


def normalize_return_order(function: Function, ctx: PassContext) -> Function:
    """Make every returned value the Out or InOut parameter that it is the new value of, in the order of declaration.

    A store returns its tensor's new value; loops and branches hand it on. Requires: SSA without copied names.
    Produces: returns are parameter variables, `returns` their types. Raises PassError for a returned value that is no
    written parameter, and for a tensor that two blocks of a branch take from different parameters.
    """
    end = function.body[-1] if function.body else None
    if not isinstance(end, Return):
        return function
    origin = {p.var.name: p.var.name for p in function.params if isinstance(p.var.type, TensorType)}
    _trace(function.body, origin)
    written = {p.var.name: p.var for p in function.params if p.direction is not Direction.IN}
    names: list[str] = []
    for value in end.values:
        name = origin.get(value.name) if isinstance(value, Var) else None
        if name is None or name not in written:
            raise PassError(
                "a kernel returns only tensors that it wrote through an Out or InOut parameter", end.span.location,
                help="store the value into an Out parameter and return that",
            )
        names.append(name)
    values = tuple(written[n] for n in written if n in names)
    if values == end.values:
        return function
    body = (*function.body[:-1], replace(end, values=values))
    return replace(function, body=body, returns=tuple(v.type for v in values))


def _trace(body: tuple[Stmt, ...], origin: dict[str, str]) -> None:
    """Extend `origin` (tensor variable -> parameter) over a block."""
    for s in body:
        match s:
            case Assign(value=Call() as call, var=var) if isinstance(var.type, TensorType):
                position = lookup(call.op).inplace
                if position is not None:
                    _link(origin, var, call.args[position])
            case For() | While():
                for a, result in zip(s.iter_args, s.results, strict=True):
                    _link(origin, a.var, a.init)
                    _link(origin, result, a.init)
                _trace(s.body, origin)
            case If():
                _trace(s.then, origin)
                _trace(s.orelse, origin)
                for result, x, y in zip(s.results, yielded(s.then), yielded(s.orelse), strict=False):
                    _link(origin, result, x)
                    other = origin.get(y.name) if isinstance(y, Var) else None
                    if origin.get(result.name) != other and isinstance(result.type, TensorType):
                        raise PassError(
                            f"'{result.name}' is '{origin.get(result.name)}' in one block of the branch and '{other}' "
                            "in the other", s.span.location, help="store to both tensors under their own names",
                        )
            case _:
                pass


def _link(origin: dict[str, str], var: Var, source: Expr) -> None:
    if isinstance(source, Var) and source.name in origin:
        origin[var.name] = origin[source.name]
