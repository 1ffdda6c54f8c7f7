"""A model that the solver has found stands, whatever becomes of what it is asked next."""

from __future__ import annotations

import pytest

from pypto_verified.index import holds, symbol
from verifiers.solver.smt import Smt


def test_a_model_is_told_though_the_next_try_finds_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """The second check, and all after it, run out of units at once."""
    once = Smt._once
    asked: list[Smt] = []

    def tired(smt: Smt) -> str:
        asked.append(smt)
        if len(asked) > 1:
            smt._solver.set("rlimit", 1)
        return once(smt)

    monkeypatch.setattr(Smt, "_once", tired)
    m, n = symbol("m", 2), symbol("n", 2)
    goal = (m * n * n > 40) & (m * m * n < 60) & ((m * n) % 7 >= 3)
    found = Smt().solve(goal)
    assert found.status == "sat" and len(asked) > 1
    assert holds(goal, found.ints)
