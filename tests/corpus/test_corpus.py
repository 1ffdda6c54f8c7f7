"""Small kernels with one defect each, `reject/`, and their clean twins of the same name, `accept/`.

The first comment line names the rule that finds the defect, the second one, if it says `after`, the public report that
the defect is taken from; the text is our own.
"""

from __future__ import annotations

from difflib import ndiff
from functools import cache
from pathlib import Path

import pytest

from pypto_verified.check import check_paths
from pypto_verified.report.model import FileResult, Finding, Verdict
from pypto_verified.simulator.confirm import OBSERVED_AS
from pypto_verified.simulator.schedule.confirm import ORDER_RULES
from verifiers.registry import RULES

HERE = Path(__file__).parent
REJECT = sorted(p for p in (HERE / "reject").iterdir() if p.suffix in (".pto", ".py"))
ACCEPT = sorted(p for p in (HERE / "accept").iterdir() if p.suffix in (".pto", ".py"))
_OBSERVABLE = {r.id: r.observable for r in RULES}


def _rule(path: Path) -> str:
    return path.read_text(encoding="utf-8").splitlines()[0].lstrip("/# ").strip()


@cache
def _result(path: Path) -> FileResult:
    (result,) = check_paths([str(path)]).files
    return result


def _findings(path: Path, rule: str) -> list[Finding]:
    result = _result(path)
    return [f for fn in result.functions for f in fn.findings if f.rule == rule]


def _changed_lines(path: Path) -> int:
    texts = [(HERE / folder / path.name).read_text(encoding="utf-8") for folder in ("reject", "accept")]
    one, other = ([x.strip() for x in t.splitlines() if not x.startswith(("//", "#"))] for t in texts)
    return sum(x[0] in "+-" for x in ndiff(one, other))


def test_each_kernel_has_a_twin() -> None:
    assert [p.name for p in REJECT] == [p.name for p in ACCEPT]


@pytest.mark.parametrize("path", REJECT, ids=lambda p: p.stem)
def test_the_defect_is_refuted_by_its_rule(path: Path) -> None:
    found = [f for f in _findings(path, _rule(path)) if f.verdict is Verdict.REFUTED]
    assert found
    assert all(f.line > 0 and f.help for f in found)
    assert _result(path).verdict is Verdict.REFUTED


@pytest.mark.parametrize("path", REJECT, ids=lambda p: p.stem)
@pytest.mark.requirement("VF-03")
def test_a_run_confirms_it_where_it_can_be_observed(path: Path) -> None:
    rule = _rule(path)
    replays = [f.replay for f in _findings(path, rule) if f.verdict is Verdict.REFUTED]
    if _OBSERVABLE.get(rule) and rule.startswith((*OBSERVED_AS, *ORDER_RULES)):
        assert any(r.startswith("confirmed") for r in replays)
    else:
        assert not any(r.startswith("not observed") for r in replays)


@pytest.mark.parametrize("path", ACCEPT, ids=lambda p: p.stem)
def test_the_twin_is_proved(path: Path) -> None:
    assert _result(path).verdict is Verdict.PROVED


@pytest.mark.parametrize("path", ACCEPT, ids=lambda p: p.stem)
def test_a_twin_differs_in_little_more_than_the_defect(path: Path) -> None:
    assert _rule(path) == _rule(HERE / "reject" / path.name)
    assert 0 < _changed_lines(path) <= 20
