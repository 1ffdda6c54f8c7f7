"""INIT-VALID: what a while loop writes before its test, the next iteration reads."""

from __future__ import annotations

import pytest

from pypto_verified.report.model import Verdict
from tests.verifiers.kernels import alloc, check, fill, kernel, tile, unary

TILE = tile(32, 64)
GROWS = ("%w1 = arith.addi %w, %c1 : index", "%rows = arith.minsi %w1, %c32 : index", alloc("x", TILE, 0, "rows"),
         alloc("y", TILE, "far", "rows"), unary("texp", "x", "y", TILE), fill("x", TILE))


def _verdicts(head: tuple[str, ...], body: tuple[str, ...]) -> set[Verdict]:
    loop = ("%end = scf.while (%w = %c0) : (index) -> index {", *head, "%more = arith.cmpi slt, %w, %M : index",
            "scf.condition(%more) %w : index", "} do {", "^bb0(%k: index):", *body,
            "%next = arith.addi %k, %c1 : index",
            "scf.yield %next : index", "}")
    whole = ("%far = arith.constant 65536 : i64", alloc("before", TILE, 0, "c32"), fill("before", TILE))
    result = check(kernel("\n".join((*whole, *loop)), "%M: index"), families="INIT")
    return {o.verdict for o in result.obligations if o.rule == "INIT-VALID"}


@pytest.mark.requirement("VF-01")
def test_an_iteration_that_reads_one_row_more_than_the_one_before_has_written_is_not_proved() -> None:
    """Iteration w reads w + 1 rows, of which the one before has written w, and then writes w + 1 itself."""
    in_body = tuple(line.replace("%w,", "%k,") for line in GROWS)
    assert Verdict.UNKNOWN in _verdicts(GROWS, ())
    assert Verdict.UNKNOWN in _verdicts((), in_body)


def test_an_iteration_that_writes_before_it_reads_is_proved() -> None:
    *handles, use, write = GROWS
    assert _verdicts((*handles, write, use), ()) == {Verdict.PROVED}
