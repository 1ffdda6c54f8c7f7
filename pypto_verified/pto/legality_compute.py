"""Legality of the compute ops: cube, elementwise, reductions, expansions, comparisons."""

from __future__ import annotations

from pypto_verified.layouts import Space
from pypto_verified.pto.legality import Legal, Site
from pypto_verified.pto.legality_words import (
    A3,
    A5,
    MAX_MATMUL,
    dtypes,
    extents,
    is_dn,
    is_nd,
    is_nz,
    is_row_major,
    is_vec,
    is_zn,
    same,
    same_shape,
    same_valid,
    spelled,
    up_to,
)
from pypto_verified.pto.types import ScalarType, TileBufType

_INT8 = frozenset({"i8", "ui8", "si8"})
_INT16 = frozenset({"i16", "ui16", "si16"})
_INT32 = frozenset({"i32", "ui32", "si32"})
_ARITHMETIC = _INT16 | _INT32 | {"f16", "f32"}
_A5_ARITHMETIC = _ARITHMETIC | _INT8 | {"bf16"}
_BITS = _INT8 | _INT16 | _INT32
_FLOATS = frozenset({"f16", "f32"})


def _pto(names: str) -> str:
    return " ".join(f"pto.{n}" for n in names.split())


_BINARY = _pto("tadd tsub tmul tmax tmin")
_BITWISE = _pto("tand tor txor")
_PAIRED = f"{_BINARY} {_BITWISE} pto.tdiv"
_SCALAR = _pto("tadds tsubs tmuls tmaxs tmins")
_FUNCTIONS = _pto("texp tlog tsqrt trsqrt trecip")
_ROW_SUMS = _pto("trowsum trowmax trowmin trowprod")
_ROW_ARGS = _pto("trowargmax trowargmin")
_COL_SUMS = _pto("tcolsum tcolmax tcolmin tcolprod")
_COL_ARGS = _pto("tcolargmax tcolargmin")
_ROW_EXPANDS = _pto("trowexpandadd trowexpandsub trowexpandmul trowexpanddiv trowexpandmax trowexpandmin")


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

