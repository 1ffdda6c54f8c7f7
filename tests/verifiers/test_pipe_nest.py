"""SPLIT: which push fills the slot of a pop, where tiles of several sizes go through one pipe."""

from __future__ import annotations

import pytest

from pypto_verified.pto.reader import read
from pypto_verified.report.model import Verdict
from pypto_verified.targets import target
from tests.verifiers.examples_fifo import FREE, HALF, PUSH, pair_of_cores, pop, turns
from tests.verifiers.examples_split import ACC
from tests.verifiers.kernels import alloc
from tests.verifiers.test_fifo_while import while_
from verifiers import Options, verify

PROVED, UNKNOWN = Verdict.PROVED, Verdict.UNKNOWN
NARROW = f"pto.tpush_to_aiv(%d : {ACC}) {{split = 1}}"
WIDE_OUT = f"{pop()}\n{FREE}"
NARROW_OUT = f"%u = pto.tpop_from_aic(%c16, %c32) {{split = 1}} -> {HALF}\n{FREE}"


def branch(*body: str) -> str:
    return "\n".join(("%more = arith.cmpi sgt, %n, %c8 : index", "scf.if %more {", *body, "}"))


def _judged(cube: tuple[str, ...], vector: tuple[str, ...], rule: str) -> set[Verdict]:
    text = pair_of_cores("\n".join((alloc("d", ACC, 0, "c32", "c32"), *cube)), "\n".join(vector))
    results = verify(read(text, "k.pto"), target("a2a3"), Options(families=frozenset({"SPLIT"})))
    return {o.verdict for r in results for o in r.obligations if o.rule == rule}


@pytest.mark.requirement("XC-12", "VF-01")
@pytest.mark.parametrize("rule", ["SPLIT-PITCH", "SPLIT-PART", "SPLIT-TYPE", "SPLIT-ENDS"])
@pytest.mark.parametrize(("cube", "vector", "expected"), [
    ((PUSH, NARROW), (WIDE_OUT, NARROW_OUT), PROVED),
    ((turns("%n", PUSH, NARROW),), (turns("%n", WIDE_OUT, NARROW_OUT),), PROVED),
    ((branch(PUSH), NARROW), (branch(WIDE_OUT), NARROW_OUT), PROVED),
    # with n = 3 the third pop of the second loop takes what the first loop of the cube pushes
    ((turns("%n", PUSH), turns("%c2", NARROW)), (turns("%c2", WIDE_OUT), turns("%n", NARROW_OUT)), UNKNOWN),
    # up to n = 8 the only tile is a narrow one
    ((branch(PUSH), NARROW), (WIDE_OUT, branch(NARROW_OUT)), UNKNOWN),
    # the same number of loops, but two tiles in turn against one after the other
    ((turns("%n", PUSH, NARROW),), (turns("%n", WIDE_OUT), turns("%n", NARROW_OUT)), UNKNOWN),
    # what a while loop pushes before its tests is more than one tile
    ((while_((PUSH,), ()), NARROW), (WIDE_OUT, NARROW_OUT), UNKNOWN),
    ((while_((), (PUSH,)), NARROW), (turns("%n", WIDE_OUT), NARROW_OUT), UNKNOWN),
])
def test_tiles_meet_their_pops_in_the_same_loops_and_branches_alone(
    cube: tuple[str, ...], vector: tuple[str, ...], expected: Verdict, rule: str
) -> None:
    assert _judged(cube, vector, rule) == {expected}
