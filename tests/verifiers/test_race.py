"""RACE by hand: what orders two ops and what does not, under each reading. Expected verdicts from the sources that the
rows of `targets/pipes.py` name."""

from __future__ import annotations

from pathlib import Path

import pytest

from pypto_verified.pto.reader import read as parse
from pypto_verified.report.model import FunctionResult, Verdict
from pypto_verified.simulator.schedule.confirm import confirm_order
from pypto_verified.targets import target
from pypto_verified.witness import replayed
from tests.verifiers.examples_event import branch, computed, flag, loop
from tests.verifiers.examples_race import VEC, barrier, both, chain, exp, pipes, read, slots, write
from tests.verifiers.kernels import alloc, check, fill, finding, kernel, load, store, tile, unary, view, window
from tests.verifiers.race_verdicts import judge, message_of, verdicts_of
from verifiers import Options, verify

PROVED, REFUTED, UNKNOWN = Verdict.PROVED, Verdict.REFUTED, Verdict.UNKNOWN


# What orders

def test_a_flag_covers_all_earlier_ops_of_its_source_and_what_the_source_waited_for() -> None:
    through = pipes(read("a"), read("b"), both("MTE2 V"), exp("c", "c"), both("V MTE3"), write("a"))
    assert verdicts_of(judge(through)) == {PROVED}


def test_a_flag_tells_nothing_of_ops_after_the_set() -> None:
    late = pipes(flag("set", 0, "MTE2 V"), read("a"), flag("wait", 0, "MTE2 V"), exp("a", "b"))
    assert "nothing orders the two" in message_of(judge(late), "RACE-RAW", REFUTED)


@pytest.mark.requirement("EV-02")
def test_events_by_kinds_of_ops_are_judged_like_flags() -> None:
    def event(what: str, src: str, dst: str) -> str:
        return (f"pto.{what}_event[#pto.pipe_event_type<{src}>, #pto.pipe_event_type<{dst}>, #pto.event<EVENT_ID0>]")

    good = pipes(read("a"), event("record", "TLOAD", "TVEC"), event("wait", "TLOAD", "TVEC"), exp("a", "b"))
    bad = pipes(read("a"), event("record", "TLOAD", "TSTORE_VEC"), event("wait", "TLOAD", "TSTORE_VEC"), exp("a", "b"))
    assert verdicts_of(judge(good)) == {PROVED}
    assert REFUTED in verdicts_of(judge(bad))


def test_a_barrier_of_all_pipes_orders_everything() -> None:
    text = pipes(both("S V"), read("a"), barrier("ALL"), exp("a", "b"), barrier("ALL"), write("b"))
    assert verdicts_of(judge(text)) == {PROVED}


@pytest.mark.requirement("EV-05")
@pytest.mark.parametrize(("chip", "between", "expected"), [
    ("a2a3", barrier("V"), PROVED), ("a2a3", barrier("MTE3"), REFUTED), ("a5", barrier("MTE3"), PROVED)])
def test_dependent_vector_ops_need_a_barrier_of_v_on_a2a3_only(chip: str, between: str, expected: Verdict) -> None:
    text = pipes(both("MTE2 V"), exp("a", "b"), between, exp("b", "c"))
    assert expected in verdicts_of(judge(text, chip))
    assert (REFUTED in verdicts_of(judge(text, chip))) is (expected is REFUTED)


@pytest.mark.requirement("EV-05")
@pytest.mark.parametrize("between", [
    "pto.barrier_sync[#pto.pipe_event_type<TVEC>]",
    "\n".join(f"pto.{what}_event[#pto.pipe_event_type<TVEC>, #pto.pipe_event_type<TVEC>, #pto.event<EVENT_ID0>]"
              for what in ("record", "wait"))])
