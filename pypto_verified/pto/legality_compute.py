"""Legality of the compute ops: cube, elementwise, reductions, expansions, comparisons."""

from __future__ import annotations

from pypto_verified.layouts import Space
from pypto_verified.pto.legality import Legal, Site
from pypto_verified.pto.legality_operands import family
from pypto_verified.pto.legality_words import (
    A3,
    A5,
    MAX_MATMUL,
    dtypes,
    extents,
    is_dn,
    is_nz,
    is_row_major,
    is_vec,
    is_zn,
    line_bytes,
    same,
    same_valid,
    spelled,
    up_to,
)
from pypto_verified.pto.types import ScalarType, TileBufType

_INT8 = frozenset({"i8", "ui8", "si8"})
_INT32 = frozenset({"i32", "ui32", "si32"})


def _pto(names: str) -> str:
    return " ".join(f"pto.{n}" for n in names.split())


_ROW_SUMS = _pto("trowsum trowmax trowmin trowprod")
_ROW_ARGS = _pto("trowargmax trowargmin")
_COL_SUMS = _pto("tcolsum tcolmax tcolmin tcolprod")
_COL_ARGS = _pto("tcolargmax tcolargmin")


def _extent(valid: int | None, physical: int) -> int:
    return physical if valid is None else valid


def _mkn(*tiles: TileBufType) -> list[tuple[int, int]]:
    """Logical shapes of a matmul's operands: the valid extent where the type knows it, else the physical one."""
    return [(_extent(t.v_row, t.rows), _extent(t.v_col, t.cols)) for t in tiles]


def _conforming(a: TileBufType, b: TileBufType, c: TileBufType) -> bool:
    (m, k), (k2, n), (m2, n2) = _mkn(a, b, c)
    return m == m2 and k == k2 and n == n2


def _matmul_dtypes(s: Site, a: TileBufType, b: TileBufType, c: TileBufType) -> bool:
    left, right, out = a.dtype.pto, b.dtype.pto, c.dtype.pto
    if out in _INT32:
        return left in _INT8 and right in _INT8
    if out != "f32":
        return False
    if left == right and left in ("f16", "bf16", "f32"):
        return True
    return s.a5 and ((left.startswith("f8") and right.startswith("f8")) or left == right == "!pto.hif8")


_ALL_MATMUL = "pto.tmatmul pto.tmatmul.bias pto.tgemv pto.tgemv.bias"
_WITH_ACC = f"{_ALL_MATMUL} pto.tmatmul.acc pto.tgemv.acc"
_GEMVS = "pto.tgemv pto.tgemv.acc pto.tgemv.bias"
_CUBE_TILES = "lhs|a rhs|b dst"
_BIASED = "pto.tmatmul.bias pto.tgemv.bias pto.tmatmul.mx.bias pto.tgemv.mx.bias"



def _power_types(s: Site) -> frozenset[str]:
    if s.member("precisionType") == "high_precision":
        return frozenset({"f16", "bf16", "f32"}) if s.a5 else frozenset({"i8", "i16", "i32", "f32"})
    return frozenset({"i8", "i16", "i32", "f32", *(("f16",) if s.a5 else ())})


def _scalar(s: Site, name: str) -> str:
    """The type of a scalar operand, '' if it is absent."""
    found = s.type(name)
    return found.dtype.pto if isinstance(found, ScalarType) else ""


def _per_row(t: TileBufType, c: TileBufType) -> bool:
    """Whether a tile has one value a row of the result in a column, or one 32-byte block."""
    block = {"i8": 32, "i16": 16, "f16": 16}.get(family(c), 8)
    return same(t.v_row, c.v_row) and same(t.v_col, block if is_row_major(t) else 1)


def _is_whole(t: TileBufType, c: TileBufType) -> bool:
    return is_row_major(t) and same_valid(t, c)


