"""Buffers that `system.reserve_buffer` sets aside for a cross-core pipe."""

from __future__ import annotations

from collections.abc import Mapping

from pypto_verified.ir.changed import replace
from pypto_verified.ir.expr import Call, Span
from pypto_verified.ir.stmt import Assign, Function, FunctionKind, Stmt
from pypto_verified.ir.walk import walk_stmts
from pypto_verified.layouts import Space
from pypto_verified.passes.context import PassContext
from pypto_verified.passes.rewrite import Rewriter
from pypto_verified.records import dataclass

OP = "system.reserve_buffer"


@dataclass(frozen=True, slots=True)
class Reserved:
    """`size` bytes for the pipe buffer `name`, in Mat of a cube kernel or Vec of a vector kernel; `address` where the
    author gave one."""

    name: str
    space: Space
    size: int
    address: int | None
    span: Span


def reserved_buffers(function: Function, ctx: PassContext) -> list[Reserved]:
    """All of them, in source order."""
    if OP not in ctx.scan(function).ops:
        return []
    space = Space.MAT if function.kind is FunctionKind.AIC else Space.VEC
    found: list[Reserved] = []
    for s in walk_stmts(function.body):
        if isinstance(s, Assign) and isinstance(s.value, Call) and s.value.op == OP:
            size, base = s.value.kwarg("size"), s.value.kwarg("base")
            assert isinstance(size, int), "reserve_buffer has a size"
            given = base if isinstance(base, int) and base >= 0 else None
            found.append(Reserved(str(s.value.kwarg("name")), space, size, given, s.span))
    return found


def with_bases(function: Function, ctx: PassContext, placed: Mapping[str, int]) -> Function:
    """`function` with `base=placed[name]` in every reserve_buffer."""
    return _Bases(function, ctx, placed).run() if placed else function


class _Bases(Rewriter):
    def __init__(self, function: Function, ctx: PassContext, placed: Mapping[str, int]) -> None:
        super().__init__(function, ctx)
        self.placed = placed

    def assign(self, s: Assign) -> tuple[Stmt, ...]:
        call = s.value
        if not isinstance(call, Call) or call.op != OP:
            return (s,)
        base = self.placed[str(call.kwarg("name"))]
        if call.kwarg("base") == base:
            return (s,)
        kwargs = tuple(sorted({**dict(call.kwargs), "base": base}.items()))
        return (replace(s, value=replace(call, kwargs=kwargs)),)
