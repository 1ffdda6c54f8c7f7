"""PITCH: who reads what the matrix unit wrote, or what it is given, finds the rows where they are.

The unit is told m, k and n only, so it addresses all of its operands densely; other ops take the pitch from a tile's
type, its valid extents or its compact mode, each in its own way.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from pypto_verified.index import Cond, Expr, all_of, any_of, as_expr, const, eq
from pypto_verified.index.cond import FALSE
from pypto_verified.layouts import Compact, Space
from pypto_verified.records import dataclass
from pypto_verified.targets import pitch
from pypto_verified.targets.pitch import FRACTAL_ROWS, Accumulator, Operand
from verifiers.access import Step, TileUse
from verifiers.access.overlap import same_bytes
from verifiers.op_sites import PRODUCT, ProductSite, empty, product_sites
from verifiers.reaching import Source, sources_at
from verifiers.rule import SAFETY, Rule, Witness, always
from verifiers.sites import Context, Site, TileSite, op_text

_ACCUMULATING = frozenset({"pto.tmatmul.acc", "pto.tgemv.acc"})
_COMPACT_SPACES = (Space.LEFT, Space.RIGHT, Space.ACC)


@dataclass(frozen=True, slots=True)
class PitchSite(Site):
    """A read of `tile`, whose bytes the op at `line` wrote. `written` and `read`: the two pitches; `heeded`: the latter
    if only the compact mode counted; `apart`: where a pitch does not matter. `unit`: what pitches count."""

    tile: TileUse
    writer: str
    line: int
    written: Expr
    read: Expr
    heeded: Expr
    apart: Cond
    unit: str
    why: str = ""


def _destination(context: Context, step: Step) -> tuple[Space, bool]:
    """Where an op moves an accumulator to, and whether that has fractal boxes."""
    for tile in step.tiles("dst"):
        return tile.type.loc, tile.type.boxed
    on_chip = step.op.name.startswith("pto.tpush") and context.target.on_chip_pipe and not _through_memory(context)
    return (Space.VEC, False) if on_chip else (Space.GM, False)


def _through_memory(context: Context) -> bool:
    inits = (s.op for s in context.program.steps if s.op.name == "pto.aic_initialize_pipe")
    return any("gm_slot_buffer" in op.args or "gm_slot_tensor" in op.args for op in inits)


def _reads(context: Context) -> Iterator[PitchSite]:
    """Ops that move an accumulator out of the unit, with each product that may have filled it."""
    for step in context.program.steps:
        if step.op.name in PRODUCT or not step.modelled:
            continue
        for tile, source in sources_at(context.program, step):
            if tile.type.loc is Space.ACC and source.step.op.name in PRODUCT:
                yield _read(context, step, tile, source)


def _read(context: Context, step: Step, tile: TileUse, source: Source) -> PitchSite:
    space, boxed = _destination(context, step)
    row = pitch.reader(step.op.name, space, context.target.name)
    rows = const(tile.storage[0])
    seen = Accumulator(rows, tile.valid_rows, tile.type.compact, tile.type.v_row is not None)
    read = as_expr(pitch.read_pitch(row, seen, boxed)) if row is not None else rows
    heeded = as_expr(pitch.whole_fractals(tile.valid_rows)) if tile.type.compact is Compact.NORMAL else rows
    why = "" if row is not None else f"how {op_text(step.op)} to {space.value} reads an accumulator is not known"
    site = _site(context, step, tile, source, as_expr(pitch.written_pitch(source.rows)), read, heeded)
    return _with_apart(site, source, _columns(step, tile), why)


def _columns(step: Step, tile: TileUse) -> Expr:
    """Columns from the tile's first one to the last that the op reads."""
    start = step.operands.get("indexCol", ()) if step.op.name == "pto.textract" else ()
    if start and isinstance(start[0], Expr):
        return start[0] + step.tiles("dst")[0].valid_cols
    return tile.valid_cols


def _site(
    context: Context, step: Step, tile: TileUse, source: Source, written: Expr, read: Expr, heeded: Expr
) -> PitchSite:
    line = context.program.location(source.step.op).line
    return PitchSite(
        context, step.op, step.path & source.path, f"{op_text(step.op)} {tile.name} of line {line}", tile,
        op_text(source.step.op), line, written, read, heeded, FALSE, "rows")


