"""FIFO-COUNTER: a pipe of 16 slots lets 16 tiles wait, unless the cores wait for each other at more than its slots."""

from __future__ import annotations

import pytest

from pypto_verified.pto.reader import read
from pypto_verified.report.model import Verdict
from pypto_verified.targets import target
from pypto_verified.witness import replayed
from tests.verifiers.examples_fifo import PUSH, pair_of_cores, turns
from tests.verifiers.test_fifo import BOTH
from tests.verifiers.test_fifo_mirror import ANSWER, exchange, take
from verifiers import Options, verify


def judged(text: str) -> list[tuple[str, Verdict]]:
    module, chip = read(text, "k.pto"), target("a2a3")
    results = verify(module, chip, Options(families=frozenset({"FIFO"})))
    found = [f for r in results for f in replayed(r, module, chip, 0, {}).findings]
    return sorted({(f.rule, f.verdict) for f in found if f.rule in ("FIFO-COUNTER", "REPLAY")})


def many(text: str) -> str:
    return text.replace("slot_num = 2", "slot_num = 16").replace("size = 32768", "size = 131072")


@pytest.mark.requirement("XC-09", "VF-03")
def test_a_producer_that_takes_an_answer_in_each_turn_is_not_far_ahead() -> None:
    """No run shows what the slots alone allow: that is open, and no fault of this tool."""
    assert judged(many(exchange(turns("%n", PUSH, take()), turns("%n", ANSWER)))) == [
        ("FIFO-COUNTER", Verdict.UNKNOWN)]


@pytest.mark.requirement("XC-09", "VF-03")
def test_a_producer_that_nothing_else_keeps_back_is_refuted() -> None:
    text = pair_of_cores(turns("%n", PUSH), turns("%n", BOTH), slots=16, reserved=131072)
    assert judged(text) == [("FIFO-COUNTER", Verdict.REFUTED)]
    ahead = exchange(turns("%n", PUSH) + "\n" + turns("%n", take()).replace("%i", "%j"), turns("%n", ANSWER))
    assert ("FIFO-COUNTER", Verdict.REFUTED) in judged(many(ahead))
