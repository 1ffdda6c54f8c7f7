"""VALID, for histograms: how much of the filter is read, and what the counts fill."""

from __future__ import annotations

from collections.abc import Iterator

from pypto_verified.index import Cond, all_of, any_of
from verifiers.access import TileUse
from verifiers.op_sites import BINS, empty, filter_read, unless_refused
from verifiers.rule import SAFETY, Rule, Witness
from verifiers.sites import Context, OpSite, op_sites

_EXTENTS = frozenset({"ROWS", "BINS", "FILTER"})
"""Words of the assembler's rows about extents of histograms."""


def _histograms(context: Context) -> Iterator[OpSite]:
    found = (s for s in op_sites(context) if s.op.name == "pto.thistogram")
    return (s for s in found if all(s.step.tiles(group) for group in ("src", "idx", "dst")))


def _tiles(s: OpSite) -> tuple[TileUse, TileUse, TileUse]:
    return s.step.tiles("src")[0], s.step.tiles("idx")[0], s.step.tiles("dst")[0]


def _counted(s: OpSite) -> Cond:
    source, numbers, result = _tiles(s)
    rows, cols = filter_read(s.step)
    filtered = any_of((rows <= 0, all_of((numbers.valid_rows >= rows, numbers.valid_cols >= cols))))
    fits = all_of((source.valid_rows <= result.type.rows, result.type.cols >= BINS))
    return any_of((all_of((filtered, fits)), empty(source.valid_rows, source.valid_cols)))


def _text(s: OpSite, w: Witness) -> str:
    source, numbers, result = _tiles(s)
    rows, cols = filter_read(s.step)
    return (
        f"{w(source.valid_rows)} rows of {source.name} are counted into {result.name}, which has {result.type.rows} x "
        f"{result.type.cols}; {w(rows)} x {w(cols)} of the filter {numbers.name} are read, {w(numbers.valid_rows)} x "
        f"{w(numbers.valid_cols)} are valid")


VALID_HISTOGRAM: Rule[OpSite] = Rule(
    id="VALID-HISTOGRAM", kind=SAFETY, observable=True, requires=("VF-01",), assumptions=("OUT-OF-VALID",),
    source="PTO-ISA npu/a5 THistogram.hpp",
    claim="a histogram has room for the counts of each row, and a valid filter for each byte above the counted one",
    sites=_histograms, applies=lambda s: unless_refused(s, _counted(s), _EXTENTS),
    goal=_counted, explain=_text,
    help=lambda s: f"give {_tiles(s)[1].name} a valid filter for each row, or higher byte, of {_tiles(s)[0].name}",
    mutant=lambda s: _tiles(s)[0].valid_rows <= _tiles(s)[2].type.rows,
)

RULES = (VALID_HISTOGRAM,)
