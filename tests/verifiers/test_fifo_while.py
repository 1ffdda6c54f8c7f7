"""FIFO: tiles that while loops transfer. What such a loop does before each test runs once more than its body."""

from __future__ import annotations

import pytest

from pypto_verified.pto.reader import read
from pypto_verified.report.model import Verdict
from pypto_verified.simulator import schedule
from pypto_verified.targets import target
from tests.verifiers.examples_fifo import FREE, PUSH, pair_of_cores, pop
from tests.verifiers.test_fifo import verdicts

BOTH = pop() + "\n" + FREE


def while_(head: tuple[str, ...], body: tuple[str, ...]) -> str:
    """A loop of %n iterations: `head` runs n + 1 times."""
    return "\n".join((
        "%end = scf.while (%w = %c0) : (index) -> index {", *head, "%more = arith.cmpi slt, %w, %n : index",
        "scf.condition(%more) %w : index", "} do {", "^bb0(%k: index):", *body, "%next = arith.addi %k, %c1 : index",
        "scf.yield %next : index", "}"))


def _goes_wrong(text: str, chip: str, n: int) -> bool:
    """Whether a run hangs, leaves a tile or gives back one that it has not popped."""
    outcome = schedule.replay(read(text, "k.pto"), "cube", {"n": n}, target(chip))
    return outcome.deadlock is not None or any(e.kind == "pipe" for e in outcome.errors)


@pytest.mark.requirement("XC-09", "VF-01")
@pytest.mark.parametrize(("cube", "vector", "rule", "chip"), [
    (while_((PUSH,), ()), BOTH, "FIFO-DRAIN", "a2a3"),
    (PUSH, while_((BOTH,), ()), "FIFO-POP", "a2a3"),
    (while_((), (PUSH,)), BOTH, "FIFO-POP", "a2a3"),
    (f"{PUSH}\n{PUSH}", "\n".join((pop(), pop("u"), while_((FREE, FREE), ()))), "FIFO-FREE", "a5"),
])
def test_what_a_while_loop_transfers_is_not_taken_for_one_tile(cube: str, vector: str, rule: str, chip: str) -> None:
    text = pair_of_cores(cube, vector, memory=chip == "a2a3")
    assert [_goes_wrong(text, chip, n) for n in range(3)].count(True) >= 2
    assert verdicts(text, rule, chip) == {Verdict.UNKNOWN}
