"""Row and column reductions and arg-reductions; row and column expand ops.

Rows: [.., M, N] -> [.., M, 1], column-major as the ISA writes column 0 only; columns: [M, ..] -> [1, ..]. The reduced
axis is valid on 1, the others as in the source. A row reduction's scratch tile must cover the source: a smaller one is
overrun silently on the device.
Source: PyPTO tile_ops/reduction.cpp and broadcast.cpp, PTOAS trow*/tcol* verifiers.
"""

from __future__ import annotations

from dataclasses import replace

from pypto_verified.dtypes import INT32
from pypto_verified.ir.types import TileType, Type
from pypto_verified.layouts import BLayout, SLayout
from pypto_verified.ops.args import Args
from pypto_verified.ops.decl import OpDecl, Rule, op
from pypto_verified.ops.dims import equal, show_shape
from pypto_verified.ops.elementwise import like
from pypto_verified.ops.layout import effective_view, implicit_view, make_tile

_REDUCTION = "PyPTO tile_ops/reduction.cpp"
_BROADCAST = "PyPTO tile_ops/broadcast.cpp"


def _source(a: Args) -> TileType:
    t = a.tile("tile")
    a.require(len(t.shape) >= 2, f"tile must be at least 2-D, got shape {show_shape(t.shape)}")
    for i, extent in enumerate(t.valid_shape):
        a.require(
            equal(extent, 0) is not True, f"tile is empty: its valid extent {show_shape(t.valid_shape)} is 0 in dim {i}"
        )
    return t


def _row(a: Args) -> Type:
    t, tmp = _source(a), a.tile("tmp_tile")
    arg = a.decl.name.startswith("tile.row_arg")
    a.same_dtype("tile", "tmp_tile")
    a.require(
        len(tmp.shape) == len(t.shape),
        f"tmp_tile has shape {show_shape(tmp.shape)}, tile {show_shape(t.shape)}: the ranks differ",
    )
    small = [i for i, (need, have) in enumerate(zip(t.shape, tmp.shape, strict=True)) if have < need]
    a.require(
        not small,
        f"tmp_tile {show_shape(tmp.shape)} is smaller than the input {show_shape(t.shape)} in dim {(small or [0])[0]}",
        f"create it with the input's shape: pl.tile.create({list(t.shape)}, dtype=pl.{t.dtype})",
    )
    a.require(
        not arg or tmp.shape == t.shape,
        f"tmp_tile {show_shape(tmp.shape)} must have exactly the input's shape {show_shape(t.shape)}",
    )
    if a.decl.name == "tile.row_min":
        a.only_dtypes("tile", "INT16", "INT32", "FP16", "FP32")
    shape = (*t.shape[:-1], 1)
    layout = replace(implicit_view(shape, a.space()), blayout=BLayout.COL)
    return make_tile(shape, INT32 if arg else t.dtype, a.space(), (*t.valid_shape[:-1], 1), layout=layout)


def _column(a: Args) -> Type:
    t = _source(a)
    if any(p.name == "tmp_tile" for p in a.decl.params) and a.has("tmp_tile"):
        a.same_dtype("tile", "tmp_tile")
    arg = a.decl.name.startswith("tile.col_arg")
    shape = (1, *t.shape[1:])
    layout = replace(implicit_view(shape, a.space()), blayout=BLayout.ROW)
    return make_tile(shape, INT32 if arg else t.dtype, a.space(), (1, *t.valid_shape[1:]), layout=layout)


def _row_expand(a: Args) -> Type:
    big, vector = (p.name for p in a.decl.params[:2])
    t, v = a.tile(big), a.tile(vector)
    a.same_dtype(big, vector)
    a.require(
        len(v.shape) >= 2 and v.shape[-1] == 1,
        f"{vector} must be a column [M, 1], got shape {show_shape(v.shape)}",
        "row reductions give such a column; for a row [1, N] use the col_expand_* ops",
    )
    a.require(
        v.shape[-2] == t.shape[-2],
        f"{big} has {t.shape[-2]} rows but {vector} has {v.shape[-2]}",
    )
    return like(a, t)


