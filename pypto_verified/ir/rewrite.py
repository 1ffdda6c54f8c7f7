"""Rewriting IR: bottom-up maps that keep unchanged nodes by identity, substitution.

Every map reaches the dims inside types too, so that renaming a variable renames it in the types that mention it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from operator import is_

from pypto_verified.ir.changed import replace
from pypto_verified.ir.expr import Binary, Call, Cast, Const, Dim, Expr, MakeTuple, TupleGet, Unary, Var
from pypto_verified.ir.stmt import Assign, Eval, For, Function, If, IterArg, Return, Stmt, While, Yield
from pypto_verified.ir.types import MemRef, TensorType, TileType, TupleType, Type
from pypto_verified.ir.walk import type_exprs

ExprMap = Callable[[Expr], Expr]
"""Rewrites one node whose operands have been rewritten already."""


def map_expr(e: Expr, fn: ExprMap) -> Expr:
    """`e` with `fn` applied to every node, operands first; dims in a node's type are mapped before the node."""
    kind = type(e)
    if kind is Const:
        return fn(e)
    if isinstance(e, Var):
        t = map_type(e.type, fn)
        return fn(e if t is e.type else Var(e.name, t))
    if isinstance(e, Call):
        args, t = _map_all(e.args, fn), map_type(e.type, fn)
        return fn(e if args is e.args and t is e.type else Call(e.op, args, e.kwargs, t, e.span))
    match e:
        case MakeTuple():
            items = _map_all(e.items, fn)
            e = e if items is e.items else MakeTuple(items)
        case Binary():
            lhs, rhs = map_expr(e.lhs, fn), map_expr(e.rhs, fn)
            e = e if lhs is e.lhs and rhs is e.rhs else Binary(e.op, lhs, rhs, e.dtype)
        case Unary():
            operand = map_expr(e.operand, fn)
            e = e if operand is e.operand else Unary(e.op, operand, e.dtype)
        case Cast():
            operand = map_expr(e.operand, fn)
            e = e if operand is e.operand else Cast(operand, e.dtype)
        case TupleGet():
            value = map_expr(e.value, fn)
            e = e if value is e.value else TupleGet(value, e.index)
    return fn(e)


def _map_all(items: tuple[Expr, ...], fn: ExprMap) -> tuple[Expr, ...]:
    mapped = tuple([map_expr(i, fn) for i in items])
    return items if all(map(is_, mapped, items)) else mapped


def map_dim(d: Dim, fn: ExprMap) -> Dim:
    """A dim with `fn` applied; one that becomes a constant is an int again."""
    if isinstance(d, int):
        return d
    mapped = map_expr(d, fn)
    return int(mapped.value) if isinstance(mapped, Const) else mapped


def _map_dims(dims: tuple[Dim, ...], fn: ExprMap) -> tuple[Dim, ...]:
    return tuple(map_dim(d, fn) for d in dims)


def map_type(t: Type, fn: ExprMap) -> Type:
    """A type with `fn` applied to its symbolic dims; `t` itself when it has none."""
    if not type_exprs(t):
        return t
    match t:
        case TensorType():
            view = replace(t.view, stride=_map_dims(t.view.stride, fn), valid_shape=_map_dims(t.view.valid_shape, fn))
            mapped: Type = replace(t, shape=_map_dims(t.shape, fn), view=view)
        case TileType():
            tile_view = t.view and replace(t.view, valid_shape=_map_dims(t.view.valid_shape, fn))
            mapped = TileType(t.shape, t.dtype, t.space, tile_view, t.memref and _map_memref(t.memref, fn))
        case TupleType():
            mapped = TupleType(tuple(map_type(i, fn) for i in t.items))
        case _:
            return t
    return t if mapped == t else mapped


def _map_memref(m: MemRef, fn: ExprMap) -> MemRef:
    offset = m.offset if m.offset is None else map_dim(m.offset, fn)
    return replace(m, offset=offset, slot=map_dim(m.slot, fn))


def map_exprs(body: tuple[Stmt, ...], fn: ExprMap) -> tuple[Stmt, ...]:
    """A block with `fn` applied to every expression that is used in it, at any depth.

    Variables at their definitions keep their name (`fn` sees the dims of their types only).
    """
    mapped = tuple(map_stmt(s, fn) for s in body)
    return body if all(a is b for a, b in zip(mapped, body, strict=True)) else mapped


