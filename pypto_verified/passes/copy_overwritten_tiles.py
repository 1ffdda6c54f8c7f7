"""CopyOverwrittenTiles: an op that works in place gets a copy when the value it overwrites is still needed."""

from __future__ import annotations

from pypto_verified.errors import NotModelled, PassError
from pypto_verified.ir.changed import replace
from pypto_verified.ir.expr import Call, Expr, Span, Var
from pypto_verified.ir.stmt import LOOPS, Assign, Function, If, Stmt
from pypto_verified.ir.types import MemRef, TileType, Type
from pypto_verified.ops.registry import OPS
from pypto_verified.passes.buffers import is_view, shared_operand
from pypto_verified.passes.context import PassContext
from pypto_verified.passes.name_liveness import NameSet, live_after, loop_head
from pypto_verified.passes.rewrite import Rewriter
from pypto_verified.passes.tile_copies import Copier


def copy_overwritten_tiles(function: Function, ctx: PassContext) -> Function:
    """Keep values apart that the IR keeps apart: `t = assemble(base, x)` overwrites `base`, so if `base` (or a view of
    it) is read later, in a later trip too, or is `x` itself, the op works on a copy. So it does if the author wants `t`
    in other storage than `base`; where he wants both in one, what is read beside `base` is the copy.

    A write through a window (`tile.slice`) of a tile that is read again is NotModelled.
    Requires: SSA, spaces, effective views. Produces: after an op that works in place nothing reads the old value.
    Raises PassError at the op where the copy would be in a space that has no copy instruction, or where the author
    wants `t` in the storage of a `base` that is read later.
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
            self.live = loop_head(s, live) - {a.var.name for a in s.iter_args} if isinstance(s, LOOPS) else live
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
        root = self._root(operand)
        if value.op == "tile.slice" or (is_view(value) and operand.name in self.windows):
            self.windows.add(s.var.name)
        before: tuple[Stmt, ...] = ()
        if not is_view(value):
            before, value = self._apart(s, value, operand, position)
            kept = value.args[position]
            root = root if kept is operand or not isinstance(kept, Var) else kept.name
        self.root[s.var.name] = root
        return (*before, self.rebuilt(s, value, self.retype(s.var, value)))

    def _apart(self, s: Assign, call: Call, operand: Var, position: int) -> tuple[tuple[Stmt, ...], Call]:
        """The copies that the call needs so as not to overwrite what is read, and the call on them."""
        root = self._root(operand)
        later, beside = self._read_later(root, s.var.name), self._read_beside(root, call, position)
        where, wanted = _storage(operand.type), _storage(s.var.type)
        if wanted is None or wanted != where:
            if not (later or beside or wanted):
                return (), call
            if operand.name in self.windows:
                # PyPTO lets such a write reach the whole tile; the IR's values can't say so.
                what = f"{call.op} in place on '{operand.name}', a window of a tile that is read again"
                raise NotModelled(what, s.span.location)
            copy = self._copy(operand, call, wanted, s.span)
            return (copy,), replace(call, args=_with(call.args, position, copy.var))
        if later:
            raise PassError(
                f"'{s.var.name}' is to stand where '{operand.name}' does, which is read later", s.span.location,
                help=f"give '{s.var.name}' storage of its own")
        if not beside:
            return (), call
        # The result stays in the storage of the author's choice, so what is read beside it moves away.
        copies = {
            a.name: self._copy(a, call, None, s.span)
            for k, a in enumerate(call.args) if k != position and isinstance(a, Var) and self._root(a) == root}
        args = tuple(
            copies[a.name].var if k != position and isinstance(a, Var) and a.name in copies else a
            for k, a in enumerate(call.args))
        return tuple(copies.values()), replace(call, args=args)

    def _root(self, tile: Var) -> str:
        """The first of the tiles that stand in one place."""
        return self.root.get(tile.name, tile.name)

    def _read_later(self, root: str, result: str) -> bool:
        return any(self.root.get(name, name) == root for name in self.live if name != result)

    def _read_beside(self, root: str, call: Call, position: int) -> bool:
        others = (a for k, a in enumerate(call.args) if k != position)
        return any(isinstance(a, Var) and self._root(a) == root for a in others)

    def _copy(self, operand: Var, call: Call, storage: MemRef | None, span: Span) -> Assign:
        assert isinstance(operand.type, TileType), "ops work in place on tiles"
        why = f"'{operand.name}' is read while or after {call.op} overwrites it"
        return self.copier.copy(operand, replace(operand.type, memref=storage), why, span)


def _storage(t: Type) -> MemRef | None:
    """The storage that the author chose for a tile."""
    return t.memref if isinstance(t, TileType) else None


def _with(args: tuple[Expr, ...], position: int, value: Expr) -> tuple[Expr, ...]:
    return (*args[:position], value, *args[position + 1 :])
