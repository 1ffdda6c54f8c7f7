"""CopyOverwrittenTiles: an op that works in place gets a copy when the value it overwrites is still needed."""

from __future__ import annotations

from pypto_verified.errors import NotModelled
from pypto_verified.ir.changed import replace
from pypto_verified.ir.expr import Call, Expr, Span, Var
from pypto_verified.ir.stmt import Assign, For, Function, If, Stmt, While
from pypto_verified.ir.types import TileType
from pypto_verified.ops.registry import OPS
from pypto_verified.passes.buffers import is_view, shared_operand
from pypto_verified.passes.context import PassContext, at
from pypto_verified.passes.name_liveness import NameSet, live_after, loop_head
from pypto_verified.passes.rewrite import Rewriter
from pypto_verified.passes.tile_copies import Copier


def copy_overwritten_tiles(function: Function, ctx: PassContext) -> Function:
    """Keep values apart that the IR keeps apart: `t = assemble(base, x)` overwrites `base`, so if `base` (or a view of
    it) is read later, in a later trip too, or is `x` itself, the op works on a copy.

    A write through a window (`tile.slice`) of a tile that is read again is NotModelled.
    Requires: SSA, spaces, effective views. Produces: after an op that works in place nothing reads the old value.
    Raises PassError at the op where the copy would be in a space that has no copy instruction.
    """
    if _WRITES_OPERANDS.isdisjoint(ctx.scan(function).ops):
        return function
    return _Pass(function, ctx).run()


_WRITES_OPERANDS = frozenset(
    name for name, decl in OPS.items() if decl.inplace is not None and decl.params[decl.inplace].kind != "tensor")


class _Pass(Rewriter):
    def __init__(self, function: Function, ctx: PassContext) -> None:
        super().__init__(function, ctx)
        self.copier = Copier(ctx.target, self.names)
        self.root: dict[str, str] = {}
        self.windows: set[str] = set()
        self.live: NameSet = frozenset()

    def block(self, body: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
        outer = self.live
        out: list[Stmt] = []
        after = live_after(body, outer, lambda s: True)
        for i, s in enumerate(body):
            live = after[i]
            # At the end of a trip the carried names get new values: their old ones are not live over the back edge.
            self.live = loop_head(s, live) - {a.var.name for a in s.iter_args} if isinstance(s, For | While) else live
            out += self.statement(s)
        self.live = outer
        same = len(out) == len(body) and all(a is b for a, b in zip(out, body, strict=True))
        return body if same else tuple(out)

    def branch(self, s: If) -> Stmt:
        self.live -= {v.name for v in s.results}
        return super().branch(s)

    def assign(self, s: Assign) -> tuple[Stmt, ...]:
        value = self.expr(s.value)
        self.copier.note(s.var.name, value)
        position = shared_operand(value) if isinstance(value, Call) else None
        if not isinstance(value, Call) or position is None:
            return super().assign(s)
        operand = value.args[position]
        if not isinstance(operand, Var):
            return super().assign(s)
        root = self.root.get(operand.name, operand.name)
        if value.op == "tile.slice" or (is_view(value) and operand.name in self.windows):
            self.windows.add(s.var.name)
        before: tuple[Stmt, ...] = ()
        if not is_view(value) and (self._read_later(root, s.var.name) or self._read_beside(root, value, position)):
            copy = self._copy(operand, value, s.span)
            before = (copy,)
            value = replace(value, args=_with(value.args, position, copy.var))
            root = copy.var.name
        self.root[s.var.name] = root
        return (*before, self.rebuilt(s, value, self.retype(s.var, value)))

    def _read_later(self, root: str, result: str) -> bool:
        return any(self.root.get(name, name) == root for name in self.live if name != result)

    def _read_beside(self, root: str, call: Call, position: int) -> bool:
        others = (a for k, a in enumerate(call.args) if k != position)
        return any(isinstance(a, Var) and self.root.get(a.name, a.name) == root for a in others)

    def _copy(self, operand: Var, call: Call, span: Span) -> Assign:
        assert isinstance(operand.type, TileType), "ops work in place on tiles"
        if operand.name in self.windows:
            # PyPTO lets such a write reach the whole tile; the IR's values can't say so.
            what = f"{call.op} in place on '{operand.name}', a window of a tile that is read again"
            raise NotModelled(what, at(span))
        why = f"'{operand.name}' is read while or after {call.op} overwrites it"
        elsewhere = replace(operand.type, memref=None)  # not in storage of the author's choice, where the value stands
        return self.copier.copy(operand, elsewhere, why, span)


def _with(args: tuple[Expr, ...], position: int, value: Expr) -> tuple[Expr, ...]:
    return (*args[:position], value, *args[position + 1 :])
