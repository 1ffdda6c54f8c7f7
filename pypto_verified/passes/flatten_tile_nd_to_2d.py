"""FlattenTileNdTo2D: every tile has two dims."""

from __future__ import annotations

from pypto_verified.errors import NotModelled
from pypto_verified.ir.changed import replace
from pypto_verified.ir.expr import NO_ARG, Call, Const, Expr, MakeTuple, Span, Var
from pypto_verified.ir.stmt import Assign, Eval, Function, Stmt
from pypto_verified.ir.types import Dim, TensorType, TileType, Type
from pypto_verified.ops.build import make_call
from pypto_verified.ops.dims import as_expr, mul
from pypto_verified.ops.layout import make_tile
from pypto_verified.ops.registry import lookup
from pypto_verified.passes.context import PassContext
from pypto_verified.passes.dims import same_dim, show
from pypto_verified.passes.rewrite import Rewriter

# Ops that treat every row alike: merging leading dims does not change what they compute.
_BINARY = "add sub mul div maximum minimum rem fmod and or xor shl shr addc subc part_add part_mul part_max part_min"
_SCALAR = "adds subs muls divs rems fmods maximums minimums ands ors xors shls shrs addsc subsc lrelu prelu"
_UNARY = "neg exp log sqrt rsqrt recip abs relu not sin cos cast cmp cmps sel sels fillpad fillpad_inplace move"
_REDUCE = "row_sum row_max row_min row_prod row_argmax row_argmin row_expand row_expand_add row_expand_sub"
_EXPAND = "row_expand_mul row_expand_div row_expand_max row_expand_min row_expand_expdif"
_BY_ROW = frozenset(f"tile.{n}" for row in (_BINARY, _SCALAR, _UNARY, _REDUCE, _EXPAND) for n in row.split())
_BY_SHAPE = frozenset({"tile.create", "tile.full", "tile.reshape"})


def flatten_tile_nd_to_2d(function: Function, ctx: PassContext) -> Function:
    """Merge the leading dims of tiles of another rank than 2: [A, B, C] becomes [A*B, C], [N] becomes [1, N].

    Loads keep their n-D window; a store of a flattened tile gets the window as its `shapes` operand.
    Requires: a space on every tile. Raises NotModelled for an op that is not row by row, and where the valid region of
    the merged dims is not a run of whole rows.
    """
    if all(len(t.shape) == 2 for t in ctx.scan(function).tiles):
        return function
    return _Pass(function, ctx).run()


class _Pass(Rewriter):
    def __init__(self, function: Function, ctx: PassContext) -> None:
        super().__init__(function, ctx)
        self.windows: dict[str, TileType] = {}

    def statement(self, s: Stmt) -> tuple[Stmt, ...]:
        if isinstance(s, Eval) and (self._tiles(s.call) & self.windows.keys()):
            return (replace(s, call=self._store(s.call)),)
        return super().statement(s)

    def assign(self, s: Assign) -> tuple[Stmt, ...]:
        old = s.var.type
        if isinstance(s.value, Call) and isinstance(old, TensorType) and self._tiles(s.value) & self.windows.keys():
            return (replace(s, value=self._store(s.value)),)
        if not isinstance(s.value, Call) or not isinstance(old, TileType):
            return super().assign(s)
        touched = bool(self._tiles(s.value) & self.windows.keys())
        if len(old.shape) == 2 and not touched:
            return super().assign(s)
        if len(old.shape) != 2:
            self.windows[s.var.name] = old
        call = self._flat(s.value, old)
        return (self.rebuilt(s, call, call.type),)

    def _tiles(self, call: Call) -> set[str]:
        return {a.name for a in call.args if isinstance(a, Var) and isinstance(a.type, TileType)}

    def _flat(self, call: Call, old: TileType) -> Call:
        flat = flattened(old, call.span)
        args = tuple(self.expr(a) for a in call.args)
        if call.op == "tile.load":
            return replace(call, args=args, type=flat)
        if call.op in _BY_SHAPE:
            position = lookup(call.op).index("shape")
            shape = MakeTuple(tuple(Const(d) for d in flat.shape))
            args = (*args[:position], shape, *args[position + 1 :])
        elif call.op not in _BY_ROW:
            raise NotModelled(f"{call.op} on a tile of rank {len(old.shape)}", call.span.location)
        return make_call(call.op, args, dict(call.kwargs), call.span)

    def _store(self, call: Call) -> Call:
        if call.op != "tile.store":
            raise NotModelled(f"{call.op} on a tile of another rank than 2", call.span.location)
        tile, offsets, tensor = (self.expr(a) for a in call.args[:3])
        source = call.args[0]
        assert isinstance(source, Var), "calls are flat"
        window = MakeTuple(tuple(as_expr(d) for d in self.windows[source.name].valid_shape))
        if len(call.args) > 3 and call.args[3] != NO_ARG:
            window = call.args[3] if isinstance(call.args[3], MakeTuple) else window
        return make_call(call.op, (tile, offsets, tensor, window), dict(call.kwargs), call.span)

    def carried_type(self, var: Var, init: Expr) -> Type:
        if isinstance(var.type, TileType) and len(var.type.shape) != 2:
            self.windows[var.name] = var.type
        return super().carried_type(var, init)

    def results(self, results: tuple[Var, ...], types: list[Type | None]) -> tuple[Var, ...]:
        for v in results:
            if isinstance(v.type, TileType) and len(v.type.shape) != 2:
                self.windows[v.name] = v.type
        return super().results(results, types)


def flattened(t: TileType, span: Span) -> TileType:
    """The 2-D type of a tile: rows are all leading dims."""
    if len(t.shape) == 2:
        return t
    *leading, columns = t.shape
    *extents, valid_columns = t.valid_shape
    rows, valid_rows = 1, 1
    for d in leading:
        rows *= d
    partial: list[int] = [k for k, (v, d) in enumerate(zip(extents, leading, strict=True)) if not same_dim(v, d)]
    result: Dim = valid_rows
    if partial and (len(partial) > 1 or any(d != 1 for d in leading[: partial[0]])):
        raise NotModelled(f"a tile {list(t.shape)} that is valid on {show(t.valid_shape)}", span.location)
    for v in extents:
        result = mul(result, v)
    return make_tile((rows, columns), t.dtype, t.space, (result, valid_columns), memref=t.memref)
