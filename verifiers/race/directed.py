"""Numbers that lead a run to two ops: what the branches around them ask of sizes, blocks and parameters."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pypto_verified.index import FALSE, TRUE, Cond, all_of, any_of, ne, symbols_of
from pypto_verified.index.expr import from_atom
from pypto_verified.report.model import Verdict
from verifiers.access import AccessProgram, SymbolKind
from verifiers.solver import Ladder
from verifiers.solver.cone import booleans_of, conjuncts, names_of, split_by_relevance

_CHOSEN = frozenset({SymbolKind.DIM, SymbolKind.BLOCK, SymbolKind.PARAM, SymbolKind.SIZE, SymbolKind.LAUNCH})
_TOLD = _CHOSEN | {SymbolKind.DATA, SymbolKind.OPAQUE}


def way(program: AccessProgram, steps: Iterable[int]) -> Cond:
    """What the branches around these steps ask of numbers that no loop changes."""
    kinds = program.symbols.kinds
    asked = dict.fromkeys(c for step in steps for c in conjuncts(program.steps[step].path))
    return all_of(
        c for c in asked if not any(True for _ in booleans_of(c))
        and all(kinds.get(name) in _CHOSEN for name in symbols_of(c)))


def whole_way(program: AccessProgram, steps: Iterable[int]) -> Cond:
    """What the branches around these steps ask of all that no loop counts, data among it."""
    kinds = program.symbols.kinds
    asked = dict.fromkeys(c for step in steps for c in conjuncts(program.steps[step].path))
    return all_of(c for c in asked if all(kinds.get(n) is not SymbolKind.TRIP for n in symbols_of(c)))


def told_by_data(program: AccessProgram, way_: Cond, background: Cond, ladder: Ladder) -> tuple[
        dict[str, int], dict[str, bool]] | None:
    """Numbers, and opaque Booleans, that lead a run along a whole way; None if none are known."""
    relevant, _, _ = split_by_relevance(background, names_of(way_))
    found = ladder.satisfiable(relevant & way_)
    if found.verdict is not Verdict.PROVED:
        return None
    kinds = program.symbols.kinds
    return {n: v for n, v in found.model.items() if kinds.get(n) in _TOLD}, dict(found.bools)


def leads(program: AccessProgram, way_: Cond, background: Cond, syncs: Iterable[int], ladder: Ladder) -> Iterator[
        dict[str, int]]:
    """Choices of numbers that lead a run along `way_`: any, past each sync op that a branch may leave out, none."""
    yield from models(ladder, way_, background, 1)
    around = dict.fromkeys(c for step in syncs for c in conjuncts(way(program, (step,))) if c not in conjuncts(way_))
    for c in list(around)[:_PASSED_BY]:
        yield from models(ladder, way_ & ~c, background, 1)
    yield {}


_PASSED_BY = 4


def models(ladder: Ladder, way_: Cond, background: Cond, most: int) -> Iterator[dict[str, int]]:
    """Up to `most` choices of the numbers that `way_` speaks of under which it holds, small ones first."""
    names = symbols_of(way_)
    relevant, _, _ = split_by_relevance(background, frozenset(names))
    left = relevant & way_
    for _ in range(most if way_ is not TRUE and way_ is not FALSE else 0):
        found = ladder.least(left, tuple(names))
        if found is None:
            return
        made = {name: found[name] for name in names if name in found}
        yield made
        left = left & any_of(ne(from_atom(names[name]), value) for name, value in made.items())
