"""UnrollLoops: `pl.unroll` loops become copies of their body."""

from __future__ import annotations

from pypto_verified.errors import PassError
from pypto_verified.ir.expr import Const, Expr
from pypto_verified.ir.rewrite import map_exprs, substitute, with_body
from pypto_verified.ir.stmt import Break, Continue, For, Function, If, LoopKind, Stmt, While
from pypto_verified.passes.context import PassContext
from pypto_verified.passes.fold import constant_int
from pypto_verified.passes.rewrite import map_blocks

MAX_COPIES = 4096
"""More copies than this is a mistake: the text would have megabytes."""


def unroll_loops(function: Function, ctx: PassContext) -> Function:
    """Replace every UNROLL loop by one copy of its body per trip, the loop variable by that trip's constant.

    Requires: bounds that fold to constants, a step other than 0, no carried values, no break or continue of that loop.
    Produces: no loop of kind UNROLL. Runs before SSA conversion: a name assigned in the copies is assigned again.
    Raises PassError at the loop otherwise.
    """
    return with_body(function, _block(function.body))


def _block(body: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
    return map_blocks(body, _stmt)


def _stmt(s: Stmt) -> tuple[Stmt, ...]:
    if not isinstance(s, For) or s.kind is not LoopKind.UNROLL:
        return (s,)
    where = s.span.location
    if s.iter_args:
        raise PassError("an unrolled loop can't carry values", where, help="drop init_values, or use pl.range")
    if any(_leaves_loop(inner) for inner in s.body):
        raise PassError("break or continue in an unrolled loop", where, help="use an if, or pl.range")
    trips = range(*(_bound(e, s) for e in (s.start, s.stop, s.step)))
    if len(trips) > MAX_COPIES:
        raise PassError(f"unrolling makes {len(trips)} copies (limit {MAX_COPIES})", where, help="use pl.range")
    copies: list[Stmt] = []
    for i in trips:
        env: dict[str, Expr] = {s.var.name: Const(i)}
        copies += map_exprs(s.body, lambda e, env=env: substitute(e, env))  # type: ignore[misc]  # lambda default
    return tuple(copies)


def _bound(e: Expr, loop: For) -> int:
    value = constant_int(e)
    if value is None or (e is loop.step and value == 0):
        what = "a step of 0" if value == 0 else "a bound that is not constant"
        raise PassError(f"an unrolled loop has {what}", loop.span.location, help="use pl.range for a runtime bound")
    return value


def _leaves_loop(s: Stmt) -> bool:
    match s:
        case Break() | Continue():
            return True
        case If():
            return any(map(_leaves_loop, s.then + s.orelse))
        case For() | While():
            return False
        case _:
            return False
