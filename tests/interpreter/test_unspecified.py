"""When the order of a sum or product can show in its result: against all orders of small examples."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pypto_verified.dtypes import FP16, FP32
from pypto_verified.interpreter.unspecified import product_freedom, product_sum_freedom, sum_freedom

HALVES = st.sampled_from([0.0, 1.0, -1.0, 0.5, 3.0, 7.0, 1024.0, 2047.0, 2.0**-10, 0.333251953125, 60000.0])


def _orders(values: list[float], multiply: bool) -> set[float]:
    """All results of adding (multiplying) in f16, one after the other, in every order."""
    found = set()
    for order in permutations(values):
        total = np.float16(order[0])
        for value in order[1:]:
            with np.errstate(over="ignore", under="ignore", invalid="ignore"):
                total = np.float16(total * np.float16(value)) if multiply else np.float16(total + np.float16(value))
        found.add(float(total))
    return found


@given(st.lists(HALVES, min_size=2, max_size=4), st.booleans())
def test_what_is_called_exact_is_the_same_in_every_order(values: list[float], multiply: bool) -> None:
    terms = np.array([values])
    freedom = (product_freedom if multiply else sum_freedom)(terms, 1, FP16)
    if freedom.exact and not freedom.unclear.any():
        assert len({abs(x) if x == 0 else x for x in _orders(values, multiply)}) == 1


def test_overflow_is_foreseen_in_any_order() -> None:
    values = [60000.0, 60000.0, -60000.0]
    assert len(_orders(values, multiply=False)) > 1
    assert sum_freedom(np.array([values]), 1, FP16).unclear.tolist() == [True]


@pytest.mark.parametrize(
    ("lhs", "rhs", "exact"),
    [
        # derivation: 3 * 5 + 7 * 2 are integers below 2**24; 2**24 + 1 needs 25 bits
        ([[3.0, 7.0]], [[5.0], [2.0]], True),
        ([[2.0**24, 1.0]], [[1.0], [1.0]], False),
        ([[0.1, 1.0]], [[0.1], [1.0]], False),
    ],
)
def test_products_of_matrices(lhs: list[list[float]], rhs: list[list[float]], exact: bool) -> None:
    assert product_sum_freedom(np.array(lhs), np.array(rhs), None, FP32).exact is exact


def test_integers_are_exact() -> None:
    terms = np.array([[2**31 - 1, 1, -5]], dtype=np.int64)
    assert sum_freedom(terms, 1, FP32).exact and product_freedom(terms, 1, FP32).exact
