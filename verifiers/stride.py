"""LAYOUT, strides of tensor views: a transfer moves whole rows, so their elements must follow one another, and the gap
to the next row is counted from the end of this one, in a field of the instruction.

Source: PTO-ISA TLoad.hpp and TStore.hpp: an ND transfer copies bursts of the window's columns and skips
`stride[-2] - columns` elements after each (an unsigned field); it never looks at `stride[-1]`. DN swaps the two axes.
"""

from __future__ import annotations

from collections.abc import Iterator

from pypto_verified.index import Cond, Expr, any_of
from pypto_verified.layouts import Space, TensorLayout
from pypto_verified.records import dataclass
from verifiers.access import TileUse
from verifiers.op_sites import TransferSite, transfer_sites
from verifiers.rule import SAFETY, Rule, always
from verifiers.sites import Context, Site


@dataclass(frozen=True, slots=True)
class StrideSite(Site):
    """The two innermost axes of a transferred window, in elements: along a burst (`near`) and across (`far`)."""

    tensor: str
    tile: TileUse
    near_extent: Expr
    near_size: Expr
    near_stride: Expr
    far_size: Expr
    far_stride: Expr


def _bursts(context: Context) -> Iterator[StrideSite]:
    for op in ("pto.tload", "pto.tstore"):
        for site in transfer_sites(op)(context):
            window = site.window
            if len(window.sizes) >= 2 and window.view.layout in (None, TensorLayout.ND, TensorLayout.DN):
                yield _burst(site)


def _burst(site: TransferSite) -> StrideSite:
    window = site.window
    strides, layout = window.view.strides, window.view.layout
    # A view that does not say its layout gets the one that its strides show.
    columns_first = layout is TensorLayout.DN or (layout is None and strides[-2].value == 1 != strides[-1].value)
    near, far = (-2, -1) if columns_first else (-1, -2)
    return StrideSite(
        site.context, site.op, site.path, site.label, window.view.name, site.tile, window.view.dims[near],
        window.sizes[near], strides[near], window.sizes[far], strides[far])


LAYOUT_BURST: Rule[StrideSite] = Rule(
    id="LAYOUT-BURST", kind=SAFETY, observable=True, requires=("VF-01",), source="PTO-ISA TLoad.hpp, TStore.hpp",
    claim="the elements of a burst follow one another in global memory",
    sites=_bursts, applies=always,
    goal=lambda s: any_of((s.near_size <= 1, s.far_size <= 0, s.near_stride == 1)),
    explain=lambda s, w: (
        f"{w(s.near_size)} elements of {s.tensor} are moved as one burst, but its view puts them "
        f"{w.show(s.near_stride)} elements apart"),
    help=lambda s: "give the view stride 1 along its innermost axis (along its rows for layout dn)",
    mutant=lambda s: any_of((s.near_size <= 1, s.near_stride >= 1)),
)

LAYOUT_GAP: Rule[StrideSite] = Rule(
    id="LAYOUT-GAP", kind=SAFETY, observable=False, requires=("VF-01",), source="PTO-ISA TLoad.hpp, TStore.hpp",
    claim="the bursts of a transfer do not overlap in global memory",
    unseen="the gap wraps around: what such a transfer reads is not specified",
    sites=_bursts, applies=always, given=lambda s: s.near_size <= s.near_extent,
    goal=lambda s: any_of((s.far_size <= 1, s.near_size <= 0, s.far_stride >= s.near_size)),
    explain=lambda s, w: (
        f"bursts of {w.show(s.near_size)} elements of {s.tensor} start only {w.show(s.far_stride)} elements apart"),
    help=lambda s: f"give the view a stride of {s.near_size!r} or more there, or move fewer elements",
    mutant=lambda s: any_of((s.far_size <= 1, s.far_stride >= s.near_size - 1)),
)

_BLOCK = 32
_FIELD = 16
"""Bits of the field."""


def _reach(s: StrideSite) -> tuple[Expr, str]:
    """What a load into mat on a2a3 keeps of the way from one burst to the next: the stride itself into boxes, else the
    gap."""
    if s.tile.type.boxed:
        return s.far_stride, "elements"
    return (s.far_stride - s.near_size) * s.tile.type.dtype.bytes // _BLOCK, f"blocks of {_BLOCK} bytes"


def _kept(s: StrideSite, more_bits: int = 0) -> Cond:
    return any_of((s.far_size <= 1, s.near_size <= 0, _reach(s)[0] < 1 << _FIELD + more_bits))


LAYOUT_FIELD: Rule[StrideSite] = Rule(
    id="LAYOUT-FIELD", kind=SAFETY, observable=False, requires=("VF-01",),
    source="PTO-ISA a2a3 TLoad.hpp: strides into mat are 16 bits wide; the library asserts it in debug builds only",
    claim="the stride of a transfer with mat fits the field of its instruction",
    unseen="the field wraps around on the device only",
    sites=_bursts, applies=lambda s: s.context.target.name == "a2a3" and s.tile.type.loc is Space.MAT,
    goal=_kept,
    explain=lambda s, w: (
        f"rows of {s.tensor} start {w.show(s.far_stride)} elements apart; the instruction counts "
        f"{w.show(_reach(s)[0])} {_reach(s)[1]}, in a field of {_FIELD} bits"),
    help=lambda s: "move one row at a time, or lay the tensor out with a smaller stride",
    mutant=lambda s: _kept(s, 1),
)

RULES = (LAYOUT_BURST, LAYOUT_GAP, LAYOUT_FIELD)
