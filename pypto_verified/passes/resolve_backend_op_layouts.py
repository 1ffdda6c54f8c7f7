"""ResolveBackendOpLayouts: operands of vector ops that want rows are rows."""

from __future__ import annotations

from pypto_verified.errors import NotModelled
from pypto_verified.ir.changed import replace
from pypto_verified.ir.expr import Attr, Call, Const, Expr, MakeTuple, Var
from pypto_verified.ir.stmt import Assign, Function, Stmt
from pypto_verified.ir.types import TileType
from pypto_verified.layouts import BLayout, SLayout, Space
from pypto_verified.ops.build import make_call
from pypto_verified.ops.layout import effective_view
from pypto_verified.ops.registry import lookup
from pypto_verified.passes.context import PassContext
from pypto_verified.passes.rewrite import Rewriter


def resolve_backend_op_layouts(function: Function, ctx: PassContext) -> Function:
    """Meet the row-major demand of ops declared `row_major`.

    A column ([N, 1], col_major, unboxed) is contiguous: it is relabelled [1, N] by a reshape, the op runs on the row,
    and its [1, N] result is relabelled back. Any other column-major operand is moved into a row-major tile.
    Requires: a space on every tile. Produces: row-major operands for these ops.
    """
    if not any(_is_column(t.shape) or (t.view is not None and _column_major(t)) for t in ctx.scan(function).tiles):
        return function
    return _Pass(function, ctx).run()


class _Pass(Rewriter):
    def assign(self, s: Assign) -> tuple[Stmt, ...]:
        value = self.expr(s.value)
        if not isinstance(value, Call) or not isinstance(s.var.type, TileType):
            return (self.rebuilt(s, value, self.retype(s.var, value)),)
        if value is not s.value:
            value = make_call(value.op, value.args, dict(value.kwargs), value.span)
        if lookup(value.op).row_major:
            if value.op == "tile.full" and _is_column(s.var.type.shape):
                return self._relabelled(s, value, [])
            columns = [k for k, a in enumerate(value.args)
                       if isinstance(a, Var) and isinstance(a.type, TileType) and _column_major(a.type)]
            if columns:
                return self._on_rows(s, value, columns)
        assert isinstance(value.type, TileType), "a tile op defines a tile"
        return (self.rebuilt(s, value, replace(value.type, memref=s.var.type.memref)),)

    def _on_rows(self, s: Assign, call: Call, columns: list[int]) -> tuple[Stmt, ...]:
        operands = zip(lookup(call.op).params, call.args, strict=False)
        tiles = [a for p, a in operands if isinstance(a, Var) and isinstance(a.type, TileType)
                 and (_is_column(a.type.shape) or not p.name.startswith("tmp"))]
        if all(isinstance(a.type, TileType) and _is_column(a.type.shape) for a in tiles):
            return self._relabelled(s, call, [k for k, a in enumerate(call.args) if a in tiles])
        before: list[Stmt] = []
        args = list(call.args)
        for k in columns:
            args[k] = self._emit(
                before, "tile.move", (call.args[k],), f"{_name(call.args[k])}_rows", call,
                target_memory=Space.VEC, blayout=BLayout.ROW,
            )
        new = make_call(call.op, tuple(args), dict(call.kwargs), call.span)
        assert isinstance(new.type, TileType) and isinstance(s.var.type, TileType), "a tile op defines a tile"
        return (*before, self.rebuilt(s, new, replace(new.type, memref=s.var.type.memref)))

    def _relabelled(self, s: Assign, call: Call, tiles: list[int]) -> tuple[Stmt, ...]:
        """The op on [1, N] relabels of its [N, 1] operands, and its result relabelled [N, 1]."""
        assert isinstance(s.var.type, TileType), "a tile op defines a tile"
        n = s.var.type.shape[0]
        row = MakeTuple((Const(1), Const(n)))
        before: list[Stmt] = []
        args = list(call.args)
        for k in tiles:
            args[k] = self._emit(before, "tile.reshape", (call.args[k], row), f"{_name(call.args[k])}_row", call)
        if call.op == "tile.full":
            args[lookup(call.op).index("shape")] = row
        result = self._emit(before, call.op, tuple(args), f"{s.var.name}_row", call, **dict(call.kwargs))
        if not isinstance(result.type, TileType) or result.type.shape != (1, n):
            raise NotModelled(f"{call.op} on a column of {n} elements", s.span.location)
        column = make_call("tile.reshape", (result, MakeTuple((Const(n), Const(1)))), {}, call.span)
        assert isinstance(column.type, TileType), "a reshape of a tile is a tile"
        return (*before, self.rebuilt(s, column, replace(column.type, memref=s.var.type.memref)))

    def _emit(
        self, out: list[Stmt], op: str, args: tuple[Expr, ...], name: str, origin: Call, **kwargs: Attr
    ) -> Var:
        call = make_call(op, args, kwargs, origin.span)
        var = Var(self.names.fresh(name), call.type)
        out.append(Assign(var, call, origin.span))
        return var


def _name(e: Expr) -> str:
    return e.name if isinstance(e, Var) else "t"


def _is_column(shape: tuple[int, ...]) -> bool:
    return len(shape) == 2 and shape[0] > 1 and shape[1] == 1


def _column_major(t: TileType) -> bool:
    view = effective_view(t)
    return view.blayout is BLayout.COL and view.slayout is SLayout.NONE
