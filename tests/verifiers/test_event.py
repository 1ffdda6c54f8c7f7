"""EVENT: protocols of flags by hand. A flag is 0 or 1; expected verdicts by counting sets and waits of each run."""

from __future__ import annotations

import pytest

from pypto_verified.pto.reader import read
from pypto_verified.report.model import FunctionResult, Verdict
from pypto_verified.targets import target
from pypto_verified.witness import replayed
from tests.verifiers.examples_event import branch, computed, flag, flags, loop
from tests.verifiers.kernels import check, finding, kernel, verdicts
from verifiers import Options, verify

PROVED, REFUTED, UNKNOWN = {Verdict.PROVED}, Verdict.REFUTED, Verdict.UNKNOWN
ALL = ("EVENT-SET", "EVENT-WAIT", "EVENT-EXIT")


def _events(*body: str, chip: str = "a2a3") -> FunctionResult:
    return check(flags(*body), chip=chip, families="EVENT")


def _clean(result: FunctionResult) -> bool:
    return all(verdicts(result, rule) == PROVED for rule in ALL)


def _ring(primed: int, drained: int) -> FunctionResult:
    """Two flags in turn, each iteration waits for its own and sets it again; some are set before and taken after."""
    return _events(
        *(flag("set", n) for n in range(primed)),
        loop("M", "%id = arith.remsi %i, %c2 : index", computed("wait", "id"), computed("set", "id")),
        *(flag("wait", n) for n in range(drained)))


def _unprimed(second: str) -> FunctionResult:
    """The same without priming: the first two iterations do not wait; the flags that ran are taken after."""
    return _events(
        loop("M", "%id = arith.remsi %i, %c2 : index", branch("sge, %i, %c2", computed("wait", "id")),
             computed("set", "id")),
        branch("sgt, %M, %c0", flag("wait", 0)), branch(second, flag("wait", 1)))


@pytest.mark.requirement("EV-03")
def test_two_sets_without_a_wait_between_are_refuted_at_the_second_and_name_the_first() -> None:
    result = _events(flag("set"), flag("set"), flag("wait"), flag("wait"))
    found = finding(result, "EVENT-SET")
    assert found.verdict is REFUTED
    assert f"line {found.line - 1} set it" in found.message


def test_set_and_wait_in_turn_are_fine() -> None:
    assert _clean(_events(flag("set"), flag("wait"), flag("set"), flag("wait")))


def test_the_key_is_source_destination_and_id() -> None:
    nested = (flag("set", 2, "MTE3 V"), flag("set", 2, "MTE3 MTE2"), flag("wait", 2, "MTE3 MTE2"),
              flag("wait", 2, "MTE3 V"))
    assert _clean(_events(*nested))


def test_the_stricter_reading_takes_source_and_id_for_the_key() -> None:
    nested = (flag("set", 2, "MTE3 V"), flag("set", 2, "MTE3 MTE2"), flag("wait", 2, "MTE3 MTE2"),
              flag("wait", 2, "MTE3 V"))
    apart = (*nested[:1], nested[3], nested[1], nested[2])

    def strictly(body: tuple[str, ...]) -> set[Verdict]:
        options = Options(families=frozenset({"EVENT"}), strict=True)
        (result,) = verify(read(flags(*body), "k.pto"), target("a2a3"), options)
        return verdicts(result, "EVENT-SET")

    assert strictly(nested) == {Verdict.PROVED, Verdict.REFUTED}
    assert strictly(apart) == PROVED


def test_the_stricter_reading_keeps_the_cores_of_a_function_apart() -> None:
    """MTE2 of the cube and MTE2 of the vector cores have flags of their own."""
    cube = ("pto.section.cube {", flag("set", 0, "MTE2 MTE1"), flag("wait", 0, "MTE2 MTE1"), "}")
    vector = ("pto.section.vector {", flag("set", 0, "MTE2 V"), flag("wait", 0, "MTE2 V"), "}")
    options = Options(families=frozenset({"EVENT"}), strict=True)
    (result,) = verify(read(flags(*cube, *vector), "k.pto"), target("a2a3"), options)
    assert verdicts(result, "EVENT-SET") == PROVED and not result.findings
    inner = ("pto.section.cube {", flag("set", 0, "MTE2 MTE1"), flag("set", 0, "MTE2 M"), flag("wait", 0, "MTE2 M"),
             flag("wait", 0, "MTE2 MTE1"), "}")
    (result,) = verify(read(flags(*inner, *vector), "k.pto"), target("a2a3"), options)
    assert [f.verdict for f in result.findings if f.rule == "EVENT-SET"] == [REFUTED]