def test_a_single_op_sync_and_an_event_within_a_pipe_order_it(between: str) -> None:
    """The assembler lowers such an event to a flag of the pipe to itself (PTOAS LoweringSyncToPipe)."""
    text = pipes(both("MTE2 V"), exp("a", "b"), between, exp("b", "c"))
    assert verdicts_of(judge(text)) == {PROVED}
    assert REFUTED in verdicts_of(judge(text.replace("TVEC", "TLOAD")))


def test_the_barrier_in_a_branch_is_missed_on_a2a3_alone() -> None:
    """tilelang-ascend#1824: the kernel of the corpus, on both targets."""
    text = (Path(__file__).parent.parent / "corpus" / "reject" / "race_branch_join.pto").read_text(encoding="utf-8")
    assert REFUTED in verdicts_of(judge(text))
    assert verdicts_of(judge(text, "a5")) == {PROVED}


def test_an_empty_tile_is_not_touched() -> None:
    empty = tile(32, 64, valid=("0", "64"))
    text = kernel("\n".join((
        f"%e = pto.alloc_tile addr = %a0 : {empty}", alloc("b", VEC, 8192), both("S V"),
        unary("texp", "e", "e", empty), unary("texp", "e", "e", empty))))
    assert judge(text).obligations == []


def test_a_barrier_that_the_target_drops_orders_nothing() -> None:
    text = pipes(both("MTE2 V"), exp("a", "b"), barrier("V"), exp("b", "c"))
    assert verdicts_of(judge(text, "a5", strict=True)) == {PROVED}, "V is in order on a5 under both readings"


def test_a_view_touches_the_bytes_of_its_part_alone() -> None:
    part = tile(16, 64, valid=("16", "64"))

    def upper(row: str) -> str:
        return pipes(
            "%lo = pto.subview %a[%c0, %c0] sizes [16, 64] : " + VEC + " -> " + part,
            f"%hi = pto.subview %a[%{row}, %c0] sizes [16, 64] : {VEC} -> {part}", both("S V"),
            unary("texp", "lo", "lo", part), unary("tabs", "hi", "hi", part))

    assert verdicts_of(judge(upper("c16"))) <= {PROVED}
    assert REFUTED in verdicts_of(judge(upper("c8")))


# Loops and branches

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


@pytest.mark.requirement("VF-01")
def test_an_id_that_is_not_expressed_leaves_the_order_open() -> None:
    text = pipes(
        "%v = pto.load_scalar %p[%c0] : !pto.ptr<f32> -> f32", "%n = arith.fptosi %v : f32 to index", read("a"),
        computed("set", "n"), computed("wait", "n"), exp("a", "b"))
    result = judge(text)
    assert UNKNOWN in verdicts_of(result)
    assert REFUTED not in verdicts_of(result)


# Scalars

def test_a_scalar_read_waits_for_the_vector_op_and_the_next_vector_op_for_the_scalar_read() -> None:
    def value(first: str, second: str) -> str:
        return pipes(
            exp("a", "b"), both(first), f"%v = pto.tgetval ins(%b, %c0 : {VEC}, index) outs : f32", both(second),
            exp("c", "b"))

    assert verdicts_of(judge(value("V S", "S V"), "a5")) == {PROVED}
    assert "tgetval" in message_of(judge(value("V MTE3", "S V"), "a5"), "RACE-RAW", REFUTED)
    assert "texp" in message_of(judge(value("V S", "MTE3 MTE2"), "a5"), "RACE-WAR", REFUTED)


# Readings

def test_a_wait_on_the_scalar_pipe_holds_back_all_later_ops_unless_strict() -> None:
    text = pipes(exp("a", "b"), both("V S"), write("b"))
    assert verdicts_of(judge(text)) == {PROVED}
    assert REFUTED in verdicts_of(judge(text, strict=True))


def test_two_loads_land_in_order_unless_strict() -> None:
    text = pipes(read("a"), read("a"), both("MTE2 V"))
    assert verdicts_of(judge(text)) == {PROVED}
    assert REFUTED in verdicts_of(judge(text, strict=True))