def map_stmt(s: Stmt, fn: ExprMap) -> Stmt:
    """One statement with `fn` applied to its expressions and to those of its blocks."""
    match s:
        case Assign():
            new: Stmt = Assign(_map_def(s.var, fn), map_expr(s.value, fn), s.span)
        case Eval():
            call = map_expr(s.call, fn)
            assert isinstance(call, Call), "a call made for its effect must stay a call"
            new = Eval(call, s.span)
        case For():
            bounds = [map_expr(e, fn) for e in (s.start, s.stop, s.step)]
            new = For(
                _map_def(s.var, fn), bounds[0], bounds[1], bounds[2], _map_carried(s.iter_args, fn),
                map_exprs(s.body, fn), _map_defs(s.results, fn), s.kind, s.span,
            )
        case While():
            new = While(
                map_expr(s.cond, fn), _map_carried(s.iter_args, fn), map_exprs(s.body, fn),
                _map_defs(s.results, fn), map_exprs(s.prelude, fn), s.span,
            )
        case If():
            new = If(
                map_expr(s.cond, fn), map_exprs(s.then, fn), map_exprs(s.orelse, fn),
                _map_defs(s.results, fn), s.span,
            )
        case Yield():
            new = Yield(_map_all(s.values, fn), s.span)
        case Return():
            new = Return(_map_all(s.values, fn), s.span)
        case _:
            return s
    return _kept(s, new)


def _kept(old: Stmt, new: Stmt) -> Stmt:
    """`old` when each of its fields went through the map unchanged."""
    same = all(getattr(old, name) is getattr(new, name) for name in type(old).__slots__)
    return old if same else new


def _map_def(v: Var, fn: ExprMap) -> Var:
    t = map_type(v.type, fn)
    return v if t is v.type else Var(v.name, t)


def _map_defs(vs: tuple[Var, ...], fn: ExprMap) -> tuple[Var, ...]:
    mapped = tuple(_map_def(v, fn) for v in vs)
    return vs if all(a is b for a, b in zip(mapped, vs, strict=True)) else mapped


def _map_carried(items: tuple[IterArg, ...], fn: ExprMap) -> tuple[IterArg, ...]:
    mapped = tuple(IterArg(_map_def(a.var, fn), map_expr(a.init, fn)) for a in items)
    same = all(a.var is b.var and a.init is b.init for a, b in zip(mapped, items, strict=True))
    return items if same else mapped


def substitute(e: Expr, env: Mapping[str, Expr], dims: Mapping[str, Expr] | None = None) -> Expr:
    """`e` with variables replaced by name, in types too. `dims`: those of `env` that can stand in dims, where the
    caller knows them apart from tiles, of which a pass replaces many."""
    kind = type(e)
    if not env or kind is Const:
        return e
    if dims is None:
        dims = env
    if isinstance(e, Var):
        new = env.get(e.name)
        if new is not None:
            return new
        if not dims:
            return e
        t = substitute_type(e.type, dims)
        return e if t is e.type else Var(e.name, t)
    if isinstance(e, Call):
        if not dims:
            return _with_tiles(e, env)
        args, t = _substitute_all(e.args, env, dims), substitute_type(e.type, dims)
        return e if args is e.args and t is e.type else Call(e.op, args, e.kwargs, t, e.span)
    if isinstance(e, MakeTuple):
        items = _substitute_all(e.items, env, dims)
        return e if items is e.items else MakeTuple(items)
    if not dims and (kind is Binary or kind is Unary or kind is Cast):
        return e
    return map_expr(e, lambda x: env.get(x.name, x) if isinstance(x, Var) else x)


def _with_tiles(call: Call, env: Mapping[str, Expr]) -> Call:
    """`call` with tiles replaced, which stand neither in its type nor in its tuple operands: those are sizes."""
    args = call.args
    mapped = [
        env.get(a.name, a) if isinstance(a, Var) else substitute(a, env, {}) if isinstance(a, Call) else a for a in args
    ]
    return call if all(map(is_, mapped, args)) else Call(call.op, tuple(mapped), call.kwargs, call.type, call.span)


def _substitute_all(items: tuple[Expr, ...], env: Mapping[str, Expr], dims: Mapping[str, Expr]) -> tuple[Expr, ...]:
    mapped = [substitute(i, env, dims) for i in items]
    return items if all(map(is_, mapped, items)) else tuple(mapped)


def substitute_type(t: Type, env: Mapping[str, Expr]) -> Type:
    """`t` with variables in its dims replaced by name."""
    if not env or not type_exprs(t):
        return t
    return map_type(t, lambda x: env.get(x.name, x) if isinstance(x, Var) else x)


def with_body(f: Function, body: tuple[Stmt, ...]) -> Function:
    """`f` with another body; `f` itself when the body is the same object."""
    return f if body is f.body else replace(f, body=body)
