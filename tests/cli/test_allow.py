"""Accepted findings: comments with a reason and baselines change the verdict, are told, and never rot in silence."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pypto_verified.allow import comments
from pypto_verified.check import paths
from pypto_verified.cli import main
from pypto_verified.report.model import FileResult, Finding, Kind, Verdict
from tests.verifiers.test_every_rule import PAIRS

WRONG = PAIRS["VIEW-UPPER"].bad
BOX = PAIRS["BOX-ROWS"].bad


def write(tmp_path: Path, text: str, name: str = "k.pto") -> str:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return str(path)


def with_comment(text: str, op: str, comment: str, above: bool = False) -> str:
    """The text with a comment at the only line of an op, or on a line of its own above it."""
    lines = text.splitlines()
    (at,) = (i for i, line in enumerate(lines) if op in line)
    if above:
        lines.insert(at, comment)
    else:
        lines[at] += f"  {comment}"
    return "\n".join(lines) + "\n"


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    code = main([*arguments, "--no-cache", "--timeout", "0"])
    return code, capsys.readouterr().out


@pytest.mark.parametrize("above", [False, True])
def test_a_comment_with_a_reason_accepts_the_finding_and_is_told(
    above: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(capsys, write(tmp_path, WRONG))[0] == 1
    comment = "// pto: allow VIEW-UPPER because the caller pads M"
    code, out = run(capsys, write(tmp_path, with_comment(WRONG, "pto.subview", comment, above)))
    assert code == 0, out
    assert "REFUTED VIEW-UPPER: the caller pads M (comment at line " in out
    assert out.splitlines()[0].startswith("ALLOWED ") and "1 allowed" in out.splitlines()[0]
    assert "1 file, 1 kernel for a2a3: 1 ALLOWED; " in out.splitlines()[-1]


def test_a_kernels_comment_is_a_python_comment(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = (Path(__file__).resolve().parents[2] / "examples" / "broken" / "bound.py").read_text("utf-8")
    text = with_comment(source, "pl.load(", "# pto: allow BOUND-UPPER because M is a multiple of 32 here")
    assert run(capsys, write(tmp_path, text, "bound.py"))[0] == 1, "the store is another line"
    text = with_comment(text, "pl.store(", "# pto: allow BOUND-UPPER because M is a multiple of 32 here", above=True)
    code, out = run(capsys, write(tmp_path, text, "bound.py"))
    assert (code, "M is a multiple of 32 here" in out) == (0, True)


@pytest.mark.parametrize("comment", ["// pto: allow VIEW-UPPER", "// pto: allow", "// pto: allow VIEW-UPPER because",
                                     "// pto: allow all because I say so"])
def test_a_comment_without_a_rule_or_a_reason_is_an_error(
    comment: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out = run(capsys, write(tmp_path, with_comment(WRONG, "pto.subview", comment)))
    assert code == 2
    assert "ERROR ALLOW: `pto: allow` needs a rule and a reason" in out
    assert "REFUTED VIEW-UPPER" in out


@pytest.mark.parametrize(("text", "comment"), [
    (PAIRS["VIEW-UPPER"].good, "// pto: allow VIEW-UPPER because it was wrong once"),
    (WRONG, "// pto: allow BOX-ROWS because of another rule"),
])
def test_a_comment_that_meets_nothing_accepts_nothing_and_is_noted(
    text: str, comment: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = run(capsys, write(tmp_path, text))[0]
    code, out = run(capsys, write(tmp_path, with_comment(text, "pto.subview", comment)))
    assert code == before
    assert "meets no finding; remove it" in out


def test_a_comment_speaks_of_its_own_line_only(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = with_comment(WRONG, "pto.alloc_tile", "// pto: allow VIEW-UPPER because the window is fine")
    assert run(capsys, write(tmp_path, text))[0] == 1


def test_comments_are_read() -> None:
    (one, two) = comments(
        "# pto: allow BOX-ROWS, BOX-COLS because of padding\n\n# more about it\nx = 1\n"
        "y = 2  # pto: allow A-B because c")
    assert (one.line, one.target, one.rules, one.reason) == (1, 4, ("BOX-ROWS", "BOX-COLS"), "of padding")
    assert (two.line, two.target, two.rules, two.reason) == (5, 5, ("A-B",), "c")


def test_a_baseline_accepts_what_was_there_and_nothing_new(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kernel, baseline = write(tmp_path, WRONG), str(tmp_path / "baseline.json")
    code, out = run(capsys, kernel, "--write-baseline", baseline)
    assert (code, "it was there before (baseline " in out) == (0, True)
    (entry,) = json.loads(Path(baseline).read_text("utf-8"))["findings"]
    assert (entry["file"], entry["kernel"], entry["rule"]) == ("k.pto", "k", "VIEW-UPPER")
    assert run(capsys, kernel, "--baseline", baseline)[0] == 0
    write(tmp_path, "\n\n" + WRONG)
    assert run(capsys, kernel, "--baseline", baseline)[0] == 0, "lines move"
    (view,) = (line for line in WRONG.splitlines() if "pto.subview" in line)
    write(tmp_path, WRONG.replace(view, view + "\n" + view.replace("%v", "%u")))
    assert run(capsys, kernel, "--baseline", baseline)[0] == 1, "the second one is new"


@pytest.mark.parametrize("path", [".", "./kernels", "kernels//bound.py", "./kernels/../kernels"])
def test_what_is_accepted_does_not_depend_on_how_a_path_is_written(
    path: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    source = (Path(__file__).resolve().parents[2] / "examples" / "broken" / "bound.py").read_text("utf-8")
    text = with_comment(source, "pl.load(", "# pto: allow BOUND-UPPER because M is a multiple of 32 here")
    (tmp_path / "kernels").mkdir()
    write(tmp_path / "kernels", text, "bound.py")
    monkeypatch.chdir(tmp_path)
    assert run(capsys, "kernels", "--write-baseline", "baseline.json")[0] == 0
    assert len(json.loads(Path("baseline.json").read_text("utf-8"))["findings"]) == 1, "the comment took the other"
    assert run(capsys, path, "--baseline", "baseline.json")[0] == 0


def test_a_baseline_entry_that_is_gone_is_noted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kernel, baseline = write(tmp_path, WRONG), str(tmp_path / "baseline.json")
    run(capsys, kernel, "--write-baseline", baseline)
    write(tmp_path, PAIRS["VIEW-UPPER"].good)
    code, out = run(capsys, kernel, "--baseline", baseline)
    assert code == 0
    assert "the baseline has VIEW-UPPER REFUTED in k, which is gone: write it anew" in out


def test_a_log_tells_what_the_baseline_has_too_much(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The report is in a file, and of a run that ends well nobody opens it."""
    kernel, baseline = write(tmp_path, WRONG), str(tmp_path / "baseline.json")
    run(capsys, kernel, "--write-baseline", baseline)
    write(tmp_path, PAIRS["VIEW-UPPER"].good)
    assert main(["check", kernel, "--baseline", baseline, "--format", "sarif", "-o", str(tmp_path / "r.sarif")]) == 0
    note, _ = capsys.readouterr().err.splitlines()
    assert note == f"{kernel}: note: the baseline has VIEW-UPPER REFUTED in k, which is gone: write it anew"


