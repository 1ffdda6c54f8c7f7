"""The solver ladder: which rung decides what, witnesses that evaluate, and quantifiers in the right order."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pypto_verified.index import FALSE, TRUE, Cond, Expr, const, eq, evaluate, holds, implies, maximum, minimum, symbol
from pypto_verified.report.model import Verdict
from verifiers.solver import Ladder, Query, weakest_condition
from verifiers.solver.enumeration import domain_of, first_point
from verifiers.solver.smt import Smt

M = symbol("M", 0)
N = symbol("N")
K = symbol("k", 0, 15)


def decide(hypotheses: Cond, goal: Cond, *, free: str = "", dims: str = "M") -> tuple[Verdict, str, dict[str, int]]:
    found = Ladder().decide(Query(hypotheses, goal, frozenset(free.split()), tuple(dims.split())))
    return found.verdict, found.decider, found.model


def test_ranges_and_equal_terms_are_decided_by_the_normal_form() -> None:
    assert decide(TRUE, K <= 15)[:2] == (Verdict.PROVED, "normal-form")
    assert decide(M >= 5, M >= 5)[:2] == (Verdict.PROVED, "normal-form")


def test_small_domains_are_enumerated() -> None:
    assert decide(TRUE, (K * K) % 4 <= 1)[:2] == (Verdict.PROVED, "enumeration")
    assert decide(TRUE, eq(K % 7, K))[0::2] == (Verdict.REFUTED, {"k": 7})


def test_unbounded_linear_goals_go_to_z3_and_the_witness_is_the_smallest() -> None:
    assert decide(M % 32 == 0, (M + 16) // 16 >= 1)[:2] == (Verdict.PROVED, "normal-form")
    assert decide(M % 32 == 0, M % 16 == 0)[:2] == (Verdict.PROVED, "z3-digits")
    assert decide((N >= 7) & (M >= N), M + N >= 14)[:2] == (Verdict.PROVED, "z3-linear")
    assert decide(M >= 100, (M + 3) // 4 * 4 == M) == (Verdict.REFUTED, "z3-digits", {"M": 101})


def test_non_linear_goals_are_proved_in_digit_form() -> None:
    """A grid of N-wide rows: row*N + column < rows*N."""
    row, column, rows = symbol("row", 0), symbol("column", 0), symbol("rows", 0)
    inside = (row < rows) & (column < N) & (N >= 1)
    assert decide(inside, row * N + column < rows * N)[0] is Verdict.PROVED


@pytest.mark.parametrize("seed", range(40))
def test_a_product_question_does_not_hang_on_the_seed(seed: int) -> None:
    """Rows of L bytes, L a multiple of 8 but of no whole 32: some row starts off a border. One try under one seed finds
    that in 3,000 units or not in 4,000,000."""
    length, row, rows, units = symbol("L", 1), symbol("row", 0), symbol("rows", 1), symbol("L", 1) // 32
    given = (length % 8 == 0) & (row < rows) & implies(eq(length, units * 32), eq(length * row, units * 32 * row))
    assert Ladder(seed).decide(Query(given, (length * row) % 32 == 0)).verdict is Verdict.REFUTED


def test_what_was_entailed_once_is_not_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two places of a ring meet whenever either is used: the same question, up to a hundred times a kernel."""
    ladder = Ladder()
    assert ladder.entails((M >= N) & (N >= 7), M + N >= 14)
    assert not ladder.entails((M >= N) & (N >= 7), M + N >= 15)
    monkeypatch.setattr(ladder.oracle, "solve", None)
    assert ladder.entails((M >= N) & (N >= 7), M + N >= 14)
    assert not ladder.entails((M >= N) & (N >= 7), M + N >= 15)


def test_hypotheses_that_cannot_hold_are_vacuous() -> None:
    assert decide((M >= 5) & (M <= 4), FALSE)[0] is Verdict.VACUOUS
    assert decide((N >= 5) & (N <= 4), TRUE)[0] is Verdict.VACUOUS


def test_irrelevant_hypotheses_do_not_hide_a_failure() -> None:
    verdict, _, model = decide((M >= 1) & (N >= 7), M <= 3)
    assert verdict is Verdict.REFUTED
    assert model["M"] == 4
    assert model["N"] >= 7


def test_a_callers_value_is_not_chosen_against_the_goal() -> None:
    assert decide(TRUE, N <= 8, free="N")[0] is Verdict.UNKNOWN


