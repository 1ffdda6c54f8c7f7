"""What is not decided is UNKNOWN, with a reason or with the condition that would decide it."""

from __future__ import annotations

from pathlib import Path

import pytest

from pypto_verified.check import CheckOptions, check_file
from pypto_verified.cli import main
from pypto_verified.report.model import FileResult, Finding, Verdict

KERNEL = """
import pypto.language as pl

@pl.program
class Rows:
    @pl.function(type=pl.FunctionType.InCore)
    def rows(self, a: pl.Tensor[[32, 64], pl.FP32], row: pl.Scalar[pl.INDEX], out: pl.Out[pl.Tensor[[8, 64], pl.FP32]]):
        return pl.store(pl.exp(pl.load(a, [row, 0], [8, 64])), [0, 0], out)
"""

ORCHESTRATION = """
    @pl.function(type=pl.FunctionType.Orchestration)
    def main(self, a: pl.Tensor[[32, 64], pl.FP32], out: pl.Out[pl.Tensor[[8, 64], pl.FP32]]):
        out = self.rows(a, 0, out)
        return out
"""


def check(tmp_path: Path, text: str, *assume: str) -> FileResult:
    path = tmp_path / "k.py"
    path.write_text(text, encoding="utf-8")
    return check_file(str(path), CheckOptions(assume=assume, timeout=0))


def findings(result: FileResult) -> list[Finding]:
    return [*result.findings, *(f for function in result.functions for f in function.findings)]


def test_an_offset_that_the_caller_gives_needs_a_condition_and_with_it_the_kernel_is_proved(tmp_path: Path) -> None:
    result = check(tmp_path, KERNEL)
    assert result.verdict is Verdict.UNKNOWN
    needs = {f.needs for f in findings(result)}
    assert "" not in needs
    assert check(tmp_path, KERNEL, *sorted(needs)).verdict is Verdict.PROVED


def test_the_condition_by_hand_is_the_range_of_rows_that_fit(tmp_path: Path) -> None:
    assert check(tmp_path, KERNEL, "0 <= row <= 24").verdict is Verdict.PROVED
    assert check(tmp_path, KERNEL, "0 <= row <= 25").verdict is not Verdict.PROVED


def test_a_mistyped_assumption_is_noted(tmp_path: Path) -> None:
    result = check(tmp_path, KERNEL, "rwo <= 24", "0 <= row <= 24")
    assert result.verdict is Verdict.PROVED
    assert [n for n in result.notes if "left out" in n] == [
        '--assume "rwo <= 24" is left out: no kernel of this file has all of its names'
    ]


def test_assumptions_that_contradict_each_other_prove_nothing(tmp_path: Path) -> None:
    assert check(tmp_path, KERNEL, "row <= 3", "row >= 5").verdict is Verdict.VACUOUS


def test_an_assumption_that_is_no_condition_is_one_line_and_exit_code_2(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "k.py"
    path.write_text(KERNEL, encoding="utf-8")
    assert main([str(path), "--assume", "row <<"]) == 2
    assert capsys.readouterr().err.startswith("pypto-verify: ")


def test_a_registered_op_that_is_not_modelled_is_unknown_and_named(tmp_path: Path) -> None:
    text = KERNEL.replace("pl.exp(", "pl.tile.scatter_update(")
    result = check(tmp_path, text)
    assert result.verdict is Verdict.UNKNOWN
    assert any("tile.scatter_update" in f.message for f in findings(result))


def test_an_orchestration_function_is_a_note_and_changes_no_verdict(tmp_path: Path) -> None:
    result = check(tmp_path, KERNEL + ORCHESTRATION, "0 <= row <= 24")
    assert result.verdict is Verdict.PROVED
    assert any("orchestration function main" in note for note in result.notes)
    assert [f.name for f in result.functions] == ["rows"]


def test_a_file_with_nothing_but_orchestration_is_unknown(tmp_path: Path) -> None:
    head, _, _ = KERNEL.partition("    @pl.function")
    result = check(tmp_path, head + ORCHESTRATION.replace("self.rows(a, 0, out)", "out"))
    assert result.verdict is Verdict.UNKNOWN
    assert "orchestration" in findings(result)[0].message


PRODUCER = """
import pypto.language as pl

@pl.program
class Pair:
    @pl.function(type=pl.FunctionType.AIC)
    def producer(self, a: pl.Tensor[[32, 32], pl.FP16], out: pl.Out[pl.Tensor[[32, 32], pl.FP32]]):
        ring = pl.import_peer_buffer(name="ring", peer_func="consumer")
        pl.aic_initialize_pipe(dir_mask=1, slot_size=4096, c2v_consumer_buf=ring)
        am = pl.load(a, [0, 0], [32, 32], target_memory=pl.Mem.Mat)
        left = pl.move(am, target_memory=pl.Mem.Left)
        right = pl.move(am, target_memory=pl.Mem.Right)
        pl.tile.tpush_to_aiv(pl.matmul(left, right), split=0)
"""


def test_one_end_of_a_pipe_is_not_blamed_for_its_missing_peer(tmp_path: Path) -> None:
    path = tmp_path / "pair.py"
    path.write_text(PRODUCER)
    (function,) = check_file(str(path), CheckOptions(target="a5")).functions
    assert {f.verdict for f in function.findings} == {Verdict.UNKNOWN}
    assert {f.rule for f in function.findings} == {"LEGAL-IMPORT-PEER", "LEGAL-PIPE-PAIR"}
    assert all("one end is missing" in f.message for f in function.findings)
