"""Verdicts of wholes, counts and exit codes."""

from __future__ import annotations

import itertools

import pytest

from pypto_verified.report.model import FileResult, Finding, FunctionResult, Kind, Obligation, Report, Verdict, worst


def function_of(*verdicts: Verdict) -> FunctionResult:
    return FunctionResult("f", [Obligation("BOX-ROWS", Kind.LEGALITY, v, "line 1") for v in verdicts])


def finding_of(verdict: Verdict) -> Finding:
    return Finding("LANGUAGE", Kind.LEGALITY, verdict, "text")


def expected_exit(verdicts: tuple[Verdict, ...]) -> int:
    """VF-05, word by word."""
    if Verdict.ERROR in verdicts:
        return 2
    if Verdict.REFUTED in verdicts:
        return 1
    if Verdict.UNKNOWN in verdicts or Verdict.VACUOUS in verdicts:
        return 3
    return 0


@pytest.mark.requirement("VF-05")
@pytest.mark.parametrize("verdicts", list(itertools.product(Verdict, repeat=3)))
def test_exit_code_of_a_run_whatever_the_order_of_its_files(verdicts: tuple[Verdict, ...]) -> None:
    files = [FileResult(f"{i}.py", functions=[function_of(v)]) for i, v in enumerate(verdicts)]
    assert Report("a2a3", files).exit_code() == expected_exit(verdicts)


@pytest.mark.requirement("VF-05")
@pytest.mark.parametrize("verdicts", list(itertools.product(Verdict, repeat=2)))
def test_exit_code_of_one_file_with_several_verdicts(verdicts: tuple[Verdict, ...]) -> None:
    in_one_function = FileResult("a.py", functions=[function_of(*verdicts)])
    in_two_functions = FileResult("a.py", functions=[function_of(v) for v in verdicts])
    assert Report("a2a3", [in_one_function]).exit_code() == expected_exit(verdicts)
    assert Report("a2a3", [in_two_functions]).exit_code() == expected_exit(verdicts)


def test_a_function_without_obligations_is_unknown_and_a_file_without_functions_is_an_error() -> None:
    assert FunctionResult("f").verdict is Verdict.UNKNOWN
    assert FileResult("a.py").verdict is Verdict.ERROR


def test_nothing_at_all_has_the_verdict_it_is_given() -> None:
    assert worst([]) is Verdict.PROVED
    assert worst([], Verdict.UNKNOWN) is Verdict.UNKNOWN


def test_a_finding_counts_once_beside_its_obligation() -> None:
    function = function_of(Verdict.PROVED, Verdict.REFUTED)
    function.findings = [finding_of(Verdict.REFUTED), finding_of(Verdict.UNKNOWN)]
    assert function.counts() == {"proved": 1, "refuted": 1, "vacuous": 0, "unknown": 1, "error": 0}
