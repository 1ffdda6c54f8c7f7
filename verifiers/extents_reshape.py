"""VALID, for reshapes and bitcasts: the same bytes under another shape."""

from __future__ import annotations

from pypto_verified.index import Cond, Expr, all_of, any_of
from pypto_verified.layouts import BLayout
from verifiers.access import TileUse
from verifiers.covering import shape
from verifiers.op_sites import empty
from verifiers.rule import SAFETY, Rule
from verifiers.sites import ViewSite, view_sites


def _lines(tile: TileUse) -> tuple[Expr, Expr, int]:
    """(valid lines, valid elements of a line, elements of a line) in storage order."""
    if tile.type.blayout is BLayout.ROW:
        return tile.valid_rows, tile.valid_cols, tile.type.cols
    return tile.valid_cols, tile.valid_rows, tile.type.rows


def _inside_reshaped(s: ViewSite) -> Cond:
    """Sufficient and, for whole lines, necessary: the last valid byte of the view lies in a valid prefix of the tile,
    or both have one shape."""
    view, tile = s.view, s.parent
    lines, width, line = _lines(view)
    own_lines, own_width, own_line = _lines(tile)
    size, own_size = view.type.dtype.bytes, tile.type.dtype.bytes
    last = ((lines - 1) * line + width) * size
    options = [empty(lines, width),
               all_of((own_width >= own_line, last <= own_lines * (own_line * own_size))),
               all_of((own_lines >= 1, last <= own_width * own_size))]
    if line * size == own_line * own_size:
        options.append(all_of((lines <= own_lines, width * size <= own_width * own_size)))
    return any_of(options)


VALID_RESHAPE: Rule[ViewSite] = Rule(
    id="VALID-RESHAPE", kind=SAFETY, observable=True, requires=("CG-07", "VF-01"),
    source="PTOAS treshape checks no valid shape (measured); pypto#2149",
    claim="what a reshape declares valid was valid before",
    sites=view_sites,
    applies=lambda s: s.view.how in ("reshape", "bitcast") and not s.view.type.boxed and not s.parent.type.boxed,
    goal=_inside_reshaped,
    explain=lambda s, w: (
        f"tile {s.parent.name} has {shape(s.parent, w)} valid elements of {s.parent.type.rows} x "
        f"{s.parent.type.cols}; its {s.view.how} {s.view.name} declares {shape(s.view, w)} of {s.view.type.rows} x "
        f"{s.view.type.cols}"),
    help=lambda s: "reshape a full tile (fillpad it first), or keep the valid prefix",
    mutant=lambda s: all_of((s.view.valid_rows <= s.view.type.rows, s.view.valid_cols <= s.view.type.cols)),
)

RULES = (VALID_RESHAPE,)
