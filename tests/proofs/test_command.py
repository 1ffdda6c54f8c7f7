"""`pypto-verify prove`: what it prints, its exit code, and when a recorded verdict counts."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import FrameType

import pytest

import proofs
from proofs import prover, result
from proofs.form import as_json, as_text, exit_code
from proofs.registry import THEOREMS
from proofs.result import Record, Result, load, save, source_files
from pypto_verified.cache import default_directory
from pypto_verified.cli import main
from pypto_verified.report.model import Verdict

ROOT = Path(__file__).resolve().parents[2]

PROVED = Result(
    "T-ONE", "One is positive.", "1 > 0", "all of one", ("BOX-ROWS",), "0" * 32, Verdict.PROVED, "z3", 12.0, 3,
    ("one is negative",), 1, counterexamples={"two, at once": {"n": 2}})
REFUTED = replace(PROVED, id="T-TWO", verdict=Verdict.REFUTED, failed="c", witness={"x": 7}, counterexamples={})


def test_the_text_shows_statement_formula_ranges_and_counterexamples() -> None:
    lines = as_text([PROVED]).splitlines()
    assert lines[0] == "PROVED  T-ONE  (3 claims, 1 of 1 mutants refuted, z3, 12 ms)"
    assert [line.strip() for line in lines[1:6]] == [
        "One is positive.", "1 > 0", "for all of one", "rules that rest on it: BOX-ROWS",
        "fails, as it says: two, at once, at n = 2"]
    assert lines[-1] == "1 theorem: 1 PROVED; 3 claims, 1 of 1 mutants refuted"


def test_the_text_of_a_failure_names_the_claim_and_the_values() -> None:
    assert "    failed: c at x = 7" in as_text([REFUTED]).splitlines()


def test_the_json_has_a_row_a_theorem() -> None:
    one, two = json.loads(as_json([PROVED, REFUTED]))["theorems"]
    assert (one["id"], one["statement"]) == ("T-ONE", "One is positive.")
    assert (one["verdict"], one["witness"]) == ("PROVED", None)
    assert (one["mutants_refuted"], one["milliseconds"], one["decider"]) == (1, 12.0, "z3")
    assert (two["verdict"], two["failed"], two["witness"]) == ("REFUTED", "c", {"x": 7})


def test_exit_codes() -> None:
    unknown = replace(PROVED, verdict=Verdict.UNKNOWN)
    assert exit_code([PROVED]) == 0
    assert exit_code([PROVED, unknown]) == 3
    assert exit_code([unknown, REFUTED]) == 1


def test_a_recorded_run_needs_no_solver_and_no_arrays() -> None:
    code = (
        "import sys, proofs.prover as p; from proofs.result import fingerprint, load, Record;"
        "r = p.run(record=Record(fingerprint(), load().results));"
        "print(len(r), sorted({'z3', 'numpy', 'verifiers'} & set(sys.modules)))")
    run = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True,
        text=True, check=True)
    assert run.stdout.split(maxsplit=1) == [str(len(THEOREMS)), "[]\n"]


def test_while_no_source_has_changed_the_record_is_taken_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prover, "fingerprint", lambda: "same")
    assert proofs.run(record=Record("same", {"T-ONE": PROVED})) == [PROVED]


def test_once_a_source_has_changed_formulas_are_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prover, "fingerprint", lambda: "changed")
    theorems = THEOREMS[:1]
    (row,) = (load().results[t.id] for t in theorems)
    kept, proved = (
        proofs.run(record=Record("before", {row.id: known}), theorems=theorems)[0]
        for known in (row, replace(row, key="another formula")))
    assert (kept.recorded, kept.stale) == (True, False)
    assert (proved.recorded, proved.stale, proved.verdict) == (False, True, Verdict.PROVED)


def test_the_fingerprint_covers_every_source_that_formulas_and_decisions_run() -> None:
    """All code of the project that runs while theorems are stated, changed and decided."""
    ran: set[str] = set()

    def note(frame: FrameType, event: str, _: object) -> None:
        if event == "call":
            ran.add(frame.f_code.co_filename)

    sys.setprofile(note)
    try:
        for theorem in THEOREMS:
            list(theorem.claims(theorem.subject()))
            for mutant in theorem.mutants:
                list(theorem.claims(mutant.make(theorem.subject())))
        proofs.run(cold=True, theorems=THEOREMS[:1])
    finally:
        sys.setprofile(None)
    packages = tuple(f"{ROOT / name}/" for name in ("pypto_verified", "verifiers", "proofs"))
    own = {Path(f) for f in ran if f.startswith(packages)}
    assert ROOT / "pypto_verified/index/expr.py" in own
    assert own <= set(source_files())


def test_what_is_saved_is_read_again_and_only_proofs_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "recorded.json"
    save([PROVED], path)
    assert load(path).results == {"T-ONE": replace(PROVED, recorded=True)}
    assert load(path).fingerprint == result.fingerprint()
    save([PROVED, REFUTED], path)
    assert set(load(path).results) == {"T-ONE"}
    assert load(path).fingerprint == "", "a failed theorem must not be forgotten by the next run"


@pytest.mark.parametrize(("arguments", "stale", "code"), [
    ("", False, 0), ("--cold", False, 0), ("", True, 0), ("--cold", True, 1), ("--cold --record", True, 0)])
def test_a_cold_run_fails_on_a_record_of_another_formula(
    arguments: str, stale: bool, code: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    saved: list[list[Result]] = []
    monkeypatch.setattr(proofs, "run", lambda **_: [replace(PROVED, stale=stale)])
    monkeypatch.setattr(proofs, "save", saved.append)
    assert main(["prove", *arguments.split()]) == code
    assert len(saved) == arguments.count("--record")
    assert ("no verdict is recorded on the formula of T-ONE" in capsys.readouterr().err) == (code == 1)


def test_the_command_passes_its_options_on(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    asked: dict[str, object] = {}
    monkeypatch.setattr(proofs, "run", lambda **options: asked.update(options) or [REFUTED])
    assert main(["prove", "--seeds", "10", "--cross", "--format", "json"]) == 1
    assert asked.pop("disputes") == default_directory() / "disagreements"
    assert asked == {"cold": False, "cross": True, "seeds": 10}
    assert json.loads(capsys.readouterr().out)["theorems"][0]["id"] == "T-TWO"


def test_a_second_opinion_without_cvc5_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def absent(**_: object) -> list[Result]:
        raise ImportError("No module named 'cvc5'")

    monkeypatch.setattr(proofs, "run", absent)
    assert main(["prove", "--cross"]) == 2
    assert "pypto-verified[cross]" in capsys.readouterr().err
