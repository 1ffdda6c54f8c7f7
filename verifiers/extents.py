"""VALID, for ops whose operands differ in shape: reductions, expansions, cuts, padding, selections, reshapes.

An op goes over the valid region of its destination and reads its sources where that sends it, whatever their own valid
extents say: a source that covers less gives lanes without a defined value (assumption OUT-OF-VALID).

A rule about what a result declares is not observable: a run shows it only if somebody reads what was not computed.
"""

from __future__ import annotations

from collections.abc import Iterator

from pypto_verified.index import Cond, Expr, all_of, any_of, const, eq, implies
from pypto_verified.index.cond import CondLike
from pypto_verified.layouts import BLayout, Space
from verifiers.access import TileUse
from verifiers.op_sites import (
    AXES,
    COL_EXPANSION,
    COL_REDUCTION,
    COLS,
    PART_ARGS,
    PARTIAL,
    QUANTISING,
    ROW_EXPANSION,
    ROW_REDUCTION,
    ROWS,
    ExtentSite,
    ProductSite,
    TransferSite,
    compute_sites,
    destination,
    empty,
    extent_site,
    in_range,
    is_vec,
    product_sites,
    sources,
    transfer_sites,
    unless_refused,
    valid,
)
from verifiers.rule import SAFETY, Rule, Witness
from verifiers.sites import Context, OpSite, ViewSite, op_sites, view_sites

_EXTENTS = frozenset({"VALID", "ROWS", "COLS", "ROW", "COL", "COUNT", "SHAPE", "SIZE", "RANGE", "EMPTY"})
"""Words of the assembler's rows about extents."""


def _shape(tile: TileUse, w: Witness) -> str:
    return f"{w(tile.valid_rows)} x {w(tile.valid_cols)}"


def _elementwise(context: Context) -> Iterator[ExtentSite]:
    for site in op_sites(context):
        target = destination(site.step)
        if target is None:
            continue
        for source in _read_in_place(site, target):
            for axis in (ROWS, COLS):
                yield extent_site(site, source, target, axis)


def _read_in_place(site: OpSite, target: TileUse) -> tuple[TileUse, ...]:
    """The sources whose element (r, c) goes into the destination's (r, c)."""
    name, step = site.op.name, site.step
    if name in ("pto.tsel", "pto.tsels"):
        return (*step.tiles("src0"), *step.tiles("src1"), *step.tiles("src"))
    if name in QUANTISING:
        return step.tiles("src")
    if name == "pto.tmov":
        return tuple(t for t in step.tiles("src") if is_vec(t) and is_vec(target) and _one_layout(t, target))
    return step.tiles("src0") if name in COL_EXPANSION else ()


def _one_layout(a: TileUse, b: TileUse) -> bool:
    """A move between layouts may also change which element stands where."""
    return (a.type.blayout, a.type.slayout) == (b.type.blayout, b.type.slayout)


def _covers(s: ExtentSite) -> CondLike:
    return implies(s.needed, s.want <= s.have)


def _short(s: ExtentSite, w: Witness) -> str:
    return (
        f"{s.target.name} asks for {w(s.want)} valid {AXES[s.axis]}, {s.source.name} has {w.show(s.have)}")


def _short_help(s: ExtentSite) -> str:
    return f"narrow {s.target.name} to {s.have!r} valid {AXES[s.axis]}, or fill {s.source.name} first (fillpad)"


VALID_COVER: Rule[ExtentSite] = Rule(
    id="VALID-COVER", kind=SAFETY, observable=True, requires=("VF-01",), assumptions=("OUT-OF-VALID",),
    source="PTO-ISA TSel.hpp, TMov.hpp, TColExpandBinOp.hpp; pypto#1370",
    claim="what is selected, quantised, moved within vec or combined with a row covers the destination's valid region",
    sites=_elementwise,
    applies=lambda s: unless_refused(s, _covers(s), _EXTENTS),
    given=lambda s: in_range(s.source, s.target), goal=_covers, explain=_short, help=_short_help,
    mutant=lambda s: implies(s.needed, s.want <= s.have + 16),
)


def _blocks(context: Context) -> Iterator[TransferSite]:
    """Transfers of five-dimensional windows; VALID-WINDOW judges those of lower rank."""
    for op in ("pto.tload", "pto.tstore"):
        yield from (s for s in transfer_sites(op)(context) if len(s.window.sizes) == 5)


