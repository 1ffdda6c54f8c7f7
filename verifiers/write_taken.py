"""WRITE-TAKEN: what stores write of a declared output if their conditions hold, some store writes in every run.

Spoken of are stores under conditions that other rules about outputs leave to a caller, to blocks or to data: whether
they run is up to an argument, the index of a block, what is read from memory, or a loop that need not turn. Asked for
is each element that one of them would write; along an axis over which loops move it by sizes alone, each element of the
axis. An argument that alone decides one condition is taken to lead each way (assumption BRANCH-TAKEN). The other lane
runs beside this one; of other blocks the first, the last and those that conditions name are looked at.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace

from pypto_verified.index import (
    Cond,
    Expr,
    all_of,
    any_of,
    const,
    substitute_cond,
    symbol,
    symbols_of,
)
from pypto_verified.index.cond import FALSE, TRUE
from pypto_verified.pto.lanes import first_lane_alone
from pypto_verified.records import dataclass
from verifiers.access import BLOCK, BLOCKS, LANE, Step, SymbolKind, Window
from verifiers.access.program import Pointer
from verifiers.branch_taken import BRANCH_TAKEN, keep_to, lone_argument, passed
from verifiers.global_memory import stored
from verifiers.led import truths_passed
from verifiers.rule import SAFETY, Rule, Witness, always
from verifiers.sites import Context, Site, op_text
from verifiers.solver.cone import conjuncts, names_of
from verifiers.write_grid import BY_INDEX, placed
from verifiers.write_levels import Untold, conditions, waits
from verifiers.write_nest import nest_site
from verifiers.write_parts import Part, element_of, part_of
from verifiers.write_union import union_sites

_FIXED = frozenset({SymbolKind.DIM, SymbolKind.PARAM, SymbolKind.SIZE, SymbolKind.BLOCK, SymbolKind.LAUNCH})
_READ = frozenset({SymbolKind.DATA, SymbolKind.OPAQUE})


@dataclass(frozen=True, slots=True)
class TakenSite(Site):
    """An output and any element `place` of it, which a store would write (`asked`) and some store does (`taken`) if the
    rule holds; `told`: the axes that tell one element from another. `untold`: why that is not known. `lone`: the
    argument that alone decides it."""

    tensor: str
    place: tuple[Expr, ...]
    told: frozenset[int]
    asked: Cond
    taken: Cond
    untold: str = ""
    lone: str = ""


def _sites(context: Context) -> Iterator[TakenSite]:
    program = context.program
    if not all(s.modelled for s in program.steps):
        return
    for argument, name in context.outputs:
        stores = [(s, placed(w)) for s in program.steps if s.path is not FALSE for w in stored(s)
                  if w.view.base == argument]
        scalar = next((s for s in program.steps if s.path is not FALSE and _element(s, argument)), None)
        if scalar is not None and all(_waits(context, s, w) for s, w in stores):
            yield TakenSite(
                context, scalar.op, TRUE, f"{op_text(scalar.op)} {name}", name, (), frozenset(), TRUE, FALSE,
                "which elements are written one by one is not followed")
        elif any(_waits(context, s, w) for s, w in stores) and not _open(context, stores):
            yield _site(context, stores)


def _open(context: Context, stores: list[tuple[Step, Window]]) -> bool:
    """Whether another rule judges the same, or says why it does not."""
    if any(True for _ in union_sites(context, stores)):
        return True
    (step, window), *others = stores
    nests = () if others else (nest_site(context, step, window, a) for a in range(len(window.bounds)))
    return any(x is not None and x.untold for x in nests)


def _element(step: Step, argument: str) -> bool:
    """Whether a step writes single elements behind a pointer argument."""
    return step.op.name.startswith("pto.store") and any(
        isinstance(o, Pointer) and o.base == argument for operands in step.operands.values() for o in operands)


def _waits(context: Context, step: Step, window: Window) -> bool:
    """Whether a store may not write all of its window in some run."""
    if step.op.name in BY_INDEX or window.parent is not None or any(x.lower is None for x in step.loops):
        return True
    if _read(context, window):
        return True
    waiting = waits(step, window, context.ladder, _known(context))
    return bool(waiting.guards or waiting.runs)


def _read(context: Context, window: Window) -> bool:
    """Whether data say where a window is."""
    read = _names(context, _READ)
    return any(read & symbols_of(e).keys() for e in window.offsets)


def _known(context: Context) -> Cond:
    return all_of((context.program.symbols.facts, context.assumed))


def _site(context: Context, stores: list[tuple[Step, Window]]) -> TakenSite:
    step, window = next((s, w) for s, w in stores if _waits(context, s, w))
    place = element_of(window)
    site = TakenSite(
        context, step.op, TRUE, f"{op_text(step.op)} {window.view.name}", window.view.name, place, frozenset(), TRUE,
        FALSE)
    try:
        made = [_made(context, s, w, window) for s, w in stores]
    except Untold as error:
        return replace(site, untold=str(error))
    parts = [m.part for m in made]
    own = _names(context, {SymbolKind.DIM}) | {n for x in place for n in symbols_of(x)}
    over = frozenset(
        a for a in range(len(place)) if any(p.moving[a] and names_of(p.axes[a] & p.ran[a]) <= own for p in parts))
    beside = [a for a in range(len(place)) if a not in over]
    lanes = [p for m in made for p in m.of_lanes()]
    asked = any_of(all_of(c for a in beside for c in (p.ran[a], p.axes[a])) for p in lanes)
    taken = any_of(all_of((p.runs, *p.axes)) for p in _of_blocks(lanes))
    inside = all_of((asked, *(x < extent for x, extent in zip(place, window.bounds, strict=True))))
    told = over | {a for a in beside if len({p.axes[a] for p in parts}) > 1}
    known = all_of((_known(context), inside))
    guards = any_of(p.guards for p in _of_blocks(lanes))
    if context.ladder.entails(known & guards, taken):
        taken = guards  # the same where it is asked, and in the words of callers
    lone, untold = _decided(context, made, known, taken)
    return replace(site, told=told, asked=inside, taken=taken, lone=lone, untold=untold)


def _made(context: Context, step: Step, window: Window, like: Window) -> Made:
    """Untold where what a store writes is not followed."""
    if step.op.name in BY_INDEX:
        raise Untold("data decide where a scatter writes")
    if _read(context, window):
        raise Untold("data decide where a store goes")
    if window.parent is not None or window.bounds != like.bounds:
        raise Untold("what is stored through several views of a tensor is not followed")
    symbols = context.program.symbols
    alike = _names(context, _FIXED | _READ) | symbols.truths.keys()
    part = part_of(context, step, window, element_of(window), frozenset(alike))
    if part is None:
        raise Untold("how the kernel computes whether or where it stores is not followed")
    return Made(step, part, step.op in first_lane_alone(context.program.func, context.target))


@dataclass(frozen=True, slots=True)
class Made:
    """A store and what it writes; `first`: the first lane of a core alone makes it."""

    step: Step
    part: Part
    first: bool

    @property
    def names(self) -> frozenset[str]:
        return names_of(all_of((self.part.runs, *self.part.axes)))

    def of_lanes(self) -> list[Part]:
        """The same for each lane that makes it."""
        if LANE not in self.names:
            return [self.part]
        return [_at(self.part, LANE, const(lane)) for lane in ((0,) if self.first else (0, 1))]


def _at(part: Part, name: str, value: Expr) -> Part:
    values = {name: value}
    ran, axes = (tuple(substitute_cond(c, values) for c in cs) for cs in (part.ran, part.axes))
    return replace(part, ran=ran, axes=axes, guards=substitute_cond(part.guards, values))


def _of_blocks(parts: list[Part]) -> Iterator[Part]:
    """What this block writes, and the first, the last, and those whose index a condition compares with."""
    for part in parts:
        yield part
        if BLOCK in names_of(all_of((part.runs, *part.axes))):
            yield _at(part, BLOCK, const(0))
            yield _at(part, BLOCK, symbol(BLOCKS, 1) - 1)
            for c in conjuncts(part.guards):
                if c.kind == "zero" and c.expr is not None and names_of(c) == {BLOCK}:
                    number = abs(c.expr.constant)
                    there = _at(part, BLOCK, const(number))
                    yield replace(there, guards=there.guards & (symbol(BLOCKS, 1) > number))


def _names(context: Context, kinds: Collection[SymbolKind]) -> frozenset[str]:
    return frozenset(n for n, k in context.program.symbols.kinds.items() if k in kinds)


def _decided(context: Context, made: list[Made], known: Cond, taken: Cond) -> tuple[str, str]:
    """(The argument that alone decides whether all is written, why that is not known)."""
    if not _compared(context, made):
        return "", "stores that data decide in different turns are not compared"
    if context.ladder.entails(known, taken):
        return "", ""
    if any(BLOCK in names_of(m.part.guards) for m in made) or (
            any(BLOCK in m.names for m in made) and len({m.part.axes for m in made}) > 1):
        return "", "whether some block of a launch comes to a store is not followed"
    if not all(m.part.exact for m in made):
        return "", "what stores in loops write under conditions is not followed"
    program = context.program
    names = frozenset[str]().union(*(names_of(m.part.guards) for m in made))
    beside = frozenset[str]().union(*(names_of(all_of((*m.part.ran, *m.part.axes))) for m in made))
    lone = lone_argument(program, names, (m.step for m in made), beside, skipping=True)
    if not lone and names & truths_passed(program).keys():
        told = sorted(n.partition("?")[0] for n in passed(program, names))
        return "", f"callers decide it by {', '.join(told)}"
    return lone, ""


def _compared(context: Context, made: list[Made]) -> bool:
    """Whether values that differ from turn to turn, as data do, mean one turn in all stores that they decide: those
    have the same loops, the same turns, and the same conditions beside them."""
    varying = _names(context, _READ) | (context.program.symbols.truths.keys() - truths_passed(context.program).keys())
    those = [m for m in made if m.names & varying]
    ways = {
        (m.step.loops, tuple(m.part.turns.items()),
         frozenset(c for c in conditions(m.step) if not names_of(c) & varying)) for m in those}
    return len(ways) <= 1


def _missed(s: TakenSite, w: Witness) -> str:
    at = ", ".join(str(w(x)) if a in s.told else ":" for a, x in enumerate(s.place))
    return f"no store writes {s.tensor}[{at}]: the conditions on those that would do not hold"


WRITE_TAKEN: Rule[TakenSite] = Rule(
    id="WRITE-TAKEN",
    formula="a store would write the element => some store writes the element",
    kind=SAFETY, observable=True, requires=("VF-01",), source="PyPTO: an Out is written wholly",
    claim="what stores write of a declared output if their conditions hold is written in every run",
    sites=_sites, applies=always, assumptions=(BRANCH_TAKEN,),
    unneeded=lambda s: () if s.lone else (BRANCH_TAKEN,),
    given=lambda s: s.asked if not s.untold else False, undecided=lambda s: s.untold,
    chosen=lambda s: frozenset({s.lone}) - {""},
    goal=lambda s: s.taken,
    explain=_missed,
    help=lambda s: "store on the other way too, or declare the tensor as one that is read and written (pl.InOut)"
    + keep_to(s.lone),
    mutant=lambda s: TRUE,
)

RULES = (WRITE_TAKEN,)
