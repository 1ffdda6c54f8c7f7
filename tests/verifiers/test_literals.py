"""What two cores that are followed side by side know along one path."""

from __future__ import annotations

import pytest

from pypto_verified.index import Cond, symbol
from pypto_verified.index.cond import FALSE, TRUE
from verifiers.race.literals import decided

M, N, K = symbol("M"), symbol("N", 0), symbol("k", 0)


@pytest.mark.parametrize(("asked", "known", "expected"), [
    (M + K >= 2, (M >= 2,), TRUE), (M >= 2, (M >= 1,), None), (M < K, (M >= K,), FALSE),
    (3 * M >= K + 6, (M >= K + 2,), TRUE), (3 * M >= K + 7, (M >= K + 2,), None), (4 * M - K < 4, (M >= K + 1,), FALSE),
    (N * M + 2 * M >= K + 2, (M >= K + 1,), None), (N * K + 2 * M >= 4, (M >= 2,), TRUE),
])
def test_what_follows_from_a_bound_and_from_some_times_as_much(
    asked: Cond, known: tuple[Cond, ...], expected: Cond | None
) -> None:
    assert decided(asked, frozenset(known)) is (asked if expected is None else expected)
