"""CtrlFlowTransform: break and continue become branches and a flag."""

from __future__ import annotations

from pypto_verified.dtypes import BOOL, INDEX
from pypto_verified.errors import PassError
from pypto_verified.ir.changed import replace
from pypto_verified.ir.expr import Binary, BinaryOp, Const, Expr, Span, Unary, UnaryOp, Var
from pypto_verified.ir.rewrite import with_body
from pypto_verified.ir.stmt import LOOPS, Assign, Break, Continue, For, Function, If, Stmt, While, Yield
from pypto_verified.ir.types import ScalarType
from pypto_verified.ir.walk import walk_stmts
from pypto_verified.passes.context import Names, PassContext
from pypto_verified.passes.fold import constant_int
from pypto_verified.passes.rewrite import map_blocks


def ctrl_flow_transform(function: Function, ctx: PassContext) -> Function:
    """Replace `continue` by if/else over the rest of the body and `break` by a while loop with a flag.

    A `for` with a break becomes `while i < stop and not broken`, the variable stepped at the end of each full trip.
    Requires: before SSA conversion, so that the flag and the variable are plain reassigned names. Produces: no Break,
    no Continue. Raises PassError for a loop with break or continue that carries values explicitly (its yield would be
    skipped) and for a broken `for` whose step is not a positive constant.
    """
    if not any(isinstance(s, (Break, Continue)) for s in walk_stmts(function.body)):
        return function
    return with_body(function, map_blocks(function.body, _Lowering(Names.of(function)).statement))


class _Lowering:
    def __init__(self, names: Names) -> None:
        self.names = names

    def statement(self, s: Stmt) -> tuple[Stmt, ...]:
        """A loop whose inner loops are lowered already."""
        if not isinstance(s, LOOPS) or not any(map(_leaves, s.body)):
            return (s,)
        if s.iter_args:
            raise PassError(
                "break or continue in a loop that carries values with init_values", s.span.location,
                help="reassign the variables in the body instead of yielding them",
            )
        if not any(_breaks(inner) for inner in s.body):
            return (replace(s, body=_without_exits(s.body, None)),)
        flag = Var(self.names.fresh("broken"), ScalarType(BOOL))
        body = _without_exits(s.body, flag)
        go_on: Expr = Unary(UnaryOp.NOT, flag, BOOL)
        start: list[Stmt] = [Assign(flag, Const(False, BOOL), s.span)]
        if isinstance(s, For):
            # range() reads its stop once; the body may reassign what the expression mentions.
            stop = Var(self.names.fresh(f"{s.var.name}_stop"), ScalarType(INDEX))
            start += [Assign(s.var, s.start, s.span), Assign(stop, s.stop, s.span)]
            body = (*body, If(go_on, (_step(s),), (), (), s.span))
            test: Expr = Binary(BinaryOp.LT, s.var, stop, BOOL)
        else:
            test = s.cond
        return (*start, While(Binary(BinaryOp.AND, test, go_on, BOOL), (), body, (), (), s.span))


def _step(s: For) -> Stmt:
    step = constant_int(s.step)
    if step is None or step <= 0:
        raise PassError(
            "break in a loop whose step is not a positive constant", s.span.location, help="write a while loop")
    return Assign(s.var, Binary(BinaryOp.ADD, s.var, s.step, INDEX), s.span)


def _leaves(s: Stmt) -> bool:
    """Whether `s` may break or continue the loop it stands in."""
    if isinstance(s, If):
        return any(map(_leaves, s.then)) or any(map(_leaves, s.orelse))
    return isinstance(s, (Break, Continue))


def _breaks(s: Stmt) -> bool:
    if isinstance(s, If):
        return any(map(_breaks, s.then)) or any(map(_breaks, s.orelse))
    return isinstance(s, Break)


def _always_leaves(body: tuple[Stmt, ...]) -> bool:
    return any(
        isinstance(s, (Break, Continue))
        or (isinstance(s, If) and _always_leaves(s.then) and _always_leaves(s.orelse))
        for s in body
    )


def _without_exits(body: tuple[Stmt, ...], flag: Var | None) -> tuple[Stmt, ...]:
    """A loop body in which what follows a possible exit moved into the path that does not take it."""
    for k, s in enumerate(body):
        if isinstance(s, (Break, Continue)):
            return (*body[:k], *_raise_flag(s, flag))
        if isinstance(s, If) and _leaves(s):
            return (*body[:k], _guarded(s, body[k + 1 :], flag))
    return body


def _guarded(s: If, rest: tuple[Stmt, ...], flag: Var | None) -> Stmt:
    if s.results or any(isinstance(r, Yield) for r in rest):
        raise PassError(
            "break or continue in a branch that yields values", s.span.location, help="reassign names instead")
    then = s.then if _always_leaves(s.then) else s.then + rest
    orelse = s.orelse if _always_leaves(s.orelse) else s.orelse + rest
    return replace(s, then=_without_exits(then, flag), orelse=_without_exits(orelse, flag))


def _raise_flag(s: Break | Continue, flag: Var | None) -> tuple[Stmt, ...]:
    span: Span = s.span
    return (Assign(flag, Const(True, BOOL), span),) if isinstance(s, Break) and flag is not None else ()
