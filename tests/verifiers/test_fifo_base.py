"""The place of a pipe's ring in global memory, at one end and at the other."""

from __future__ import annotations

import pytest

from pypto_verified.report.model import Verdict
from tests.verifiers.examples_fifo import BLOCK, FAR, at_one_end, crossing
from tests.verifiers.test_fifo import verdicts

PROVED, REFUTED, UNKNOWN = Verdict.PROVED, Verdict.REFUTED, Verdict.UNKNOWN


@pytest.mark.requirement("XC-09")
@pytest.mark.parametrize(("elements", "expected"), [
    ("%c0", {PROVED}), ("%c1", {PROVED, REFUTED}), ("%n", {PROVED, UNKNOWN}), ("%b", {PROVED, REFUTED})])
def test_both_ends_take_one_place(elements: str, expected: set[Verdict]) -> None:
    """The lanes look further on for one of two pipes: always, if a scalar is not 0, or in all blocks but the first."""
    text = at_one_end(crossing(FAR), elements)
    if elements == "%b":
        block = "\n".join(BLOCK.splitlines()[:2])
        text = text.replace("%near = arith.muli %b", f"{block}\n%near = arith.muli %b")
    assert verdicts(text, "FIFO-BASE") == expected


def test_a_place_that_the_block_decides_is_one_place_if_both_compute_it_alike() -> None:
    assert verdicts(crossing(BLOCK), "FIFO-BASE") == {PROVED}


def test_another_argument_is_another_place_unless_the_functions_take_their_arguments_in_another_order() -> None:
    pointer, both = "%gm: !pto.ptr<f32>", "%gm: !pto.ptr<f32>, %hm: !pto.ptr<f32>"
    cube, vector = crossing(FAR).split("func.func @vector")
    there = f"func.func @vector{vector}".replace(pointer, both).replace("pto.addptr %gm", "pto.addptr %hm")
    assert verdicts(cube.replace(pointer, both) + there, "FIFO-BASE") == {REFUTED}
    assert verdicts(cube + there, "FIFO-BASE") == {UNKNOWN}


def test_slots_on_the_chip_have_no_place_in_memory() -> None:
    assert verdicts(crossing(FAR), "FIFO-BASE", chip="a5") == set()
