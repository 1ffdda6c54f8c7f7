"""Simplify: constant folding, propagation of scalar constants and copies, removal of dead scalars."""

from __future__ import annotations

from pypto_verified.ir.expr import Const, Expr, Var
from pypto_verified.ir.rewrite import map_type, with_body
from pypto_verified.ir.stmt import Assign, Function, If, Stmt
from pypto_verified.ir.types import ScalarType, Type
from pypto_verified.ir.walk import definitions, has_call, names_in, operands, type_exprs, walk_stmts
from pypto_verified.passes.context import PassContext
from pypto_verified.passes.fold import fold
from pypto_verified.passes.rewrite import Rewriter, map_blocks, yielded


def simplify(function: Function, ctx: PassContext) -> Function:
    """Fold scalar expressions, replace copies (`b = a`, scalar constants) by their source, take the one block of a
    branch with a constant condition, drop scalar assignments that nothing reads.

    Requires and keeps SSA. Produces: no copied names. Never deletes an op call: its operands may be unused but its
    effect is not.
    """
    return _without_dead_scalars(_Simplifier(function, ctx).run())


class _Simplifier(Rewriter):
    def expr(self, e: Expr) -> Expr:
        return fold(super().expr(e))

    def retype(self, var: Var, value: Expr) -> Type:
        """Uses of the variable are folded with their types, so its definition is."""
        return map_type(super().retype(var, value), fold)

    def assign(self, s: Assign) -> tuple[Stmt, ...]:
        value = self.expr(s.value)
        if isinstance(value, (Const, Var)):
            self.become(s.var.name, value)
            return ()
        return (self.rebuilt(s, value, self.retype(s.var, value)),)

    def statement(self, s: Stmt) -> tuple[Stmt, ...]:
        if isinstance(s, If):
            cond = self.expr(s.cond)
            if isinstance(cond, Const):
                return self._taken(s, s.then if cond.value else s.orelse)
        return super().statement(s)

    def _taken(self, s: If, block: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
        body = self.block(block)
        if not s.results:
            return body
        for v, value in zip(s.results, yielded(body), strict=True):
            self.become(v.name, value)
        return body[:-1]


def _without_dead_scalars(function: Function) -> Function:
    if not any(_dead(s, set()) for s in walk_stmts(function.body)):
        return function
    while True:
        used = _used_names(function)
        if not any(_dead(s, used) for s in walk_stmts(function.body)):
            return function
        body = map_blocks(function.body, lambda s, used=used: () if _dead(s, used) else (s,))  # type: ignore[misc]  # default
        function = with_body(function, body)


def _dead(s: Stmt, used: set[str]) -> bool:
    if not isinstance(s, Assign) or s.var.name in used or not isinstance(s.var.type, ScalarType):
        return False
    return not has_call(s.value)


def _used_names(function: Function) -> set[str]:
    used: set[str] = set()
    for s in walk_stmts(function.body):
        for e in operands(s):
            used |= names_in(e)
        for v in definitions(s):
            for dim in type_exprs(v.type):
                used |= names_in(dim)
    return used
