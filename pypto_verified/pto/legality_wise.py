"""Legality of lane-wise ops outside of the families of `legality_compute.py`: functions of one tile, remainders, column
expansions, pairs of values and indices, scatters within a tile."""

from __future__ import annotations

from pypto_verified.pto.legality import Legal, Site
from pypto_verified.pto.legality_words import (
    extents,
    same,
    same_valid,
    up_to,
)
from pypto_verified.pto.types import OpaqueType, ScalarType, TileBufType
from pypto_verified.pto.typetext import type_text

_COL_EXPAND = " ".join(f"pto.tcolexpand{n}" for n in ("add", "sub", "mul", "div", "max", "min", "expdif"))
_PART_ARG = "pto.tpartargmax pto.tpartargmin"
_EXPANSION = {"P0101": 2, "P1010": 2, "P0001": 4, "P0010": 4, "P0100": 4, "P1000": 4, "P1111": 1}
"""Elements of the result for one of the source, by mask pattern."""


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
    Legal("SHIFTS-SIGN", "pto.tshls", "", "a constant shift is not negative",
          when=lambda s: s.const("scalar") is not None, holds=lambda s: (s.const("scalar") or 0) >= 0,
          found=lambda s: f"it is {s.const('scalar')}"),
    Legal("COLBINARY-COLS", _COL_EXPAND, "src1 dst", "the expanded row has the valid columns of the result",
          holds=lambda s, a, b: same(a.v_col, b.v_col), found=lambda s, a, b: extents(a, b)),
    Legal("PARTARG-VALID", _PART_ARG, "src0 src0Idx src1 src1Idx dst dstIdx",
          "values and their indices have one valid shape",
          holds=lambda s, *tiles: all((a.v_row, a.v_col) == (b.v_row, b.v_col) for a, b in _couples(tiles)),
          found=lambda s, *tiles: extents(*tiles)),
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
    Legal("CONCATIDX-ROWS", "pto.tconcatidx", "src0 src1 src0Idx src1Idx dst", "all operands have the same valid rows",
          holds=lambda s, *tiles: all(same(t.v_row, tiles[-1].v_row) for t in tiles),
          found=lambda s, *tiles: extents(*tiles)),
    Legal("TRI-SIDE", "pto.ttri", "", "upperOrLower is 0 or 1", holds=lambda s: s.int("upperOrLower") in (0, 1),
          found=lambda s: f"it is {s.int('upperOrLower')}"),
    Legal("ARRAY-ELEMENT", "pto.local_array_set pto.local_array_get", "",
          "a local array takes and gives values of its element type", when=lambda s: bool(_element(s) and _moved(s)),
          holds=lambda s: _element(s) == _moved(s), found=lambda s: f"{_moved(s)}, {type_text(_array(s))}"),
)


def _couples(tiles: tuple[TileBufType, ...]) -> list[tuple[TileBufType, TileBufType]]:
    return list(zip(tiles[::2], tiles[1::2], strict=True))


def _array(s: Site) -> OpaqueType:
    return next(v.type for v in s.op.operands() if isinstance(v.type, OpaqueType))
