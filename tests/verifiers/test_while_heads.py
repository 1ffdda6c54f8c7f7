"""What a while loop does where it computes its condition runs once more than its body, for the rules about contents."""

from __future__ import annotations

import pytest

from pypto_verified.report.model import Verdict
from tests.verifiers.examples_race import VEC, exp, write
from tests.verifiers.kernels import alloc, check, fill, finding, kernel, verdicts, view, window

PROVED, REFUTED = {Verdict.PROVED}, {Verdict.REFUTED}


def _kernel(head: tuple[str, ...], body: tuple[str, ...], after: tuple[str, ...], b: int) -> str:
    """Tiles `a` at 0, `b` at an address, `c` apart from both; `b` and `c` are filled, and the loop turns `%M` times."""
    return kernel("\n".join((
        view("sized", "p", "M"), view("ov", "q", "c512"), window("dst", "ov", "%c0, %c0", "%c32, %c64", "32x64"),
        alloc("a", VEC), alloc("b", VEC, b), alloc("c", VEC, 16384), fill("c", VEC), fill("b", VEC),
        "%end = scf.while (%n = %c0) : (index) -> index {", *head, "%more = arith.cmpi slt, %n, %M : index",
        "scf.condition(%more) %n : index", "} do {", "^bb0(%k: index):", *body, "%next = arith.addi %k, %c1 : index",
        "scf.yield %next : index", "}", *after)), "%M: index")


@pytest.mark.requirement("VF-01")
@pytest.mark.parametrize("inside", [exp("c", "b"), ""])
@pytest.mark.parametrize(("b", "expected"), [(0, REFUTED), (4096, REFUTED), (8192, PROVED)])
def test_it_writes_over_what_the_body_left(inside: str, b: int, expected: set[Verdict]) -> None:
    """The last test comes after the last body, and the only one after what stands in front of the loop."""
    result = check(_kernel((exp("c", "a"),), (inside,), (write("b"),), b), families="PLAN")
    stored = [o.verdict for o in result.obligations if o.rule == "PLAN-OVERLAP" and "tstore" in o.site]
    assert set(stored) == expected
    if expected == REFUTED:
        assert "tile b" in finding(result, "PLAN-OVERLAP").message


def test_what_it_writes_is_there_behind_the_loop() -> None:
    """Also where the body, which runs before the last test, has written over it."""
    text = _kernel((exp("c", "a"),), (exp("c", "b"),), (write("a"),), 0)
    assert verdicts(check(text, families="PLAN"), "PLAN-OVERLAP") == PROVED
    assert verdicts(check(text, families="INIT"), "INIT-READ") == PROVED
