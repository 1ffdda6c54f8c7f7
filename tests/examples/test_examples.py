"""The shipped examples: the good ones are proved on both targets, each broken one is refuted by its own rule family."""

from __future__ import annotations

from pathlib import Path

import pytest

from pypto_verified.check import CheckOptions, check_file
from pypto_verified.report.model import FileResult, Report, Verdict
from pypto_verified.report.text import plain

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
GOOD = sorted(EXAMPLES.glob("*.py"))
BROKEN = sorted(p for p in (EXAMPLES / "broken").iterdir() if p.suffix in (".py", ".pto"))
FAMILIES = {"BOX", "VIEW", "PLAN", "BOUND", "VALID", "LAYOUT", "DTYPE"}


def check(path: Path, target: str = "a2a3") -> FileResult:
    return check_file(str(path), CheckOptions(target=target, timeout=0))


def test_there_are_eight_good_examples_and_one_broken_one_a_family() -> None:
    assert len(GOOD) == 8
    assert {p.stem.upper() for p in BROKEN} == FAMILIES


@pytest.mark.parametrize("target", ["a2a3", "a5"])
@pytest.mark.parametrize("path", GOOD, ids=lambda p: p.stem)
def test_a_good_example_is_proved(path: Path, target: str) -> None:
    result = check(path, target)
    assert result.verdict is Verdict.PROVED, plain(Report(target, [result]))
    assert sum(len(f.obligations) for f in result.functions) > 10


@pytest.mark.parametrize("path", BROKEN, ids=lambda p: p.stem)
def test_a_broken_example_is_refuted_by_its_family_at_a_line_of_its_text(path: Path) -> None:
    result = check(path)
    assert result.verdict is Verdict.REFUTED
    findings = [f for function in result.functions for f in function.findings]
    assert {f.rule.partition("-")[0] for f in findings} == {path.stem.upper()}
    for finding in findings:
        assert finding.verdict is Verdict.REFUTED
        assert finding.source_line in path.read_text(encoding="utf-8").splitlines()
        assert finding.message != finding.help
        assert finding.help


def test_the_forgotten_tail_is_shown_by_a_size_that_is_no_multiple_of_the_step() -> None:
    result = check(EXAMPLES / "broken" / "bound.py")
    for finding in result.functions[0].findings:
        numbers = dict(finding.witness)
        assert numbers["M"] % 32 != 0
        assert numbers["row"] + 32 > numbers["M"] > numbers["row"] >= 0


@pytest.mark.requirement("VF-02")
@pytest.mark.parametrize("path", [*GOOD, *BROKEN], ids=lambda p: p.stem)
def test_each_rule_has_one_verdict_at_each_site_and_the_counts_add_up(path: Path) -> None:
    for function in check(path).functions:
        sites = [(o.rule, o.site) for o in function.obligations]
        assert len(sites) == len(set(sites))
        assert sum(function.counts().values()) == len(sites)
        open_sites = [o for o in function.obligations if o.verdict is not Verdict.PROVED]
        assert sorted(o.rule for o in open_sites) == sorted(f.rule for f in function.findings)


@pytest.mark.parametrize("path", BROKEN, ids=lambda p: p.stem)
def test_a_broken_example_says_in_its_first_line_what_is_wrong(path: Path) -> None:
    first = path.read_text(encoding="utf-8").splitlines()[0]
    assert first.strip('"/ ').startswith(f"{path.stem.upper()}: ")