def test_the_stricter_reading_names_the_flag_that_it_takes_for_the_same() -> None:
    text = flags(flag("set", 2, "MTE3 V"), flag("set", 2, "MTE3 MTE2"), flag("wait", 2, "MTE3 MTE2"),
                 flag("wait", 2, "MTE3 V"))
    (result,) = verify(read(text, "k.pto"), target("a2a3"), Options(families=frozenset({"EVENT"}), strict=True))
    first, second = (n for n, line in enumerate(text.splitlines(), 1) if "set_flag" in line)
    found = finding(result, "EVENT-SET")
    assert found.text_line == second
    assert found.message == (
        f"set_flag sets flag MTE3 -> MTE2 id 2 while MTE3 -> V of the same id is still set by line {first}: the "
        "stricter reading takes flags of one source and id for one")


def test_a_wait_after_a_loop_that_may_not_run_hangs_at_no_trips() -> None:
    result = _events(loop("M", branch("eq, %i, %c0", flag("set"))), flag("wait"))
    assert dict(finding(result, "EVENT-WAIT").witness) == {"M": 0}
    assert _clean(_events(loop("c4", branch("eq, %i, %c0", flag("set"))), flag("wait")))


def test_a_flag_passed_on_by_a_loop_needs_priming_and_draining() -> None:
    body = loop("M", flag("wait"), flag("set"))
    assert _clean(_events(flag("set"), body, flag("wait")))
    assert dict(finding(_events(body, flag("wait")), "EVENT-WAIT").witness)["i"] == 0
    assert verdicts(_events(flag("set"), body), "EVENT-EXIT") == {REFUTED}


def test_a_condition_around_the_body_has_to_be_around_prime_too_or_around_neither() -> None:
    guarded = branch("slt, %i, %c2", flag("wait"), flag("set"))
    inside = _events(loop("c4", flag("set"), guarded), flag("wait"))
    assert dict(finding(inside, "EVENT-SET").witness) == {"i": 1}
    assert _clean(_events(flag("set"), loop("c4", guarded), flag("wait")))


def test_branches_with_the_same_condition_pair_up() -> None:
    both = (branch("sgt, %M, %c2", flag("set")), branch("sgt, %M, %c2", flag("wait")))
    assert _clean(_events(*both))
    wider = (branch("sgt, %M, %c2", flag("set")), branch("sgt, %M, %c1", flag("wait")))
    assert Verdict.PROVED not in verdicts(_events(*wider), "EVENT-WAIT")


def test_the_complement_of_a_condition_is_recognised() -> None:
    opposite = (branch("sgt, %M, %c2", flag("set")), branch("sle, %M, %c2", flag("set")), flag("wait"))
    assert _clean(_events(*opposite))


def test_ids_in_turn_hold_as_many_flags_as_were_set_before() -> None:
    assert _clean(_ring(2, 2))
    late = finding(_ring(1, 1), "EVENT-WAIT")
    assert dict(late.witness) == {"M": 2, "i": 1}


@pytest.mark.parametrize("next_id", [
    "arith.subi %c1, %id", "arith.select %is_0, %c1, %c0", "arith.remsi %up, %c2", "arith.xori %id, %c1",
])
def test_an_id_that_goes_round_in_a_carried_value_is_one_in_turn(next_id: str) -> None:
    def carried(*primed: int) -> FunctionResult:
        return _events(
            *(flag("set", n) for n in primed),
            "%end = scf.for %i = %c0 to %M step %c1 iter_args(%id = %c0) -> (index) {",
            computed("wait", "id"), computed("set", "id"),
            "%is_0 = arith.cmpi eq, %id, %c0 : index", "%up = arith.addi %id, %c1 : index",
            f"%next = {next_id} : index", "scf.yield %next : index", "}",
            *(flag("wait", n) for n in primed))

    assert _clean(carried(0, 1))
    assert dict(finding(carried(0), "EVENT-WAIT").witness)["M"] == 2


