"""Shapes that chance makes seldom are drawn often enough for a fault in them to fall within 600 kernels."""

from __future__ import annotations

from functools import cache

import pytest

from pypto_verified.fuzz import ends, generator
from pypto_verified.fuzz.builder import Builder
from pypto_verified.fuzz.draw import Seeded
from pypto_verified.fuzz.faults import switched_on
from pypto_verified.fuzz.work import examined

KERNELS, SEED = 600, 11
DEEP_EVERY = 5
"""As in an audit."""
SHOWN_BY = {
    "copy-not-below-a-cover": "covered", "union-to-the-end": "patched", "loop-end-read-again": "counted",
    "shift-with-sign": "shifted", "shift-without-sign": "shifted", "sync-strip-as-block": "strip",
    "race-strip-as-block": "strip", "reshaped-slice-at-base": "relabelled",
}
"""Fault -> the end that is there to show it."""


@cache
def _drawn() -> dict[str, list[int]]:
    """The examples of each end."""
    found: dict[str, list[int]] = {}
    names: list[str] = []

    def noted(b: Builder) -> bool:
        step = ends.chosen(b)
        names.extend([step.__name__] if step is not None else [])
        return ends.end(b)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(generator, "end", noted)
        for example in range(KERNELS):
            names.clear()
            generator.kernel(Seeded(SEED, example))
            for name in names:
                found.setdefault(name, []).append(example)
    return found


@pytest.mark.parametrize("name", sorted(set(SHOWN_BY.values())))
def test_each_end_is_drawn(name: str) -> None:
    assert len(_drawn()[name]) >= KERNELS // 100


@pytest.mark.parametrize("fault", SHOWN_BY)
def test_a_fault_in_such_a_shape_is_found_in_few_kernels(fault: str) -> None:
    examples = _drawn()[SHOWN_BY[fault]]
    with switched_on(fault):
        for example in examples:
            deep = example % DEEP_EVERY == 0
            if examined(generator.kernel(Seeded(SEED, example)), example, 1 + deep, deep).finds:
                return
    pytest.fail(f"none of {KERNELS} kernels shows {fault}")
