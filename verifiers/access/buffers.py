"""Buffers where control flow meets: which names they have there, which extents are still known, and which are lost."""

from __future__ import annotations

from collections.abc import Iterable

from pypto_verified.index import Cond, Expr
from pypto_verified.pto.module import Block, Op, Value
from pypto_verified.pto.types import PtrType
from verifiers.access.arguments import all_ops
from verifiers.access.handles import Handles
from verifiers.access.program import AccessProgram, TileUse
from verifiers.access.scalars import Scalars
from verifiers.access.symbols import SymbolKind


class Buffers:
    """`lost`: values that stand for a buffer of which it is not known where it is; a gap has been noted of each."""

    def __init__(self, program: AccessProgram, handles: Handles, scalars: Scalars) -> None:
        self.program = program
        self.handles = handles
        self.scalars = scalars
        self.symbols = handles.symbols
        self.lost = {arg for arg in program.func.args if not isinstance(arg.type, PtrType)}

    def rename(self, value: Value, known: Value) -> bool:
        """`value` is a buffer that `known` names too; False if nothing is known of that."""
        if self.handles.rename(value, known):
            return True
        if known in self.lost:
            self.lost.add(value)
        return known in self.lost

    def choose(self, op: Op, result: Value, first: Value, second: Value, chooser: str) -> None:
        """`result` is one of two buffers: the same one whatever is chosen, or not modelled."""
        if first is not second or not self.rename(result, first):
            self.program.gaps.append((op, f"%{result.name}, a buffer chosen by {chooser}"))
            self.lost.add(result)

    def carry(self, op: Op, names: tuple[Value, ...], init: Value, handed: Value) -> None:
        """A tile or view carried by a loop, `names[0]` inside: the same buffer throughout, or not modelled."""
        same = handed in (*names, init)
        if not same:
            self.program.gaps.append((op, f"%{names[0].name}, a buffer that changes from one iteration to the next"))
        for name in names:
            if not same or (not self.handles.rename(name, init) and init in self.lost):
                self.lost.add(name)

    def forget_valid(self, block: Block) -> list[Value]:
        """Handles from outside whose valid extents the body changes: unknown at its head, and after it."""
        changed = [
            op.arg("source") for op in all_ops(block)
            if op.name == "pto.set_validshape" and op.arg("source") in self.handles.tiles]
        self.opaque_valid(changed)
        return changed

    def opaque_valid(self, values: Iterable[Value]) -> None:
        """From here on nothing is known of the valid extents of these."""
        for value in values:
            type_ = self.handles.tiles[value].type
            rows = self.symbols.new(f"valid_rows_of_{value.name}", SymbolKind.OPAQUE, 0, type_.rows)
            cols = self.symbols.new(f"valid_cols_of_{value.name}", SymbolKind.OPAQUE, 0, type_.cols)
            self.handles.set_valid(value, rows, cols)

    def join_valid(self, cond: Cond, before: dict[Value, TileUse], after_then: dict[Value, TileUse]) -> None:
        """The valid extents after a branch, whose second arm has just been walked."""
        for value in before:
            a, b = after_then[value], self.handles.tiles[value]
            if a is b:
                continue
            rows = self.scalars.select(f"valid_rows_of_{value.name}", cond, a.valid_rows, b.valid_rows)
            cols = self.scalars.select(f"valid_cols_of_{value.name}", cond, a.valid_cols, b.valid_cols)
            assert isinstance(rows, Expr) and isinstance(cols, Expr)
            self.handles.set_valid(value, rows, cols)
