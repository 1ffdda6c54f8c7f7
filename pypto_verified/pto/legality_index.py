"""Legality of ops that take or make indices: gathers, scatters, histograms, merges, random numbers."""

from __future__ import annotations

from pypto_verified.pto.legality import Legal, Site
from pypto_verified.pto.legality_operands import family
from pypto_verified.pto.legality_words import (
    A3,
    A5,
    dtypes,
    extents,
    is_dn,
    is_nd,
    is_row_major,
    is_vec,
    same,
    spelled,
    up_to,
)
from pypto_verified.pto.types import OpaqueType, ScalarType, TileBufType

_GATHER, _SCATTER, _HISTOGRAM, _MERGE = "pto.tgather", "pto.tscatter", "pto.thistogram", "pto.tmrgsort"
_PARTS = "pto.tpartadd pto.tpartmul pto.tpartmax pto.tpartmin"
_PART_ARGS = "pto.tpartargmax pto.tpartargmin"
_WORDS = ("i16", "i32", "f16", "f32")
_BINS = 256
_RANDOM = ("key0", "key1", "counter0", "counter1", "counter2", "counter3")


def _by_mask(s: Site) -> bool:
    return s.member("maskPattern") != ""


def _by_value(s: Site) -> bool:
    return s.has("cdst") or s.has("kValue")


def _comparison(s: Site) -> str:
    return s.member("cmpMode").lower() or "eq"


def _tiles(s: Site, names: str) -> list[TileBufType]:
    return [t for name in names.split() if (t := s.tile(name)) is not None]


def _merged(s: Site) -> list[TileBufType]:
    """All tiles of a merge."""
    found = [v.type for group in ("srcs", "dsts", "tmp") for v in s.op.args.get(group, ())]
    return [t for t in found if isinstance(t, TileBufType)]


def _sources(s: Site) -> list[TileBufType]:
    return [v.type for v in s.op.args.get("srcs", ()) if isinstance(v.type, TileBufType)]


def _several(s: Site) -> bool:
    return len(s.op.args.get("srcs", ())) > 1


def _counts_into(s: Site) -> str:
    type_ = s.type("excuted")
    return type_.name if isinstance(type_, OpaqueType) else ""


def _filter_rows(s: Site) -> int:
    """Rows of the filter of a histogram of 32-bit values: one for each byte above the one that is counted."""
    return 3 - s.int("byte", 1)


def _filter(s: Site, a: TileBufType, i: TileBufType) -> bool:
    """Whether the filter of a histogram fits its source."""
    if a.dtype.bits == 16:
        return is_dn(i) and i.rows == a.rows and same(i.v_row, a.v_row) and i.cols == 1 and i.v_col in (None, 0, 1)
    if s.int("byte", 1) == 3:
        return True
    rows = i.rows == _filter_rows(s) and i.v_row in (None, 0, _filter_rows(s))
    return is_nd(i) and rows and i.cols == a.cols and same(i.v_col, a.v_col)


def _inside(a: TileBufType, b: TileBufType, c: TileBufType) -> bool:
    return all(up_to(x.v_row, c.v_row) and up_to(x.v_col, c.v_col) for x in (a, b))


def _whole(a: TileBufType, b: TileBufType, c: TileBufType) -> bool:
    return any(same(x.v_row, c.v_row) and same(x.v_col, c.v_col) for x in (a, b))


def _words(s: Site) -> list[str]:
    types = [s.type(name) for name in _RANDOM]
    return [t.dtype.pto for t in types if isinstance(t, ScalarType)]


def _index_bytes(t: TileBufType) -> int:
    return 2 if t.dtype.bytes == 1 else t.dtype.bytes


