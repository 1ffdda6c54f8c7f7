"""WRITE: outputs are written. The text does not say which tensors are outputs: one that is only stored to is taken as
one; a tensor that is also read may be written in part.

A store of a fixed window is one block of its caller's grid (assumption BLOCK-OF-GRID); a loop whose trips are computed
from the tensor's own extent has to reach that extent.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from pypto_verified.index import Cond, Expr, all_of, any_of, const, substitute, symbols_of
from pypto_verified.index.cond import FALSE, TRUE
from pypto_verified.pto.module import EnumAttr, Op
from verifiers.access import Loop, Step, SymbolKind, Window
from verifiers.bound import unclamped
from verifiers.rule import SAFETY, Rule, always
from verifiers.sites import Context, Site, op_text


@dataclass(frozen=True, slots=True)
class FunctionSite(Site):
    """A function that works on tiles; `leaving`: ops that hand results out of the core."""

    name: str
    leaving: int


def _functions(context: Context) -> Iterator[FunctionSite]:
    program = context.program
    working = [s for s in program.steps if s.reads() or s.writes()]
    if not working or program.func.result_types:
        return
    leaving = sum(1 for s in program.steps if s.path is not FALSE and _leaves(s))
    yield FunctionSite(
        context, Op("func.func", loc=program.func.loc, line=program.func.line), TRUE, program.func.name,
        program.func.name, leaving)


def _leaves(step: Step) -> bool:
    """Stores, pushes to another core, and whatever is not modelled: it may do either."""
    return not step.modelled or bool(_stored(step)) or step.op.name.startswith(("pto.tpush", "pto.store"))


def _stored(step: Step) -> tuple[Window, ...]:
    return tuple(w for p in step.phases for g in p.writes for w in step.windows(g))


def _loaded(step: Step) -> tuple[Window, ...]:
    """Windows whose old contents matter; a store that adds to them is among those."""
    adds = step.op.attrs.get("atomicType")
    loaded = tuple(w for p in step.phases for g in p.reads for w in step.windows(g))
    return (*loaded, *_stored(step)) if isinstance(adds, EnumAttr) and adds.member != "atomic_none" else loaded


WRITE_ANY: Rule[FunctionSite] = Rule(
    id="WRITE-ANY", kind=SAFETY, observable=True, requires=("VF-01",), source="PyPTO FAQ: an Out is only written by a "
    "store",
    claim="a function that computes hands something out: a store, or a push to another core",
    sites=_functions, applies=always,
    goal=lambda s: s.leaving > 0,
    explain=lambda s, w: f"function {s.name} computes on tiles but stores nothing: its outputs are never written",
    help=lambda s: "store the result: pl.store(tile, offsets, out)",
    mutant=lambda s: s.leaving >= 0,
)


@dataclass(frozen=True, slots=True)
class OutputSite(Site):
    """A tensor that the author declared as an output; `stores`: reachable ops that write to it, or may."""

    name: str
    stores: int


def _outputs(context: Context) -> Iterator[OutputSite]:
    program = context.program
    if any(s.op.name.startswith("pto.tpush") for s in program.steps):
        return  # the core at the other end of the pipe may be the one that stores
    place = Op("func.func", loc=program.func.loc, line=program.func.line)
    for argument, name in context.outputs:
        stores = sum(
            1 for s in program.steps if s.path is not FALSE
            and (not s.modelled or s.op.name.startswith("pto.store") or argument in {w.view.base for w in _stored(s)}))
        yield OutputSite(context, place, TRUE, name, name, stores)


WRITE_OUT: Rule[OutputSite] = Rule(
    id="WRITE-OUT", kind=SAFETY, observable=True, requires=("VF-01",),
    source="PyPTO: an Out is only written by a store; a plain assignment rebinds the name",
    claim="every tensor that is declared pl.Out is stored to",
    sites=_outputs, applies=always,
    goal=lambda s: s.stores > 0,
    explain=lambda s, w: f"{s.name} is declared pl.Out, but nothing is stored to it: it keeps what it held before",
    help=lambda s: f"store to it: {s.name} = pl.store(tile, offsets, {s.name}), or drop the parameter",
    mutant=lambda s: s.stores >= 0,
)


@dataclass(frozen=True, slots=True)
class GridSite(Site):
    """One axis of the only store to a tensor: the loop that walks it, what its last iteration reaches, the extent."""

    tensor: str
    axis: int
    ran: Cond
    reached: Expr
    extent: Expr


def _grids(context: Context) -> Iterator[GridSite]:
    program = context.program
    stores = [(s, w) for s in program.steps for w in _stored(s)]
    count = Counter(w.view.base for _, w in stores)
    opaque = any(not s.modelled for s in program.steps)
    read = {w.view.base for s in program.steps for w in _loaded(s)}
    for step, window in stores:
        if count[window.view.base] > 1 or window.view.base in read or opaque or not _unguarded(step):
            continue
        for axis, extent in enumerate(window.bounds):
            loop = _walker(context, step, window, axis) if window.parent is None else None
            if loop is not None:
                yield _grid(context, step, window, axis, loop, extent)


def _unguarded(step: Step) -> bool:
    """Whether the op runs in every iteration of the loops around it."""
    return bool(step.loops) and step.path is step.loops[-1].inside


def _walker(context: Context, step: Step, window: Window, axis: int) -> Loop | None:
    """The loop that moves the window along the axis, if it is the only thing that does, starts at the beginning, and
    takes its number of trips from the extent."""
    start, extent = unclamped(window.offsets[axis]), window.bounds[axis]
    moving = [x for x in step.loops if x.var is not None and set(symbols_of(start)) & set(symbols_of(x.var))]
    if len(moving) != 1:
        return None
    loop = moving[0]
    if loop.var is None or loop.lower is None or loop.upper is None or loop.step is None:
        return None
    name = _own_name(loop)
    dims = {n for n in symbols_of(extent) if context.program.symbols.kinds.get(n) is SymbolKind.DIM}
    if not name or set(symbols_of(start)) != {name} or not dims & set(symbols_of(loop.upper)):
        return None
    begins = substitute(start, {name: _first(loop)})
    return loop if begins.value == 0 and loop.step.value is not None and loop.step.value > 0 else None


def _own_name(loop: Loop) -> str:
    """The symbol that runs: the induction value at step 1, else the counter."""
    for term in (loop.var, loop.counter):
        if term is not None:
            name = next(iter(symbols_of(term)), "")
            if repr(term) == name:
                return name
    return ""


def _first(loop: Loop) -> Expr:
    assert loop.lower is not None
    return loop.lower if loop.var is not None and repr(loop.var) == _own_name(loop) else const(0)


def _grid(context: Context, step: Step, window: Window, axis: int, loop: Loop, extent: Expr) -> GridSite:
    assert loop.lower is not None and loop.upper is not None and loop.step is not None
    trips = (loop.upper - loop.lower + loop.step - 1) // loop.step
    last = {_own_name(loop): _first(loop) + trips - 1}
    reached = substitute(unclamped(window.offsets[axis]) + window.sizes[axis], last)
    label = f"{op_text(step.op)} {window.view.name}[{axis}]"
    return GridSite(
        context, step.op, step.loops[0].path, label, window.view.name, axis, loop.upper > loop.lower, reached, extent)


def _covered(s: GridSite) -> Cond:
    return any_of((s.extent <= 0, all_of((s.ran, s.reached >= s.extent))))


WRITE_REST: Rule[GridSite] = Rule(
    id="WRITE-REST", kind=SAFETY, observable=True, requires=("VF-01",), assumptions=("BLOCK-OF-GRID",),
    source="PyPTO: an Out is written wholly",
    claim="a loop that walks an output by its own extent leaves no rest",
    sites=_grids, applies=always,
    goal=_covered,
    explain=lambda s, w: (
        f"axis {s.axis} of {s.tensor} has {w.show(s.extent)}, the loop writes up to {max(w(s.reached), 0)} of it: the "
        "rest is never written"),
    help=lambda s: "run one more iteration with a window narrowed to what is left, or make the extent a whole number "
                   "of windows",
    mutant=lambda s: any_of((~s.ran, s.reached + 31 >= s.extent)),
)

RULES = (WRITE_ANY, WRITE_OUT, WRITE_REST)
