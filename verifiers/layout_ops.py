"""LAYOUT, for transfers and for ops that are not lane-wise: which layouts each can take.

What a row of LEGAL refuses at an op already is left to that row.
"""

from __future__ import annotations

from collections.abc import Iterator

from pypto_verified.index import Cond, all_of, eq
from pypto_verified.layouts import BLayout, SLayout, Space, TensorLayout
from pypto_verified.pto.types import TileBufType
from verifiers.access import TileUse
from verifiers.op_sites import (
    COL_EXPANSION,
    COL_REDUCTION,
    PART_ARGS,
    PARTIAL,
    ROW_EXPANSION,
    ROW_REDUCTION,
    TransferSite,
    is_vec,
    move_sites,
    names,
    transfer_sites,
    unless_refused,
)
from verifiers.rule import SAFETY, Rule, always
from verifiers.sites import Context, OpSite, TileSite, op_sites, op_text

_LAYOUTS = frozenset({"LAYOUT", "LEFT", "RIGHT", "ACC", "SPACE", "PAIR", "SOURCE", "RESULT", "SHAPE"})
"""Words of the assembler's rows about layouts and memories."""

_NAMES = {
    (BLayout.ROW, SLayout.NONE): "ND", (BLayout.COL, SLayout.NONE): "DN", (BLayout.COL, SLayout.ROW): "NZ",
    (BLayout.ROW, SLayout.COL): "ZN", (BLayout.ROW, SLayout.ROW): "ZZ", (BLayout.COL, SLayout.COL): "NN",
}
_SAME = {TensorLayout.ND: "ND", TensorLayout.DN: "DN", TensorLayout.NZ: "NZ"}
_BOXED = {TensorLayout.ND: "NZ", TensorLayout.DN: "ZN"}


def layout_name(t: TileBufType) -> str:
    """The layout by its ISA name."""
    return _NAMES[t.blayout, t.slayout]


def _loadable(s: TransferSite) -> frozenset[str]:
    """Layouts of tiles that a load from the window's view can fill; none is known for scaling layouts."""
    layout = s.window.view.layout
    if layout not in _SAME:
        return frozenset()
    taken = {_SAME[layout]}
    if s.tile.type.loc is Space.MAT and layout in _BOXED:
        taken.add(_BOXED[layout])
    return frozenset(taken)


def _known_view(s: TransferSite) -> bool:
    return s.window.view.layout in _SAME


def _filled(s: TransferSite) -> bool:
    return layout_name(s.tile.type) in _loadable(s)


def _view_name(s: TransferSite) -> str:
    layout = s.window.view.layout
    return layout.value.upper() if layout is not None else ""


LAYOUT_LOAD: Rule[TransferSite] = Rule(
    id="LAYOUT-LOAD",
    formula="layout(tile) in the layouts that a load makes of layout(tensor)",
    kind=SAFETY, observable=False, requires=("CG-05", "VF-01"),
    source="PTO-ISA tload_common.hpp, static asserts",
    claim="a load fills a tile of its view's layout; into mat it also makes NZ from ND and ZN from DN",
    unseen="the C++ of such a text does not compile (static asserts)",
    sites=transfer_sites("pto.tload"),
    applies=lambda s: _known_view(s) and unless_refused(s, _filled(s), _LAYOUTS),
    goal=_filled,
    explain=lambda s, w: (
        f"tload from the {_view_name(s)} view {s.window.view.name} into {s.tile.name}, which is "
        f"{layout_name(s.tile.type)} in {s.tile.type.loc.value}"),
    help=lambda s: f"use a tile that is {' or '.join(sorted(_loadable(s)))}",
    mutant=lambda s: s.tile.type.boxed or not s.tile.type.boxed,
)


def _storable(s: TransferSite) -> frozenset[str]:
    layout = s.window.view.layout
    if s.tile.type.loc is Space.ACC:
        return frozenset({"NZ"} if layout in (TensorLayout.ND, TensorLayout.NZ) else ())
    return frozenset({_SAME[layout]} if layout is not None and layout in _SAME else ())


def _stored(s: TransferSite) -> bool:
    """A tile of one row or one column lies the same in every layout."""
    line = s.tile.type.loc is not Space.ACC and 1 in (s.tile.type.rows, s.tile.type.cols)
    return line or layout_name(s.tile.type) in _storable(s)


LAYOUT_STORE: Rule[TransferSite] = Rule(
    id="LAYOUT-STORE",
    formula="layout(tile) in the layouts that a store takes to layout(tensor), or one line",
    kind=SAFETY, observable=False, requires=("CG-05", "VF-01"),
    source="PTO-ISA TStore.hpp, static asserts",
    claim="a store keeps the layout of a vec tile and writes an accumulator (NZ) to an ND or NZ view",
    unseen="the C++ of such a text does not compile (static asserts)",
    sites=transfer_sites("pto.tstore"),
    applies=lambda s: _known_view(s) and unless_refused(s, _stored(s), _LAYOUTS),
    goal=_stored,
    explain=lambda s, w: (
        f"tstore of {s.tile.name}, which is {layout_name(s.tile.type)} in {s.tile.type.loc.value}, to the "
        f"{_view_name(s)} view {s.window.view.name}"),
    help=lambda s: "declare the tensor in the tile's layout, or move the tile first",
    mutant=lambda s: s.tile.type.slayout is not SLayout.COL,
)

