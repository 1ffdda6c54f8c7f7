"""Kernels that share a name are all checked, compiled and told apart."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pypto_verified.cli import main

FACTORY = """
import pypto.language as pl

def make(first):
    @pl.program
    class P:
        @pl.function(type=pl.FunctionType.InCore)
        def copy(self, a: pl.Tensor[[64, 64], pl.FP32], out: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
            for i in pl.range(0, 64, 16):
                t = pl.load(a, [i + first, 0], [16, 64])
                out = pl.store(t, [i, 0], out)
            return out
    return P

"""
"""`make(1)` reads row 64 of 64, `make(0)` is right."""


@pytest.mark.parametrize(("calls", "expected"), [
    ("A = make(1)\nB = make(0)\n", [("copy", "REFUTED"), ("copy#2", "PROVED")]),
    ("A = make(0)\nB = make(1)\n", [("copy", "PROVED"), ("copy#2", "REFUTED")]),
    ("A = make(0)\nB = make(0)\n", [("copy", "PROVED")]),
])
def test_no_program_of_a_factory_is_dropped(
    calls: str, expected: list[tuple[str, str]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kernel = tmp_path / "k.py"
    kernel.write_text(FACTORY + calls, encoding="utf-8")
    main([str(kernel), "--format", "json"])
    (file,) = json.loads(capsys.readouterr().out)["files"]
    assert [(f["name"], f["verdict"]) for f in file["functions"]] == expected


def test_compile_writes_a_file_for_each_kernel_of_one_name(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kernel, out = tmp_path / "k.py", tmp_path / "out"
    kernel.write_text(FACTORY + "A = make(1)\nB = make(0)\n", encoding="utf-8")
    assert main(["compile", str(kernel), "-o", str(out)]) == 0
    assert sorted(p.name for p in (out / "ptoas").iterdir()) == ["copy#2.pto", "copy.pto"]
    assert main([str(out / "ptoas" / "copy.pto"), "--no-cache"]) == 1
    assert main([str(out / "ptoas" / "copy#2.pto"), "--no-cache"]) == 0
    capsys.readouterr()


def test_simulate_knows_the_kernels_apart(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kernel = tmp_path / "k.py"
    kernel.write_text(FACTORY + "A = make(1)\nB = make(0)\n", encoding="utf-8")
    assert main(["simulate", str(kernel), "--function", "copy"]) == 1
    assert main(["simulate", str(kernel), "--function", "copy#2"]) == 0
    capsys.readouterr()


def test_compile_wants_a_kernel_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    module = tmp_path / "k.pto"
    module.write_text("module {}", encoding="utf-8")
    assert main(["compile", str(module), "-o", str(tmp_path / "out")]) == 2
    assert "compile takes a kernel .py" in capsys.readouterr().err
