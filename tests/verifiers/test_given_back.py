"""RACE-FREE: a slot on the chip is given back by one pipe of its consumer, whatever its other pipes still do there."""

from __future__ import annotations

from itertools import product

import pytest

from pypto_verified.pto.reader import read
from pypto_verified.report.model import FunctionResult, Verdict
from pypto_verified.simulator import schedule
from pypto_verified.simulator.schedule.confirm import confirm_order
from pypto_verified.simulator.schedule.outcome import Race
from pypto_verified.sync.insert import insert_sync
from pypto_verified.targets import target
from tests.verifiers.examples_fifo import COPY, FAR, FREE, HALF, NEAR, PUSH, crossing, pair_of_cores, pop, turns
from tests.verifiers.examples_race import both, given_back
from tests.verifiers.kernels import view, window
from tests.verifiers.test_fifo_while import while_
from verifiers import Options, verify
from verifiers.access import build_program
from verifiers.race.redundant import redundant
from verifiers.race.releases import releases_of
from verifiers.solver import Ladder

TAKEN = "%q = arith.cmpi sgt, %n, %c8 : index\nscf.if %q {"
MANUAL = both("MTE2 V", 7)
"""A flag that tells that the function orders its own pipes."""


def last(text: str, chip: str = "a5", assume: tuple[str, ...] = ()) -> FunctionResult:
    """What is found of the function that stands last."""
    options = Options(families=frozenset({"RACE"}), assume=assume)
    return verify(read(text, "k.pto"), target(chip), options)[-1]


def verdicts(text: str, rule: str = "RACE-FREE", chip: str = "a5", assume: tuple[str, ...] = ()) -> list[Verdict]:
    return [o.verdict for o in last(text, chip, assume).obligations if o.rule == rule]


def early(text: str, sizes: dict[str, int], order: str = "program") -> list[Race]:
    """The races of a run on a5 whose later op is a free."""
    outcome = schedule.replay(read(text, "k.pto"), "vector", sizes, target("a5"), schedule=order)
    return [r for r in outcome.races if r.second.op.name == "pto.tfree_from_aic"]


@pytest.mark.requirement("EV-02", "XC-09")
@pytest.mark.parametrize(("after", "expected"), [
    ("MTE3 V", Verdict.PROVED), ("MTE3 MTE2", Verdict.REFUTED), ("MTE3 S", Verdict.PROVED), ("V MTE3", Verdict.REFUTED),
])
def test_a_store_has_run_when_the_slot_it_reads_is_given_back(after: str, expected: Verdict) -> None:
    """A flag to S holds back whatever comes after it."""
    assert verdicts(given_back(after)) == [expected]


@pytest.mark.requirement("XC-09")
@pytest.mark.parametrize(("slots", "tiles", "found"), [
    (1, "%c1", None), (1, "%c2", Verdict.REFUTED), (2, "%c2", None), (4, "%c2", None), (4, "%c8", Verdict.REFUTED),
    (8, "%c8", None), (8, "%n", Verdict.REFUTED),
])
def test_only_a_slot_that_is_written_again_can_be_given_back_too_early(
    slots: int, tiles: str, found: Verdict | None
) -> None:
    """With eight slots the ninth tile is the first that lies where another one was."""
    text = given_back("MTE3 MTE2", slots, tiles)
    assert verdicts(text) == ([found] if found is not None else [])
    if tiles == "%n":
        (refuted,) = (f for f in last(text).findings if f.rule == "RACE-FREE")
        assert dict(refuted.witness)["n"] == slots + 1
        assert verdicts(text, assume=("n <= 8",)) == [Verdict.PROVED]


@pytest.mark.parametrize(("after", "expected"), [("MTE3 V", Verdict.PROVED), ("MTE3 MTE2", Verdict.UNKNOWN)])
def test_tiles_that_a_while_loop_pops_before_its_test_come_into_each_others_way(after: str, expected: Verdict) -> None:
    """One slot: only a single tile would be alone in it, and the loop pops one more than it has iterations."""
    stored = "!pto.partition_tensor_view<16x64xf32>"
    head = (pop(), window("there", "gv", "%c0, %c0", "%c16, %c64", "16x64"), both("V MTE3"),
            f"pto.tstore ins(%t : {HALF}) outs(%there : {stored})", both(after), FREE)
    text = pair_of_cores(PUSH, "\n".join((
        "%rows = arith.constant 4096 : index", view("gv", "gm", "rows"), while_(head, ()))), False, 1)
    assert verdicts(text) == [expected]


