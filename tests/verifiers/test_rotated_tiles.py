"""Tiles that a loop hands on in turn are not modelled: what touches them is left open, never judged as if the loop kept
to the first of them."""

from __future__ import annotations

import pytest

from pypto_verified.pto.reader import read as parse
from pypto_verified.report.model import FunctionResult, Verdict
from pypto_verified.simulator import schedule
from pypto_verified.targets import target
from tests.verifiers.examples_event import computed, flag
from tests.verifiers.examples_race import VEC, both, pipes, write
from tests.verifiers.kernels import load, unary
from verifiers import Options, verify


def in_turn(handed_on: str) -> str:
    """Loads into two tiles in turn, each with its flag; the second one is stored behind the loop."""
    return pipes(
        flag("set", 0, "V MTE2"), flag("set", 1, "V MTE2"),
        f"%x_, %y_ = scf.for %i = %c0 to %c4 step %c1 iter_args(%x = %a, %y = %b) -> ({VEC}, {VEC}) {{",
        "%id = arith.remsi %i, %c2 : index", computed("wait", "id", "V MTE2"), load("src", "x", VEC, "32x64"),
        both("MTE2 V"), unary("texp", "x", "x", VEC), computed("set", "id", "V MTE2"),
        f"scf.yield {handed_on} : {VEC}, {VEC}", "}",
        flag("wait", 0, "V MTE2"), flag("wait", 1, "V MTE2"), both("V MTE3"), write("b"))


def judged(text: str) -> FunctionResult:
    families = frozenset({"RACE", "EVENT", "INIT", "PLAN"})
    *_, result = verify(parse(text, "k.pto"), target("a2a3"), Options(families=families))
    return result


@pytest.mark.requirement("EV-08")
def test_what_is_right_is_not_refuted() -> None:
    text = in_turn("%y, %x")
    assert schedule.replay(parse(text, "k.pto"), "k", {}, target("a2a3"), schedule="late").clean
    result = judged(text)
    open_ = {f.rule: f.message for f in result.findings}
    assert {f.verdict for f in result.findings} == {Verdict.UNKNOWN}
    assert "MODEL-OP" in open_
    assert "tload at line" in open_["INIT-READ"]


def test_tiles_that_stay_what_they_are_are_judged() -> None:
    refuted = {f.rule for f in judged(in_turn("%x, %y")).findings if f.verdict is Verdict.REFUTED}
    assert {"RACE-WAR", "INIT-READ"} <= refuted
