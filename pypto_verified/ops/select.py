"""Comparison into packed masks, and selection by them.

A mask is UINT8: bit c % 8 of byte c // 8 of a row is lane c. Its row is rounded up to 32 bytes.
Source: PyPTO tile_ops/elementwise.cpp (packed predicates), PTO-ISA TCmp.hpp and TSel.hpp.
"""

from __future__ import annotations

from pypto_verified.dtypes import UINT8
from pypto_verified.ir.types import Type
from pypto_verified.ops.args import Args
from pypto_verified.ops.decl import OpDecl, op
from pypto_verified.ops.dims import at_most, ceildiv, mul, show, show_shape
from pypto_verified.ops.elementwise import like
from pypto_verified.ops.layout import effective_view, make_tile

_SOURCE = "PyPTO tile_ops/elementwise.cpp"
_ROW_BYTES = 32


def _mask_of(a: Args) -> Type:
    t = a.tile("lhs")
    width = -(-t.shape[-1] // 8)
    shape = (*t.shape[:-1], -(-width // _ROW_BYTES) * _ROW_BYTES)
    valid = (*t.valid_shape[:-1], ceildiv(t.valid_shape[-1], 8))
    return make_tile(shape, UINT8, a.space(), valid, layout=effective_view(t))


def _cmp(a: Args) -> Type:
    a.same_dtype("lhs", "rhs")
    a.same_shape("lhs", "rhs")
    return _mask_of(a)


def _check_mask(a: Args, source: str) -> None:
    mask, t = a.tile("mask"), a.tile(source)
    a.integers("mask")
    a.require(
        len(mask.shape) == len(t.shape) and at_most(t.valid_shape[0], mask.shape[0]) is not False,
        f"mask {show_shape(mask.shape)} has fewer rows than {source} is valid on ({show_shape(t.valid_shape)})",
    )
    needed = ceildiv(t.valid_shape[-1], 8)
    a.require(
        at_most(needed, mul(mask.valid_shape[-1], mask.dtype.bytes)) is not False,
        f"a mask row of {show(mask.valid_shape[-1])} {mask.dtype} elements holds fewer bits than {source} has valid "
        f"columns ({show_shape(t.valid_shape)})",
        "make the mask with pl.cmp or pl.cmps on a tile of the same shape",
    )


def _sel(a: Args) -> Type:
    a.tile("tmp")
    a.same_dtype("lhs", "rhs")
    a.same_shape("lhs", "rhs")
    _check_mask(a, "lhs")
    return like(a, a.tile("lhs"))


def _sels(a: Args) -> Type:
    for name in ("mask", "src", "tmp"):
        a.rank(name, 2)
    a.only_dtypes("src", "INT8", "UINT8", "INT16", "UINT16", "INT32", "UINT32", "FP16", "FP32")
    _check_mask(a, "src")
    return like(a, a.tile("src"))


OPS: tuple[OpDecl, ...] = (
    op("tile.cmp", "lhs rhs", _cmp, "V V > V", keywords="cmp_type:cmp=eq", source=_SOURCE),
    op("tile.cmps", "lhs rhs:e", _mask_of, "V . > V", keywords="cmp_type:cmp=eq", row_major=True, source=_SOURCE),
    op("tile.sel", "mask lhs rhs tmp", _sel, "V V V V > V", noalias="mask tmp", row_major=True, source=_SOURCE),
    op("tile.sels", "mask src tmp scalar:e", _sels, "V V V . > V", noalias="mask", row_major=True, source=_SOURCE),
)
