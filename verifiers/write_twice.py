"""WRITE, across the blocks and lanes of a launch: no two of them write one element, unless they add to it.

Judged are stores whose place is computed from the index of the block or lane, be it through the bounds of a loop: there
the author divides the tensor. Any two blocks are compared, of as many as launches or callers tell, else of any number,
or of few where it does not hold for more (assumption FEW-BLOCKS). Every other value that belongs to one run of the op,
such as a loop counter, is its own in each of the two; where a scalar of the caller has a part in the place, or in
whether the op runs, nothing is said of blocks.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterator
from dataclasses import replace

from pypto_verified.index import (
    TRUE,
    Cond,
    Expr,
    all_of,
    any_of,
    const,
    eq,
    ne,
    substitute,
    substitute_cond,
    symbol,
    symbols_of,
)
from pypto_verified.pto.lanes import first_lane_alone
from pypto_verified.pto.legality_context import pipe_id
from pypto_verified.pto.module import Op
from pypto_verified.records import dataclass
from verifiers.access import BLOCK, BLOCKS, LANE, Step, SymbolKind, Window
from verifiers.access.symbols import UNCONSTRAINED, Symbols
from verifiers.flags import sections_of
from verifiers.global_memory import adds, stored
from verifiers.launched import ANY, OTHER_BLOCK, counts_to_judge, two_blocks
from verifiers.race.members import ON_ALL_CORES
from verifiers.race.places import box_of
from verifiers.rule import SAFETY, Rule, Witness, always
from verifiers.sites import Context, Site, op_text
from verifiers.solver.cone import conjuncts, names_of

_OWN = frozenset({SymbolKind.TRIP, SymbolKind.DEFINED})
"""Kinds of symbols whose value belongs to one run of an op."""


@dataclass(frozen=True, slots=True)
class TwiceSite(Site):
    """One store in two blocks, or in the two lanes of a block: the first one's window and the second one's. `index`
    names what tells them apart, `other` is its value in the second, `both` what is known of that one. `alike`: the
    place is not told from the lane's index, so that both lanes may write there (assumption LANES-ALIKE). `few`: not any
    number of blocks (assumption FEW-BLOCKS)."""

    tensor: str
    index: str
    other: Expr
    starts: tuple[Expr, ...]
    sizes: tuple[Expr, ...]
    other_starts: tuple[Expr, ...]
    other_sizes: tuple[Expr, ...]
    both: Cond
    alike: bool = False
    few: bool = False

    @property
    def why(self) -> str:
        """What keeps it open under the stricter reading."""
        strict = self.alike and self.context.strict
        return "both lanes may write there, and whether they write the same is not known" if strict else ""


def _sites(context: Context) -> Iterator[TwiceSite]:
    symbols, beside = context.program.symbols, _beside_others(context)
    shared = _by_both_lanes(context) if beside else frozenset[int]()
    alone = first_lane_alone(context.program.func, context.target)
    for step in context.program.steps:
        for window in () if adds(step) else stored(step):
            for index in (BLOCK, LANE):
                placed, names = _told(symbols, step, window, index)
                if index in placed and not (index == LANE and step.op in alone):
                    yield from _compared(context, step, window, index, names)
                elif index == LANE and step.index in shared:
                    yield TwiceSite(
                        context, step.op, step.path, f"{op_text(step.op)} {window.view.name} lanes", window.view.name,
                        LANE, const(1), window.offsets, window.sizes, window.offsets, window.sizes, TRUE, alike=True)
    yield from _pushed(context, alone) if beside else ()


def _beside_others(context: Context) -> bool:
    """Whether the function may run on a core beside another one; most do not, and load none of the code for that."""
    own = context.program
    return (context.module is not None and len(context.module.funcs) > 1) or bool(sections_of(own)) or any(
        s.op.name.startswith("pto.tpush") for s in own.steps)


def _pushed(context: Context, alone: Container[Op]) -> Iterator[TwiceSite]:
    from verifiers.write_pushed import pushed_by_both

    for step in pushed_by_both(context.program):
        if step.op not in alone:
            pipe = f"pipe {pipe_id(step.op)}"
            yield TwiceSite(
                context, step.op, step.path, f"{op_text(step.op)} {pipe} lanes", f"a slot of {pipe}", LANE, const(1),
                (), (), (), (), TRUE, alike=True)


def _compared(
    context: Context, step: Step, window: Window, index: str, names: frozenset[str]
) -> Iterator[TwiceSite]:
    if index == LANE:
        yield _site(context, step, window, index, names, ANY)
        return

    def holds(number: int) -> bool:
        site = _site(context, step, window, index, names, number)
        known = all_of((context.program.symbols.facts, context.assumed, site.path, site.both))
        return context.ladder.entails(known, _apart(site), brief=True)

    for number, few in counts_to_judge(context, holds):
        yield replace(_site(context, step, window, index, names, number), few=few)


def _told(symbols: Symbols, step: Step, window: Window, index: str) -> tuple[frozenset[str], frozenset[str]]:
    """(What says where a store goes; that, and what says whether it runs). Nothing of blocks where a caller or data
    have a part in it; the two lanes are given the same by callers."""
    placed = related(symbols, through_loops(step, _named(window)))
    names = related(symbols, placed | names_of(step.path))
    told = index == LANE or (
        window.parent is None and not {symbols.kinds.get(n) for n in names - {BLOCKS}} & UNCONSTRAINED)
    return (placed, names) if told else (frozenset(), frozenset())


def judged(symbols: Symbols, step: Step) -> bool:
    """Whether all that a step stores to global memory is compared with what it stores in another block."""
    windows = stored(step)
    return bool(windows) and all(BLOCK in _told(symbols, step, window, BLOCK)[0] for window in windows)


def _by_both_lanes(context: Context) -> frozenset[int]:
    """Stores, by index, of a vector core beside a cube that both of its lanes make, or that the other lane may follow
    with one to the same pointer: all but those that one lane alone comes to."""
    from verifiers.race.parts import parts_of

    beside = [p for p in parts_of(context) if p.kind == "vector" and p.program is context.program]
    steps = [s for s in context.program.steps if any(s.op not in p.foreign_to(1) for p in beside) and not adds(s)]
    pointers = [(s, w.view.base) for s in steps for w in stored(s)]
    often = Counter(pointer for _, pointer in pointers)
    return frozenset(s.index for s, pointer in pointers if LANE not in names_of(s.path) or often[pointer] > 1)


def through_loops(step: Step, names: frozenset[str]) -> frozenset[str]:
    """`names`, and those that say where the loops begin, and how far they go at a time, whose counters are among
    them."""
    for loop in reversed(step.loops):
        if loop.var is not None and loop.lower is not None and loop.step is not None and names & set(
                symbols_of(loop.var)):
            names |= set(symbols_of(loop.lower)) | set(symbols_of(loop.step))
    return names


def related(symbols: Symbols, names: frozenset[str]) -> frozenset[str]:
    """`names`, and the symbols that derived ones among them are computed from."""
    facts, before = [names_of(c) for c in conjuncts(symbols.facts)], frozenset[str]()
    while names != before:
        derived = {n for n in names if symbols.kinds.get(n) is SymbolKind.DEFINED}
        before, names = names, names.union(*(f for f in facts if f & derived))
    return names


def _site(
    context: Context, step: Step, window: Window, index: str, names: frozenset[str], number: int
) -> TwiceSite:
    """`number` of blocks, or ANY."""
    symbols = context.program.symbols
    if index == BLOCK:
        own = {n for n in names if symbols.kinds.get(n) in _OWN} | ({BLOCK, LANE} & names)
    else:
        own = {n for n in names if symbols.kinds.get(n) not in ON_ALL_CORES} | {LANE}
    count = {BLOCKS: number} if number else {}
    path = substitute_cond(step.path, count)
    offsets, lengths = (tuple(substitute(e, count) for e in es) for es in (box_of(window).offsets, window.sizes))
    facts = conjuncts(substitute_cond(symbols.facts, count))
    known = [c for c in (*facts, *conjuncts(path)) if names_of(c) & own]
    parts: list[Cond | Expr] = [*known, *offsets, *lengths]
    atoms = {n: a for part in parts for n, a in symbols_of(part).items()}
    others = {n: symbol(f"{n} other", atoms[n].lo, atoms[n].hi) for n in sorted(own) if n in atoms}
    one = symbols.shown[index].expr
    apart = two_blocks(one, others[index], number, alike=True) if index == BLOCK else eq(one, 0) & eq(others[index], 1)
    both = all_of((apart, *(facts if count else ()), *(substitute_cond(c, others) for c in known)))
    label = f"{op_text(step.op)} {window.view.name} {index}"
    starts, sizes = (tuple(substitute(e, others) for e in es) for es in (offsets, lengths))
    return TwiceSite(
        context, step.op, path, label, window.view.name, index, others[index], offsets, lengths, starts, sizes, both)


def _named(window: Window) -> frozenset[str]:
    return frozenset(n for e in (*box_of(window).offsets, *window.sizes) for n in symbols_of(e))


def _apart(s: TwiceSite) -> Cond:
    windows = zip(s.starts, s.sizes, s.other_starts, s.other_sizes, strict=True)
    return any_of(
        c for start, size, other, length in windows
        for c in (size <= 0, length <= 0, start + size <= other, other + length <= start))


def _places(s: TwiceSite, w: Witness) -> str:
    first, second = (", ".join(str(w(e)) for e in starts) for starts in (s.starts, s.other_starts))
    sizes = " x ".join(str(w(e)) for e in s.sizes)
    who = "blocks" if s.index == BLOCK else "lanes"
    return (
        f"{who} {w(symbol(s.index))} and {w(s.other)} both write to {s.tensor}: {sizes} elements from [{first}] and "
        f"from [{second}] on")


def _unneeded(s: TwiceSite) -> tuple[str, ...]:
    return (*(("BLOCK-INDEX",) if s.alike else ("LANES-ALIKE",)), *(() if s.few else ("FEW-BLOCKS",)))


WRITE_TWICE: Rule[TwiceSite] = Rule(
    id="WRITE-TWICE", kind=SAFETY, observable=True, requires=("VF-01",), source="pypto#1371",
    claim="no two blocks of a launch, and no two lanes of a block, write one element, unless they add to it",
    sites=_sites, applies=always, assumptions=("BLOCK-INDEX", "LANES-ALIKE", "FEW-BLOCKS"),
    unneeded=_unneeded, undecided=lambda s: s.why,
    given=lambda s: s.both if not s.why else False, chosen=lambda s: frozenset({BLOCKS}),
    named=lambda s: {OTHER_BLOCK: s.other} if s.index == BLOCK else {},
    goal=lambda s: not s.why and (s.alike or _apart(s)),
    explain=_places,
    help=lambda s: "let the place grow by the size of the window from one index to the next, or store with an atomic",
    mutant=lambda s: any_of((_apart(s), *(ne(a, b) for a, b in zip(s.starts[:1], s.other_starts[:1], strict=True)))),
)

RULES = (WRITE_TWICE,)
