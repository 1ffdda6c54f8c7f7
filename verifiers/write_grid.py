"""WRITE-REST and WRITE-GAP: what walks an output by the output's own extent reaches all of it, without gaps.

A walk is the only loop that moves a store along an axis: a plain one, one in which the blocks of a launch take turns
(`for i in range(block_idx, n, block_num)`: together they take every i below n once), or the index of the block itself
where the tensor is divided by the number of blocks; a loop over such a share is a walk of the blocks, and one within
the share. How many blocks a caller launches for windows of a fixed size is the caller's business.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from pypto_verified.index import (
    Cond,
    Expr,
    all_of,
    any_of,
    const,
    implies,
    maximum,
    minimum,
    substitute,
    symbol,
    symbols_of,
)
from pypto_verified.index.cond import TRUE
from pypto_verified.records import dataclass
from verifiers.access import BLOCK, BLOCKS, Loop, Step, SymbolKind, Window
from verifiers.access.scalars import ceiling
from verifiers.bound import unclamped
from verifiers.global_memory import loaded, stored
from verifiers.rule import SAFETY, Rule, always
from verifiers.sites import Context, Site, op_text

BY_INDEX = frozenset({"pto.mscatter"})
"""Ops that write of a window what indices say."""
CALLERS_PLACE = "a window whose place a caller decides is not followed"


@dataclass(frozen=True, slots=True)
class Walk:
    """Windows along an axis: the one numbered `turn`, from 0 up to below `count`, has `size` elements from `start`.
    `path` holds before the first, `name` is the symbol of the turn."""

    name: str
    count: Expr
    start: Expr
    size: Expr
    path: Cond

    def at(self, turn: Expr) -> tuple[Expr, Expr]:
        """(start, end) of a window."""
        start, size = (substitute(e, {self.name: turn}) for e in (self.start, self.size))
        return start, start + size


@dataclass(frozen=True, slots=True)
class GridSite(Site):
    """One axis of the only store to a tensor: `reached` by the last window of its walk, if one `ran`; `gap` is the end
    of some window that is not the last, `next` the start of the one after it, `first` the start of the first. `untold`:
    why it is not known what other iterations write."""

    tensor: str
    axis: int
    ran: Cond
    reached: Expr
    extent: Expr
    later: Cond
    gap: Expr
    next: Expr
    first: Expr
    untold: str = ""


def stores_by_tensor(context: Context) -> Iterator[list[tuple[Step, Window]]]:
    """All stores of whole windows to each tensor that is never read, or declared as written only, and not written by
    what is not modelled."""
    steps = context.program.steps
    stores = [(s, placed(w)) for s in steps for w in stored(s)]
    read = {w.view.base for s in steps for w in loaded(s)} - {argument for argument, _ in context.outputs}
    read |= {w.view.base for s, w in stores if s.op.name in BY_INDEX}
    if all(s.modelled for s in steps):
        for base in dict.fromkeys(w.view.base for _, w in stores if w.view.base not in read):
            yield [(s, w) for s, w in stores if w.view.base == base]


def placed(window: Window) -> Window:
    """A window of a window as one of the tensor, where both have as many axes."""
    while (outer := window.parent) is not None and len(outer.offsets) == len(window.offsets):
        offsets = zip(outer.offsets, window.offsets, strict=True)
        window = replace(
            window, offsets=tuple(unclamped(a) + unclamped(b) for a, b in offsets), bounds=outer.bounds,
            parent=outer.parent)
    return window


def lone_stores(context: Context) -> Iterator[tuple[Step, Window]]:
    """Each store that is the only one to its tensor."""
    for stores in stores_by_tensor(context):
        yield from stores if len(stores) == 1 and not stores[0][1].parent else ()


def _grids(context: Context) -> Iterator[GridSite]:
    for step, window in lone_stores(context):
        for axis, extent in enumerate(window.bounds):
            if on_diagonal(step, window, axis):
                continue
            walk = _walk(context, step, window, axis)
            if walk is not None:
                yield grid(context, step, window, axis, walk, extent)
                continue
            for part, end in _share(context, step, window, axis) or ():
                yield grid(context, step, window, axis, part, end)


def walked(context: Context, step: Step, window: Window, axis: int) -> bool:
    """Whether WRITE-REST and WRITE-GAP judge the axis."""
    if on_diagonal(step, window, axis):
        return False
    return _walk(context, step, window, axis) is not None or _share(context, step, window, axis) is not None


def on_diagonal(step: Step, window: Window, axis: int) -> bool:
    """Whether a loop that moves the window along this axis moves it along another too, both by equal steps."""
    places = [unclamped(o) for o in window.offsets]
    return any(
        _steadily(loop, places[axis]) and any(_steadily(loop, p) for a, p in enumerate(places) if a != axis)
        for loop in moving_loops(step, places[axis]))


def _steadily(loop: Loop, start: Expr) -> bool:
    """Whether each iteration moves the window as far as the one before."""
    for name in _runs(loop) & set(symbols_of(start)):
        pace = substitute(start, {name: symbol(name, 0) + 1}) - substitute(start, {name: symbol(name, 0)})
        return name not in symbols_of(pace) and pace.value != 0
    return False


def _walk(context: Context, step: Step, window: Window, axis: int) -> Walk | None:
    """What moves the window along the axis from its beginning, if it takes its number of turns from the extent."""
    found = mover(context, step, window, axis)
    return found if found is not None and found.at(const(0))[0].value == 0 else None


def moving_loops(step: Step, start: Expr) -> list[Loop]:
    """The loops around a step that move its window from one iteration to the next."""
    return [x for x in step.loops if x.var is not None and _runs(x) & set(symbols_of(start))]


def mover(context: Context, step: Step, window: Window, axis: int) -> Walk | None:
    """What moves the window along the axis, if it takes its number of turns from the extent. Theorem GRID-TURNS."""
    start, size, extent = unclamped(window.offsets[axis]), window.sizes[axis], window.bounds[axis]
    kinds = context.program.symbols.kinds
    dims = {n for n in symbols_of(extent) if kinds.get(n) is SymbolKind.DIM}
    moving = moving_loops(step, start)
    if len(moving) == 1 and step.path is outside(step):
        made = plain_walk(moving[0], start, size) or _in_turns(moving[0], start, size)
        upper = moving[0].upper
        return made if made is not None and upper is not None and dims & set(symbols_of(upper)) else None
    names = set(symbols_of(start))
    if not moving and {BLOCK, BLOCKS} <= names and names <= {BLOCK, BLOCKS} | dims and step.path is outside(step):
        return Walk(BLOCK, symbol(BLOCKS, 1), start, size, TRUE)
    return None


def _share(
    context: Context, step: Step, window: Window, axis: int
) -> tuple[tuple[Walk, Expr], tuple[Walk, Expr]] | None:
    """What moves the window along the axis where a loop goes over a part of its own for each block: the blocks from
    part to part up to the extent, and the loop up to the end of its part, or of the tensor."""
    start, size, extent = unclamped(window.offsets[axis]), window.sizes[axis], window.bounds[axis]
    kinds = context.program.symbols.kinds
    dims = {n for n in symbols_of(extent) if kinds.get(n) is SymbolKind.DIM}
    (loop, *others) = moving_loops(step, start) or (None,)
    if loop is None or others or step.path is not outside(step) or loop.lower is None or loop.upper is None:
        return None
    placed = {n for e in (loop.lower, loop.upper, start) for n in symbols_of(e)} - _runs(loop)
    stride = None if loop.step is None else loop.step.value
    turn = next((t for t in (loop.var, loop.counter) if t is not None and set(symbols_of(t)) == {repr(t)}), None)
    if not {BLOCK, BLOCKS} <= placed <= {BLOCK, BLOCKS} | dims or stride is None or stride <= 0 or turn is None:
        return None
    number = symbol(f"{turn!r} turn", 0)
    at = {repr(turn): (loop.lower if turn is loop.var else const(0)) + number}
    inner = Walk(
        repr(number), ceiling(loop.upper - loop.lower, stride), substitute(start, at), substitute(size, at), loop.path)
    first, pace = inner.at(const(0))[0], (inner.at(const(1))[0] - inner.at(const(0))[0]).value
    if pace is None or pace % stride or not set(symbols_of(first)) <= {BLOCK, BLOCKS} | dims:
        return None
    share = (loop.upper - loop.lower) * (pace // stride)
    parts = Walk(BLOCK, symbol(BLOCKS, 1), first, _filled(context, inner, first, share), loop.path)
    return (parts, extent), (inner, minimum(first + share, extent))


def _filled(context: Context, inner: Walk, first: Expr, share: Expr) -> Expr:
    """How much a block writes from the first element of its part on: of a part that has any, the last window may go
    past the end."""
    last = inner.at(inner.count - 1)[1] - first
    most = inner.size.hi
    known = all_of((context.program.symbols.facts, context.assumed, inner.path))
    if most is None or most < 1 or context.ladder.entails(known, last <= share):
        return share
    return maximum(share, minimum(last, share * most))


def outside(step: Step) -> Cond:
    return step.loops[-1].inside if step.loops else TRUE


def _runs(loop: Loop) -> set[str]:
    """The symbols that differ from one iteration to the next."""
    fixed = set() if loop.lower is None else set(symbols_of(loop.lower))
    return {n for t in (loop.counter, loop.var) if t is not None for n in symbols_of(t)} - fixed


def plain_walk(loop: Loop, start: Expr, size: Expr) -> Walk | None:
    """A loop with a constant step; only its counter moves the window."""
    name = next((repr(t) for t in (loop.var, loop.counter) if t is not None and set(symbols_of(t)) == {repr(t)}), "")
    if loop.lower is None or loop.upper is None or loop.step is None or (loop.step.value or 0) <= 0:
        return None
    if not name or set(symbols_of(start)) != {name}:
        return None
    turn = symbol(f"{name} turn", 0)
    first = loop.lower if repr(loop.var) == name else const(0)
    at = {name: first + turn}
    count = ceiling(loop.upper - loop.lower, loop.step)
    return Walk(repr(turn), count, substitute(start, at), substitute(size, at), loop.path)


def _in_turns(loop: Loop, start: Expr, size: Expr) -> Walk | None:
    """A loop from s*block_idx in steps of s*block_num, for a constant s: all blocks together take every multiple of s
    once."""
    if loop.var is None or loop.lower is None or loop.upper is None or loop.step is None:
        return None
    block, blocks, name = symbol(BLOCK, 0), symbol(BLOCKS, 1), repr(loop.var)
    pace = substitute(loop.step, {BLOCKS: 1}).value
    if pace is None or pace <= 0 or loop.step is not blocks * pace or loop.lower is not block * pace:
        return None
    if set(symbols_of(loop.var)) != {name} or set(symbols_of(start)) != {name}:
        return None
    turn = symbol(f"{name} turn", 0)
    at = {name: turn * pace}
    return Walk(repr(turn), ceiling(loop.upper, pace), substitute(start, at), substitute(size, at), loop.path)


def grid(context: Context, step: Step, window: Window, axis: int, walk: Walk, extent: Expr) -> GridSite:
    label = f"{op_text(step.op)} {window.view.name}[{axis}]"
    turn = symbol(walk.name, 0)
    return GridSite(
        context, step.op, walk.path, label, window.view.name, axis, walk.count >= 1,
        walk.at(walk.count - 1)[1], extent, turn + 1 < walk.count, walk.at(turn)[1], walk.at(turn + 1)[0],
        walk.at(const(0))[0])


def reached(s: GridSite) -> Cond:
    return any_of((s.extent <= s.first, s.extent <= 0, all_of((s.ran, s.reached >= s.extent))))


def without_gap(s: GridSite) -> Cond:
    return implies(s.later, any_of((s.gap >= s.next, s.gap >= s.extent)))


WRITE_REST: Rule[GridSite] = Rule(
    id="WRITE-REST", kind=SAFETY, observable=True, requires=("VF-01",),
    source="PyPTO: an Out is written wholly",
    claim="a loop that walks an output by its own extent, or blocks that divide it, leave no rest",
    sites=_grids, applies=always, chosen=lambda s: frozenset({BLOCKS}),
    goal=reached,
    explain=lambda s, w: (
        f"axis {s.axis} of {s.tensor} has {w.show(s.extent)}, the loop writes up to {max(w(s.reached), 0)} of it: the "
        "rest is never written"),
    help=lambda s: "run one more iteration with a window narrowed to what is left, or make the extent a whole number "
                   "of windows",
    mutant=lambda s: any_of((~s.ran, s.reached + 31 >= s.extent)),
)

WRITE_GAP: Rule[GridSite] = Rule(
    id="WRITE-GAP", kind=SAFETY, observable=True, requires=("VF-01",),
    source="PyPTO: an Out is written wholly",
    claim="each window of such a walk starts where the one before it ends, or earlier",
    sites=_grids, applies=always, chosen=lambda s: frozenset({BLOCKS}),
    goal=without_gap,
    explain=lambda s, w: (
        f"axis {s.axis} of {s.tensor}: one window ends before {w(s.gap)} and the next starts at {w(s.next)}: what lies "
        "between is never written"),
    help=lambda s: "make the steps as long as the windows",
    mutant=lambda s: implies(s.later, s.gap + 16 >= s.next),
)


RULES = (WRITE_REST, WRITE_GAP)