ROWS: tuple[Legal, ...] = (
    Legal("GATHER-FORM", _GATHER, "", "a gather by mask has neither indices nor a scratch, and only it has an axis",
          holds=lambda s: not any(map(s.has, ("cdst", "indices", "tmp", "kValue"))) if _by_mask(s)
          else s.attr("axis") is None,
          found=lambda s: "it has" if _by_mask(s) else f"axis is {s.attr('axis')}"),
    Legal("GATHER-MASK-FULL", _GATHER, "dst", "the result of a gather by mask has whole valid rows",
          when=lambda s, t: _by_mask(s), holds=lambda s, t: same(t.v_col, t.cols),
          found=lambda s, t: f"{t.v_col} of {t.cols} columns are valid"),
    Legal("GATHER-MASK-TYPES-A3", _GATHER, "src", "a gather by mask on a2a3 is of 2 or 4-byte elements", targets=A3,
          when=lambda s, t: _by_mask(s), holds=lambda s, t: t.dtype.bytes in (2, 4),
          found=lambda s, t: f"they are {t.dtype.pto}"),
    Legal("GATHER-MASK-TYPES-A5", _GATHER, "src dst", "a gather by mask on a5 is of integers, floats or 8-bit floats",
          targets=A5, when=lambda s, a, b: _by_mask(s),
          holds=lambda s, a, b: {family(a), family(b)} <= {"i8", *_WORDS, "bf16", "f8", "hif8"},
          found=lambda s, a, b: dtypes(a, b)),
    Legal("GATHER-TYPES-A5", _GATHER, "src indices", "a5 gathers integers, f16, f32 and 8-bit floats", targets=A5,
          holds=lambda s, a, i: family(a) in ("i8", *_WORDS, "f8"), found=lambda s, a, i: f"they are {a.dtype.pto}"),
    Legal("GATHER-VALUE-FORM", _GATHER, "", "a gather by comparison has a count, a value and a scratch, and no indices",
          when=_by_value, holds=lambda s: all(map(s.has, ("cdst", "kValue", "tmp"))) and not s.has("indices"),
          found=lambda s: f"it has {', '.join(sorted(s.op.args))}"),
    Legal("GATHER-VALUE-MODE", _GATHER, "cdst", "a gather compares by eq or gt",
          holds=lambda s, t: _comparison(s) in ("eq", "gt"), found=lambda s, t: f"it is {_comparison(s)}"),
    Legal("GATHER-VALUE-TYPES", _GATHER, "src cdst",
          "a gather by comparison is of f16 or f32, for eq also of i32, on a5 of all 16 and 32-bit elements",
          holds=lambda s, a, c: family(a) in (_WORDS if s.a5 else ("f16", "f32"))
          or (family(a) == "i32" and _comparison(s) == "eq"),
          found=lambda s, a, c: f"it is of {a.dtype.pto}, {_comparison(s)}"),
    Legal("GATHER-VALUE-SPACE", _GATHER, "cdst", "the tiles of a gather by comparison are in vec, row-major",
          holds=lambda s, c: all(is_vec(t) and is_row_major(t) for t in _tiles(s, "src dst cdst tmp")),
          found=lambda s, c: spelled(*_tiles(s, "src dst cdst tmp"))),
    Legal("GATHERB-WIDTH", "pto.tgatherb", "dst", "elements of 1, 2 or 4 bytes are gathered",
          holds=lambda s, t: t.dtype.bytes in (1, 2, 4), found=lambda s, t: f"they are {t.dtype.pto}"),
    Legal("SCATTER-FORM", _SCATTER, "", "a scatter has either indices or a mask, and only one by mask has an axis",
          holds=lambda s: s.has("indexes") != _by_mask(s) and not (s.has("indexes") and s.attr("axis") is not None),
          found=lambda s: f"{'indices' if s.has('indexes') else 'none'}, the axis is {s.attr('axis')}"),
    Legal("SCATTER-WIDTH", _SCATTER, "src indexes", "indices are as wide as the elements, 16 bits for bytes",
          holds=lambda s, a, i: i.dtype.bytes == _index_bytes(a), found=lambda s, a, i: dtypes(a, i)),
    Legal("CONCATIDX-COLS", "pto.tconcatidx", "src0Idx src1Idx", "indices of a concatenation have a valid column",
          holds=lambda s, a, b: a.v_col != 0 and b.v_col != 0, found=lambda s, a, b: extents(a, b)),
    Legal("PART-INSIDE", f"{_PARTS} {_PART_ARGS}", "src0 src1 dst",
          "the valid region of the result holds those of the sources", holds=lambda s, a, b, c: _inside(a, b, c),
          found=lambda s, a, b, c: extents(a, b, c)),
    Legal("PART-WHOLE", _PARTS, "src0 src1 dst", "on a2a3 one source has the valid region of the result", targets=A3,
          holds=lambda s, a, b, c: _whole(a, b, c), found=lambda s, a, b, c: extents(a, b, c)),
    Legal("PARTARG-WHOLE", _PART_ARGS, "src0 src1 dst", "one source has the valid region of the result",
          holds=lambda s, a, b, c: _whole(a, b, c), found=lambda s, a, b, c: extents(a, b, c)),
    Legal("HISTOGRAM-ROWS", _HISTOGRAM, "src dst", "a histogram has the rows of its source", targets=A5,
          holds=lambda s, a, b: a.rows == b.rows and same(a.v_row, b.v_row), found=lambda s, a, b: spelled(a, b)),
    Legal("HISTOGRAM-BINS", _HISTOGRAM, "dst", f"a histogram has {_BINS} columns, all valid or none", targets=A5,
          holds=lambda s, t: t.cols >= _BINS and (t.v_col in (None, 0) or (t.v_col or 0) >= _BINS),
          found=lambda s, t: f"{t.v_col} of {t.cols} are valid"),
    Legal("HISTOGRAM-FILTER", _HISTOGRAM, "src idx",
          "the filter is a column for 16-bit values, a row for each higher byte of 32-bit ones", targets=A5,
          holds=lambda s, a, i: _filter(s, a, i), found=lambda s, a, i: f"byte {s.int('byte', 1)}, {spelled(a, i)}"),
    Legal("RANDOM-TARGET", "pto.trandom", "", "the op exists on a5 only", holds=lambda s: s.a5,
          found=lambda s: "the target is a2a3"),
    Legal("RANDOM-ROUNDS", "pto.trandom", "", "random numbers take 7 or 10 rounds", targets=A5,
          holds=lambda s: s.int("rounds", 10) in (7, 10), found=lambda s: f"{s.int('rounds')}"),
    Legal("RANDOM-WORDS", "pto.trandom", "", "keys and counters are 32-bit integers", targets=A5,
          holds=lambda s: all(w in ("i32", "ui32", "si32") for w in _words(s)),
          found=lambda s: ", ".join(_words(s))),
    Legal("MERGE-ROW", _MERGE, "", "what is merged has one row", when=lambda s: bool(_merged(s)),
          holds=lambda s: all(t.rows == 1 for t in _merged(s)), found=lambda s: spelled(*_merged(s))),
    Legal("MERGE-DTYPE", _MERGE, "", "sources and result of a merge have one element type",
          when=lambda s: bool(_merged(s)), holds=lambda s: len({t.dtype for t in _merged(s)}) == 1,
          found=lambda s: dtypes(*_merged(s))),
    Legal("MERGE-SOURCES", _MERGE, "", "two to four sources are merged, or the blocks of one",
          holds=lambda s: s.has("blockLen") or 2 <= len(s.op.args.get("srcs", ())) <= 4,
          found=lambda s: f"{len(s.op.args.get('srcs', ()))}"),
    Legal("MERGE-SCRATCH", _MERGE, "dsts tmp", "the scratch of a merge has the columns of result and sources",
          when=lambda s, a, t: _several(s),
          holds=lambda s, a, t: t.cols >= max(a.cols, sum(x.cols for x in _sources(s))),
          found=lambda s, a, t: f"{t.cols} of {max(a.cols, sum(x.cols for x in _sources(s)))}"),
    Legal("MERGE-COUNTS", _MERGE, "", "a merge of several sources counts into a vector<4xi16>", when=_several,
          holds=lambda s: _counts_into(s) == "vector<4xi16>", found=lambda s: f"it is {_counts_into(s) or 'missing'}"),
)
