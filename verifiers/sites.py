"""What a rule can be about: the site classes and how they are found in an access program."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field

from pypto_verified.index import TRUE, Cond, Expr, IntLike, const
from pypto_verified.layouts import Space
from pypto_verified.pto.module import Module, Op
from pypto_verified.pto.types import TileBufType
from pypto_verified.records import dataclass
from pypto_verified.targets import Target
from verifiers.access import AccessProgram, Step, TileUse, Window
from verifiers.access.tiles import inner_box
from verifiers.options import Launch
from verifiers.solver import Ladder


@dataclass(frozen=True, slots=True)
class Context:
    """What sites are found in. `level3`: the text carries addresses; `module`: the functions around this one; `ladder`:
    for sites that only a decision finds, such as the state of a flag at the head of a loop; `outputs`: the pointer
    arguments that the author declared as written only, each with the author's name for it; `assumed`: what the user
    takes for granted; `explicit_sync`: see Options; `authored`: the text was made of a kernel that is at hand;
    `launches`: those of the function that are known."""

    program: AccessProgram
    target: Target
    level3: bool
    strict: bool = False
    module: Module | None = field(default=None, compare=False)
    ladder: Ladder = field(default_factory=Ladder)
    outputs: tuple[tuple[str, str], ...] = ()
    assumed: Cond = TRUE
    explicit_sync: bool = False
    authored: bool = False
    launches: tuple[Launch, ...] = ()


@dataclass(frozen=True, slots=True)
class Site:
    """A place a rule speaks about: `op` gives the line, `path` holds there, `label` names it in the report."""

    context: Context
    op: Op
    path: Cond
    label: str


@dataclass(frozen=True, slots=True)
class Box:
    """Rows and columns of one fractal box, in elements."""

    rows: int
    cols: int


@dataclass(frozen=True, slots=True)
class TileSite(Site):
    """A tile where it is allocated. Extents may be symbols in `proofs/`."""

    tile: TileUse

    @property
    def type(self) -> TileBufType:
        return self.tile.type

    @property
    def name(self) -> str:
        return self.tile.name

    @property
    def space(self) -> Space:
        return self.type.loc

    @property
    def boxed(self) -> bool:
        return self.type.boxed

    @property
    def rows(self) -> IntLike:
        return self.type.rows

    @property
    def cols(self) -> IntLike:
        return self.type.cols

    @property
    def fractal(self) -> int:
        return self.type.fractal

    @property
    def itemsize(self) -> int:
        return self.type.dtype.bytes

    @property
    def box(self) -> Box:
        return Box(*inner_box(self.type))

    @property
    def address(self) -> Expr | None:
        return self.tile.root.address

    @property
    def total_bytes(self) -> int:
        """Bytes of all slots of the root."""
        return self.tile.root.bytes * self.tile.root.slots


@dataclass(frozen=True, slots=True)
class ViewSite(Site):
    """A view of a tile (subview, reshape, bitcast, slot) where it is made."""

    view: TileUse
    parent: TileUse


@dataclass(frozen=True, slots=True)
class AxisSite(Site):
    """One axis of a window of a larger thing: `start` and `size` within `extent`, in elements. `what` is 'load',
    'store' or 'subview'; `name` the larger thing."""

    what: str
    name: str
    axis: int
    start: Expr
    size: Expr
    extent: Expr


@dataclass(frozen=True, slots=True)
class OpSite(Site):
    """One op that computes or moves, with its resolved operands."""

    step: Step


def op_text(op: Op) -> str:
    """The op's name as users write it."""
    return op.name.removeprefix("pto.")


def tile_sites(context: Context) -> Iterator[TileSite]:
    """Every tile that is allocated or popped."""
    for made in context.program.defined:
        if made.tile.how in ("alloc", "pop", "slot"):
            yield TileSite(context, made.tile.op, made.path, f"{op_text(made.tile.op)} {made.tile.name}", made.tile)


def view_sites(context: Context) -> Iterator[ViewSite]:
    """Every subview, reshape and bitcast."""
    for made in context.program.defined:
        parent = made.tile.parent
        if parent is not None:
            label = f"{op_text(made.tile.op)} {made.tile.name}"
            yield ViewSite(context, made.tile.op, made.path, label, made.tile, parent)


def op_sites(context: Context) -> Iterator[OpSite]:
    """Every op that touches memory and whose effects are known."""
    for step in context.program.steps:
        if step.modelled:
            yield OpSite(context, step.op, step.path, op_text(step.op), step)


def window_axes(context: Context) -> Iterator[AxisSite]:
    """Each axis of each global-memory window that an op reads or writes, windows of windows included."""
    for step in context.program.steps:
        for what, group in _window_groups(step):
            for window in step.windows(group):
                yield from _axes(context, step, what, window)


def _window_groups(step: Step) -> Iterator[tuple[str, str]]:
    for phase in step.phases:
        yield from (("read", g) for g in phase.reads)
        yield from (("write", g) for g in phase.writes)


def _axes(context: Context, step: Step, what: str, window: Window) -> Iterator[AxisSite]:
    link: Window | None = window
    while link is not None:
        for axis, (start, size, extent) in enumerate(zip(link.offsets, link.sizes, link.bounds, strict=False)):
            label = f"{op_text(step.op)} {link.view.name}[{axis}]"
            yield AxisSite(context, step.op, step.path, label, what, link.view.name, axis, start, size, extent)
        link = link.parent


def subview_axes(context: Context) -> Iterator[AxisSite]:
    """Both axes of each subview; its valid part counts, which is what ops touch: a compiler may give the window of a
    tail its full physical size."""
    for site in view_sites(context):
        if site.view.how != "subview":
            continue
        view, parent = site.view, site.parent
        for axis, (start, size, extent) in enumerate((
            (view.row, view.valid_rows, parent.type.rows), (view.col, view.valid_cols, parent.type.cols))):
            yield AxisSite(
                context, site.op, site.path, f"{site.label}[{axis}]", "subview", parent.name, axis, start, size,
                const(extent))
