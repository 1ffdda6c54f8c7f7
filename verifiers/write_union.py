"""WRITE-UNION: what several stores, or stores under a condition, write of an output together.

Told are stores at a place of their own and those that loops move, under conditions on sizes and on the turns of those
loops (`write_parts.py`). Along an axis over which the function goes, they leave nothing out of what they write beside
it; with --strict they write all of the tensor. What is not told of a declared output, or with --strict, is UNKNOWN.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from pypto_verified.index import TRUE, Cond, Expr, all_of, any_of, eq, symbols_of
from pypto_verified.index.cond import FALSE
from pypto_verified.records import dataclass
from verifiers.access import Step, SymbolKind, Window
from verifiers.bound import unclamped
from verifiers.rule import SAFETY, Rule, Witness, always
from verifiers.sites import Context, Site, op_text
from verifiers.solver.cone import names_of
from verifiers.write_grid import stores_by_tensor, walked
from verifiers.write_levels import conditions, counters, repeated, waits
from verifiers.write_nest import nest_site
from verifiers.write_parts import element_of, told

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


def _sites(context: Context) -> Iterator[UnionSite]:
    for stores in stores_by_tensor(context):
        yield from union_sites(context, stores)


def union_sites(context: Context, stores: list[tuple[Step, Window]]) -> Iterator[UnionSite]:
    """What is asked of all the stores to one tensor."""
    step, window = stores[-1]
    if len(stores) > 1:
        yield from _together(context, stores)
    # Who calls a text may keep the sizes that a condition leaves out for another one.
    elif context.strict or window.view.base in {a for a, _ in context.outputs}:
        yield from _lone(context, step, window)


def _lone(context: Context, step: Step, window: Window) -> Iterator[UnionSite]:
    """Where a lone store writes if it runs, other rules say; here, whether it runs at all."""
    sizes = {n for n, k in context.program.symbols.kinds.items() if k is SymbolKind.DIM}
    facts = all_of((context.program.symbols.facts, context.assumed))
    waiting = waits(step, window, context.ladder, facts)
    waited = bool(waiting.guards or waiting.runs)
    place = element_of(window)
    own = counters(step)
    if not waited and not any(not names_of(c) & own for c in conditions(step)):
        return
    if told(context, step, window) is not None:
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
    elif context.strict or (judged and waiting.names & own and not any(x.untold for x in nests)):
        yield replace(site, untold=_UNTOLD)


def _together(context: Context, stores: list[tuple[Step, Window]]) -> Iterator[UnionSite]:
    step, window = stores[-1]
    place, dims = element_of(window), range(len(window.bounds))
    parts = [p for s, w in stores if w.bounds == window.bounds and (p := told(context, s, w)) is not None]
    every = len(parts) == len(stores)
    declared = window.view.base in {a for a, _ in context.outputs}
    if not context.strict and not every and (not declared or _from_caller(context, stores)):
        return
    axes = [
        a for a, extent in enumerate(window.bounds)
        if context.strict or any(p.moving[a] and (declared or _dims(context, extent) & p.counts[a]) for p in parts)]
    if not axes and (every or not any(_moves(context, s, w) for s, w in stores)):
        return
    # Along another axis all of them write the same, or asked for is what one that goes over those writes there.
    axes += [a for a in dims if a not in axes and len({p.axes[a] for p in parts}) > 1]
    beside = [a for a in axes if not context.strict and not any(p.moving[a] for p in parts)]
    asked = any_of(all_of(p.axes[a] for a in beside) for p in parts if any(p.moving))
    inside = all_of((_inside(place, window), asked if beside else TRUE))
    reached = any_of(all_of((p.runs, *(p.axes[a] for a in axes))) for p in parts) if axes else FALSE
    known = all_of((context.program.symbols.facts, context.assumed, inside))
    sure = every and all(p.exact for p in parts)
    untold = "" if sure or (axes and context.ladder.entails(known, reached)) else _UNTOLD
    yield UnionSite(
        context, step.op, TRUE, f"{op_text(step.op)} {window.view.name}", window.view.name, tuple(sorted(axes)), place,
        inside, reached, untold)


def _moves(context: Context, step: Step, window: Window) -> bool:
    own = repeated(context.program, step)
    return any(own & symbols_of(unclamped(o)).keys() for o in window.offsets)


def _from_caller(context: Context, stores: list[tuple[Step, Window]]) -> bool:
    """Whether a caller has a say in where one of them writes, or in whether it does."""
    kinds = context.program.symbols.kinds
    names = {n for s, w in stores for e in w.offsets for n in symbols_of(e)}
    names |= {n for s, _ in stores for n in names_of(s.path)}
    names -= frozenset[str]().union(*(repeated(context.program, s) for s, _ in stores))
    return any(kinds.get(n) not in (SymbolKind.DIM, SymbolKind.TRIP) for n in names)


def _inside(place: tuple[Expr, ...], window: Window) -> Cond:
    return all_of(x < extent for x, extent in zip(place, window.bounds, strict=True))


def _dims(context: Context, extent: Expr) -> set[str]:
    return {n for n in symbols_of(extent) if context.program.symbols.kinds.get(n) is SymbolKind.DIM}


def _missed(s: UnionSite, w: Witness) -> str:
    at = ", ".join(str(w(x)) if a in s.axes else ":" for a, x in enumerate(s.place))
    return f"no store writes {s.tensor}[{at}]"


WRITE_UNION: Rule[UnionSite] = Rule(
    id="WRITE-UNION",
    formula="0 <= element < extent => some store writes the element",
    kind=SAFETY, observable=True, requires=("VF-01",), source="PyPTO: an Out is written wholly",
    claim="several stores, or stores under a condition, that loops move over an output leave no rest; with --strict "
          "they write all of it",
    sites=_sites, applies=always, given=lambda s: s.inside if not s.untold else False, undecided=lambda s: s.untold,
    goal=lambda s: s.reached,
    explain=_missed,
    help=lambda s: "let one store go on where the other ends, and let the conditions leave no size out",
    mutant=lambda s: any_of((s.reached, eq(s.place[s.axes[0]] % 32, 0))),
)

RULES = (WRITE_UNION,)