def _row_expand_add(a: Args) -> Type:
    t, v = a.tile("tile"), a.tile("row_vec")
    a.only_dtypes("tile", "INT8", "INT16", "INT32", "FP16", "FP32")
    a.same_dtype("tile", "row_vec")
    a.require(effective_view(t).blayout is BLayout.ROW, "tile must be row-major", "pl.move it to a row-major tile")
    a.require(
        len(t.shape) >= 2 and len(v.shape) >= 2,
        f"operands must be at least 2-D, got {show_shape(t.shape)} and {show_shape(v.shape)}",
    )
    a.require(
        equal(t.valid_shape[-2], v.valid_shape[-2]) is not False,
        f"tile is valid on {show_shape(t.valid_shape)} but row_vec on {show_shape(v.valid_shape)}: valid rows differ",
    )
    view = effective_view(v)
    packed = view.blayout is BLayout.ROW and view.slayout is SLayout.NONE
    width = 32 // v.dtype.bytes if packed else 1
    a.require(
        equal(v.valid_shape[-1], width) is not False,
        f"row_vec must be valid on {width} columns ({'32 bytes of a row-major' if packed else 'one of a column-major'} "
        f"tile), got {show_shape(v.valid_shape)}",
    )
    return like(a, t)


def _col_expand(a: Args) -> Type:
    big, vector = (p.name for p in a.decl.params[:2])
    t, v = a.tile(big), a.tile(vector)
    a.same_dtype(big, vector)
    a.require(
        len(v.shape) >= 2 and v.shape[-2] == 1,
        f"{vector} must be a row [1, N], got shape {show_shape(v.shape)}",
        "for a column [M, 1] use the row_expand_* ops",
    )
    a.require(
        v.shape[-1] == t.shape[-1],
        f"{big} has {t.shape[-1]} columns but {vector} has {v.shape[-1]}",
    )
    return like(a, t)


def _expands(a: Args) -> Type:
    return like(a, a.tile("target"))


def _reduction(name: str, params: str, rule: Rule, memory: str, noalias: str = "*") -> OpDecl:
    return op(f"tile.{name}", params, rule, memory, noalias=noalias, source=_REDUCTION)


def _expansion(name: str, first: str, vector: str, rule: Rule) -> OpDecl:
    return op(f"tile.{name}", f"{first} {vector}", rule, "V V > V", noalias=vector, source=_BROADCAST)


_SUFFIXES = ("sub", "div", "mul", "max", "min", "expdif")

OPS: tuple[OpDecl, ...] = (
    *(
        _reduction(f"row_{kind}", "tile tmp_tile", _row, "V V > V")
        for kind in ("sum", "max", "min", "prod", "argmax", "argmin")
    ),
    _reduction("col_sum", "tile tmp_tile?", _column, "V V > V", noalias=""),
    *(_reduction(f"col_{kind}", "tile", _column, "V > V", noalias="") for kind in ("max", "min", "prod")),
    *(_reduction(f"col_{kind}", "tile tmp_tile", _column, "V V > V") for kind in ("argmax", "argmin")),
    _expansion("row_expand", "target", "row_vec", _row_expand),
    *(_expansion(f"row_expand_{kind}", "tile", "row_vec", _row_expand) for kind in _SUFFIXES),
    op(
        "tile.row_expand_add", "tile row_vec tmp?", _row_expand_add, "V V V > V", noalias="row_vec tmp",
        source=_BROADCAST,
    ),
    _expansion("col_expand", "target", "col_vec", _col_expand),
    *(_expansion(f"col_expand_{kind}", "tile", "col_vec", _col_expand) for kind in ("add", *_SUFFIXES)),
    op("tile.expands", "target scalar:e", _expands, "V . > V", source=_BROADCAST),
)
