"""The audit tells of each planted fault who notices it."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from pypto_verified.cli import main
from pypto_verified.fuzz import audit
from pypto_verified.fuzz.audit import Row, audited
from pypto_verified.fuzz.faults import FAULTS
from tests.fuzz.inline import Inline


def test_a_fault_is_killed_by_an_oracle_after_a_number_of_kernels() -> None:
    row = audited("sub-is-add", seed=1, examples=100)
    assert (row.id, row.where, row.shared) == ("sub-is-add", "codegen/emit_dps:ROWS[tile.sub]", False)
    assert row.killed_by == "meaning"
    assert row.shrunk_statements in (3, 4)  # a load or two, the subtraction, the store
    assert 0 < row.after <= 100


def test_a_survivor_is_told_and_fails_the_audit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audit, "audited", lambda name, seed, examples: Row(name, "x", False, "", "", examples, 0))
    out = io.StringIO()
    assert audit.audit(Inline(), 0, 10, out, as_json=False) == 1
    assert out.getvalue().count("survives 10 kernels") == len(FAULTS)


def test_a_fault_that_only_crashes_is_not_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audit, "audited", lambda name, seed, examples: Row(name, "x", False, "", "crash", 1, 1))
    assert audit.audit(Inline(), 0, 10, io.StringIO(), as_json=True) == 1


def test_some_faults_sit_in_what_both_meanings_share() -> None:
    assert sum(f.shared for f in FAULTS.values()) >= 4


def test_a_fault_is_audited_in_a_process_of_its_own() -> None:
    with audit.alone(1) as executor:
        row = executor.submit(audited, "sub-is-add", 1, 100).result()
        other = executor.submit(os.getpid).result()
        assert executor.submit(os.getpid).result() != other
    assert row.killed_by == "meaning"


@pytest.mark.skipif(sys.platform == "win32", reason="sends a signal")
def test_control_c_ends_an_audit_at_once() -> None:
    """As a terminal sends it: to the workers too."""
    running = subprocess.Popen(
        [sys.executable, "-m", "pypto_verified", "audit", "-j", "2"], cwd=Path(__file__).parents[2],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
        preexec_fn=partial(signal.signal, signal.SIGINT, signal.SIG_DFL))
    try:
        assert running.stdout is not None
        running.stdout.readline()
        os.killpg(running.pid, signal.SIGINT)
        _, err = running.communicate(timeout=10)
    finally:
        running.kill()
    assert (running.returncode, err) == (130, "pypto-verify: interrupted\n")


@pytest.mark.nightly
def test_every_fault_is_caught_by_a_layer_and_shrinks(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["audit", "--format", "json", "-j", "2", "--seed", "1"]) == 0
    rows = json.loads(capsys.readouterr().out)["faults"]
    assert {row["id"] for row in rows} == set(FAULTS)
    for row in rows:
        assert row["killed_by"] not in ("", "crash")
        assert 0 < row["after"] <= audit.EXAMPLES
        assert row["shrunk_statements"] <= audit.SMALL


def test_what_is_measured_counts_the_faults_that_are_planted() -> None:
    page = Path(__file__).parents[2] / "docs" / "measured.md"
    text = " ".join(page.read_text(encoding="utf-8").split())
    shared, known = sum(f.shared for f in FAULTS.values()), sum(bool(f.recreates) for f in FAULTS.values())
    assert f"switches {len(FAULTS)} planted faults on" in text
    assert f"{shared} of them in code that both meanings stand on and {known} with the root cause" in text
