"""What a solver says about a condition, and which rung of the ladder a condition belongs to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from pypto_verified.index import Cond, Expr
from pypto_verified.index.expr import Atom
from pypto_verified.records import dataclass

LINEAR, DIGITS, SECOND = "z3-linear", "z3-digits", "cvc5"

AGREES, CVC5_ALONE, Z3_ALONE, NEITHER, DIFFERS = "agrees", "cvc5 alone", "z3 alone", "neither", "differs"
"""What became of the comparison of two solvers; `differs: ...` goes on with where their questions are."""


@dataclass(frozen=True, slots=True)
class Answer:
    """`status` is 'sat', 'unsat' or 'unknown'; values of integers and opaque Booleans when satisfiable. `rlimit`: the
    resource units that z3 spent, minimising the values included; an answer from the store has those of its first time.
    `why`: what stopped an 'unknown', if not the budget."""

    status: str
    ints: Mapping[str, int] = field(default_factory=dict)
    bools: Mapping[str, bool] = field(default_factory=dict)
    decider: str = LINEAR
    rlimit: int = 0
    why: str = ""


_RUNGS = ("", "normal-form", "enumeration", LINEAR, DIGITS, SECOND)


def hardest(*deciders: str) -> str:
    """The highest rung of the ladder among these."""
    return max(deciders, key=_RUNGS.index)


def rung_of(*conditions: Cond) -> str:
    """LINEAR for linear integers alone; DIGITS where a quotient, a remainder or a product of symbols is among them."""
    return LINEAR if all(map(_linear, conditions)) else DIGITS


def _linear(c: Cond) -> bool:
    if c.expr is not None:
        return _linear_sum(c.expr)
    return all(map(_linear, c.parts))


def _linear_sum(e: Expr) -> bool:
    return all(len(mono) == 1 and _linear_atom(mono[0]) for mono, _ in e.terms)


def _linear_atom(a: Atom) -> bool:
    return a.kind == "sym" or (a.kind in ("min", "max") and all(map(_linear_sum, a.args)))
