"""Pipes between cores: counts of both ends for all sizes, slots and their credits."""

from __future__ import annotations

import pytest

from pypto_verified.pto.reader import read
from pypto_verified.report.model import Verdict
from pypto_verified.targets import target
from tests.verifiers.examples_fifo import FREE, PUSH, pair_of_cores, pop, turns
from verifiers import Options, verify

BOTH = pop() + "\n" + FREE
_TAKEN = "%q = arith.cmpi sgt, %n, %c8 : index\nscf.if %q {"


def verdicts(text: str, rule: str, chip: str = "a2a3", strict: bool = False) -> set[Verdict]:
    """Those of a rule on both ends."""
    results = verify(read(text, "k.pto"), target(chip), Options(families=frozenset({"FIFO"}), strict=strict))
    return {o.verdict for r in results for o in r.obligations if o.rule == rule}


@pytest.mark.requirement("XC-09")
@pytest.mark.parametrize("rule", ["FIFO-POP", "FIFO-DRAIN"])
def test_ends_that_turn_equally_often_agree_for_every_size(rule: str) -> None:
    assert verdicts(pair_of_cores(turns("%n", PUSH), turns("%n", BOTH)), rule) == {Verdict.PROVED}


def test_two_pushes_a_turn_are_two_turns_of_pops() -> None:
    twice = "%m = arith.muli %n, %c2 : index"
    text = pair_of_cores(turns("%n", PUSH, PUSH), twice + "\n" + turns("%m", BOTH))
    assert verdicts(text, "FIFO-POP") == verdicts(text, "FIFO-DRAIN") == {Verdict.PROVED}


def test_sizes_that_differ_are_told_as_a_condition() -> None:
    text = pair_of_cores(turns("%n", PUSH), turns("%c8", BOTH))
    *_, vector = verify(read(text, "k.pto"), target("a2a3"), Options(families=frozenset({"FIFO"})))
    assert "n >= 8" in vector.needs


def test_a_branch_at_both_ends_agrees_and_at_one_end_does_not() -> None:
    guarded = pair_of_cores(f"{_TAKEN}\n{PUSH}\n}}", f"{_TAKEN}\n{BOTH}\n}}")
    assert verdicts(guarded, "FIFO-POP") == {Verdict.PROVED}
    assert Verdict.PROVED not in verdicts(pair_of_cores(f"{_TAKEN}\n{PUSH}\n}}", BOTH), "FIFO-POP")


def test_a_pop_without_any_push_waits_for_ever() -> None:
    assert Verdict.REFUTED in verdicts(pair_of_cores("// nothing", BOTH), "FIFO-POP")


def test_a_transfer_that_depends_on_the_turn_is_not_followed() -> None:
    odd = "%q = arith.cmpi sgt, %i, %c2 : index\nscf.if %q {"
    text = pair_of_cores(turns("%n", odd, PUSH, "}"), turns("%n", BOTH))
    assert verdicts(text, "FIFO-POP") == {Verdict.UNKNOWN}


def test_a_pop_of_a2a3_frees_its_slot_by_itself_unless_read_strictly() -> None:
    text = pair_of_cores(PUSH, pop())
    assert verdicts(text, "FIFO-FREE") == set()
    assert verdicts(text, "FIFO-FREE", strict=True) == {Verdict.REFUTED}
    on_chip = pair_of_cores(PUSH, pop(), memory=False)
    assert verdicts(on_chip, "FIFO-FREE", chip="a5") == {Verdict.REFUTED}


@pytest.mark.parametrize(("slots", "expected"), [(1, Verdict.PROVED), (2, Verdict.PROVED), (3, Verdict.PROVED),
                                                 (4, Verdict.PROVED), (5, Verdict.REFUTED), (7, Verdict.REFUTED),
                                                 (8, Verdict.PROVED)])
def test_odd_numbers_of_slots_from_five_on_overrun(slots: int, expected: Verdict) -> None:
    text = pair_of_cores(turns("%c32", PUSH), turns("%c32", BOTH), slots=slots)
    assert verdicts(text, "FIFO-OVERRUN") == {expected}


def test_the_library_of_a5_lets_every_pipe_overrun_which_counts_only_strictly() -> None:
    text = pair_of_cores(turns("%c32", PUSH), turns("%c32", BOTH), memory=False)
    assert verdicts(text, "FIFO-OVERRUN", chip="a5") == {Verdict.PROVED}
    assert verdicts(text, "FIFO-OVERRUN", chip="a5", strict=True) == {Verdict.REFUTED}
    few = pair_of_cores(PUSH, BOTH, memory=False)
    assert verdicts(few, "FIFO-OVERRUN", chip="a5", strict=True) == {Verdict.PROVED}