def _matches(s: TransferSite) -> Cond:
    rows, cols = s.tile.valid_rows, s.tile.valid_cols
    same = all_of((eq(s.rows, rows), eq(s.cols, cols)))
    return any_of((same, all_of((empty(s.rows, s.cols), empty(rows, cols)))))


VALID_BLOCKS: Rule[TransferSite] = Rule(
    id="VALID-BLOCKS", kind=SAFETY, observable=True, requires=("VF-01",),
    source="PTO-ISA TLoad.hpp, TStore.hpp (asserted only in debug builds): which dims make rows and columns",
    claim="a five-dimensional window has the rows and columns of the tile's valid region",
    sites=_blocks, applies=lambda s: unless_refused(s, _matches(s), _EXTENTS),
    goal=_matches,
    explain=lambda s, w: (
        f"the window of {s.window.view.name} makes {w(s.rows)} rows and {w(s.cols)} columns, the valid region of "
        f"{s.tile.name} is {_shape(s.tile, w)}"),
    help=lambda s: f"use a window of {s.tile.valid_rows!r} x {s.tile.valid_cols!r} elements",
    mutant=lambda s: all_of((s.rows <= s.tile.type.rows, s.cols <= s.tile.type.cols)),
)


def _small(s: ProductSite, limit: int) -> Cond:
    return all_of(e <= limit for e in (s.m, s.k, s.n))


VALID_MATMUL_SIZE: Rule[ProductSite] = Rule(
    id="VALID-MATMUL-SIZE", kind=SAFETY, observable=False, requires=("VF-01",),
    unseen="operands of that size do not fit the buffers of the matrix unit",
    source="PTO-ISA TMatmul.hpp, PTOAS (static extents only)",
    claim="m, k and n of one product are at most 4095",
    sites=product_sites, given=lambda s: in_range(s.left, s.right),
    applies=lambda s: unless_refused(s, _small(s, s.context.target.matmul_extent_max), _EXTENTS),
    goal=lambda s: _small(s, s.context.target.matmul_extent_max),
    explain=lambda s, w: f"m, k, n are {w(s.m)}, {w(s.k)}, {w(s.n)}; the device counts to "
                         f"{s.context.target.matmul_extent_max}",
    help=lambda s: "split the product",
    mutant=lambda s: _small(s, s.context.target.matmul_extent_max + 1),
)


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
    sites=compute_sites(ROW_REDUCTION | COL_REDUCTION), applies=lambda s: unless_refused(s, _reduces(s), _EXTENTS),
    goal=_reduces,
    explain=lambda s, w: (
        f"{_tiles(s)[0].name} is {_shape(_tiles(s)[0], w)}, its reduction {_tiles(s)[1].name} is declared "
        f"{_shape(_tiles(s)[1], w)}"),
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
    sites=compute_sites(ROW_REDUCTION | COL_REDUCTION), applies=lambda s: unless_refused(s, _something(s), _EXTENTS),
    goal=_something,
    explain=lambda s, w: (
        f"{_tiles(s)[0].name} is {_shape(_tiles(s)[0], w)}: the result would be made of nothing"),
    help=lambda s: f"skip the op when {valid(_tiles(s)[0], 1 - _kept_axis(s))!r} is 0",
    mutant=lambda s: valid(_tiles(s)[0], 1 - _kept_axis(s)) >= 0,
)


def _per_row(vector: TileUse, target: TileUse) -> Cond:
    """Whether a tile gives each row of `target` one value: a column, or one 32-byte block of copies."""
    block = 32 // vector.type.dtype.bytes
    width = 1 if vector.type.blayout is BLayout.COL else block
    return all_of((vector.valid_rows >= target.valid_rows, vector.valid_cols >= width))


def _full(tile: TileUse, target: TileUse) -> Cond:
    return all_of((tile.valid_rows >= target.valid_rows, tile.valid_cols >= target.valid_cols))


