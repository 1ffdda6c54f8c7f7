"""VALID: a while loop finds before its test what an earlier iteration has made of a tile's valid extents."""

from __future__ import annotations

import pytest

from pypto_verified.report.model import Verdict
from tests.verifiers.kernels import alloc, check, fill, kernel, tile, unary

TILE = tile(32, 64)
USE = unary("texp", "x", "y", TILE)


def set_rows(rows: str) -> str:
    return f"pto.set_validshape %x, %{rows}, %c64 : {TILE}"


@pytest.mark.requirement("VF-01")
@pytest.mark.parametrize(("head", "body", "expected"), [
    ((USE,), (set_rows("c1"),), Verdict.UNKNOWN),
    ((USE, set_rows("c1")), (), Verdict.UNKNOWN),
    ((set_rows("c32"), USE), (set_rows("c1"),), Verdict.PROVED),
    ((set_rows("c32"), USE, set_rows("c1")), (), Verdict.PROVED),
    ((USE,), (), Verdict.PROVED),
])
def test_what_a_body_or_a_head_sets_holds_before_the_next_test(
    head: tuple[str, ...], body: tuple[str, ...], expected: Verdict
) -> None:
    """The op writes 32 rows and reads as many; a second iteration finds only one of them valid."""
    loop = ("%end = scf.while (%w = %c0) : (index) -> index {", *head, "%more = arith.cmpi slt, %w, %M : index",
            "scf.condition(%more) %w : index", "} do {", "^bb0(%k: index):", *body,
            "%next = arith.addi %k, %c1 : index", "scf.yield %next : index", "}")
    tiles = ("%far = arith.constant 65536 : i64", alloc("x", TILE), alloc("y", TILE, "far"), fill("x", TILE))
    result = check(kernel("\n".join((*tiles, *loop)), "%M: index"), families="VALID")
    assert {o.verdict for o in result.obligations if o.rule == "VALID-SOURCE"} == {expected}
