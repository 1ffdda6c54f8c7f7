"""Two solvers: what both say stands, what they differ in fails and is kept, what one alone says is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from pypto_verified.index import Cond, symbol
from pypto_verified.report.model import Verdict
from tests.verifiers.examples import PAIRS
from tests.verifiers.kernels import obligations
from verifiers import Options, verify
from verifiers.solver import Ladder, Query, cross
from verifiers.solver.answer import Answer
from verifiers.solver.smt import Smt

pytest.importorskip("cvc5")

M, N = symbol("M", 0), symbol("N", 0)
PROVABLE = Query((M % 32 == 0) & (N % 48 == 0), (M + N) % 16 == 0)


def check(text: str, directory: Path, rule: str) -> tuple[Verdict, set[str], list[tuple[str, Verdict]]]:
    from pypto_verified.pto.reader import read
    from pypto_verified.targets import target

    (result,) = verify(read(text, "k.pto"), target("a2a3"), Options(families=frozenset({"BOUND"}), second=directory))
    seconds = {o.second for o in obligations(result, rule)}
    return result.verdict, seconds, [(f.rule, f.verdict) for f in result.findings]


def test_both_solvers_agree_on_a_proof_and_on_a_refutation(tmp_path: Path) -> None:
    pair = PAIRS["BOUND-UPPER"]
    verdict, seconds, _ = check(pair.good, tmp_path, "BOUND-UPPER")
    assert (verdict, seconds - {""}) == (Verdict.PROVED, {"agrees"})
    verdict, seconds, found = check(pair.bad, tmp_path, "BOUND-UPPER")
    assert (verdict, seconds - {""}) == (Verdict.REFUTED, {"agrees"})
    assert set(found) == {("BOUND-UPPER", Verdict.REFUTED)}
    assert list(tmp_path.iterdir()) == []


def test_a_planted_lie_of_one_solver_fails_and_keeps_both_questions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    honest = Smt.solve
    monkeypatch.setattr(Smt, "solve", lambda self, c, small=(), sizes=(), brief=False: Answer("unsat"))
    verdict, _, found = check(PAIRS["BOUND-UPPER"].bad, tmp_path / "kept", "BOUND-UPPER")
    assert verdict is Verdict.ERROR
    assert ("SOLVER", Verdict.ERROR) in found
    assert ("BOUND-UPPER", Verdict.UNKNOWN) in found
    monkeypatch.setattr(Smt, "solve", honest)
    kept = sorted((tmp_path / "kept").iterdir())
    assert [path.name.split(".", 1)[1] for path in kept] == ["cvc5.smt2", "z3.smt2"]
    assert {text.rstrip().splitlines()[-1] for text in (path.read_text("utf-8") for path in kept)} == {"(check-sat)"}


def test_the_kept_questions_are_the_same_question(tmp_path: Path) -> None:
    """Both solvers, each given the other's script, answer what they answer to their own."""
    import z3

    c: Cond = PROVABLE.hypotheses & ~PROVABLE.goal
    second = cross.SecondOpinion(tmp_path)
    second.ask(c, Answer("sat"), Smt())
    for path in tmp_path.iterdir():
        solver = z3.Solver()
        solver.from_file(str(path))
        assert solver.check() == z3.unsat


def test_what_cvc5_does_not_decide_is_told_as_z3s_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cross, "satisfiable", lambda _: "unknown")
    found = Ladder(second=tmp_path).decide(PROVABLE)
    assert (found.verdict, found.opinions) == (Verdict.PROVED, ("z3 alone",))


def test_what_z3_does_not_decide_is_proved_by_cvc5(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Smt, "solve", lambda self, c, small=(), sizes=(), brief=False: Answer("unknown"))
    found = Ladder(second=tmp_path).decide(PROVABLE)
    assert (found.verdict, found.decider, found.opinions) == (Verdict.PROVED, "cvc5", ("cvc5 alone",))
    wrong = Ladder(second=tmp_path).decide(Query(M >= 100, (M + 3) // 4 * 4 == M))
    assert (wrong.verdict, wrong.opinions) == (Verdict.UNKNOWN, ("neither",)), "a model that nobody gives is none"