def test_without_priming_only_the_flags_of_iterations_that_ran_are_taken() -> None:
    assert _clean(_unprimed("sgt, %M, %c1"))
    one = _unprimed("sgt, %M, %c0")
    assert dict(finding(one, "EVENT-WAIT").witness) == {"M": 1}


def test_a_loop_that_waits_from_the_second_and_sets_to_the_last_but_one_iteration() -> None:
    def chain(first: str) -> FunctionResult:
        return _events(
            "%last = arith.subi %M, %c1 : index",
            loop("M", branch(f"sge, %i, %{first}", flag("wait")), branch("slt, %i, %last", flag("set"))))

    assert _clean(chain("c1"))
    assert dict(finding(chain("c0"), "EVENT-WAIT").witness)["i"] == 0
    assert dict(finding(chain("c2"), "EVENT-SET").witness) == {"M": 3, "i": 1}


def test_inner_loops_are_followed_for_every_trip_count() -> None:
    inner = loop("M", flag("wait"), flag("set")).replace("%i", "%j")
    assert _clean(_events(flag("set"), loop("M", inner), flag("wait")))
    handed = _events(loop("M", flag("set"), inner, flag("wait")))
    assert _clean(handed)
    assert REFUTED in verdicts(_events(loop("M", flag("set"), inner)), "EVENT-SET")


def test_an_unbalanced_inner_loop_breaks_the_outer_one() -> None:
    inner = loop("M", branch("eq, %j, %c0", flag("set"))).replace("%i", "%j")
    result = _events(loop("M", inner, flag("wait")))
    assert verdicts(result, "EVENT-WAIT") == PROVED, "the outer body runs only where the inner one does"
    shorter = loop("c2", inner, flag("wait"))
    assert dict(finding(_events(shorter), "EVENT-WAIT").witness)["M"] == 0


def test_sections_are_cores_of_their_own() -> None:
    def sections(waits: str) -> FunctionResult:
        return _events("pto.section.cube {", flag("set"), flag("wait"), "}", f"pto.section.{waits} {{", flag("set"),
                       flag("wait"), "}")

    assert _clean(sections("vector"))
    apart = _events("pto.section.cube {", flag("set"), "}", "pto.section.vector {", flag("wait"), "}")
    assert verdicts(apart, "EVENT-WAIT") == verdicts(apart, "EVENT-EXIT") == {REFUTED}


def test_recorded_events_are_flags_of_the_pipes_of_their_ops() -> None:
    def event(what: str, dst: str) -> str:
        return f"pto.{what}_event[#pto.sync_op_type<TLOAD>, #pto.sync_op_type<{dst}>, <EVENT_ID0>]"

    assert _clean(_events(event("record", "TVEC"), event("wait", "TVEC")))
    assert _clean(_events(event("record", "TVEC"), flag("wait", 0, "MTE2 V")))
    assert verdicts(_events(event("record", "TVEC"), event("wait", "TMATMUL")), "EVENT-WAIT") == {REFUTED}


def test_an_id_that_the_caller_gives_is_unknown_with_the_condition_that_settles_it() -> None:
    text = kernel("\n".join((computed("set", "n"), computed("wait", "n"))), "%n: index")
    result = check(text, families="EVENT")
    assert _clean(result)
    assert verdicts(result, "EVENT-ID") == {UNKNOWN}
    settled = check(text, families="EVENT", assume=("n >= 0", "n < 8"))
    assert verdicts(settled, "EVENT-ID") == PROVED


