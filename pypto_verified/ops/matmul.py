"""Matrix products on the cube core: LEFT [M, K] x RIGHT [K, N] -> ACC [M, N].

Floats accumulate in FP32, INT8 in INT32. The result is valid on lhs's valid rows and rhs's valid columns. `mad` writes
the accumulator with a row pitch of its valid rows rounded up to 16, so an accumulator whose valid rows are not provably
its physical rows is compact (CA-02); an op that accumulates in place keeps the accumulator's mode (CA-03).
Source: PyPTO tile_ops/matmul.cpp, batch_matmul.cpp, matmul_mx.cpp; the seed document on compact accumulators.
"""

from __future__ import annotations

from collections.abc import Sequence

from pypto_verified.dtypes import FP32, INT8, INT32, DType
from pypto_verified.ir.types import Dim, TileType, Type
from pypto_verified.layouts import Compact, Space
from pypto_verified.ops.args import Args
from pypto_verified.ops.decl import OpDecl, op
from pypto_verified.ops.dims import at_most, equal, show, show_shape
from pypto_verified.ops.layout import effective_view, make_tile

_SOURCE = "PyPTO tile_ops/matmul.cpp"
_INPUTS = ("INT8", "FP16", "BF16", "FP32", "FP8E4M3FN", "FP8E5M2", "HF8")


def accumulator_dtype(dtype: DType) -> DType:
    """What products of that operand dtype accumulate in."""
    return INT32 if dtype == INT8 else FP32


def _accumulator(shape: Sequence[int], dtype: DType, valid: Sequence[Dim]) -> TileType:
    narrowed = equal(valid[0], shape[0]) is not True
    return make_tile(shape, dtype, Space.ACC, valid, compact=Compact.NORMAL if narrowed else Compact.NULL)


def _product(a: Args) -> tuple[tuple[int, int], DType, tuple[Dim, Dim]]:
    """Shape, accumulator dtype and valid extents of lhs x rhs."""
    (m, k), (k2, n) = a.rank("lhs", 2), a.rank("rhs", 2)
    a.only_dtypes("lhs", *_INPUTS)
    a.same_dtype("lhs", "rhs")
    a.require(
        k == k2, f"lhs is [{m}, {k}] and rhs [{k2}, {n}]: the inner dimensions {k} and {k2} differ",
        "a transposed operand needs pl.tile.transpose_view (or b_trans at tensor level)",
    )
    lhs, rhs = a.tile("lhs").valid_shape, a.tile("rhs").valid_shape
    a.require(
        at_most(lhs[1], rhs[0]) is not False,
        f"lhs is valid on K={show(lhs[1])} but rhs only on K={show(rhs[0])}: rows of rhs beyond it have no value",
    )
    return (m, n), accumulator_dtype(a.tile("lhs").dtype), (lhs[0], rhs[1])


def _matmul(a: Args) -> Type:
    return _accumulator(*_product(a))


def _matmul_acc(a: Args) -> Type:
    acc = a.tile("acc")
    shape, dtype, valid = _product(a)
    a.require(
        acc.shape == shape, f"acc has shape {show_shape(acc.shape)} but the product is {show_shape(shape)}",
    )
    a.require(acc.dtype == dtype, f"acc is {acc.dtype} but the product accumulates in {dtype}")
    for axis, need, have in zip("MN", valid, acc.valid_shape, strict=True):
        a.require(
            at_most(need, have) is not False,
            f"the product is valid on {axis}={show(need)} but acc only on {axis}={show(have)}",
        )
    if a.has("init_cond"):
        a.require(a.scalar("init_cond").kind == "bool", f"init_cond must be BOOL, got {a.scalar('init_cond')}")
    view = effective_view(acc)
    return make_tile(shape, dtype, Space.ACC, view.valid_shape, compact=view.compact)


def _check_bias(a: Args, columns: int, dtype: DType, valid: Dim) -> None:
    bias = a.tile("bias")
    a.require(
        a.rank("bias", 2) == (1, columns), f"bias must be [1, {columns}], got {show_shape(bias.shape)}",
    )
    a.require(bias.dtype == dtype, f"bias is {bias.dtype} but the product accumulates in {dtype}", f"use pl.{dtype}")
    a.require(
        at_most(valid, bias.valid_shape[1]) is not False and at_most(1, bias.valid_shape[0]) is not False,
        f"bias is valid on {show_shape(bias.valid_shape)} but the product on N={show(valid)}",
    )


def _matmul_bias(a: Args) -> Type:
    shape, dtype, valid = _product(a)
    _check_bias(a, shape[1], dtype, valid[1])
    return _accumulator(shape, dtype, valid)


def _row_product(a: Args) -> TileType:
    (rows, n), dtype, valid = _product(a)
    a.only_dtypes("lhs", "INT8", "FP16", "BF16", "FP32")
    a.require(rows == 1, f"lhs must be one row, got {show_shape(a.tile('lhs').shape)}", "use pl.matmul for more rows")
    a.require(equal(valid[0], 1) is not False, f"lhs must be valid on 1 row, got {show(valid[0])}")
    return make_tile((16, n), dtype, Space.ACC, (1, valid[1]))


def _gemv_acc(a: Args) -> Type:
    acc, result = a.tile("acc"), _row_product(a)
    a.require(
        (acc.shape, acc.dtype) == (result.shape, result.dtype),
        f"acc must be {result.dtype} {show_shape(result.shape)}, got {acc.dtype} {show_shape(acc.shape)}",
    )
    return result


def _gemv_bias(a: Args) -> Type:
    result = _row_product(a)
    _check_bias(a, result.shape[1], result.dtype, result.valid_shape[1])
    return result


_PHASE = "acc_phase:phase=unspecified"

OPS: tuple[OpDecl, ...] = (
    op("tile.matmul", "lhs rhs", _matmul, "L R > A", source=_SOURCE),
    op("tile.matmul_acc", "acc lhs rhs init_cond:s?", _matmul_acc, "A L R . > A", inplace=0, source=_SOURCE),
    op("tile.matmul_bias", "lhs rhs bias", _matmul_bias, "L R B > A", source=_SOURCE),
    op("tile.gemv", "lhs rhs", _row_product, "L R > A", keywords=_PHASE, source=_SOURCE),
    op("tile.gemv_acc", "acc lhs rhs", _gemv_acc, "A L R > A", keywords=_PHASE, inplace=0, source=_SOURCE),
    op("tile.gemv_bias", "lhs rhs bias", _gemv_bias, "L R B > A", keywords=_PHASE, source=_SOURCE),
    op("tile.batch_matmul", "lhs rhs", None, "L R > A", source="PyPTO tile_ops/batch_matmul.cpp"),
    op("tile.batch_matmul_acc", "acc lhs rhs", None, "A L R > A", inplace=0, source="PyPTO tile_ops/batch_matmul.cpp"),
    op("tile.matmul_mx", "lhs lhs_scale rhs rhs_scale", None, "L S R S > A", source="PyPTO tile_ops/matmul_mx.cpp"),
    op(
        "tile.matmul_mx_acc", "acc lhs lhs_scale rhs rhs_scale", None, "A L S R S > A", inplace=0,
        source="PyPTO tile_ops/matmul_mx.cpp",
    ),
    op(
        "tile.matmul_mx_bias", "lhs lhs_scale rhs rhs_scale bias", None, "L S R S B > A",
        source="PyPTO tile_ops/matmul_mx.cpp",
    ),
    op("tile.tget_scale_addr", "dst_scale src", None, "S LR > =0", inplace=0, source="PyPTO tile_ops/matmul_mx.cpp"),
)
