"""Legality of lane-wise ops outside of the families of `legality_compute.py`: functions of one tile, remainders, column
expansions, pairs of values and indices, scatters within a tile."""

from __future__ import annotations

from pypto_verified.pto.legality import Legal, Site
from pypto_verified.pto.legality_words import (
    A3,
    A5,
    dtypes,
    extents,
    is_row_major,
    is_vec,
    same,
    same_shape,
    same_valid,
    spelled,
    up_to,
)
from pypto_verified.pto.types import OpaqueType, ScalarType, TileBufType
from pypto_verified.pto.typetext import type_text

_UNARY = "pto.tabs pto.tneg pto.trelu pto.tlrelu"
_COL_EXPAND = " ".join(f"pto.tcolexpand{n}" for n in ("add", "sub", "mul", "div", "max", "min", "expdif"))
_PART_ARG = "pto.tpartargmax pto.tpartargmin"
_SHIFTS = "pto.tshls pto.tshrs"
_FLOATS = frozenset({"f16", "f32"})
_WORDS = frozenset({"i16", "i32", "f16", "f32"})
_SCATTERED = _WORDS | {"i8", "bf16"}
_INT32 = frozenset({"i32", "ui32", "si32"})
_UNARY_TYPES = {
    "pto.tabs": (_FLOATS, _FLOATS), "pto.trelu": (_FLOATS | {"i32"}, _FLOATS | {"i32"}),
    "pto.tlrelu": (_FLOATS, frozenset[str]()), "pto.tneg": (_WORDS, frozenset[str]()),
}
"""Op -> element types on a2a3 and on a5; no types where the target takes others as well."""
_EXPANSION = {"P0101": 2, "P1010": 2, "P0001": 4, "P0010": 4, "P0100": 4, "P1000": 4, "P1111": 1}
"""Elements of the result for one of the source, by mask pattern."""


def _unary_types(s: Site) -> frozenset[str]:
    on_a3, on_a5 = _UNARY_TYPES[s.op.name]
    return on_a5 if s.a5 else on_a3


def _column_types(s: Site) -> frozenset[str]:
    if s.op.name == "pto.tcolexpandexpdif" or (s.op.name == "pto.tcolexpanddiv" and not s.a5):
        return _FLOATS
    return _WORDS | {"i8"} if s.a5 else _WORDS


def _times(extent: int | None, factor: int) -> int | None:
    return None if extent is None else extent * factor


def _spread(s: Site, a: TileBufType, b: TileBufType) -> bool:
    """Whether the result of a scatter by mask is as much larger than its source as the pattern says."""
    factor = _EXPANSION[s.member("maskPattern")]
    if s.attr("axis") == "col":
        return same(b.v_col, a.v_col) and same(b.v_row, _times(a.v_row, factor))
    return same(b.v_row, a.v_row) and same(b.v_col, _times(a.v_col, factor))


def _element(s: Site) -> str:
    """The element type of a local array, '' if it can't be told."""
    arrays = (v.type for v in s.op.operands() if isinstance(v.type, OpaqueType) and v.type.name == "local_array")
    found = next(arrays, None)
    return found.params[0].rpartition("x")[2] if found is not None and found.params else ""


def _moved(s: Site) -> str:
    """The type of the value that a local array is given, or gives."""
    type_ = s.type("value") if s.op.name == "pto.local_array_set" else s.type("@")
    return type_.dtype.pto if isinstance(type_, ScalarType) else ""


