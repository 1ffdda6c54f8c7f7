"""VALID and LAYOUT, for global memory whose rows or elements are numbered by indices."""

from __future__ import annotations

from collections.abc import Iterator

from pypto_verified.index import Cond, all_of, any_of, eq
from pypto_verified.records import dataclass
from verifiers.access import TileUse, Window
from verifiers.access.indexed import by_row, indexed
from verifiers.op_sites import empty
from verifiers.rule import SAFETY, Rule
from verifiers.sites import Context, Site, op_sites, op_text


@dataclass(frozen=True, slots=True)
class TableSite(Site):
    """A window of global memory whose elements or rows (`by_row`) are numbered, and the tile at the other end."""

    table: Window
    tile: TileUse
    by_row: bool


def _tables(context: Context) -> Iterator[TableSite]:
    for site in op_sites(context):
        taking = indexed(site.step)
        for table in site.step.windows(taking.table) if taking is not None else ():
            for tile in site.step.tiles(taking.places) if taking is not None else ():
                label = f"{site.label} {table.view.name}"
                yield TableSite(context, site.op, site.path, label, table, tile, by_row(site.step))


VALID_ROW: Rule[TableSite] = Rule(
    id="VALID-ROW", kind=SAFETY, observable=True, requires=("VF-01",),
    source="PTO-ISA MGather.hpp, MScatter.hpp: each row is copied as wide as the tile is valid",
    claim="a transfer by row numbers moves no more columns than a row of the window has",
    sites=_tables, applies=lambda s: s.by_row,
    goal=lambda s: any_of((s.tile.valid_cols <= s.table.sizes[-1], empty(s.tile.valid_rows, s.tile.valid_cols))),
    explain=lambda s, w: (
        f"{op_text(s.op)} moves rows of {w(s.tile.valid_cols)} elements, those of {s.table.view.name} have "
        f"{w.show(s.table.sizes[-1])}"),
    help=lambda s: f"narrow {s.tile.name} to {s.table.sizes[-1]!r} valid columns",
    mutant=lambda s: s.tile.valid_cols <= s.table.sizes[-1] + 32,
)


def _dense(s: TableSite) -> Cond:
    """Each axis goes on where the next inner one ends; of a table of rows, the last two may leave a gap."""
    sizes, strides = s.table.sizes, s.table.view.strides
    axes = range(len(sizes) - (2 if s.by_row else 1))
    inner = (any_of((sizes[i] <= 1, eq(strides[i], strides[i + 1] * sizes[i + 1]))) for i in axes)
    return all_of((*inner, any_of((sizes[-1] <= 1, eq(strides[-1], 1)))))


LAYOUT_TABLE: Rule[TableSite] = Rule(
    id="LAYOUT-TABLE", kind=SAFETY, observable=False, requires=("VF-01",),
    source="PTO-ISA MGather.hpp, MScatter.hpp: elements are counted from the window's first one, whatever its strides",
    claim="what is numbered by elements lies densely; what is numbered by rows has them at one distance",
    unseen="a run counts along the axes of the window",
    sites=_tables, applies=lambda s: len(s.table.sizes) == len(s.table.view.strides),
    goal=_dense,
    explain=lambda s, w: (
        f"the window of {s.table.view.name} is {' x '.join(str(w(n)) for n in s.table.sizes)} with strides "
        f"{', '.join(str(w(n)) for n in s.table.view.strides)}: {'rows' if s.by_row else 'elements'} are numbered "
        "as if there was nothing between them"),
    help=lambda s: "take whole rows of the tensor, or number rows (coalesce row)",
    mutant=lambda s: any_of((s.table.sizes[-1] <= 1, eq(s.table.view.strides[-1], 1))),
)

RULES = (VALID_ROW, LAYOUT_TABLE)
