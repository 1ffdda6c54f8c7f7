"""VALID, for reductions and expansions: rows and columns that become one element, and elements that become a row or a
column."""

from __future__ import annotations

from pypto_verified.index import Cond, all_of, any_of, eq
from pypto_verified.layouts import BLayout
from verifiers.access import TileUse
from verifiers.covering import EXTENT_WORDS, full, shape, shapes
from verifiers.op_sites import (
    AXES,
    COL_EXPANSION,
    COL_REDUCTION,
    COLS,
    ROW_EXPANSION,
    ROW_REDUCTION,
    ROWS,
    compute_sites,
    destination,
    empty,
    sources,
    unless_refused,
    valid,
)
from verifiers.rule import SAFETY, Rule
from verifiers.sites import OpSite


def _tiles(s: OpSite) -> tuple[TileUse, TileUse]:
    """(first source, destination)."""
    target = destination(s.step)
    assert target is not None
    return sources(s.step)[0], target


def _kept_axis(s: OpSite) -> int:
    return ROWS if s.op.name in ROW_REDUCTION else COLS


def _reduces(s: OpSite) -> Cond:
    source, target = _tiles(s)
    kept = _kept_axis(s)
    fits = all_of((eq(valid(source, kept), valid(target, kept)), valid(target, 1 - kept) <= 1))
    return any_of((fits, empty(target.valid_rows, target.valid_cols)))


VALID_REDUCE: Rule[OpSite] = Rule(
    id="VALID-REDUCE", kind=SAFETY, observable=True, requires=("VF-01",),
    source="PTO-ISA TRowReduce.hpp, TColReduce.hpp: only column 0 (row 0) of the result is written; pypto#1401",
    claim="a reduction's result has the source's extent on the axis that stays and 1 on the other",
    sites=compute_sites(ROW_REDUCTION | COL_REDUCTION), applies=lambda s: unless_refused(s, _reduces(s), EXTENT_WORDS),
    goal=_reduces,
    explain=lambda s, w: (
        f"{_tiles(s)[0].name} is {shape(_tiles(s)[0], w)}, its reduction {_tiles(s)[1].name} is declared "
        f"{shape(_tiles(s)[1], w)}"),
    help=lambda s: (
        f"declare {valid(_tiles(s)[0], _kept_axis(s))!r} valid {AXES[_kept_axis(s)]} and one valid "
        f"{'column' if _kept_axis(s) == ROWS else 'row'}"),
    mutant=lambda s: valid(_tiles(s)[1], 1 - _kept_axis(s)) <= 1,
)


def _something(s: OpSite) -> Cond:
    source, target = _tiles(s)
    kept = _kept_axis(s)
    return any_of((
        valid(source, kept) <= 0, valid(source, 1 - kept) >= 1, empty(target.valid_rows, target.valid_cols)))


VALID_REDUCE_EMPTY: Rule[OpSite] = Rule(
    id="VALID-REDUCE-EMPTY", kind=SAFETY, observable=True, requires=("VF-01",),
    source="PTO-ISA TRowReduce.hpp, TColReduce.hpp: an empty source is asserted against",
    claim="a reduction reduces at least one element",
    sites=compute_sites(ROW_REDUCTION | COL_REDUCTION),
    applies=lambda s: unless_refused(s, _something(s), EXTENT_WORDS),
    goal=_something,
    explain=lambda s, w: (
        f"{_tiles(s)[0].name} is {shape(_tiles(s)[0], w)}: the result would be made of nothing"),
    help=lambda s: f"skip the op when {valid(_tiles(s)[0], 1 - _kept_axis(s))!r} is 0",
    mutant=lambda s: valid(_tiles(s)[0], 1 - _kept_axis(s)) >= 0,
)


def _per_row(vector: TileUse, target: TileUse) -> Cond:
    """Whether a tile gives each row of `target` one value: a column, or one 32-byte block of copies."""
    block = 32 // vector.type.dtype.bytes
    width = 1 if vector.type.blayout is BLayout.COL else block
    return all_of((vector.valid_rows >= target.valid_rows, vector.valid_cols >= width))


def _expands(s: OpSite) -> Cond:
    target = destination(s.step)
    assert target is not None
    given = sources(s.step)
    name = s.op.name
    if name in ROW_EXPANSION:
        a, b = given[0], given[1]
        holds = any_of(
            all_of((full(whole, target), _per_row(vector, target))) for whole, vector in ((a, b), (b, a)))
    elif name == "pto.trowexpand":
        holds = all_of((given[0].valid_rows >= target.valid_rows, given[0].valid_cols >= 1))
    else:
        vector = given[-1]
        holds = all_of((vector.valid_rows >= 1, vector.valid_cols >= target.valid_cols))
    return any_of((holds, empty(target.valid_rows, target.valid_cols)))


VALID_EXPAND: Rule[OpSite] = Rule(
    id="VALID-EXPAND", kind=SAFETY, observable=True, requires=("VF-01",), assumptions=("OUT-OF-VALID",),
    source="PTO-ISA TRowExpand.hpp, TColExpand.hpp and their binary forms",
    claim="what is expanded has one valid value for each row (or column) of the destination",
    sites=compute_sites(ROW_EXPANSION | COL_EXPANSION | {"pto.trowexpand", "pto.tcolexpand"}),
    applies=lambda s: unless_refused(s, _expands(s), EXTENT_WORDS),
    goal=_expands, explain=shapes,
    help=lambda s: "the vector needs the destination's extent along the axis it does not expand",
    mutant=lambda s: len(sources(s.step)) > 0,
)

RULES = (VALID_REDUCE, VALID_REDUCE_EMPTY, VALID_EXPAND)
