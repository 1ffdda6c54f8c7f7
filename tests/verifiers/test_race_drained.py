"""RACE behind a loop with flags in turn: which of them its last iteration has set is not known, but when all have been
waited for, that iteration is over too."""

from __future__ import annotations

import pytest

from pypto_verified.pto.reader import read as parse
from pypto_verified.report.model import Verdict
from pypto_verified.simulator import schedule
from pypto_verified.targets import target
from tests.verifiers.examples_event import computed, flag, loop
from tests.verifiers.examples_race import barrier, both, exp, pipes
from tests.verifiers.race_verdicts import judge
from verifiers import Options
from verifiers.race.remarks import sync_remarks

PROVED, REFUTED = Verdict.PROVED, Verdict.REFUTED


def drained(slots: int, first: int, *behind: str) -> str:
    """Each iteration runs `exp` on V and sets one of as many flags in turn; V hears from MTE2 when that has waited for
    the `first` of them. `behind` stands before what V does then."""
    turn = (f"%many = arith.constant {slots} : index", "%id = arith.remsi %i, %many : index")
    primes, drains = ([flag(does, n, "V MTE2") for n in range(slots)] for does in ("set", "wait"))
    return pipes(
        *primes,
        loop("M", *turn, computed("wait", "id", "V MTE2"), barrier("V"), exp("a", "b"),
             computed("set", "id", "V MTE2")),
        *drains[:first], both("MTE2 V"), *drains[first:], *behind, exp("c", "a"), args="%M: index")


def raced(text: str) -> bool:
    runs = (schedule.replay(parse(text, "k.pto"), "k", {"M": m}, target("a2a3")) for m in range(5))
    return any(outcome.races for outcome in runs)


@pytest.mark.requirement("EV-08")
@pytest.mark.parametrize("slots", [2, 3])
def test_flags_in_turn_that_are_all_waited_for_tell_of_every_iteration(slots: int) -> None:
    for first in range(slots + 1):
        text = drained(slots, first)
        found = {o.verdict for o in judge(text).obligations if o.rule == "RACE-WAR"}
        assert found == {PROVED if first == slots else REFUTED}
        assert raced(text) is (first < slots)


@pytest.mark.parametrize("first", [1, 2])
def test_a_barrier_behind_all_of_them_is_redundant(first: int) -> None:
    text = drained(2, first, barrier("V"))
    last = max(n for n, line in enumerate(text.splitlines(), 1) if barrier("V") in line)
    noted = [note for note in sync_remarks(parse(text, "k.pto"), target("a2a3"), Options()) if f"(line {last})" in note]
    assert [note.startswith("redundant sync: barrier V") for note in noted] == ([True] if first == 2 else [])
