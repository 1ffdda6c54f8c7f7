"""RACE by hand: what orders two ops and what does not, and how a race is told. Expected verdicts from the sources that
the rows of `targets/pipes.py` name."""

from __future__ import annotations

from pathlib import Path

import pytest

from pypto_verified.report.model import Verdict
from tests.verifiers.examples_event import computed, flag, loop
from tests.verifiers.examples_race import barrier, both, chain, exp, pipes, read, write
from tests.verifiers.kernels import check, finding
from tests.verifiers.race_verdicts import judge, message_of, verdicts_of

PROVED, REFUTED, UNKNOWN = Verdict.PROVED, Verdict.REFUTED, Verdict.UNKNOWN


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


@pytest.mark.requirement("VF-01")
def test_an_id_that_is_not_expressed_leaves_the_order_open() -> None:
    text = pipes(
        "%v = pto.load_scalar %p[%c0] : !pto.ptr<f32> -> f32", "%n = arith.fptosi %v : f32 to index", read("a"),
        computed("set", "n"), computed("wait", "n"), exp("a", "b"))
    result = judge(text)
    assert UNKNOWN in verdicts_of(result)
    assert REFUTED not in verdicts_of(result)


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


def test_an_id_that_is_not_expressed_is_named_by_the_line_that_its_author_knows() -> None:
    """The id is an argument, so which flag it is differs from run to run."""
    known = ' loc("k.py":7:1)'
    result = judge(pipes(
        read("a"), computed("set", "n") + known, computed("wait", "n") + known, exp("a", "b"), args="%n: index"))
    assert "not decided (the id at line 7 is not followed)" in finding(result, "RACE-RAW").message


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
