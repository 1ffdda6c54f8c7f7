"""BOUND, VALID and LAYOUT, for ops that take indices from a tile, or elements by a mask pattern.

Which elements such an op touches is decided by data. Where the kernel itself computes the data from constants, it is
judged; elsewhere INDEX-DATA is assumed.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from pypto_verified.index import Cond, Expr, all_of, any_of, as_expr, const, eq
from pypto_verified.index.cond import TRUE
from pypto_verified.layouts import BLayout
from pypto_verified.pto.module import EnumAttr
from pypto_verified.records import dataclass
from verifiers.access import Step, SymbolKind, TileUse, Window
from verifiers.access.indexed import Indexed, by_row, indexed
from verifiers.covering import shape
from verifiers.index_range import BLOCK_BYTES, count, range_of
from verifiers.layout_ops import layout_name
from verifiers.op_sites import empty, is_vec, names, unless_refused
from verifiers.rule import SAFETY, Rule
from verifiers.sites import Context, OpSite, Site, TileSite, op_sites, op_text

_REPEAT_BYTES = 256
_EXTENTS = frozenset({"VALID", "FULL", "ALONG", "ACROSS", "MASK", "SHAPE"})
_LAYOUTS = frozenset({"LAYOUT", "SPACE", "PLACE"})
"""Words of the assembler's rows about extents, and about layouts and memories."""


@dataclass(frozen=True, slots=True)
class IndexSite(Site):
    """An op whose indices lie between `low` and `high`; it numbers `count` elements (rows, blocks of bytes) of `table`.
    `known`: the kernel itself makes the indices; else they are data, `low` and `high` one symbol."""

    indices: str
    table: str
    low: Expr
    high: Expr
    count: Expr
    known: bool


def _index_sites(context: Context) -> Iterator[IndexSite]:
    for site in op_sites(context):
        taking = indexed(site.step)
        if taking is None or _has_policy(site.step):
            continue
        for table in site.step.operands.get(taking.table, ()):
            number = count(site.step, table)
            (indices,) = site.step.operands[taking.indices]
            if number is not None and isinstance(indices, TileUse | Window):
                yield _index_site(site, taking, indices, table, number)


def _index_site(
    site: OpSite, taking: Indexed, indices: TileUse | Window, table: object, count: Expr
) -> IndexSite:
    name = _name(indices)
    context = site.context
    known = range_of(context, site.step, taking, indices, table) if isinstance(indices, TileUse) else None
    low, high = known or (context.program.symbols.new(f"{name}_index", SymbolKind.DATA, hidden=True),) * 2
    label = f"{site.label} {name}"
    return IndexSite(context, site.op, site.path, label, name, _name(table), low, high, count, known is not None)


def _name(operand: object) -> str:
    return operand.view.name if isinstance(operand, Window) else operand.name if isinstance(operand, TileUse) else ""


def _has_policy(step: Step) -> bool:
    """Whether the op itself says what becomes of indices that name nothing."""
    policy = step.op.attrs.get("gatherOob") or step.op.attrs.get("scatterOob")
    return isinstance(policy, EnumAttr) and policy.member != "undefined"


def _named(s: IndexSite) -> Cond:
    return any_of((s.high < s.low, all_of((s.low >= 0, s.high < s.count))))


BOUND_INDEX: Rule[IndexSite] = Rule(
    id="BOUND-INDEX", kind=SAFETY, observable=True, requires=("VF-01",), assumptions=("INDEX-DATA", "SCATTER-FLAT"),
    unneeded=lambda s: (
        *(("INDEX-DATA",) if s.known else ()), *(() if s.op.name == "pto.tscatter" else ("SCATTER-FLAT",))),
    source="PTO-ISA TGather.hpp, TGatherB.hpp, TScatter.hpp, MGather.hpp, MScatter.hpp: nothing looks at the indices",
    claim="an index that a gather or scatter takes from memory names an element of what it indexes",
    sites=_index_sites, applies=lambda s: True,
    given=lambda s: True if s.known or s.context.strict else _named(s),
    undecided=lambda s: "" if s.known or not s.context.strict else "data decides which elements are touched",
    goal=_named,
    explain=lambda s, w: (
        f"{op_text(s.op)} takes indices {w(s.low)} to {w(s.high)} from {s.indices}; {s.table} has {w(s.count)} "
        "to be named"),
    help=lambda s: f"keep the indices in {s.indices} between 0 and {s.count - 1!r}",
    mutant=lambda s: any_of((s.high < s.low, all_of((s.low >= 0, s.high <= s.count)))),
)


