"""The interpreter and the simulator agree on a fixed set of kernels, at every stage, on both targets."""

from __future__ import annotations

import pytest

from pypto_verified.differential import compare
from pypto_verified.targets import target
from tests.differential.kernels import BODIES, function

TARGETS = ("a2a3", "a5")


@pytest.mark.requirement("VF-10")
@pytest.mark.parametrize("arch", TARGETS)
@pytest.mark.parametrize("name", BODIES)
def test_both_meanings_agree(name: str, arch: str) -> None:
    found = compare(function(name), target(arch), runs=6)
    assert found.difference is None, str(found.difference)
    assert found.telling > 0, found.undefined
