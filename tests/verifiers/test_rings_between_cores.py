"""Two cores that hand tiles over in rings of buffers in global memory, for every number of tiles: the right ones are
proved, and of each wrong one some size is shown, beside timed runs."""

from __future__ import annotations

from itertools import product

import pytest

from pypto_verified.pto.reader import read
from pypto_verified.report.model import FunctionResult, Verdict
from pypto_verified.simulator import schedule
from pypto_verified.simulator.schedule.confirm import confirm_order
from pypto_verified.simulator.schedule.faults import LeftError
from pypto_verified.targets import target
from tests.verifiers.rings_between_cores import FAULTS, LOST, Ring, ThereAndBack
from verifiers import Options, verify

PROVED, REFUTED = Verdict.PROVED, Verdict.REFUTED
RULES = ("EVENT-CORES", "EVENT-COUNT", "RACE-CORE", "RACE-RAW", "RACE-WAR", "RACE-WAW")
RIGHT = list(product((2, 3), (True, False), (True, False), (True, False)))
WRONG = [  # slots, an id each, primed, behind, what is wrong
    (2, True, True, False, "loads the next slot"), (3, False, False, True, "loads the next slot"),
    (3, True, False, False, "tells before it stores"), (2, False, True, False, "tells before it stores"),
    (2, True, False, True, "answers before it loads"), (3, False, True, False, "answers before it loads"),
    (3, True, True, True, "loads before it waits"), (2, False, False, False, "loads before it waits"),
    (3, True, False, True, "waits after it stores"), (2, False, True, True, "waits after it stores"),
    (2, False, True, False, "one answer too many"), (3, True, True, False, "one answer too many"),
    (2, True, True, False, "one answer too few"), (3, False, False, True, "one answer too few"),
    (3, True, True, True, "one answer is left"), (2, False, False, False, "one answer is left"),
    (3, True, True, True, "no size of zero"), (2, False, False, True, "no size of zero"),
]


def judged(text: str, chip: str) -> FunctionResult:
    options = Options(families=frozenset({"EVENT", "RACE"}), explicit_sync=True, assume=("M >= 0", "N >= 0"))
    (result,) = verify(read(text, "k.pto"), target(chip), options)
    return result


def seen(text: str, chip: str, sizes: range, schedules: tuple[str, ...], rounds: int = 1) -> set[str]:
    """The rules that some run breaks. What both vector cores write alike is left out."""
    found: set[str] = set()
    for size, order in product(sizes, schedules):
        numbers = {"M": size, "N": rounds}
        outcome = schedule.replay(read(text, "k.pto"), "k", numbers, target(chip), schedule=order, seed=size)
        if outcome.deadlock is not None or any(isinstance(e, LeftError) for e in outcome.errors):
            found.add("EVENT-CORES")
        for race in (*outcome.races, *outcome.also):
            if race.first.core == race.second.core or race.first.core[:4] != race.second.core[:4]:
                found.add("RACE-WAW" if race.first.core == race.second.core else "RACE-CORE")
    return found


def shown(text: str, rule: str) -> None:
    """That the rule refutes it with a size for which a run shows it."""
    assert rule in seen(text, "a2a3", range(8), ("program", "eager", "late"))
    found = next(f for f in judged(text, "a2a3").findings if f.verdict is REFUTED and f.rule == rule)
    replay = confirm_order(
        read(text, "k.pto"), "k", rule, dict(found.witness), target("a2a3"), line=found.text_line or 0)
    assert replay.startswith("confirmed: ")


@pytest.mark.requirement("EV-06")
@pytest.mark.parametrize(("slots", "own_ids", "primed", "behind"), RIGHT)
def test_a_ring_that_is_right_is_proved_for_every_number_of_tiles(
    slots: int, own_ids: bool, primed: bool, behind: bool
) -> None:
    chip = "a5" if primed else "a2a3"
    text = Ring(slots, own_ids, primed, behind).text()
    result = judged(text, chip)
    assert {o.verdict for o in result.obligations if o.rule in RULES} == {PROVED}
    assert {o.rule for o in result.obligations} >= {"EVENT-CORES", "RACE-CORE", "RACE-WAW"}
    assert not seen(text, chip, range(2 * slots), ("late",))


@pytest.mark.requirement("EV-06")
@pytest.mark.parametrize(("slots", "own_ids", "primed", "behind", "fault"), WRONG)
def test_a_ring_with_one_thing_wrong_is_refuted_by_a_size_that_shows_it(
    slots: int, own_ids: bool, primed: bool, behind: bool, fault: str
) -> None:
    shown(Ring(slots, own_ids, primed, behind, fault).text(), FAULTS[fault])


@pytest.mark.requirement("EV-06")
@pytest.mark.parametrize(("slots", "own_ids", "rounds", "chip"), [
    (2, True, False, "a2a3"), (3, True, False, "a5"), (2, False, False, "a5"), (3, False, False, "a2a3"),
    (2, True, True, "a2a3"), (2, False, True, "a5")])
def test_tiles_there_and_back_are_proved_with_two_buffers_each_way(
    slots: int, own_ids: bool, rounds: bool, chip: str
) -> None:
    text = ThereAndBack(slots, own_ids, rounds=rounds).text()
    result = judged(text, chip)
    assert {o.verdict for o in result.obligations if o.rule in RULES} == {PROVED}
    assert not seen(text, chip, range(2 * slots), ("late",), rounds=2)


@pytest.mark.requirement("EV-06")
@pytest.mark.parametrize(("slots", "own_ids", "fault"), [(2 + n % 2, n % 3 > 0, fault) for n, fault in enumerate(LOST)])
def test_tiles_there_and_back_with_one_thing_wrong_are_refuted(slots: int, own_ids: bool, fault: str) -> None:
    shown(ThereAndBack(slots, own_ids, fault=fault).text(), LOST[fault])


def test_one_buffer_each_way_is_not_enough() -> None:
    """The cube stores the next tile over one that the vector core may still load."""
    shown(ThereAndBack(1).text(), "RACE-CORE")


@pytest.mark.nightly
@pytest.mark.parametrize("chip", ["a2a3", "a5"])
def test_verdicts_on_all_rings_agree_with_runs_under_all_schedules(chip: str) -> None:
    """No proof that a run contradicts, no refutation that none shows."""
    for (slots, own_ids, primed, behind), fault in product(RIGHT, ("", *FAULTS)):
        ring = Ring(slots, own_ids, primed, behind, fault)
        text = ring.text()
        result = judged(text, chip)
        broken = seen(text, chip, range(7), ("program", "eager", "late", "random"))
        for rule in ("EVENT-CORES", "RACE-CORE", "RACE-WAW"):
            if rule != "EVENT-CORES" and "EVENT-CORES" in broken:
                continue  # a run that hangs shows no races behind it
            verdicts = {o.verdict for o in result.obligations if o.rule == rule}
            assert not (rule in broken and verdicts <= {PROVED}), (ring, rule)
            assert rule in broken or REFUTED not in verdicts, (ring, rule)