_CUBE = (
    Legal("MATMUL-SPACE", _ALL_MATMUL, _CUBE_TILES, "lhs is in left, rhs in right, the result in acc",
          holds=lambda s, a, b, c: (a.loc, b.loc, c.loc) == (Space.LEFT, Space.RIGHT, Space.ACC),
          found=lambda s, a, b, c: f"{a.loc.value}, {b.loc.value} and {c.loc.value}"),
    Legal("MATMUL-SHAPE", _ALL_MATMUL, _CUBE_TILES, "lhs is M x K, rhs K x N, the result M x N",
          when=lambda s, a, b, c: s.a5 or "gemv" not in s.op.name, holds=lambda s, a, b, c: _conforming(a, b, c),
          found=lambda s, a, b, c: " and ".join(f"{r}x{k}" for r, k in _mkn(a, b, c))),
    Legal("MATMUL-SIZE", "pto.tmatmul pto.tmatmul.bias", _CUBE_TILES, f"M, K and N are at most {MAX_MATMUL}",
          holds=lambda s, a, b, c: all(up_to(v, MAX_MATMUL) for v in (a.v_row, a.v_col, b.v_col)),
          found=lambda s, a, b, c: f"the valid shapes are {extents(a, b)}"),
    Legal("MATMUL-DTYPE", _ALL_MATMUL, _CUBE_TILES, "the cube multiplies these element types", holds=_matmul_dtypes,
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
    Legal("MATMUL-ACC-IN", "pto.tmatmul.acc pto.tgemv.acc", "acc_in", "the incoming accumulator is in acc",
          holds=lambda s, t: t.loc is Space.ACC, found=lambda s, t: f"it is in {t.loc.value}"),
    Legal("BIAS-SPACE", "pto.tmatmul.bias pto.tgemv.bias", "bias", "the bias is in the bias memory",
          holds=lambda s, t: t.loc is Space.BIAS, found=lambda s, t: f"it is in {t.loc.value}"),
    Legal("BIAS-ROW", "pto.tmatmul.bias pto.tgemv.bias", "bias", "the bias has one row", holds=lambda s, t: t.rows == 1,
          found=lambda s, t: f"it has {t.rows}"),
    Legal("BIAS-DTYPE", "pto.tmatmul.bias pto.tgemv.bias", "bias dst", "bias and result have one element type",
          holds=lambda s, a, b: a.dtype == b.dtype, found=lambda s, a, b: dtypes(a, b)),
    Legal("BIAS-LAYOUT", "pto.tmatmul.bias pto.tgemv.bias", "bias", "the bias on a5 is row-major", targets=A5,
          holds=lambda s, t: is_row_major(t), found=lambda s, t: spelled(t)),
)

_ELEMENTWISE = (
    Legal("BINARY-DTYPE", f"{_PAIRED} pto.tshl pto.tshr", "src0 src1 dst",
          "both sources and the result have one element type", holds=lambda s, a, b, c: a.dtype == b.dtype == c.dtype,
          found=lambda s, a, b, c: dtypes(a, b, c)),
    Legal("BINARY-VALID", f"{_PAIRED} pto.tshl pto.tshr", "src0 src1 dst",
          "both sources and the result have one valid shape",
          holds=lambda s, a, b, c: same_valid(a, b) and same_valid(a, c) and same_valid(b, c),
          found=lambda s, a, b, c: f"the valid shapes are {extents(a, b, c)}"),
    Legal("BINARY-LAYOUT", f"{_PAIRED} pto.tshl pto.tshr", "src0 src1 dst", "both sources and the result are row-major",
          holds=lambda s, a, b, c: is_row_major(a) and is_row_major(b) and is_row_major(c),
          found=lambda s, a, b, c: spelled(*(t for t in (a, b, c) if not is_row_major(t)))),
    Legal("BINARY-TYPES-A3", _BINARY, "src0", "a2a3 computes on i16, i32, f16 and f32", targets=A3,
          holds=lambda s, t: t.dtype.pto in _ARITHMETIC, found=lambda s, t: f"the tiles are {t.dtype.pto}"),
    Legal("BINARY-TYPES-A5", _BINARY, "src0", "a5 computes on i8, i16, i32, f16, bf16 and f32", targets=A5,
          holds=lambda s, t: t.dtype.pto in _A5_ARITHMETIC, found=lambda s, t: f"the tiles are {t.dtype.pto}"),
    Legal("DIV-TYPES", "pto.tdiv", "src0", "division is for f16 and f32, on a5 also i16 and i32",
          holds=lambda s, t: t.dtype.pto in (_ARITHMETIC if s.a5 else _FLOATS),
          found=lambda s, t: f"the tiles are {t.dtype.pto}"),
    Legal("BITWISE-TYPES", _BITWISE, "src0", "bits are combined in integers of 8, 16 or 32 bits",
          holds=lambda s, t: t.dtype.pto in _BITS, found=lambda s, t: f"the tiles are {t.dtype.pto}"),
    Legal("SCALAR-SPACE", f"{_SCALAR} pto.tdivs", "src|src0|divisor dst", "source and result are in vec",
          holds=lambda s, a, b: is_vec(a) and is_vec(b), found=lambda s, a, b: f"{a.loc.value} and {b.loc.value}"),
    Legal("SCALAR-DTYPE", f"{_SCALAR} pto.tdivs", "src|src0|divisor dst", "source and result have one element type",
          holds=lambda s, a, b: a.dtype == b.dtype, found=lambda s, a, b: dtypes(a, b)),
    Legal("SCALAR-COLS", f"{_SCALAR} pto.tdivs", "src|src0|divisor dst",
          "source and result have the same valid columns", holds=lambda s, a, b: same(a.v_col, b.v_col),
          found=lambda s, a, b: f"the valid shapes are {extents(a, b)}"),
    Legal("SCALAR-ROWS", f"{_SCALAR} pto.tdivs", "src|src0|divisor dst",
          "source and result on a2a3 have the same valid rows", targets=A3,
          holds=lambda s, a, b: same(a.v_row, b.v_row), found=lambda s, a, b: f"the valid shapes are {extents(a, b)}"),
    Legal("SCALAR-TYPES-A3", _SCALAR, "src|src0", "a2a3 computes on i16, i32, f16 and f32", targets=A3,
          holds=lambda s, t: t.dtype.pto in _ARITHMETIC, found=lambda s, t: f"the tile is {t.dtype.pto}"),
    Legal("EXPANDS-TYPE", "pto.texpands", "dst", "scalar and tile have one element type",
          when=lambda s, t: isinstance(s.type("scalar"), ScalarType),
          holds=lambda s, t: _scalar_dtype(s) == t.dtype.pto,
          found=lambda s, t: f"{_scalar_dtype(s)} into {t.dtype.pto}"),
    Legal("FUNCTION-SPACE", _FUNCTIONS, "src dst", "source and result are in vec, row-major",
          holds=lambda s, a, b: is_vec(a) and is_vec(b) and is_row_major(a) and is_row_major(b),
          found=lambda s, a, b: spelled(a, b)),
    Legal("FUNCTION-TYPES", _FUNCTIONS, "src dst", "the function is for f16 and f32",
          holds=lambda s, a, b: a.dtype == b.dtype and a.dtype.pto in _FLOATS, found=lambda s, a, b: dtypes(a, b)),
    Legal("RECIP-STORAGE", "pto.trecip", "src dst", "source and result on a2a3 are different tiles", targets=A3,
          holds=lambda s, a, b: s.op.arg("src") is not s.op.arg("dst"),
          found=lambda s, a, b: f"both are %{s.op.arg('src').name}"),
    Legal("LOW-PRECISION", f"{_PAIRED} {_FUNCTIONS} {_ROW_SUMS} {_COL_SUMS} pto.tsel pto.ttrans", "dst",
          "the op has no low-precision elements", holds=lambda s, t: not t.dtype.pto.startswith(("!pto.", "f8")),
          found=lambda s, t: f"the result is {t.dtype.pto}"),
    Legal("SHIFT-TYPES", "pto.tshl pto.tshr", "src0", "integers are shifted", holds=lambda s, t: t.dtype.is_integer,
          found=lambda s, t: f"the tiles are {t.dtype.pto}"),
    Legal("AXPY-SHAPE", "pto.taxpy", "src dst", "source and result have one shape",
          holds=lambda s, a, b: same_shape(a, b), found=lambda s, a, b: spelled(a, b)),
    Legal("ADDRELU-TARGET", "pto.taddrelu", "", "the op exists on a2a3 only", holds=lambda s: not s.a5,
          found=lambda s: "the target is a5", help="use pto.tadd and pto.trelu"),
)

_AXIS = (
    Legal("ROW-SOURCE", f"{_ROW_SUMS} {_ROW_ARGS}", "src",
          "the source of a row reduction is in vec, row-major, unboxed", holds=lambda s, t: is_vec(t) and is_nd(t),
          found=lambda s, t: spelled(t)),
    Legal("ROW-RESULT", f"{_ROW_SUMS} {_ROW_ARGS}", "dst",
          "the result of a row reduction is in vec, a column if column-major",
          holds=lambda s, t: is_vec(t) and (is_nd(t) or (is_dn(t) and t.cols == 1)), found=lambda s, t: spelled(t)),
    Legal("ROW-DTYPE", _ROW_SUMS, "src dst", "source and result have one element type",
          holds=lambda s, a, b: a.dtype == b.dtype, found=lambda s, a, b: dtypes(a, b)),
    Legal("ROW-TYPES", _ROW_SUMS, "src", "rows are reduced in i16, i32, f16 and f32",
          holds=lambda s, t: t.dtype.pto in _ARITHMETIC, found=lambda s, t: f"the source is {t.dtype.pto}"),
    Legal("ROW-VALID-ROWS", _ROW_SUMS, "src dst", "source and result have the same valid rows",
          when=lambda s, a, b: (b.v_row, b.v_col) != (0, 0), holds=lambda s, a, b: same(a.v_row, b.v_row),
          found=lambda s, a, b: f"the valid shapes are {extents(a, b)}"),
    Legal("ROW-VALID-COL", _ROW_SUMS, "src dst", "the result of a row reduction has one valid column",
          when=lambda s, a, b: (b.v_row, b.v_col) != (0, 0), holds=lambda s, a, b: same(b.v_col, 1),
          found=lambda s, a, b: f"its valid shape is {extents(b)}"),
    Legal("ROW-EMPTY", _ROW_SUMS, "src dst", "the source of a row reduction is not empty",
          when=lambda s, a, b: (b.v_row, b.v_col) != (0, 0), holds=lambda s, a, b: a.v_row != 0 and a.v_col != 0,
          found=lambda s, a, b: f"its valid shape is {extents(a)}"),
    Legal("COL-LAYOUT", f"{_COL_SUMS}", "src dst",
          "source and result of a column reduction are in vec, row-major, unboxed",
          holds=lambda s, a, b: is_vec(a) and is_vec(b) and is_nd(a) and is_nd(b), found=lambda s, a, b: spelled(a, b)),
    Legal("COL-DTYPE", _COL_SUMS, "src dst", "source and result have one element type",
          holds=lambda s, a, b: a.dtype == b.dtype, found=lambda s, a, b: dtypes(a, b)),
    Legal("COL-VALID", _COL_SUMS, "src dst", "source and result have the same valid columns",
          when=lambda s, a, b: (b.v_row, b.v_col) != (0, 0), holds=lambda s, a, b: same(a.v_col, b.v_col),
          found=lambda s, a, b: f"the valid shapes are {extents(a, b)}"),
    Legal("COL-ARG-ROW", _COL_ARGS, "dst", "the result of a column argmax or argmin has one valid row",
          holds=lambda s, t: same(t.v_row, 1), found=lambda s, t: f"its valid shape is {extents(t)}"),
    Legal("COLEXPAND-LAYOUT", "pto.tcolexpand", "src dst", "source and result are in vec, row-major, unboxed",
          holds=lambda s, a, b: is_vec(a) and is_vec(b) and is_nd(a) and is_nd(b), found=lambda s, a, b: spelled(a, b)),
    Legal("COLEXPAND-VALID", "pto.tcolexpand", "src dst", "source and result have the same valid columns",
          holds=lambda s, a, b: same(a.v_col, b.v_col), found=lambda s, a, b: f"the valid shapes are {extents(a, b)}"),
    Legal("ROWSPREAD-LAYOUT", "pto.trowexpand", "src dst",
          "source and result are in vec, unboxed, the result row-major",
          holds=lambda s, a, b: is_vec(a) and is_vec(b) and not a.boxed and is_nd(b),
          found=lambda s, a, b: spelled(a, b)),
    Legal("ROWSPREAD-DTYPE", "pto.trowexpand", "src dst", "source and result have one element type",
          holds=lambda s, a, b: a.dtype == b.dtype, found=lambda s, a, b: dtypes(a, b)),
    Legal("ROWSPREAD-ROWS", "pto.trowexpand", "src dst", "source and result have the same valid rows",
          when=lambda s, a, b: (b.v_row, b.v_col) != (0, 0), holds=lambda s, a, b: same(a.v_row, b.v_row),
          found=lambda s, a, b: f"the valid shapes are {extents(a, b)}"),
    Legal("ROWSPREAD-EMPTY", "pto.trowexpand", "src dst", "neither source nor result is empty in one direction only",
          when=lambda s, a, b: (b.v_row, b.v_col) != (0, 0),
          holds=lambda s, a, b: 0 not in (a.v_row, a.v_col, b.v_row, b.v_col),
          found=lambda s, a, b: f"the valid shapes are {extents(a, b)}"),
    Legal("ROWEXPAND-DTYPE", _ROW_EXPANDS, "src0 src1 dst", "both sources and the result have one element type",
          holds=lambda s, a, b, c: a.dtype == b.dtype == c.dtype, found=lambda s, a, b, c: dtypes(a, b, c)),
    Legal("ROWEXPAND-LAYOUT", _ROW_EXPANDS, "dst", "the result is row-major", holds=lambda s, t: is_row_major(t),
          found=lambda s, t: spelled(t)),
    Legal("ROWEXPAND-VALID", _ROW_EXPANDS, "src0 src1 dst", "one source has the valid shape of the result",
          when=lambda s, a, b, c: (c.v_row, c.v_col) != (0, 0),
          holds=lambda s, a, b, c: same_valid(a, c) or same_valid(b, c),
          found=lambda s, a, b, c: f"the valid shapes are {extents(a, b, c)}"),
    Legal("CMP-SPACE", "pto.tcmp", "src0 src1 dst", "sources and mask on a2a3 are in vec", targets=A3,
          holds=lambda s, a, b, c: is_vec(a) and is_vec(b) and is_vec(c), found=lambda s, a, b, c: spelled(a, b, c)),
    Legal("CMP-DTYPE", "pto.tcmp", "src0 src1", "both sources have one element type",
          holds=lambda s, a, b: a.dtype == b.dtype, found=lambda s, a, b: dtypes(a, b)),
    Legal("CMP-TYPES", "pto.tcmp", "src0", "a2a3 compares i32, f16 and f32", targets=A3,
          holds=lambda s, t: t.dtype.pto in _INT32 | _FLOATS, found=lambda s, t: f"the sources are {t.dtype.pto}"),
    Legal("CMP-MASK", "pto.tcmp", "dst", "a mask is i8", holds=lambda s, t: t.dtype.pto in _INT8,
          found=lambda s, t: f"it is {t.dtype.pto}"),
    Legal("CMP-VALID", "pto.tcmp", "src0 src1 dst",
          "sources on a2a3 have one valid shape, the mask the same valid rows", targets=A3,
          holds=lambda s, a, b, c: same_valid(a, b) and same(a.v_row, c.v_row),
          found=lambda s, a, b, c: f"the valid shapes are {extents(a, b, c)}"),
    Legal("CMP-SHAPE", "pto.tcmp", "src0 src1 dst", "sources and mask on a5 have one shape", targets=A5,
          holds=lambda s, a, b, c: same_shape(a, b) and same_shape(a, c), found=lambda s, a, b, c: spelled(a, b, c)),
    Legal("CMPS-SPACE", "pto.tcmps", "src dst", "source and mask are in vec",
          holds=lambda s, a, b: is_vec(a) and is_vec(b), found=lambda s, a, b: spelled(a, b)),
    Legal("CMPS-ROWS", "pto.tcmps", "src dst", "source and mask have the same valid rows",
          holds=lambda s, a, b: same(a.v_row, b.v_row), found=lambda s, a, b: f"the valid shapes are {extents(a, b)}"),
    Legal("CARRY-SHAPE", "pto.taddc pto.tsubc", "src0 src1 src2 dst", "the sources and the result have one shape",
          holds=lambda s, a, b, c, d: same_shape(a, b) and same_shape(a, c) and same_shape(a, d),
          found=lambda s, a, b, c, d: spelled(a, b, c, d)),
)


def _scalar_dtype(s: Site) -> str:
    found = s.type("scalar")
    return found.dtype.pto if isinstance(found, ScalarType) else ""


ROWS: tuple[Legal, ...] = (*_CUBE, *_CUBE_EXTRAS, *_ELEMENTWISE, *_AXIS)
