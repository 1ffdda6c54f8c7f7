"""PITCH against the simulator: a product is stored right exactly if no pitch is refuted."""

from __future__ import annotations

from random import Random

import pytest

from pypto_verified.pto.reader import read
from pypto_verified.report.model import Verdict
from pypto_verified.simulator.replay import replay_layout
from pypto_verified.targets import target
from tests.verifiers.examples_pitch import accumulator, cube, left, loaded, product, stored
from tests.verifiers.kernels import alloc, check

_EXTENTS = ("c8", "c16", "c17", "c32", "c64")


def _product(random: Random) -> str:
    """A product of random extents in tiles of 64 x 64, some of them compact."""
    m, k, n = (random.choice(_EXTENTS) for _ in range(3))
    lefts, acc = left(mode=random.randint(0, 1)), accumulator(mode=random.randint(0, 1))
    return cube(
        loaded(m, k, n, lefts), alloc("c", acc, 0, m, n), product(acc, lefts),
        stored(acc, m).replace("%c64] : !pto.tensor_view", f"%{n}] : !pto.tensor_view"))


@pytest.mark.parametrize("chip", ["a2a3", "a5"])
@pytest.mark.requirement("CA-05")
def test_a_result_is_wrong_exactly_where_a_pitch_is_refuted(chip: str) -> None:
    outcomes: set[bool] = set()
    for seed in range(40):
        text = _product(Random(seed))
        result = check(text, chip=chip, families="PITCH")
        refuted = any(o.verdict is Verdict.REFUTED for o in result.obligations)
        assert refuted or all(o.verdict is Verdict.PROVED for o in result.obligations)
        wrong = replay_layout(read(text, "k.pto").funcs[0], {}, target(chip)) is not None
        assert wrong == refuted, f"seed {seed}"
        outcomes.add(wrong)
    assert outcomes == {True, False}
