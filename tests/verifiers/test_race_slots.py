"""RACE where slots and flags are taken in turn, and where loops and branches leave some of them out."""

from __future__ import annotations

import pytest

from pypto_verified.pto.reader import read as parse
from pypto_verified.report.model import Verdict
from pypto_verified.targets import target
from tests.verifiers.examples_event import branch, computed, flag, loop
from tests.verifiers.examples_race import VEC, barrier, both, exp, pipes, read, slots
from tests.verifiers.kernels import finding, load, unary
from tests.verifiers.race_verdicts import judge, verdicts_of
from verifiers import Options, verify

PROVED, REFUTED = Verdict.PROVED, Verdict.REFUTED


def test_slots_in_turn_with_a_flag_each_are_proved_for_every_trip_count() -> None:
    assert verdicts_of(judge(slots("c2"))) == {PROVED}
    assert verdicts_of(judge(slots("c1"))) == {PROVED}, "one flag for both slots orders more than it has to"


def test_a_wait_only_in_a_loop_does_not_count_where_the_loop_may_not_run() -> None:
    text = pipes(read("a"), flag("set", 0, "MTE2 V"), loop("M", flag("wait", 0, "MTE2 V"), flag("set", 0, "MTE2 V")),
                 exp("a", "b"), flag("wait", 0, "MTE2 V"), args="%M: index")
    found = finding(judge(text), "RACE-RAW")
    assert found.verdict is REFUTED
    assert dict(found.witness)["M"] <= 0
    assert verdicts_of(judge(text, assume=("M >= 1",))) == {PROVED}


def test_the_last_iteration_is_told_from_the_others() -> None:
    def prefetch(until: str) -> str:
        return pipes(
            read("a"), flag("set", 0, "MTE2 V"),
            loop("M", flag("wait", 0, "MTE2 V"), exp("a", "b"), both("V MTE2"), "%n = arith.addi %i, %c1 : index",
                 branch(f"slt, %n, %{until}", read("a"), flag("set", 0, "MTE2 V")), barrier("V")),
            args="%M: index")

    assert verdicts_of(judge(prefetch("M"), assume=("M >= 1",))) == {PROVED}


def test_one_condition_tested_twice_is_one_condition() -> None:
    def twice(second: str) -> str:
        return pipes(
            read("a"), branch("sgt, %M, %c0", flag("set", 0, "MTE2 V")), branch(second, flag("wait", 0, "MTE2 V"),
            exp("a", "b")), args="%M: index")

    assert verdicts_of(judge(twice("sgt, %M, %c0"))) == {PROVED}


@pytest.mark.parametrize(("op", "right"), [
    ("remui %i, %c2", True), ("andi %i, %c1", True), ("andi %i, %c2", False), ("xori %r, %c1", True)])
def test_slots_in_turn_may_be_counted_by_unsigned_ops_and_masks(op: str, right: bool) -> None:
    """`i & 2` is 0, 0, 2, 2: flag 2 is nowhere primed."""
    text = slots("c2").replace("%id = arith.remsi %i, %c2 : index", "\n    ".join((
        "%r = arith.remsi %i, %c2 : index", f"%id = arith.{op} : index"))).replace(
        "%old = arith.remsi %i, %c2 : index", "%old = arith.addi %id, %c0 : index")
    *_, result = verify(parse(text, "k.pto"), target("a2a3"), Options(families=frozenset({"RACE", "EVENT"})))
    assert {o.verdict for o in result.obligations} == {PROVED} if right else REFUTED in {
        o.verdict for o in result.obligations}


@pytest.mark.parametrize("ids", [
    ("%h = arith.divsi %i, %c2", "%w = arith.muli %h, %c2", "%id = arith.subi %i, %w"),
    ("%h = arith.shrsi %i, %c1", "%w = arith.shli %h, %c1", "%id = arith.subi %i, %w"),
    ("%r = arith.remsi %i, %c2", "%is_0 = arith.cmpi eq, %r, %c0", "%id = arith.select %is_0, %c0, %c1"),
    ("%r = arith.remsi %i, %c2", "%odd = arith.cmpi sgt, %r, %c0", "%id = arith.select %odd, %c1, %c0"),
])
def test_slots_in_turn_may_be_chosen_or_be_what_a_division_leaves(ids: tuple[str, ...]) -> None:
    """The load waits for the flag of its own slot; the flag of every third iteration is nowhere primed."""
    def judged(old: str) -> set[Verdict]:
        text = slots("c3").replace("%id = arith.remsi %i, %c2 : index", "\n".join(f"{x} : index" for x in ids))
        text = text.replace("%old = arith.remsi %i, %c3 : index", f"%old = arith.{old} : index")
        *_, result = verify(parse(text, "k.pto"), target("a2a3"), Options(families=frozenset({"RACE", "EVENT"})))
        return {o.verdict for o in result.obligations}

    assert judged("addi %id, %c0") == {PROVED}
    assert judged("remsi %i, %c3") == {PROVED, REFUTED}


@pytest.mark.parametrize("last", [37, 1000])
def test_a_race_far_down_a_loop_is_found(last: int) -> None:
    """Iteration `last` does not wait for its load."""
    text = pipes(
        f"%last = arith.constant {last} : index",
        loop("M", read("a"), branch("ne, %i, %last", both("MTE2 V")), exp("a", "b"), both("V MTE2"), barrier("V")),
        args="%M: index")
    found = finding(judge(text), "RACE-RAW")
    assert found.verdict is REFUTED
    assert dict(found.witness)["M"] > last


def test_more_flags_than_slots_are_refuted_where_the_slots_come_round() -> None:
    """Six slots and seven flags: iteration 6 writes the slot of iteration 0 and waits for a flag that was primed."""
    text = pipes(
        "%c6 = arith.constant 6 : index", "%c7 = arith.constant 7 : index", "%size = arith.constant 8192 : index",
        *(flag("set", n, "V MTE2") for n in range(7)),
        loop("M", "%id = arith.remsi %i, %c7 : index", "%slot = arith.remsi %i, %c6 : index",
             "%off = arith.muli %slot, %size : index", "%at = arith.index_cast %off : index to i64",
             f"%t = pto.alloc_tile addr = %at valid_row = %c32 valid_col = %c64 : {VEC}",
             computed("wait", "id", "V MTE2"), load("src", "t", VEC, "32x64"), computed("set", "id", "MTE2 V"),
             computed("wait", "id", "MTE2 V"), unary("texp", "t", "t", VEC), computed("set", "id", "V MTE2")),
        *(flag("wait", n, "V MTE2") for n in range(7)), args="%M: index")
    found = finding(judge(text), "RACE-WAR")
    assert found.verdict is REFUTED
    assert dict(found.witness)["M"] >= 7


def test_a_path_that_knows_nothing_is_not_lost_where_others_know_the_condition() -> None:
    """Only one arm of the first branch waits for the load, and only there the second condition is asked for; asking
    for it again must not forget the arm that has not waited."""
    asked = branch("sle, %M, %c1", exp("a", "b"))
    text = pipes(
        read("a"), "%no = arith.cmpi slt, %N, %c1 : index", "scf.if %no {", "} else {", both("MTE2 V"), asked, "}",
        branch("sle, %M, %c1", "%unused = arith.addi %M, %c1 : index"), barrier("V"), exp("a", "c"),
        args="%M: index, %N: index")
    result = judge(text)
    assert {o.verdict for o in result.obligations if o.rule == "RACE-RAW"} > {PROVED}, "the last read is not ordered"