_CUBE = (
    Legal("MATMUL-SPACE", _WITH_ACC, _CUBE_TILES, "lhs is in left, rhs in right, the result in acc",
          holds=lambda s, a, b, c: (a.loc, b.loc, c.loc) == (Space.LEFT, Space.RIGHT, Space.ACC),
          found=lambda s, a, b, c: f"{a.loc.value}, {b.loc.value} and {c.loc.value}"),
    Legal("MATMUL-SHAPE", _WITH_ACC, _CUBE_TILES, "lhs is M x K, rhs K x N, the result M x N",
          when=lambda s, a, b, c: s.a5 or "gemv" not in s.op.name, holds=lambda s, a, b, c: _conforming(a, b, c),
          found=lambda s, a, b, c: " and ".join(f"{r}x{k}" for r, k in _mkn(a, b, c))),
    Legal("MATMUL-SIZE", _WITH_ACC, _CUBE_TILES, f"M, K and N are at most {MAX_MATMUL}",
          when=lambda s, a, b, c: s.a5 or "gemv" not in s.op.name,
          holds=lambda s, a, b, c: all(up_to(v, MAX_MATMUL) for v in (a.v_row, a.v_col, b.v_col)),
          found=lambda s, a, b, c: f"the valid shapes are {extents(a, b)}"),
    Legal("MATMUL-DTYPE", f"{_ALL_MATMUL} pto.tmatmul.acc", _CUBE_TILES, "the cube multiplies these element types",
          when=lambda s, a, b, c: s.a5 or s.op.name != "pto.tmatmul.acc", holds=_matmul_dtypes,
          found=lambda s, a, b, c: dtypes(a, b, c)),
    Legal("MATMUL-LEFT", _WITH_ACC, _CUBE_TILES, "lhs on a5 is NZ", targets=A5,
          when=lambda s, a, b, c: a.loc is Space.LEFT, holds=lambda s, a, b, c: is_nz(a),
          found=lambda s, a, b, c: spelled(a)),
    Legal("MATMUL-RIGHT", _WITH_ACC, _CUBE_TILES, "rhs on a5 is ZN", targets=A5, holds=lambda s, a, b, c: is_zn(b),
          found=lambda s, a, b, c: spelled(b)),
    Legal("MATMUL-ACC", _WITH_ACC, _CUBE_TILES, "the accumulator on a5 is NZ", targets=A5,
          holds=lambda s, a, b, c: is_nz(c), found=lambda s, a, b, c: spelled(c)),
    Legal("GEMV-ROW", _GEMVS, _CUBE_TILES, "a matrix-vector product has one row",
          holds=lambda s, a, b, c: same(a.v_row, 1) and same(c.v_row, 1),
          found=lambda s, a, b, c: f"the valid shapes are {extents(a, c)}"),
    Legal("GEMV-SHAPE", _GEMVS, _CUBE_TILES, "lhs is 1 x K, rhs K x N, the result 1 x N",
          holds=lambda s, a, b, c: same(a.v_col, b.v_row) and same(b.v_col, c.v_col),
          found=lambda s, a, b, c: f"the valid shapes are {extents(a, b, c)}"),
)

_CUBE_EXTRAS = (
    Legal("MATMUL-ACC-IN", "pto.tmatmul.acc pto.tgemv.acc pto.tmatmul.mx.acc pto.tgemv.mx.acc", "acc_in|c_in",
          "the incoming accumulator is in acc",
          holds=lambda s, t: t.loc is Space.ACC, found=lambda s, t: f"it is in {t.loc.value}"),
    Legal("BIAS-SPACE", _BIASED, "bias", "the bias is in the bias memory",
          holds=lambda s, t: t.loc is Space.BIAS, found=lambda s, t: f"it is in {t.loc.value}"),
    Legal("BIAS-ROW", _BIASED, "bias", "the bias has one row", holds=lambda s, t: t.rows == 1,
          found=lambda s, t: f"it has {t.rows}"),
    Legal("BIAS-LAYOUT", _BIASED, "bias", "the bias on a5 is row-major", targets=A5,
          holds=lambda s, t: is_row_major(t), found=lambda s, t: spelled(t)),
)

