"""Index expressions and conditions by hand: exact ranges, texts, what is decided on the spot."""

from __future__ import annotations

import pytest

from pypto_verified.index import (
    FALSE,
    TRUE,
    Cond,
    Expr,
    IntLike,
    all_of,
    any_of,
    const,
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
from pypto_verified.index.cond import as_cond, variable

N, J, K, S = symbol("n", 0), symbol("i", 0, 15), symbol("k"), symbol("s", -2, 3)
D, E, P = symbol("d", 2, 4), symbol("e", 1), symbol("p", 1, 8)
HIGH, BELOW = symbol("high", 33, 47), symbol("below", -16, -1)
B = variable("b")


@pytest.mark.parametrize(("e", "lo", "hi"), [
    (J, 0, 15), (J - 3, -3, 12), (1 - 2 * J, -29, 1), (J + N, 0, None), (J - N, None, 15), (N + K, None, None),
    (J * J, 0, 225), (J * N, 0, None), (N * J, 0, None), (J * E, 0, None), (N * E, 0, None), (D * P, 2, 32),
    (S * S, -6, 9), (S * J, -30, 45), (J * S, -30, 45), (S * N, None, None), (K * J, None, None),
    (D * P * S, -64, 96),
    (J // 4, 0, 3), ((J + 1) // 4, 0, 4), ((J - 1) // 4, -1, 3), (J // -4, -4, 0), (N // 4, 0, None),
    (K // 4, None, None),
    (-N // 4, None, 0),
    (J % 4, 0, 3), ((J + 1) % 16, 0, 15), (N % 4, 0, 3), (K % 4, 0, 3), (K % -4, -3, 0), (S % 2, 0, 1),
    (S % -2, -1, 0),
    ((J + 16) // D, 4, 15), ((J + 16) // E, 0, 31), (N // D, 0, None), (S // D, None, None), (J // S, None, None),
    (J // N, None, None), (N % P, 0, 7), (N % E, 0, None), (K % P, 0, 7), (J % N, None, None), (J % S, None, None),
    (minimum(N, J), 0, 15), (minimum(K, J), None, 15), (minimum(S, J), -2, 3), (minimum(N, K), None, None),
    (maximum(N, J), 0, None), (maximum(K, J), 0, None), (maximum(S, J), 0, 15), (maximum(K, 7), 7, None),
    (maximum(N, 7), 7, None), (minimum(N + 2, 7), 2, 7), (maximum(-N, K), None, None),
])
def test_ranges_are_as_narrow_as_the_operands_tell(e: Expr, lo: int | None, hi: int | None) -> None:
    assert (e.lo, e.hi) == (lo, hi)


@pytest.mark.parametrize(("e", "value"), [
    (7 + K, 10), (7 - K, 4), (7 * K, 21), (7 // K, 2), (7 % K, 1), (-7 // K, -3), (-7 % K, 2), (divmod(K, 2)[0], 1),
    (divmod(K, 2)[1], 1),
])
def test_a_number_may_stand_on_the_left(e: Expr, value: int) -> None:
    assert evaluate(e, {"k": 3}) == value


def test_operators_compare_with_a_number_by_a_condition() -> None:
    assert (K == 3) is eq(K, 3) and (K != 3) is ne(K, 3)


def test_nothing_but_a_number_equals_an_expression() -> None:
    number: object = N
    assert number not in ("n", None, 1.5)


@pytest.mark.parametrize(("e", "same"), [
    (0 // K, const(0)), (0 % K, const(0)), (K // 1, K), (K // -1, -K), (K % 1, const(0)), (K % -1, const(0)),
    (J // 16, const(0)), (J % 16, J), ((J + 16) % 16, J), ((J + 32) // 16, const(2)), ((J - 16) // 16, const(-1)),
    ((J - 16) % 16, J), (HIGH // 16, const(2)), (HIGH % 16, HIGH - 32), (BELOW // 16, const(-1)),
    (BELOW % 16, BELOW + 16), ((16 * N + HIGH) // 16, N + 2), ((16 * N + BELOW) // 16, N - 1),
    ((4 * J + 3) // 4, J), ((4 * N + 7) // 4, N + 1), ((4 * N + 7) % 4, const(3)),
    (6 * N // 4, 3 * N // 2), (6 * N % 3, const(0)), (const(-7) // 2, const(-4)), (const(-7) % 2, const(1)),
    (const(7) // -2, const(-4)), (const(7) % -2, const(-1)), (symbol("one", 3, 3), const(3)), (J * 0, const(0)),
    (N * E // E, N), (N * E % E, const(0)), (2 * N * E // E, 2 * N), (6 * E // (2 * E), const(3)),
    ((J + 5) % 32, J + 5), (minimum(J, 15), J), (maximum(J, 15), const(15)), (minimum(J, 0), const(0)),
    (minimum(N, N + 1, N + 2), N), (maximum(N + 1, N, N + 2), N + 2), (minimum(K), K),
    (maximum(maximum(N, K), J), maximum(N, maximum(K, J))),
])
def test_what_is_decided_on_the_spot(e: Expr, same: Expr) -> None:
    assert e is same


@pytest.mark.parametrize(("e", "other"), [
    (J // 15, const(0)), ((J + 1) % 16, J + 1), (N * K // K, N), (N * K % K, const(0)), (minimum(J, 14), J),
    (maximum(J, 1), J), (minimum(N, K), N), ((N * E + 1) // E, N), (N * E // (E + 1), N),
    (5 * E // (2 * E), const(2)),
    (symbol("n", 1), N), (minimum(N, K) * 2 + 1, minimum(2 * N + 1, 2 * K + 1)), (2 * minimum(N, K), minimum(N, K)),
    (minimum(maximum(N, K), J), minimum(N, K, J)),
])
def test_what_may_differ_is_kept_apart(e: Expr, other: Expr) -> None:
    assert e is not other


@pytest.mark.parametrize("e", [N // 0, N % 0, 0 * N // 0, const(5) // 0, const(5) % 0])
def test_a_division_by_zero_is_kept_and_has_no_value(e: Expr) -> None:
    assert e.value is None
    with pytest.raises(ZeroDivisionError):
        evaluate(e, {"n": 1})


@pytest.mark.parametrize(("e", "text"), [
    (const(0), "0"), (const(-4), "-4"), (K, "k"), (-K, "-k"), (2 * K, "2*k"), (3 - K, "-k + 3"), (K - 3, "k - 3"),
    (N - K, "-k + n"), (K * N, "k*n"), (-2 * K * N - 1, "-2*k*n - 1"), (N // K, "n // k"),
    ((N + 1) // K, "(n + 1) // k"),
    (N // (K + 1), "n // (k + 1)"), (N % (K + 1), "n % (k + 1)"), (2 * (N % K), "2*(n % k)"),
    (-(N % K), "-(n % k)"),
    (-(N // K), "-(n // k)"), (-N // K, "-n // k"), (K - N % K, "k - n % k"), (-(N % K) + 1, "-(n % k) + 1"),
    (minimum(N, K), "min(k, n)"), (N * minimum(K, 2), "n*min(k, 2)"), (maximum(N + 1, K), "max(k, n + 1)"),
])
def test_texts_of_expressions(e: Expr, text: str) -> None:
    assert repr(e) == text


@pytest.mark.parametrize(("c", "text"), [
    (TRUE, "true"), (FALSE, "false"), (B, "b"), (~B, "not (b)"), (eq(K, 2), "k == 2"), (ne(K, 2), "k != 2"),
    (K <= 3, "k <= 3"), (K >= 3, "k >= 3"), (K >= -3, "k + 3 >= 0"), (K <= N, "n >= k"), (K + 1 <= N, "n >= k + 1"),
    (2 * K <= N + 1, "n + 1 >= 2*k"), (eq(K, N), "k == n"), (eq(K, -2), "k + 2 == 0"), (ne(2 * K, N), "2*k != n"),
    (B & (K <= 3), "b and k <= 3"), (B | (K <= 3), "b or k <= 3"),
    (variable("a") | (B & (K <= 3)), "a or (b and k <= 3)"),
    ((variable("a") | B) & (K <= 3), "(a or b) and k <= 3"),
])
def test_texts_of_conditions(c: Cond, text: str) -> None:
    assert repr(c) == text
    assert repr(c) == text, "the second time it is remembered"


@pytest.mark.parametrize(("c", "same"), [
    (2 * K <= 3, K <= 1), (2 * K >= 3, K >= 2), (4 * K + 2 >= 0, K >= 0), (eq(2 * K, 4), eq(K, 2)),
    (eq(-K, 2), eq(K, -2)),
    (eq(2 * K, 3), FALSE), (eq(J, 16), FALSE), (eq(J, -1), FALSE), (J <= 15, TRUE), (J <= -1, FALSE),
    (J >= 0, TRUE),
    (J > 15, FALSE), (eq(K, K), TRUE), (ne(K, K), FALSE), (eq(K, K + 1), FALSE), (~(K <= 3), K >= 4),
    (~~eq(K, 2), eq(K, 2)),
    (~~B, B), (~TRUE, FALSE), (~FALSE, TRUE), (all_of(()), TRUE), (any_of(()), FALSE), (all_of((B, True)), B),
    (any_of((B, False)), B), (all_of((B, False)), FALSE), (any_of((B, True)), TRUE), (B & B, B), (B & ~B, FALSE),
    (B | ~B, TRUE), ((K <= 3) & (K >= 4), FALSE), ((K <= 3) | (K >= 4), TRUE), (~(B & (K <= 3)), ~B | (K >= 4)),
    (~(B | (K <= 3)), ~B & (K >= 4)), ((B & (K <= 3)) & (N <= 2), all_of((B, K <= 3, N <= 2))), (True & B, B),
    (False | B, B), (implies(False, B), TRUE), (implies(True, B), B), (implies(B, B), TRUE), (as_cond(True), TRUE),
    (as_cond(False), FALSE), (as_cond(B), B),
])
def test_which_conditions_are_one(c: Cond, same: Cond) -> None:
    assert c is same


@pytest.mark.parametrize(("c", "truth"), [
    (eq(K, 3), True), (eq(K, 4), False), (ne(K, 3), False), (K >= 3, True), (K > 3, False), (TRUE, True),
    (FALSE, False),
    (B, True), (~B, False), (B & eq(K, 4), False), (B | eq(K, 4), True), (~B | eq(K, 4), False),
    (~B & eq(K, 3), False),
])
def test_the_truth_of_a_condition(c: Cond, truth: bool) -> None:
    assert holds(c, {"k": 3}, {"b": True}) is truth


def test_conditions_are_equal_if_they_are_one() -> None:
    assert variable("b") == B and ~B in [TRUE, ~B] and B not in [TRUE, ~B]


@pytest.mark.parametrize("missing", [lambda: evaluate(K, {}), lambda: holds(eq(K, 1), {}), lambda: holds(B, {})])
def test_a_value_that_is_not_given_is_an_error(missing: object) -> None:
    assert callable(missing)
    with pytest.raises(KeyError):
        missing()


@pytest.mark.parametrize(("e", "given", "wanted"), [
    (K + N, {"k": 2}, N + 2), (K * N, {"k": N}, N * N), (N // K, {"k": 4}, N // 4), (N % K, {"k": 4}, N % 4),
    (minimum(N, K), {"k": 5}, minimum(N, 5)), (maximum(N, K), {"k": 5}, maximum(N, 5)), (K + 1, {}, K + 1),
    (K + 1, {"n": 3}, K + 1), (const(4), {"k": 3}, const(4)),
])
def test_what_is_put_in_for_a_symbol(e: Expr, given: dict[str, IntLike], wanted: Expr) -> None:
    assert substitute(e, given) is wanted


@pytest.mark.parametrize(("c", "wanted"), [
    (eq(K, N), eq(N, 5)), (ne(K, N), ne(N, 5)), (K <= N, N >= 5), (K <= 4, FALSE), (eq(K, 5), TRUE), (B, B),
    (~B, ~B),
    (B & (K <= N), B & (N >= 5)), (B | (K <= N), B | (N >= 5)), (B & (K <= 4), FALSE), (B | (K <= 4), B),
    (TRUE, TRUE),
])
def test_conditions_are_decided_anew(c: Cond, wanted: Cond) -> None:
    assert substitute_cond(c, {"k": 5}) is wanted


def test_symbols_are_found_in_every_part_in_the_order_they_are_met() -> None:
    assert list(symbols_of(eq(K, 1) & (N <= 2), ~eq(J, 3), B)) == ["k", "n", "i"]
    assert set(symbols_of((N <= 2) | (minimum(E, P) >= N // D))) == {"n", "d", "e", "p"}
    assert not symbols_of(const(3), TRUE)
