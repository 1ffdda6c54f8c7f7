"""RACE through loops: what moves and what stays, while loops, loops that run once, what other cores answer."""

from __future__ import annotations

import pytest

from pypto_verified.report.model import Verdict
from tests.verifiers.examples_event import branch, computed, flag, loop
from tests.verifiers.examples_race import VEC, barrier, both, cores, exp, pipes, read
from tests.verifiers.kernels import alloc, check, kernel, load, store, tile, unary, view, window
from tests.verifiers.race_verdicts import judge

PROVED, REFUTED, UNKNOWN = Verdict.PROVED, Verdict.REFUTED, Verdict.UNKNOWN


@pytest.mark.parametrize(("fixed", "expected"), [("c0", PROVED), ("c32", REFUTED)])
def test_a_store_that_moves_meets_one_that_stays_in_the_iteration_that_comes_there(
        fixed: str, expected: Verdict) -> None:
    """Iteration i stores rows 32i, and after a barrier the fixed ones. Rows 0 are met in iteration 0 alone, before they
    are stored; rows 32 in iteration 1, after iteration 0 has stored them with nothing between."""
    text = pipes(
        both("S MTE3"),
        loop("M", "%row = arith.muli %i, %c32 : index",
             window("moving", "qv", "%row, %c0", "%c32, %c64", "32x64"),
             window("fixed", "qv", f"%{fixed}, %c0", "%c32, %c64", "32x64"),
             store("a", "moving", VEC, "32x64"), barrier("MTE3"), store("b", "fixed", VEC, "32x64")), args="%M: index")
    found = {o.verdict for o in judge(text).obligations if o.rule == "RACE-WAW"}
    assert expected in found and found <= {expected, PROVED}


@pytest.mark.parametrize(("fixed", "expected"), [("c0", set()), ("c32", {REFUTED}), ("c128", {REFUTED})])
@pytest.mark.parametrize("trips", ["M", "c64"])
def test_after_a_loop_each_of_its_iterations_is_a_past_one(trips: str, fixed: str, expected: set[Verdict]) -> None:
    """Iteration i stores rows 32(i + 1), however long ago it was: rows 0 are none of theirs."""
    text = pipes(
        both("S MTE3"),
        loop(trips, "%next = arith.addi %i, %c1 : index", "%row = arith.muli %next, %c32 : index",
             window("moving", "qv", "%row, %c0", "%c32, %c64", "32x64"), store("a", "moving", VEC, "32x64")),
        window("fixed", "qv", f"%{fixed}, %c0", "%c32, %c64", "32x64"), store("b", "fixed", VEC, "32x64"),
        args="%M: index")
    assert {o.verdict for o in judge(text).obligations if o.rule == "RACE-WAW"} == expected


@pytest.mark.parametrize(("shift", "expected"), [("c1", PROVED), ("c2", REFUTED)])
@pytest.mark.parametrize("lead", ["", "%odd = arith.remsi %i, %c2 : index\n" + branch("eq, %odd, %c0", barrier("V"))])
def test_a_flag_that_all_iterations_but_the_last_ones_set(lead: str, shift: str, expected: Verdict) -> None:
    """The next load waits for the op that still reads, if there is a next one: where i + 1 < M. Of i + 2 < M the last
    load is left out."""
    text = pipes(
        loop("M", f"%later = arith.addi %i, %{shift} : index", lead, read("a"), both("MTE2 V"), exp("a", "b"),
             barrier("V"), branch("slt, %later, %M", both("V MTE2"))), args="%M: index")
    assert {o.verdict for o in judge(text).obligations if o.rule == "RACE-WAR"} == {expected}


def _doubling(*body: str, stop: str = "M") -> str:
    """`while k < stop: body; k *= 2`, from 16; %j counts iterations."""
    return "\n".join((
        "%ended, %count = scf.while (%n = %c16, %i = %c0) : (index, index) -> (index, index) {",
        f"%more = arith.cmpi slt, %n, %{stop} : index", "scf.condition(%more) %n, %i : index, index", "} do {",
        "^bb0(%k: index, %j: index):", *body, "%twice = arith.muli %k, %c2 : index",
        "%next = arith.addi %j, %c1 : index", "scf.yield %twice, %next : index, index", "}"))


@pytest.mark.parametrize(("waits", "expected"), [("sge", PROVED), ("sgt", REFUTED)])
def test_a_while_loop_may_end_after_any_iteration_whatever_its_body_asks(waits: str, expected: Verdict) -> None:
    """All iterations wait for the read but the first, for `sgt`; that the body asks the loop's own condition twice must
    not make the loop go on for ever."""
    asked = branch("slt, %k, %M", barrier("V"))
    text = pipes(
        both("MTE2 V"),
        _doubling(exp("a", "b"), barrier("V"), branch(f"{waits}, %j, %c0", both("V MTE2")), asked,
                  asked.replace("%if_", "%again_")),
        read("a"), args="%M: index")
    assert {o.verdict for o in judge(text).obligations if o.rule == "RACE-WAR"} == {expected}


