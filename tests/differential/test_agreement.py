"""The interpreter and the simulator agree on a fixed set of kernels, at every stage, on both targets."""

from __future__ import annotations

import pytest

from pypto_verified.compiler import MemoryPlanner
from pypto_verified.differential import compare
from pypto_verified.targets import target
from tests.differential.kernels import A5_ONLY, BODIES, function

TARGETS = ("a2a3", "a5")


@pytest.mark.requirement("VF-10")
@pytest.mark.parametrize(
    ("name", "arch"), [(n, arch) for n in BODIES for arch in TARGETS if arch == "a5" or n not in A5_ONLY])
def test_both_meanings_agree(name: str, arch: str) -> None:
    found = compare(function(name), target(arch), runs=6)
    assert found.difference is None, str(found.difference)
    assert found.telling > 0, found.undefined


@pytest.mark.parametrize("planner", [MemoryPlanner.DSA_RP, MemoryPlanner.PTOAS], ids=lambda p: p.value)
@pytest.mark.parametrize("name", BODIES)
def test_both_meanings_agree_whoever_plans_the_memory(name: str, planner: MemoryPlanner) -> None:
    found = compare(function(name), target("a5"), runs=3, planner=planner)
    assert found.difference is None, str(found.difference)
    assert found.telling > 0, found.undefined
