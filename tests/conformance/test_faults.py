"""Kernels of the suite with other extents, types, pads and addresses: what is wrong with them is said, not raised."""

from __future__ import annotations

import random
import warnings

import pytest

from pypto_verified.errors import PtoError
from pypto_verified.pto.module import Func
from pypto_verified.pto.reader import read
from pypto_verified.simulator import compile, execute
from pypto_verified.targets import target
from tests.conformance.case import Case
from tests.conformance.pto_kernel import PtoKernel
from tests.conformance.test_conformance import CASES

EVERY = 20
"""One case in so many."""


class Spoilt(PtoKernel):
    """Writes tiles that differ from those asked for."""

    chance = random.Random(0)

    def tile(
        self, name: str, dtype: str, shape: tuple[int, int], valid: tuple[int, int] | None = None, space: str = "vec",
        addr: int | None = None, pad: int = 0, compact: int = 0, layout: tuple[str, str, int] | None = None,
        static: bool = False,
    ) -> str:
        chance = self.chance
        if chance.random() < 0.5:
            rows, cols = (chance.choice([0, 1, n, chance.randint(0, n)]) for n in shape)
            valid = rows, cols
        if chance.random() < 0.05:
            dtype = chance.choice(["FP32", "INT8", "FP16", "FP8E5M2", "INT64"])
        if chance.random() < 0.05:
            pad, addr = chance.choice([0, 1, 2, 3]), chance.choice([0, 1024, 32])
        return super().tile(name, dtype, shape, valid, space, addr, pad, compact, layout, static)


def _spoilt(case: Case, on: str, seed: int) -> tuple[Func, tuple[str, ...]] | None:
    """A kernel and its tensors; None where what was written is no text, or no kernel."""
    assert case.pto is not None
    Spoilt.chance = random.Random(f"{case.name} {on} {seed}")
    kernel = Spoilt(case.inputs, on, case.scalars)
    try:
        case.pto(kernel)
        return read(kernel.text, "case.pto").funcs[0], kernel.tensors
    except (PtoError, ValueError):
        return None


@pytest.mark.parametrize("on", ["a2a3", "a5"])
def test_the_simulator_names_what_is_wrong(on: str) -> None:
    warnings.simplefilter("ignore")
    runs = 0
    for number, case in enumerate(c for c in CASES if c.pto is not None and on in c.targets):
        made = _spoilt(case, on, number) if number % EVERY == 0 else None
        if made is not None:
            func, tensors = made
            given = {n: case.inputs[n] for n in tensors}
            outcome = execute(compile(func, target(on)), given, dict(case.scalars), replaying=number % 2 == 0)
            assert all(e.kind and e.op for e in outcome.errors)
            runs += 1
    assert runs > 100
