"""ConvertToSSA: every variable is defined once; loops carry and branches merge what later code needs."""

from __future__ import annotations

from operator import is_

from pypto_verified.errors import PassError
from pypto_verified.ir.expr import Call, Const, Expr, MakeTuple, Span, Var
from pypto_verified.ir.rewrite import map_expr, substitute_type, with_body
from pypto_verified.ir.stmt import COMPOUND, Assign, Eval, For, Function, If, IterArg, Return, Stmt, While, Yield
from pypto_verified.ir.types import TileType, Type
from pypto_verified.ir.walk import free_vars
from pypto_verified.passes.context import Names, PassContext, defined_names
from pypto_verified.passes.dims import disagreement
from pypto_verified.passes.name_liveness import assigned_names, live_after, live_before
from pypto_verified.passes.rededuce import rededuce, type_of
from pypto_verified.records import dataclass

Env = dict[str, Var]
"""Source name -> the variable that holds its value at this point."""


def convert_to_ssa(function: Function, ctx: PassContext) -> Function:
    """Rename so that each name is defined once, and make loop-carried values and branch merges explicit.

    Requires: no Break, no Continue. Produces: SSA; a loop has one iter_arg and one result per name that the body
    reassigns and that is read in a later trip or after the loop, a branch one result per name that its blocks leave
    different and that is read later; op types are deduced anew over the renamed operands. A first definition keeps the
    source name, later ones get a suffix. Raises PassError where a name is read before it has a value on every path, and
    where the values that meet differ in dtype, shape or valid shape.
    """
    names = Names({*function.dynamic, *(p.var.name for p in function.params)})
    env: Env = {p.var.name: p.var for p in function.params}
    builder = _Builder(names, frozenset(function.dynamic), frozenset(defined_names(function.body)))
    block = builder.block(function.body, env, frozenset())
    if block.yields is not None:
        raise PassError("yield outside of a loop or branch", function.span.location)
    body = tuple(block.stmts)
    return function if body == function.body else with_body(function, body)


@dataclass(frozen=True, slots=True)
class _Block:
    stmts: list[Stmt]
    yields: tuple[Expr, ...] | None


