"""Small kernels with one defect each, `reject/`, and their clean twins of the same name, `accept/`.

The first comment line names the rule that finds the defect, or its family; the second, `after ...`, the public reports
that the defect is taken from; the text is our own. `<- here` marks the line that is blamed. Rules of ERRORS are errors
that a user gets before anything is verified.
"""

from __future__ import annotations

from difflib import ndiff
from functools import cache
from pathlib import Path

import pytest

from pypto_verified.check import CheckOptions, check_file
from pypto_verified.report.model import FileResult, Finding, Verdict
from pypto_verified.simulator.confirm import shows
from pypto_verified.simulator.schedule.confirm import ORDER_RULES
from verifiers.registry import all_rules

HERE = Path(__file__).parent
REJECT = sorted(p for p in (HERE / "reject").iterdir() if p.suffix in (".pto", ".py"))
ACCEPT = sorted(p for p in (HERE / "accept").iterdir() if p.suffix in (".pto", ".py"))
ERRORS = ("LANGUAGE", "OP", "PASS", "CODEGEN", "PARSE")
MARK = "<- here"
_OBSERVABLE = {r.id: r.observable for r in all_rules()}


def _lines(path: Path) -> list[str]:
    return [line.lstrip("/# ").strip() for line in path.read_text(encoding="utf-8").splitlines()]


def rule_of(path: Path) -> str:
    """The rule, or family, of the header."""
    return _lines(path)[0]


def reports(path: Path) -> tuple[str, ...]:
    """The public reports that the header names."""
    after = _lines(path)[1]
    return tuple(after.removeprefix("after ").split(":")[0].split(", ")) if after.startswith("after ") else ()


@cache
def _result(path: Path) -> FileResult:
    return check_file(str(path), CheckOptions(timeout=0))


def _findings(path: Path) -> list[Finding]:
    """What was found by the rule of the header, or by its family."""
    rule, result = rule_of(path), _result(path)
    found = [*result.findings, *(f for function in result.functions for f in function.findings)]
    return [f for f in found if f"{f.rule}-".startswith(f"{rule}-")]


def _changed_lines(path: Path) -> int:
    texts = [(HERE / folder / path.name).read_text(encoding="utf-8") for folder in ("reject", "accept")]
    one, other = ([x.partition(MARK)[0].rstrip(" /#") for x in t.splitlines() if not x.startswith(("//", "#"))]
                  for t in texts)
    return sum(x[0] in "+-" for x in ndiff([x.strip() for x in one], [x.strip() for x in other]))


def test_each_kernel_has_a_twin() -> None:
    assert [p.name for p in REJECT] == [p.name for p in ACCEPT]


@pytest.mark.parametrize("path", REJECT, ids=lambda p: p.stem)
def test_the_defect_is_found_by_its_rule_at_its_line(path: Path) -> None:
    lines = path.read_text(encoding="utf-8").splitlines()
    marked = {number for number, line in enumerate(lines, 1) if MARK in line}
    verdict = Verdict.ERROR if rule_of(path) in ERRORS else Verdict.REFUTED
    found = [f for f in _findings(path) if f.verdict is verdict]
    assert marked and marked <= {f.line for f in found}
    assert all(f.help or f.rule.startswith("LEGAL-") or verdict is Verdict.ERROR for f in found)
    assert _result(path).verdict is verdict


@pytest.mark.parametrize("path", REJECT, ids=lambda p: p.stem)
@pytest.mark.requirement("VF-03")
def test_a_run_confirms_it_where_it_can_be_observed(path: Path) -> None:
    replays = [f.replay for f in _findings(path) if f.verdict is Verdict.REFUTED]
    if any(_OBSERVABLE.get(f.rule, False) and f.kind.value == "safety" and (shows(f.rule) or f.rule in ORDER_RULES)
           for f in _findings(path)):
        assert any(r.startswith("confirmed") for r in replays)
    else:
        assert not any(r.startswith("not observed") for r in replays)


@pytest.mark.parametrize("path", ACCEPT, ids=lambda p: p.stem)
def test_the_twin_is_proved(path: Path) -> None:
    assert _result(path).verdict is Verdict.PROVED


@pytest.mark.parametrize("path", ACCEPT, ids=lambda p: p.stem)
def test_a_twin_differs_in_little_more_than_the_defect(path: Path) -> None:
    assert rule_of(path) == rule_of(HERE / "reject" / path.name)
    assert 0 < _changed_lines(path) <= 20