@pytest.mark.parametrize(("stop", "expected"), [("c512", {REFUTED}), ("c16", set())])
def test_what_a_while_loop_hands_on_is_followed_in_a_run(stop: str, expected: set[Verdict]) -> None:
    """Five iterations, or none: then no two ops meet."""
    found = judge(pipes(both("MTE2 V"), _doubling(exp("a", "b"), barrier("V"), stop=stop), read("a")))
    assert {o.verdict for o in found.obligations if o.rule == "RACE-WAR"} == expected


@pytest.mark.parametrize(("flag_", "expected"), [(both("MTE2 V"), PROVED), (both("MTE2 MTE3"), REFUTED)])
def test_a_loop_that_data_may_end_runs_until_it_does(flag_: str, expected: Verdict) -> None:
    """A `break`, lowered: a Boolean is handed on, and chosen by a branch on what the caller passes."""
    text = pipes(
        "%no = arith.constant 0 : i1", "%yes = arith.constant 1 : i1", "%last = arith.constant 8 : index",
        "%out, %ended = scf.while (%bit = %no, %n = %c0) : (i1, index) -> (i1, index) {",
        "%below = arith.cmpi slt, %n, %last : index", "%whole = arith.xori %bit, %yes : i1",
        "%more = arith.andi %below, %whole : i1", "scf.condition(%more) %bit, %n : i1, index", "} do {",
        "^bb0(%broken: i1, %k: index):", "%stops = arith.cmpi sge, %k, %N : index",
        "%then = scf.if %stops -> (i1) {", "scf.yield %yes : i1", "} else {", read("a"), flag_, exp("a", "b"),
        both("V MTE2"), barrier("V"), "scf.yield %broken : i1", "}", "%next = arith.addi %k, %c1 : index",
        "scf.yield %then, %next : i1, index", "}", args="%N: index")
    assert {o.verdict for o in judge(text).obligations if o.rule == "RACE-RAW"} == {expected}


@pytest.mark.parametrize(("pair", "expected"), [("MTE2 V", PROVED), ("MTE2 MTE3", REFUTED)])
def test_a_run_keeps_to_what_is_assumed_of_numbers_that_decide_nothing(pair: str, expected: Verdict) -> None:
    text = pipes(
        window("part", "pv", "%N, %c0", "%c32, %c64", "32x64"), load("part", "a", VEC, "32x64"), both(pair),
        exp("a", "b"), args="%N: index")
    found = judge(text, assume=("N >= 0", "N <= 1"))
    assert {o.verdict for o in found.obligations if o.rule == "RACE-RAW"} == {expected}


@pytest.mark.parametrize(("pair", "expected"), [("MTE2 V", PROVED), ("MTE2 MTE3", REFUTED)])
@pytest.mark.parametrize("stop", ["c1", "most"])
def test_a_loop_that_runs_once_at_most_has_no_counter_and_is_followed(stop: str, pair: str, expected: Verdict) -> None:
    """One iteration always, or none for a caller whose `%M` is 0."""
    text = pipes(
        "%most = arith.minsi %M, %c1 : index", loop(stop, read("a"), both(pair), exp("a", "b")), args="%M: index")
    found = judge(text)
    assert {o.verdict for o in found.obligations if o.rule == "RACE-RAW"} == {expected}


@pytest.mark.requirement("VF-01")
@pytest.mark.parametrize(("first", "above"), [("c0", "c1"), ("c2", "c3")])
def test_a_loop_that_one_start_alone_enters_may_be_left_out(first: str, above: str) -> None:
    """From max(M, 2) to 3: one iteration, or none for a caller whose `%M` is 3. What it orders may be left out."""
    lower = f"%least = arith.maxsi %M, %{first} : index"
    for inside, after, expected in (
            ((read("a"), both("MTE2 V"), exp("a", "b")), (), PROVED),
            ((read("a"), both("MTE2 MTE3"), exp("a", "b")), (), REFUTED),
            ((both("MTE2 V"),), (exp("a", "b"),), REFUTED)):
        before = (read("a"),) if after else ()
        found = judge(pipes(lower, *before, loop(above, *inside, lower="least"), *after, args="%M: index"))
        assert {o.verdict for o in found.obligations if o.rule == "RACE-RAW"} == {expected}


@pytest.mark.parametrize(("pipe", "expected"), [("FIX", PROVED), ("M", REFUTED)])
def test_a_hand_over_in_a_loop_that_runs_once_is_judged(pipe: str, expected: Verdict) -> None:
    told = cores(3, 4).replace("pto.sync.set #pto.pipe<PIPE_FIX>, 3", f"pto.sync.set #pto.pipe<PIPE_{pipe}>, 3")
    stored = next(line for line in told.splitlines() if "pto.tstore" in line)
    once = "\n".join(("scf.for %once = %c0 to %c1 step %c1 {", stored, "}"))
    found = judge(told.replace(stored, once), explicit=True)
    assert {o.verdict for o in found.obligations if o.rule == "RACE-CORE"} == {expected}