class _Builder:
    def __init__(self, names: Names, dynamic: frozenset[str], source: frozenset[str]) -> None:
        self.names = names
        self.dynamic = dynamic
        self.source = source
        self.used: set[str] = set()

    def block(self, body: tuple[Stmt, ...], env: Env, live_out: frozenset[str]) -> _Block:
        """Convert a block; `env` is updated to the values at its end."""
        out: list[Stmt] = []
        yields: tuple[Expr, ...] | None = None
        live = live_after(body, live_out, lambda s: isinstance(s, COMPOUND))
        for i, s in enumerate(body):
            if yields is not None:
                raise PassError("statement after a yield", s.span.location)
            match s:
                case Assign():
                    out.append(self.assign(s, env))
                case Eval():
                    call = self.expr(s.call, env, s.span)
                    assert isinstance(call, Call), "a call made for its effect must stay a call"
                    out.append(Eval(call, s.span))
                case For() | While():
                    out.append(self.loop(s, env, live[i]))
                case If():
                    out.append(self.branch(s, env, live[i]))
                case Return():
                    out.append(Return(self.exprs(s.values, env, s.span), s.span))
                case Yield():
                    yields = self.exprs(s.values, env, s.span)
                case _:
                    raise PassError("break or continue left over", s.span.location)
        return _Block(out, yields)

    def assign(self, s: Assign, env: Env) -> Assign:
        value = self.expr(s.value, env, s.span)
        t = type_of(value) or substitute_type(s.var.type, env)
        declared = s.var.type
        if isinstance(t, TileType) and isinstance(declared, TileType):
            # An annotation may say the space and the storage; the op's rule says the rest.
            stored = declared if declared.memref is None else substitute_type(declared, env)
            assert isinstance(stored, TileType)
            if stored.memref is not t.memref or (t.space is None and declared.space is not None):
                t = TileType(t.shape, t.dtype, t.space or declared.space, t.view, stored.memref)
        var = self.define(s.var.name, t, env, s.span)
        return s if value is s.value and _one(var, s.var) else Assign(var, value, s.span)

    def define(self, name: str, t: Type, env: Env, span: Span) -> Var:
        if name in self.dynamic:
            raise PassError(f"'{name}' is a dynamic dimension and can't be assigned", span.location,
                            help="give the variable another name, or use the dimension as it is")
        base = name
        if name in self.used:
            k = 1
            while f"{name}__{k}" in self.used or f"{name}__{k}" in self.source:
                k += 1
            base = f"{name}__{k}"
        var = Var(self.names.fresh(base), t)
        self.used.add(var.name)
        env[name] = var
        return var

    def exprs(self, items: tuple[Expr, ...], env: Env, span: Span) -> tuple[Expr, ...]:
        return tuple([e if isinstance(e, Const) else self.expr(e, env, span) for e in items])

    def expr(self, e: Expr, env: Env, span: Span) -> Expr:
        """`e` over SSA variables, op types deduced anew from the operands."""
        if isinstance(e, Var):
            if e.name in env:
                now = env[e.name]
                return e if _one(e, now) else now
            if e.name in self.dynamic:
                return e
            raise PassError(
                f"'{e.name}' has no value here on every path", span.location, help="assign it before the loop or branch"
            )
        if isinstance(e, Call):
            return rededuce(e, self.exprs(e.args, env, span))
        if isinstance(e, Const):
            return e
        if isinstance(e, MakeTuple):
            items = self.exprs(e.items, env, span)
            return e if all(map(is_, items, e.items)) else MakeTuple(items)
        return map_expr(e, lambda x: self.expr(x, env, span) if isinstance(x, (Var, Call)) else x)

    def loop(self, s: For | While, env: Env, live_after_loop: frozenset[str]) -> Stmt:
        explicit = [a.var.name for a in s.iter_args]
        own = {*explicit, s.var.name} if isinstance(s, For) else set(explicit)
        head = live_before(s.body, frozenset(free_vars(s.cond) if isinstance(s, While) else ()))
        after = live_after_loop - {v.name for v in s.results}
        assigned = [n for n in assigned_names(s.body) if n not in own]
        for n in assigned:
            if n not in env and n in after:
                raise PassError(
                    f"'{n}' is assigned only in the loop and read after it: it has no value if no trip runs",
                    s.span.location, help=f"give '{n}' a value before the loop",
                )
        implicit = [n for n in assigned if n in env and (n in head or n in after)]
        start = self.exprs((s.start, s.stop, s.step), env, s.span) if isinstance(s, For) else ()
        inits = [*self.exprs(tuple(a.init for a in s.iter_args), env, s.span), *(env[n] for n in implicit)]
        inner: Env = dict(env)
        index = self.define(s.var.name, s.var.type, inner, s.span) if isinstance(s, For) else None
        iter_args = tuple(
            IterArg(self.define(name, _type(init), inner, s.span), init)
            for name, init in zip(explicit + implicit, inits, strict=True)
        )
        cond = self.expr(s.cond, inner, s.span) if isinstance(s, While) else None
        block = self.block(s.body, inner, head | set(implicit) | after)
        given = block.yields or ()
        if len(given) != len(explicit):
            raise PassError(f"the loop carries {len(explicit)} values but yields {len(given)}", s.span.location)
        values = (*given, *(inner[n] for n in implicit))
        for name, a, value in zip(explicit + implicit, iter_args, values, strict=True):
            _agree(f"loop-carried '{name}'", "before the loop", a.var.type, "after a trip", type_of(value), s.span)
        if values:
            block.stmts.append(Yield(values, s.span))
        names = [v.name for v in s.results] if s.results else explicit
        results = tuple(
            self.define(n, a.var.type, env, s.span) for n, a in zip(names + implicit, iter_args, strict=True))
        body = tuple(block.stmts)
        if isinstance(s, For):
            assert index is not None, "a for loop has a variable"
            return For(index, start[0], start[1], start[2], iter_args, body, results, s.kind, s.span)
        assert cond is not None, "a while loop has a condition"
        return While(cond, iter_args, body, results, (), s.span)

    def branch(self, s: If, env: Env, live_after_branch: frozenset[str]) -> Stmt:
        cond = self.expr(s.cond, env, s.span)
        explicit = [v.name for v in s.results]
        after = live_after_branch - set(explicit)
        then_env, else_env = dict(env), dict(env)
        then = self.block(s.then, then_env, after)
        orelse = self.block(s.orelse, else_env, after)
        if s.results and (len(then.yields or ()) != len(explicit) or len(orelse.yields or ()) != len(explicit)):
            raise PassError("both blocks of a branch must yield the same number of values", s.span.location)
        merged = [
            n for n in {**assigned_names(s.then), **assigned_names(s.orelse)}
            if n in after and (n in then_env or n in else_env) and then_env.get(n) is not else_env.get(n)
        ]
        for n in merged:
            if n not in then_env or n not in else_env:
                raise PassError(
                    f"'{n}' is assigned in one block of the branch only and read after it", s.span.location,
                    help=f"give '{n}' a value before the branch or in both blocks",
                )
        left = ((then.yields or ()) if s.results else ()) + tuple(then_env[n] for n in merged)
        right = ((orelse.yields or ()) if s.results else ()) + tuple(else_env[n] for n in merged)
        for n, a, b in zip(explicit + merged, left, right, strict=True):
            _agree(f"'{n}'", "in one block", type_of(a), "in the other", type_of(b), s.span)
        if left:
            then.stmts.append(Yield(left, s.span))
            orelse.stmts.append(Yield(right, s.span))
        results = tuple(
            self.define(n, _type(a), env, s.span) for n, a in zip(explicit + merged, left, strict=True)
        )
        return If(cond, tuple(then.stmts), tuple(orelse.stmts), results, s.span)


def _one(a: Var, b: Var) -> bool:
    """Whether two variables are equal; most are of one type object, which is told at once."""
    return a is b or (a.name == b.name and (a.type is b.type or a.type == b.type))


def _agree(what: str, here: str, a: Type | None, there: str, b: Type | None, span: Span) -> None:
    why = disagreement(a, b) if a is not None and b is not None else ""
    if why:
        raise PassError(
            f"{what} has one type {here} and another {there}: {why}", span.location,
            help="values that meet must have the same dtype, shape and valid shape",
        )


def _type(e: Expr) -> Type:
    t = type_of(e)
    assert t is not None, "a carried value has a type"
    return t
