"""Where loops start that take ids in turn, from a number that is not known: each rest of it is a case of its own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import product
from math import lcm

from pypto_verified.index import Cond, Expr, all_of, eq, symbol, symbols_of
from pypto_verified.index.cond import TRUE
from pypto_verified.index.expr import Atom, from_atom
from verifiers.access import AccessProgram, SymbolKind
from verifiers.race.sync import Sync
from verifiers.race.values import divisors

_MOST_CASES = 16
_OF_A_RUN = frozenset({
    SymbolKind.DIM, SymbolKind.PARAM, SymbolKind.SIZE, SymbolKind.BLOCK, SymbolKind.LAUNCH})
"""Kinds that are one number throughout a run."""


def starts(program: AccessProgram, syncs: Iterable[Sync]) -> Iterator[tuple[Mapping[str, Expr], Cond]]:
    """Cases that together are all runs: what stands for names there, and what that says of them. One case without any
    where ids need none, or too many."""
    names: dict[str, Atom] = {}
    slots = 1
    for sync in syncs:
        if sync.id is not None and sync.id.value is None:
            found = symbols_of(sync.id)
            found |= {n: a for loop in sync.step.loops if loop.lower is not None
                      for n, a in symbols_of(loop.lower).items()}
            own = {n: a for n, a in found.items() if program.symbols.kinds.get(n) in _OF_A_RUN}
            names |= own
            slots = lcm(slots, *divisors(sync.id)) if own else slots
    if slots < 2 or slots ** len(names) > _MOST_CASES:
        yield {}, TRUE
        return
    for rests in product(range(slots), repeat=len(names)):
        values = {
            name: slots * symbol(f"{name}@start", None if atom.lo is None else -((rest - atom.lo) // slots)) + rest
            for (name, atom), rest in zip(names.items(), rests, strict=True)}
        yield values, all_of(eq(from_atom(names[name]), value) for name, value in values.items())