@dataclass(frozen=True, slots=True)
class TakenSite(Site):
    """`rows` x `cols` indices, and the tile that has an element for each. `told`: where it is known how many are
    taken."""

    step: Step
    indices: str
    rows: Expr
    cols: Expr
    places: TileUse
    told: Cond


def _taken(context: Context) -> Iterator[TakenSite]:
    for site in op_sites(context):
        taking = indexed(site.step)
        if taking is None:
            continue
        for indices in site.step.operands[taking.indices]:
            for places in site.step.tiles(taking.places) if isinstance(indices, TileUse | Window) else ():
                label = f"{site.label} {_name(indices)} for {places.name}"
                yield TakenSite(
                    context, site.op, site.path, label, site.step, _name(indices), *_extent(indices), places,
                    _whole_repeats(site, places))


def _extent(indices: object) -> tuple[Expr, Expr]:
    """Rows and columns of a tile's valid region, or of a window."""
    if isinstance(indices, TileUse):
        return indices.valid_rows, indices.valid_cols
    assert isinstance(indices, Window)
    return prod(indices.sizes[:-1], start=const(1)), indices.sizes[-1]


def _whole_repeats(site: OpSite, places: TileUse) -> Cond:
    """A gather of blocks on a2a3 takes eight offsets at a time, and the sources do not say that any are left out."""
    if site.op.name != "pto.tgatherb" or site.context.target.name != "a2a3":
        return TRUE
    luck = site.context.program.symbols.new(f"{places.name}_repeats_told", SymbolKind.OPAQUE, 0, 1)
    return any_of((eq(places.valid_cols % (_REPEAT_BYTES // places.type.dtype.bytes), 0), luck >= 1))


def _enough(s: TakenSite) -> Cond:
    """An index for each element: of the places at least, in a scatter within a tile exactly."""
    rows, cols = s.places.valid_rows, s.places.valid_cols
    have_rows, have_cols = s.rows, s.cols
    name = s.step.op.name
    if name == "pto.tscatter":
        fits = all_of((eq(have_rows, rows), eq(have_cols, cols)))
        return any_of((fits, all_of((empty(rows, cols), empty(have_rows, have_cols)))))
    if name == "pto.tgatherb":
        block = BLOCK_BYTES // s.places.type.dtype.bytes
        fits = all_of((have_rows >= rows, have_cols >= (cols + block - 1) // block))
    elif name in ("pto.mgather", "pto.mscatter") and by_row(s.step):
        fits = any_of((
            all_of((have_rows >= 1, have_cols >= rows)), all_of((have_rows >= rows, have_cols >= 1))))
    else:
        fits = all_of((have_rows >= rows, have_cols >= cols))
    return any_of((fits, empty(rows, cols)))


VALID_INDEX: Rule[TakenSite] = Rule(
    id="VALID-INDEX", kind=SAFETY, observable=True, requires=("VF-01",), assumptions=("OUT-OF-VALID",),
    source="PTO-ISA TGather.hpp, TGatherB.hpp (the result is gone through), TScatter.hpp (the indices), MGather.hpp",
    claim="a gather or scatter has a valid index for each element, block or row that it moves, a scatter no more",
    sites=_taken, applies=lambda s: unless_refused(s, _enough(s), _EXTENTS),
    undecided=lambda s: "" if s.told is TRUE else (
        f"a2a3 gathers {_REPEAT_BYTES} bytes at a time, also behind the last valid column"),
    goal=lambda s: _enough(s) & s.told,
    explain=lambda s, w: (
        f"{op_text(s.op)} takes an index for each of {shape(s.places, w)} elements of {s.places.name}; "
        f"{s.indices} has {w(s.rows)} x {w(s.cols)} valid ones"),
    help=lambda s: f"give {s.indices} and {s.places.name} matching valid shapes",
    mutant=lambda s: s.rows >= s.places.valid_rows,
)

_PATTERNS = {"P0101": (2, 0), "P1010": (2, 1), "P0001": (4, 0), "P0010": (4, 1), "P0100": (4, 2), "P1000": (4, 3),
             "P1111": (1, 0)}
"""Mask pattern -> (period, the position that it keeps)."""


@dataclass(frozen=True, slots=True)
class MaskSite(Site):
    """A gather or scatter by mask: `packed` holds the elements that the pattern keeps of `spread`. `across`: it keeps
    columns, not rows. `told`: where the sources agree on what is touched."""

    packed: TileUse
    spread: TileUse
    period: int
    position: int
    across: bool
    told: Cond


def _masks(context: Context) -> Iterator[MaskSite]:
    for site in op_sites(context):
        pattern = site.op.attrs.get("maskPattern")
        ends = (*site.step.tiles("src"), *site.step.tiles("dst"))
        if isinstance(pattern, EnumAttr) and pattern.member in _PATTERNS and len(ends) == 2:
            packed, spread = ends if site.op.name == "pto.tscatter" else ends[::-1]
            period, position = _PATTERNS[pattern.member]
            across = site.op.attrs.get("axis") != "col"
            told = TRUE
            if not across and period > 1 and site.op.name == "pto.tgather":
                told = context.program.symbols.new(f"{spread.name}_rows_told", SymbolKind.OPAQUE, 0, 1) >= 1
            yield MaskSite(
                context, site.op, site.path, f"{site.label} {spread.name}", packed, spread, period, position, across,
                told)


def _kept(s: MaskSite) -> Expr:
    """How many lines the pattern keeps."""
    lines = s.spread.valid_cols if s.across else s.spread.valid_rows
    return (lines - s.position + s.period - 1) // s.period


def _packs(s: MaskSite) -> Cond:
    """A gather puts row behind row, without the gap behind a row that is not full."""
    along, other = (s.packed.valid_cols, s.packed.valid_rows) if s.across else (
        s.packed.valid_rows, s.packed.valid_cols)
    kept, lines = _kept(s), s.spread.valid_rows if s.across else s.spread.valid_cols
    each = all_of((eq(along, kept), eq(other, lines)))
    if s.op.name == "pto.tscatter":
        widened = eq(s.spread.valid_cols if s.across else s.spread.valid_rows, along * s.period)
        return any_of((all_of((widened, eq(other, lines))), empty(s.packed.valid_rows, s.packed.valid_cols)))
    if s.across:
        full = any_of((eq(along, as_expr(s.packed.type.cols)), other <= 1))
        each = any_of((all_of((each, full)), all_of((eq(kept * lines, along * other), full))))
    return any_of((each, empty(s.spread.valid_rows, s.spread.valid_cols)))


VALID_MASK: Rule[MaskSite] = Rule(
    id="VALID-MASK", kind=SAFETY, observable=True, requires=("VF-01",),
    source="PTO-ISA TGather.hpp (what is kept is packed, row behind row), TScatter.hpp",
    claim="a gather or scatter by mask keeps as many elements as its smaller tile has",
    sites=_masks, applies=lambda s: unless_refused(s, _packs(s), _EXTENTS),
    undecided=lambda s: "" if s.told is TRUE else (
        "PTO-ISA's loop goes over as many rows as the source has, past the end of what it reads and writes"),
    goal=lambda s: _packs(s) & s.told,
    explain=lambda s, w: (
        f"the pattern keeps {w(_kept(s))} {'columns' if s.across else 'rows'} of {s.spread.name} "
        f"({shape(s.spread, w)} valid); {s.packed.name} has {shape(s.packed, w)} valid of {s.packed.type.rows} x "
        f"{s.packed.type.cols}"),
    help=lambda s: f"give {s.packed.name} as many full rows as the pattern keeps elements",
    mutant=lambda s: s.packed.valid_rows <= s.spread.valid_rows,
)

_FLAT = names("tgather tgatherb tscatter tmrgsort")


def _flat_operands(context: Context) -> Iterator[TileSite]:
    """Operands whose elements are counted in memory; only bytes are, in the source of a gather of blocks."""
    for site in op_sites(context):
        if site.op.name in _FLAT:
            blocks = site.step.tiles("src") if site.op.name == "pto.tgatherb" else ()
            for tile in dict.fromkeys((*site.step.reads(), *site.step.writes())):
                if tile not in blocks:
                    yield TileSite(context, site.op, site.path, f"{site.label} {tile.name}", tile)


def _in_order(t: TileSite) -> bool:
    return is_vec(t.tile) and not t.boxed and t.type.blayout is BLayout.ROW


LAYOUT_INDEX: Rule[TileSite] = Rule(
    id="LAYOUT-INDEX", kind=SAFETY, observable=False, requires=("VF-01",),
    source="PTO-ISA TGather.hpp, TGatherB.hpp, TScatter.hpp, TMrgSort.hpp: row r starts r * cols elements on",
    claim="operands of gathers, scatters and merges within vec are unboxed row-major tiles",
    unseen="a run takes elements by row and column, however they lie",
    sites=_flat_operands, applies=lambda t: unless_refused(t, _in_order(t), _LAYOUTS),
    goal=_in_order,
    explain=lambda t, w: f"operand {t.name} of {op_text(t.op)} is {layout_name(t.type)} in {t.space.value}",
    help=lambda t: "move it into an unboxed row-major tile in vec first",
    mutant=lambda t: is_vec(t.tile),
)

RULES = (BOUND_INDEX, VALID_INDEX, VALID_MASK, LAYOUT_INDEX)
