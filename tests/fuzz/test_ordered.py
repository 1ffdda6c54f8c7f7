"""Kernels under time: what is found when an order is missing, and when the rules do not see that it is."""

from __future__ import annotations

from pypto_verified.fuzz.builder import Kernel
from pypto_verified.fuzz.faults import switched_on
from pypto_verified.fuzz.oracles import examine
from tests.interpreter.kernels import tensor
from tests.passes.build import kernel as from_text

PARAMETERS = ",\n".join([tensor("a", (64, 32)), tensor("out", (64, 32), out=True)])
LOOP = Kernel(from_text(PARAMETERS, """
    for i in pl.range(0, 4, 1):
        x = pl.load(a, [i * 16, 0], [16, 32])
        out = pl.store(pl.mul(x, 2.0), [i * 16, 0], out)
    return out
"""), {}, "a2a3", "PYPTO")


def _oracles(fault: str) -> set[str]:
    with switched_on(fault):
        return {f.oracle for f in examine(LOOP, deep=True).finds}


def test_a_kernel_whose_order_is_right_has_no_find() -> None:
    assert _oracles("") == set()


def test_an_order_that_was_not_inserted_is_refuted_and_seen_in_a_run() -> None:
    assert _oracles("sync-no-read-before-write") >= {"order: proved"}


def test_rules_that_do_not_see_a_missing_order_are_found_by_a_run_that_does() -> None:
    assert _oracles("race-begun-is-done") == {"order: missing"}
