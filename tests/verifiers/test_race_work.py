"""How much is run to find a failure, and to ask whether callers can avoid it."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from pypto_verified.report.model import Verdict
from tests.verifiers.examples_event import branch, flag, loop
from tests.verifiers.examples_race import barrier, both, exp, pipes, read
from tests.verifiers.race_verdicts import judge, verdicts_of
from verifiers.access import Loop
from verifiers.race import search
from verifiers.race.runs import Run
from verifiers.race.search import _Purse
from verifiers.race.walker import Core
from verifiers.race.witness import Want


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The steps of each run."""
    found: list[int] = []

    class Counted(Run):
        def __init__(
            self, core: Core, given: dict[str, int], truth: bool, wanted: set[Want], budget: int,
            truths: Mapping[str, bool],
        ) -> None:
            super().__init__(core, given, truth, wanted, budget, truths)
            found.append(budget - self.budget)

    monkeypatch.setattr(search, "Run", Counted)
    return found


RACE = (exp("a", "b"), exp("b", "c"))
"""On one pipe, without a barrier."""


def test_numbers_that_make_no_difference_to_a_pair_are_not_tried(runs: list[int]) -> None:
    """A loop that loads another tile, before a pair that is ordered for one value."""
    pair = (both("S V"), exp("a", "b"), branch("eq, %n, %c1", barrier("V")), exp("b", "b"))
    judge(pipes(*pair, args="%n: index"))
    alone = len(runs)
    runs.clear()
    other = loop("m", branch("eq, %k, %c1", read("c")))
    judge(pipes(other, *pair, args="%n: index, %m: index, %k: index"))
    assert alone == len(runs) > 0


def test_one_failing_run_for_each_value_of_a_caller_is_enough(runs: list[int]) -> None:
    """A value that only counts iterations in between decides how often the pair fails, not whether."""
    result = judge(pipes(both("S V"), branch("sgt, %n, %c1", *RACE), args="%n: index"))
    assert Verdict.REFUTED in verdicts_of(result)
    assert len(runs) < 60


def test_what_a_function_may_take_is_shared_fairly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "MOST_OF_ALL", 120_000)
    purse = _Purse(3)
    taken = []
    for _ in range(3):
        purse.next()
        for _ in range(20):
            taken.append(purse.take())
            purse.spent(taken[-1], taken[-1])
    assert taken[0] == search.MOST_STEPS and not min(taken) < search.LEAST_STEPS
    assert sum(taken[:20]) > sum(taken[20:40]) > 20 * search.LEAST_STEPS
    assert sum(taken) <= 120_000 + 60 * search.LEAST_STEPS
    assert purse.short


def test_a_while_loop_that_never_ends_is_not_followed_for_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """It counts past %n, where %n is odd, with a flag whose state is not recognised and a race behind."""
    turns: list[Loop] = []
    asked = Run._goes_on

    def goes_on(run: Run, loop: Loop) -> bool:
        turns.append(loop)
        return asked(run, loop)

    monkeypatch.setattr(Run, "_goes_on", goes_on)
    text = pipes(
        both("S V"), "%z = scf.while (%w = %c0) : (index) -> index {", "%g = arith.cmpi ne, %w, %n : index",
        "scf.condition(%g) %w : index", "} do {", "^bb0(%k: index):", "%half = arith.divsi %k, %c2 : index",
        "%odd = arith.remsi %half, %c2 : index", branch("eq, %odd, %c1", flag("set", 1, "S V")),
        branch("ne, %odd, %c1", flag("wait", 1, "S V")), exp("a", "b"), "%next = arith.addi %k, %c2 : index",
        "scf.yield %next : index", "}", exp("b", "c"), args="%n: index")
    assert Verdict.UNKNOWN in verdicts_of(judge(text))
    assert 0 < len(turns) < 10_000
