"""Which argument of a caller alone decides a branch: it is taken to lead each way, for the text has a way for each."""

from __future__ import annotations

from collections.abc import Iterable

from pypto_verified.index import Cond, symbols_of
from verifiers.access import AccessProgram, Step, SymbolKind
from verifiers.led import truths_passed
from verifiers.solver.cone import names_of
from verifiers.write_levels import conditions, counters

BRANCH_TAKEN = "BRANCH-TAKEN"
"""The assumption behind a failure to which one argument of a caller leads along one way of a branch."""


def passed(program: AccessProgram, names: frozenset[str]) -> frozenset[str]:
    """Those of some names that a caller passes, extents apart."""
    kinds = program.symbols.kinds
    flags = truths_passed(program)
    return frozenset(n for n in names if n in flags or kinds.get(n) in (SymbolKind.PARAM, SymbolKind.SIZE))


def lone_argument(
    program: AccessProgram, names: frozenset[str], steps: Iterable[Step], beside: frozenset[str], skipping: bool = False
) -> str:
    """The argument among `names`, if there is one: one condition around `steps` speaks of it, and of nothing else; no
    loop around them does, and nothing `beside`. `skipping`: it may also say which turn of a loop is left out. '' if
    there is none."""
    own = passed(program, names)
    if len(own) != 1 or own & beside:
        return ""
    (name,) = own
    found: set[frozenset[Cond]] = set()
    for step in steps:
        if any(name in symbols_of(e) for x in step.loops for e in (x.lower, x.upper, x.step) if e is not None):
            return ""
        for c in conditions(step):
            others = names_of(c) - own
            if name in names_of(c):
                if others and not (skipping and c.kind == "not" and others <= counters(step)):
                    return ""
                found.add(frozenset((c, ~c)))
    return name if len(found) == 1 else ""


def keep_to(lone: str) -> str:
    """What a caller can do who never passes what leads there."""
    return f"; or, if callers keep to it, --assume what {lone.partition('?')[0]} is" if lone else ""
