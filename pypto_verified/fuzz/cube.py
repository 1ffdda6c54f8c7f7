"""Kernels of the cube core: operands through Mat into Left and Right, products, accumulation, one store."""

from __future__ import annotations

from pypto_verified.dtypes import BF16, BOOL, FP16, FP32, INDEX, INT8, INT32, DType
from pypto_verified.fuzz.builder import MAX_TRIPS, SPAN, Builder, Loop, dims, numbers
from pypto_verified.fuzz.draw import chance, choice, weighted
from pypto_verified.fuzz.indices import condition, index
from pypto_verified.ir.expr import Binary, BinaryOp, Const, Dim, Expr, Var
from pypto_verified.ir.stmt import Assign, For, If, LoopKind
from pypto_verified.ir.types import ScalarType
from pypto_verified.layouts import Space, TensorLayout

_INPUTS = ((FP16, 5), (FP32, 3), (BF16, 2), (INT8, 2))


def cube_kernel(b: Builder) -> None:
    """A chain of products with one shape, each of new operands, stored whole."""
    dtype: DType = weighted(b.draw, _INPUTS)
    unit = 32 if dtype == INT8 else 16
    m, k, n = (unit * b.draw.integer(1, 2) for _ in range(3))
    rows, inner, columns = b.valid(m), b.valid(k), b.valid(n)
    inner = inner if isinstance(inner, int) else k
    left, right = _left(b, dtype, (m, k), (rows, inner)), _right(b, dtype, (k, n), (inner, columns))
    acc = _first(b, dtype, left, right, n)
    for _ in range(b.draw.integer(0, 2)):
        acc = _again(b, dtype, acc, (m, k, n), (rows, inner, columns))
    kept = INT32 if dtype == INT8 else weighted(b.draw, ((FP32, 5), (FP16, 1), (BF16, 1)))
    out = b.out((m, n), kept)
    b.store(out, b.call("tile.store", (acc, numbers(0, 0), out)))


def _mat(b: Builder, dtype: DType, shape: tuple[int, int], valid: tuple[Dim, Dim]) -> Var:
    limit = choice(b.draw, (1, 1, 2))
    transposed = chance(b.draw, 20)
    across = choice(b.draw, (1, 1, 1, 2))
    layout = TensorLayout.DN if transposed else TensorLayout.ND
    tensor = b.tensor((shape[0] * limit, shape[1] * across), dtype, layout)
    at = dims((b.scaled(index(b, limit), shape[0]), b.scaled(index(b, across), shape[1])))
    return b.assign(b.call("tile.load", (tensor, at, numbers(*shape), dims(valid)), target_memory=Space.MAT), "m")


def _left(b: Builder, dtype: DType, shape: tuple[int, int], valid: tuple[Dim, Dim]) -> Expr:
    return _operand(b, dtype, shape, valid, Space.LEFT)


def _right(b: Builder, dtype: DType, shape: tuple[int, int], valid: tuple[Dim, Dim]) -> Expr:
    return _operand(b, dtype, shape, valid, Space.RIGHT)


def _operand(b: Builder, dtype: DType, shape: tuple[int, int], valid: tuple[Dim, Dim], space: Space) -> Expr:
    whole = 2 if valid[0] == shape[0] else 0
    known = 2 if all(isinstance(v, int) for v in valid) else 0
    match weighted(b.draw, (("move", 6), ("transposed", known), ("extract", whole))):
        case "transposed":
            mat = _mat(b, dtype, (shape[1], shape[0]), (valid[1], valid[0]))
            view = b.assign(b.call("tile.transpose_view", (mat,)), "v")
            return b.assign(b.call("tile.move", (view,), target_memory=space), "l")
        case "extract":
            mat = _mat(b, dtype, (2 * shape[0], shape[1]), (2 * shape[0], valid[1]))
            start = Const(shape[0] * b.draw.integer(0, 1))
            part = b.call("tile.extract", (mat, start, Const(0), numbers(*shape)), target_memory=space)
            return b.assign(part, "l")
        case _:
            return b.assign(b.call("tile.move", (_mat(b, dtype, shape, valid),), target_memory=space), "l")


def _first(b: Builder, dtype: DType, left: Expr, right: Expr, n: int) -> Var:
    if not chance(b.draw, 25):
        return b.assign(b.call("tile.matmul", (left, right)), "c")
    kind = INT32 if dtype == INT8 else FP32
    mat = b.assign(
        b.call("tile.load", (b.tensor((1, n), kind), numbers(0, 0), numbers(1, n)), target_memory=Space.MAT), "m")
    bias = b.assign(b.call("tile.move", (mat,), target_memory=Space.BIAS), "b")
    return b.assign(b.call("tile.matmul_bias", (left, right, bias)), "c")


def _again(
    b: Builder, dtype: DType, acc: Var, shape: tuple[int, int, int], valid: tuple[Dim, int, Dim]
) -> Var:
    """One more product on the accumulator: straight, in a loop, or in a branch; sometimes one that under a condition is
    put in its place."""
    m, k, n = shape

    def step() -> None:
        left = _left(b, dtype, (m, k), (valid[0], valid[1]))
        right = _right(b, dtype, (k, n), (valid[1], valid[2]))
        operands = (acc, left, right, condition(b)) if chance(b.draw, 25) else (acc, left, right)
        b.add(Assign(acc, b.call("tile.matmul_acc", operands), SPAN))

    match weighted(b.draw, (("straight", 3), ("loop", 4), ("branch", 1))):
        case "straight":
            step()
        case "branch":
            with b.block() as body:
                step()
            cond = Binary(BinaryOp.EQ, b.integer((0, 1)), Const(1), BOOL)
            b.add(If(cond, tuple(body), (), (), SPAN))
        case _:
            stop: Expr = b.integer((0, 1, 2, 3, MAX_TRIPS)) if chance(b.draw, 40) else Const(b.draw.integer(0, 3))
            var = Var(b.name("i"), ScalarType(INDEX))
            b.loops.append(Loop(var, max(int(stop.value), 1) if isinstance(stop, Const) else MAX_TRIPS))
            with b.block() as body:
                step()
            b.loops.pop()
            b.add(For(var, Const(0), stop, Const(1), (), tuple(body), (), LoopKind.SEQUENTIAL, SPAN))
    return acc
