"""Small IR functions as they leave the pipeline, and the text that code generation makes of them."""

from __future__ import annotations

from collections.abc import Sequence

from pypto_verified.codegen import generate_text
from pypto_verified.dtypes import BOOL, DTYPES, FP32, INDEX, DType
from pypto_verified.ir.expr import NO_SPAN, Attr, Call, Const, Expr, MakeTuple, Span, Var
from pypto_verified.ir.stmt import Assign, Direction, Eval, Function, FunctionKind, Param, Stmt
from pypto_verified.ir.types import (
    Dim,
    MemRef,
    NoneType,
    ScalarType,
    TensorType,
    TensorView,
    TileType,
    TileView,
    Type,
)
from pypto_verified.layouts import BLayout, Compact, Pad, SLayout, Space
from pypto_verified.targets import A2A3, A5

_ROW, _COL, _NONE = BLayout.ROW, BLayout.COL, SLayout.NONE
_LAYOUT = {
    Space.MAT: (_COL, SLayout.ROW, 512),
    Space.LEFT: (_COL, SLayout.ROW, 512),
    Space.RIGHT: (_ROW, SLayout.COL, 512),
    Space.ACC: (_COL, SLayout.ROW, 1024),
}


def tile(
    rows: int, cols: int, dtype: DType = FP32, space: Space = Space.VEC, *, at: Dim = 0, base: str = "",
    valid: tuple[Dim, ...] = (), col_major: bool = False, pad: Pad = Pad.NULL, compact: Compact = Compact.NULL,
    slots: int = 1, slot: Dim = 0,
) -> TileType:
    """A tile in the layout of its space, at byte address `at`."""
    blayout, slayout, fractal = _LAYOUT.get(space, (_COL if col_major else _ROW, _NONE, 512))
    memref = MemRef(base or f"mem_{space.value}_{at}", at, rows * cols * dtype.bytes, slots=slots, slot=slot)
    return TileType((rows, cols), dtype, space, TileView(valid, blayout, slayout, fractal, pad, compact), memref)


def tensor(*shape: Dim, dtype: DType = FP32, view: TensorView | None = None) -> TensorType:
    """A global tensor."""
    return TensorType(shape, dtype, view or TensorView())


def scalar(name: str, dtype: DType = INDEX) -> Var:
    """A scalar variable."""
    return Var(name, ScalarType(dtype))


def nums(*items: Dim) -> MakeTuple:
    """A literal list of offsets or sizes."""
    return MakeTuple(tuple(Const(i) if isinstance(i, int) else i for i in items))


def call(op: str, *args: Expr, type: Type | None = None, span: Span = NO_SPAN, **kwargs: Attr) -> Call:
    """An op call; without a type it is made for its effect."""
    return Call(op, args, tuple(sorted(kwargs.items())), type or NoneType(), span)


def let(var: Var, op: str, *args: Expr, span: Span = NO_SPAN, call_span: Span = NO_SPAN, **kwargs: Attr) -> Assign:
    """`var = op(args)`."""
    return Assign(var, call(op, *args, type=var.type, span=call_span, **kwargs), span)


def do(op: str, *args: Expr) -> Eval:
    """`op(args)` for its effect."""
    return Eval(call(op, *args))


def kernel(
    body: Sequence[Stmt], *params: Var, dynamic: tuple[str, ...] = (), kind: FunctionKind = FunctionKind.AIV,
    spans: tuple[Span, ...] = (),
) -> Function:
    """A function named `k`."""
    where = spans or (NO_SPAN,) * len(params)
    declared = tuple(Param(p, Direction.IN, s) for p, s in zip(params, where, strict=True))
    return Function("k", kind, declared, (), tuple(body), dynamic)


def lines(function: Function, *, a5: bool = False, locs: bool = False, addresses: bool = True) -> list[str]:
    """The body's lines as printed, stripped, without the module's and the function's braces."""
    text = generate_text([function], A5 if a5 else A2A3, emit_source_loc=locs, emit_tile_addr=addresses)
    inner = [line.strip() for line in text.splitlines()]
    start = next(i for i, line in enumerate(inner) if line.startswith("func.func"))
    return [line for line in inner[start + 1 :] if line not in ("}", "return", "")]


def signature(function: Function) -> str:
    """The `func.func` line."""
    return next(
        line.strip() for line in generate_text([function], A2A3).splitlines() if line.strip().startswith("func.func")
    )


def without_constants(found: list[str]) -> list[str]:
    """The lines that are not `arith.constant`."""
    return [line for line in found if "arith.constant" not in line]


def last_op(function: Function, *, a5: bool = False) -> str:
    """The last line of the body."""
    return lines(function, a5=a5)[-1]


# The text of a tile type, spelled out after the assembler's long form.


def buf(
    loc: str, dtype: str, rows: int, cols: int, v_row: str = "?", v_col: str = "?", blayout: str = "row_major",
    slayout: str = "none_box", fractal: int = 512, pad: int = 0, compact: str = "",
) -> str:
    """`!pto.tile_buf<...>`."""
    return (
        f"!pto.tile_buf<loc={loc}, dtype={dtype}, rows={rows}, cols={cols}, v_row={v_row}, v_col={v_col}, "
        f"blayout={blayout}, slayout={slayout}, fractal={fractal}, pad={pad}{compact}>"
    )


DT = DTYPES
TRUE = Const(True, BOOL)
FALSE = Const(False, BOOL)
