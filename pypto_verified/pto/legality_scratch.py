"""Legality of casts, selects, sorts and of the scratch operands that ops need."""

from __future__ import annotations

from pypto_verified.pto.legality import Legal, Site
from pypto_verified.pto.legality_words import (
    A3,
    A5,
    BELOW3,
    LEVEL3,
    dtypes,
    elements,
    extents,
    same,
    spelled,
)
from pypto_verified.pto.types import TileBufType

_INT8 = frozenset({"i8", "ui8", "si8"})
_INT16 = frozenset({"i16", "ui16", "si16"})
_BITS_SCALAR = "pto.tands pto.tors"
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


ROWS: tuple[Legal, ...] = (
    Legal("CVT-VALID", "pto.tcvt", "src dst", "source and result of a cast have one valid shape, in elements",
          holds=lambda s, a, b: all(map(same, elements(a, a.v_row, a.v_col), elements(b, b.v_row, b.v_col))),
          found=lambda s, a, b: spelled(a, b)),
    Legal("CVT-SHAPE", "pto.tcvt", "src dst", "source and result of a cast have one shape, in elements",
          holds=lambda s, a, b: elements(a, a.rows, a.cols) == elements(b, b.rows, b.cols),
          found=lambda s, a, b: spelled(a, b)),
    Legal("CVT-SCRATCH", "pto.tcvt", "src dst", "at level 3 a narrowing cast without saturation has a scratch on a2a3",
          targets=A3, levels=LEVEL3, when=_loses_bits, holds=lambda s, a, b: s.has("tmp"),
          found=lambda s, a, b: f"{dtypes(a, b)}, there is none", help=_EXPLICIT, source=_SOURCE),
    Legal("CI-COLS", "pto.tci", "dst", "a ramp has more than one column", holds=lambda s, t: t.cols != 1,
          found=lambda s, t: "it has one"),
    Legal("SORT-SCRATCH", "pto.tsort32", "src",
          "at level 3 a sort whose width is not known to be whole blocks has a scratch", levels=LEVEL3,
          when=lambda s, t: t.v_col is None or t.v_col % 32 != 0, holds=lambda s, t: s.has("tmp"),
          found=lambda s, t: f"the valid shape is {extents(t)}, there is none", help=_EXPLICIT, source=_SOURCE),
    Legal("COLSUM-SCRATCH", "pto.tcolsum", "src", "at level 3 a binary column sum has a scratch", levels=LEVEL3,
          holds=lambda s, t: s.attr("isBinary") is not True or s.has("tmp"), found=lambda s, t: "there is none",
          help=_EXPLICIT, source=_SOURCE),
    Legal("COLSUM-BINARY", "pto.tcolsum", "tmp", "a column sum with a scratch says whether it is binary",
          holds=lambda s, t: s.attr("isBinary") is not None, found=lambda s, t: "isBinary is missing"),
    Legal("COLSUM-STATIC", "pto.tcolsum", "src tmp", "a binary column sum knows its valid shape",
          when=lambda s, a, b: s.attr("isBinary") is True, holds=lambda s, a, b: _known(a),
          found=lambda s, a, b: f"the valid shape is {extents(a)}",
          help="leave the scratch out, or type the source statically"),
    Legal("PRELU-STATIC", "pto.tprelu", "dst tmp", "a prelu with a scratch on a2a3 knows its valid shape", targets=A3,
          holds=lambda s, a, b: _known(a), found=lambda s, a, b: f"the valid shape is {extents(a)}",
          help="leave the scratch out, or type the result statically"),
    Legal("PRELU-SCRATCH-ROWS", "pto.tprelu", "dst tmp",
          "the scratch of a prelu on a2a3 has a row more than the result", targets=A3,
          when=lambda s, a, b: a.v_row is not None, holds=lambda s, a, b: b.rows >= (a.v_row or 0) + 1,
          found=lambda s, a, b: f"{b.rows} rows for {a.v_row}"),
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

