"""The solver ladder: normal form, enumeration, z3 on linear and then on digit-form integers, else UNKNOWN. The only
room that imports z3, and only when the cheaper rungs leave something open."""

from verifiers.solver.ladder import Decision, Ladder, Query
from verifiers.solver.weakest import weakest_condition, without_implied

__all__ = ["Decision", "Ladder", "Query", "weakest_condition", "without_implied"]
