"""VALID, for quantisation of vectors: one scale, and one offset, for each row."""

from __future__ import annotations

from collections.abc import Iterator

from pypto_verified.index import Cond, all_of, any_of
from pypto_verified.layouts import BLayout
from pypto_verified.records import dataclass
from verifiers.access import TileUse
from verifiers.op_sites import QUANTISING, empty
from verifiers.rule import SAFETY, Rule, Witness
from verifiers.sites import Context, Site, op_sites, op_text

_BLOCK_BYTES = 32


@dataclass(frozen=True, slots=True)
class ScaleSite(Site):
    """A tile with one value for each row of `result`, `width` columns wide."""

    values: TileUse
    result: TileUse
    width: int


def _scales(context: Context) -> Iterator[ScaleSite]:
    for site in op_sites(context):
        if site.op.name not in QUANTISING:
            continue
        for group in ("fp", "scale", "offset"):
            for values in site.step.tiles(group):
                for result in site.step.tiles("dst"):
                    yield ScaleSite(
                        context, site.op, site.path, f"{site.label} {values.name}", values, result,
                        _width(context, site.op.name, values))


def _width(context: Context, op: str, values: TileUse) -> int:
    """On a2a3 a quantisation multiplies by an expansion, which takes a column, or a block of copies a row."""
    expanded = op == "pto.tquant" and context.target.name == "a2a3" and values.type.blayout is BLayout.ROW
    return _BLOCK_BYTES // values.type.dtype.bytes if expanded else 1


def _each(s: ScaleSite) -> Cond:
    return any_of((
        all_of((s.values.valid_rows >= s.result.valid_rows, s.values.valid_cols >= s.width)),
        empty(s.result.valid_rows, s.result.valid_cols)))


def _text(s: ScaleSite, w: Witness) -> str:
    return (
        f"{op_text(s.op)} makes {w(s.result.valid_rows)} rows of {s.result.name}; {s.values.name} has "
        f"{w(s.values.valid_rows)} x {w(s.values.valid_cols)} valid values, and {s.width} a row are read")


VALID_SCALE: Rule[ScaleSite] = Rule(
    id="VALID-SCALE", kind=SAFETY, observable=True, requires=("VF-01",), assumptions=("OUT-OF-VALID",),
    source="PTO-ISA TQuant.hpp, TDequant.hpp: the scale of a row is read at its start",
    claim="a quantisation has a valid scale, and offset, for each row of its result",
    sites=_scales, applies=lambda s: True, goal=_each, explain=_text,
    help=lambda s: f"give {s.values.name} {s.result.valid_rows!r} valid rows of {s.width}",
    mutant=lambda s: s.values.valid_cols >= s.width,
)

RULES = (VALID_SCALE,)
