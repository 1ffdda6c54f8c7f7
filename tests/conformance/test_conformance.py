"""Each oracle passes the suite alone: the interpreter on IR, the simulator on `.pto` for each target."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.conformance import ir_kernel, pto_kernel
from tests.conformance.case import INTERPRETER, ORACLES, Case
from tests.conformance.suite import cases

CASES = tuple(cases())
OPS = sorted({(o, c.op) for c in CASES for o in c.oracles}, key=lambda key: (ORACLES.index(key[0]), key[1]))


def conform(case: Case, oracle: str) -> list[str]:
    """What is wrong with the oracle's result."""
    return ir_kernel.run(case) if oracle == INTERPRETER else pto_kernel.run(case, oracle)


@pytest.mark.parametrize(("oracle", "op"), OPS)
def test_conforms(oracle: str, op: str) -> None:
    wrong = {c.name: found for c in CASES if c.op == op and oracle in c.oracles and (found := conform(c, oracle))}
    assert wrong == {}


def test_every_case_says_how_its_result_was_derived() -> None:
    assert [c.name for c in CASES if len(c.derivation.split()) < 3] == []


def test_names_are_unique() -> None:
    assert [name for name, n in Counter(c.name for c in CASES).items() if n > 1] == []
