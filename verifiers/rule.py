"""A rule is one declaration: what it claims, about which sites, why, what to do, and a wrong version that must be
caught.

`goal` returns a condition over the site's index expressions, or a plain bool where the site is all numbers: the same
lambda runs on numbers, on symbols and, through the ladder, in a solver.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import field
from typing import Generic, TypeVar

from pypto_verified.index import Cond, Expr, IntLike, as_expr, evaluate, symbols_of
from pypto_verified.index.cond import CondLike
from pypto_verified.records import dataclass
from pypto_verified.report.model import Kind
from verifiers.sites import Context, Site

LEGALITY, SAFETY = Kind.LEGALITY, Kind.SAFETY

S = TypeVar("S", bound=Site)


@dataclass(frozen=True, slots=True)
class Witness:
    """Values that show a failure. Calling it evaluates an expression; symbols that do not matter read as their least
    value."""

    values: Mapping[str, int]

    def __call__(self, e: IntLike) -> int:
        expr = as_expr(e)
        env = dict(self.values)
        for name, atom in symbols_of(expr).items():
            env.setdefault(name, atom.lo if atom.lo is not None else 0)
        return evaluate(expr, env)

    def show(self, e: Expr) -> str:
        """`r + 32 = 64`, or just the number."""
        return str(e.value) if e.value is not None else f"{e!r} = {self(e)}"


@dataclass(frozen=True, slots=True)
class Rule(Generic[S]):
    """`id` is `FAMILY-WORD`; `observable`: a simulator run can show the failure, `unseen`: why
    none can; `requires`: requirement ids;
    `given`: what the rule may additionally take for granted at a site; `assumptions`: ids of `targets/assumptions.py`
    that the claim itself rests on (those of symbols are added by the engine), `unneeded` those that do not matter at
    a site. `mutant` is a wrong `goal`: on the rule's own examples it must give another verdict.

    `shown`: values that the rule itself has found to fail, for rules whose goal does not tell them; None where it has
    looked for none.

    `formula`: what is claimed in symbols, where a walk over the program finds what the goal only asks for; elsewhere it
    is read off the goal.

    `undecided`: why a site is beyond the rule ('' if it is not); there a goal that holds whatever happens is proved,
    and one that fails within `given` refuted, all the same. `chosen`: parameters that the rule may choose against a
    goal, such as those that count iterations.

    `named`: what a witness tells beside the symbols of the text, by name.

    `led`: values of a run that fails at an undecided site where data lead there, None where the rule itself has found
    none. Such a failure counts once a run has shown it; nobody looks for one of a rule without this.
    """

    id: str
    kind: Kind
    observable: bool
    requires: tuple[str, ...]
    source: str
    claim: str
    sites: Callable[[Context], Iterator[S]]
    applies: Callable[[S], bool]
    goal: Callable[[S], CondLike]
    explain: Callable[[S, Witness], str]
    help: Callable[[S], str]
    mutant: Callable[[S], CondLike]
    assumptions: tuple[str, ...] = ()
    unseen: str = ""
    given: Callable[[S], CondLike] = field(default=lambda s: True)
    unneeded: Callable[[S], tuple[str, ...]] = field(default=lambda s: ())
    undecided: Callable[[S], str] = field(default=lambda s: "")
    chosen: Callable[[S], frozenset[str]] = field(default=lambda s: frozenset())
    shown: Callable[[S], Mapping[str, int] | None] = field(default=lambda s: None)
    named: Callable[[S], Mapping[str, Expr]] = field(default=lambda s: {})
    led: Callable[[S], Mapping[str, int] | None] | None = None
    formula: str = ""


def always(site: Site) -> bool:
    """For rules that apply to every site of their class."""
    return True


def both(*goals: Cond | bool) -> CondLike:
    """The conjunction, for goals of several parts."""
    from pypto_verified.index import all_of

    return all_of(goals)