ROWS: tuple[Legal, ...] = (
    Legal("UNARY-DTYPE", _UNARY, "src dst", "source and result have one element type",
          holds=lambda s, a, b: a.dtype == b.dtype, found=lambda s, a, b: dtypes(a, b)),
    Legal("UNARY-VALID", "pto.tabs pto.trelu pto.tlrelu", "src dst", "source and result have one valid shape",
          holds=lambda s, a, b: same_valid(a, b), found=lambda s, a, b: extents(a, b)),
    Legal("UNARY-SPACE", _UNARY, "src dst", "source and result are in vec",
          holds=lambda s, a, b: is_vec(a) and is_vec(b), found=lambda s, a, b: f"{a.loc.value}, {b.loc.value}"),
    Legal("UNARY-TYPES", _UNARY, "src", "the function exists for the element type",
          when=lambda s, t: bool(_unary_types(s)),
          holds=lambda s, t: t.dtype.pto in _unary_types(s),
          found=lambda s, t: f"{t.dtype.pto}, there are {', '.join(sorted(_unary_types(s)))}"),
    Legal("REM-OPERANDS", "pto.trem pto.tprelu", "src0 src1 dst",
          "sources and result are row-major, with one element type and valid shape",
          holds=lambda s, a, b, c: a.dtype == b.dtype == c.dtype and same_valid(a, c) and same_valid(b, c)
          and is_row_major(a) and is_row_major(b) and is_row_major(c),
          found=lambda s, a, b, c: spelled(a, b, c)),
    Legal("REM-TYPES", "pto.trem", "dst", "a2a3 has remainders of i32 and f32", targets=A3,
          holds=lambda s, t: t.dtype.pto in ("i32", "f32"), found=lambda s, t: f"it is {t.dtype.pto}"),
    Legal("PRELU-TYPES", "pto.tprelu", "dst", "a prelu is of f16 or f32", holds=lambda s, t: t.dtype.pto in _FLOATS,
          found=lambda s, t: f"it is {t.dtype.pto}"),
    Legal("FMODS-OPERANDS", "pto.tfmods", "src dst", "source and result have one element type and valid shape",
          holds=lambda s, a, b: a.dtype == b.dtype and same_valid(a, b), found=lambda s, a, b: spelled(a, b)),
    Legal("SHIFTS-DTYPE", _SHIFTS, "src dst", "source and result are integers of one type",
          holds=lambda s, a, b: a.dtype == b.dtype and a.dtype.is_integer, found=lambda s, a, b: dtypes(a, b)),
    Legal("SHIFTS-SIGN", _SHIFTS, "", "a constant shift is not negative", when=lambda s: s.const("scalar") is not None,
          holds=lambda s: (s.const("scalar") or 0) >= 0, found=lambda s: f"it is {s.const('scalar')}"),
    Legal("COLBINARY-TYPES", _COL_EXPAND, "src0 src1 dst", "a column expansion exists for the element types",
          holds=lambda s, a, b, c: {a.dtype.pto, b.dtype.pto, c.dtype.pto} <= _column_types(s),
          found=lambda s, a, b, c: dtypes(a, b, c)),
    Legal("COLBINARY-SHAPE", _COL_EXPAND, "src0 dst", "the first source has the shape of the result",
          holds=lambda s, a, b: same_shape(a, b) and same_valid(a, b), found=lambda s, a, b: spelled(a, b)),
    Legal("COLBINARY-LAYOUT", _COL_EXPAND, "src0 src1 dst", "sources and result are row-major",
          holds=lambda s, a, b, c: is_row_major(a) and is_row_major(b) and is_row_major(c),
          found=lambda s, a, b, c: spelled(a, b, c)),
    Legal("COLBINARY-COLS", _COL_EXPAND, "src1 dst", "the expanded row has the valid columns of the result",
          holds=lambda s, a, b: same(a.v_col, b.v_col), found=lambda s, a, b: extents(a, b)),
    Legal("PARTARG-INDEX", _PART_ARG, "src0Idx src1Idx dstIdx", "indices are 32-bit integers of one type",
          holds=lambda s, a, b, c: a.dtype == b.dtype == c.dtype and a.dtype.pto in _INT32,
          found=lambda s, a, b, c: dtypes(a, b, c)),
    Legal("PARTARG-SHAPE", _PART_ARG, "src0 src0Idx", "values and their indices have one shape and valid shape",
          holds=lambda s, a, b: same_shape(a, b) and (a.v_row, a.v_col) == (b.v_row, b.v_col),
          found=lambda s, a, b: spelled(a, b)),
    Legal("PARTARG-TYPES", _PART_ARG, "dst", "the values are i16, i32, f16 or f32, on a5 also i8 or bf16",
          holds=lambda s, t: t.dtype.pto in (_SCATTERED if s.a5 else _WORDS),
          found=lambda s, t: f"they are {t.dtype.pto}"),
    Legal("SCATTER-DTYPE", "pto.tscatter", "src dst", "source and result are of one type: i8, i16, i32, f16, bf16, f32",
          holds=lambda s, a, b: a.dtype == b.dtype and a.dtype.pto in _SCATTERED, found=lambda s, a, b: dtypes(a, b)),
    Legal("SCATTER-INDEX", "pto.tscatter", "indexes", "indices are i16 or i32",
          holds=lambda s, t: t.dtype.pto in ("i16", "i32"), found=lambda s, t: f"they are {t.dtype.pto}"),
    Legal("SCATTER-VALID", "pto.tscatter", "src indexes dst",
          "indices have the source's valid shape, which lies in the result's",
          holds=lambda s, a, b, c: same_valid(a, b) and up_to(a.v_row, c.v_row) and up_to(a.v_col, c.v_col),
          found=lambda s, a, b, c: extents(a, b, c)),
    Legal("SCATTER-MASK", "pto.tscatter", "src dst", "a scatter by mask makes as many elements as its pattern says",
          when=lambda s, a, b: s.member("maskPattern") in _EXPANSION and s.attr("axis") is not None,
          holds=lambda s, a, b: _spread(s, a, b), found=lambda s, a, b: f"{s.member('maskPattern')}, {extents(a, b)}"),
    Legal("SCATTER-MASK-AXIS", "pto.tscatter", "", "a scatter by mask says along which axis",
          holds=lambda s: s.attr("maskPattern") is None or s.attr("axis") is not None,
          found=lambda s: "axis is missing"),
    Legal("GATHERB-RESULT", "pto.tgatherb", "dst", "the result on a2a3 is row-major, of 1, 2 or 4-byte elements",
          targets=A3, holds=lambda s, t: is_row_major(t) and t.dtype.bytes in (1, 2, 4),
          found=lambda s, t: spelled(t)),
    Legal("CONCATIDX-DTYPE", "pto.tconcatidx", "src0 src1 dst", "both sources and the result have one element type",
          holds=lambda s, a, b, c: a.dtype == b.dtype == c.dtype, found=lambda s, a, b, c: dtypes(a, b, c)),
    Legal("CONCATIDX-INDEX", "pto.tconcatidx", "src0Idx src1Idx", "both indices are i8, i16 or i32, of one type",
          holds=lambda s, a, b: a.dtype == b.dtype and a.dtype.pto in ("i8", "i16", "i32"),
          found=lambda s, a, b: dtypes(a, b)),
    Legal("CONCATIDX-ROWS", "pto.tconcatidx", "src0 src1 src0Idx src1Idx dst", "all operands have the same valid rows",
          holds=lambda s, *tiles: all(same(t.v_row, tiles[-1].v_row) for t in tiles),
          found=lambda s, *tiles: extents(*tiles)),
    Legal("CONCATIDX-LAYOUT", "pto.tconcatidx", "src0 src1 dst", "sources and result on a5 are row-major", targets=A5,
          holds=lambda s, a, b, c: is_row_major(a) and is_row_major(b) and is_row_major(c),
          found=lambda s, a, b, c: spelled(a, b, c)),
    Legal("TRI-SIDE", "pto.ttri", "", "upperOrLower is 0 or 1", holds=lambda s: s.int("upperOrLower") in (0, 1),
          found=lambda s: f"it is {s.int('upperOrLower')}"),
    Legal("TRI-SPACE", "pto.ttri", "dst", "a triangle is in vec", holds=lambda s, t: is_vec(t),
          found=lambda s, t: f"it is in {t.loc.value}"),
    Legal("QUANT-RESULT", "pto.tquant", "dst", "a quantisation makes 8-bit integers",
          holds=lambda s, t: t.dtype.pto in ("i8", "ui8", "si8"), found=lambda s, t: f"it makes {t.dtype.pto}"),
    Legal("ARRAY-ELEMENT", "pto.local_array_set pto.local_array_get", "",
          "a local array takes and gives values of its element type", when=lambda s: bool(_element(s) and _moved(s)),
          holds=lambda s: _element(s) == _moved(s), found=lambda s: f"{_moved(s)}, {type_text(_array(s))}"),
)


def _array(s: Site) -> OpaqueType:
    return next(v.type for v in s.op.operands() if isinstance(v.type, OpaqueType))