@pytest.mark.parametrize(("pair", "expected"), [("MTE2 V", PROVED), ("MTE2 MTE3", REFUTED)])
def test_a_caller_who_passes_an_empty_tile_does_not_make_a_race_right(pair: str, expected: Verdict) -> None:
    """`%M` valid rows, and a branch on `%N`: a race for whoever has a row and takes the branch."""
    text = pipes(
        f"%part = pto.alloc_tile addr = %a0 valid_row = %M valid_col = %c64 : {VEC}",
        window("some", "pv", "%c0, %c0", "%M, %c64"), load("some", "part", VEC), both(pair),
        branch("slt, %N, %c1", unary("texp", "part", "b", VEC)), args="%M: index, %N: index")
    found = judge(text, assume=("M >= 0", "M <= 32"))
    assert {o.verdict for o in found.obligations if o.rule == "RACE-RAW"} == {expected}


@pytest.mark.requirement("EV-06")
@pytest.mark.parametrize(("answered", "expected"), [(True, PROVED), (False, REFUTED)])
def test_stores_between_which_another_core_answers_are_not_refuted_by_their_own_core(
    answered: bool, expected: Verdict
) -> None:
    """Each of two turns the cube stores a product and tells the vector core, which answers once it has loaded it. FIX
    waits for the answer, so its next store comes after the last; without the answer nothing on a2a3 orders the two."""
    acc, vec = tile(16, 16, "f32", "acc", "col_major", "row_major", 1024), tile(16, 16)
    waits, answers = ("pto.sync.wait #pto.pipe<PIPE_FIX>, 5", "pto.sync.set #pto.pipe<PIPE_MTE2>, 5")
    text = kernel("\n".join((
        view("pv", "p", "c64", "c16"), "pto.section.cube {", alloc("acc", acc, 0, "c16", "c16"),
        window("cw", "pv", "%c0, %c0", "%c16, %c16", "16x16"),
        loop("c2", store("acc", "cw", acc, "16x16"), "pto.sync.set #pto.pipe<PIPE_FIX>, 3", waits if answered else ""),
        "}", "pto.section.vector {", alloc("t", vec, 0, "c16", "c16"),
        window("vw", "pv", "%c0, %c0", "%c16, %c16", "16x16"),
        loop("c2", "pto.sync.wait #pto.pipe<PIPE_MTE2>, 3", load("vw", "t", vec, "16x16"), answers if answered else ""),
        "}"))).replace(" attributes {pto.kernel_kind = #pto.kernel_kind<vector>}", "")
    stored = [o.verdict for o in judge(text, explicit=True).obligations
              if o.rule == "RACE-WAW" and "tstore" in o.site]
    assert stored == [expected]


@pytest.mark.requirement("EV-08", "VF-01")
@pytest.mark.parametrize(("handed", "waited", "right"), [
    ("%y, %x", "x", True), ("%x, %y", "x", True), ("%y, %x", "y", False)])
@pytest.mark.parametrize("while_", [False, True])
def test_the_ids_of_two_buffers_may_change_places(while_: bool, handed: str, waited: str, right: bool) -> None:
    """The slot of an iteration and the flag that tells that it is free again go by `%x`. How often a while loop turns
    is its caller's choice, so that what fails in one is open."""
    opens: tuple[str, ...]
    closes: tuple[str, ...]
    if while_:
        opens = ("%k_, %x_, %y_ = scf.while (%k = %c0, %u = %c0, %v = %c1) : (index, index, index) -> "
                 "(index, index, index) {", "%more = arith.cmpi slt, %k, %M : index",
                 "scf.condition(%more) %k, %u, %v : index, index, index", "} do {",
                 "^bb0(%j: index, %x: index, %y: index):")
        closes = ("%next = arith.addi %j, %c1 : index", f"scf.yield %next, {handed} : index, index, index", "}")
    else:
        opens = ("%x_, %y_ = scf.for %i = %c0 to %M step %c1 iter_args(%x = %c0, %y = %c1) -> (index, index) {",)
        closes = (f"scf.yield {handed} : index, index", "}")
    text = pipes(
        "%size = arith.constant 8192 : index", flag("set", 0, "V MTE2"), flag("set", 1, "V MTE2"), *opens,
        "%off = arith.muli %x, %size : index", "%at = arith.index_cast %off : index to i64",
        f"%t = pto.alloc_tile addr = %at valid_row = %c32 valid_col = %c64 : {VEC}", computed("wait", waited, "V MTE2"),
        load("src", "t", VEC, "32x64"), both("MTE2 V"), unary("texp", "t", "t", VEC), computed("set", "x", "V MTE2"),
        *closes, flag("wait", 0, "V MTE2"), flag("wait", 1, "V MTE2"), args="%M: index")
    found = {o.verdict for o in check(text, families="RACE EVENT").obligations}
    assert found == ({PROVED} if right else {PROVED, UNKNOWN if while_ else REFUTED})
