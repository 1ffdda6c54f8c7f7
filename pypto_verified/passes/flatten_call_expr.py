"""FlattenCallExpr: no op call stands inside another expression."""

from __future__ import annotations

from pypto_verified.ir.changed import replace
from pypto_verified.ir.expr import Binary, Call, Cast, Const, Expr, MakeTuple, TupleGet, Unary, Var
from pypto_verified.ir.rewrite import with_body
from pypto_verified.ir.stmt import Assign, Eval, For, Function, If, IterArg, Return, Stmt, While, Yield
from pypto_verified.ir.walk import has_call, operands, walk_stmts
from pypto_verified.passes.context import Names, PassContext
from pypto_verified.passes.rewrite import map_blocks


def flatten_call_expr(function: Function, ctx: PassContext) -> Function:
    """Give every nested call a variable of its own, defined before the statement, operands left to right.

    Requires and keeps SSA. Produces: calls stand only as the value of an Assign or in an Eval; the calls of a while
    condition stand in its prelude. Scalar operators stay nested.
    """
    if not any(map(_nests, walk_stmts(function.body))):
        return function
    names = Names.of(function)
    return with_body(function, map_blocks(function.body, lambda s: _Hoist(names).statement(s)))


def _nests(s: Stmt) -> bool:
    """Whether a call stands inside an expression of `s`."""
    for e in operands(s):
        inside = e.args if isinstance(e, Call) and isinstance(s, (Assign, Eval)) else (e,)
        for part in inside:
            if not isinstance(part, (Var, Const)) and has_call(part):
                return True
    return False


class _Hoist:
    def __init__(self, names: Names) -> None:
        self.names = names
        self.before: list[Stmt] = []

    def statement(self, s: Stmt) -> tuple[Stmt, ...]:
        new = self._statement(s)
        return (*self.before, new)

    def _statement(self, s: Stmt) -> Stmt:
        match s:
            case Assign():
                value = self.operands_of(s.value) if isinstance(s.value, Call) else self.value(s.value)
                return s if value is s.value else replace(s, value=value)
            case Eval():
                call = self.operands_of(s.call)
                return s if call is s.call else replace(s, call=call)
            case For():
                start, stop, step = self.value(s.start), self.value(s.stop), self.value(s.step)
                iter_args = self.carried(s.iter_args)
                if start is s.start and stop is s.stop and step is s.step and iter_args is s.iter_args:
                    return s
                return replace(s, start=start, stop=stop, step=step, iter_args=iter_args)
            case While():
                inner = _Hoist(self.names)
                cond = inner.value(s.cond)
                iter_args = self.carried(s.iter_args)
                if cond is s.cond and iter_args is s.iter_args:
                    return s
                return replace(s, cond=cond, iter_args=iter_args, prelude=(*s.prelude, *inner.before))
            case If():
                cond = self.value(s.cond)
                return s if cond is s.cond else replace(s, cond=cond)
            case Yield() | Return():
                values = self.values(s.values)
                return s if values is s.values else replace(s, values=values)
            case _:
                return s

    def carried(self, items: tuple[IterArg, ...]) -> tuple[IterArg, ...]:
        inits = tuple(self.value(a.init) for a in items)
        if all(a.init is b for a, b in zip(items, inits, strict=True)):
            return items
        return tuple(IterArg(a.var, b) for a, b in zip(items, inits, strict=True))

    def values(self, items: tuple[Expr, ...]) -> tuple[Expr, ...]:
        mapped = tuple(self.value(e) for e in items)
        return items if all(a is b for a, b in zip(mapped, items, strict=True)) else mapped

    def operands_of(self, call: Call) -> Call:
        args = self.values(call.args)
        return call if args is call.args else replace(call, args=args)

    def value(self, e: Expr) -> Expr:
        """`e` without calls; those it had are assigned to variables in `before`."""
        if not has_call(e):
            return e
        match e:
            case Call():
                call = self.operands_of(e)
                var = Var(self.names.fresh("t"), call.type)
                self.before.append(Assign(var, call, call.span))
                return var
            case Binary():
                return replace(e, lhs=self.value(e.lhs), rhs=self.value(e.rhs))
            case Unary() | Cast():
                return replace(e, operand=self.value(e.operand))
            case MakeTuple():
                return MakeTuple(self.values(e.items))
            case TupleGet():
                return replace(e, value=self.value(e.value))
            case _:
                return e
