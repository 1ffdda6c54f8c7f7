"""WRITE-UNION: what several stores, or stores under a condition, write of an output together.

Told are stores at a place of their own and stores that one loop moves along an axis, under conditions on sizes. Along
an axis by whose extent the function goes, they leave nothing out; with --strict they write all of the tensor, and what
is not told is UNKNOWN.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from pypto_verified.index import TRUE, Cond, Expr, all_of, any_of, const, eq, symbol, symbols_of
from verifiers.access import Step, SymbolKind, Window
from verifiers.bound import unclamped
from verifiers.rule import SAFETY, Rule, Witness, always
from verifiers.sites import Context, Site, op_text
from verifiers.solver.cone import conjuncts, names_of
from verifiers.write_grid import moving_loops, plain_walk, stores_by_tensor, walked
from verifiers.write_levels import counters, waits
from verifiers.write_nest import nest_site

_UNTOLD = "what a store in several loops, or under a condition on one, writes is not followed"


@dataclass(frozen=True, slots=True)
class UnionSite(Site):
    """An output and any element `place` of it, within `inside`; on `axes` it is `reached` by some store if the rule
    holds. `untold`: why that is not known."""

    tensor: str
    axes: tuple[int, ...]
    place: tuple[Expr, ...]
    inside: Cond
    reached: Cond
    untold: str = ""


@dataclass(frozen=True, slots=True)
class _Part:
    """A store: whether it runs at all, and by axis whether it writes the element that is asked for. `counts`: by axis,
    the names that say how often a loop moves it there."""

    runs: Cond
    axes: tuple[Cond, ...]
    counts: tuple[frozenset[str], ...]


def _sites(context: Context) -> Iterator[UnionSite]:
    for stores in stores_by_tensor(context):
        step, window = stores[-1]
        if len(stores) == 1:
            # Who calls a text may keep the sizes that a condition leaves out for another one.
            if context.strict or window.view.base in {a for a, _ in context.outputs}:
                yield from _lone(context, step, window)
            continue
        yield from _together(context, stores)


def _lone(context: Context, step: Step, window: Window) -> Iterator[UnionSite]:
    """Where a lone store writes if it runs, other rules say; here, whether it runs at all."""
    sizes = {n for n, k in context.program.symbols.kinds.items() if k is SymbolKind.DIM}
    facts = all_of((context.program.symbols.facts, context.assumed))
    waiting = waits(step, window, context.ladder, facts)
    waited = bool(waiting.guards or waiting.runs)
    place = _place(window)
    if not waited and set(conjuncts(step.path)) <= _in_range(step):
        return
    if _part(context, step, window, place) is not None:
        yield from _together(context, [(step, window)])
        return
    if not waited:
        return
    axes = tuple(range(len(window.bounds)))
    nests = [x for x in (nest_site(context, step, window, a) for a in axes) if x is not None]
    judged = bool(nests) or any(walked(context, step, window, a) for a in axes)
    site = UnionSite(
        context, step.op, TRUE, f"{op_text(step.op)} {window.view.name}", window.view.name, axes, place,
        _inside(place, window), all_of((*waiting.guards, *waiting.runs)))
    if waiting.names <= sizes and (judged or context.strict):
        yield site
    elif context.strict or (judged and waiting.names & counters(step) and not any(x.untold for x in nests)):
        yield replace(site, untold=_UNTOLD)


def _together(context: Context, stores: list[tuple[Step, Window]]) -> Iterator[UnionSite]:
    step, window = stores[-1]
    place = _place(window)
    parts = [_part(context, s, w, place) for s, w in stores if not w.parent and w.bounds == window.bounds]
    told = [p for p in parts if p is not None]
    every = len(told) == len(stores)
    axes = [
        a for a, extent in enumerate(window.bounds)
        if context.strict or (every and any(_dims(context, extent) & p.counts[a] for p in told))]
    if axes:
        reached = any_of(all_of((p.runs, *(p.axes[a] for a in axes))) for p in told)
        yield UnionSite(
            context, step.op, TRUE, f"{op_text(step.op)} {window.view.name}", window.view.name, tuple(axes), place,
            _inside(place, window), reached, "" if every else _UNTOLD)


def _place(window: Window) -> tuple[Expr, ...]:
    return tuple(symbol(f"element_{axis}", 0) for axis in range(len(window.bounds)))


def _inside(place: tuple[Expr, ...], window: Window) -> Cond:
    return all_of(x < extent for x, extent in zip(place, window.bounds, strict=True))


def _dims(context: Context, extent: Expr) -> set[str]:
    return {n for n in symbols_of(extent) if context.program.symbols.kinds.get(n) is SymbolKind.DIM}


def _part(context: Context, step: Step, window: Window, place: tuple[Expr, ...]) -> _Part | None:
    """None for a store that is not told."""
    starts = [unclamped(o) for o in window.offsets]
    movers = [loop for start in starts for loop in moving_loops(step, start)]
    rest = [loop for loop in step.loops if all(loop is not m for m in movers)]
    once = [loop.upper > loop.lower for loop in rest if loop.lower is not None and loop.upper is not None]
    runs = all_of((*once, *(c for c in conjuncts(step.path) if c not in _in_range(step))))
    axes = [_reached(step, start, size, x) for start, size, x in zip(starts, window.sizes, place, strict=True)]
    kinds = context.program.symbols.kinds
    named = {n for c in (runs, *(a for a in axes if a is not None)) for n in names_of(c)} - {repr(x) for x in place}
    if len(once) < len(rest) or len({id(m) for m in movers}) < len(movers) or any(
            kinds.get(n) is not SymbolKind.DIM for n in named):
        return None
    counts = tuple(
        frozenset(n for m in moving_loops(step, start) if m.upper is not None for n in symbols_of(m.upper))
        for start in starts)
    return None if None in axes else _Part(runs, tuple(a for a in axes if a is not None), counts)


def _in_range(step: Step) -> set[Cond]:
    """What holds in the loops of a step because their counters are in range."""
    return {c for loop in step.loops for c in conjuncts(loop.inside) if c not in conjuncts(loop.path)}


def _reached(step: Step, start: Expr, size: Expr, at: Expr) -> Cond | None:
    """Whether one of the windows of a store reaches an element of the axis: that whose turn it is there."""
    movers = moving_loops(step, start)
    if not movers:
        return all_of((start <= at, at < start + size))
    walk = plain_walk(movers[0], start, size) if len(movers) == 1 else None
    pace = None if walk is None else (walk.at(const(1))[0] - walk.at(const(0))[0]).value
    if walk is None or pace is None or pace <= 0:
        return None
    turn = (at - walk.at(const(0))[0]) // pace
    begin, end = walk.at(turn)
    return all_of((turn >= 0, turn < walk.count, begin <= at, at < end))


def _missed(s: UnionSite, w: Witness) -> str:
    at = ", ".join(str(w(x)) if a in s.axes else ":" for a, x in enumerate(s.place))
    return f"no store writes {s.tensor}[{at}]"


WRITE_UNION: Rule[UnionSite] = Rule(
    id="WRITE-UNION",
    formula="0 <= element < extent => some store writes the element",
    kind=SAFETY, observable=True, requires=("VF-01",), source="PyPTO: an Out is written wholly",
    claim="several stores, or stores under a condition, that go by an output's own extent leave no rest; with --strict "
          "they write all of it",
    sites=_sites, applies=always, given=lambda s: s.inside if not s.untold else False, undecided=lambda s: s.untold,
    goal=lambda s: s.reached,
    explain=_missed,
    help=lambda s: "let one store go on where the other ends, and let the conditions leave no size out",
    mutant=lambda s: any_of((s.reached, eq(s.place[s.axes[0]] % 32, 0))),
)

RULES = (WRITE_UNION,)
