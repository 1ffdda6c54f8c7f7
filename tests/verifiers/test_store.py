"""Kept answers: found again by the very question only, and never believed against the evidence."""

from __future__ import annotations

import json
import os
import sqlite3
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from pypto_verified.index import TRUE, Cond, eq, symbol
from pypto_verified.report.model import Verdict
from verifiers.solver import Ladder, Query, store
from verifiers.solver.answer import Answer
from verifiers.solver.smt import Smt
from verifiers.solver.store import Store

M, N = symbol("M", 0), symbol("N", 0)
PROVABLE = Query((M % 32 == 0) & (N % 48 == 0), (M + N) % 16 == 0, dims=("M",))
FALSE_ONE = Query(M >= 100, (M + 3) // 4 * 4 == M, dims=("M",))


def decided(query: Query, directory: Path) -> tuple[Verdict, str, int, dict[str, int]]:
    ladder = Ladder(answers=directory)
    found = ladder.decide(query)
    ladder.oracle.close()
    return found.verdict, found.decider, found.rlimit, found.model


@pytest.fixture
def no_solver(monkeypatch: pytest.MonkeyPatch) -> None:
    """From here on a question to z3 is a failure; hypotheses that a plain point satisfies ask none."""
    def asked(*_: object) -> Answer:
        raise AssertionError("z3 was asked")

    monkeypatch.setattr(Smt, "solve", asked)
    monkeypatch.setattr(Smt, "exists_forall", asked)


def rows(directory: Path) -> list[tuple[str, ...]]:
    with sqlite3.connect(directory / "answers.sqlite") as file:
        return file.execute("SELECT key, question, answer, digest FROM answers").fetchall()


def alter(directory: Path, answer: list[object], seal: bool) -> None:
    """Write another answer into every row; `seal`: with a digest that fits it."""
    text = json.dumps(answer)
    with sqlite3.connect(directory / "answers.sqlite") as file:
        for key, question, _, digest in rows(directory):
            file.execute("UPDATE answers SET answer = ?, digest = ? WHERE key = ?",
                         (text, store._digest(question, text) if seal else digest, key))


@pytest.mark.parametrize("query", [PROVABLE, FALSE_ONE])
def test_the_second_run_gives_the_same_decision_without_asking(
    query: Query, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    first = decided(query, tmp_path)
    assert first[2] > 0, "z3 counts what it spends"
    request.getfixturevalue("no_solver")
    assert decided(query, tmp_path) == first


def test_another_question_is_asked(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    decided(PROVABLE, tmp_path)
    request.getfixturevalue("no_solver")
    others = (
        replace(PROVABLE, goal=(M + N) % 32 == 0), replace(PROVABLE, dims=("N",)),
        replace(PROVABLE, hypotheses=(symbol("M") % 32 == 0) & (N % 48 == 0), goal=(symbol("M") + N) % 16 == 0))
    for other in others:
        with pytest.raises(AssertionError, match="z3 was asked"):
            decided(other, tmp_path)
    with pytest.raises(AssertionError, match="z3 was asked"):
        Ladder(seed=1, answers=tmp_path).decide(PROVABLE)


@pytest.mark.parametrize("part", ["encoder", "source", "solver"])
def test_another_version_knows_nothing(part: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    decided(PROVABLE, tmp_path)
    ((key, question, _, _),) = rows(tmp_path)
    assert Store(tmp_path).get(question) is not None
    now = store.versions().split()
    now[["encoder", "source", "solver"].index(part)] += "x"
    monkeypatch.setattr(store, "versions", lambda: " ".join(now))
    assert store._key(question) != key
    assert Store(tmp_path).get(question) is None


def test_a_row_that_was_damaged_counts_as_absent(tmp_path: Path) -> None:
    right = decided(PROVABLE, tmp_path)
    alter(tmp_path, ["sat", {"M": 1, "N": 1}, {}, "z3-linear", 1], seal=False)
    assert decided(PROVABLE, tmp_path)[:2] == right[:2]


@pytest.mark.parametrize("lie", [
    ["sat", {"M": 1, "N": 1}, {}, "z3-linear", 1],
    ["sat", {"M": 1}, {}, "z3-linear", 1],
    ["unknown", {}, {}, "z3-linear", 1],
    ["unsat"],
])
def test_a_forged_model_does_not_stand_up_to_evaluation(lie: list[object], tmp_path: Path) -> None:
    right = decided(PROVABLE, tmp_path)
    alter(tmp_path, lie, seal=True)
    assert decided(PROVABLE, tmp_path)[:2] == right[:2]


def test_a_forged_proof_is_seen_where_a_plain_point_contradicts_it(tmp_path: Path) -> None:
    right = decided(FALSE_ONE, tmp_path)
    assert right[0] is Verdict.REFUTED
    easy = Query(M >= 0, M % 32 == 0)
    refuted = decided(easy, tmp_path)
    alter(tmp_path, ["unsat", {}, {}, "z3-linear", 1], seal=True)
    assert decided(easy, tmp_path)[:2] == refuted[:2]


def test_a_file_that_others_may_write_to_is_not_read(tmp_path: Path) -> None:
    decided(PROVABLE, tmp_path)
    ((_, question, _, _),) = rows(tmp_path)
    (tmp_path / "answers.sqlite").chmod(0o622)
    assert Store(tmp_path).get(question) is None


@pytest.mark.parametrize("content", [b"", b"not a database" * 100])
def test_a_file_that_is_no_database_costs_nothing_but_time(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "answers.sqlite"
    path.write_bytes(content)
    path.chmod(0o600)
    assert decided(PROVABLE, tmp_path)[0] is Verdict.PROVED


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_directory_that_cannot_be_written_keeps_nothing(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    assert decided(PROVABLE, tmp_path)[0] is Verdict.PROVED


def test_unknown_is_not_kept(tmp_path: Path) -> None:
    kept = Store(tmp_path)
    kept.put("q", Answer("unknown"))
    kept.close()
    assert Store(tmp_path).get("q") is None


def test_the_file_forgets_its_older_half_when_it_grows_too_large(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "MAX_BYTES", 200_000)
    kept = Store(tmp_path)
    for number in range(10):
        for i in range(100):
            kept.put(f"question {number} {i} {'x' * 400}", Answer("unsat"))
        kept.flush()
    kept.close()
    assert (tmp_path / "answers.sqlite").stat().st_size <= 200_000
    again = Store(tmp_path)
    assert again.get(f"question 9 99 {'x' * 400}") is not None
    assert again.get(f"question 0 0 {'x' * 400}") is None


def test_what_callers_choose_is_a_question_of_its_own(tmp_path: Path) -> None:
    """'For all' and 'for some' over the same condition do not answer each other, nor does a stronger hypothesis."""
    free = symbol("n")
    ladder = Ladder(answers=tmp_path)
    goal: Cond = free <= 8
    assert ladder.oracle.exists_forall(TRUE, goal, ["n"]).status == "sat"
    assert ladder.oracle.exists_forall(~goal, goal, ["n"]).status == "unsat"
    assert ladder.oracle.exists_forall(TRUE, eq(free, free + 1), ["n"]).status == "unsat"
    ladder.oracle.close()
    again = Ladder(answers=tmp_path)
    assert again.oracle.exists_forall(TRUE, goal, ["n"]).status == "sat"
    assert again.oracle.exists_forall(~goal, goal, ["n"]).status == "unsat"


def test_a_run_whose_questions_are_all_known_does_not_load_the_solver(tmp_path: Path) -> None:
    import subprocess

    code = (
        "import sys\nfrom pathlib import Path\nfrom tests.verifiers.test_store import PROVABLE, Ladder\n"
        "sys.modules.pop('z3', None); sys.modules.pop('verifiers.solver.smt', None)\n"
        f"l = Ladder(answers=Path({str(tmp_path)!r})); d = l.decide(PROVABLE); l.oracle.close()\n"
        "print(d.verdict.value, 'z3' in sys.modules)")
    runs = [subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
            for _ in range(2)]
    assert runs == [["PROVED", "True"], ["PROVED", "False"]]


@pytest.mark.parametrize("rule", ["BOUND-UPPER", "BOUND-LOWER", "VALID-UPPER", "WRITE-REST", "BOUND-SCALAR"])
def test_a_kernel_is_judged_the_same_from_kept_answers(
    rule: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    from pypto_verified.pto.reader import read
    from pypto_verified.targets import target
    from tests.verifiers.test_every_rule import PAIRS
    from verifiers import Options, verify

    def judged() -> list[object]:
        (result,) = verify(read(PAIRS[rule].bad, "k.pto"), target("a2a3"), Options(answers=tmp_path))
        return [*((o.rule, o.site, o.verdict, o.decider, o.rlimit) for o in result.obligations), *result.findings]

    fresh = judged()
    request.getfixturevalue("no_solver")
    assert judged() == fresh
