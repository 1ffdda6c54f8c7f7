"""WRITE-NEST: what the loops around a store move it over is all of the output, along each axis.

Judged is the only store to a tensor that the author declared as an output, or over which it goes by its own extent:
loops whose number of turns the function knows, with any steps, one in another. Sorted by their steps, the windows of
one level are side by side if the step is no longer than what the levels below write together; what is missing between
two of them is in none of the others (theorem GRID-NEST). How often a caller's scalar lets a loop turn, how many blocks
there are, and what a window is counted from, is the caller's business.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from pypto_verified.index import Cond, Expr, all_of, any_of, const, minimum, substitute, symbols_of
from pypto_verified.index.cond import FALSE, TRUE
from pypto_verified.records import dataclass
from verifiers.access import BLOCKS, Step, SymbolKind, Window
from verifiers.access.scalars import ceiling
from verifiers.rule import SAFETY, Rule, Witness, always
from verifiers.sites import Context, Site, op_text
from verifiers.solver.cone import conjuncts, names_of
from verifiers.write_digits import Numbered, in_digits
from verifiers.write_grid import CALLERS_PLACE, lone_stores, walked
from verifiers.write_levels import (
    Axis,
    Moved,
    Nest,
    Turn,
    Untold,
    counters,
    first_of,
    forward,
    handed_on,
    moved,
    parts_of,
    waits,
)
from verifiers.write_parts import by_element


@dataclass(frozen=True, slots=True)
class Gap:
    """Where `count` > 1, windows begin `pace` elements after one another, and each writes `length` of them without a
    break; `room`: what lies behind that many is asked for of no window."""

    count: Expr
    pace: Expr
    length: Expr
    room: Expr


@dataclass(frozen=True, slots=True)
class Written:
    """What the windows of a nest write of an axis of `extent` elements: from `first` on as far as `reached`, with none
    of the `gaps`, if its loops turn, as often as `counts` say. `open`: a caller has it go on."""

    first: Expr
    gaps: tuple[Gap, ...]
    counts: tuple[Expr, ...]
    reached: Expr
    extent: Expr
    open: bool

    @property
    def whole(self) -> Cond:
        """Whether that is all of it. Theorem GRID-NEST."""
        side_by_side = (any_of((g.count <= 1, g.pace <= g.length, g.length >= g.room)) for g in self.gaps)
        wanted = [self.first <= 0, *(n >= 1 for n in self.counts), *side_by_side]
        if not self.open:
            wanted.append(self.reached >= self.extent)
        return any_of((self.extent <= 0, all_of(wanted)))


def written(nest: Nest, extent: Expr) -> Written:
    """What a nest writes, from its finest level to the coarsest, or to the first that has no end of its own."""
    length, gaps, counts = nest.size, list[Gap](), list[Expr]()
    for number, level in enumerate(nest.levels, 1):
        rooms = [extent - nest.first, *(limit for n, limit in nest.limits if n >= number)]
        gaps.append(Gap(level.count if level.count is not None else const(2), level.pace, length, minimum(*rooms)))
        if level.count is None:
            break
        counts.append(level.count)
        length = minimum(
            (level.count - 1) * level.pace + length, *(limit for n, limit in nest.limits if n == number))
    unending = any(level.count is None for level in nest.levels)
    return Written(nest.first, tuple(gaps), tuple(counts), nest.first + length, extent, unending)


@dataclass(frozen=True, slots=True)
class NestSite(Site):
    """One axis of a store that loops move. `untold`: why it is not followed, or why what fails need not be missing;
    `beside`: a loop moves it along another axis too, and spoken of is what lies beside its first window. `last`: what
    the last round of a loop that numbers tiles writes of it, where `asked`: where the rounds before it leave some of
    the other axes."""

    tensor: str
    axis: int
    written: Written
    untold: str = ""
    beside: bool = False
    last: Written | None = None
    asked: Cond = FALSE

    @property
    def whole(self) -> Cond:
        last = TRUE if self.last is None else any_of((~self.asked, self.last.whole))
        return all_of((self.written.whole, last))


def _sites(context: Context) -> Iterator[NestSite]:
    for step, window in lone_stores(context):
        for axis in range(len(window.bounds)):
            site = nest_site(context, step, window, axis)
            if site is not None:
                yield site


def nest_site(context: Context, step: Step, window: Window, axis: int) -> NestSite | None:
    """None for an axis that another rule judges, or a caller: WRITE-UNION asks conditions on counters of each element.
    """
    if walked(context, step, window, axis):
        return None
    kinds = context.program.symbols.kinds
    sizes = frozenset(n for n, k in kinds.items() if k is SymbolKind.DIM)
    label = f"{op_text(step.op)} {window.view.name}[{axis}]"
    extent = window.bounds[axis]

    def site(found: Written, path: Cond, untold: str = "") -> NestSite:
        return NestSite(context, step.op, path, label, window.view.name, axis, found, untold)

    declared = context.strict or window.view.base in {a for a, _ in context.outputs}
    try:
        numbered = in_digits(forward(moved(context.program, step, window)))
        made = numbered.moved
        view = _axis(context, made, axis, sizes)
        if handed_on(context.program, step) & symbols_of(made.starts[axis]).keys():
            raise Untold("a place that a loop hands on is not followed")
        if not made.moving(axis) or not set(symbols_of(view.first())) <= sizes:
            return None
        counted = {n for t in made.moving(axis) for n in (*symbols_of(t.upper), *symbols_of(t.lower))}
        if not declared and not counted & sizes & set(symbols_of(extent)):
            return None
        known = all_of((context.program.symbols.facts, context.assumed))
        waiting, before = waits(step, window, context.ladder, known), conjuncts(made.path)
        held = [c for c in waiting.guards if c not in before]
        if any(not names_of(c) <= sizes | counters(step) for c in held):
            return None
        if any(names_of(c) & counters(step) for c in (*held, *waiting.runs)):
            if by_element(context, step, window):
                return None
            raise Untold("a condition on a loop's counter is not followed")
        shared = _shared(made, axis)
        if any(not _apart(context, made, axis, t) for t in shared):
            raise Untold("a loop that moves a window along two axes is not followed")
        # Beside the first window of such a loop there is no other: what it leaves out of the axis nothing writes.
        nest = view.nest() if not shared else _axis(context, first_of(made, shared), axis, sizes).nest()
        found = written(nest, extent)
        found = replace(found, counts=(*found.counts, *(ceiling(t.upper - t.lower, t.step) for t in shared)))
        if context.strict and found.open:
            raise Untold(CALLERS_PLACE)
        untold = "" if nest.ordered else "which of several loops takes the longer steps is not known"
        elements = (e >= 1 for e in made.extents)
        path = all_of((made.path, *held, *waiting.runs, *(t.step >= 1 for t in made.turns), *elements))
        judged = replace(site(found, path, untold), beside=bool(shared))
        return _with_last_round(context, judged, numbered, sizes)
    except Untold as error:
        return site(Written(const(0), (), (), const(0), extent, False), step.path, str(error)) if declared else None


def _with_last_round(context: Context, site: NestSite, numbered: Numbered, sizes: frozenset[str]) -> NestSite:
    """What is asked of the last round too, of an axis that the turns within a round move the window along."""
    if numbered.last is None or numbered.last.within not in numbered.moved.moving(site.axis):
        return site
    made, over = numbered.moved, numbered.last.over
    coarse = [a for a in range(len(made.starts)) if over in made.moving(a)]
    if coarse == [] or site.axis in coarse or site.beside:
        raise Untold("a loop that numbers tiles of one axis, in rounds that do not come out even, is not followed")
    before = (written(_axis(context, numbered.rounds(), a, sizes).nest(), made.extents[a]).whole for a in coarse)
    last = written(_axis(context, numbered.ending(), site.axis, sizes).nest(), made.extents[site.axis])
    return replace(site, last=last, asked=~all_of(before))


def _shared(made: Moved, axis: int) -> list[Turn]:
    """The loops that move the window along this axis and another."""
    return [
        t for t in made.moving(axis) if any(t in made.moving(a) for a in range(len(made.starts)) if a != axis)]


def _apart(context: Context, made: Moved, axis: int, turn: Turn) -> bool:
    """Whether no two windows of a loop lie beside each other: along another axis one begins where the one before it
    ends, or further."""
    for other, start in enumerate(made.starts):
        pace = substitute(start, {turn.name: turn.counter + 1}) - start
        if other != axis and turn.name in symbols_of(start) and turn.name not in symbols_of(pace):
            ends = [part.value for part in parts_of(made.sizes[other], "min")]
            if pace.value is not None and any(end is not None and end <= pace.value for end in ends):
                return True
    return False


def _axis(context: Context, made: Moved, axis: int, sizes: frozenset[str]) -> Axis:
    known = all_of((context.program.symbols.facts, context.assumed, made.inside))
    return Axis(made, axis, context.ladder, known, sizes)


def _missing(s: NestSite, w: Witness) -> str:
    where = _holes(s.written, w)
    found, round_ = (s.written, "") if where or s.last is None else (s.last, ", in the last round,")
    begin, stop = (where or _holes(found, w))[0]
    beside = ", beside the first window of a loop that moves along two axes" if s.beside else ""
    return (
        f"axis {s.axis} of {s.tensor} has {w.show(found.extent)}: no turn of the loops{round_} writes elements "
        f"{begin} to {min(stop, w(found.extent)) - 1} of it{beside}")


def _holes(found: Written, w: Witness) -> list[tuple[int, int]]:
    """(first, end) of what is missing."""
    first, end = w(found.first), w(found.extent)
    where = [(0, end)] if any(w(count) < 1 for count in found.counts) else [(0, first)] if first > 0 else []
    for gap in found.gaps:
        length, pace = w(gap.length), w(gap.pace)
        if w(gap.count) > 1 and length < min(pace, w(gap.room)):
            turn = max(0, -first // pace)  # the first one whose gap is not before the tensor
            where.append((max(0, first + turn * pace + length), first + (turn + 1) * pace))
    where += [(max(first, w(found.reached)), end)] if not found.open and w(found.reached) < end else []
    return where


WRITE_NEST: Rule[NestSite] = Rule(
    id="WRITE-NEST", kind=SAFETY, observable=True, requires=("VF-01",),
    source="PyPTO: an Out is written wholly",
    claim="the loops that move a store over an output leave no gap between its windows, and no rest",
    sites=_sites, applies=always, chosen=lambda s: frozenset({BLOCKS}), assumptions=("BLOCK-OF-GRID",),
    unneeded=lambda s: () if s.written.open else ("BLOCK-OF-GRID",),
    given=lambda s: not s.untold, undecided=lambda s: s.untold,
    goal=lambda s: s.whole,
    explain=_missing,
    help=lambda s: "let each loop step by no more than what the loops inside it write, and run to the end",
    mutant=lambda s: any_of((s.whole, s.written.reached + 127 >= s.written.extent)),
)

RULES = (WRITE_NEST,)
