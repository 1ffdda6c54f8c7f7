"""WRITE-NEST: loops that move a window back, and loops whose steps are sizes."""

from __future__ import annotations

import pytest

from pypto_verified.report.model import Verdict
from tests.verifiers.kernels import alloc, check, finding, kernel, load, verdicts, view, window
from tests.verifiers.stores import VEC, output, rows

P, R, U = Verdict.PROVED, Verdict.REFUTED, Verdict.UNKNOWN


def _back(count: str, last: str, extent: str, cut: bool = False) -> str:
    """`for i in range(count)`: 32 rows from `(last - i) * 32` on, of an output of `extent`; `up` is M/32 rounded up."""
    size = ("%left = arith.subi %M, %at : index", "%some = arith.minsi %left, %c32 : index") if cut else ()
    return kernel("\n".join((
        "%c6 = arith.constant 6 : index", "%c7 = arith.constant 7 : index", "%c256 = arith.constant 256 : index",
        "%c31 = arith.constant 31 : index", "%more = arith.addi %M, %c31 : index",
        "%up = arith.divsi %more, %c32 : index", "%top = arith.subi %up, %c1 : index",
        output(extent), f"scf.for %i = %c0 to %{count} step %c1 {{",
        f"%j = arith.subi %{last}, %i : index", "%at = arith.muli %j, %c32 : index", *size,
        rows("at", "some" if cut else "c32"), "}")), "%M: index")


@pytest.mark.parametrize(("text", "missing"), [
    (_back("c8", "c7", "c256"), ""),
    (_back("c8", "c6", "c256"), "elements 224 to 255 of it"),
    (_back("c7", "c7", "c256"), "elements 0 to 31 of it"),
    (_back("up", "top", "M"), ""),
    (_back("up", "top", "M", cut=True), ""),
    (_back("top", "top", "M", cut=True), "elements 0 to 0 of it"),
])
def test_windows_that_move_back_are_those_that_move_on(text: str, missing: str) -> None:
    result = check(text, families="WRITE", outputs=("q",))
    if missing:
        found = finding(result, "WRITE-NEST")
        assert found.verdict is R
        assert found.message.endswith(f"no turn of the loops writes {missing}")
    else:
        assert verdicts(result, "WRITE-NEST") == {P}


def _by_a_size(inner: str, step: str) -> str:
    """`for i in range(0, M, size): for j in range(0, inner, step)`: 32 rows from i + j on, cut at i + size and M; the
    size is an extent, 32 at least."""
    return kernel("\n".join((
        view("s", "p", "S"), alloc("u", VEC, 16384), window("v", "s", "%c0, %c0", "%c32, %c64"), load("v", "u", VEC),
        output("M"),
        "%size = arith.maxsi %S, %c32 : index", "scf.for %i = %c0 to %M step %size {",
        f"scf.for %j = %c0 to %{inner} step %{step} {{", "%at = arith.addi %i, %j : index",
        "%left = arith.subi %M, %at : index", "%own = arith.subi %size, %j : index",
        "%least = arith.minsi %left, %own : index", "%some = arith.minsi %least, %c32 : index",
        "%rows = arith.maxsi %some, %c0 : index", rows("at", "rows"), "}", "}")), "%M: index, %S: index")


@pytest.mark.parametrize(("inner", "step", "verdict"), [("size", "c32", P), ("c32", "c32", U), ("size", "c64", U)])
def test_of_two_steps_the_longer_may_be_a_size(inner: str, step: str, verdict: Verdict) -> None:
    """With an inner loop over 32 rows all is written only if the size is 32: that is the caller's to keep."""
    assert verdicts(check(_by_a_size(inner, step), families="WRITE", outputs=("q",)), "WRITE-NEST") == {verdict}