@pytest.mark.requirement("EV-01")
def test_a_move_from_vec_to_mat_is_proved_only_if_ordered_on_each_pipe_it_may_run_on() -> None:
    nz = tile(32, 64, "f16", "vec", "col_major", "row_major")
    mat = tile(32, 64, "f16", "mat", "col_major", "row_major")

    def moved(*waited: str) -> FunctionResult:
        text = kernel("\n".join((
            alloc("x", nz), alloc("m", mat), f"pto.texpands ins(%one : f32) outs(%x : {nz})", both("S V"),
            *(both(f"V {p}") for p in waited),
            f"pto.tmov ins(%x : {nz}) outs(%m : {mat})")), kind="vector")
        return judge(text, "a5")

    assert verdicts_of(moved("FIX", "MTE3")) == {PROVED}
    only = moved("FIX")
    assert verdicts_of(only) == {UNKNOWN}
    assert "MTE3" in message_of(only, "RACE-RAW", UNKNOWN)


def test_a_flag_is_a_fence_within_a_core_unless_strict() -> None:
    """PTOAS#730: a loop stores X, flags MTE3 -> MTE2 and loads X."""
    text = kernel("\n".join((
        view("pv", "p", "c32"), alloc("a", VEC), window("w", "pv", "%c0, %c0", "%c32, %c64", "32x64"), both("S V"),
        loop("M", store("a", "w", VEC, "32x64"), both("MTE3 MTE2"), load("w", "a", VEC, "32x64"), both("MTE2 MTE3")))),
        "%M: index")
    relaxed, strict = judge(text), judge(text, strict=True)
    assert {o.verdict for o in relaxed.obligations} == {PROVED}
    assert any("FLAG-IS-FENCE" in o.assumptions for o in relaxed.obligations)
    assert {o.verdict for o in strict.obligations if o.rule == "RACE-VISIBLE"} == {REFUTED}


# Who orders

def test_without_a_flag_the_assembler_orders_unless_explicit() -> None:
    text = pipes(read("a"), exp("a", "b"), write("b"))
    assert judge(text).obligations == []
    assert REFUTED in verdicts_of(judge(text, explicit=True))
    assert judge(pipes(read("a"), barrier("V"), exp("a", "b"))).obligations == [], "barriers alone leave flags to it"


def test_each_pair_of_ops_has_one_verdict() -> None:
    result = judge(chain("MTE2 V", "V MTE2"))
    sites = [(o.rule, o.site) for o in result.obligations]
    assert len(set(sites)) == len(sites)
    assert {o.verdict for o in result.obligations} == {PROVED, REFUTED}


def test_global_memory_is_told_apart_by_pointer_and_window() -> None:
    def copied(row: str, pointer: str) -> str:
        return kernel("\n".join((
            view("pv", "p", "c512"), view("qv", pointer, "c512"), alloc("a", VEC),
            window("src", "pv", "%c0, %c0", "%c32, %c64", "32x64"),
            window("dst", "qv", f"%{row}, %c0", "%c32, %c64", "32x64"), both("S V"), store("a", "dst", VEC, "32x64"),
            both("V MTE2"), load("src", "b", VEC, "32x64").replace("%b", "%a"))))

    assert REFUTED in {o.verdict for o in judge(copied("c0", "p")).obligations if o.rule == "RACE-RAW"}
    assert "RACE-RAW" not in {o.rule for o in judge(copied("c32", "p")).obligations}
    assert "RACE-RAW" not in {o.rule for o in judge(copied("c0", "q")).obligations}