def test_a_callers_value_that_saves_the_goal_is_found_without_quantifiers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Guesses that are checked at all places go before the question for all values at once, which is dear."""
    ladder = Ladder()
    monkeypatch.setattr(ladder.oracle, "exists_forall", None)
    i, p = symbol("i", 0), symbol("p", 0)
    found = ladder.decide(Query(i < 4, i + p <= 9, frozenset({"p"})))
    assert (found.verdict, found.decider) == (Verdict.UNKNOWN, "z3-linear")
    assert found.needs_condition


def test_a_goal_that_no_value_of_the_caller_saves_is_refuted() -> None:
    """N rows from 600 on, of 512: every positive N fails."""
    assert decide(N >= 1, N + 600 <= 512, free="N")[0] is Verdict.REFUTED


def test_a_loop_bound_of_the_caller_saves_the_loop() -> None:
    """i < N with N from the caller: fails for N > 512 only; with 600 + i it always fails."""
    i = symbol("i", 0)
    assert decide(i < N, i < 512, free="N")[0] is Verdict.UNKNOWN
    assert decide(i < N, i + 600 < 512, free="N")[0] is Verdict.REFUTED


def test_a_dimension_is_chosen_against_the_goal_even_beside_a_callers_value() -> None:
    """A window of 16 rows at N of M rows: with M = 1 no N saves it."""
    assert decide(N >= 0, N + 16 <= M, free="N")[0] is Verdict.REFUTED


@pytest.mark.parametrize(("goal", "inner", "expected"), [
    (symbol("i", 0) <= 511, "i", "N <= 512"),
    (maximum(N, 0) <= 48, "", "N <= 48"),
    (minimum(N, M) <= 48, "", "M <= 48 or N <= 48"),
])
def test_the_weakest_condition_is_short_and_sufficient(goal: Cond, inner: str, expected: str) -> None:
    i = symbol("i", 0)
    hypotheses = i < N if inner else TRUE
    ladder = Ladder()
    found = weakest_condition(ladder, hypotheses, goal, frozenset(inner.split()))
    assert set(repr(found).split(" or ")) == set(expected.split(" or "))
    assert ladder.entails(hypotheses & found, goal)


@pytest.mark.parametrize(("goal", "expected"), [
    (maximum(N, 0) // 4 - maximum(-N, 0) // 4 >= 0, "N + 3 >= 0"),
    (N * 3 <= 100, "N <= 33"),
    ((N + 5) // 7 <= 4, "N <= 29"),
    (N % 16 <= 3, "N % 16 <= 3"),
])
def test_a_condition_on_one_number_is_an_interval_if_it_is_one(goal: Cond, expected: str) -> None:
    assert repr(weakest_condition(Ladder(), TRUE, goal, frozenset())) == expected


def test_a_quotient_of_a_counter_is_replaced_by_that_of_its_last_value() -> None:
    i = symbol("i", 0)
    found = weakest_condition(Ladder(), i < N, i // 8 * 16 + 16 <= M, frozenset({"i"}))
    assert repr(found) == "M >= 16*((N + 7) // 8)"


def terms() -> st.SearchStrategy[Expr]:
    """Expressions over two bounded symbols, with every kind of atom."""
    leaf = st.sampled_from([symbol("x", -5, 6), symbol("y", 0, 9)]) | st.integers(-9, 9).map(const)

    def grow(inner: st.SearchStrategy[Expr]) -> st.SearchStrategy[Expr]:
        pairs = st.tuples(inner, inner)
        divisors = st.tuples(inner, st.sampled_from([-3, 2, 5]))
        return (
            pairs.map(lambda p: p[0] + p[1]) | pairs.map(lambda p: p[0] * p[1])
            | pairs.map(lambda p: minimum(*p)) | pairs.map(lambda p: maximum(*p))
            | divisors.map(lambda p: p[0] // p[1]) | divisors.map(lambda p: p[0] % p[1]))

    return st.recursive(leaf, grow, max_leaves=6)


@settings(max_examples=60, deadline=None)
@given(terms(), st.integers(-20, 20))
def test_all_rungs_agree_with_evaluation_at_every_point(e: Expr, bound: int) -> None:
    goal = e <= bound
    failing = {
        (x, y) for x in range(-5, 7) for y in range(10) if evaluate(e, {"x": x, "y": y}) > bound}
    if goal.kind in ("true", "false"):
        assert (goal is TRUE) == (not failing)
        return
    domain = domain_of(goal)
    assert domain is not None
    point = first_point(~goal, domain)
    assert (point is None) == (not failing)
    answer = Smt().solve(~goal)
    assert answer.status == ("sat" if failing else "unsat")
    if failing:
        assert not holds(goal, {"x": 0, "y": 0, **dict(answer.ints)})


def test_importing_the_verifiers_does_not_import_z3() -> None:
    code = "import sys, verifiers; sys.exit('z3' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
