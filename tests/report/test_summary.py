"""One line a file, then what each rule found."""

from __future__ import annotations

from pathlib import Path

import pytest

from pypto_verified.cli import main
from pypto_verified.report.model import FileResult, Finding, FunctionResult, Kind, Obligation, Report, Verdict
from pypto_verified.report.summary import as_lines, digest


def obligation(rule: str, verdict: Verdict) -> Obligation:
    return Obligation(rule, Kind.SAFETY, verdict, "1 pto.tadd")


def finding(rule: str, verdict: Verdict) -> Finding:
    return Finding(rule, Kind.SAFETY, verdict, "message")


def report() -> Report:
    good = FunctionResult("f", [obligation("A", Verdict.PROVED)] * 3)
    bad = FunctionResult(
        "g", [obligation("A", Verdict.PROVED), obligation("B", Verdict.REFUTED), obligation("C", Verdict.UNKNOWN)],
        [finding("C", Verdict.UNKNOWN), finding("B", Verdict.REFUTED), finding("B", Verdict.REFUTED)])
    broken = FileResult("c.pto", findings=[finding("PARSE", Verdict.ERROR)])
    return Report("a5", [FileResult("a.pto", functions=[good]), FileResult("b.pto", functions=[bad]), broken])


def test_a_line_for_each_file_names_the_worst_first() -> None:
    assert as_lines(report()).splitlines()[:3] == [
        "PROVED   a.pto  3 proved",
        "REFUTED  b.pto  REFUTED B x2, UNKNOWN C, 1 proved",
        "ERROR    c.pto  ERROR PARSE, 0 proved",
    ]


def test_rules_that_hold_everywhere_are_one_line_and_others_one_each() -> None:
    text = as_lines(report())
    assert "\nrules that hold wherever they apply: 1, with 4 obligations\n" in text
    rows = {line.split()[0]: line.split()[1:] for line in text.splitlines() if line[:2] in ("B ", "C ", "PA")}
    assert rows == {
        "B": ["0", "0", "2", "0", "0", "1"], "C": ["0", "0", "0", "1", "0", "1"],
        "PARSE": ["0", "1", "0", "0", "0", "1"]}


def test_a_log_shows_the_findings_worst_first_and_the_totals() -> None:
    assert digest(report()).splitlines() == [
        "c.pto: ERROR PARSE: message", "b.pto: REFUTED B: message", "b.pto: REFUTED B: message",
        "b.pto: UNKNOWN C: message",
        "3 files, 2 kernels for a5: 1 PROVED, 1 REFUTED, 1 ERROR; 4 of 7 obligations proved"]
    many = Report("a5", [FileResult("c.pto", findings=[finding("PARSE", Verdict.ERROR)] * 23)])
    shown = digest(many).splitlines()
    assert len(shown) == 22
    assert shown[20] == "and 3 more"


def test_the_command_checks_modules_within_modules(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tile = "!pto.tile_buf<vec, 8x16xf32>"
    kernel = f"func.func @NAME() {{\n%c = arith.constant 16 : i64\n%t = pto.alloc_tile addr = %c : {tile}\nreturn\n}}\n"
    path = tmp_path / "nested.pto"
    path.write_text(
        'module attributes {pto.target_arch = "a5"} {\nmodule {\n' + kernel.replace("NAME", "f")
        + "}\nmodule {\n" + kernel.replace("NAME", "g") + "}\n}\n")
    assert main([str(path), "--format", "lines"]) == 1
    out = capsys.readouterr().out
    assert "REFUTED PLAN-ALIGN x2" in out
    assert "1 file, 2 kernels for a5" in out


@pytest.mark.parametrize("terminal", [True, False])
def test_progress_is_one_line_on_a_terminal_and_nothing_elsewhere(
    terminal: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a", "b", "c"):
        (tmp_path / f"{name}.pto").write_text("module {\nfunc.func @k() {\nreturn\n}\n}\n")
    monkeypatch.setattr("sys.stderr.isatty", lambda: terminal)
    main([str(tmp_path), "--format", "lines", "--no-cache"])
    shown = [text.strip() for text in capsys.readouterr().err.split("\r\x1b[K")]
    assert shown == (["", "1 of 3 files", "2 of 3 files", ""] if terminal else [""])
