"""Where a walk is: in which iterations of the loops around."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import field, replace

from pypto_verified.index import Cond, Expr, IntLike, all_of, substitute, substitute_cond
from pypto_verified.index.cond import TRUE
from pypto_verified.index.expr import from_atom
from pypto_verified.records import dataclass
from verifiers.race.cycles import Cycle, stepped_variable
from verifiers.race.starts import ANY_RUN, Case


@dataclass(frozen=True, slots=True, eq=False)
class Setting:
    """Where a walk is: what stands for the counters of the loops around, and a key that tells such places apart.
    `case`: of where loops start; `bases`: where those start whose start is one of two values, say."""

    values: Mapping[str, IntLike]
    key: tuple[Hashable, ...]
    cycles: tuple[Cycle, ...]
    case: Case = ANY_RUN
    bases: Mapping[Cycle, Expr] = field(default_factory=dict)

    def base(self, cycle: Cycle) -> Expr:
        """Where a loop in there starts."""
        known = self.bases.get(cycle)
        return known if known is not None else substitute(self.case.start(cycle.base), self.values)


def outside(case: Case, number: int) -> Setting:
    """Around all loops, in that case."""
    return Setting(case.values, (("case", number),) if case is not ANY_RUN else (), (), case)


def begins(cycle: Cycle, at: Setting) -> Iterator[tuple[Cond, Setting]]:
    """What a loop with something in turn starts at where that is a minimum or maximum: each value of it in turn, if
    none before is the one, and what makes it the one."""
    base = at.base(cycle)
    bends = ((mono[0], factor) for mono, factor in base.terms if len(mono) == 1 and mono[0].kind in ("min", "max"))
    bend, factor = next(bends, (None, 0))
    if cycle.period < 2 or bend is None:
        yield TRUE, at
        return
    for n, value in enumerate(bend.args):
        others = [e for e in bend.args if e is not value]
        is_it = all_of(value <= e if bend.kind == "min" else value >= e for e in others)
        start = base + factor * (value - from_atom(bend))
        yield is_it if n + 1 < len(bend.args) else TRUE, replace(
            at, key=(*at.key, "start", n), bases={**at.bases, cycle: start})


def iteration(cycle: Cycle, n: IntLike, at: Setting, *key: Hashable) -> Setting:
    """Iteration `n` of a loop; `key` tells which."""
    return Setting(_values(cycle, n, at), (*at.key, *key), (*at.cycles, cycle), at.case, at.bases)


def residue(cycle: Cycle, r: int, at: Setting) -> tuple[Setting, Setting, Cond]:
    """The iterations of a residue, the test after them, and whether another one follows."""
    here = iteration(cycle, cycle.steady(r), at, "s", r)
    test = iteration(cycle, cycle.steady(r) + 1, at, "s", r, "head")
    return here, test, substitute_cond(cycle.goes_on(cycle.steady(r) + 1), here.values)


def _values(cycle: Cycle, n: IntLike, at: Setting) -> dict[str, IntLike]:
    """What stands for the counters in iteration `n`."""
    values = {**at.values, cycle.name: at.base(cycle) + n}
    stepped = stepped_variable(cycle.loop, cycle.name, cycle.base)
    if stepped is not None:
        name, value = stepped
        values[name] = substitute(at.case.start(value), values)
    return values
