"""Whatever a kernel does, lowering it keeps its meaning: random kernels before the passes against placed ones after."""

from __future__ import annotations

from collections.abc import Iterable

from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st

from pypto_verified.dtypes import BOOL, FP32, INDEX
from pypto_verified.ir.expr import Binary, BinaryOp, Const, Expr, MakeTuple, Span, Var
from pypto_verified.ir.printer import print_function
from pypto_verified.ir.stmt import (
    Assign,
    Break,
    Continue,
    Direction,
    For,
    Function,
    FunctionKind,
    If,
    Param,
    Return,
    Stmt,
)
from pypto_verified.ir.types import ScalarType, TensorType, TileType
from pypto_verified.ops.build import make_call

from .build import TARGETS, lower
from .machine import meaning, placed

NAMES = ("x", "y", "z")
TILE = TileType((16, 16), FP32)
A = Var("a", TensorType((1024, 16), FP32))
OUT = Var("out", TensorType((1024, 16), FP32))
N = Var("n", ScalarType(INDEX))
C = Var("c", ScalarType(INDEX))
AT = Span("k.py", 1, 1, 1, 2)


def _numbers(*values: int) -> MakeTuple:
    return MakeTuple(tuple(map(Const, values)))


def _assign(name: str, op: str, *args: Expr, **kwargs: object) -> Stmt:
    call = make_call(f"tile.{op}", args, kwargs, AT)  # type: ignore[arg-type]  # keywords of several kinds
    return Assign(Var(name, call.type), call, AT)


def _v(name: str) -> Var:
    return Var(name, TILE)


@st.composite
def _statement(draw: st.DrawFn, depth: int, loop: str) -> list[Stmt]:
    kinds = ["add", "exp", "recip", "copy", "load", "assemble", "slice", "window", "sum", "rem", "swap"]
    if depth < 2:
        kinds += ["if", "for", "for"]
    if loop:
        kinds += ["exit"]
    kind = draw(st.sampled_from(kinds))
    x, y, z = (draw(st.sampled_from(NAMES)) for _ in range(3))
    match kind:
        case "add":
            return [_assign(x, "add", _v(y), _v(z))]
        case "exp" | "recip":
            return [_assign(x, kind, _v(y))]
        case "copy":
            return [Assign(_v(x), _v(y), AT)]
        case "swap":
            return [Assign(_v("t"), _v(x), AT), Assign(_v(x), _v(y), AT), Assign(_v(y), _v("t"), AT)]
        case "load":
            row = draw(st.integers(0, 9))
            return [_assign(x, "load", A, _numbers(row, 0), _numbers(16, 16))]
        case "assemble":
            return [_assign(x, "assemble", _v(y), _v(z), _numbers(0, 0))]
        case "slice":
            part = make_call("tile.slice", (_v(y), _numbers(8, 16), _numbers(8, 0)), {}, AT)
            small = Var("part", part.type)
            return [Assign(small, part, AT), _assign(x, "assemble", _v(z), small, _numbers(0, 0))]
        case "window":
            row = draw(st.sampled_from((0, 4, 8)))
            part = make_call("tile.slice", (_v(y), _numbers(8, 16), _numbers(row, 0)), {}, AT)
            small = Var("part", part.type)
            half = make_call("tile.exp", (small,), {}, AT)
            put = _assign(x, "assemble", _v(z), Var("half", half.type), _numbers(4, 0))
            return [Assign(small, part, AT), Assign(Var("half", half.type), half, AT), put]
        case "sum":
            tmp = make_call("tile.create", (_numbers(16, 16),), {"dtype": FP32}, AT)
            sums = make_call("tile.row_sum", (_v(y), Var("tmp", tmp.type)), {}, AT)
            column = Var("column", sums.type)
            spread = _assign(x, "row_expand_add", _v(z), column)
            return [Assign(Var("tmp", tmp.type), tmp, AT), Assign(column, sums, AT), spread]
        case "rem":
            tmp = make_call("tile.create", (_numbers(16, 16),), {"dtype": FP32}, AT)
            return [Assign(Var("tmp", tmp.type), tmp, AT), _assign(x, "rem", _v(y), _v(z), Var("tmp", tmp.type))]
        case "if":
            cond = Binary(BinaryOp.EQ, C, Const(draw(st.integers(0, 1))), BOOL)
            return [If(cond, draw(_body(depth + 1, loop)), draw(_body(depth + 1, loop)), (), AT)]
        case "for":
            i = Var(f"i{depth}", ScalarType(INDEX))
            return [For(i, Const(0), N, Const(1), (), draw(_body(depth + 1, i.name)), (), span=AT)]
        case _:
            i = Var(loop, ScalarType(INDEX))
            cond = Binary(BinaryOp.EQ, i, Const(draw(st.integers(0, 1))), BOOL)
            leave: Stmt = Break(AT) if draw(st.booleans()) else Continue(AT)
            return [If(cond, (*draw(_body(2, "")), leave), (), (), AT)]


@st.composite
def _body(draw: st.DrawFn, depth: int, loop: str) -> tuple[Stmt, ...]:
    parts = draw(st.lists(_statement(depth, loop), min_size=1, max_size=4))
    return tuple(s for part in parts for s in part)


def _kernel(inner: Iterable[Stmt]) -> Function:
    """A kernel on three tiles that it loads first and stores last."""
    loads = [_assign(n, "load", A, _numbers(100 + k, 0), _numbers(16, 16)) for k, n in enumerate(NAMES)]
    stores: list[Stmt] = []
    for k, n in enumerate(NAMES):
        call = make_call("tile.store", (_v(n), _numbers(16 * k, 0), OUT), {}, AT)
        stores.append(Assign(OUT, call, AT))
    params = (Param(A), Param(N), Param(C), Param(OUT, Direction.OUT))
    body = (*loads, *inner, *stores, Return((OUT,), AT))
    return Function("k", FunctionKind.INCORE, params, (OUT.type,), body)


def test_values_of_many_parts_are_compared_at_once() -> None:
    """Each of 60 sums takes the one before twice."""
    function = _kernel(_assign("x", "add", _v("x"), _v("x")) for _ in range(60))
    assert placed(lower(function), {"n": 0, "c": 0}) == meaning(function, {"n": 0, "c": 0})


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(_body(0, "").map(_kernel), st.sampled_from(TARGETS), st.sampled_from(["PYPTO", "DSA_RP"]))
def test_a_lowered_kernel_stores_what_the_source_says(function: Function, arch: str, planner: str) -> None:
    note(print_function(function))
    lowered = lower(function, arch, planner)
    note(print_function(lowered))
    for n in (0, 1, 2, 3):
        for c in (0, 1):
            scalars = {"n": n, "c": c}
            assert placed(lowered, scalars) == meaning(function, scalars), (n, c)
