"""README.md tells the truth: its feature table is that of the tests, its commands are those that CI runs."""

from __future__ import annotations

import re
import shlex

import pytest

from tests import readme
from tests.readme import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")


def command_under(marker: str) -> str:
    """The one line of the fenced block below a comment."""
    found = re.search(rf"^<!-- {marker} -->\n```\w*\n([^\n]+)\n```$", README, re.MULTILINE)
    assert found, f"README.md has no one-line fenced block under <!-- {marker} -->"
    return found[1]


def test_feature_table_lists_exactly_the_requirements_that_tests_are_marked_with() -> None:
    assert readme.part_of(README, "features") == readme.render(readme.marked()), "run: python tests/readme.py"


def test_the_sample_report_is_what_the_command_prints() -> None:
    assert readme.part_of(README, "report") == readme.sample_report(), "run: python tests/readme.py"


def test_an_unknown_requirement_id_is_an_error() -> None:
    with pytest.raises(KeyError, match="ZZ-99"):
        readme.render({"ZZ-99": ["tests/test_readme.py"]})


def test_a_table_without_a_passing_requirement_differs() -> None:
    assert readme.render({"VF-05": ["tests/a.py"]}) != readme.render({})


def test_requirement_ids_are_well_formed_and_unique() -> None:
    lines = (ROOT / "tests" / "requirements.tsv").read_text(encoding="utf-8").splitlines()
    ids = [line.split("\t")[0] for line in lines]
    assert len(ids) == len(set(ids))
    assert all(re.fullmatch(r"(FE|PS|CG|XC|MP|CA|BE|EV|VF)-\d\d", one) for one in ids)


@pytest.mark.parametrize("marker", ["run", "test"])
def test_commands_set_up_their_own_environment(marker: str) -> None:
    steps = command_under(marker).split(" && ")
    assert shlex.split(steps[0]) == ["python3", "-m", "venv", ".venv"]
    assert all(step.startswith(".venv/bin/") for step in steps[1:])


@pytest.mark.requirement("VF-07")
def test_the_test_command_type_checks_all_code_strictly() -> None:
    assert ".venv/bin/mypy pypto_verified verifiers proofs tests benchmarks" in command_under("test").split(" && ")
    assert re.search(r"^\[tool\.mypy\]\n(?:.*\n)*?strict = true$", (ROOT / "pyproject.toml").read_text(), re.MULTILINE)


def test_ci_runs_the_test_command_of_the_readme() -> None:
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert "<!-- test -->" in script and "README.md" in script
