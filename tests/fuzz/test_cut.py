"""Kernels that were made wrong: what is found when the rules do not see it."""

from __future__ import annotations

import pytest

from pypto_verified.fuzz.builder import Kernel
from pypto_verified.fuzz.faults import switched_on
from pypto_verified.fuzz.oracles import examine
from tests.interpreter.kernels import tensor
from tests.passes.build import kernel as from_text

PARAMETERS = ",\n".join([tensor("a", (64, 32)), tensor("out", (64, 32), out=True)])
WHOLE = Kernel(from_text(PARAMETERS, """
    for i in pl.range(0, 4, 1):
        x = pl.load(a, [i * 16, 0], [16, 32])
        out = pl.store(pl.mul(x, 2.0), [i * 16, 0], out)
    return out
"""), {}, "a2a3", "PYPTO")


def _found(fault: str) -> list[tuple[str, str]]:
    with switched_on(fault):
        return [(f.oracle, f.cause) for f in examine(WHOLE, deep=True).finds]


def test_rules_that_see_a_row_too_few_are_no_find() -> None:
    assert _found("") == []


@pytest.mark.parametrize("fault", ["bound-a-row-late", "bound-of-stores-only"])
def test_rules_that_let_a_row_too_few_pass_are_found(fault: str) -> None:
    assert _found(fault) == [("rules: missed", "PROVED though pto.tload leaves its tensor")]