def test_a_baseline_that_is_written_anew_has_what_the_old_one_had(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kernel, baseline = write(tmp_path, WRONG), str(tmp_path / "baseline.json")
    run(capsys, kernel, "--write-baseline", baseline)
    before = Path(baseline).read_text("utf-8")
    assert run(capsys, kernel, "--baseline", baseline, "--write-baseline", baseline)[0] == 0
    assert Path(baseline).read_text("utf-8") == before


def test_a_file_of_the_baseline_that_is_gone_is_noted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    old, new = write(tmp_path, WRONG, "old.pto"), write(tmp_path, PAIRS["VIEW-UPPER"].good, "new.pto")
    baseline, text = str(tmp_path / "baseline.json"), "the baseline has findings of old.pto, which is gone"
    run(capsys, old, "--write-baseline", baseline)
    assert text not in run(capsys, new, "--baseline", baseline)[1], "it is there, and only not checked"
    Path(old).unlink()
    assert text in run(capsys, new, "--baseline", baseline)[1]


def test_a_finding_moves_with_its_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    old, baseline = write(tmp_path, WRONG, "old.pto"), str(tmp_path / "baseline.json")
    run(capsys, old, "--write-baseline", baseline)
    copy = write(tmp_path, WRONG, "new.pto")
    assert run(capsys, copy, "--baseline", baseline)[0] == 1, "while the old one is there this is another"
    Path(old).unlink()
    code, out = run(capsys, copy, "--baseline", baseline)
    assert (code, "it was there before, in old.pto" in out) == (0, True)
    assert "the baseline has findings of old.pto, which is gone: write it anew" in out
    write(tmp_path, WRONG, "newer.pto")
    assert run(capsys, str(tmp_path), "--baseline", baseline)[0] == 1, "it moved to one place"
    write(tmp_path, WRONG.replace("@k(", "@other("), "new.pto")
    assert run(capsys, copy, "--baseline", baseline)[0] == 1, "another kernel"


ORCHESTRATION = """
import pypto.language as pl


@pl.program
class P:
    @pl.function(type=pl.FunctionType.Orchestration)
    def launch(self, a: pl.Tensor[[32, 64], pl.FP32]):
        return a
"""


def test_a_file_that_is_not_modelled_is_accepted_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A gate that lets nothing open through must not stop for what this version can't judge."""
    file, baseline = write(tmp_path, ORCHESTRATION, "k.py"), str(tmp_path / "baseline.json")
    assert run(capsys, file)[0] == 3
    assert run(capsys, file, "--write-baseline", baseline)[0] == 0
    code, out = run(capsys, file, "--baseline", baseline)
    assert (code, "NOT-MODELLED: it was there before" in out, "1 ALLOWED" in out) == (0, True, True)
    _, text = run(capsys, file, "--baseline", baseline, "--format", "json")
    (found,) = json.loads(text)["files"]
    assert (found["verdict"], found["findings"]) == ("PROVED", [])
    assert [(a["rule"], a["reason"]) for a in found["allowed"]] == [("NOT-MODELLED", "it was there before")]
    write(tmp_path, PAIRS["VIEW-UPPER"].good, "other.pto")
    Path(file).unlink()
    assert "k.py, which is gone" in run(capsys, str(tmp_path), "--baseline", baseline)[1]


def test_what_took_too_long_once_is_not_accepted_for_ever() -> None:
    slow = Finding("TIMEOUT", Kind.LEGALITY, Verdict.UNKNOWN, "no verdict within 2 s", "k.py")
    assert FileResult("k.py", findings=[slow]).acceptable == []


ENTRY = {"file": "k.pto", "kernel": "k", "rule": "VIEW-UPPER", "verdict": "REFUTED", "line": "x"}
JUNK = {
    "nothing": ("", "not a baseline"), "text": ("none", "not a baseline"), "a list": ("[]", "not a baseline"),
    "no version": ("{}", "not a baseline"), "deep": ("[" * 100_000, "not a baseline"),
    "no text": ("\udcff", "not a baseline"),
    "older": ('{"baseline_version": 0, "findings": []}', "a baseline of version 0, and version 1 is read"),
    "newer": ('{"baseline_version": 2, "findings": []}', "a baseline of version 2, and version 1 is read"),
    "quoted": ('{"baseline_version": "1", "findings": []}', "a baseline of version '1', and version 1 is read"),
    "no findings": ('{"baseline_version": 1}', "a baseline with findings that are none"),
    "a number": ('{"baseline_version": 1, "findings": 3}', "a baseline with findings that are none"),
    "empty entry": ('{"baseline_version": 1, "findings": [{}]}', "a baseline with findings that are none"),
    "numbers in an entry": (
        json.dumps({"baseline_version": 1, "findings": [ENTRY, {**ENTRY, "kernel": 1}]}),
        "a baseline with findings that are none"),
}


@pytest.mark.parametrize("what", JUNK)
def test_what_is_no_baseline_is_refused_and_told_how_to_get_one(
    what: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, (content, told) = tmp_path / "baseline.json", JUNK[what]
    path.write_bytes(content.encode("utf-8", "surrogateescape"))
    assert main([write(tmp_path, WRONG), "--no-cache", "--baseline", str(path)]) == 2
    assert capsys.readouterr().err == (
        f"pypto-verify: {path}: {told} (write it anew with --write-baseline FILE)\n")


def test_a_baseline_that_is_not_there_is_told_before_anything_is_checked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(paths, "_check_files", lambda *given: pytest.fail("files are checked"))
    for path in (tmp_path / "baseline.json", tmp_path):
        assert main([write(tmp_path, WRONG), "--no-cache", "--baseline", str(path)]) == 2
        assert f"{path}: can't read the baseline: " in capsys.readouterr().err


def test_accepted_findings_are_in_json_and_suppressed_in_sarif(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write(tmp_path, with_comment(WRONG, "pto.subview", "// pto: allow VIEW-UPPER because the caller pads M"))
    _, out = run(capsys, path, "--format", "json")
    (function,) = json.loads(out)["files"][0]["functions"]
    assert (function["verdict"], function["obligations"]["refuted"], function["findings"]) == ("PROVED", 0, [])
    assert [(a["rule"], a["reason"]) for a in function["allowed"]] == [("VIEW-UPPER", "the caller pads M")]
    _, out = run(capsys, path, "--format", "sarif")
    (shown,) = json.loads(out)["runs"][0]["results"]
    assert shown["suppressions"] == [{"kind": "inSource", "justification": "the caller pads M"}]


def test_the_short_form_counts_what_is_accepted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write(tmp_path, with_comment(WRONG, "pto.subview", "// pto: allow VIEW-UPPER because the caller pads M"))
    _, out = run(capsys, path, "--format", "lines")
    assert out.splitlines()[0].endswith(" proved, 1 allowed")
    assert out.splitlines()[0].startswith("ALLOWED ")


def test_an_error_is_not_accepted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kernel, baseline = write(tmp_path, "module {\n  nonsense\n}\n"), str(tmp_path / "baseline.json")
    assert run(capsys, kernel, "--write-baseline", baseline)[0] == 2


def test_the_verbose_form_lists_each_obligation(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write(tmp_path, BOX)
    _, out = run(capsys, path, "-v")
    table = out[out.index("obligations of k"):].splitlines()
    assert table[1].split() == ["rule", "site", "verdict", "decided", "by", "ms", "units"]
    assert any(line.split()[0] == "BOX-ROWS" and "REFUTED" in line for line in table[2:] if line)
    assert " by normal-form (" in out
    _, out = run(capsys, path, "--format", "json", "-v")
    (function,) = json.loads(out)["files"][0]["functions"]
    details = function["details"]
    assert len(details) == sum(function["obligations"].values())
    assert {"decider", "rlimit", "milliseconds"} <= set(details[0])
    from pypto_verified.report.json_form import from_json

    assert from_json(out)["files"][0]["functions"][0]["details"] == details


def test_a_second_opinion_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("cvc5")
    code, out = run(capsys, write(tmp_path, PAIRS["WRITE-REST"].good), "--cross")
    assert code == 0
    assert "second opinion: " in out
    assert " agree" in out
