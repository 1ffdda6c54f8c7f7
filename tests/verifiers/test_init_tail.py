"""INIT-TAIL: a move of a2a3 takes what stands behind its last column, up to the end of a 32-byte block."""

from __future__ import annotations

import pytest

from pypto_verified.report.model import Verdict
from tests.verifiers.examples_ops import VEC, moved_into
from tests.verifiers.kernels import check, fill, finding, verdicts


@pytest.mark.parametrize(("cols", "chip", "expected"), [
    (16, "a2a3", Verdict.PROVED), (17, "a2a3", Verdict.REFUTED), (64, "a2a3", Verdict.PROVED)])
def test_eight_floats_are_a_block(cols: int, chip: str, expected: Verdict) -> None:
    result = check(moved_into(cols), chip=chip, families="INIT")
    assert verdicts(result, "INIT-TAIL") == {expected}
    if expected is Verdict.REFUTED:
        assert "up to column 63; tmov at line" in finding(result, "INIT-TAIL").message
        assert "ends with column 16" in finding(result, "INIT-TAIL").message


def test_an_a5_masks_what_is_behind() -> None:
    assert verdicts(check(moved_into(17), chip="a5", families="INIT"), "INIT-TAIL") == set()


def test_what_is_written_anew_after_the_move_is_not_lost() -> None:
    assert Verdict.REFUTED not in verdicts(check(moved_into(17, fill("t", VEC)), families="INIT"), "INIT-TAIL")
