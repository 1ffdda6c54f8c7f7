"""Visiting IR: children, statements, calls, free variables.

Dims inside types (a tile's valid shape, a tensor's shape) are expressions too: every visitor here reaches them.
`rewrite` has the maps.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from pypto_verified.ir.expr import Binary, Call, Cast, Const, Dim, Expr, MakeTuple, TupleGet, Unary, Var
from pypto_verified.ir.stmt import COMPOUND, Assign, Eval, For, If, Return, Stmt, While, Yield
from pypto_verified.ir.types import TensorType, TileType, TupleType, Type

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
