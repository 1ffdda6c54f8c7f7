"""IR types -> PTO types (CG-08, CG-15). Spaces, layouts and element types have one vocabulary in both."""

from __future__ import annotations

from pypto_verified.dtypes import DTYPES, DType
from pypto_verified.ir.expr import Const
from pypto_verified.ir.types import Dim, TensorType, TileType, TileView
from pypto_verified.layouts import Space
from pypto_verified.pto.types import PartitionViewType, ScalarType, TensorViewType, TileBufType

INDEX_TYPE = ScalarType(DTYPES["INDEX"])
BOOL_TYPE = ScalarType(DTYPES["BOOL"])

_SIGNLESS = {8: DTYPES["INT8"], 16: DTYPES["INT16"], 32: DTYPES["INT32"], 64: DTYPES["INT64"]}


def signless(dtype: DType) -> DType:
    """The type in which `arith` computes: unsigned integers become the signless integer of their width."""
    return _SIGNLESS[dtype.bits] if dtype.kind == "uint" else dtype


def integer_of_width(dtype: DType) -> DType:
    """The signless integer as wide as an element of `dtype` (CG-10). KeyError for sub-byte types."""
    return _SIGNLESS[dtype.bits]


def static_dim(dim: Dim) -> int | None:
    """The value of a constant dimension, None if it is known at run time only."""
    if isinstance(dim, Const):
        return int(dim.value)
    return dim if isinstance(dim, int) else None


def same_extents(a: tuple[Dim, ...], b: tuple[Dim, ...]) -> bool:
    """Whether two valid shapes are the same expressions."""
    return a == b or (len(a) == len(b) and all(
        x == y or (static_dim(x) is not None and static_dim(x) == static_dim(y)) for x, y in zip(a, b, strict=True)
    ))


def effective_view(tile: TileType) -> TileView:
    """The tile's view; the default (row_major, unboxed) when the pipeline left none."""
    return tile.view if tile.view is not None else TileView()


def tile_buf_type(tile: TileType) -> TileBufType:
    """The type of an allocated tile: `v_row=?, v_col=?`, the extents are operands of the alloc (CG-08)."""
    rows, cols = tile.shape if len(tile.shape) == 2 else (1, *tile.shape)
    view = effective_view(tile)
    return TileBufType(
        tile.space or Space.VEC, tile.dtype, rows, cols, None, None,
        view.blayout, view.slayout, view.fractal, view.pad, view.compact,
    )


def tensor_view_type(tensor: TensorType) -> TensorViewType:
    """The type of a tensor's view: every dimension is `?` (CG-04)."""
    return TensorViewType((None,) * len(tensor.shape), tensor.dtype)


def partition_type(sizes: tuple[Dim, ...], dtype: DType) -> PartitionViewType:
    """The type of a window of a tensor: constant sizes are static (CG-06)."""
    return PartitionViewType(tuple(static_dim(s) for s in sizes), dtype)