def _while(*body: str) -> str:
    return "\n".join((
        "%end = scf.while (%n = %c0) : (index) -> index {",
        "%more = arith.cmpi slt, %n, %M : index", "scf.condition(%more) %n : index", "} do {", "^bb0(%k: index):",
        *body, "%next = arith.addi %k, %c1 : index", "scf.yield %next : index", "}"))


@pytest.mark.parametrize(("again", "clean"), [(0, True), (1, False)])
def test_a_flag_that_a_while_loop_hands_on_is_followed_where_an_outer_loop_repeats_it(again: int, clean: bool) -> None:
    """What the while loop would make of a flag that is not set depends on whether it runs; but it always is."""
    result = _events(flag("set"), loop("M", _while(flag("wait"), flag("set", again))), flag("wait"))
    assert _clean(result) is clean


def test_a_while_loop_that_leaves_a_flag_as_it_found_it_is_followed() -> None:
    assert _clean(_events(_while(flag("set"), flag("wait"))))
    unbalanced = _events(_while(flag("set")), flag("wait"))
    assert verdicts(unbalanced, "EVENT-WAIT") == {UNKNOWN}
    assert "line" in finding(unbalanced, "EVENT-WAIT").message


@pytest.mark.parametrize("inside", [
    (flag("wait"), flag("set")), (branch("eq, %k, %c3", flag("wait"), flag("set")),),
    (branch("eq, %k, %c3", flag("wait"), flag("set")), loop("N", flag("wait"), flag("set"))),
    (loop("N", branch("eq, %i, %k", flag("wait"), flag("set"))),),
    (_while(flag("wait"), flag("set")).replace("%n", "%m").replace(
        "%k", "%l").replace("%more", "%go").replace("%next", "%then").replace("%end", "%done"),),
])
def test_what_gives_back_the_flag_that_it_takes_is_followed_wherever_it_stands(inside: tuple[str, ...]) -> None:
    """In a while loop, set before it and waited for after it."""
    def text(*after: str) -> FunctionResult:
        body = "\n".join((flag("set"), _while(*inside), *after))
        return check(kernel(body, "%M: index, %N: index"), families="EVENT")

    assert _clean(text(flag("wait")))
    assert not _clean(text())
    assert not _clean(text(flag("wait"), flag("wait")))


@pytest.mark.parametrize(("head", "body", "after"), [
    # sets and waits of a run with three iterations: 4 and 3; 4 and 4; 4 and 0; 3 and 4
    ((flag("set"),), (flag("wait"),), ()), ((flag("set"),), (flag("wait"),), (flag("wait"),)), ((flag("set"),), (), ()),
    ((flag("wait"),), (flag("set"),), ()),
])
def test_flags_where_a_while_loop_computes_its_condition_are_not_followed(
    head: tuple[str, ...], body: tuple[str, ...], after: tuple[str, ...]
) -> None:
    """That runs once more than the body does: neither that a flag is set nor that it is free is known there."""
    made = _while(*body).replace("scf.condition", "\n".join((*head, "scf.condition")))
    result = _events(made, *after)
    assert verdicts(result, "EVENT-EXIT") == (PROVED if after else {UNKNOWN})
    assert REFUTED not in verdicts(result, "EVENT-SET") | (verdicts(result, "EVENT-WAIT") if body else set())


@pytest.mark.requirement("VF-01")
@pytest.mark.parametrize("body", [
    (_while(flag("set")),), (_while(flag("set"), branch("eq, %k, %N", flag("wait"))),),
    # each sets the flag in an iteration that is not one of the first, and nothing waits for it
    (loop("M", branch("eq, %i, %c17", flag("set"))),),
    (loop("M", branch("eq, %i, %c32", flag("set")), branch("eq, %i, %c17", flag("wait"))),),
    (loop("M", "%s = arith.muli %i, %i : index", branch("eq, %s, %c100", flag("set"))),),
    (loop("M", branch("eq, %i, %N", flag("set"))),),
    (loop("M", loop("N", branch("eq, %i, %c17", flag("set"))).replace("%i", "%j"), branch("eq, %i, %c100",
     flag("wait"))),),
])
def test_what_is_not_followed_is_not_proved(body: tuple[str, ...]) -> None:
    """Some run of each leaves the flag set."""
    result = check(kernel("\n".join(body), "%M: index, %N: index"), families="EVENT")
    assert verdicts(result, "EVENT-EXIT") in ({UNKNOWN}, {REFUTED})


