"""Where a walk is: in which iterations of the loops around."""

from __future__ import annotations

from collections.abc import Hashable, Mapping

from pypto_verified.index import Cond, IntLike, substitute, substitute_cond
from pypto_verified.records import dataclass
from verifiers.race.cycles import Cycle, stepped_variable
from verifiers.race.starts import ANY_RUN, Case


@dataclass(frozen=True, slots=True, eq=False)
class Setting:
    """Where a walk is: what stands for the counters of the loops around, and a key that tells such places apart.
    `case`: of where loops start."""

    values: Mapping[str, IntLike]
    key: tuple[Hashable, ...]
    cycles: tuple[Cycle, ...]
    case: Case = ANY_RUN


def outside(case: Case, number: int) -> Setting:
    """Around all loops, in that case."""
    return Setting(case.values, (("case", number),) if case is not ANY_RUN else (), (), case)


def iteration(cycle: Cycle, n: IntLike, at: Setting, *key: Hashable) -> Setting:
    """Iteration `n` of a loop; `key` tells which."""
    return Setting(_values(cycle, n, at), (*at.key, *key), (*at.cycles, cycle), at.case)


def residue(cycle: Cycle, r: int, at: Setting) -> tuple[Setting, Setting, Cond]:
    """The iterations of a residue, the test after them, and whether another one follows."""
    here = iteration(cycle, cycle.steady(r), at, "s", r)
    test = iteration(cycle, cycle.steady(r) + 1, at, "s", r, "head")
    return here, test, substitute_cond(cycle.goes_on(cycle.steady(r) + 1), here.values)


def _values(cycle: Cycle, n: IntLike, at: Setting) -> dict[str, IntLike]:
    """What stands for the counters in iteration `n`."""
    values = {**at.values, cycle.name: substitute(at.case.start(cycle.base), at.values) + n}
    stepped = stepped_variable(cycle.loop, cycle.name, cycle.base)
    if stepped is not None:
        name, value = stepped
        values[name] = substitute(at.case.start(value), values)
    return values