def _with_apart(site: PitchSite, source: Source, columns: Expr, why: str) -> PitchSite:
    """Where both begin at one element, only columns behind the first 16 depend on the pitch; else both have to keep the
    pitch of the storage."""
    strip, rows = FRACTAL_ROWS, site.tile.storage[0]
    if same_bytes(source.tile, site.tile) is FALSE and source.tile.how == "subview":
        kept = [any_of((eq(p, rows), n <= strip)) for p, n in ((site.written, source.cols), (site.read, columns))]
        apart = all_of(kept)
    else:
        apart = any_of((source.cols <= strip, columns <= strip))
    nothing = any_of((empty(source.rows, source.cols), empty(site.tile.valid_rows, columns)))
    return replace(site, apart=any_of((apart, nothing)), why=why)


def _both(s: PitchSite) -> str:
    return (f"{op_text(s.op)} {s.tile.name} has a pitch of {{}} {s.unit}; {s.writer} at line {s.line} wrote it at a "
            f"pitch of {{}} {s.unit}")


def _two_pitches(s: PitchSite, w: Witness) -> str:
    return _both(s).format(w.show(s.read), w.show(s.written))


def _remedy(s: PitchSite) -> str:
    row = pitch.reader(s.op.name, _destination_of(s), s.context.target.name)
    if row is not None and row.rule == "compact" and s.tile.type.compact is not Compact.NORMAL:
        return f"declare {s.tile.name} compact, or give the product all {s.tile.storage[0]} rows"
    return (f"make the accumulator no taller than the product (a multiple of {FRACTAL_ROWS} rows), or store it to "
            "global memory from a compact accumulator")


def _destination_of(s: PitchSite) -> Space:
    step = next(step for step in s.context.program.steps if step.op is s.op)
    return _destination(s.context, step)[0]


PITCH_READ: Rule[PitchSite] = Rule(
    id="PITCH-READ", kind=SAFETY, observable=True, requires=("CA-05", "VF-01"),
    source="PTO-ISA TMatmul.hpp, TStore.hpp, TMov.hpp, TExtract.hpp, TInsert.hpp; PITCH-EQUAL",
    claim="an accumulator is read at the pitch at which the matrix unit wrote it",
    sites=_reads, applies=always, undecided=lambda s: s.why,
    goal=lambda s: any_of((eq(s.written, s.read), s.apart)),
    explain=_two_pitches, help=_remedy,
    mutant=lambda s: any_of((eq(s.written, s.heeded), s.written <= s.read, s.apart)),
)


def _chained(context: Context) -> Iterator[PitchSite]:
    """Accumulating products, with each product that they may add to."""
    for step in context.program.steps:
        if step.op.name not in _ACCUMULATING:
            continue
        products = [p for p in product_sites(context) if p.step is step]
        for tile, source in sources_at(context.program, step):
            if tile.type.loc is Space.ACC and source.step.op.name in PRODUCT and products:
                own = as_expr(pitch.written_pitch(products[0].m))
                site = _site(context, step, tile, source, as_expr(pitch.written_pitch(source.rows)), own, own)
                yield _with_apart(site, source, products[0].n, "")


PITCH_ACC: Rule[PitchSite] = Rule(
    id="PITCH-ACC", kind=SAFETY, observable=True, requires=("CA-03", "CA-05"), source="PTO-ISA TMatmul.hpp",
    claim="a product is added to one of the same pitch",
    sites=_chained, applies=always,
    goal=lambda s: any_of((eq(s.written, s.read), s.apart)),
    explain=_two_pitches,
    help=lambda s: "give all products of one accumulator the same number of rows, rounded up to a fractal",
    mutant=lambda s: any_of((s.written <= s.read, s.apart)),
)


def _operands(context: Context) -> Iterator[PitchSite]:
    """The left and right operands of products, with each move that may have filled them. A product of one row reads it
    as it lies."""
    for product in product_sites(context):
        for tile, source in sources_at(context.program, product.step):
            vector = product.op.name.startswith("pto.tgemv") and tile is product.left
            if tile in (product.left, product.right) and not vector and source.step.op.name not in PRODUCT:
                yield _operand(context, product, tile, source)


