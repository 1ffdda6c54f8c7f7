"""A barrier of the scalar pipe: what it has to do with the order of the other pipes."""

from __future__ import annotations

import pytest

from pypto_verified.pto.reader import read as parse
from pypto_verified.report.model import Verdict
from pypto_verified.simulator import schedule
from pypto_verified.targets import target
from tests.verifiers.examples_race import VEC, barrier, both, exp, pipes
from tests.verifiers.kernels import fill
from tests.verifiers.race_verdicts import judge, verdicts_of


@pytest.mark.requirement("EV-02")
@pytest.mark.parametrize(("between", "ordered"), [
    (both("S V"), True), (barrier("ALL"), True), (barrier("S"), False)])
def test_a_barrier_of_the_scalar_pipe_holds_no_other_back(between: str, ordered: bool) -> None:
    """What the scalar unit has written is there for its own later ops alone."""
    text = pipes(
        fill("a", VEC), both("V S"), f"pto.tsetval ins(%c0, %one : index, f32) outs(%a : {VEC})", between,
        exp("a", "b"))
    run = schedule.replay(parse(text, "k.pto"), "k", {}, target("a2a3"), schedule="late")
    assert bool(run.races) is not ordered
    assert (Verdict.REFUTED in verdicts_of(judge(text))) is not ordered
