"""What a verdict about two cores rests on, as its obligation tells it."""

from __future__ import annotations

import pytest

from pypto_verified.pto.reader import read
from pypto_verified.targets import ASSUMPTIONS, target
from tests.verifiers.examples_event import flag
from tests.verifiers.examples_fifo import FREE, PUSH, pair_of_cores, pop
from tests.verifiers.examples_split import ACC
from tests.verifiers.kernels import load, store, tile, view, window
from tests.verifiers.test_both_sides import LOAD, STORE, crossing
from tests.verifiers.test_core_pipes import meet
from tests.verifiers.test_cores_wait import Lines, heard, told
from tests.verifiers.test_spare_flags import of_lanes
from verifiers import Options, verify
from verifiers.registry import all_rules

ALWAYS = {"DISTINCT-POINTERS", "CORES-SEE"}
"""What one core stores by a transfer the other one loads by another."""
HAND = (flag("set", 0, "FIX MTE1"), flag("wait", 0, "FIX MTE1"))


def rests(text: str, rule: str, chip: str = "a2a3", explicit: bool = False) -> set[str]:
    options = Options(families=frozenset({"EVENT", "RACE"}), explicit_sync=explicit, assume=("M >= 0", "N >= 0"))
    results = verify(read(text, "k.pto"), target(chip), options)
    found = [set(o.assumptions) for r in results for o in r.obligations if o.rule == rule]
    assert found
    return {a for one in found for a in one if a in ASSUMPTIONS}


@pytest.mark.parametrize(("before", "tell", "hear", "expected"), [
    ((), told(3), heard(3), {"SYNC-LEFT"}),
    ((flag("set", 0, "M FIX"), flag("wait", 0, "M FIX")), told(3), heard(3), {"EVENT-KEY"}),
    ((flag("set", 0, "FIX S"), flag("wait", 0, "FIX S")), told(3), heard(3), {"EVENT-KEY", "SCALAR-ISSUES"}),
    ((flag("set", 0, "FIX FIX"), flag("wait", 0, "FIX FIX")), told(3), heard(3), {"EVENT-KEY", "SELF-FLAG"}),
    (HAND, told(3, "MTE1"), heard(3), {"EVENT-KEY"}),
    ((), meet("soft"), meet("soft"), {"SYNC-LEFT", "SYNCALL-WAITS"}),
    ((), meet("hard"), meet("hard"), {"SYNC-LEFT"}),
])
def test_an_order_of_two_cores_tells_what_it_rests_on(before: Lines, tell: str, hear: str, expected: set[str]) -> None:
    assert rests(crossing((STORE, *before, tell), (hear, LOAD)), "RACE-CORE") == ALWAYS | expected


def test_with_the_order_judged_as_it_stands_nothing_is_left_to_the_assembler() -> None:
    assert rests(crossing((STORE, told(3)), (heard(3), LOAD)), "RACE-CORE", explicit=True) == ALWAYS


def test_flags_within_a_block_of_a5_rest_on_the_ids_of_the_second_lane() -> None:
    text = crossing((STORE, told(3)), (heard(3), LOAD))
    for rule in ("RACE-CORE", "EVENT-CORES", "EVENT-COUNT"):
        assert "LANE-OFFSET" in rests(of_lanes(text), rule, "a5") - rests(text, rule, "a5")


@pytest.mark.parametrize(("chip", "named"), [("a2a3", False), ("a5", True)])
def test_what_a_pop_orders_on_a5_rests_on_its_pipe(chip: str, named: bool) -> None:
    memory = ("%c128 = arith.constant 128 : index", view("gv", "gm", "c128"),
              window("w", "gv", "%c64, %c0", "%c32, %c64", "32x64"))
    text = pair_of_cores(
        "\n".join((*memory, store("c", "w", ACC, "32x64"), PUSH)),
        "\n".join((*memory, pop(), load("w", "o", tile(32, 64), "32x64"), FREE)))
    assert ("POP-PIPE" in rests(text, "RACE-CORE", chip)) is named


def test_an_answer_that_orders_a_cores_own_stores_tells_what_it_rests_on() -> None:
    text = crossing((STORE, told(3), heard(5, "FIX"), STORE), (heard(3), told(5, "MTE2")))
    assert "LANE-OFFSET" not in rests(text, "RACE-WAW", "a5", explicit=True)
    assert "LANE-OFFSET" in rests(of_lanes(text), "RACE-WAW", "a5", explicit=True)


def test_a_rule_rests_on_assumptions_that_say_so() -> None:
    """The table names the families that may rest on a row."""
    for rule in all_rules():
        family = rule.id.split("-")[0]
        assert [a for a in rule.assumptions if family not in ASSUMPTIONS[a].rules] == []