@pytest.mark.parametrize(("pointer", "rests"), [("q", True), ("p", False)])
def test_a_proof_that_tells_two_tensors_apart_says_that_it_assumes_so(pointer: str, rests: bool) -> None:
    """Nothing orders the load after the store: right only if the two pointers never name the same memory."""
    text = kernel("\n".join((
        view("pv", "p", "c512"), view("qv", pointer, "c512"), alloc("a", VEC), alloc("b", VEC, 8192),
        window("src", "pv", "%c0, %c0", "%c32, %c64", "32x64"),
        window("dst", "qv", "%c32, %c0", "%c32, %c64", "32x64"), load("src", "a", VEC, "32x64"), both("MTE2 MTE3"),
        store("a", "dst", VEC, "32x64"), load("src", "b", VEC, "32x64"))))
    result = judge(text)
    assert verdicts_of(result) == {PROVED}
    assert any("DISTINCT-POINTERS" in o.assumptions for o in result.obligations) is rests


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


def test_ops_that_race_whenever_a_caller_lets_both_run_are_refuted_with_its_scalar() -> None:
    """The exp of the first branch and the one behind it; a caller's scalar chooses the branch."""
    def judged(between: str) -> FunctionResult:
        return judge(pipes(
            fill("a", VEC), barrier("V"), branch("eq, %n, %c1", exp("a", "b")), between, exp("b", "c"),
            args="%n: index"), explicit=True)

    assert verdicts_of(judged(barrier("V"))) == {PROVED}
    found = finding(judged(""), "RACE-RAW")
    assert (found.verdict, dict(found.witness)) == (REFUTED, {"n": 1})


def test_what_some_callers_alone_meet_says_how_to_tell_what_they_keep_to() -> None:
    """The barrier stands in two branches; who passes 1 twice goes past both."""
    barriers = (branch(f"ne, %{n}, %c1", barrier("V")) for n in "nm")
    text = pipes(fill("a", VEC), *barriers, exp("a", "b"), args="%n: index, %m: index")
    found = finding(judge(text, explicit=True), "RACE-RAW")
    assert found.verdict is UNKNOWN
    assert "fails for m = 1, n = 1, which callers or data decide: --assume tells what callers keep to" in found.message
    assert not judge(text, explicit=True, assume=("n >= 2",)).findings


@pytest.mark.parametrize("assume", ["n >= 60000 and n <= 65535", "n <= -7", "3 * n >= 1000", "n == 4711"])
def test_a_race_is_found_for_the_numbers_that_callers_keep_to(assume: str) -> None:
    """No small number is one of them; the race does not depend on it, or needs a second turn of a loop up to it."""
    texts = [pipes(fill("a", VEC), exp("a", "b"), args="%n: index")]
    texts += [pipes(fill("a", VEC), barrier("V"), loop("n", exp("a", "a")), args="%n: index")] * ("-" not in assume)
    for text in texts:
        assert {f.verdict for f in judge(text, explicit=True, assume=(assume,)).findings} == {REFUTED}


@pytest.mark.parametrize(("condition", "leads"), [("sgt, %n, %c0", 0), ("ne, %n, %c1", 1)])
def test_an_argument_that_alone_decides_a_branch_is_taken_to_lead_both_ways(condition: str, leads: int) -> None:
    """Both ops run for each value; the barrier is left out for some."""
    text = pipes(fill("a", VEC), branch(condition, barrier("V")), exp("a", "b"), args="%n: index")
    result = judge(text, explicit=True)
    found = finding(result, "RACE-RAW")
    assert (found.verdict, dict(found.witness)) == (REFUTED, {"n": leads})
    assert found.help.endswith("or, if callers keep to it, --assume what n is")
    assert all("BRANCH-TAKEN" in o.assumptions for o in result.obligations if o.verdict is REFUTED)
    right = judge(text, explicit=True, assume=(f"n >= {leads + 1}",))
    assert not right.findings
    assert all("BRANCH-TAKEN" not in o.assumptions for o in right.obligations)