def _expands(s: OpSite) -> Cond:
    target = destination(s.step)
    assert target is not None
    given = sources(s.step)
    name = s.op.name
    if name in ROW_EXPANSION:
        a, b = given[0], given[1]
        holds = any_of(
            all_of((_full(whole, target), _per_row(vector, target))) for whole, vector in ((a, b), (b, a)))
    elif name == "pto.trowexpand":
        holds = all_of((given[0].valid_rows >= target.valid_rows, given[0].valid_cols >= 1))
    else:
        vector = given[-1]
        holds = all_of((vector.valid_rows >= 1, vector.valid_cols >= target.valid_cols))
    return any_of((holds, empty(target.valid_rows, target.valid_cols)))


def _shapes(s: OpSite, w: Witness) -> str:
    target = destination(s.step)
    assert target is not None
    given = ", ".join(f"{t.name} {_shape(t, w)}" for t in sources(s.step))
    return f"the sources are {given}; the destination {target.name} is {_shape(target, w)}"


VALID_EXPAND: Rule[OpSite] = Rule(
    id="VALID-EXPAND", kind=SAFETY, observable=True, requires=("VF-01",), assumptions=("OUT-OF-VALID",),
    source="PTO-ISA TRowExpand.hpp, TColExpand.hpp and their binary forms",
    claim="what is expanded has one valid value for each row (or column) of the destination",
    sites=compute_sites(ROW_EXPANSION | COL_EXPANSION | {"pto.trowexpand", "pto.tcolexpand"}),
    applies=lambda s: unless_refused(s, _expands(s), _EXTENTS),
    goal=_expands, explain=_shapes,
    help=lambda s: "the vector needs the destination's extent along the axis it does not expand",
    mutant=lambda s: len(sources(s.step)) > 0,
)


def _pads(context: Context) -> Iterator[ExtentSite]:
    for site in op_sites(context):
        target = destination(site.step)
        if target is None or not site.op.name.startswith("pto.tfillpad"):
            continue
        for source in site.step.tiles("src"):
            for axis in (ROWS, COLS):
                yield extent_site(site, target, source, axis)


def _in_l1(s: ExtentSite) -> bool:
    return s.source.type.loc is Space.MAT


def _pad_covers(s: ExtentSite) -> CondLike:
    """In L1 nothing is filled within the destination's valid region, so that has to be what the source holds."""
    return all_of((_covers(s), implies(s.needed, s.have <= s.want))) if _in_l1(s) else _covers(s)


VALID_PAD: Rule[ExtentSite] = Rule(
    id="VALID-PAD", kind=SAFETY, observable=True, requires=("VF-01",), assumptions=("FILLPAD-ROWS",),
    unneeded=lambda s: ("FILLPAD-ROWS",) if _in_l1(s) else (),
    source="PTO-ISA TFillPad.hpp",
    claim="the valid region that a fillpad leaves covers that of its source, and in L1 is the same",
    sites=_pads, applies=lambda s: unless_refused(s, _pad_covers(s), _EXTENTS),
    given=lambda s: in_range(s.source, s.target), goal=_pad_covers,
    explain=lambda s, w: f"the source {s.target.name} has {w(s.want)} valid {AXES[s.axis]}, the result "
                         f"{s.source.name} {w.show(s.have)}"
                         f"{', and in L1 a fill leaves what it calls valid as it is' if _in_l1(s) else ''}",
    help=lambda s: f"declare {'' if _in_l1(s) else 'at least '}{s.want!r} valid {AXES[s.axis]} for {s.source.name}",
    mutant=lambda s: implies(s.needed, s.have >= 1),
)


def _cuts(context: Context) -> Iterator[ExtentSite]:
    """What an extract reads of its source, what an insert writes of its destination; both axes."""
    for site in op_sites(context):
        target = destination(site.step)
        if target is None or site.op.name not in ("pto.textract", "pto.tinsert"):
            continue
        for source in site.step.tiles("src"):
            for axis, group in ((ROWS, "indexRow"), (COLS, "indexCol")):
                start = site.step.operands[group][0]
                if isinstance(start, Expr):
                    yield _cut(site, source, target, axis, start)


def _cut(site: OpSite, source: TileUse, target: TileUse, axis: int, start: Expr) -> ExtentSite:
    if site.op.name == "pto.textract":
        return extent_site(site, source, target, axis, want=start + valid(target, axis))
    physical = target.type.rows if axis == ROWS else target.type.cols
    return extent_site(site, target, source, axis, want=start + valid(source, axis), have=const(physical))


