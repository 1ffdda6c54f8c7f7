"""Refutations are replayed: a true witness is confirmed, one that shows nothing makes the run fail."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from pypto_verified.check import CheckOptions, check_file
from pypto_verified.compiler import compile_function
from pypto_verified.language import load_file
from pypto_verified.report.model import Finding, FunctionResult, Kind, Verdict
from pypto_verified.targets import A2A3
from pypto_verified.witness import replayed

BROKEN = Path(__file__).resolve().parents[2] / "examples" / "broken"


def claim(rule: str, witness: tuple[tuple[str, int], ...], kind: Kind = Kind.SAFETY) -> FunctionResult:
    finding = Finding(rule, kind, Verdict.REFUTED, "claimed", "bound.py", 17, 17, witness)
    return FunctionResult("forgotten_tail", findings=[finding])


def judge(result: FunctionResult) -> FunctionResult:
    """The replay of a claim about `examples/broken/bound.py`."""
    artifact = compile_function(load_file(BROKEN / "bound.py").programs[0].functions[0], A2A3)
    return replayed(result, artifact.module, A2A3, 0, artifact.names)


@pytest.mark.requirement("VF-03")
def test_a_true_witness_is_confirmed_under_the_name_that_the_author_knows() -> None:
    (finding,) = judge(claim("BOUND-UPPER", (("M", 33), ("row", 32)))).findings
    assert finding.replay.startswith("confirmed: global bounds: ")


@pytest.mark.requirement("VF-03")
def test_a_witness_that_shows_nothing_fails_the_run() -> None:
    result = judge(claim("BOUND-UPPER", (("M", 64), ("row", 32))))
    refuted, fault = result.findings
    assert refuted.replay.startswith("not observed: ")
    assert (fault.rule, fault.verdict) == ("REPLAY", Verdict.ERROR)
    assert (fault.file, fault.line) == (refuted.file, refuted.line)
    assert result.verdict is Verdict.ERROR


def test_a_fault_at_another_op_confirms_nothing() -> None:
    result = claim("BOUND-UPPER", (("M", 33), ("row", 32)))
    result.findings = [replace(f, line=1) for f in result.findings]
    (finding,) = judge(result).findings
    assert finding.replay == "not run: the inputs of this run do not lead there"


def test_what_the_assembler_rejects_is_not_run() -> None:
    result = claim("BOX-ROWS", (), Kind.LEGALITY)
    assert [f.replay for f in judge(result).findings] == [""]


def test_a_result_without_refutation_is_left_as_it_is() -> None:
    result = claim("BOUND-UPPER", ())
    result.findings = [replace(f, verdict=Verdict.UNKNOWN) for f in result.findings]
    assert judge(result) is result


@pytest.mark.requirement("VF-03")
@pytest.mark.parametrize("name", ["bound.py", "plan.pto", "valid.py", "view.pto"])
def test_the_observable_broken_examples_are_confirmed(name: str) -> None:
    (function,) = check_file(str(BROKEN / name), CheckOptions(timeout=0)).functions
    assert function.findings
    shown = [f.replay.partition(":")[0] for f in function.findings]
    assert shown[0] == "confirmed" and set(shown) <= {"confirmed", "not run"}


def test_replays_can_be_left_out() -> None:
    (function,) = check_file(str(BROKEN / "bound.py"), CheckOptions(timeout=0, simulate=False)).functions
    assert function.verdict is Verdict.REFUTED
    assert {f.replay for f in function.findings} == {""}
