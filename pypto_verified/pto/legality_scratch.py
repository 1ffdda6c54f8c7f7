"""Legality of casts, selects, sorts and of the scratch operands that ops need."""

from __future__ import annotations

from pypto_verified.pto.legality import Legal, Site
from pypto_verified.pto.legality_words import (
    A3,
    A5,
    BELOW3,
    LEVEL3,
    dtypes,
    extents,
    is_row_major,
    is_vec,
    same,
    same_shape,
    same_valid,
    spelled,
)
from pypto_verified.pto.types import ScalarType, TileBufType

_INT8 = frozenset({"i8", "ui8", "si8"})
_INT16 = frozenset({"i16", "ui16", "si16"})
_INT32 = frozenset({"i32", "ui32", "si32"})
_BITS_SCALAR = "pto.tands pto.tors"
_SUMS = "pto.trowsum pto.trowmax pto.trowmin pto.trowprod"
_ROW_SCRATCH = f"{_SUMS} pto.trowargmax pto.trowargmin"
_SOURCE = "PTOAS, scratch operands at level 3"
_EXPLICIT = "give the op a scratch tile, or let the assembler plan memory (level 2)"


def _loses_bits(s: Site, a: TileBufType, b: TileBufType) -> bool:
    """A cast that a2a3 does in several steps through a scratch: narrowing to an integer without saturation."""
    if s.member("sat_mode") == "ON":
        return False
    narrow = _INT16 if a.dtype.pto == "f32" else (_INT16 | _INT8) if a.dtype.pto == "f16" else frozenset[str]()
    return b.dtype.pto in narrow


def _known(t: TileBufType) -> bool:
    return t.v_row is not None and t.v_col is not None