@pytest.mark.parametrize("again", [(), (branch("eq, %k, %N", flag("wait")),), (branch("ne, %k, %c3", flag("wait")),)])
def test_a_set_in_each_iteration_of_a_while_loop_needs_a_wait_in_each(again: tuple[str, ...]) -> None:
    result = check(kernel(_while(flag("set"), *again), "%M: index, %N: index"), families="EVENT")
    assert verdicts(result, "EVENT-SET") in ({UNKNOWN}, {REFUTED})


def test_a_set_behind_what_is_not_followed_is_there_for_its_wait() -> None:
    """Whatever the loop leaves: the flag is set by then."""
    result = _events(_while(flag("set")), flag("set"), flag("wait"))
    assert verdicts(result, "EVENT-SET") == {UNKNOWN}
    assert verdicts(result, "EVENT-WAIT") == PROVED and verdicts(result, "EVENT-EXIT") == PROVED


def test_a_text_without_flags_has_nothing_to_prove() -> None:
    result = _events(loop("M", "pto.barrier <PIPE_ALL>"))
    assert not [o for o in result.obligations if o.rule in ALL]


@pytest.mark.parametrize("trips", ["c0", "c1", "c2", "c3", "c4", "c8"])
def test_a_loop_of_known_length_is_run_through(trips: str) -> None:
    # Iteration 1 sets the flag, iteration 3 takes it back: it stays set after 2 and 3 trips.
    body = (branch("eq, %i, %c1", flag("set")), branch("eq, %i, %c3", flag("wait")))
    left = int(trips[1:]) in (2, 3)
    assert verdicts(_events(loop(trips, *body)), "EVENT-EXIT") == ({REFUTED} if left else PROVED)


def _buffer(what: str, id: int, pipe: str = "TVEC") -> str:
    return f"pto.{what}_buf[#pto.pipe_event_type<{pipe}>, {id}]"


@pytest.mark.parametrize(("body", "said"), [
    ((_buffer("get", 1), _buffer("get", 1), _buffer("rls", 1), _buffer("rls", 1)), "has it already"),
    ((_buffer("rls", 1), _buffer("get", 1), _buffer("rls", 1)), "does not have it"),
    ((_buffer("get", 1),), "still has it at the end"),
    ((_buffer("get", 32), _buffer("rls", 32)), "there are 32"),
    ((_buffer("get", 1), _buffer("rls", 1, "TLOAD")), "does not have it"),
])
def test_a_buffer_id_is_taken_and_given_back_by_one_pipe_in_turn(body: tuple[str, ...], said: str) -> None:
    found = [f for f in _events(*body, chip="a5").findings if f.rule == "EVENT-BUFFER"]
    assert {f.verdict for f in found} == {REFUTED}
    assert any(said in f.message for f in found)


def test_a_buffer_id_may_pass_from_pipe_to_pipe_in_a_loop() -> None:
    passed = loop("M", _buffer("get", 1, "TLOAD"), _buffer("rls", 1, "TLOAD"), _buffer("get", 1), _buffer("rls", 1))
    assert verdicts(_events(passed, chip="a5"), "EVENT-BUFFER") == PROVED


@pytest.mark.parametrize(("waited", "expected"), [(0, PROVED), (1, {REFUTED})])
def test_a_flag_that_every_caller_who_has_it_set_leaves_set_is_refuted(waited: int, expected: set[Verdict]) -> None:
    """Whatever `%N` is: where the branch is taken the flag stays set, and no caller has it set otherwise."""
    arms = branch("sgt, %N, %c1", flag("set"), flag("wait", waited))
    result = check(kernel(arms, "%N: index"), families="EVENT")
    assert verdicts(result, "EVENT-EXIT") == expected
    if expected != PROVED:
        assert dict(finding(result, "EVENT-EXIT").witness)["N"] > 1