_ELEMENTWISE = (
    Legal("RECIP-STORAGE", "pto.trecip", "src dst", "source and result on a2a3 are different tiles", targets=A3,
          holds=lambda s, a, b: s.op.arg("src") is not s.op.arg("dst"),
          found=lambda s, a, b: f"both are %{s.op.arg('src').name}"),
    Legal("AXPY-TYPES", "pto.taxpy", "src dst", "source and result have one element type, or f16 is added to f32",
          holds=lambda s, a, b: a.dtype == b.dtype or (a.dtype.pto, b.dtype.pto) == ("f16", "f32"),
          found=lambda s, a, b: dtypes(a, b)),
    Legal("POW-TYPES", "pto.tpow pto.tpows", "dst", "a power is of integers or f32, on a5 also of f16, with high "
          "precision of f16, bf16 and f32", holds=lambda s, t: family(t) in _power_types(s),
          found=lambda s, t: f"it is of {t.dtype.pto}"),
    Legal("LRELU-SLOPE", "pto.tlrelu", "", "the slope on a5 is f32", targets=A5,
          holds=lambda s: _scalar(s, "slope") in ("", "f32"), found=lambda s: f"it is {_scalar(s, 'slope')}"),
    Legal("NEG-COLS", "pto.tneg", "src dst", "source and result on a5 have the same valid columns", targets=A5,
          holds=lambda s, a, b: same(a.v_col, b.v_col), found=lambda s, a, b: extents(a, b)),
    Legal("SCALAR-NUMBER", "pto.tadds pto.tsubs pto.tmuls pto.tmaxs pto.tmins pto.tdivs pto.trems pto.tfmods pto.tpows "
          "pto.tands pto.tors pto.txors pto.tshls pto.tshrs pto.taxpy pto.taddsc pto.tsubsc pto.tcmps pto.tsels "
          "pto.texpands pto.ttri", "dst",
          "the scalar is a number, no index", holds=lambda s, t: _scalar(s, "scalar|diagonal") != "index",
          found=lambda s, t: "it is an index"),
    Legal("EXPANDS-LAYOUT", "pto.texpands", "dst", "a vec tile filled on a2a3 is row-major", targets=A3,
          when=lambda s, t: is_vec(t), holds=lambda s, t: is_row_major(t), found=lambda s, t: spelled(t)),
    Legal("TRANS-LINE", "pto.ttrans", "src dst", "a line of source and result on a5 is a whole number of 32 bytes",
          targets=A5, holds=lambda s, a, b: line_bytes(a) % 32 == 0 and line_bytes(b) % 32 == 0,
          found=lambda s, a, b: f"{line_bytes(a)} and {line_bytes(b)} bytes"),
    Legal("ADDRELU-TARGET", "pto.taddrelu", "", "the op exists on a2a3 only", holds=lambda s: not s.a5,
          found=lambda s: "the target is a5", help="use pto.tadd and pto.trelu"),
)

