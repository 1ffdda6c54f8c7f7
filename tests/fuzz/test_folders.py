"""Finds on disk: what their folders hold, why a part is not there, and how they are replayed."""

from __future__ import annotations

import io
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from pypto_verified.cli import main
from pypto_verified.errors import InputError
from pypto_verified.fuzz import command, folder, oracles
from pypto_verified.fuzz.builder import Kernel
from pypto_verified.fuzz.campaign import run
from pypto_verified.fuzz.draw import Seeded
from pypto_verified.fuzz.faults import switched_on
from pypto_verified.fuzz.generator import kernel
from pypto_verified.fuzz.oracles import Find, examine
from pypto_verified.fuzz.records import SLOW, Found
from pypto_verified.fuzz.shrink import size
from pypto_verified.language import load_source
from tests.fuzz.finds import FAULTY, written
from tests.fuzz.inline import Inline


@pytest.mark.requirement("VF-04")
def test_a_find_is_a_folder_that_fails_until_the_fault_is_gone(tmp_path: Path) -> None:
    result = run(Inline, 1, FAULTY)
    found = next(f for f in result.found.values() if "tile.sub" in f.cause)
    made = folder.write(found, tmp_path)
    assert {p.name for p in made.iterdir()} == {
        "kernel.py", "kernel.pto", "inputs.npz", "expected.npz", "actual.npz", "find.json", "test_find.py", "README.md"}
    with switched_on("sub-is-add"):
        again = folder.replay(made)
    assert [(f.oracle, f.cause) for f in again] == [("meaning", "another result")]
    assert folder.replay(made) == []
    assert main(["fuzz", "--replay", str(made)]) == 0
    assert main(["fuzz", "--replay", str(made), "--fault", "sub-is-add"]) == 1
    test = subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(made)],
                          capture_output=True, text=True, cwd=Path(__file__).parents[2], timeout=120)
    assert test.returncode == 0, test.stdout + test.stderr


TOO_LARGE = """
import pypto.language as pl


@pl.program
class P:
    @pl.function(type=pl.FunctionType.InCore)
    def large(self, x: pl.Tensor[[512, 512], pl.FP32], out: pl.Out[pl.Tensor[[512, 512], pl.FP32]]):
        return pl.store(pl.load(x, [0, 0], [512, 512]), [0, 0], out)
"""


def test_a_find_that_does_not_compile_has_no_text_says_why_and_replays(tmp_path: Path) -> None:
    (function,) = load_source(TOO_LARGE, "k.py").programs[0].functions
    large = Kernel(function, {}, "a2a3", "PYPTO")
    (find,) = examine(large).finds
    found = Found(find, large, 1, 2, 3, shrunk=True)
    made, told = written(found, tmp_path)
    assert {p.name for p in made.iterdir()} == {"README.md", "kernel.py", "find.json", "test_find.py"}
    assert re.search(r"no `kernel\.pto`: the kernel does not compile: .*vec overflows", told)
    assert f"fuzz --replay {made.name}" in told and "example 2 of seed 1; 3 statements" in told
    assert [(f.oracle, f.cause) for f in folder.replay(made)] == [(find.oracle, find.cause)]
    assert find.oracle == "accepted"


@pytest.mark.parametrize("error", [AttributeError, ZeroDivisionError, RecursionError, NotImplementedError])
def test_whatever_the_compiler_fails_with_is_a_find_that_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: type[Exception]
) -> None:
    def broken(*args: object, **kwargs: object) -> None:
        raise error("nothing there")

    for module in (oracles, folder):
        monkeypatch.setattr(module, "compile_function", broken)
    monkeypatch.setattr(command, "_workers", lambda request: (Inline, 1))
    assert command.fuzz(command.Request(examples=3, corpus=tmp_path), io.StringIO(), io.StringIO()) == 1
    (made,) = tmp_path.iterdir()
    assert f"the kernel does not compile: {error.__name__}: nothing there" in (made / "README.md").read_text()


def test_a_kernel_that_can_not_be_printed_is_written_with_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*args: object) -> str:
        raise AttributeError("nothing there")

    monkeypatch.setattr(folder, "print_program", broken)
    made, _ = written(Found(Find("crash", "c", "d"), kernel(Seeded(1, 1)), 1, 1, 1), tmp_path)
    assert (made / "kernel.py").read_text() == "# the kernel has no text: AttributeError: nothing there\n"


def test_a_text_of_an_earlier_find_is_not_left_where_there_is_none_now(tmp_path: Path) -> None:
    small = kernel(Seeded(5, 0))
    right = Found(Find("meaning", "another result", "out[0] is 1 instead of 2"), small, 5, 0, size(small.function))
    made, told = written(right, tmp_path)
    assert (made / "kernel.pto").read_text(encoding="utf-8").startswith("module")
    assert f"- `kernel.pto`: its text for {small.target}, addresses by {small.planner}" in told
    slow = replace(right, find=replace(right.find, oracle=SLOW))
    (tmp_path / "again").mkdir()
    made.rename(tmp_path / "again" / folder._slug(slow))
    made, told = written(slow, tmp_path / "again")
    assert not (made / "kernel.pto").exists()
    assert "no `kernel.pto`: compiling it may hold or end" in told


def test_the_find_of_a_planted_fault_replays_by_the_command_that_was_shown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["fuzz", "--examples", "60", "--seed", "1", "--fault", "sub-is-add", "--corpus", str(tmp_path)]
    assert main(arguments) == 1
    shown = [line.split() for line in capsys.readouterr().out.splitlines() if "--replay" in line]
    assert shown
    for name, *replay in shown:
        assert name == "pypto-verify"
        assert main(replay) == 1
    test = subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", shown[0][-1]],
                          capture_output=True, text=True, cwd=Path(__file__).parents[2], timeout=120)
    assert test.returncode == 1, test.stdout + test.stderr


def test_a_folder_without_a_find_is_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(InputError, match="no find in this folder"):
        folder.load(tmp_path)
    assert main(["fuzz", "--replay", str(tmp_path)]) == 2
    assert "no find in this folder" in capsys.readouterr().err
