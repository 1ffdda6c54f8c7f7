"""What ops do to buffers: which results share an operand's bytes, which operands an op overwrites, where a result may
stand on an operand that it reads."""

from __future__ import annotations

from math import prod

from pypto_verified.ir.expr import Call, Const, Expr, Var
from pypto_verified.ir.types import MemRef, TileType
from pypto_verified.ir.walk import children
from pypto_verified.layouts import Space
from pypto_verified.ops.decl import is_scratch
from pypto_verified.ops.registry import OPS
from pypto_verified.targets import Target

POP_OPS = frozenset({"tile.tpop_from_aic", "tile.tpop_from_aiv"})


def storage_bytes(t: TileType, target: Target) -> int:
    """Bytes that a physical tile occupies; sub-byte elements are packed, accumulators padded to the target's rows."""
    *leading, rows, columns = (1, *t.shape)
    if t.space is Space.ACC:
        multiple = target.acc_row_multiple(t.dtype)
        rows = -(-rows // multiple) * multiple
    return (prod(leading) * rows * columns * t.dtype.bits + 7) // 8


def base_of(e: Expr) -> str | None:
    """The buffer of a tile variable, if it has one."""
    if isinstance(e, Var) and isinstance(e.type, TileType) and e.type.memref is not None:
        return e.type.memref.base
    return None


def tile_bases(e: Expr) -> set[str]:
    """The buffers of all tile variables in an expression."""
    if isinstance(e, Var):
        base = base_of(e)
        return set() if base is None else {base}
    found: set[str] = set()
    for child in children(e):
        if not isinstance(child, Const):
            found |= tile_bases(child)
    return found


def shared_operand(call: Call) -> int | None:
    """The position of the tile operand whose buffer the result is: a view of it, or the same bytes overwritten."""
    decl = OPS[call.op]
    k = decl.inplace if decl.inplace is not None else 0 if decl.view else None
    return k if k is not None and isinstance(call.type, TileType) else None


def is_view(call: Call) -> bool:
    """Whether the op moves no bytes."""
    decl = OPS[call.op]
    return decl.view and decl.inplace is None and isinstance(call.type, TileType)


def overwritten(call: Call) -> list[Var]:
    """The tile operands that the op writes: the one it works on in place, and its scratch."""
    found: list[Var] = []
    for k in OPS[call.op].overwrites:
        arg = call.args[k] if k < len(call.args) else None
        if isinstance(arg, Var) and isinstance(arg.type, TileType):
            found.append(arg)
    return found


def may_stand_on(call: Call, position: int, result: TileType) -> bool:
    """Whether the result may have the bytes of the operand at `position`: the op allows it, and both have the same
    elements at the same addresses, so that no element is overwritten before it is read."""
    decl = OPS[call.op]
    operand = call.args[position]
    assert isinstance(operand, Var) and isinstance(operand.type, TileType), "asked about a tile operand"
    if position in decl.noalias or is_scratch(decl.params[position].name):
        return False
    t = operand.type
    return t.shape == result.shape and t.dtype.bits == result.dtype.bits and _layout(t) == _layout(result)


def _layout(t: TileType) -> tuple[object, ...] | None:
    return None if t.view is None else (t.view.blayout, t.view.slayout, t.view.fractal, t.view.compact)


def is_fixed(m: MemRef) -> bool:
    """Whether the author decided the storage: the planner may neither share nor move it."""
    return m.pinned or m.slots > 1
