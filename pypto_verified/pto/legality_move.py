"""Legality of transfers between memories: loads, stores, moves, extracts, inserts, padding."""

from __future__ import annotations

from math import prod

from pypto_verified.layouts import Pad, Space
from pypto_verified.pto.legality import Legal, Site
from pypto_verified.pto.legality_words import (
    A3,
    A5,
    MAX_MATMUL,
    at_least,
    is_dn,
    is_nd,
    is_nz,
    is_vec,
    is_zn,
    is_zz,
    plus,
    same_shape,
    spelled,
    up_to,
)
from pypto_verified.pto.types import PartitionViewType, ScalarType, TensorViewType, TileBufType

_TRANSFER = frozenset({
    "i8", "i16", "i32", "i64", "ui8", "ui16", "ui32", "ui64", "si8", "si16", "si32", "si64", "f16", "bf16", "f32",
})
_INT8 = ("i8", "ui8", "si8")
_INT32 = ("i32", "ui32", "si32")
_VEC, _MAT, _ACC = Space.VEC, Space.MAT, Space.ACC
_OPERANDS = (Space.LEFT, Space.RIGHT, Space.BIAS, Space.SCALING)
_EXTRACT_INSERT = "pto.textract pto.tinsert"
_FROM_ACC = "pto.tstore pto.tmov pto.textract pto.tinsert"


def _view(s: Site, name: str) -> PartitionViewType | TensorViewType:
    found = s.type(name)
    assert isinstance(found, PartitionViewType | TensorViewType)
    return found


def _has_view(s: Site, name: str) -> bool:
    return isinstance(s.type(name), PartitionViewType | TensorViewType)


def _count(dims: tuple[int | None, ...]) -> int | None:
    known = [d for d in dims if d is not None]
    return prod(known) if len(known) == len(dims) and all(known) else None


def _same_count(s: Site, t: TileBufType) -> bool:
    view, tile = _count(_view(s, "dst").dims), _count((t.v_row, t.v_col))
    return view is None or tile is None or view == tile


def _relu(s: Site) -> bool:
    return s.member("reluPreMode") not in ("", "no_relu")


def _index(s: Site) -> str:
    return f"at ({s.const('indexRow')}, {s.const('indexCol')})"


def _pair(a: TileBufType, b: TileBufType) -> str:
    return f"{a.loc.value} to {b.loc.value}"


def _mov_pair(a: TileBufType, b: TileBufType, a5: bool) -> bool:
    pair = (a.loc, b.loc)
    known = (a.loc is _MAT and b.loc in _OPERANDS) or pair in ((_VEC, _VEC), (_ACC, _MAT), (_ACC, _VEC))
    return known or (a5 and pair == (_VEC, _MAT))


_EXTRACT_PAIRS = {
    "a2a3": {(_MAT, Space.LEFT), (_MAT, Space.RIGHT), (_ACC, _MAT), (_VEC, _VEC)},
    "a5": {(_MAT, Space.LEFT), (_MAT, Space.RIGHT), (_MAT, Space.SCALING), (_VEC, _MAT), (_VEC, _VEC), (_ACC, _MAT),
           (_ACC, _VEC)},
}
_INSERT_PAIRS = {
    "a2a3": {(_ACC, _MAT), (_VEC, _VEC)},
    "a5": {(_ACC, _MAT), (_ACC, _VEC), (_VEC, _MAT), (_VEC, _VEC)},
}
_A3_ACC_CASTS = {("f32", "f16"), ("f32", "bf16")}
_A3_ACC_QUANTS = {("f32", "i8"), ("i32", "i8"), ("i32", "f16"), ("i32", "i16")}

