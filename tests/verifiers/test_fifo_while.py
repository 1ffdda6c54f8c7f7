"""FIFO: tiles that while loops transfer. What such a loop does before each test runs once more than its body."""

from __future__ import annotations

import pytest

from pypto_verified.pto.reader import read
from pypto_verified.report.model import Verdict
from pypto_verified.simulator import schedule
from pypto_verified.targets import target
from tests.verifiers.examples_fifo import FREE, PUSH, pair_of_cores, pop, turns
from tests.verifiers.test_fifo import EVEN, verdicts
from verifiers import Options, verify

BOTH = pop() + "\n" + FREE


def while_(head: tuple[str, ...], body: tuple[str, ...], stop: str = "%n") -> str:
    """A loop of `stop` iterations: `head` runs once more."""
    return "\n".join((
        "%end = scf.while (%w = %c0) : (index) -> index {", *head, f"%more = arith.cmpi slt, %w, {stop} : index",
        "scf.condition(%more) %w : index", "} do {", "^bb0(%k: index):", *body, "%next = arith.addi %k, %c1 : index",
        "scf.yield %next : index", "}"))


def _goes_wrong(text: str, chip: str, n: int) -> bool:
    """Whether a run hangs, leaves a tile or gives back one that it has not popped."""
    outcome = schedule.replay(read(text, "k.pto"), "cube", {"n": n}, target(chip))
    return outcome.deadlock is not None or any(e.kind == "pipe" for e in outcome.errors)


@pytest.mark.requirement("XC-09", "VF-01")
@pytest.mark.parametrize(("cube", "vector", "rule", "chip"), [
    (while_((PUSH,), ()), BOTH, "FIFO-DRAIN", "a2a3"),
    (PUSH, while_((BOTH,), ()), "FIFO-POP", "a2a3"),
    (while_((), (PUSH,)), BOTH, "FIFO-POP", "a2a3"),
    (f"{PUSH}\n{PUSH}", "\n".join((pop(), pop("u"), while_((FREE, FREE), ()))), "FIFO-FREE", "a5"),
])
def test_what_a_while_loop_transfers_is_not_taken_for_one_tile(cube: str, vector: str, rule: str, chip: str) -> None:
    text = pair_of_cores(cube, vector, memory=chip == "a2a3")
    assert [_goes_wrong(text, chip, n) for n in range(3)].count(True) >= 2
    assert verdicts(text, rule, chip) == {Verdict.UNKNOWN}


FIFTH = "%q = arith.cmpi eq, %i, %c5 : index\nscf.if %q {"
"""True in one turn at most."""


def tight(rule: str, pushes: str, pops: str, memory: bool) -> str:
    """A pipe that a rule finds too small if it carries more than a few tiles: more than five, or more than one."""
    slots, size, reserved = {
        "FIFO-OVERRUN": (5, 8192, 65536), "FIFO-RING": (2, 8192, 8192), "FIFO-SLOT": (2, 4096, 32768)}[rule]
    return pair_of_cores(pushes, pops, memory, slots, size, reserved)


@pytest.mark.requirement("XC-12", "VF-01")
@pytest.mark.parametrize("rule", ["FIFO-OVERRUN", "FIFO-RING", "FIFO-SLOT"])
@pytest.mark.parametrize(("pushes", "pops", "expected"), [
    (while_((), (PUSH,), "%c8"), while_((), (BOTH,), "%c8"), Verdict.REFUTED),
    (while_((), (PUSH,)), while_((), (BOTH,)), Verdict.UNKNOWN),
    (turns("%n", EVEN, PUSH, "}"), turns("%n", EVEN, BOTH, "}"), Verdict.REFUTED),
    (turns("%n", FIFTH, PUSH, "}"), turns("%n", FIFTH, BOTH, "}"), Verdict.PROVED),
    (PUSH, BOTH, Verdict.PROVED),
])
def test_a_pipe_is_too_small_only_if_some_run_has_more_tiles(
    rule: str, pushes: str, pops: str, expected: Verdict
) -> None:
    """How often the first loops turn has no closed form. A scalar of the caller that says it may always be small; a
    push in the fifth turn alone is one push."""
    chips = ("a2a3",) if rule == "FIFO-OVERRUN" else ("a2a3", "a5")
    for chip in chips:
        assert verdicts(tight(rule, pushes, pops, chip == "a2a3"), rule, chip) == {expected}


def test_sizes_that_show_it_are_told() -> None:
    text = pair_of_cores(turns("%n", EVEN, PUSH, "}"), turns("%n", EVEN, BOTH, "}"), slots=5, last="cube")
    results = verify(read(text, "k.pto"), target("a2a3"), Options(families=frozenset({"FIFO"})))
    (found,) = [f for r in results for f in r.findings if f.rule == "FIFO-OVERRUN"]
    assert dict(found.witness)["n"] > 2 * 5


def _sized(pushes: str, pops: str, chip: str) -> str:
    """The same with `%n` as an extent, which may have any value."""
    text = pair_of_cores(pushes, pops, memory=chip == "a2a3")
    view = ("%sized = pto.make_tensor_view %d, shape = [%n, %c64], strides = [%c64, %c1] : !pto.tensor_view<?x?xf32>\n"
            "    %none = arith.constant")
    return text.replace("%none = arith.constant", view).replace("%n: index", "%n: index, %d: !pto.ptr<f32>")


@pytest.mark.requirement("XC-09", "VF-01")
@pytest.mark.parametrize(("pushes", "pops", "rule", "chip", "expected"), [
    (while_((), (PUSH,), "%c8"), while_((), (BOTH,), "%c8"), "FIFO-POP", "a2a3", Verdict.UNKNOWN),
    (while_((), (PUSH,), "%c8"), while_((BOTH,), (), "%c8"), "FIFO-POP", "a2a3", Verdict.REFUTED),
    (while_((PUSH,), (), "%c8"), while_((), (BOTH,), "%c8"), "FIFO-DRAIN", "a2a3", Verdict.REFUTED),
    (while_((), (PUSH,)), while_((BOTH,), ()), "FIFO-POP", "a2a3", Verdict.REFUTED),
    (turns("%n", EVEN, PUSH, "}"), turns("%n", EVEN, BOTH, BOTH.replace("%t", "%u"), "}"), "FIFO-POP", "a2a3",
     Verdict.REFUTED),
    (turns("%n", FIFTH, PUSH, "}"), turns("%n", FIFTH, BOTH, "}"), "FIFO-POP", "a2a3", Verdict.PROVED),
    (while_((), (PUSH,)), while_((), (pop(), FREE, FREE)), "FIFO-FREE", "a5", Verdict.REFUTED),
    (while_((), (PUSH,)), while_((), (BOTH,)), "FIFO-FREE", "a5", Verdict.UNKNOWN),
])
def test_a_run_shows_that_the_ends_differ_where_no_form_tells(
    pushes: str, pops: str, rule: str, chip: str, expected: Verdict
) -> None:
    text = _sized(pushes, pops, chip)
    assert verdicts(text, rule, chip) == {expected}
    results = verify(read(text, "k.pto"), target(chip), Options(families=frozenset({"FIFO"})))
    shown = [dict(f.witness) for r in results for f in r.findings if f.rule == rule and f.verdict is Verdict.REFUTED]
    if rule != "FIFO-FREE":
        assert all(_goes_wrong(text, chip, given.get("n", 0)) for given in shown)
