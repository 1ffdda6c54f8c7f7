"""Planted faults are found within a budget, whatever the seed, and shrink to a few statements."""

from __future__ import annotations

import pytest

from pypto_verified.fuzz.campaign import run
from pypto_verified.fuzz.draw import Seeded
from pypto_verified.fuzz.faults import FAULTS, Fault, switched_on
from pypto_verified.fuzz.faults.fault import Edit
from pypto_verified.fuzz.generator import kernel
from pypto_verified.fuzz.oracles import examine
from pypto_verified.fuzz.records import Found, Plan
from tests.fuzz.inline import Inline

FAST = {"sub-is-add": 150, "min-is-max": 200, "slice-offset-lost": 200, "window-all-valid": 200}
"""Fault -> examples within which every seed finds it."""
MAX_STATEMENTS = 6


def _smallest(fault: str, seed: int) -> int:
    """Statements of the smallest kernel that shows the fault. The first one may be a product with a bias, which takes
    more of them by itself."""
    shrunk: list[int] = []

    def note(found: Found) -> None:
        if found.shrunk:
            shrunk.append(found.statements)

    plan = Plan(seed=seed, examples=FAST[fault], batch=10, fault=fault)
    run(Inline, 1, plan, on_found=note, interrupted=lambda: any(n <= MAX_STATEMENTS for n in shrunk))
    return min(shrunk)


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("fault", FAST)
def test_a_planted_fault_is_found_with_every_seed(fault: str, seed: int) -> None:
    assert _smallest(fault, seed) <= MAX_STATEMENTS


@pytest.mark.nightly
@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("fault", FAST)
def test_a_planted_fault_is_found_with_twenty_seeds(fault: str, seed: int) -> None:
    assert _smallest(fault, seed) <= MAX_STATEMENTS


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_leaves_the_product_as_it_was(fault: str) -> None:
    with switched_on(fault):
        pass
    assert examine(kernel(Seeded(0, 1)), 1).finds == []


def test_enough_faults_are_planted_where_they_are_hard_to_see() -> None:
    assert len(FAULTS) >= 60
    assert sum(f.shared for f in FAULTS.values()) >= 20
    assert sum(bool(f.recreates) for f in FAULTS.values()) >= 20


@pytest.mark.parametrize("fault", [f for f in FAULTS.values() if f.shared], ids=lambda f: f.id)
def test_shared_faults_sit_in_rooms_that_both_meanings_stand_on(fault: Fault) -> None:
    assert fault.module.split(".")[1] in ("index", "ir", "ops", "targets", "pto")


def _twice(a: int) -> int:
    b = a + a
    return b


def test_an_edit_changes_a_function_for_whoever_holds_it_and_is_taken_back() -> None:
    held = _twice
    fault = Fault("f", __name__, "_twice", "the sum is a product", Edit("a + a", "a * a"))
    with fault.planted():
        assert held(5) == 25
    assert held(5) == 10


def test_an_edit_that_fits_nowhere_or_twice_is_an_error() -> None:
    for old in ("a - a", "a"):
        fault = Fault("f", __name__, "_twice", "", Edit(old, ""))
        with pytest.raises(ValueError, match="places with"), fault.planted():
            pass
