"""Records which requirement ids have passing tests (`@pytest.mark.requirement("CG-07")`).

With `--requirements-out FILE` a run writes `{id: [test file, ...]}` of the tests that passed; `tests/readme.py`
makes the README's feature table from it.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

PROPERTY = "requirement"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--requirements-out", metavar="FILE", help="write the requirement ids of passing tests as JSON")


def pytest_configure(config: pytest.Config) -> None:
    out = config.getoption("--requirements-out")
    if out and not hasattr(config, "workerinput"):
        config.pluginmanager.register(_Recorder(Path(out)), "requirement-recorder")


def pytest_itemcollected(item: pytest.Item) -> None:
    for mark in item.iter_markers("requirement"):
        for requirement in mark.args:
            item.user_properties.append((PROPERTY, requirement))


@pytest.fixture(autouse=True)
def cache_of_its_own(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """The results that a user keeps are neither seen nor added to."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.getbasetemp() / f"cache-{os.getpid()}"))


class _Recorder:
    """Collects the ids of passed tests; sees the reports of all workers when the run is distributed."""

    def __init__(self, out: Path) -> None:
        self.out = out
        self.passed: dict[str, set[str]] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call" and report.passed:
            for name, value in report.user_properties:
                if name == PROPERTY:
                    self.passed.setdefault(str(value), set()).add(report.nodeid.partition("::")[0])

    def pytest_sessionfinish(self) -> None:
        found = {requirement: sorted(files) for requirement, files in sorted(self.passed.items())}
        self.out.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
