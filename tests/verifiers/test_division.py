"""Divisions that have no value: said at the division, not as a contradiction of assumptions that nobody made."""

from __future__ import annotations

import pytest

from pypto_verified.report.model import Verdict
from tests.verifiers.kernels import alloc, check, fill, kernel, load, tile, view, window

VEC = tile()
STORED = (alloc("x", VEC, 0), fill("x", VEC))


@pytest.mark.parametrize("op", ["divsi", "remsi", "floordivsi", "ceildivsi"])
@pytest.mark.parametrize("lines", [
    ("%quotient = arith.{op} %c16, %c0 : index", *STORED),
    ("%c = arith.cmpi sgt, %n, %c3 : index", "scf.if %c {{", "%quotient = arith.{op} %c16, %c0 : index", "}}", *STORED),
])
def test_a_division_by_zero_is_an_error_at_its_line(op: str, lines: tuple[str, ...]) -> None:
    text = kernel("\n".join(lines).format(op=op), "%n: index")
    (found,) = check(text).findings
    assert (found.rule, found.verdict) == ("PARSE", Verdict.ERROR)
    assert found.message == f"arith.{op} divides by zero"
    assert f"arith.{op}" in text.splitlines()[found.line - 1]


@pytest.mark.parametrize("op", ["divsi", "remsi", "floordivsi", "ceildivsi"])
def test_nothing_divided_is_nothing_whatever_the_divisor(op: str) -> None:
    lines = (
        f"%z = arith.{op} %c0, %n : index", view("a", "p", "c32"), alloc("t", VEC),
        window("w", "a", "%z, %c0", "%c32, %c64"), load("w", "t", VEC))
    assert {o.verdict for o in check(kernel("\n".join(lines), "%n: index"), families="BOUND").obligations} == {
        Verdict.PROVED}


def test_a_divisor_that_no_run_makes_positive_is_named_as_the_reason() -> None:
    """max((max(n, 0) - n) * n, 0) is 0 for every n, which no bound of its parts shows."""
    lines = (
        "%k = arith.maxsi %n, %c0 : index", "%j = arith.subi %k, %n : index", "%i = arith.muli %j, %n : index",
        "%m = arith.maxsi %i, %c0 : index", "%quotient = arith.divsi %c16, %m : index", *STORED)
    (found,) = check(kernel("\n".join(lines), "%n: index")).findings
    assert found.verdict is Verdict.VACUOUS
    assert "divides by a value that is never positive" in found.message
    assert "--assume" not in found.help
