"""RACE in the simulator: a replay shows the conflict of the finding, and none behind a flag that is misused."""

from __future__ import annotations

from pypto_verified.pto.reader import read as parse
from pypto_verified.report.model import Verdict
from pypto_verified.simulator.schedule.confirm import confirm_order
from pypto_verified.targets import target
from pypto_verified.witness import replayed
from tests.verifiers.examples_event import flag
from tests.verifiers.examples_race import both, exp, pipes, read, write
from tests.verifiers.kernels import finding
from verifiers import Options, verify

REFUTED, UNKNOWN = Verdict.REFUTED, Verdict.UNKNOWN


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
