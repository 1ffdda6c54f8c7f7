"""What the README tells a repository of kernels to do: its commands run and gate, its test passes, its hook exists."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from pypto_verified.cli import main

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def _block(marker: str) -> str:
    found = re.search(rf"^<!-- {marker} -->\n```\w+\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
    assert found, f"README.md has no block under <!-- {marker} -->"
    return found[1]


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with one right and one broken kernel, in which it is tested."""
    (tmp_path / "kernels").mkdir()
    for file in ("vector_add.py", "broken/bound.py"):
        shutil.copy(ROOT / "examples" / file, tmp_path / "kernels")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def _step(repository: Path) -> bool:
    """Whether the workflow's own step passes."""
    (line,) = re.findall(r"- run: (pypto-verify check .*)", _block("workflow"))
    command = line.replace("pypto-verify ", f"{sys.executable} -m pypto_verified ", 1)
    return subprocess.run(["bash", "-ec", command], cwd=repository, env={"PYTHONPATH": str(ROOT)}, check=False,
                          capture_output=True, timeout=120).returncode == 0


def test_the_workflow_lets_through_what_the_baseline_has_and_nothing_else(repository: Path) -> None:
    (first,) = re.findall(r"`pypto-verify (check kernels --write-baseline \S+)`", README)
    assert main(first.split()) == 0
    assert _step(repository)
    assert (repository / "findings.sarif").stat().st_size > 0
    shutil.copy(ROOT / "examples" / "broken" / "valid.py", repository / "kernels")
    assert not _step(repository)
    (repository / "kernels" / "valid.py").write_text("import pypto.language as pl\n\ndef (\n", encoding="utf-8")
    assert not _step(repository)


def test_the_log_of_the_workflow_names_what_it_stops_for(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", "kernels", "--format", "sarif", "-o", "findings.sarif"]) == 1
    out, err = capsys.readouterr()
    first, *_, last = err.splitlines()
    assert out == ""
    assert first.startswith("kernels/bound.py:17:17: REFUTED BOUND-UPPER: reads a on axis 0")
    assert last.startswith("2 files, 2 kernels for a2a3: 1 PROVED, 1 REFUTED")
    (run,) = json.loads((repository / "findings.sarif").read_text(encoding="utf-8"))["runs"]
    (rule,) = run["tool"]["driver"]["rules"]
    assert rule["shortDescription"]["text"] == "A window ends inside its tensor"


def test_the_workflow_may_hand_in_what_it_found() -> None:
    """A token of GitHub reads only, unless the workflow says otherwise: then the upload of SARIF is refused."""
    block = _block("workflow")
    assert "upload-sarif" in block
    assert re.search(r"^permissions:\n(  .*\n)*  security-events: write$", block, re.MULTILINE)


def test_the_hook_of_the_readme_is_one_that_this_project_has(repository: Path) -> None:
    hooks = (ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8")
    (used,) = re.findall(r"- id: (\S+)", _block("hook"))
    assert used in re.findall(r"^- id: (\S+)$", hooks, re.MULTILINE)
    (entry,) = re.findall(r"^  entry: pypto-verify (.*)$", hooks, re.MULTILINE)
    (arguments,) = re.findall(r"args: \[(.*)\]", _block("hook"))
    assert main(["check", "kernels", "--write-baseline", "pypto-verify.json"]) == 0
    assert main([*entry.split(), *arguments.split(", ")]) == 0


def test_the_test_of_the_readme_passes(tmp_path: Path) -> None:
    file = tmp_path / "test_own.py"
    file.write_text(_block("own"), encoding="utf-8")
    run = subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(file)], cwd=ROOT,
                         capture_output=True, text=True, check=False, timeout=120)
    assert run.returncode == 0, run.stdout
