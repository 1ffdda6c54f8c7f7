"""Legality of ops that move elements within vec: gathers, concatenation, transposition, partial ops; and of fills."""

from __future__ import annotations

from pypto_verified.layouts import Space
from pypto_verified.pto.legality import Legal, Site
from pypto_verified.pto.legality_words import (
    A3,
    dtypes,
    extents,
    is_row_major,
    is_vec,
    plus,
    same,
    same_valid,
    spelled,
    up_to,
)
from pypto_verified.pto.types import TileBufType

_INT16 = frozenset({"i16", "ui16", "si16"})
_INT32 = frozenset({"i32", "ui32", "si32"})
_A3_TYPES = _INT16 | _INT32 | {"f16", "f32"}
_GATHER = "pto.tgather"
_EMIT = {"P1111": 1, "P0101": 2, "P1010": 2}
"""How many source elements a mask pattern takes for one that it gives; 4 for the others."""


def _factor(s: Site) -> int:
    return _EMIT.get(s.member("maskPattern"), 4)


def _axis(s: Site, t: TileBufType, along: bool) -> int | None:
    """The valid extent along the masked axis, or across it."""
    return t.v_col if (s.attr("axis") == "row") == along else t.v_row


def _scaled(s: Site, t: TileBufType) -> int | None:
    extent = _axis(s, t, True)
    return None if extent is None else extent * _factor(s)


ROWS: tuple[Legal, ...] = (
    Legal("GATHER-MASK-AXIS", _GATHER, "src", "a gather by mask says along which axis",
          when=lambda s, t: s.member("maskPattern") != "", holds=lambda s, t: s.attr("axis") is not None,
          found=lambda s, t: "the axis is missing"),
    Legal("GATHER-MASK-ALONG", _GATHER, "src dst", "a gather by mask takes as many elements as its pattern says",
          when=lambda s, a, b: s.attr("axis") is not None, holds=lambda s, a, b: same(_axis(s, a, True), _scaled(s, b)),
          found=lambda s, a, b: f"it takes {_factor(s)} for one, the valid shapes are {extents(a, b)}"),
    Legal("GATHER-MASK-ACROSS", _GATHER, "src dst", "a gather by mask keeps the extent across its axis",
          when=lambda s, a, b: s.attr("axis") is not None,
          holds=lambda s, a, b: same(_axis(s, a, False), _axis(s, b, False)),
          found=lambda s, a, b: f"the valid shapes are {extents(a, b)}"),
    Legal("GATHER-MASK-WIDTH", _GATHER, "src dst", "a gather by mask keeps the element size",
          when=lambda s, a, b: s.member("maskPattern") != "", holds=lambda s, a, b: a.dtype.bytes == b.dtype.bytes,
          found=lambda s, a, b: dtypes(a, b)),
    Legal("GATHER-MASK-SPACE", _GATHER, "src dst", "a gather by mask is in vec, row-major",
          when=lambda s, a, b: s.member("maskPattern") != "",
          holds=lambda s, a, b: is_vec(a) and is_vec(b) and is_row_major(a) and is_row_major(b),
          found=lambda s, a, b: spelled(a, b)),
    Legal("GATHER-SCRATCH", _GATHER, "indices", "a gather by index on a2a3 has a scratch", targets=A3,
          holds=lambda s, t: s.has("tmp"), found=lambda s, t: "there is none"),
    Legal("GATHER-DTYPE", _GATHER, "src indices dst", "a gather by index keeps the element type",
          holds=lambda s, a, i, b: a.dtype == b.dtype, found=lambda s, a, i, b: dtypes(a, b)),
    Legal("GATHER-TYPES", _GATHER, "src indices", "a2a3 gathers i16, i32, f16 and f32", targets=A3,
          holds=lambda s, a, i: a.dtype.pto in _A3_TYPES, found=lambda s, a, i: f"the source is {a.dtype.pto}"),
    Legal("GATHER-INDEX", _GATHER, "indices", "indices are 32-bit integers, on a5 also 16-bit ones",
          holds=lambda s, t: t.dtype.pto in (_INT32 | _INT16 if s.a5 else _INT32),
          found=lambda s, t: f"they are {t.dtype.pto}"),
    Legal("GATHER-FULL", _GATHER, "indices dst", "indices and result of a gather have whole valid rows",
          holds=lambda s, i, b: same(i.v_col, i.cols) and same(b.v_col, b.cols),
          found=lambda s, i, b: f"the valid shapes are {extents(i, b)} of {i.cols} and {b.cols} columns"),
    Legal("GATHER-SCRATCH-TYPE", _GATHER, "indices tmp", "indices and scratch on a2a3 have one type and valid shape",
          targets=A3, holds=lambda s, i, t: i.dtype == t.dtype and same_valid(i, t),
          found=lambda s, i, t: spelled(i, t)),
    Legal("GATHER-COMPARE", _GATHER, "cdst dst", "a gather by comparison gives 32-bit integers",
          holds=lambda s, c, d: d.dtype.pto in _INT32 and c.dtype == d.dtype, found=lambda s, c, d: dtypes(c, d)),
    Legal("CONCAT-ROWS", "pto.tconcat", "src0 src1 dst", "both sources have the valid rows of the result",
          holds=lambda s, a, b, c: same(a.v_row, c.v_row) and same(b.v_row, c.v_row),
          found=lambda s, a, b, c: f"the valid shapes are {extents(a, b, c)}"),
    Legal("CONCAT-COLS", "pto.tconcat", "src0 src1 dst", "both sources fit side by side into the result",
          holds=lambda s, a, b, c: up_to(plus(a.v_col, b.v_col), c.cols),
          found=lambda s, a, b, c: f"{a.v_col} + {b.v_col} > {c.cols} columns"),
    Legal("EXPANDS-SPACE", "pto.texpands", "dst", "a filled tile is in vec or mat",
          holds=lambda s, t: t.loc in (Space.VEC, Space.MAT), found=lambda s, t: f"it is in {t.loc.value}"),
)
