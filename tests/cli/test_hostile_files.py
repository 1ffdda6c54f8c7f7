"""What a kernel file does to its process is its own affair: the run ends, on time, with one clear line."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import pytest

from pypto_verified import workers
from pypto_verified.cli import main

KERNEL = """
import pypto.language as pl

@pl.program
class P:
    @pl.function(type=pl.FunctionType.InCore)
    def k(self, a: pl.Tensor[[16, 64], pl.FP32], out: pl.Out[pl.Tensor[[16, 64], pl.FP32]]):
        return pl.store(pl.load(a, [0, 0], [16, 64]), [0, 0], out)
"""


def checked(tmp_path: Path, head: str, capsys: pytest.CaptureFixture[str], timeout: str = "10") -> tuple[int, str]:
    kernel = tmp_path / "k.py"
    kernel.write_text(head + KERNEL, encoding="utf-8")
    code = main([str(kernel), "--timeout", timeout])
    return code, capsys.readouterr().out


@pytest.mark.parametrize(("head", "line"), [
    ("import builtins; builtins.len = lambda x: 0", "ERROR LANGUAGE: the file changes builtins.len"),
    ("import sys; sys.modules.clear()", "ERROR LANGUAGE: the file changes sys.modules"),
    ("raise KeyboardInterrupt", "k.py:1:1: ERROR LANGUAGE: the file stops with KeyboardInterrupt"),
    ("class E(Exception):\n    def __str__(self): raise OSError\nraise E", "k.py:3:1: ERROR LANGUAGE: the file stops"),
])
def test_a_fault_of_the_file_is_one_line_about_the_file(
    head: str, line: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out = checked(tmp_path, head, capsys)
    assert code == 2
    assert line in out and "internal error" not in out


@pytest.mark.parametrize("head", [
    "import os; os.environ.clear()", "import os; os.chdir('/')", "import sys; assert sys.argv == [__file__], sys.argv",
    "import os\nif os.fork() == 0:\n    import time; time.sleep(60)", "import os; os.fork()",
])
def test_a_file_may_use_its_process(head: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert checked(tmp_path, head, capsys)[0] == 0


def test_loading_in_this_process_leaves_it_as_it_was(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = dict(os.environ), os.getcwd(), list(sys.argv), len
    head = "import os, sys, builtins\nos.environ.clear(); os.chdir('/'); sys.argv = []; builtins.len = None"
    assert checked(tmp_path, head, capsys, timeout="0")[0] == 2
    assert (dict(os.environ), os.getcwd(), list(sys.argv), len) == before


@pytest.mark.parametrize("timeout", ["10", "1"])
def test_what_a_file_starts_ends_with_its_check(
    timeout: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """In time (with and without a verdict): the process that the file starts would write its mark after 3 s."""
    mark = tmp_path / "mark"
    wait = "import time; time.sleep(60)" if timeout == "1" else ""
    command = f"import time, pathlib; time.sleep(3); pathlib.Path({str(mark)!r}).touch()"
    head = f"import subprocess, sys\nsubprocess.Popen([sys.executable, '-c', {command!r}])\n{wait}\n"
    checked(tmp_path, head, capsys, timeout)
    time.sleep(3.5)
    assert not mark.exists()


def test_a_result_that_never_comes_whole_counts_against_the_time() -> None:
    def work(item: int) -> int:
        """Spoils how its own process sends: the length, and then nothing."""
        def stops(descriptor: int, data: bytes) -> None:
            os.write(descriptor, data[:8])
            time.sleep(60)

        vars(workers)["_send"] = stops
        return item

    (result,) = workers.Workers(work, 1, 1.0).run([1])
    assert result == workers.Failure(True, "no verdict within 1 s")