_AXIS = (
    Legal("ROW-RESULT", f"{_ROW_SUMS} {_ROW_ARGS}", "dst",
          "the result of a row reduction has one column if it is column-major", when=lambda s, t: is_dn(t),
          holds=lambda s, t: t.cols == 1, found=lambda s, t: spelled(t)),
    Legal("ROW-VALID-ROWS", _ROW_SUMS, "src dst", "source and result have the same valid rows",
          when=lambda s, a, b: (b.v_row, b.v_col) != (0, 0), holds=lambda s, a, b: same(a.v_row, b.v_row),
          found=lambda s, a, b: f"the valid shapes are {extents(a, b)}"),
    Legal("ROW-VALID-COL", _ROW_SUMS, "src dst", "the result of a row reduction has one valid column",
          when=lambda s, a, b: (b.v_row, b.v_col) != (0, 0), holds=lambda s, a, b: same(b.v_col, 1),
          found=lambda s, a, b: f"its valid shape is {extents(b)}"),
    Legal("ROW-EMPTY", _ROW_SUMS, "src dst", "the source of a row reduction is not empty",
          when=lambda s, a, b: (b.v_row, b.v_col) != (0, 0), holds=lambda s, a, b: a.v_row != 0 and a.v_col != 0,
          found=lambda s, a, b: f"its valid shape is {extents(a)}"),
    Legal("COL-VALID", f"{_COL_SUMS} {_COL_ARGS}", "src dst", "source and result have the same valid columns",
          when=lambda s, a, b: (b.v_row, b.v_col) != (0, 0), holds=lambda s, a, b: same(a.v_col, b.v_col),
          found=lambda s, a, b: f"the valid shapes are {extents(a, b)}"),
    Legal("COL-ARG-ROW", _COL_ARGS, "dst", "the result of a column argmax or argmin has one valid row",
          holds=lambda s, t: same(t.v_row, 1), found=lambda s, t: f"its valid shape is {extents(t)}"),
    Legal("COL-EMPTY", "pto.tcolsum pto.tcolmax pto.tcolmin", "src dst",
          "the source of a column reduction on a5 is not empty", targets=A5,
          when=lambda s, a, b: (b.v_row, b.v_col) != (0, 0), holds=lambda s, a, b: a.v_row != 0 and a.v_col != 0,
          found=lambda s, a, b: f"its valid shape is {extents(a)}"),
    Legal("COL-ARG-EMPTY", _COL_ARGS, "src", "the source of a column argmax or argmin is not empty",
          holds=lambda s, t: t.v_row != 0 and t.v_col != 0, found=lambda s, t: f"its valid shape is {extents(t)}"),
    Legal("ROWEXPAND-ROW", "pto.trowexpandadd", "src1 dst", "the expanded source has one value or one block a row",
          holds=lambda s, b, c: _per_row(b, c), found=lambda s, b, c: spelled(b, c)),
    Legal("ROWEXPAND-PAIR", "pto.trowexpandmax pto.trowexpandmin pto.trowexpandexpdif", "src0 src1 dst",
          "one source is row-major with the result's valid shape, the other has one value or one block a row",
          when=lambda s, a, b, c: (c.v_row, c.v_col) != (0, 0),
          holds=lambda s, a, b, c: 0 not in (c.v_row, c.v_col)
          and ((_is_whole(a, c) and _per_row(b, c)) or (_is_whole(b, c) and _per_row(a, c))),
          found=lambda s, a, b, c: spelled(a, b, c)),
    Legal("COLEXPAND-VALID", "pto.tcolexpand", "src dst", "source and result have the same valid columns",
          holds=lambda s, a, b: same(a.v_col, b.v_col), found=lambda s, a, b: f"the valid shapes are {extents(a, b)}"),
    Legal("ROWSPREAD-ROWS", "pto.trowexpand", "src dst", "source and result have the same valid rows",
          when=lambda s, a, b: (b.v_row, b.v_col) != (0, 0), holds=lambda s, a, b: same(a.v_row, b.v_row),
          found=lambda s, a, b: f"the valid shapes are {extents(a, b)}"),
    Legal("ROWSPREAD-EMPTY", "pto.trowexpand", "src dst", "neither source nor result is empty in one direction only",
          when=lambda s, a, b: (b.v_row, b.v_col) != (0, 0),
          holds=lambda s, a, b: 0 not in (a.v_row, a.v_col, b.v_row, b.v_col),
          found=lambda s, a, b: f"the valid shapes are {extents(a, b)}"),
    Legal("CMP-ROWS", "pto.tcmp", "src0 dst", "sources and mask on a2a3 have the same valid rows", targets=A3,
          holds=lambda s, a, b: same(a.v_row, b.v_row), found=lambda s, a, b: f"the valid shapes are {extents(a, b)}"),
    Legal("CMPS-ROWS", "pto.tcmps", "src dst", "source and mask have the same valid rows",
          holds=lambda s, a, b: same(a.v_row, b.v_row), found=lambda s, a, b: f"the valid shapes are {extents(a, b)}"),
)


ROWS: tuple[Legal, ...] = (*_CUBE, *_CUBE_EXTRAS, *_ELEMENTWISE, *_AXIS)
