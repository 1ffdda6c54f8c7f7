"""BOX: a boxed tile is whole fractal boxes, an unboxed one whole 32-byte lines."""

from __future__ import annotations

from pypto_verified.index import IntLike
from pypto_verified.layouts import BLayout, Space
from verifiers.rule import LEGALITY, Rule
from verifiers.sites import TileSite, tile_sites

_LINE = 32
"""Bytes of the unit in which local memory is addressed."""


def round_up(n: IntLike, unit: int) -> IntLike:
    """The least multiple of `unit` that is not below `n`."""
    return (n + unit - 1) // unit * unit


def _whole_bytes(t: TileSite) -> bool:
    return t.type.dtype.bits >= 8


def _rows_rule_applies(t: TileSite) -> bool:
    return t.boxed and _whole_bytes(t) and t.space is not Space.VEC and t.type.rows != 1 and t.fractal != 32


def _line_elements(t: TileSite) -> IntLike:
    return t.cols if t.type.blayout is BLayout.ROW else t.rows


def _line_axis(t: TileSite) -> str:
    return "row" if t.type.blayout is BLayout.ROW else "column"


def _line_help(t: TileSite) -> str:
    unit = _LINE // t.itemsize
    wanted = round_up(_line_elements(t), unit)
    axis = "cols" if t.type.blayout is BLayout.ROW else "rows"
    return f"allocate {axis} = {wanted} and declare {_line_elements(t)} as the valid extent"


BOX_ROWS: Rule[TileSite] = Rule(
    id="BOX-ROWS", kind=LEGALITY, observable=False, requires=("CG-19", "VF-01"), source="PTOAS verifyBoxedTileLayout",
    claim="a boxed tile's physical rows are a whole number of box rows",
    sites=tile_sites, applies=_rows_rule_applies,
    goal=lambda t: t.rows % t.box.rows == 0,
    explain=lambda t, w: (
        f"tile {t.name} has {t.rows} rows; its fractal boxes are {t.box.rows} x {t.box.cols} elements, so rows must "
        f"be a "
        f"multiple of {t.box.rows}"),
    help=lambda t: f"allocate {round_up(t.rows, t.box.rows)} rows and declare {t.rows} as valid_shape",
    mutant=lambda t: t.rows % (t.box.rows // 2) == 0,
)

BOX_COLS: Rule[TileSite] = Rule(
    id="BOX-COLS", kind=LEGALITY, observable=False, requires=("CG-19", "VF-01"), source="PTOAS verifyBoxedTileLayout",
    claim="a boxed tile's physical columns are a whole number of box columns",
    sites=tile_sites, applies=lambda t: t.boxed and _whole_bytes(t),
    goal=lambda t: t.cols % t.box.cols == 0,
    explain=lambda t, w: (
        f"tile {t.name} has {t.cols} columns; its fractal boxes are {t.box.rows} x {t.box.cols} elements, so columns "
        f"must "
        f"be a multiple of {t.box.cols}"),
    help=lambda t: f"allocate {round_up(t.cols, t.box.cols)} columns and declare {t.cols} as valid_shape",
    mutant=lambda t: t.cols % (t.box.cols // 2) == 0,
)

BOX_LINE: Rule[TileSite] = Rule(
    id="BOX-LINE", kind=LEGALITY, observable=False, requires=("CG-19",),
    source="PTOAS alloc_tile verifier, PTO-ISA 2.1",
    claim="a row of an unboxed row-major tile (a column of a col-major one) is a multiple of 32 bytes",
    sites=tile_sites, applies=lambda t: not t.boxed and _whole_bytes(t),
    goal=lambda t: _line_elements(t) * t.itemsize % _LINE == 0,
    explain=lambda t, w: (
        f"each {_line_axis(t)} of tile {t.name} is {_line_elements(t)} x {t.itemsize} = "
        f"{_line_elements(t) * t.itemsize} bytes, not a multiple of {_LINE}"),
    help=_line_help,
    mutant=lambda t: _line_elements(t) * t.itemsize % (_LINE // 4) == 0,
)

RULES = (BOX_ROWS, BOX_COLS, BOX_LINE)
