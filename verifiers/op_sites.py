"""Sites of the rules about an op's operands: pairs of extents, windows, products, and what the assembler refuses."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache
from math import prod

from pypto_verified.index import Cond, Expr, IntLike, all_of, any_of, as_expr, const
from pypto_verified.index.cond import FALSE, CondLike, as_cond
from pypto_verified.layouts import Space, TensorLayout
from pypto_verified.pto.legality import Site as AssemblerSite
from pypto_verified.pto.legality import judge
from pypto_verified.pto.legality_context import Context as AssemblerContext
from pypto_verified.pto.legality_rows import rules_of
from pypto_verified.pto.module import Module
from pypto_verified.records import dataclass
from verifiers.access import AccessProgram, Step, TileUse, Window
from verifiers.sites import Context, OpSite, Site, op_sites, op_text

ROWS, COLS = 0, 1
AXES = ("rows", "columns")


def names(text: str) -> frozenset[str]:
    """Op names from their short forms."""
    return frozenset(f"pto.{n}" for n in text.split())


PARTIAL = names("tpartadd tpartmul tpartmax tpartmin")
PART_ARGS = names("tpartargmax tpartargmin")
ROW_REDUCTION = names("trowsum trowmax trowmin trowprod trowargmax trowargmin")
COL_REDUCTION = names("tcolsum tcolmax tcolmin tcolprod tcolargmax tcolargmin")
ROW_EXPANSION = names(
    "trowexpandadd trowexpandsub trowexpandmul trowexpanddiv trowexpandmax trowexpandmin trowexpandexpdif")
COL_EXPANSION = names(
    "tcolexpandadd tcolexpandsub tcolexpandmul tcolexpanddiv tcolexpandmax tcolexpandmin tcolexpandexpdif")
QUANTISING = names("tquant tdequant")
PRODUCT = names("tmatmul tmatmul.acc tmatmul.bias tgemv tgemv.acc tgemv.bias")


BINS = 256
"""Counts that a histogram makes of one row."""


@dataclass(frozen=True, slots=True)
class ExtentSite(Site):
    """One axis on which `source` must have `want` elements and has `have`, wherever `needed` holds. `target` is the
    tile that asks for them."""

    step: Step
    source: TileUse
    target: TileUse
    axis: int
    have: Expr
    want: Expr
    needed: Cond


@dataclass(frozen=True, slots=True)
class TransferSite(Site):
    """A load or store: the window as the rows and columns that the transfer sees, and the tile at its other end."""

    step: Step
    window: Window
    tile: TileUse
    rows: Expr
    cols: Expr


@dataclass(frozen=True, slots=True)
class ProductSite(Site):
    """A matrix product: `m` x `k` of the left operand times `n` columns of the right one."""

    step: Step
    left: TileUse
    right: TileUse
    result: TileUse

    @property
    def m(self) -> Expr:
        return self.left.valid_rows

    @property
    def k(self) -> Expr:
        return self.left.valid_cols

    @property
    def n(self) -> Expr:
        return self.right.valid_cols


def valid(tile: TileUse, axis: int) -> Expr:
    return tile.valid_rows if axis == ROWS else tile.valid_cols


def in_range(*tiles: TileUse) -> Cond:
    """What VALID-LOWER and VALID-UPPER establish."""
    return all_of(
        c for t in tiles for v, size in ((t.valid_rows, t.type.rows), (t.valid_cols, t.type.cols))
        for c in (v >= 0, v <= size))


def empty(rows: Expr, cols: Expr) -> Cond:
    return any_of((rows <= 0, cols <= 0))


def destination(step: Step) -> TileUse | None:
    """The tile that a one-result op writes."""
    found = step.tiles("dst")
    return found[0] if found else None


def filter_read(step: Step) -> tuple[Expr, Expr]:
    """Rows and columns of the filter that a histogram of one byte reads: for 16-bit elements the higher byte in each
    row, for 32-bit ones a row for each higher byte."""
    byte, source = step.op.attrs.get("byte", 1), step.tiles("src")[0]
    higher = source.type.dtype.bytes - 1 - (byte if isinstance(byte, int) else 0)
    if higher <= 0:
        return const(0), const(0)
    return (source.valid_rows if source.type.dtype.bytes == 2 else const(higher)), const(1)


def sources(step: Step) -> tuple[TileUse, ...]:
    """Tiles that the op reads, in operand order; scratch is not among them."""
    return step.reads()


def move_sites(context: Context) -> Iterator[OpSite]:
    """Moves of one tile into another."""
    return (s for s in op_sites(context) if s.op.name == "pto.tmov" and s.step.tiles("src") and s.step.tiles("dst"))


def compute_sites(ops: frozenset[str]) -> Callable[[Context], Iterator[OpSite]]:
    """All sites of these ops whose destination and tile sources are resolved."""

    def found(context: Context) -> Iterator[OpSite]:
        for site in op_sites(context):
            if site.op.name in ops and destination(site.step) is not None:
                expected = sum(len(site.op.args.get(g, ())) for p in site.step.phases for g in p.reads)
                if len(sources(site.step)) == expected > 0:
                    yield site

    return found


def extent_site(
    site: OpSite, source: TileUse, target: TileUse, axis: int, want: IntLike | None = None, have: Expr | None = None
) -> ExtentSite:
    """`source` against `target` on one axis; their valid extents unless given."""
    other = valid(target, 1 - axis)
    label = f"{site.label} {source.name} {AXES[axis]}"
    return ExtentSite(
        site.context, site.op, site.path, label, site.step, source, target, axis,
        valid(source, axis) if have is None else have,
        valid(target, axis) if want is None else as_expr(want), other >= 1)


def transfer_sites(op: str) -> Callable[[Context], Iterator[TransferSite]]:
    """Loads or stores whose window is resolved and whose layout has rows and columns."""
    tile_group, window_group = ("dst", "src") if op == "pto.tload" else ("src", "dst")

    def found(context: Context) -> Iterator[TransferSite]:
        for step in context.program.steps:
            if step.op.name != op:
                continue
            for window in step.windows(window_group):
                for tile in step.tiles(tile_group):
                    shape = _matrix(window)
                    if shape is not None:
                        label = f"{op_text(step.op)} {tile.name}"
                        yield TransferSite(context, step.op, step.path, label, step, window, tile, *shape)

    return found


def _matrix(window: Window) -> tuple[Expr, Expr] | None:
    """Rows and columns of a window as a transfer sees it (PTO-ISA: extents are padded to five on the left)."""
    layout = window.view.layout or TensorLayout.ND
    sizes = (*[const(1)] * (5 - len(window.sizes)), *window.sizes)
    if len(sizes) != 5:
        return None
    if layout is TensorLayout.ND:
        return prod(sizes[:4], start=const(1)), sizes[4]
    if layout is TensorLayout.DN:
        return sizes[3], prod((*sizes[:3], sizes[4]), start=const(1))
    if layout is TensorLayout.NZ:
        return sizes[2] * sizes[3], sizes[0] * sizes[1] * sizes[4]
    return None


def product_sites(context: Context) -> Iterator[ProductSite]:
    """Every matrix product that is not scaled."""
    for step in context.program.steps:
        if step.op.name not in PRODUCT:
            continue
        left = step.tiles("lhs") or step.tiles("a")
        right = step.tiles("rhs") or step.tiles("b")
        result = step.tiles("dst")
        if left and right and result:
            yield ProductSite(context, step.op, step.path, op_text(step.op), step, left[0], right[0], result[0])


class _Assembler:
    """What the assembler says of the ops of one function."""

    def __init__(self, program: AccessProgram, target: str, level: str) -> None:
        self._func = program.func
        self._context = AssemblerContext(Module([program.func]), target, level)
        self._rules = rules_of(target, level)

    def refuses(self, site: Site, about: frozenset[str]) -> bool:
        at = AssemblerSite(site.op, self._func, self._context)
        rules = (r for r in self._rules.get(site.op.name, ()) if about & set(r.id.split("-")))
        return any(c is not None and not c.holds for c in (judge(r, at) for r in rules))


@lru_cache(maxsize=1)
def _assembler(program: AccessProgram, target: str, level: str) -> _Assembler:
    return _Assembler(program, target, level)


def unless_refused(site: Site, goal: CondLike, about: frozenset[str]) -> bool:
    """Whether a rule speaks here: not where it fails whatever happens and the assembler's own row, with one of the
    words `about` in its id, reports the same defect."""
    if as_cond(goal) is not FALSE:
        return True
    level = "level3" if site.context.level3 else "level2"
    return not _assembler(site.context.program, site.context.target.name, level).refuses(site, about)


def is_vec(tile: TileUse) -> bool:
    return tile.type.loc is Space.VEC
