"""Changing the storage of tiles everywhere at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from pypto_verified.ir.expr import Expr, Var
from pypto_verified.ir.stmt import Assign, Function, Stmt
from pypto_verified.ir.types import MemRef, TileType, Type
from pypto_verified.passes.context import PassContext
from pypto_verified.passes.rewrite import Rewriter

MemRefMap = Callable[[MemRef, TileType], MemRef]


def map_memrefs(function: Function, ctx: PassContext, fn: MemRefMap) -> Function:
    """`function` with `fn(memref, tile type)` in place of every MemRef, at definitions and uses."""
    return _Mapper(function, ctx, fn).run()


def rebase(function: Function, ctx: PassContext, names: Mapping[str, str]) -> Function:
    """`function` with buffer `b` renamed to `names[b]`."""
    if not names:
        return function

    def renamed(m: MemRef, t: TileType) -> MemRef:
        base = names.get(m.base)
        return m if base is None else MemRef(base, m.offset, m.size, m.pinned, m.slots, m.slot)

    return map_memrefs(function, ctx, renamed)


class _Mapper(Rewriter):
    def __init__(self, function: Function, ctx: PassContext, fn: MemRefMap) -> None:
        super().__init__(function, ctx)
        self.fn = fn

    def _mapped(self, t: Type) -> Type:
        if not isinstance(t, TileType) or t.memref is None:
            return t
        memref = self.fn(t.memref, t)
        return t if memref is t.memref else TileType(t.shape, t.dtype, t.space, t.view, memref)

    def assign(self, s: Assign) -> tuple[Stmt, ...]:
        """Nothing but storage changes, and calls' own types have none."""
        value, old = self.expr(s.value), s.var.type
        if not isinstance(old, TileType):
            return (self.rebuilt(s, value, old),)
        t = self._mapped(old)
        if t is old:
            return (s if value is s.value else Assign(s.var, value, s.span),)
        var = Var(s.var.name, t)
        self.env[var.name] = var
        return (Assign(var, value, s.span),)

    def carried_type(self, var: Var, init: Expr) -> Type:
        return self._mapped(var.type)

    def results(self, results: tuple[Var, ...], types: list[Type | None]) -> tuple[Var, ...]:
        return super().results(results, [self._mapped(v.type) for v in results])