def test_a_replay_names_the_conflict_of_the_finding() -> None:
    """The second op reads what the first writes and writes what it reads."""
    module = parse(pipes(exp("a", "b"), exp("b", "a")), "k.pto")
    *_, result = verify(module, target("a2a3"), Options(families=frozenset({"RACE"}), explicit_sync=True))
    words = {"RACE-RAW": "read after write", "RACE-WAR": "write after read"}
    found = {f.rule: f for f in result.findings if f.verdict is REFUTED}
    for rule, f in found.items():
        seen = confirm_order(module, "k", rule, dict(f.witness), target("a2a3"), line=f.text_line)
        assert seen.startswith(f"confirmed: {words[rule]}")
    assert found.keys() == words.keys()


def test_an_id_that_is_not_expressed_is_named_by_the_line_that_its_author_knows() -> None:
    """The id is an argument, so which flag it is differs from run to run."""
    known = ' loc("k.py":7:1)'
    result = judge(pipes(
        read("a"), computed("set", "n") + known, computed("wait", "n") + known, exp("a", "b"), args="%n: index"))
    assert "not decided (the id at line 7 is not followed)" in finding(result, "RACE-RAW").message


def test_a_race_of_other_ops_confirms_nothing() -> None:
    """The store races with the exp; nothing else touches the load's tile."""
    module = parse(pipes(read("c"), exp("a", "b"), write("b")), "k.pto")
    *_, result = verify(module, target("a2a3"), Options(families=frozenset({"RACE"}), explicit_sync=True))
    found = finding(result, "RACE-RAW")
    exp_line = found.text_line - 1
    seen = {
        line: confirm_order(module, "k", "RACE-RAW", {}, target("a2a3"), line=found.text_line, first=line)
        for line in (0, exp_line, exp_line - 1)}
    assert seen[0] == seen[exp_line] and seen[0].startswith("confirmed: read after write")
    assert seen[exp_line - 1] == "not observed: the run ended without it"


def test_what_a_flag_orders_that_is_set_after_its_wait_is_open_until_the_flag_is_right() -> None:
    """The wait and the set of a fence changed places: on the device the wait may well get what is set behind it."""
    module = parse(pipes(read("a"), flag("wait"), flag("set"), exp("a", "b")), "k.pto")
    *_, result = verify(module, target("a2a3"), Options(families=frozenset({"RACE", "EVENT"})))
    after = replayed(result, module, target("a2a3"), 0, {})
    assert {(f.rule, f.verdict) for f in after.findings} == {
        ("EVENT-WAIT", REFUTED), ("EVENT-EXIT", REFUTED), ("RACE-RAW", UNKNOWN)}
    (race,) = (f for f in after.findings if f.rule == "RACE-RAW")
    assert race.replay.startswith("not run: a flag is misused first: pto.wait_flag")
    assert {o.verdict for o in after.obligations if (o.rule, o.site) == (race.rule, race.site)} == {UNKNOWN}


def test_nor_is_a_set_that_such_a_flag_keeps_behind_a_wait() -> None:
    module = parse(pipes(both("MTE2 V"), flag("wait", 0, "V MTE2"), flag("set", 0, "V MTE2"), both("MTE2 V")), "k.pto")
    *_, result = verify(module, target("a2a3"), Options(families=frozenset({"RACE", "EVENT"}), strict=True))
    found = replayed(result, module, target("a2a3"), 0, {}, strict=True).findings
    assert "REPLAY" not in {f.rule for f in found}
    again = [f.replay for f in found if f.rule == "EVENT-AGAIN"]
    assert any(seen.startswith("not run: a flag is misused first: pto.wait_flag") for seen in again)