_UNBOXED = PARTIAL | PART_ARGS | ROW_EXPANSION | COL_EXPANSION | ROW_REDUCTION | COL_REDUCTION | names(
    "trowexpand tcolexpand tsel tsels tcmp tcmps tci ttri tsort32 tconcat")


def _vector_operands(context: Context) -> Iterator[TileSite]:
    for site in op_sites(context):
        if site.op.name in _UNBOXED:
            for tile in dict.fromkeys((*site.step.reads(), *site.step.writes())):
                yield TileSite(context, site.op, site.path, f"{site.label} {tile.name}", tile)


def _plain(t: TileSite) -> bool:
    return is_vec(t.tile) and not t.boxed


LAYOUT_VECTOR: Rule[TileSite] = Rule(
    id="LAYOUT-VECTOR", kind=SAFETY, observable=False, requires=("VF-01",),
    source="PTO-ISA vector ops, static asserts; PTOAS checks some of the ops",
    claim="operands of reductions, expansions, selections and ramps are unboxed tiles in vec",
    unseen="the C++ of such a text does not compile (static asserts)",
    sites=_vector_operands, applies=lambda t: unless_refused(t, _plain(t), _LAYOUTS),
    goal=_plain,
    explain=lambda t, w: (
        f"operand {t.name} of {op_text(t.op)} is {layout_name(t.type)} in {t.space.value}"),
    help=lambda t: "move it into an unboxed tile in vec first",
    mutant=lambda t: is_vec(t.tile),
)


def _ends(s: OpSite) -> tuple[TileUse, TileUse]:
    return s.step.tiles("src")[0], s.step.tiles("dst")[0]


def _copied(s: OpSite) -> bool:
    a, b = (t.type for t in _ends(s))
    return layout_name(a) == layout_name(b) or min(a.rows, a.cols) == min(b.rows, b.cols) == 1


LAYOUT_COPY: Rule[OpSite] = Rule(
    id="LAYOUT-COPY", kind=SAFETY, observable=True, requires=("VF-01",),
    source="PTO-ISA npu/a2a3 TMov.hpp: vec to vec copies 32-byte blocks",
    claim="a move within vec on a2a3 keeps the layout, since it copies blocks as they lie",
    sites=move_sites,
    applies=lambda s: all(map(is_vec, _ends(s))) and s.context.target.name == "a2a3" and unless_refused(
        s, _copied(s), _LAYOUTS),
    goal=_copied,
    explain=lambda s, w: (
        f"tmov copies {_ends(s)[0].name}, which is {layout_name(_ends(s)[0].type)}, into {_ends(s)[1].name}, which is "
        f"{layout_name(_ends(s)[1].type)}"),
    help=lambda s: "keep the layout, or convert on the way through global memory",
    mutant=lambda s: _ends(s)[0].type.boxed or not _ends(s)[1].type.boxed,
)

def _into_boxes(context: Context) -> Iterator[TransferSite]:
    """Loads on a2a3 that turn rows or columns into fractals. A view of less than five axes is never NZ."""
    for s in transfer_sites("pto.tload")(context) if context.target.name == "a2a3" else ():
        lines = s.window.view.layout in _BOXED or (s.window.view.layout is None and len(s.window.sizes) < 5)
        if lines and s.tile.type.loc is Space.MAT and s.tile.type.boxed:
            yield s


def _flat(s: TransferSite, outer: int) -> Cond:
    """The window has one element along all axes before the last `outer`."""
    return all_of(eq(size, 1) for size in s.window.sizes[:-outer])


LAYOUT_OUTER: Rule[TransferSite] = Rule(
    id="LAYOUT-OUTER", kind=SAFETY, observable=False, requires=("CG-05", "VF-01"),
    source="PTO-ISA tload_common.hpp (a2a3), static asserts; PTOAS#453",
    claim="a load on a2a3 that makes fractals takes a window of two dimensions: there is one of everything outside",
    unseen="the C++ of such a text does not compile (static asserts)",
    sites=_into_boxes, applies=always,
    goal=lambda s: _flat(s, 2),
    explain=lambda s, w: (
        f"tload makes fractals in {s.tile.name} from a window of {' x '.join(str(w(n)) for n in s.window.sizes)} "
        f"elements of {s.window.view.name}: all but the last two extents have to be 1"),
    help=lambda s: "give the view its unit extents first, so that rows and columns are its last two axes",
    mutant=lambda s: _flat(s, 3),
)

RULES = (LAYOUT_LOAD, LAYOUT_STORE, LAYOUT_VECTOR, LAYOUT_COPY, LAYOUT_OUTER)
