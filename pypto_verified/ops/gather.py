"""Gather, scatter and sort on tiles.

Source: PyPTO tile_ops/gather.cpp, scatter.cpp, sort.cpp; PTO-ISA TSort32.hpp for the width of a sorted FP16 row.
"""

from __future__ import annotations

from pypto_verified.dtypes import FP16, INT16, INT32, DType
from pypto_verified.errors import NotModelled
from pypto_verified.ir.expr import Const
from pypto_verified.ir.types import Dim, TileView, Type
from pypto_verified.layouts import BLayout, SLayout, Space
from pypto_verified.ops.args import Args
from pypto_verified.ops.decl import OpDecl, op
from pypto_verified.ops.dims import floordiv, mul, show, show_shape
from pypto_verified.ops.elementwise import like
from pypto_verified.ops.layout import effective_view, make_tile, unplaced

_GATHER = "PyPTO tile_ops/gather.cpp"
_SCATTER = "PyPTO tile_ops/scatter.cpp"
_SORT = "PyPTO tile_ops/sort.cpp"
_MEMORY = "PyPTO tile_ops/memory.cpp"
_GATHERED = ("FP16", "FP32", "INT16", "INT32")
_SCATTERED = ("INT8", "INT16", "INT32", "FP16", "FP32", "BF16")
_GLOBAL = ("INT8", "UINT8", "INT16", "UINT16", "INT32", "UINT32", "FP16", "BF16", "FP32")
_BLOCK_BYTES = 32
_FLAT = TileView((), BLayout.ROW, SLayout.NONE, 512)


def _gather(a: Args) -> Type:
    a.only_dtypes("src", *_GATHERED)
    a.tile("tmp")
    source, indices = a.tile("src"), a.tile("indices")
    narrow = indices.dtype == INT16 and source.dtype.bits == 16
    a.require(
        indices.dtype == INT32 or narrow,
        f"indices are {indices.dtype}; they must be INT32 (INT16 only with a 16-bit src)",
    )
    return like(a, indices, source.dtype)


def _same_width(a: Args, dtype: DType) -> DType:
    wanted = a.kwargs.get("output_dtype")
    if not isinstance(wanted, DType):
        return dtype
    a.require(wanted.bits == dtype.bits, f"output_dtype {wanted} and src {dtype} differ in width")
    return wanted


def _pattern(a: Args) -> int:
    pattern = a.number("mask_pattern")
    a.require(1 <= pattern <= 7, f"mask_pattern is {pattern}, not one of pl.tile.MaskPattern (1 to 7)")
    return 1 if pattern == 7 else 2 if pattern <= 2 else 4