ROWS: tuple[Legal, ...] = (
    Legal("LOAD-SPACE", "pto.tload", "dst", "a load on a2a3 goes to vec or mat", targets=A3,
          holds=lambda s, t: t.loc in (_VEC, _MAT), found=lambda s, t: f"it goes to {t.loc.value}"),
    Legal("LOAD-DTYPE", "pto.tload", "dst", "a load on a2a3 moves 8 to 64-bit integers, f16, bf16 or f32", targets=A3,
          holds=lambda s, t: t.dtype.pto in _TRANSFER, found=lambda s, t: f"the tile is {t.dtype.pto}"),
    Legal("LOAD-WIDTH", "pto.tload", "dst", "view and tile have elements of one size",
          when=lambda s, t: _has_view(s, "src"), holds=lambda s, t: _view(s, "src").dtype.bytes == t.dtype.bytes,
          found=lambda s, t: f"{_view(s, 'src').dtype.pto} and {t.dtype.pto}"),
    Legal("LOAD-PAD", "pto.tload", "dst", "64-bit tiles on a5 are padded with nothing or zero", targets=A5,
          when=lambda s, t: t.dtype.pto in ("i64", "ui64"), holds=lambda s, t: t.pad in (Pad.NULL, Pad.ZERO),
          found=lambda s, t: f"pad is {t.pad.name.lower()}"),
    Legal("LOAD-LAYOUT", "pto.tload", "dst", "a vec tile loaded on a5 is ND, DN or NZ", targets=A5,
          when=lambda s, t: is_vec(t), holds=lambda s, t: is_nd(t) or is_dn(t) or is_nz(t),
          found=lambda s, t: spelled(t)),
    Legal("STORE-SPACE-A3", "pto.tstore", "src", "a store on a2a3 comes from vec, mat or acc", targets=A3,
          holds=lambda s, t: t.loc in (_VEC, _MAT, _ACC), found=lambda s, t: f"it comes from {t.loc.value}"),
    Legal("STORE-SPACE-A5", "pto.tstore", "src", "a store on a5 comes from vec or acc", targets=A5,
          holds=lambda s, t: t.loc in (_VEC, _ACC), found=lambda s, t: f"it comes from {t.loc.value}"),
    Legal("STORE-COUNT", "pto.tstore", "src", "the window has as many elements as the tile's valid region",
          when=lambda s, t: _has_view(s, "dst") and not s.has("fp"), holds=_same_count,
          found=lambda s, t: f"{_count(_view(s, 'dst').dims)} and {_count((t.v_row, t.v_col))}"),
    Legal("STORE-WIDTH", "pto.tstore", "src", "tile and view have elements of one size",
          when=lambda s, t: t.loc in (_VEC, _MAT) and _has_view(s, "dst"),
          holds=lambda s, t: _view(s, "dst").dtype.bytes == t.dtype.bytes,
          found=lambda s, t: f"{t.dtype.pto} and {_view(s, 'dst').dtype.pto}"),
    Legal("STORE-ACC-SOURCE", "pto.tstore", "src", "an accumulator is i32 or f32", when=lambda s, t: t.loc is _ACC,
          holds=lambda s, t: t.dtype.pto in (*_INT32, "f32"), found=lambda s, t: f"it is {t.dtype.pto}"),
    Legal("STORE-ACC-DTYPE", "pto.tstore", "src", "an accumulator is stored as i32, f32, f16 or bf16",
          when=lambda s, t: t.loc is _ACC and not s.quantised and _has_view(s, "dst"),
          holds=lambda s, t: _view(s, "dst").dtype.pto in (*_INT32, "f32", "f16", "bf16"),
          found=lambda s, t: f"the view is {_view(s, 'dst').dtype.pto}"),
    Legal("STORE-ACC-QUANT", "pto.tstore", "src", "an accumulator on a2a3 is quantised to i8, or from i32 to f16",
          targets=A3, when=lambda s, t: t.loc is _ACC and s.has("preQuantScalar") and _has_view(s, "dst"),
          holds=lambda s, t: _view(s, "dst").dtype.pto in (*_INT8, *(("f16",) if t.dtype.pto in _INT32 else ())),
          found=lambda s, t: f"{t.dtype.pto} to {_view(s, 'dst').dtype.pto}"),
    Legal("STORE-ACC-COLS", "pto.tstore", "src", f"an accumulator stored on a2a3 has at most {MAX_MATMUL} columns",
          targets=A3, when=lambda s, t: t.loc is _ACC, holds=lambda s, t: t.cols <= MAX_MATMUL,
          found=lambda s, t: f"it has {t.cols}"),
    Legal("QUANT-ONE", _FROM_ACC, "src", "a move has a quantisation vector or a scalar, not both",
          holds=lambda s, t: not (s.has("fp") and s.has("preQuantScalar")), found=lambda s, t: "it has both"),
    Legal("QUANT-SOURCE", _FROM_ACC, "src", "only an accumulator is quantised on the way",
          when=lambda s, t: s.has("preQuantScalar") or (s.has("fp") and s.op.name != "pto.tmov"),
          holds=lambda s, t: t.loc is _ACC, found=lambda s, t: f"the source is in {t.loc.value}"),
    Legal("QUANT-SPACE", "pto.tstore pto.textract pto.tinsert", "fp", "the quantisation vector is in scaling",
          holds=lambda s, t: t.loc is Space.SCALING, found=lambda s, t: f"it is in {t.loc.value}"),
    Legal("RELU-SOURCE", _FROM_ACC, "src", "only an accumulator takes a relu on the way", when=lambda s, t: _relu(s),
          holds=lambda s, t: t.loc is _ACC, found=lambda s, t: f"the source is in {t.loc.value}"),
    Legal("MOVE-PAIR", "pto.tmov", "src dst", "the target moves between these memories",
          when=lambda s, a, b: not s.has("fp") or s.tile("fp") is None or _scaled(s),
          holds=lambda s, a, b: _mov_pair(a, b, s.a5), found=lambda s, a, b: _pair(a, b)),
    Legal("MOVE-SHAPE-MAT", "pto.tmov", "src dst", "a move from mat keeps the shape",
          when=lambda s, a, b: a.loc is _MAT, holds=lambda s, a, b: same_shape(a, b),
          found=lambda s, a, b: spelled(a, b)),
    Legal("MOVE-SHAPE", "pto.tmov", "src dst", "a move on a2a3 keeps the shape", targets=A3,
          when=lambda s, a, b: a.loc is not _MAT, holds=lambda s, a, b: same_shape(a, b),
          found=lambda s, a, b: spelled(a, b)),
    Legal("MOVE-PITCH", "pto.tmov", "src dst", "a move on a2a3 keeps the row pitch, also of the tiles behind views",
          targets=A3, holds=lambda s, a, b: a.cols != b.cols or _pitch(s, "src") == _pitch(s, "dst"),
          found=lambda s, a, b: f"{_pitch(s, 'src')} and {_pitch(s, 'dst')} columns",
          help="extract or insert the window instead", source="PTOAS verifier, after views are resolved"),
    Legal("MOVE-MODE", "pto.tmov", "src dst", "accToVecMode is for moves from acc to vec",
          when=lambda s, a, b: s.attr("accToVecMode") is not None, holds=lambda s, a, b: (a.loc, b.loc) == (_ACC, _VEC),
          found=lambda s, a, b: _pair(a, b)),
    Legal("MOVE-FRACTAL", "pto.tmov", "src dst", "a move from acc to mat on a2a3 writes 512-byte boxes", targets=A3,
          when=lambda s, a, b: (a.loc, b.loc) == (_ACC, _MAT), holds=lambda s, a, b: b.fractal == 512,
          found=lambda s, a, b: f"fractal is {b.fractal}"),
    Legal("MOVE-RELU-LAYOUT", "pto.tmov", "src", "an accumulator that is quantised by vector or takes a relu is NZ",
          when=lambda s, t: t.loc is _ACC and (_relu(s) or s.has("fp")), holds=lambda s, t: is_nz(t),
          found=lambda s, t: spelled(t)),
    Legal("INDEX-SIGN", _EXTRACT_INSERT, "src dst", "constant indices are not negative",
          holds=lambda s, a, b: at_least(s.const("indexRow"), 0) and at_least(s.const("indexCol"), 0),
          found=lambda s, a, b: _index(s)),
    Legal("EXTRACT-ROWS", "pto.textract", "src dst", "the extracted rows lie in the source",
          holds=lambda s, a, b: up_to(plus(s.const("indexRow"), b.rows), a.rows),
          found=lambda s, a, b: f"{s.const('indexRow')} + {b.rows} > {a.rows}"),
    Legal("EXTRACT-COLS", "pto.textract", "src dst", "the extracted columns lie in the source",
          holds=lambda s, a, b: up_to(plus(s.const("indexCol"), b.cols), a.cols),
          found=lambda s, a, b: f"{s.const('indexCol')} + {b.cols} > {a.cols}"),
    Legal("EXTRACT-DTYPE", "pto.textract", "src dst", "an extract that does not start in acc keeps the element type",
          when=lambda s, a, b: a.loc is not _ACC, holds=lambda s, a, b: a.dtype == b.dtype,
          found=lambda s, a, b: f"{a.dtype.pto} to {b.dtype.pto}"),
    Legal("EXTRACT-PAIR", "pto.textract", "src dst", "the target extracts between these memories",
          holds=lambda s, a, b: (a.loc, b.loc) in _EXTRACT_PAIRS[s.context.target], found=lambda s, a, b: _pair(a, b)),
    Legal("EXTRACT-LEFT", "pto.textract", "src dst", "a left operand on a2a3 is ZZ", targets=A3,
          when=lambda s, a, b: b.loc is Space.LEFT, holds=lambda s, a, b: is_zz(b), found=lambda s, a, b: spelled(b)),
    Legal("EXTRACT-RIGHT", "pto.textract", "src dst", "a right operand is ZN",
          when=lambda s, a, b: b.loc is Space.RIGHT, holds=lambda s, a, b: is_zn(b), found=lambda s, a, b: spelled(b)),
    Legal("EXTRACT-ACC-LAYOUT", "pto.textract", "src dst",
          "an extract from acc to mat on a2a3 is NZ with 512-byte boxes", targets=A3,
          when=lambda s, a, b: (a.loc, b.loc) == (_ACC, _MAT),
          holds=lambda s, a, b: is_nz(a) and is_nz(b) and b.fractal == 512, found=lambda s, a, b: spelled(a, b)),
    Legal("EXTRACT-ACC-DTYPE", "pto.textract", "src dst", "a2a3 extracts an accumulator in these element types",
          targets=A3, when=lambda s, a, b: a.loc is _ACC,
          holds=lambda s, a, b: (a.dtype.pto, b.dtype.pto) in (_A3_ACC_QUANTS if s.quantised else _A3_ACC_CASTS),
          found=lambda s, a, b: f"{a.dtype.pto} to {b.dtype.pto}"),
    Legal("EXTRACT-LEFT-A5", "pto.textract", "src dst", "a left operand on a5 is NZ", targets=A5,
          when=lambda s, a, b: b.loc is Space.LEFT, holds=lambda s, a, b: is_nz(b), found=lambda s, a, b: spelled(b)),
    Legal("EXTRACT-VEC-A5", "pto.textract", "src dst", "an extract from vec to vec on a5 is ND", targets=A5,
          when=lambda s, a, b: (a.loc, b.loc) == (_VEC, _VEC), holds=lambda s, a, b: is_nd(a) and is_nd(b),
          found=lambda s, a, b: spelled(a, b)),
    Legal("EXTRACT-ACC-A5", "pto.textract", "src dst", "an extract from acc on a5 is NZ, in vec it is ND", targets=A5,
          when=lambda s, a, b: a.loc is _ACC, holds=lambda s, a, b: is_nz(a) and (is_nd(b) if is_vec(b) else is_nz(b)),
          found=lambda s, a, b: spelled(a, b)),
    Legal("EXTRACT-TYPES", "pto.textract", "src dst", "a2a3 extracts i8, f16, bf16 and f32", targets=A3,
          when=lambda s, a, b: not s.has("fp"), holds=lambda s, a, b: b.dtype.pto in (*_INT8, "f16", "bf16", "f32"),
          found=lambda s, a, b: f"the result is {b.dtype.pto}"),
    Legal("EXTRACT-MODE", "pto.textract pto.tinsert", "src dst", "accToVecMode is for moves from acc to vec on a5",
          when=lambda s, a, b: s.attr("accToVecMode") is not None,
          holds=lambda s, a, b: s.a5 and (a.loc, b.loc) == (_ACC, _VEC), found=lambda s, a, b: _pair(a, b)),
    Legal("INSERT-VEC-DTYPE", "pto.tinsert", "src dst", "an insert from vec to vec on a2a3 keeps the element type",
          targets=A3, when=lambda s, a, b: (a.loc, b.loc) == (_VEC, _VEC), holds=lambda s, a, b: a.dtype == b.dtype,
          found=lambda s, a, b: f"{a.dtype.pto} to {b.dtype.pto}"),
    Legal("INSERT-ACC-DTYPE", "pto.tinsert", "src dst", "a2a3 inserts an accumulator in these element types",
          targets=A3, when=lambda s, a, b: a.loc is _ACC,
          holds=lambda s, a, b: (a.dtype.pto, b.dtype.pto) in (_A3_ACC_QUANTS if s.quantised else _A3_ACC_CASTS),
          found=lambda s, a, b: f"{a.dtype.pto} to {b.dtype.pto}"),
    Legal("INSERT-ACC-A5", "pto.tinsert", "src dst", "an insert from acc to mat on a5 is NZ", targets=A5,
          when=lambda s, a, b: (a.loc, b.loc) == (_ACC, _MAT), holds=lambda s, a, b: is_nz(a) and is_nz(b),
          found=lambda s, a, b: spelled(a, b)),
    Legal("INSERT-MODE", "pto.tinsert", "src dst", "tinsertMode is for moves from vec to mat on a5",
          when=lambda s, a, b: s.attr("tinsertMode") is not None,
          holds=lambda s, a, b: s.a5 and (a.loc, b.loc) == (_VEC, _MAT), found=lambda s, a, b: _pair(a, b)),
    Legal("INSERT-ROWS", "pto.tinsert", "src dst", "the inserted rows lie in the destination",
          holds=lambda s, a, b: up_to(plus(s.const("indexRow"), a.v_row), b.rows),
          found=lambda s, a, b: f"{s.const('indexRow')} + {a.v_row} > {b.rows}"),
    Legal("INSERT-COLS", "pto.tinsert", "src dst", "the inserted columns lie in the destination",
          holds=lambda s, a, b: up_to(plus(s.const("indexCol"), a.v_col), b.cols),
          found=lambda s, a, b: f"{s.const('indexCol')} + {a.v_col} > {b.cols}"),
    Legal("INSERT-PAIR", "pto.tinsert", "src dst", "the target inserts between these memories",
          holds=lambda s, a, b: (a.loc, b.loc) in _INSERT_PAIRS[s.context.target], found=lambda s, a, b: _pair(a, b)),
    Legal("INSERT-ACC-LAYOUT", "pto.tinsert", "src dst", "an insert from acc to mat on a2a3 is NZ with 512-byte boxes",
          targets=A3, when=lambda s, a, b: (a.loc, b.loc) == (_ACC, _MAT),
          holds=lambda s, a, b: is_nz(a) and is_nz(b) and b.fractal == 512, found=lambda s, a, b: spelled(a, b)),
    Legal("FILLPAD-WIDTH", "pto.tfillpad", "src dst", "source and destination have 1, 2 or 4-byte elements of one size",
          holds=lambda s, a, b: a.dtype.bytes == b.dtype.bytes and a.dtype.bytes in (1, 2, 4),
          found=lambda s, a, b: f"{a.dtype.pto} and {b.dtype.pto}"),
    Legal("FILLPAD-SHAPE", "pto.tfillpad", "src dst", "the destination is not smaller than the source",
          holds=lambda s, a, b: a.rows <= b.rows and a.cols <= b.cols, found=lambda s, a, b: spelled(a, b)),
    Legal("FILLPAD-EXPAND", "pto.tfillpad", "src dst", "only vec tiles grow", when=lambda s, a, b: not same_shape(a, b),
          holds=lambda s, a, b: is_vec(a) and is_vec(b), found=lambda s, a, b: spelled(a, b)),
    Legal("GETVAL-SPACE", "pto.tgetval", "src", "a value is read from vec", holds=lambda s, t: is_vec(t),
          found=lambda s, t: f"the tile is in {t.loc.value}"),
    Legal("GETVAL-DTYPE", "pto.tgetval", "src", "a value has the element type of its tile",
          holds=lambda s, t: s.type("@") == ScalarType(t.dtype), found=lambda s, t: f"the tile is {t.dtype.pto}"),
)


def _pitch(s: Site, name: str) -> int:
    """Columns of the tile that an operand is, or is a view of."""
    value = s.op.arg(name)
    producer = s.context.producers.get(value)
    while producer is not None and producer.name == "pto.subview":
        value = producer.arg("source")
        producer = s.context.producers.get(value)
    return value.type.cols if isinstance(value.type, TileBufType) else 0


def _scaled(s: Site) -> bool:
    tile = s.tile("fp")
    return tile is not None and tile.loc is Space.SCALING

