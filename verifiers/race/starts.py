"""Where loops start that take ids in turn, from a number that is not known: each rest of it is a case of its own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import product
from math import lcm

from pypto_verified.index import Cond, Expr, all_of, const, eq, symbol, symbols_of
from pypto_verified.index.cond import TRUE
from pypto_verified.index.expr import Atom, from_atom
from pypto_verified.records import dataclass
from verifiers.access import AccessProgram, SymbolKind
from verifiers.race.choices import divisors
from verifiers.race.sync import Sync

_MOST_CASES = 16
_OF_A_RUN = frozenset({
    SymbolKind.DIM, SymbolKind.PARAM, SymbolKind.SIZE, SymbolKind.BLOCK, SymbolKind.LAUNCH})
"""Kinds that are one number throughout a run."""


@dataclass(frozen=True, slots=True, eq=False)
class Case:
    """What stands for names, and for minima, quotients and the like where a loop starts at one; `says`: that they are
    these."""

    values: Mapping[str, Expr]
    made: Mapping[Atom, Expr]
    says: Cond

    def start(self, e: Expr) -> Expr:
        """Where a loop starts, with what stands for minima and the like."""
        if not any(atom in self.made for mono, _ in e.terms for atom in mono):
            return e
        found = const(e.constant)
        for mono, factor in e.terms:
            part = const(factor)
            for atom in mono:
                part = part * self.made.get(atom, from_atom(atom))
            found = found + part
        return found


ANY_RUN = Case({}, {}, TRUE)


def starts(program: AccessProgram, syncs: Iterable[Sync]) -> Iterator[Case]:
    """Cases that together are all runs. One that says nothing where ids need none, or too many."""
    unknown: dict[Atom, None] = {}
    slots = 1
    for sync in syncs:
        if sync.id is not None and sync.id.value is None:
            lowers = (a for loop in sync.step.loops if loop.lower is not None for a in _atoms(loop.lower, program))
            own = dict.fromkeys(a for a in (*symbols_of(sync.id).values(), *lowers) if _of_a_run(a, program))
            unknown |= own
            slots = lcm(slots, *divisors(sync.id)) if own else slots
    if slots < 2 or slots ** len(unknown) > _MOST_CASES:
        yield ANY_RUN
        return
    for rests in product(range(slots), repeat=len(unknown)):
        values = {atom: _with_rest(atom, n, slots, rest)
                  for n, (atom, rest) in enumerate(zip(unknown, rests, strict=True))}
        yield Case(
            {a.name: e for a, e in values.items() if a.kind == "sym"},
            {a: e for a, e in values.items() if a.kind != "sym"},
            all_of(eq(from_atom(a), e) for a, e in values.items()))


def _atoms(e: Expr, program: AccessProgram) -> Iterator[Atom]:
    """What a start is made of: of what depends on more than the run, the names in it."""
    for mono, _ in e.terms:
        for atom in mono:
            yield from (atom,) if _of_a_run(atom, program) else symbols_of(from_atom(atom)).values()


def _of_a_run(atom: Atom, program: AccessProgram) -> bool:
    return all(program.symbols.kinds.get(name) in _OF_A_RUN for name in symbols_of(from_atom(atom)))


def _with_rest(atom: Atom, number: int, slots: int, rest: int) -> Expr:
    name = atom.name if atom.kind == "sym" else f"start {number}"
    return slots * symbol(f"{name}@start", None if atom.lo is None else -((rest - atom.lo) // slots)) + rest
