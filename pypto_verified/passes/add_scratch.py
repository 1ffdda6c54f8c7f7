"""AddScratch: a transpose gets the scratch tile that its instruction works in."""

from __future__ import annotations

from pypto_verified.ir.expr import NO_ARG, Call, Const, MakeTuple, Var
from pypto_verified.ir.stmt import Assign, Function, Stmt
from pypto_verified.ir.types import TileType
from pypto_verified.ops.build import make_call
from pypto_verified.ops.registry import lookup
from pypto_verified.passes.context import PassContext
from pypto_verified.passes.rewrite import Rewriter


def add_scratch(function: Function, ctx: PassContext) -> Function:
    """Create a tile of the source's shape, dtype and space for each `tile.transpose` without a scratch operand.

    Requires: SSA, 2-D tiles with spaces. Produces: transposes with scratch.
    """
    return _Pass(function, ctx).run()


class _Pass(Rewriter):
    def assign(self, s: Assign) -> tuple[Stmt, ...]:
        (new,) = super().assign(s)
        assert isinstance(new, Assign), "an assignment stays one"
        call = new.value
        if not isinstance(call, Call) or call.op != "tile.transpose":
            return (new,)
        position, source = lookup(call.op).index("tmp_tile"), call.args[0]
        if len(call.args) > position and call.args[position] != NO_ARG:
            return (new,)
        assert isinstance(source, Var) and isinstance(source.type, TileType), "a transpose has a tile operand"
        shape = MakeTuple(tuple(map(Const, source.type.shape)))
        kwargs = {"dtype": source.type.dtype, "target_memory": source.type.space}
        scratch = make_call("tile.create", (shape,), kwargs, call.span)
        tmp = Var(self.names.fresh(f"{s.var.name}_tmp"), scratch.type)
        transposed = make_call(call.op, (*call.args[:position], tmp), dict(call.kwargs), call.span)
        return (Assign(tmp, scratch, s.span), self.rebuilt(s, transposed, new.var.type))
