"""The heads of loops: targets, bounds, and what they carry from one turn to the next."""

from __future__ import annotations

import ast

from pypto_verified.dtypes import INDEX
from pypto_verified.ir.expr import Const, Expr, MakeTuple, Var
from pypto_verified.ir.stmt import IterArg
from pypto_verified.ir.types import ScalarType
from pypto_verified.language.bindings import names_of
from pypto_verified.language.expressions import Expressions
from pypto_verified.language.scalars import cast
from pypto_verified.ops.args import describe, type_of

_LOOP_HINTS = frozenset({"init_values", "stage", "chunk", "chunk_policy", "attrs"})
"""Parameters that are hints to the compiler and do not change what a loop computes, and the init values."""


def loop_target(x: Expressions, node: ast.For) -> tuple[str, tuple[str, ...]]:
    """(the loop variable, the names that are carried)."""
    match node.target:
        case ast.Name():
            return node.target.id, ()
        case ast.Tuple(elts=[ast.Name() as loop, (ast.Tuple() | ast.Name()) as carried]):
            return loop.id, names_of(x, carried)
        case _:
            x.fail(node.target, "a loop's target is a name, or a name and a tuple of carried names",
                   "for i, (acc,) in pl.range(n, init_values=(zero,)):")


def loop_bounds(x: Expressions, call: ast.Call) -> tuple[Expr, Expr, Expr]:
    """(start, stop, step)."""
    for keyword in call.keywords:
        if keyword.arg not in _LOOP_HINTS:
            x.fail(keyword, f"a loop has no parameter {keyword.arg!r}", "start, stop, step, init_values")
    given = [x.expression(a) for a in call.args]
    if not 1 <= len(given) <= 3:
        x.fail(call, f"{len(given)} loop bounds",
               "pl.range(stop), pl.range(start, stop) or pl.range(start, stop, step)")
    for node, bound in zip(call.args, given, strict=True):
        t = type_of(bound)
        if not (isinstance(t, ScalarType) and t.dtype.is_integer):
            x.fail(node, f"a loop bound must be an integer, got {describe(t)}", "convert it with pl.cast")
    start, stop, step = ([Const(0), *given, Const(1)] if len(given) == 1 else [*given, Const(1)])[:3]
    if isinstance(step, Const) and step.value <= 0:
        x.fail(call, f"the step must be positive, got {step.value}", "count up and use n - 1 - i in the body")
    return cast(start, INDEX), cast(stop, INDEX), cast(step, INDEX)


def carried_values(x: Expressions, node: ast.For, call: ast.Call, names: tuple[str, ...]) -> tuple[IterArg, ...]:
    """The names with what they are at first."""
    given = next((k.value for k in call.keywords if k.arg == "init_values"), None)
    if given is None:
        if names:
            x.fail(node.target, "carried names need init_values", "pl.range(n, init_values=(a, b))")
        return ()
    e = x.expression(given)
    values = e.items if isinstance(e, MakeTuple) else (e,)
    if len(values) != len(names):
        x.fail(given, f"{len(values)} init values for {len(names)} carried names", "one for each name")
    return tuple(IterArg(Var(n, type_of(v)), v) for n, v in zip(names, values, strict=True))