def test_a_race_that_some_value_of_a_callers_scalar_avoids_is_not_decided() -> None:
    """Two branches may be for callers who never take both; where a tile is, no branch tells."""
    text = pipes(
        fill("a", VEC), branch("ne, %n, %c1", barrier("V")), branch("ne, %n, %c2", barrier("V")), exp("a", "b"),
        branch("eq, %n, %c1", barrier("V")), exp("b", "c"), args="%n: index")
    found = verdicts_of(judge(text, explicit=True))
    assert UNKNOWN in found and REFUTED not in found
    offset = pipes(
        "%at = arith.muli %n, %c512 : index", "%at64 = arith.index_cast %at : index to i64",
        f"%t = pto.alloc_tile addr = %at64 valid_row = %c32 valid_col = %c64 : {VEC}", fill("a", VEC), exp("t", "c"),
        args="%n: index")
    assert REFUTED not in verdicts_of(judge(offset, explicit=True))


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


def test_a_refutation_names_both_ops_the_bytes_and_the_iteration() -> None:
    text = pipes(loop("M", read("a"), both("MTE2 V"), exp("a", "b"), barrier("V")), args="%M: index")
    found = finding(judge(text), "RACE-WAR")
    assert found.verdict is REFUTED
    for part in ("tload (MTE2) writes bytes 0 to 8191 of a", "texp at line", "(V) reads", "i = 1 after 0"):
        assert part in found.message
    assert dict(found.witness)["M"] == 2
    assert "V -> MTE2" in found.help


def test_check_runs_race_with_the_other_rules() -> None:
    assert REFUTED in {o.verdict for o in check(chain("MTE2 V", "V MTE2")).obligations if o.rule == "RACE-RAW"}


@pytest.mark.requirement("EV-01")
def test_a_popped_tile_on_a5_is_proved_only_if_ordered_after_s_too() -> None:
    def popped(*between: str) -> FunctionResult:
        popped_type = tile(32, 64, valid=("32", "64"))
        return judge(kernel("\n".join((
            '%ring = pto.reserve_buffer {name = "r", size = 65536, location = #pto.address_space<vec>, auto = false, '
            "base = 65536} -> i32", "%zero32 = arith.constant 0 : i32",
            "pto.aiv_initialize_pipe {id = 0, dir_mask = 1, slot_size = 8192} (c2v_consumer_buf = %ring : i32, "
            "v2c_consumer_buf = %zero32 : i32)", alloc("b", VEC, 8192),
            f"%x = pto.tpop_from_aic {{id = 0, split = 0}} -> {popped_type}", *between,
            unary("texp", "x", "b", popped_type, VEC), both("V MTE3")))), "a5")

    assert verdicts_of(popped(both("S V"))) == {PROVED}
    assert verdicts_of(popped()) == {UNKNOWN}


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


@pytest.mark.parametrize(("address", "found"), [(8192, set()), (2048, {UNKNOWN})])
def test_a_view_lies_in_its_tile(address: int, found: set[Verdict]) -> None:
    """8 rows from row %N on of a tile, and a load: behind all of the tile, or over its rows from 8 on."""
    part = tile(8, 64)
    text = pipes(
        f"%part = pto.subview %a[%N, %c0] sizes [8, 64] : {VEC} -> {part}", f"%at = arith.constant {address} : i64",
        f"%d = pto.alloc_tile addr = %at valid_row = %c32 valid_col = %c64 : {VEC}",
        f"%e = pto.alloc_tile addr = %a32768 valid_row = %c8 valid_col = %c64 : {part}", both("S V"),
        unary("texp", "part", "e", part), load("src", "d", VEC, "32x64"), args="%N: index")
    assert {o.verdict for o in judge(text).obligations if o.rule == "RACE-WAR"} == found


def test_what_is_assumed_of_sizes_keeps_windows_apart() -> None:
    """Stores of %N rows, 32 rows apart, without a barrier of MTE3."""
    text = pipes(
        window("first", "qv", "%c0, %c0", "%N, %c64"), window("second", "qv", "%c32, %c0", "%N, %c64"), both("S MTE3"),
        store("a", "first", VEC), store("b", "second", VEC), args="%N: index")
    assert verdicts_of(judge(text)) == {UNKNOWN}
    assert verdicts_of(judge(text, assume=("N <= 32",))) == set()