def _gather_mask(a: Args) -> Type:
    a.only_dtypes("src", *_GATHERED)
    (rows, columns), step = a.rank("src", 2), _pattern(a)
    a.require(columns % step == 0, f"src has {columns} columns, not a multiple of the pattern's {step}")
    source = a.tile("src")
    shape = (rows, columns // step)
    valid = (source.valid_shape[0], floordiv(source.valid_shape[1], step))
    return make_tile(shape, _same_width(a, source.dtype), a.space(), valid, layout=effective_view(source))


def _gatherb(a: Args) -> Type:
    source = a.tile("src")
    a.rank("src", 2)
    rows, columns = a.rank("offset", 2)
    a.only_dtypes("offset", "UINT32")
    a.require(columns % 8 == 0, f"offset has {columns} columns, not a multiple of 8 (32-byte rows)")
    wanted = a.kwargs.get("output_dtype")
    dtype = wanted if isinstance(wanted, DType) else source.dtype
    per_block = _BLOCK_BYTES // dtype.bytes
    offsets = a.tile("offset").valid_shape
    return make_tile((rows, columns * per_block), dtype, a.space(), (offsets[0], mul(offsets[1], per_block)))


def _scatter(a: Args) -> Type:
    a.only_dtypes("dst", *_SCATTERED)
    dtype = a.same_dtype("dst", "src")
    a.rank("dst", 2)
    a.rank("src", 2)
    a.same_shape("src", "indexes")
    need = 16 if dtype.bits <= 16 else 32
    got = a.tile("indexes").dtype
    a.require(
        got.kind == "int" and got.bits == need, f"indexes are {got}; a {dtype} dst needs INT{need}",
    )
    return unplaced(a.tile("dst"))


def _scatter_mask(a: Args) -> Type:
    a.only_dtypes("dst", *_SCATTERED)
    a.same_dtype("dst", "src")
    (rows, columns), (source_rows, source_columns), step = a.rank("dst", 2), a.rank("src", 2), _pattern(a)
    a.require(
        rows == source_rows and columns == source_columns * step,
        f"dst is {show_shape((rows, columns))}, but src {show_shape((source_rows, source_columns))} spread by {step} "
        f"fills {show_shape((source_rows, source_columns * step))}",
    )
    return unplaced(a.tile("dst"))


def _global_gather(a: Args) -> Type:
    mem = a.tensor("mem")
    if a.space() is not Space.VEC:
        raise NotModelled(f"{a.decl.name} into anything but vec", a.span.location)
    a.require(mem.dtype.name in _GLOBAL, f"mem is {mem.dtype}, not one of {', '.join(_GLOBAL)}")
    a.only_dtypes("idx", "INT32")
    rows, columns = a.rank("idx", 2)
    valid = a.tile("idx").valid_shape
    if a.number("coalesce") == 1:
        return make_tile((rows, columns), mem.dtype, a.space(), valid, layout=_FLAT)
    a.require(len(mem.shape) > 1, "gathering rows needs a tensor of at least 2 dims")
    a.require(1 in (rows, columns), f"idx must be one row or one column to name rows, got [{rows}, {columns}]")
    width = mem.shape[-1]
    if not isinstance(width, int):
        a.fail(f"the rows of mem have {show(width)} elements, not a constant number")
    along = 1 if rows == 1 else 0
    return make_tile(((rows, columns)[along], width), mem.dtype, a.space(), (valid[along], width), layout=_FLAT)


def _global_scatter(a: Args) -> Type:
    a.only_dtypes("src", "FP16", "FP32", "INT16", "INT32")
    a.only_dtypes("idx", "INT32")
    a.same_shape("src", "idx")
    tensor, dtype = a.tensor("output_tensor"), a.tile("src").dtype
    a.require(tensor.dtype == dtype, f"src is {dtype} but the tensor {tensor.dtype}")
    return tensor


def _sort32(a: Args) -> Type:
    a.only_dtypes("src", "FP16", "FP32")
    a.only_dtypes("idx", "UINT32")
    source = a.tile("src")
    factor = 4 if source.dtype == FP16 else 2
    shape = (*source.shape[:-1], source.shape[-1] * factor)
    valid: tuple[Dim, ...] = (*source.valid_shape[:-1], mul(source.valid_shape[-1], factor))
    return make_tile(shape, source.dtype, a.space(), valid, layout=effective_view(source))


def _merge_runs(a: Args) -> Type:
    a.only_dtypes("src", "FP16", "FP32")
    length = a.value("block_len")
    a.require(a.scalar("block_len").is_integer, f"block_len must be an integer, got {a.scalar('block_len')}")
    if isinstance(length, Const):
        a.require(
            length.value > 0 and length.value % 64 == 0, f"block_len is {length.value}, not a positive multiple of 64"
        )
    return like(a, a.tile("src"))


def _merge_lists(a: Args) -> Type:
    sources = [name for name in ("src0", "src1", "src2", "src3") if a.has(name)]
    a.only_dtypes("src0", "FP16", "FP32")
    a.same_dtype(*sources)
    total = sum(a.tile(name).shape[-1] for name in sources)
    room = a.tile("tmp").shape
    a.require(room[-1] >= total, f"tmp has {room[-1]} columns, but the {len(sources)} lists have {total} together")
    return make_tile(room, a.tile("src0").dtype, a.space())


OPS: tuple[OpDecl, ...] = (
    op("tile.gather", "src indices tmp", _gather, "V V V > V", noalias="*", source=_GATHER),
    op(
        "tile.gatherb", "src offset", _gatherb, "V V > V", keywords="output_dtype:dtype", noalias="*", row_major=True,
        source=_GATHER,
    ),
    op(
        "tile.gather_mask", "src", _gather_mask, "V > V", keywords="mask_pattern:int! output_dtype:dtype", noalias="*",
        source=_GATHER,
    ),
    op(
        "tile.gather_compare", "src kvalue:e tmp", None, "V . V > V",
        keywords="cmp_mode:cmp=eq offset:int=0 out_cols:int! count_dtype:dtype=INT32", noalias="*",
        source=_GATHER,
    ),
    op(
        "tile.mgather", "mem:t idx:a scratch:t? valid_shape:n?", _global_gather, ". . . . > kw",
        keywords="coalesce:coalesce=row gather_oob:oob=undefined target_memory:space=vec", noalias="*",
        signature="mem idx coalesce gather_oob target_memory scratch valid_shape", source=_MEMORY,
    ),
    op("tile.mscatter", "src idx output_tensor:t", _global_scatter, "V V . > .", inplace=2, source=_MEMORY),
    op("tile.scatter", "dst src indexes", _scatter, "V V V > V", inplace=0, source=_SCATTER),
    op(
        "tile.scatter_mask", "dst src", _scatter_mask, "V V > V", keywords="mask_pattern:int!", inplace=0,
        source=_SCATTER,
    ),
    op(
        "tile.sort32", "src idx tmp?", _sort32, "V V V > V", noalias="*", source=_SORT,
    ),
    op("tile.mrgsort_format1", "src block_len:s", _merge_runs, "V . > V", noalias="*", source=_SORT),
    # PyPTO's IR puts the scratch tile after however many lists there are; here it has one place.
    op(
        "tile.mrgsort_format2", "src0 src1 tmp src2? src3?", _merge_lists, "V V V V V > V",
        keywords="exhausted:bool=false", signature="src0 src1 src2 src3 tmp exhausted", noalias="*",
        source=_SORT,
    ),
)
