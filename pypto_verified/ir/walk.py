"""Visiting and rewriting IR: children, bottom-up maps that keep unchanged nodes by identity, free variables.

Dims inside types (a tile's valid shape, a tensor's shape) are expressions too: every map and every visitor here
reaches them, so that renaming a variable renames it in the types that mention it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from operator import is_
from typing import Any

from pypto_verified.ir.changed import replace
from pypto_verified.ir.expr import Binary, Call, Cast, Const, Dim, Expr, MakeTuple, TupleGet, Unary, Var
from pypto_verified.ir.stmt import COMPOUND, Assign, Eval, For, Function, If, IterArg, Return, Stmt, While, Yield
from pypto_verified.ir.types import MemRef, TensorType, TileType, TupleType, Type

ExprMap = Callable[[Expr], Expr]
"""Rewrites one node whose operands have been rewritten already."""


_CHILDREN: dict[type, Callable[[Any], tuple[Expr, ...]]] = {
    Var: lambda e: (), Const: lambda e: (), Binary: lambda e: (e.lhs, e.rhs), Unary: lambda e: (e.operand,),
    Cast: lambda e: (e.operand,), MakeTuple: lambda e: e.items, TupleGet: lambda e: (e.value,), Call: lambda e: e.args,
}


def children(e: Expr) -> tuple[Expr, ...]:
    """The direct operands of `e`."""
    return _CHILDREN[type(e)](e)


def type_exprs(t: Type) -> tuple[Expr, ...]:
    """The symbolic dims of a type: shape, valid shape, strides, storage offsets."""
    if isinstance(t, TileType):
        view, memref = t.view, t.memref
        found = () if view is None else _symbolic(view.valid_shape)
        return found if memref is None else found + _symbolic((memref.offset, memref.slot))
    if isinstance(t, TensorType):
        return tuple(d for d in (*t.shape, *t.view.stride, *t.view.valid_shape) if not isinstance(d, int))
    if isinstance(t, TupleType):
        return tuple(e for item in t.items for e in type_exprs(item))
    return ()


def _symbolic(dims: tuple[Dim | None, ...]) -> tuple[Expr, ...]:
    for d in dims:
        if d is not None and not isinstance(d, int):
            return tuple(d for d in dims if d is not None and not isinstance(d, int))
    return ()


def walk_expr(e: Expr) -> Iterator[Expr]:
    """`e` and all its operands, outermost first; dims of types are not visited."""
    ahead = [e]
    while ahead:
        e = ahead.pop()
        yield e
        ahead += reversed(children(e))


_OPERANDS: dict[type, Callable[[Any], tuple[Expr, ...]]] = {
    Assign: lambda s: (s.value,), Eval: lambda s: (s.call,), If: lambda s: (s.cond,),
    For: lambda s: (s.start, s.stop, s.step, *(a.init for a in s.iter_args)),
    While: lambda s: (*(a.init for a in s.iter_args), s.cond),
    Yield: lambda s: s.values, Return: lambda s: s.values,
}
_BLOCKS: dict[type, Callable[[Any], tuple[tuple[Stmt, ...], ...]]] = {
    For: lambda s: (s.body,), While: lambda s: (s.prelude, s.body), If: lambda s: (s.then, s.orelse),
}
_DEFINITIONS: dict[type, Callable[[Any], tuple[Var, ...]]] = {
    Assign: lambda s: (s.var,), For: lambda s: (s.var, *(a.var for a in s.iter_args), *s.results),
    While: lambda s: (*(a.var for a in s.iter_args), *s.results), If: lambda s: s.results,
}


def operands(s: Stmt) -> tuple[Expr, ...]:
    """The expressions that a statement itself evaluates, without those of the blocks inside it."""
    evaluated = _OPERANDS.get(type(s))
    return () if evaluated is None else evaluated(s)


def blocks(s: Stmt) -> tuple[tuple[Stmt, ...], ...]:
    """The statement's inner blocks in source order (a While's prelude first)."""
    inner = _BLOCKS.get(type(s))
    return () if inner is None else inner(s)


def walk_stmts(body: Sequence[Stmt]) -> list[Stmt]:
    """All statements of a block, each before those inside it."""
    if _BLOCKS.keys().isdisjoint(map(type, body)):
        return [*body]
    found: list[Stmt] = []
    for s in body:
        found.append(s)
        inner = _BLOCKS.get(type(s))
        if inner is not None:
            for block in inner(s):
                found += walk_stmts(block)
    return found


def calls(body: Sequence[Stmt]) -> list[Call]:
    """All op calls of a block in source order, outer calls before the calls in their operands."""
    found: list[Call] = []
    for s in walk_stmts(body):
        for e in operands(s):
            _add_calls(e, found)
    return found


def _add_calls(e: Expr, found: list[Call]) -> None:
    if isinstance(e, Call):
        found.append(e)
    for child in children(e):
        if not isinstance(child, (Var, Const)):
            _add_calls(child, found)


def definitions(s: Stmt) -> tuple[Var, ...]:
    """The variables that a statement itself defines (loop variable, carried variables and results included)."""
    defined = _DEFINITIONS.get(type(s))
    return () if defined is None else defined(s)


def has_call(e: Expr) -> bool:
    """Whether `e` is a call or has one in its operands."""
    kind = type(e)
    if kind is Const or kind is Var:
        return False
    return kind is Call or any(map(has_call, _CHILDREN[kind](e)))


def names_in(e: Expr) -> set[str]:
    """The names of all variables in an expression; dims of types are not visited."""
    if isinstance(e, Var):
        return {e.name}
    found: set[str] = set()
    ahead = [e]
    while ahead:
        for child in children(ahead.pop()):
            if isinstance(child, Var):
                found.add(child.name)
            elif not isinstance(child, Const):
                ahead.append(child)
    return found


def free_vars(node: Expr | Iterable[Stmt]) -> dict[str, Var]:
    """Variables that are used and not defined by `node` itself, by name, in first-seen order.

    In a block a use before the block's own definition of that name counts as free; definitions inside a loop or branch
    do not reach the statements after it unless they are results.
    """
    found: dict[str, Var] = {}
    if isinstance(node, Var | Const | Binary | Unary | Cast | MakeTuple | TupleGet | Call):
        _free_in_expr(node, frozenset(), found)
    else:
        _free_in_block(node, set(), found)
    return found


def _free_in_expr(e: Expr, bound: frozenset[str] | set[str], found: dict[str, Var]) -> None:
    kind = type(e)
    if isinstance(e, Var):
        if e.name not in bound:
            found.setdefault(e.name, e)
    elif kind is not Const:
        for child in _CHILDREN[kind](e):
            _free_in_expr(child, bound, found)


def _free_in_type(t: Type, bound: set[str], found: dict[str, Var]) -> None:
    for dim in type_exprs(t):
        _free_in_expr(dim, bound, found)


def _free_in_block(body: Iterable[Stmt], bound: set[str], found: dict[str, Var]) -> None:
    for s in body:
        if isinstance(s, While):
            for a in s.iter_args:
                _free_in_expr(a.init, bound, found)
            inner = bound | {a.var.name for a in s.iter_args}
            _free_in_block(s.prelude, inner, found)
            _free_in_expr(s.cond, inner, found)
            _free_in_block(s.body, inner, found)
        else:
            for e in operands(s):
                _free_in_expr(e, bound, found)
            carried = {s.var.name, *(a.var.name for a in s.iter_args)} if isinstance(s, For) else set()
            for block in blocks(s):
                _free_in_block(block, bound | carried, found)
        for v in s.results if isinstance(s, COMPOUND) else definitions(s):
            _free_in_type(v.type, bound, found)
            bound.add(v.name)


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
