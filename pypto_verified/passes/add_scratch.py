"""AddScratch: ops get the scratch tile that their instruction works in, and lose one that the assembler can't take."""

from __future__ import annotations

from collections.abc import Callable
from math import prod

from pypto_verified.dtypes import FP16, FP32, INT8, INT16, INT32, UINT8, UINT16, DType
from pypto_verified.ir.expr import NO_ARG, Attr, Call, Const, MakeTuple, Var
from pypto_verified.ir.stmt import Assign, Function, Stmt
from pypto_verified.ir.types import TileType
from pypto_verified.layouts import Space
from pypto_verified.ops.build import make_call
from pypto_verified.ops.registry import lookup
from pypto_verified.passes.context import PassContext
from pypto_verified.passes.rewrite import Rewriter
from pypto_verified.records import dataclass

Scratch = tuple[tuple[int, ...], DType, Space]


@dataclass(frozen=True, slots=True)
class ScratchRow:
    """An op whose optional operand `param` is a scratch; `shape_of(source, result)` is the tile to create, None where
    the instruction needs none."""

    op: str
    param: str
    targets: frozenset[str]
    shape_of: Callable[[TileType | None, TileType], Scratch | None]
    source: str


def _like_source(source: TileType | None, result: TileType) -> Scratch:
    chosen = source or result
    return chosen.shape, chosen.dtype, chosen.space or Space.VEC


def _ramp_table(source: TileType | None, result: TileType) -> Scratch:
    """Words of 4 bytes: 768 bytes for 32-bit elements, 1792 for 16-bit ones."""
    size = 1792 if result.dtype in (INT16, UINT16) else 768
    return (1, size // INT32.bytes), INT32, Space.VEC


def _cast_steps(source: TileType | None, result: TileType) -> Scratch | None:
    """Narrowing to integers without saturation goes through 32-bit words: all of them for FP32, 64 for FP16."""
    assert source is not None, "a cast has a source"
    if source.dtype == FP32 and result.dtype in (INT16, UINT16):
        return (1, 4 * prod(source.shape)), INT8, Space.VEC
    if source.dtype == FP16 and result.dtype in (INT8, UINT8, INT16, UINT16):
        return (1, 4 * 64), INT8, Space.VEC
    return None


_BOTH = frozenset({"a2a3", "a5"})
ROWS: dict[str, ScratchRow] = {
    r.op: r for r in (
        ScratchRow("tile.transpose", "tmp_tile", _BOTH, _like_source, "PTO-ISA TTRANS"),
        ScratchRow("tile.sort32", "tmp", _BOTH, _like_source, "PTOAS TSort32Op: level3, width not known statically"),
        ScratchRow("tile.ci", "tmp", frozenset({"a2a3"}), _ramp_table, "PTOAS TCIOp: level3 on a2a3"),
        ScratchRow("tile.cast", "tmp", frozenset({"a2a3"}), _cast_steps,
                   "PTOAS makeTCvtTmpType: level3 on a2a3; an upper bound of its bytes"),
    )
}

DROPPED = {"tile.col_sum": "tmp_tile"}
"""PTOAS takes a binary column sum only with statically typed extents, which allocated tiles never have (CG-08)."""

_CHANGED = ROWS.keys() | DROPPED.keys()


def add_scratch(function: Function, ctx: PassContext) -> Function:
    """Create the scratch tile of each op in ROWS that has none; take the scratch of those in DROPPED away.

    Requires: SSA, 2-D tiles with spaces. Produces: scratch operands as the assembler wants them.
    """
    return function if _CHANGED.isdisjoint(ctx.scan(function).ops) else _Pass(function, ctx).run()


class _Pass(Rewriter):
    def assign(self, s: Assign) -> tuple[Stmt, ...]:
        (new,) = super().assign(s)
        assert isinstance(new, Assign), "an assignment stays one"
        call = new.value
        if not isinstance(call, Call):
            return (new,)
        if call.op in DROPPED:
            return (self._without(s, new, call),)
        row = ROWS.get(call.op)
        if row is None or self.ctx.target.name not in row.targets:
            return (new,)
        position = lookup(call.op).index(row.param)
        if len(call.args) > position and call.args[position] != NO_ARG:
            return (new,)
        return self._with(s, new, call, row, position)

    def _with(self, s: Assign, new: Assign, call: Call, row: ScratchRow, position: int) -> tuple[Stmt, ...]:
        first = call.args[0]
        source = first.type if isinstance(first, Var) and isinstance(first.type, TileType) else None
        assert isinstance(new.var.type, TileType), "an op with a scratch yields a tile"
        scratch = row.shape_of(source, new.var.type)
        if scratch is None:
            return (new,)
        shape, dtype, space = scratch
        kwargs: dict[str, Attr] = {"dtype": dtype, "target_memory": space}
        create = make_call("tile.create", (MakeTuple(tuple(map(Const, shape))),), kwargs, call.span)
        tmp = Var(self.names.fresh(f"{s.var.name}_tmp"), create.type)
        omitted = (NO_ARG,) * (position - len(call.args))
        args = (*call.args[:position], *omitted, tmp)
        remade = make_call(call.op, args, dict(call.kwargs), call.span)
        return (Assign(tmp, create, s.span), self.rebuilt(s, remade, new.var.type))

    def _without(self, s: Assign, new: Assign, call: Call) -> Stmt:
        position = lookup(call.op).index(DROPPED[call.op])
        if len(call.args) <= position or call.args[position] == NO_ARG:
            return new
        assert isinstance(new.var.type, TileType), "a reduction yields a tile"
        remade = make_call(call.op, call.args[:position], dict(call.kwargs), call.span)
        return self.rebuilt(s, remade, new.var.type)
