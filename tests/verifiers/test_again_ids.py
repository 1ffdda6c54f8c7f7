"""EVENT-AGAIN where an id is what a caller passes: the flag may be any of its pair."""

from __future__ import annotations

import pytest

from pypto_verified.pto.reader import read as parse
from pypto_verified.report.model import Verdict
from pypto_verified.simulator import schedule
from pypto_verified.targets import target
from tests.verifiers.examples_event import computed, flag
from tests.verifiers.examples_race import both, pipes
from tests.verifiers.kernels import check, verdicts

ID = ("%id = arith.remui %n, %c2 : index",)
FIXED = flag("set"), flag("wait")
PASSED = computed("set", "id"), computed("wait", "id")


@pytest.mark.requirement("EV-03")
@pytest.mark.parametrize(("first", "second"), [(FIXED, PASSED), (PASSED, FIXED), (PASSED, PASSED)])
@pytest.mark.parametrize(("between", "kept"), [("", False), (both("V MTE3", 3), False), (both("V MTE2", 3), True)])
def test_a_flag_that_may_be_the_one_before_is_asked_about(
    first: tuple[str, ...], second: tuple[str, ...], between: str, kept: bool
) -> None:
    """The second set may be given before the first wait has run, unless MTE2 waits for V in between."""
    text = pipes(*ID, *first, *([between] if between else []), *second, args="%n: index")
    result = check(text, families="EVENT RACE", strict=True, assume=("n >= 0",))
    found = verdicts(result, "EVENT-AGAIN")
    assert found == {Verdict.PROVED} if kept else found and Verdict.PROVED not in found
    runs = [schedule.replay(parse(text, "k.pto"), "k", {"n": n}, target("a2a3"), strict=True) for n in range(2)]
    assert any(run.errors for run in runs) is not kept