def test_the_pipe_that_gives_the_slot_back_has_done_what_it_began() -> None:
    text = pair_of_cores(turns("%c8", PUSH), NEAR + "\n" + MANUAL + "\n" + turns("%c8", pop(), COPY, FREE), False)
    assert verdicts(text) == []


@pytest.mark.requirement("XC-09")
def test_a_pop_of_a2a3_copies_its_slot_and_the_copy_must_have_been_read_when_a_later_pop_lands_there() -> None:
    assert verdicts(given_back("MTE3 V", memory=True), chip="a2a3") == []
    for after, expected in (("MTE3 MTE2", Verdict.PROVED), ("MTE3 V", Verdict.REFUTED)):
        found = verdicts(given_back(after, memory=True), "RACE-WAR", "a2a3")
        assert set(found) == {expected}


def _in_nest(after: str, outer: str = "%c2") -> str:
    """The loop of the pops, and that of the pushes, in another loop."""
    inner = "scf.for %i = %c0 to %c8 step %c1 {"
    text = given_back(after, memory=True).replace(inner, f"scf.for %j = %c0 to {outer} step %c1 {{\n{inner}")
    return text.replace("return", "}\nreturn")


@pytest.mark.requirement("XC-09")
@pytest.mark.parametrize("outer", ["%c2", "%n"])
def test_pops_in_a_nest_of_loops_take_the_slots_in_turn(outer: str) -> None:
    for after, expected in (("MTE3 MTE2", Verdict.PROVED), ("MTE3 V", Verdict.REFUTED)):
        assert set(verdicts(_in_nest(after, outer), "RACE-WAR", "a2a3")) == {expected}


@pytest.mark.requirement("XC-09")
@pytest.mark.parametrize(("after", "expected"), [
    ("MTE3 MTE2", {Verdict.PROVED}), ("MTE3 V", {Verdict.REFUTED, Verdict.UNKNOWN})])
def test_a_tile_whose_slot_the_path_decides_may_lie_in_any(after: str, expected: set[Verdict]) -> None:
    """For some sizes each turn pops a second tile. Only the right flag keeps later pops behind a store; without it the
    next tile of another slot is not told from one of the same."""
    text = given_back(after, memory=True).replace(PUSH, f"{PUSH}\n{TAKEN}\n{PUSH}\n}}")
    text = text.replace(FREE, f"{FREE}\n{TAKEN}\n{pop('more')}\n{FREE}\n}}")
    assert set(verdicts(text, "RACE-WAR", "a2a3")) == expected


def test_what_is_not_decided_about_slots_says_so() -> None:
    """The branch is never taken in a run: nothing shows a failure."""
    text = given_back("MTE3 V", 8, "%c8", memory=True)
    text = text.replace(FREE, f"{FREE}\n{TAKEN}\n{pop('more')}\n{FREE}\n}}")
    told = [f.message for f in last(text, "a2a3", ("n <= 8",)).findings if f.rule == "RACE-WAR"]
    assert told and all("which slot the pops of" in message for message in told)


@pytest.mark.parametrize(("between", "found"), [
    (f"{TAKEN}\n{FREE}\n}} else {{\n{FREE}\n}}", [Verdict.REFUTED] * 2),
    (turns("%c1", FREE).replace("%i", "%j"), [Verdict.REFUTED]),
])
def test_a_free_in_a_branch_or_loop_gives_the_tile_of_the_block_around_back(
    between: str, found: list[Verdict]
) -> None:
    assert verdicts(given_back("MTE3 MTE2").replace(FREE, between)) == found


