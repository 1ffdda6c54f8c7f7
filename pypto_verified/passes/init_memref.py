"""InitMemRef: every tile gets a buffer."""

from __future__ import annotations

from pypto_verified.ir.changed import replace
from pypto_verified.ir.expr import Call, Expr, Var
from pypto_verified.ir.stmt import Assign, Function, If, Stmt
from pypto_verified.ir.types import MemRef, TileType, Type
from pypto_verified.ir.walk import walk_stmts
from pypto_verified.passes.buffer_table import SLOT_PREFIX
from pypto_verified.passes.buffers import POP_OPS, shared_operand, storage_bytes
from pypto_verified.passes.context import Names, PassContext
from pypto_verified.passes.rewrite import Rewriter


def init_memref(function: Function, ctx: PassContext) -> Function:
    """Give every tile variable a MemRef of its own buffer (`mem_<space>_<n>`), no address yet.

    Views and ops that work in place share the buffer of their operand. Carried variables and results of branches get a
    buffer of their own: MaterializeSemanticAliases joins it with the values that flow into it, or copies. A buffer that
    the author declared (`pl.MemRef`) is kept; its `size` becomes the distance of its slots (MP-06). A popped tile lives
    in its pipe's slot (`slot_<n>`), which no planner places.
    Requires: SSA without copied names, spaces, effective views, nothing read after it was overwritten.
    Produces: a MemRef on every tile.
    """
    return _Pass(function, ctx).run()


class _Pass(Rewriter):
    def __init__(self, function: Function, ctx: PassContext) -> None:
        super().__init__(function, ctx)
        self.strides = self._declared()
        self.buffers = Names(self.strides)

    def retype(self, var: Var, value: Expr) -> Type:
        t = super().retype(var, value)
        if not isinstance(t, TileType):
            return t
        if t.memref is not None:
            return replace(t, memref=replace(t.memref, size=self.strides[t.memref.base]))
        assert isinstance(value, Call), "copied names are gone"
        if value.op in POP_OPS:
            return replace(t, memref=MemRef(self._fresh(SLOT_PREFIX.removesuffix("_")), None, self._bytes(t)))
        position = shared_operand(value)
        operand = value.args[position] if position is not None else None
        if isinstance(operand, Var) and isinstance(operand.type, TileType) and operand.type.memref is not None:
            return replace(t, memref=replace(operand.type.memref, size=self._bytes(t)))
        return self._own(t)

    def _own(self, t: TileType) -> TileType:
        assert t.space is not None, "spaces are inferred before storage is given"
        memref = MemRef(self._fresh(f"mem_{t.space.value}"), None, self._bytes(t))
        return TileType(t.shape, t.dtype, t.space, t.view, memref)

    def _bytes(self, t: TileType) -> int:
        return storage_bytes(t, self.ctx.target)

    def _fresh(self, prefix: str) -> str:
        return self.buffers.numbered(prefix)

    def _declared(self) -> dict[str, int]:
        """The bytes of one slot of each declared buffer: as the author says, with room for each of its tiles."""
        found: dict[str, int] = {}
        for s in walk_stmts(self.function.body):
            if isinstance(s, Assign) and isinstance(s.var.type, TileType) and s.var.type.memref is not None:
                m, align = s.var.type.memref, self._alignment(s.var.type)
                size = max(m.size // m.slots, self._bytes(s.var.type), found.get(m.base, 0))
                found[m.base] = -(-size // align) * align
        return found

    def _alignment(self, t: TileType) -> int:
        assert t.space is not None, "spaces are inferred before storage is given"
        return self.ctx.target.alignment(t.space)

    def carried_type(self, var: Var, init: Expr) -> Type:
        t = super().carried_type(var, init)
        return self._own(t) if isinstance(t, TileType) else t

    def branch(self, s: If) -> Stmt:
        new = super().branch(s)
        assert isinstance(new, If), "a branch stays a branch"
        own = tuple(
            self.define(v, self._own(v.type)) if isinstance(v.type, TileType) else v
            for v in new.results
        )
        return replace(new, results=own) if own else new

