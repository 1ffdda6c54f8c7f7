"""The command `fuzz`: its arguments, its reports, its exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pypto_verified.cli import main
from pypto_verified.fuzz.command import as_json
from pypto_verified.fuzz.faults import FAULTS
from pypto_verified.fuzz.records import Plan, Result


def test_an_unknown_fault_says_where_the_known_ones_are(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fuzz", "--fault", "nonsense"]) == 2
    assert "pypto-verify fuzz --fault list" in capsys.readouterr().err


def test_the_command_reports_finds_as_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["fuzz", "--examples", "60", "--seed", "1", "--fault", "sub-is-add", "--format", "json",
                 "--corpus", str(tmp_path)]
    assert main(arguments) == 1
    report = json.loads(capsys.readouterr().out)
    assert report["kernels"] == 60
    assert report["finds"]
    for find in report["finds"]:
        assert (Path(find["folder"]) / "find.json").exists()
        assert find["statements"] <= 6
    assert {p.name for p in tmp_path.iterdir()} == {Path(f["folder"]).name for f in report["finds"]}


def test_a_report_does_not_tell_which_worker_was_faster() -> None:
    one, other = Result(Plan()), Result(Plan())
    one.stats.left_out.update({"refused: a": 1, "refused: b": 1, "refused: c": 2})
    other.stats.left_out.update({"refused: b": 1, "refused: c": 2, "refused: a": 1})
    assert as_json(one, {}) == as_json(other, {})


def test_the_command_is_silent_success_without_finds(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fuzz", "--examples", "10", "--corpus", str(tmp_path)]) == 0
    out = capsys.readouterr().out
    assert "10 kernels" in out
    assert "no finds" in out


@pytest.mark.parametrize(
    "arguments", [["--shard", "3/2"], ["--examples", "0"], ["--minutes", "-1"], ["--timeout", "0"]])
def test_wrong_arguments_are_refused(arguments: list[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["fuzz", *arguments])
    assert caught.value.code == 2


def test_faults_are_listed_and_unknown_ones_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fuzz", "--fault", "list"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == len(FAULTS)
    assert main(["fuzz", "--fault", "nonsense"]) == 2