def _inside(s: ExtentSite) -> Cond:
    return implies(s.needed, all_of((s.want >= valid(s.target, s.axis), s.want <= s.have)))


VALID_CUT: Rule[ExtentSite] = Rule(
    id="VALID-CUT", kind=SAFETY, observable=True, requires=("VF-01",), assumptions=("OUT-OF-VALID",),
    source="PTO-ISA TExtract.hpp, TInsert.hpp; PTOAS checks constants against physical extents",
    claim="an extract takes valid elements; an insert puts its source's valid elements inside the destination",
    sites=_cuts, applies=lambda s: unless_refused(s, _inside(s), _EXTENTS),
    given=lambda s: in_range(s.source, s.target), goal=_inside,
    explain=lambda s, w: (
        f"{AXES[s.axis]} {w(s.want - valid(s.target, s.axis))} to {w(s.want) - 1} of {s.source.name} are touched, it "
        f"has {w.show(s.have)}"),
    help=lambda s: f"keep the index between 0 and {s.have - valid(s.target, s.axis)!r}",
    mutant=lambda s: implies(s.needed, s.want <= s.have + 32),
)


def _partial(s: OpSite) -> Cond:
    target = destination(s.step)
    assert target is not None
    values = (*s.step.tiles("src0"), *s.step.tiles("src1"))
    return any_of((*(_full(t, target) for t in values), empty(target.valid_rows, target.valid_cols)))


VALID_PART: Rule[OpSite] = Rule(
    id="VALID-PART", kind=SAFETY, observable=True, requires=("VF-01",),
    source="PTO-ISA TPartBinOps.hpp: one source covers the destination",
    claim="one source of a partial op covers the destination",
    sites=compute_sites(PARTIAL | PART_ARGS), applies=lambda s: unless_refused(s, _partial(s), _EXTENTS),
    goal=_partial, explain=_shapes,
    help=lambda s: "narrow the destination to the larger source",
    mutant=lambda s: len(sources(s.step)) > 0,
)


def _couples(context: Context) -> Iterator[ExtentSite]:
    """Values and their indices, of each source and of the result."""
    for site in op_sites(context):
        if site.op.name not in PART_ARGS:
            continue
        for group in ("src0", "src1", "dst"):
            for values in site.step.tiles(group):
                for numbers in site.step.tiles(f"{group}Idx"):
                    for axis in (ROWS, COLS):
                        yield extent_site(site, numbers, values, axis)


def _together(s: ExtentSite) -> Cond:
    return any_of((eq(s.have, s.want), empty(s.target.valid_rows, s.target.valid_cols)))


VALID_COUPLE: Rule[ExtentSite] = Rule(
    id="VALID-COUPLE", kind=SAFETY, observable=False, requires=("VF-01",),
    unseen="a run goes over what the values declare",
    source="PTO-ISA npu/a2a3 TPartArgOp.hpp (else nothing is computed), npu/a5 TPartArgBinOps.hpp",
    claim="values and their indices in a partial op have one valid shape",
    sites=_couples, applies=lambda s: unless_refused(s, _together(s), _EXTENTS),
    goal=_together, explain=_short,
    help=lambda s: f"give {s.source.name} the valid shape of {s.target.name}",
    mutant=lambda s: any_of((_together(s), s.axis == ROWS)),
)


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
        f"tile {s.parent.name} has {_shape(s.parent, w)} valid elements of {s.parent.type.rows} x "
        f"{s.parent.type.cols}; its {s.view.how} {s.view.name} declares {_shape(s.view, w)} of {s.view.type.rows} x "
        f"{s.view.type.cols}"),
    help=lambda s: "reshape a full tile (fillpad it first), or keep the valid prefix",
    mutant=lambda s: all_of((s.view.valid_rows <= s.view.type.rows, s.view.valid_cols <= s.view.type.cols)),
)

RULES = (
    VALID_BLOCKS, VALID_COVER, VALID_MATMUL_SIZE, VALID_REDUCE, VALID_REDUCE_EMPTY, VALID_EXPAND, VALID_PAD, VALID_CUT,
    VALID_PART, VALID_COUPLE, VALID_RESHAPE,
)