def _sum_bytes(t: TileBufType) -> int:
    return -(-(t.v_row or 0) // 2) * (t.v_col or 0) * t.dtype.bytes


def _tci_bytes(t: TileBufType) -> int:
    return 768 if t.dtype.pto in _INT32 else 1792


ROWS: tuple[Legal, ...] = (
    Legal("CVT-VALID", "pto.tcvt", "src dst", "source and result of a cast have one valid shape",
          when=lambda s, a, b: a.dtype.bits >= 8 and b.dtype.bits >= 8 and "x2" not in a.dtype.pto + b.dtype.pto,
          holds=lambda s, a, b: same_valid(a, b), found=lambda s, a, b: f"the valid shapes are {extents(a, b)}"),
    Legal("CVT-SHAPE", "pto.tcvt", "src dst", "source and result of a cast have one shape",
          when=lambda s, a, b: "x2" not in a.dtype.pto + b.dtype.pto, holds=lambda s, a, b: same_shape(a, b),
          found=lambda s, a, b: spelled(a, b)),
    Legal("CVT-SCRATCH", "pto.tcvt", "src dst", "at level 3 a narrowing cast without saturation has a scratch on a2a3",
          targets=A3, levels=LEVEL3, when=_loses_bits, holds=lambda s, a, b: s.has("tmp"),
          found=lambda s, a, b: f"{dtypes(a, b)}, there is none", help=_EXPLICIT, source=_SOURCE),
    Legal("CI-SCRATCH", "pto.tci", "dst", "at level 3 a ramp has a scratch on a2a3", targets=A3, levels=LEVEL3,
          holds=lambda s, t: s.has("tmp"), found=lambda s, t: "there is none", help=_EXPLICIT, source=_SOURCE),
    Legal("CI-SCRATCH-BYTES", "pto.tci", "tmp dst",
          "the scratch of a ramp on a2a3 holds 768 bytes for i32, 1792 for i16", targets=A3,
          holds=lambda s, a, b: a.bytes >= _tci_bytes(b),
          found=lambda s, a, b: f"it holds {a.bytes}, {_tci_bytes(b)} are needed"),
    Legal("CI-TYPES", "pto.tci", "dst", "a ramp is i16 or i32", holds=lambda s, t: t.dtype.pto in _INT16 | _INT32,
          found=lambda s, t: f"it is {t.dtype.pto}"),
    Legal("CI-START", "pto.tci", "dst", "the start of a ramp has the type of its elements",
          holds=lambda s, t: _start(s) == t.dtype.pto, found=lambda s, t: f"{_start(s)} and {t.dtype.pto}"),
    Legal("CI-COLS", "pto.tci", "dst", "a ramp has more than one column", holds=lambda s, t: t.cols != 1,
          found=lambda s, t: "it has one"),
    Legal("SORT-SCRATCH", "pto.tsort32", "src",
          "at level 3 a sort whose width is not known to be whole blocks has a scratch", levels=LEVEL3,
          when=lambda s, t: t.v_col is None or t.v_col % 32 != 0, holds=lambda s, t: s.has("tmp"),
          found=lambda s, t: f"the valid shape is {extents(t)}, there is none", help=_EXPLICIT, source=_SOURCE),
    Legal("SORT-TYPES", "pto.tsort32", "src dst", "sorting is for f16 and f32",
          holds=lambda s, a, b: a.dtype == b.dtype and a.dtype.pto in ("f16", "f32"),
          found=lambda s, a, b: dtypes(a, b)),
    Legal("SORT-INDEX", "pto.tsort32", "idx", "positions are 32-bit integers", holds=lambda s, t: t.dtype.pto in _INT32,
          found=lambda s, t: f"they are {t.dtype.pto}"),
    Legal("SORT-SCRATCH-BYTES", "pto.tsort32", "tmp src", "the scratch of a sort on a2a3 is as large as its source",
          targets=A3, holds=lambda s, a, b: a.bytes >= b.bytes, found=lambda s, a, b: f"{a.bytes} of {b.bytes} bytes"),
    Legal("ROW-SCRATCH", f"{_ROW_SCRATCH} pto.txor pto.txors", "dst", "at level 3 the op has a scratch on a2a3",
          targets=A3, levels=LEVEL3, holds=lambda s, t: s.has("tmp"), found=lambda s, t: "there is none",
          help=_EXPLICIT, source=_SOURCE),
    Legal("ROW-SCRATCH-DTYPE", _SUMS, "src tmp", "the scratch on a2a3 has the element type of the source", targets=A3,
          holds=lambda s, a, b: a.dtype == b.dtype, found=lambda s, a, b: dtypes(a, b)),
    Legal("ROW-SCRATCH-SPACE", _SUMS, "tmp", "the scratch is in vec", holds=lambda s, t: is_vec(t),
          found=lambda s, t: f"it is in {t.loc.value}"),
    Legal("ROW-SCRATCH-BYTES", _SUMS, "tmp", "the scratch on a2a3 holds 32 bytes", targets=A3,
          holds=lambda s, t: t.bytes >= 32, found=lambda s, t: f"it holds {t.bytes}"),
    Legal("COLSUM-SCRATCH", "pto.tcolsum", "src", "at level 3 a binary column sum has a scratch", levels=LEVEL3,
          holds=lambda s, t: s.attr("isBinary") is not True or s.has("tmp"), found=lambda s, t: "there is none",
          help=_EXPLICIT, source=_SOURCE),
    Legal("COLSUM-BINARY", "pto.tcolsum", "tmp", "a column sum with a scratch says whether it is binary",
          holds=lambda s, t: s.attr("isBinary") is not None, found=lambda s, t: "isBinary is missing"),
    Legal("COLSUM-DTYPE", "pto.tcolsum", "src tmp", "source and scratch have one element type",
          holds=lambda s, a, b: a.dtype == b.dtype, found=lambda s, a, b: dtypes(a, b)),
    Legal("COLSUM-STATIC", "pto.tcolsum", "src tmp", "a binary column sum knows its valid shape",
          when=lambda s, a, b: s.attr("isBinary") is True, holds=lambda s, a, b: _known(a),
          found=lambda s, a, b: f"the valid shape is {extents(a)}",
          help="leave the scratch out, or type the source statically"),
    Legal("COLSUM-BYTES", "pto.tcolsum", "src tmp", "the scratch of a binary column sum holds half of the rows",
          when=lambda s, a, b: s.attr("isBinary") is True and _known(a), holds=lambda s, a, b: b.bytes >= _sum_bytes(a),
          found=lambda s, a, b: f"it holds {b.bytes}, {_sum_bytes(a)} are needed"),
    Legal("SEL-DTYPE", "pto.tsel", "src0 src1 dst", "both sources and the result have one element type",
          holds=lambda s, a, b, c: a.dtype == b.dtype == c.dtype, found=lambda s, a, b, c: dtypes(a, b, c)),
    Legal("SEL-LAYOUT", "pto.tsel", "src0 src1 dst", "both sources and the result are row-major",
          holds=lambda s, a, b, c: is_row_major(a) and is_row_major(b) and is_row_major(c),
          found=lambda s, a, b, c: spelled(a, b, c)),
    Legal("SEL-TYPES", "pto.tsel", "src0", "a2a3 selects elements of 16 or 32 bits", targets=A3,
          holds=lambda s, t: t.dtype.pto in _INT16 | _INT32 | {"f16", "bf16", "f32"},
          found=lambda s, t: f"they are {t.dtype.pto}"),
    Legal("SEL-SCRATCH", "pto.tsel", "tmp", "the scratch of a select on a2a3 has 4-byte elements", targets=A3,
          holds=lambda s, t: t.dtype.bytes == 4, found=lambda s, t: f"they are {t.dtype.pto}"),
    Legal("SELS-DTYPE", "pto.tsels", "src dst", "source and result have one element type",
          holds=lambda s, a, b: a.dtype == b.dtype, found=lambda s, a, b: dtypes(a, b)),
    Legal("SELS-VALID", "pto.tsels", "src dst", "source and result have one valid shape",
          holds=lambda s, a, b: same_valid(a, b), found=lambda s, a, b: f"the valid shapes are {extents(a, b)}"),
    Legal("SELS-SCRATCH", "pto.tsels", "src tmp", "the scratch of a select on a2a3 has the element type of the source",
          targets=A3, holds=lambda s, a, b: a.dtype == b.dtype, found=lambda s, a, b: dtypes(a, b)),
    Legal("SELS-SCRATCH-BYTES", "pto.tsels", "src tmp", "the scratch of a select on a2a3 holds a row of the source",
          targets=A3, holds=lambda s, a, b: b.bytes >= a.cols * a.dtype.bytes,
          found=lambda s, a, b: f"it holds {b.bytes} of {a.cols * a.dtype.bytes} bytes"),
    Legal("PRELU-STATIC", "pto.tprelu", "dst tmp", "a prelu with a scratch on a2a3 knows its valid shape", targets=A3,
          holds=lambda s, a, b: _known(a), found=lambda s, a, b: f"the valid shape is {extents(a)}",
          help="leave the scratch out, or type the result statically"),
    Legal("PRELU-SCRATCH", "pto.tprelu", "tmp", "the scratch of a prelu on a2a3 is of 8-bit integers", targets=A3,
          holds=lambda s, t: t.dtype.pto in _INT8, found=lambda s, t: f"it is of {t.dtype.pto}"),
    Legal("PRELU-SCRATCH-ROWS", "pto.tprelu", "dst tmp",
          "the scratch of a prelu on a2a3 has a row more than the result", targets=A3,
          when=lambda s, a, b: a.v_row is not None, holds=lambda s, a, b: b.rows >= (a.v_row or 0) + 1,
          found=lambda s, a, b: f"{b.rows} rows for {a.v_row}"),
    Legal("BITS-TYPES", "pto.tands", "src", "bits are combined with a scalar in 8 or 16 bits, on a5 also in 32",
          holds=lambda s, t: t.dtype.pto in (_INT8 | _INT16 | (_INT32 if s.a5 else frozenset())),
          found=lambda s, t: f"the tile is {t.dtype.pto}"),
    Legal("BITS-STORAGE", _BITS_SCALAR, "src dst", "source and result are different tiles",
          holds=lambda s, a, b: s.op.arg("src") is not s.op.arg("dst"),
          found=lambda s, a, b: f"both are %{s.op.arg('src').name}"),
    Legal("ASSIGN-UNIT", "pto.tassign", "tile", "an address is aligned: 512 bytes in left, right and acc, 32 elsewhere",
          when=lambda s, t: s.const("addr") is not None,
          holds=lambda s, t: (s.const("addr") or 0) % (512 if t.loc.value in ("left", "right", "acc") else 32) == 0,
          found=lambda s, t: f"it is {s.const('addr')}"),
    Legal("ASSIGN-LEVEL", "pto.tassign", "tile", "below level 3 no tile is given an address", levels=BELOW3,
          holds=lambda s, t: "pto.tileop.helper" in s.func.attrs, found=lambda s, t: "it is",
          help="assemble at level 3", source="PTOAS driver"),
    Legal("HISTOGRAM-TARGET", "pto.thistogram", "", "the op exists on a5 only", holds=lambda s: s.a5,
          found=lambda s: "the target is a2a3"),
    Legal("HISTOGRAM-BYTE", "pto.thistogram", "src", "byte names a byte of the source",
          holds=lambda s, t: 0 <= s.int("byte", 1) < t.dtype.bytes,
          found=lambda s, t: f"byte {s.int('byte', 1)} of {t.dtype.pto}"),
    Legal("POW-DTYPE", "pto.tpow", "base exp", "base and exponent have one element type",
          holds=lambda s, a, b: a.dtype == b.dtype, found=lambda s, a, b: dtypes(a, b)),
    Legal("POW-SCRATCH", "pto.tpow pto.tpows", "dst", "at level 3 a power of floats has a scratch", levels=LEVEL3,
          holds=lambda s, t: not t.dtype.is_float or s.has("tmp"), found=lambda s, t: "there is none", help=_EXPLICIT,
          source=_SOURCE),
    Legal("POW-INTEGER", "pto.tpow pto.tpows", "dst tmp", "a power of integers has no scratch",
          holds=lambda s, a, b: a.dtype.is_float, found=lambda s, a, b: f"it is of {a.dtype.pto}"),
    Legal("PRECISE-SCRATCH", "pto.trsqrt pto.trowexpanddiv", "dst", "a high-precision op has a scratch",
          holds=lambda s, t: s.member("precisionType") != "high_precision" or s.has("tmp"),
          found=lambda s, t: "there is none"),
    Legal("COALESCE", "pto.mgather", "", "a gather from global memory says how it coalesces",
          holds=lambda s: s.attr("coalesce") is not None, found=lambda s: "coalesce is missing"),
    Legal("SCATTER-COALESCE", "pto.mscatter", "", "a scatter with atomics, bounds or conflicts says how it coalesces",
          when=lambda s: any(s.attr(n) is not None for n in ("scatterAtomicOp", "scatterOob", "scatterConflict")),
          holds=lambda s: s.attr("coalesce") is not None, found=lambda s: "coalesce is missing"),
    Legal("ARG-EMPTY", "pto.trowargmax pto.trowargmin", "src", "the source of an argmax or argmin is not empty",
          holds=lambda s, t: t.v_row != 0 and t.v_col != 0, found=lambda s, t: f"its valid shape is {extents(t)}"),
    Legal("ARG-ROWS", "pto.trowargmax pto.trowargmin", "src dst",
          "source and result have the same valid rows, one column",
          holds=lambda s, a, b: same(a.v_row, b.v_row) and same(b.v_col, 1),
          found=lambda s, a, b: f"the valid shapes are {extents(a, b)}"),
    Legal("QUANT-OFFSET", "pto.tquant", "", "an asymmetric quantisation has an offset, a symmetric one has none",
          holds=lambda s: s.has("offset") == (s.member("quant_type") == "INT8_ASYM"),
          found=lambda s: f"{s.member('quant_type')}, the offset is {'given' if s.has('offset') else 'missing'}"),
    Legal("SCALE-ADDR", "pto.tget_scale_addr", "dst", "the scales are in scaling, on a5", targets=A5,
          holds=lambda s, t: t.loc.value == "scaling", found=lambda s, t: f"they are in {t.loc.value}"),
)


def _start(s: Site) -> str:
    found = s.type("start")
    return found.dtype.pto if isinstance(found, ScalarType) else ""
