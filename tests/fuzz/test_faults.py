"""Planted faults are found within a budget, whatever the seed, and shrink to a few statements."""

from __future__ import annotations

import pytest

from pypto_verified.fuzz.campaign import run
from pypto_verified.fuzz.draw import Seeded
from pypto_verified.fuzz.faults import FAULTS, switched_on
from pypto_verified.fuzz.generator import kernel
from pypto_verified.fuzz.oracles import examine
from pypto_verified.fuzz.records import Found, Plan
from tests.fuzz.inline import Inline

FAST = {"sub-is-add": 150, "min-is-max": 200, "slice-offset-lost": 200, "window-all-valid": 200}
"""Fault -> examples within which every seed finds it."""
NIGHTLY_EXAMPLES = 3000
MAX_STATEMENTS = 6


def _campaign(fault: str, seed: int, examples: int) -> list[Found]:
    class Enough(KeyboardInterrupt):
        pass

    def stop(found: Found) -> None:
        if found.shrunk:
            raise Enough

    plan = Plan(seed=seed, examples=examples, batch=10, fault=fault)
    return list(run(Inline, 1, plan, on_found=stop).found.values())


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("fault", FAST)
def test_a_planted_fault_is_found_with_every_seed(fault: str, seed: int) -> None:
    found = _campaign(fault, seed, FAST[fault])
    assert min(f.statements for f in found if f.shrunk) <= MAX_STATEMENTS


@pytest.mark.nightly
@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("fault", FAST)
def test_a_planted_fault_is_found_with_twenty_seeds(fault: str, seed: int) -> None:
    found = _campaign(fault, seed, FAST[fault])
    assert min(f.statements for f in found if f.shrunk) <= MAX_STATEMENTS


@pytest.mark.nightly
@pytest.mark.parametrize("fault", FAULTS)
def test_every_planted_fault_is_found(fault: str) -> None:
    found = _campaign(fault, 1, NIGHTLY_EXAMPLES)
    assert min(f.statements for f in found if f.shrunk) <= MAX_STATEMENTS


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_leaves_the_product_as_it_was(fault: str) -> None:
    with switched_on(fault):
        pass
    assert examine(kernel(Seeded(0, 1)), 1).finds == []
