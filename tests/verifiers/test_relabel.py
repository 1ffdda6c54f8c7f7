"""One buffer under two names: the orders of elements in which one may write it and the other read it."""

from __future__ import annotations

import pytest

from pypto_verified.report.model import Verdict
from tests.verifiers.kernels import alloc, check, fill, kernel, tile, unary, verdicts

NZ, ZN, FLAT = ("col_major", "row_major"), ("row_major", "col_major"), ("row_major", "none_box")
COLUMNS = ("col_major", "none_box")


def named(written: str, read: str, at: int = 0) -> set[Verdict]:
    """What is filled as one tile at byte 0, read as another one at `at`."""
    target = tile(64, 64)
    body = "\n".join((alloc("a", written, 0), fill("a", written), alloc("b", read, at), alloc("c", target, 65536),
                      f"pto.tmov ins(%b : {read}) outs(%c : {target})"))
    return verdicts(check(kernel(body), families="LAYOUT"), "LAYOUT-NAME")


def vec(layout: tuple[str, str], rows: int = 32, cols: int = 64, fractal: int = 512) -> str:
    blayout, slayout = layout
    return tile(rows, cols, blayout=blayout, slayout=slayout, fractal=fractal)


@pytest.mark.requirement("VF-01")
@pytest.mark.parametrize(("written", "read", "expected"), [
    (vec(NZ), vec(NZ), Verdict.PROVED),
    (vec(NZ), vec(FLAT), Verdict.REFUTED),
    (vec(FLAT), vec(NZ), Verdict.REFUTED),
    (vec(NZ), vec(NZ, fractal=1024), Verdict.REFUTED),
    # A column of boxes of 8 f32 is 8 columns, row after row.
    (vec(NZ, 32, 8), vec(FLAT, 32, 8), Verdict.PROVED),
    # The transpose of fractals is fractals, of the transposed shape.
    (vec(NZ, 32, 64), vec(ZN, 64, 32), Verdict.PROVED),
    (vec(NZ, 32, 64), vec(ZN, 32, 64), Verdict.REFUTED),
    # Outside of boxes, another shape or the other axis first is a reshape or a transpose.
    (vec(FLAT, 32, 64), vec(FLAT, 16, 128), Verdict.PROVED),
    (vec(FLAT, 32, 64), vec(COLUMNS, 64, 32), Verdict.PROVED),
])
def test_the_order_of_elements_is_kept(written: str, read: str, expected: Verdict) -> None:
    assert named(written, read) == {expected}


def test_bytes_of_its_own_have_their_own_layout() -> None:
    """Nothing was written there: INIT-READ speaks of that."""
    assert named(vec(NZ), vec(FLAT), at=16384) == set()


def test_a_handle_that_is_written_itself_has_its_own_layout() -> None:
    boxed, flat = vec(NZ), vec(FLAT)
    body = "\n".join((alloc("a", boxed, 0), fill("a", boxed), alloc("b", flat, 0), fill("b", flat),
                      alloc("c", flat, 65536), unary("texp", "b", "c", flat)))
    assert verdicts(check(kernel(body), families="LAYOUT"), "LAYOUT-NAME") == set()