def test_a_free_that_belongs_to_either_of_two_pops_is_unknown() -> None:
    pops = f"{TAKEN}\n{pop('t')}\n}} else {{\n{pop('u')}\n}}"
    text = pair_of_cores(turns("%c8", PUSH), MANUAL + "\n" + turns("%c8", pops, FREE), False)
    assert verdicts(text) == [Verdict.UNKNOWN]


def test_a_credit_stands_for_two_of_four_slots_so_the_first_of_two_frees_tells_nothing() -> None:
    """Each second store is followed by a flag that both stores set: right, but not followed for all runs."""
    text = given_back("MTE3 V", 4)
    one = text[text.index("%t = pto.tpop"):text.index(FREE)]
    bare = "\n".join(line for line in one.splitlines() if "PIPE_MTE3>, <PIPE_V>" not in line)
    first = bare.replace("%at", "%at0").replace("%w", "%w0").replace("%t", "%t0")
    twice = text.replace(one, f"{first}{FREE}\n{one}").replace(PUSH, f"{PUSH}\n{PUSH}")
    assert set(verdicts(twice)) == {Verdict.PROVED}
    assert early(twice, {}) == []


@pytest.mark.requirement("XC-09")
@pytest.mark.parametrize("order", ["program", "late"])
@pytest.mark.parametrize("after", ["MTE3 V", "MTE3 MTE2"])
def test_a_run_tells_of_a_slot_that_is_given_back_early_if_it_is_written_again(after: str, order: str) -> None:
    for slots, tiles in product((1, 2, 4), (1, 2, 3, 5, 6)):
        races = early(given_back(after, slots, "%n"), {"n": tiles}, order)
        assert bool(races) is (after == "MTE3 MTE2" and tiles > slots), (slots, tiles)
        assert {r.first.op.name for r in races} <= {"pto.tstore"}


@pytest.mark.requirement("VF-03")
def test_a_refutation_is_confirmed_by_a_run() -> None:
    module = read(given_back("MTE3 MTE2"), "k.pto")
    (found,) = (f for f in last(given_back("MTE3 MTE2")).findings if f.rule == "RACE-FREE")
    shown = confirm_order(module, "vector", found.rule, {}, target("a5"), line=found.text_line)
    assert shown.startswith("confirmed: write after read: pto.tfree_from_aic")


@pytest.mark.parametrize(("chip", "end", "pipes"), [
    ("a5", "cube", {"MTE1"}), ("a5", "vector", {"V"}), ("a2a3", "cube", set()), ("a2a3", "vector", set())])
def test_each_kind_of_core_gives_slots_back_on_its_own_pipe(chip: str, end: str, pipes: set[str]) -> None:
    """PTO-ISA npu/a5 TPush.hpp; on a2a3 the pop has copied its slot."""
    (func,) = (f for f in read(crossing(FAR), "k.pto").funcs if f.name == end)
    releases = releases_of(build_program(func, "k.pto", chip), target(chip))
    assert {access.pipe for own in releases.values() for access in own} == pipes


def test_the_flag_before_a_free_is_not_redundant() -> None:
    """No load is in sight, so the flag from MTE2 is; V does nothing but give the slot back."""
    func = read(given_back("MTE3 V"), "k.pto").funcs[-1]
    groups = redundant(build_program(func, "k.pto", "a5"), target("a5"), Ladder())
    pairs = {sync.pair for group in groups for sync in group.syncs}
    assert ("MTE2", "MTE3") in pairs and ("MTE3", "V") not in pairs


@pytest.mark.requirement("EV-07")
@pytest.mark.parametrize(("chip", "rule"), [("a5", "RACE-FREE"), ("a2a3", "RACE-WAR")])
def test_what_automatic_sync_inserts_is_proved(chip: str, rule: str) -> None:
    bare = [line for line in given_back("MTE3 V", memory=chip == "a2a3").splitlines() if "_flag" not in line]
    made = insert_sync(read("\n".join(bare), "k.pto"), target(chip))
    options = Options(families=frozenset({"RACE", "EVENT"}), explicit_sync=True)
    found = verify(made, target(chip), options)[-1].obligations
    assert {o.verdict for o in found} == {Verdict.PROVED}
    assert rule in {o.rule for o in found}
