"""Legality of scratch tiles whose size or layout depends on the op's other operands, and of quantisation."""

from __future__ import annotations

from pypto_verified.layouts import Space
from pypto_verified.pto.legality import Legal, Site
from pypto_verified.pto.legality_words import (
    A3,
    A5,
    at_least,
    dtypes,
    extents,
    is_dn,
    is_nd,
    is_row_major,
    same,
    spelled,
)
from pypto_verified.pto.types import TileBufType

_COL_ARG = "pto.tcolargmax pto.tcolargmin"
_ROW_ARG = "pto.trowargmax pto.trowargmin"
_REPEAT, _BLOCK = 256, 32
"""Bytes that one vector instruction takes, and bytes of one block of it."""


def _stride(t: TileBufType) -> int:
    """Columns of scratch for an argmax over the source's valid columns: two values and one index for each repeat."""
    block = _BLOCK // t.dtype.bytes
    repeats = -(-(t.v_col or 0) * t.dtype.bytes // _REPEAT)
    return (-(-2 * repeats // block) + -(-repeats // block)) * block


def _fits_one(t: TileBufType) -> bool:
    """Whether the source's valid columns are one repeat."""
    return t.v_col is not None and t.v_col * t.dtype.bytes <= _REPEAT


def _small_scratch(a: TileBufType, tmp: TileBufType) -> bool:
    """The scratch of a row argmax over one repeat: value and index in one column of two rows, or in two columns."""
    rows = a.v_row or 0
    if is_dn(tmp):
        return tmp.cols == 1 and same(tmp.v_col, 1) and (a.v_row is None or at_least(tmp.v_row, 2 * rows))
    return is_nd(tmp) and at_least(tmp.v_col, 2) and (a.v_row is None or at_least(tmp.v_row, rows))


def _wide_scratch(a: TileBufType, tmp: TileBufType) -> bool:
    """The scratch of a row argmax over several repeats."""
    rows = tmp.rows == a.rows and (a.v_row is None or at_least(tmp.v_row, a.v_row))
    return rows and (a.v_col is None or at_least(tmp.v_col, _stride(a)))


def _a5_cast(a: str, b: str) -> bool:
    """Whether a5 casts between these types, one of them a float of 8 bits or less."""
    small8, small4 = ("f8", "!pto.hif8"), "!pto.f4"
    if a == "f32":
        return b.startswith(small8)
    if a == "f16":
        return b == "!pto.hif8"
    if a == "bf16":
        return b.startswith(small4)
    return b == ("bf16" if a.startswith(small4) else "f32")


def _small(*tiles: TileBufType) -> bool:
    return any(t.dtype.pto.startswith(("f8", "!pto.hif8", "!pto.f4")) for t in tiles)


def _column(s: Site, name: str) -> bool:
    """Whether a parameter of a quantisation is one column with the result's valid rows."""
    t, c = s.tile(name), s.tile("dst")
    return t is None or c is None or (not is_row_major(t) and same(t.v_row, c.v_row) and same(t.v_col, 1))


ROWS: tuple[Legal, ...] = (
    Legal("COLARG-SCRATCH", _COL_ARG, "src tmp", "the scratch on a2a3 has room for a value and an index of each repeat",
          targets=A3, when=lambda s, a, b: (a.v_row, a.v_col) != (b.v_row, b.v_col) and a.v_col is not None,
          holds=lambda s, a, b: at_least(b.v_row, 1) and at_least(b.v_col, _stride(a)),
          found=lambda s, a, b: f"{extents(b)}, {_stride(a)} columns are needed"),
    Legal("ROWARG-SCRATCH-SMALL", _ROW_ARG, "src tmp",
          "the scratch on a2a3 is one column of two rows a row, or two columns, for up to 256 bytes of valid columns",
          targets=A3, when=lambda s, a, b: (a.v_row, a.v_col) != (b.v_row, b.v_col) and _fits_one(a),
          holds=lambda s, a, b: _small_scratch(a, b), found=lambda s, a, b: spelled(a, b)),
    Legal("ROWARG-SCRATCH", _ROW_ARG, "src tmp",
          "the scratch on a2a3 has the source's rows, and room for a value and an index of each repeat", targets=A3,
          when=lambda s, a, b: (a.v_row, a.v_col) != (b.v_row, b.v_col) and not _fits_one(a),
          holds=lambda s, a, b: _wide_scratch(a, b), found=lambda s, a, b: spelled(a, b)),
    Legal("PRELU-SCRATCH-COLS", "pto.tprelu", "dst tmp", "the scratch on a2a3 has a bit for each column", targets=A3,
          when=lambda s, a, b: a.v_col is not None, holds=lambda s, a, b: at_least(b.v_col, -(-(a.v_col or 0) // 8)),
          found=lambda s, a, b: extents(a, b)),
    Legal("POW-PRECISION", "pto.tpow pto.tpows", "dst", "a2a3 has no high-precision power", targets=A3,
          holds=lambda s, t: s.member("precisionType") != "high_precision", found=lambda s, t: "it is asked for"),
    Legal("HISTOGRAM-LEGACY", "pto.thistogram", "", "byte and the older isMSB say the same",
          when=lambda s: isinstance(s.attr("isMSB"), bool) and s.attr("byte") is not None,
          holds=lambda s: s.int("byte") == int(s.attr("isMSB") is True),
          found=lambda s: f"byte is {s.int('byte')}, isMSB {s.attr('isMSB')}"),
    Legal("CVT-LOW-A3", "pto.tcvt", "src dst", "a2a3 casts no floats of 8 bits or less", targets=A3,
          holds=lambda s, a, b: not _small(a, b), found=lambda s, a, b: dtypes(a, b)),
    Legal("CVT-LOW-A5", "pto.tcvt", "src dst", "a5 casts small floats from and to the types that ISA instructions have",
          targets=A5, when=lambda s, a, b: _small(a, b), holds=lambda s, a, b: _a5_cast(a.dtype.pto, b.dtype.pto),
          found=lambda s, a, b: dtypes(a, b)),
    Legal("QUANT-SCALES", "pto.tquant", "fp dst", "the scales on a2a3 are one column, a value a valid row", targets=A3,
          holds=lambda s, a, b: _column(s, "fp"), found=lambda s, a, b: spelled(a, b)),
    Legal("QUANT-OFFSETS", "pto.tquant", "offset dst", "the offsets on a2a3 are one column, a value a valid row",
          targets=A3, holds=lambda s, a, b: _column(s, "offset"), found=lambda s, a, b: spelled(a, b)),
    Legal("FILLPAD-MAT", "pto.tfillpad", "src dst", "a fill within mat keeps the tile's type",
          when=lambda s, a, b: a.loc is b.loc is Space.MAT, holds=lambda s, a, b: a == b,
          found=lambda s, a, b: spelled(a, b)),
    Legal("GATHER-MAT", "pto.mgather", "dst", "the indices of a gather into mat are in global memory",
          when=lambda s, t: t.loc is Space.MAT, holds=lambda s, t: s.tile("idx") is None,
          found=lambda s, t: "they are in a tile"),
)
