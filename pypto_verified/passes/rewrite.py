"""Rewriting blocks: a bottom-up map over statements, and a forward rewriter of SSA that keeps types in step."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from operator import attrgetter, is_

from pypto_verified.ir.changed import replace
from pypto_verified.ir.expr import Call, Expr, Var
from pypto_verified.ir.rewrite import substitute, substitute_type, with_body
from pypto_verified.ir.stmt import COMPOUND, Assign, Eval, For, Function, If, IterArg, Return, Stmt, While, Yield
from pypto_verified.ir.types import TileType, Type
from pypto_verified.passes.context import Names, PassContext

StmtMap = Callable[[Stmt], tuple[Stmt, ...]]


def same_block(old: tuple[Stmt, ...], new: list[Stmt]) -> tuple[Stmt, ...]:
    """`old` if `new` holds the very same statements, else `new` as a block."""
    return old if len(old) == len(new) and all(map(is_, old, new)) else tuple(new)


def with_blocks(s: Stmt, fn: Callable[[tuple[Stmt, ...]], tuple[Stmt, ...]]) -> Stmt:
    """`s` with `fn` applied to its inner blocks; `s` itself if none changes."""
    match s:
        case For():
            body = fn(s.body)
            return s if body is s.body else replace(s, body=body)
        case While():
            prelude, body = fn(s.prelude), fn(s.body)
            return s if prelude is s.prelude and body is s.body else replace(s, prelude=prelude, body=body)
        case If():
            then, orelse = fn(s.then), fn(s.orelse)
            return s if then is s.then and orelse is s.orelse else replace(s, then=then, orelse=orelse)
        case _:
            return s


def map_blocks(body: tuple[Stmt, ...], fn: StmtMap) -> tuple[Stmt, ...]:
    """`body` with each statement replaced by `fn(statement)`, inner blocks first; `body` itself if nothing changes."""
    out: list[Stmt] = []
    for s in body:
        out += fn(with_blocks(s, lambda b: map_blocks(b, fn)) if isinstance(s, COMPOUND) else s)
    return same_block(body, out)


class Rewriter:
    """Walks an SSA function forward, replacing variables by `env` (by name, in types too); `dims` holds those of them
    that are no tiles.

    A pass overrides `assign` (and `retype` for what an assigned variable's new type is). Carried variables take the
    type of their initial value, results of loops that of the carried variable, results of branches that of the first
    block's yield. Unchanged statements are kept by identity.
    """

    def __init__(self, function: Function, ctx: PassContext) -> None:
        self.function = function
        self.ctx = ctx
        self.env: dict[str, Expr] = {}
        self.dims: dict[str, Expr] = {}

    @cached_property
    def names(self) -> Names:
        """Names that the function does not have yet."""
        return Names.of(self.function)

    def run(self) -> Function:
        """The rewritten function."""
        return with_body(self.function, self.block(self.function.body))

    def block(self, body: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
        """A block, statement by statement."""
        out: list[Stmt] = []
        for s in body:
            out += self.statement(s)
        return same_block(body, out)

    def statement(self, s: Stmt) -> tuple[Stmt, ...]:
        """What stands in place of `s`."""
        match s:
            case Assign():
                return self.assign(s)
            case Eval():
                call = self.expr(s.call)
                assert isinstance(call, Call), "a call made for its effect must stay a call"
                return (s if call is s.call else replace(s, call=call),)
            case For():
                return (self.loop(s),)
            case While():
                return (self.while_loop(s),)
            case If():
                return (self.branch(s),)
            case Yield() | Return():
                values = self.exprs(s.values)
                return (s if values is s.values else replace(s, values=values),)
            case _:
                return (s,)

    def assign(self, s: Assign) -> tuple[Stmt, ...]:
        """An assignment; the default rewrites the value and gives the variable the type that `retype` says."""
        value = self.expr(s.value)
        return (self.rebuilt(s, value, self.retype(s.var, value)),)

    def retype(self, var: Var, value: Expr) -> Type:
        """The new type of an assigned variable."""
        return substitute_type(var.type, self.dims) if self.dims else var.type

    def rebuilt(self, s: Assign, value: Expr, t: Type) -> Assign:
        """`s` with another value and type; a call's own type follows the variable's, without its storage."""
        if value is s.value and t is s.var.type and not isinstance(t, TileType):
            return s
        if isinstance(value, Call) and isinstance(t, TileType):
            if t.memref is None:
                if value.type is not t and value.type != t:
                    value = Call(value.op, value.args, value.kwargs, t, value.span)
            elif not _only_storage(s, value, t):
                bare = TileType(t.shape, t.dtype, t.space, t.view)
                if value.type != bare:
                    value = Call(value.op, value.args, value.kwargs, bare, value.span)
        var = self.define(s.var, t)
        return s if var is s.var and value is s.value else Assign(var, value, s.span)

    def define(self, var: Var, t: Type) -> Var:
        """`var` with type `t`, known to later uses."""
        if t is var.type or t == var.type:
            return var
        new = Var(var.name, t)
        self.become(var.name, new)
        return new

    def become(self, name: str, value: Expr) -> None:
        """Let later uses of a variable be uses of `value`."""
        self.env[name] = value
        if not isinstance(value, Var) or not isinstance(value.type, TileType):
            self.dims[name] = value

    def expr(self, e: Expr) -> Expr:
        """`e` over the new variables."""
        return substitute(e, self.env, self.dims) if self.env else e

    def exprs(self, items: tuple[Expr, ...]) -> tuple[Expr, ...]:
        """Several expressions; the tuple itself if none changes."""
        mapped = tuple([self.expr(e) for e in items])
        return items if all(map(is_, mapped, items)) else mapped

    def carried(self, items: tuple[IterArg, ...]) -> tuple[IterArg, ...]:
        """Loop-carried variables with the types of their initial values."""
        out: list[IterArg] = []
        for a in items:
            init = self.expr(a.init)
            var = self.define(a.var, self.carried_type(a.var, init))
            out.append(a if init is a.init and var is a.var else IterArg(var, init))
        return items if all(a is b for a, b in zip(out, items, strict=True)) else tuple(out)

    def carried_type(self, var: Var, init: Expr) -> Type:
        """The type of a carried variable."""
        if isinstance(init, Var) and isinstance(init.type, TileType):
            return init.type
        return substitute_type(var.type, self.dims)

    def results(self, results: tuple[Var, ...], types: list[Type | None]) -> tuple[Var, ...]:
        """Result variables; a None type keeps the declared one."""
        out = tuple(
            self.define(v, t if isinstance(t, TileType) else substitute_type(v.type, self.dims))
            for v, t in zip(results, types, strict=True)
        )
        return results if all(a is b for a, b in zip(out, results, strict=True)) else out

    def loop(self, s: For) -> Stmt:
        """A for loop."""
        start, stop, step = self.exprs((s.start, s.stop, s.step))
        iter_args = self.carried(s.iter_args)
        body = self.block(s.body)
        results = self.results(s.results, [a.var.type for a in iter_args])
        new = For(s.var, start, stop, step, iter_args, body, results, s.kind, s.span)
        return s if _identical(s, new) else new

    def while_loop(self, s: While) -> Stmt:
        """A while loop."""
        iter_args = self.carried(s.iter_args)
        prelude = self.block(s.prelude)
        cond = self.expr(s.cond)
        body = self.block(s.body)
        results = self.results(s.results, [a.var.type for a in iter_args])
        new = While(cond, iter_args, body, results, prelude, s.span)
        return s if _identical(s, new) else new

    def branch(self, s: If) -> Stmt:
        """A branch."""
        cond = self.expr(s.cond)
        then, orelse = self.block(s.then), self.block(s.orelse)
        results = self.results(s.results, [_type_of(e) for e in yielded(then)] if s.results else [])
        new = If(cond, then, orelse, results, s.span)
        return s if _identical(s, new) else new


def _only_storage(s: Assign, value: Call, t: TileType) -> bool:
    """Whether `t` differs from the type of the assigned variable, and so from that of the call, in its storage only;
    told by identity, which passes keep. Before tiles have storage, the two types need not be one yet."""
    old, its = s.var.type, value.type
    return (
        isinstance(old, TileType) and isinstance(s.value, Call) and its is s.value.type
        and isinstance(its, TileType) and its.memref is None
        and t.view is old.view and t.shape is old.shape and t.space is old.space and t.dtype is old.dtype)


def yielded(body: tuple[Stmt, ...]) -> tuple[Expr, ...]:
    """The values that a block hands out at its end."""
    return body[-1].values if body and isinstance(body[-1], Yield) else ()


def _type_of(e: Expr) -> Type | None:
    return e.type if isinstance(e, (Var, Call)) else None


def _identical(old: Stmt, new: Stmt) -> bool:
    read = _READ[type(old)]
    return all(map(is_, read(old), read(new)))


_READ: dict[type, Callable[[Stmt], tuple[object, ...]]] = {
    kind: attrgetter(*kind.__slots__) for kind in (For, While, If)}
"""All fields of a statement at once."""