def test_on_a_pipe_that_the_core_has_not_a_wait_hangs_and_what_is_given_never_comes() -> None:
    """A vector core has no FIX."""
    found = _events("pto.barrier <PIPE_FIX>", flag("set", 0, "FIX V"), flag("wait", 0, "FIX V")).findings
    said = [f.message.partition(": ")[2] for f in found if f.rule == "EVENT-PIPE"]
    assert said == ["it waits for ever", "it is never given", "it waits for ever"]


def _ids(*body: str) -> FunctionResult:
    """Ids in an array: 1 is put at place 0 and 2 at place 1."""
    def put(place: str, id: str) -> str:
        return f"pto.eventid_array_set %ids[%{place}], %{id} : !pto.eventid_array<4>"

    return _events("%ids = pto.declare_eventid_array -> !pto.eventid_array<4>", put("c0", "c1"), put("c1", "c2"), *body)


def _id_of(name: str, place: str) -> str:
    return f"%{name} = pto.eventid_array_get %ids[%{place}] : !pto.eventid_array<4>"


_AGAIN = "pto.eventid_array_set %ids[%{}], %c3 : !pto.eventid_array<4>"


@pytest.mark.requirement("EV-03")
@pytest.mark.parametrize(("taken", "between", "expected"), [
    ("c0", "", PROVED), ("c1", "", {REFUTED}), ("c0", _AGAIN.format("c1"), PROVED),
    ("c0", _AGAIN.format("c0"), {REFUTED}), ("c0", _AGAIN.format("M"), {UNKNOWN}),
    ("c0", loop("M", _AGAIN.format("c0")), {UNKNOWN})])
def test_an_id_that_is_kept_in_an_array_is_the_one_put_there_last(
    taken: str, between: str, expected: set[Verdict]
) -> None:
    """The flag that place 0 names is set; what is waited for is read after what stands between."""
    result = _ids(
        *([between] if "scf.for" in between else []), _id_of("a", "c0"), computed("set", "a"),
        *([] if "scf.for" in between else [between]), _id_of("b", taken), computed("wait", "b"))
    assert verdicts(result, "EVENT-WAIT") == expected


def _until_found(*primed: str, stop: str = "%c2") -> str:
    """A while loop that ends where its counter is `stop`: each turn waits, and sets again but in the last one."""
    return kernel("\n".join((
        "%no = arith.constant 0 : i1", "%yes = arith.constant 1 : i1", *primed,
        "%b, %k = scf.while (%x = %no, %y = %c0) : (i1, index) -> (i1, index) {",
        "%in = arith.cmpi slt, %y, %c8 : index", "%not = arith.xori %x, %yes : i1", "%go = arith.andi %in, %not : i1",
        "scf.condition(%go) %x, %y : i1, index", "} do {", "^bb0(%x1: i1, %y1: index):", flag("wait"),
        f"%hit = arith.cmpi eq, %y1, {stop} : index", "%x2 = scf.if %hit -> (i1) {", "scf.yield %yes : i1",
        "} else {", flag("set"), "scf.yield %x1 : i1", "}", "%y2 = arith.addi %y1, %c1 : index",
        "scf.yield %x2, %y2 : i1, index", "}")), "%N: index")


@pytest.mark.requirement("VF-03")
def test_a_loop_whose_pattern_is_not_recognised_is_refuted_by_a_run() -> None:
    text = _until_found()
    module = read(text, "k.pto")
    result = replayed(check(text, families="EVENT"), module, target("a2a3"), 0, {})
    found = finding(result, "EVENT-WAIT")
    assert found.verdict is REFUTED
    assert found.replay.startswith("confirmed")
    assert not [f for f in check(_until_found(flag("set")), families="EVENT").findings if f.verdict is REFUTED]


def test_what_fails_there_for_callers_alone_is_told() -> None:
    """The flag is still set after eight turns, if `%N` is none of their numbers."""
    result = check(_until_found(flag("set"), stop="%N"), families="EVENT")
    found = finding(result, "EVENT-EXIT")
    assert found.verdict is UNKNOWN
    assert "it fails for N = " in found.message
