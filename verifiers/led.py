"""Whether numbers lead to a failure whatever values nobody follows turn out to be: a run can be given no opaque
Booleans, but for those that its caller passes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product

from pypto_verified.index import Cond, all_of, substitute_cond, symbol, symbols_of
from pypto_verified.report.model import Verdict
from verifiers.access import AccessProgram, SymbolKind
from verifiers.solver import Decision, Ladder
from verifiers.solver.cone import booleans_of, with_truths

INNER = (SymbolKind.TRIP, SymbolKind.BLOCK, SymbolKind.DEFINED)
"""Kinds of which a run meets all values, or computes one."""
_MOST = 3
"""Booleans of which all combinations are looked at; of more, the two in which all are alike."""


def truths_passed(program: AccessProgram) -> Mapping[str, str]:
    """Opaque Booleans that callers pass, each with the name of its argument."""
    arguments = {a.name for a in program.func.args}
    return {name: ssa for name, ssa in program.symbols.truths.items() if ssa in arguments}


def not_followed(program: AccessProgram, c: Cond) -> list[str]:
    """The opaque Booleans of a condition that no caller passes."""
    return sorted(set(booleans_of(c)) - truths_passed(program).keys())


def led_there(
    program: AccessProgram, ladder: Ladder, failing: Cond, tries: tuple[Mapping[str, int], ...]
) -> Decision | None:
    """A model of `failing` that is one whatever its opaque Booleans are, for the first of `tries`, some of its numbers,
    that has one; None if none has. What a run meets or computes by itself may differ with the Booleans."""
    each = [
        _apart(program, with_truths(failing, truths), n)
        for n, truths in enumerate(_combinations(not_followed(program, failing)))]
    for numbers in tries:
        found = ladder.satisfiable(substitute_cond(all_of(each), numbers))
        if found.verdict is Verdict.PROVED:
            return found
    return None


def _combinations(names: list[str]) -> Iterator[dict[str, bool]]:
    if len(names) > _MOST:
        yield from (dict.fromkeys(names, truth) for truth in (True, False))
    else:
        yield from (dict(zip(names, truths, strict=True)) for truths in product((True, False), repeat=len(names)))


def _apart(program: AccessProgram, c: Cond, number: int) -> Cond:
    """A condition with names of its own for what a run makes; those of the first one stay."""
    own = {n: symbol(f"{n}~{number}", a.lo, a.hi) for n, a in symbols_of(c).items()
           if number and program.symbols.kinds.get(n) in INNER}
    return substitute_cond(c, own)
