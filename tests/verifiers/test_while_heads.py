"""What a while loop does where it computes its condition runs once more than its body, for the rules about contents."""

from __future__ import annotations

import pytest

from pypto_verified.report.model import Verdict
from tests.verifiers.examples_race import VEC, exp, write
from tests.verifiers.kernels import (
    alloc,
    check,
    fill,
    finding,
    kernel,
    load,
    obligations,
    store,
    verdicts,
    view,
    window,
)

PROVED, REFUTED, UNKNOWN = {Verdict.PROVED}, {Verdict.REFUTED}, {Verdict.UNKNOWN}


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


def _rows(head: tuple[str, ...], body: tuple[str, ...], before: tuple[str, ...] = (), stride: str = "%c1") -> str:
    """A row `t`, `dst` and `src` of `M + 1` rows; the head has the row `%n` of both, the body `%k`."""
    return kernel("\n".join((
        view("sized", "p", "M"), "%more_rows = arith.addi %M, %c1 : index", view("sv", "p", "more_rows"),
        view("dv", "q", "more_rows"),
        alloc("t", VEC, 0, "c1"), fill("t", VEC), window("first", "dv", "%c0, %c0", "%c1, %c64", "1x64"), *before,
        "%end = scf.while (%n = %c0) : (index) -> index {", *head, "%more = arith.cmpi slt, %n, %M : index",
        "scf.condition(%more) %n : index", "} do {", "^bb0(%k: index):", *body,
        f"%next = arith.addi %k, {stride} : index", "scf.yield %next : index", "}")), "%M: index")


def _row(name: str, source: str, offset: str) -> str:
    return window(name, source, f"{offset}, %c0", "%c1, %c64", "1x64")


@pytest.mark.requirement("VF-01")
@pytest.mark.parametrize(("rows", "stride", "expected"), [
    ("more_rows", "%c1", PROVED), ("M", "%c1", REFUTED), ("more_rows", "%c2", REFUTED)])
def test_what_it_loads_is_bounded_by_the_test_before(rows: str, stride: str, expected: set[Verdict]) -> None:
    """Rows 0 to M: the test of row M fails. In steps of two, that of row M + 1 may be the one that fails."""
    text = _rows((_row("r", "sv", "%n"), load("r", "t", VEC, "1x64")), (), stride=stride)
    text = text.replace("%p, shape = [%more_rows", f"%p, shape = [%{rows}")
    assert verdicts(check(text, families="BOUND"), "BOUND-UPPER") == PROVED | expected


@pytest.mark.requirement("VF-01")
@pytest.mark.parametrize("before", [(), (store("t", "first", VEC, "1x64"),)])
@pytest.mark.parametrize("stride", ["%c1", "%c2"])
@pytest.mark.parametrize("where", ["head", "body"])
def test_what_it_stores_is_not_taken_for_a_block_of_the_callers(
    where: str, stride: str, before: tuple[str, ...]
) -> None:
    """The while loop moves the store over the output, by every row or every other one; how often it turns is not
    followed, whether it stores before its test or after it."""
    stored = (_row("r", "dv", "%n" if where == "head" else "%k"), store("t", "r", VEC, "1x64"))
    text = _rows(stored if where == "head" else (), stored if where == "body" else (), before, stride)
    found = {o.verdict for o in check(text, families="WRITE", outputs=("q",)).obligations
             if o.rule not in ("WRITE-ANY", "WRITE-OUT")}
    assert found == UNKNOWN


@pytest.mark.parametrize("before", [(), (store("t", "first", VEC, "1x64"),)])
@pytest.mark.parametrize("where", ["head", "body"])
def test_a_place_that_the_loop_hands_on_is_not_the_callers(where: str, before: tuple[str, ...]) -> None:
    """Rows 1, 2, 4, 8: no form of a counter."""
    stored = (_row("r", "dv", "%n" if where == "head" else "%k"), store("t", "r", VEC, "1x64"))
    text = _rows(stored if where == "head" else (), stored if where == "body" else (), before)
    text = text.replace("arith.addi %k, %c1", "arith.muli %k, %c2").replace("(%n = %c0)", "(%n = %c1)")
    found = {o.verdict for o in check(text, families="WRITE", outputs=("q",)).obligations
             if o.rule in ("WRITE-NEST", "WRITE-UNION")}
    assert found == UNKNOWN


@pytest.mark.parametrize("relation", ["une", "ult"])
def test_a_float_that_a_while_loop_leaves_may_be_no_number(relation: str) -> None:
    """It then differs from itself, and is less than itself or unordered: the store of 64 rows to 32 is made."""
    text = kernel("\n".join((
        "%r = scf.while (%x = %one) : (f32) -> f32 {", "%more = arith.cmpf olt, %x, %one : f32",
        "scf.condition(%more) %x : f32", "} do {", "^bb0(%y: f32):", "%n = arith.addf %y, %one : f32",
        "scf.yield %n : f32", "}", alloc("t", VEC), fill("t", VEC), view("o", "q", "c32"),
        f"%odd = arith.cmpf {relation}, %r, %r : f32", "scf.if %odd {",
        window("w", "o", "%c0, %c0", "%c64, %c64", "64x64"), store("t", "w", VEC, "64x64"), "}")))
    rows, columns = obligations(check(text, families="BOUND"), "BOUND-UPPER")
    assert rows.verdict is not Verdict.PROVED and columns.verdict is Verdict.PROVED