def _operand(context: Context, product: ProductSite, tile: TileUse, source: Source) -> PitchSite:
    target, filled = context.target.name, source.tile
    rows, cols = (product.m, product.k) if tile is product.left else (product.k, product.n)
    operand = Operand(
        filled.type.loc, const(filled.storage[0]), const(filled.storage[1]), filled.valid_rows, filled.valid_cols,
        filled.type.compact, max(1, 32 // tile.type.dtype.bytes))
    written = as_expr(pitch.loaded_pitch(operand, target))
    read = as_expr(pitch.used_pitch(operand, rows, cols, target))
    line = context.program.location(source.step.op).line
    apart = any_of((pitch.one_strip(operand, rows, cols, target), empty(rows, cols)))
    unit = "columns" if pitch.lies_in_rows(operand.space, target) else "rows"
    return PitchSite(
        context, product.op, product.path & source.path, f"{op_text(product.op)} {tile.name} of line {line}", tile,
        op_text(source.step.op), line, written, read, written, apart, unit)


PITCH_OPERAND: Rule[PitchSite] = Rule(
    id="PITCH-OPERAND", kind=SAFETY, observable=True, requires=("CA-01",),
    source="PTO-ISA TMatmul.hpp, TMov.hpp, TExtract.hpp",
    claim="the matrix unit reads an operand at the pitch at which it was moved in",
    sites=_operands, applies=always, assumptions=("DENSE-OPERANDS",),
    goal=lambda s: any_of((eq(s.written, s.read), s.apart)),
    explain=_two_pitches,
    help=lambda s: f"declare {s.tile.name} compact, or make it as large as what the product takes of it",
    mutant=lambda s: any_of((s.written >= s.read, s.apart)),
)


@dataclass(frozen=True, slots=True)
class WindowSite(Site):
    """A product into a window of an accumulator of `rows` rows."""

    tile: TileUse
    written: Expr
    columns: Expr
    rows: Expr


def _windows(context: Context) -> Iterator[WindowSite]:
    for product in product_sites(context):
        tile = product.result
        if tile.how == "subview":
            yield WindowSite(
                context, product.op, product.path, f"{product.label} {tile.name}", tile,
                as_expr(pitch.written_pitch(product.m)), product.n, const(tile.storage[0]))


PITCH_WINDOW: Rule[WindowSite] = Rule(
    id="PITCH-WINDOW", kind=SAFETY, observable=True, requires=("CA-05",), source="PTO-ISA TMatmul.hpp; pto-isa#253",
    claim="a product into a window of an accumulator has the accumulator's pitch",
    sites=_windows, applies=always,
    goal=lambda s: any_of((eq(s.written, s.rows), s.columns <= FRACTAL_ROWS, s.written <= 0)),
    explain=lambda s, w: (
        f"{op_text(s.op)} writes window {s.tile.name} at a pitch of {w.show(s.written)} rows into an accumulator of "
        f"{w.show(s.rows)} rows: columns behind the first {FRACTAL_ROWS} go elsewhere"),
    help=lambda s: f"let the window span all rows, or at most {FRACTAL_ROWS} columns, or use an accumulator of its own",
    mutant=lambda s: s.written <= s.rows,
)


def _compact_tiles(context: Context) -> Iterator[TileSite]:
    for made in context.program.defined:
        if made.tile.type.compact is Compact.NORMAL:
            label = f"{op_text(made.tile.op)} {made.tile.name}"
            yield TileSite(context, made.tile.op, made.path, label, made.tile)


PITCH_COMPACT: Rule[TileSite] = Rule(
    id="PITCH-COMPACT", kind=SAFETY, observable=False, requires=("CA-04",),
    source="PTO-ISA TileLeftCompact, TileRightCompact, TileAccCompact",
    claim="only tiles of the matrix unit are compact",
    unseen="the mode has no meaning there that a run could miss",
    sites=_compact_tiles, applies=always,
    goal=lambda t: t.space in _COMPACT_SPACES,
    explain=lambda t, w: f"tile {t.name} in {t.space.value} is compact: no op there takes the pitch from valid extents",
    help=lambda t: "drop compact from the tile's type",
    mutant=lambda t: t.space in (*_COMPACT_SPACES, Space.MAT),
)

RULES = (PITCH_READ, PITCH_ACC, PITCH_OPERAND, PITCH_WINDOW, PITCH_COMPACT)
