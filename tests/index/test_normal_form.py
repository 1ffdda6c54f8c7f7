"""The index normal form against plain Python integers: same value, sound bounds, and equal means one object.

Derivation: every expression is built twice, once over our symbols and once as a Python function over ints; Python's own
`//`, `%`, `min`, `max` give the expected value.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pypto_verified.index import (
    FALSE,
    TRUE,
    Expr,
    eq,
    evaluate,
    holds,
    implies,
    maximum,
    minimum,
    ne,
    substitute,
    substitute_cond,
    symbol,
    symbols_of,
)

Env = dict[str, int]


@dataclass(frozen=True)
class Twin:
    """One expression in both worlds."""

    expr: Expr
    value: Callable[[Env], int]


N, J, K = symbol("n", 0), symbol("i", 0, 15), symbol("k")
LEAVES = [
    Twin(N, lambda e: e["n"]),
    Twin(J, lambda e: e["i"]),
    Twin(K, lambda e: e["k"]),
]
ENVS = st.fixed_dictionaries({"n": st.integers(0, 200), "i": st.integers(0, 15), "k": st.integers(-50, 50)})


def _constant(value: int) -> Twin:
    return Twin(N * 0 + value, lambda e: value)


def _grow(children: st.SearchStrategy[Twin]) -> st.SearchStrategy[Twin]:
    pair = st.tuples(children, children)
    divisor = st.integers(1, 64)
    return st.one_of(
        pair.map(lambda p: Twin(p[0].expr + p[1].expr, lambda e: p[0].value(e) + p[1].value(e))),
        pair.map(lambda p: Twin(p[0].expr - p[1].expr, lambda e: p[0].value(e) - p[1].value(e))),
        pair.map(lambda p: Twin(p[0].expr * p[1].expr, lambda e: p[0].value(e) * p[1].value(e))),
        pair.map(lambda p: Twin(minimum(p[0].expr, p[1].expr), lambda e: min(p[0].value(e), p[1].value(e)))),
        pair.map(lambda p: Twin(maximum(p[0].expr, p[1].expr), lambda e: max(p[0].value(e), p[1].value(e)))),
        st.tuples(children, divisor).map(lambda p: Twin(p[0].expr // p[1], lambda e: p[0].value(e) // p[1])),
        st.tuples(children, divisor).map(lambda p: Twin(p[0].expr % p[1], lambda e: p[0].value(e) % p[1])),
        st.tuples(children, divisor).map(lambda p: Twin(p[0].expr // -p[1], lambda e: p[0].value(e) // -p[1])),
        st.tuples(children, divisor).map(lambda p: Twin(p[0].expr % -p[1], lambda e: p[0].value(e) % -p[1])),
    )


TWINS = st.recursive(st.one_of(st.sampled_from(LEAVES), st.integers(-40, 40).map(_constant)), _grow, max_leaves=8)


@given(TWINS, ENVS)
def test_normalising_keeps_the_value(twin: Twin, env: Env) -> None:
    assert evaluate(twin.expr, env) == twin.value(env)


@given(TWINS, ENVS)
def test_bounds_are_sound(twin: Twin, env: Env) -> None:
    value = twin.value(env)
    assert twin.expr.lo is None or twin.expr.lo <= value
    assert twin.expr.hi is None or value <= twin.expr.hi


@given(TWINS, TWINS, ENVS)
def test_comparisons_mean_what_python_means(a: Twin, b: Twin, env: Env) -> None:
    x, y = a.value(env), b.value(env)
    assert holds(a.expr <= b.expr, env) == (x <= y)
    assert holds(a.expr < b.expr, env) == (x < y)
    assert holds(a.expr >= b.expr, env) == (x >= y)
    assert holds(a.expr > b.expr, env) == (x > y)
    assert holds(eq(a.expr, b.expr), env) == (x == y)
    assert holds(ne(a.expr, b.expr), env) == (x != y)
    both = (a.expr <= b.expr) & (b.expr <= 7)
    assert holds(both, env) == (x <= y and y <= 7)
    assert holds(~both, env) == (not (x <= y and y <= 7))
    assert holds(implies(a.expr <= b.expr, b.expr <= 7), env) == (x > y or y <= 7)


@given(TWINS, ENVS, st.integers(0, 200))
def test_substituting_a_number_equals_evaluating_with_it(twin: Twin, env: Env, n: int) -> None:
    closed = substitute(twin.expr, {"n": n, "i": env["i"], "k": env["k"]})
    assert closed.value == twin.value({**env, "n": n})
    condition = substitute_cond(twin.expr <= 3, {"n": n, "i": env["i"], "k": env["k"]})
    assert condition is (TRUE if twin.value({**env, "n": n}) <= 3 else FALSE)


@given(TWINS, ENVS, st.integers(0, 200))
def test_substituting_one_symbol_leaves_the_others(twin: Twin, env: Env, n: int) -> None:
    """And what has none of them is the same object, so that whoever asks need not compare."""
    part, relation = substitute(twin.expr, {"n": n}), twin.expr <= 3
    assert evaluate(part, env) == twin.value({**env, "n": n})
    assert holds(substitute_cond(relation, {"n": n}), env) is (twin.value({**env, "n": n}) <= 3)
    assert substitute(twin.expr, {"other": n}) is twin.expr
    assert substitute_cond(relation, {"other": n}) is relation


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ((J * 16 + N * 32) // 16, J + N * 2),
        ((N * 16 + J) // 16, N),
        ((N * 16 + J) % 16, J),
        ((N // 4) // 8, N // 32),
        ((N + 15) // 16 * 16 - (N + 15) // 16 * 15, (N + 15) // 16),
        ((N * 4 + 2) // 8, (N * 2 + 1) // 4),
        (minimum(N + 3, N), N),
        (maximum(J, 0), J),
        (minimum(J, 99), J),
        (minimum(minimum(N, K), J), minimum(N, minimum(K, J))),
        ((N + K) * (N - K), N * N - K * K),
        ((K + 32) % 16, K % 16),
    ],
)
def test_equal_forms_are_one_object(left: Expr, right: Expr) -> None:
    assert left is right


def test_an_undecided_comparison_has_no_truth_value() -> None:
    with pytest.raises(TypeError, match="undecided"):
        bool(N == 3)
    with pytest.raises(TypeError, match="no truth value"):
        bool(N)
    assert bool(N >= 0)
    assert not bool(J > 15)


def test_a_condition_reads_like_the_users_text() -> None:
    assert repr(J * 32 + 32 <= N) == "n >= 32*i + 32"
    assert repr(N % 16 == 0) == "n % 16 == 0"
    assert repr((N + 15) // 16 * 16 <= 64) == "(n + 15) // 16 <= 4"
    assert repr(2 * ((N + 1) // 3) * J) == "2*i*((n + 1) // 3)"


def test_free_symbols_are_found_at_any_depth() -> None:
    assert set(symbols_of(J * N + minimum(K // 3, 5), eq(N, 2))) == {"i", "n", "k"}


def test_division_by_zero_has_no_value() -> None:
    with pytest.raises(ZeroDivisionError):
        evaluate(N // (K - K + 0), {"n": 1, "k": 0})


def test_symbolic_divisors_cancel_only_when_positive() -> None:
    positive = symbol("d", 1)
    assert (positive * N) // positive is N
    assert (positive * N) % positive is N * 0
    assert ((K * N) // K) is not N


def test_the_remainder_by_a_negative_number_is_between_it_and_zero() -> None:
    remainder = N % -4
    assert (remainder.lo, remainder.hi) == (-3, 0)


@pytest.mark.parametrize(("low", "high"), [(None, None), (-3, 5), (None, 5), (-3, None)])
def test_the_remainder_by_what_may_be_negative_may_be_negative(low: int | None, high: int | None) -> None:
    remainder = N % symbol("any", low, high)
    assert (remainder.lo, remainder.hi) == (None, None)


def test_a_quotient_of_a_quotient_is_one_quotient() -> None:
    assert (N // 2 + 1) // 3 is (N + 2) // 6
    assert (2 * (N // 2) + 1) // 3 is not (N + 2) // 6, "a multiple of a quotient is none"
    assert (N // 2 * K + 1) // 3 is not (N + 2) // 6


def test_texts_do_not_depend_on_what_was_built_before() -> None:
    # derivation: operands of min and of a conjunction are put in the order of their texts, constants last
    late, early = symbol("zz", 0), symbol("aa", 0)
    assert repr(minimum(late, early, 7)) == "min(aa, zz, 7)"
    assert repr((late <= 3) & (early <= 3)) == "aa <= 3 and zz <= 3"
    assert repr(late // 2 + early // 2) == "aa // 2 + zz // 2"
