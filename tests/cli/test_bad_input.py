"""Whatever it is given: one clear line, exit code 2, no traceback, and the other files keep their verdicts."""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from pathlib import Path

import pytest

from pypto_verified.cli import main
from pypto_verified.inputs import MAX_BYTES

GOOD = """
import pypto.language as pl

@pl.program
class Good:
    @pl.function(type=pl.FunctionType.InCore)
    def good(self, a: pl.Tensor[[16, 64], pl.FP32], out: pl.Out[pl.Tensor[[16, 64], pl.FP32]]):
        return pl.store(pl.exp(pl.load(a, [0, 0], [16, 64])), [0, 0], out)
"""

MODULE = """
!tile = !pto.tile_buf<loc=vec, dtype=f32, rows=16, cols=64, v_row=16, v_col=64, blayout=row_major, slayout=none_box, \
fractal=512, pad=0>
module attributes {pto.target_arch = "a2a3"} {
  func.func @exp() attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    %c0 = arith.constant 0 : i64
    %x = pto.alloc_tile addr = %c0 : !tile
    pto.texp ins(%x : !tile) outs(%x : !tile)
    return
  }
}
"""

NOISE = random.Random(1)


def text_file(text: str) -> Callable[[Path], object]:
    return lambda path: path.write_text(text, encoding="utf-8")


def bytes_file(data: bytes) -> Callable[[Path], object]:
    return lambda path: path.write_bytes(data)


def ascii_noise(size: int) -> bytes:
    return bytes(NOISE.choices(range(32, 127), k=size))


CASES: dict[str, tuple[str, Callable[[Path], object], str]] = {
    "missing": ("k.py", lambda path: None, "no such file"),
    "empty": ("k.py", text_file(""), "empty file"),
    "empty pto": ("k.pto", text_file("\n \n"), "empty file"),
    "syntax error": ("k.py", text_file("import pypto.language as pl\ndef f(:\n"), "k.py:2"),
    "no kernel": ("k.py", text_file("x = 1\n"), "no kernel"),
    "unknown op": ("k.py", text_file(GOOD.replace("pl.exp", "pl.frobnicate")), "frobnicate"),
    "zero bytes": ("k.pto", bytes_file(b"module {\0}"), "not a text file"),
    "binary": ("k.py", bytes_file(b"\x7fELF\xff\xfe\x80"), "not a text file"),
    "large noise": ("k.py", bytes_file(b"\xf0" * (MAX_BYTES + 1)), "too large"),
    "large ascii noise": ("k.pto", bytes_file(b"(" * (MAX_BYTES + 1)), "too large"),
    "ascii noise": ("k.pto", bytes_file(ascii_noise(1 << 17)), "k.pto:1"),
    "python noise": ("k.py", bytes_file(ascii_noise(1 << 17)), "k.py:1"),
    "deep nesting": ("k.py", text_file("x = " + "(" * 5000 + ")" * 5000), "k.py"),
    "truncated module": ("k.pto", text_file("module {\n  func.func @f() {\n"), "k.pto"),
    "no function": ("k.pto", text_file("module {\n}\n"), "no function"),
    "empty directory": ("k.py", lambda path: path.mkdir(), "no kernel in this directory"),
    "broken link": ("k.py", lambda path: path.symlink_to("nowhere.py"), "broken symbolic link"),
    "link to itself": ("k.py", lambda path: path.symlink_to("k.py"), "broken symbolic link"),
    "pipe": ("k.py", os.mkfifo, "not a regular file"),
    "C++": ("k.cpp", text_file("int main() {}"), ".cpp files come in a later version"),
    "wrong kind": ("k.txt", text_file("hello"), "its name ends in .txt"),
    "unregistered op in a module": ("k.pto", text_file(MODULE.replace("pto.texp", "pto.tfrobnicate")), "tfrobnicate"),
    "unknown attribute": ("k.py", text_file("import pypto.language as pl\npl.nonsense.deep(1)\n"), "k.py:2"),
    "exit in the file": ("k.py", text_file("import sys\nsys.exit(0)\n"), "k.py"),
    "exception in the file": ("k.py", text_file("1 / 0\n"), "ZeroDivisionError"),
    "process ends": ("k.py", text_file("import os\nos._exit(3)\n"), "exit code 3"),
    "process dies": ("k.py", text_file("import os\nos.kill(os.getpid(), 9)\n"), "SIGKILL"),
}


@pytest.mark.parametrize(("name", "make", "expected"), CASES.values(), ids=list(CASES))
def test_bad_input(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, make: Callable[[Path], object], expected: str
) -> None:
    make(tmp_path / name)
    (tmp_path / "z_good.py").write_text(GOOD, encoding="utf-8")
    assert main([str(tmp_path / name), str(tmp_path / "z_good.py"), "--timeout", "20"]) == 2
    shown, log = capsys.readouterr()
    (line,) = [one for one in shown.splitlines() if " ERROR " in one and name in one]
    assert expected in line
    assert "internal error" not in line
    assert "Traceback" not in shown + log
    assert f"PROVED   {tmp_path / 'z_good.py'}: good" in shown


@pytest.mark.skipif(os.geteuid() == 0, reason="root can read every file")
def test_unreadable_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "k.py"
    path.write_text(GOOD, encoding="utf-8")
    path.chmod(0)
    assert main([str(path)]) == 2
    assert "can't be read: Permission denied" in capsys.readouterr().out


def test_a_file_that_hangs_is_unknown_and_the_others_go_on(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.py").write_text("import pypto.language\nwhile True:\n    pass\n", encoding="utf-8")
    (tmp_path / "b.py").write_text(GOOD, encoding="utf-8")
    assert main([str(tmp_path), "--timeout", "2"]) == 3
    shown = capsys.readouterr().out
    assert "a.py: UNKNOWN TIMEOUT: no verdict within 2 s" in shown
    assert f"PROVED   {tmp_path / 'b.py'}: good" in shown


def test_what_a_kernel_file_prints_stays_out_of_the_report(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "k.py").write_text("print('hello')\n" + GOOD, encoding="utf-8")
    for timeout in ("0", "20"):
        assert main([str(tmp_path / "k.py"), "--timeout", timeout, "--format", "json"]) == 0
        shown, log = capfd.readouterr()
        assert shown.startswith("{") and "hello" not in shown
        assert "hello" in log


def test_an_internal_error_is_one_line_that_asks_for_a_report(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise IndexError("made for this test\nsecond line")

    monkeypatch.setattr("pypto_verified.compiler.compile_function", broken)
    (tmp_path / "k.py").write_text(GOOD, encoding="utf-8")
    assert main([str(tmp_path / "k.py"), "--timeout", "0"]) == 2
    shown, log = capsys.readouterr()
    assert "ERROR INTERNAL: internal error: IndexError: made for this test second line\n" in shown
    assert "please report" in shown and "Traceback" not in shown + log

    monkeypatch.setenv("PYPTO_VERIFY_TRACEBACK", "1")
    assert main([str(tmp_path / "k.py"), "--timeout", "0"]) == 2
    assert "Traceback" in capsys.readouterr().err
