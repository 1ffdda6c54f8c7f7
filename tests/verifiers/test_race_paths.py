"""RACE keeps a few paths apart at one place; what is known along the others is not lost but joined."""

from __future__ import annotations

import pytest

from pypto_verified.index import symbol
from pypto_verified.pto.reader import read as parse
from pypto_verified.report.model import FunctionResult, Verdict
from pypto_verified.targets import target
from tests.verifiers.examples_race import PAIRS, VEC, barrier, both, exp, pipes, read, write
from tests.verifiers.kernels import store, window
from tests.verifiers.race_verdicts import RULES, judge, verdicts_of
from tests.verifiers.test_race_runs import kernel_of
from verifiers import Options, verify
from verifiers.race import flow
from verifiers.race.literals import Literals
from verifiers.race.order import Order
from verifiers.race.paths import MOST_PATHS, Paths, merge
from verifiers.race.remarks import sync_remarks
from verifiers.written import spread


def _path(number: int) -> tuple[Literals, Order]:
    """A path that knows one thing of its own, and on which one access is not complete."""
    order = Order()
    order.live = order.pending[0] = 1 << number
    return frozenset({symbol(f"c{number}", 0, 1) >= 1}), order


def test_paths_beyond_the_most_that_are_kept_apart_become_one_that_knows_nothing() -> None:
    paths: Paths = dict(_path(n) for n in range(MOST_PATHS))
    more = 3
    merge(paths, dict(_path(n) for n in range(MOST_PATHS, MOST_PATHS + more)))
    assert len(paths) == MOST_PATHS + 1
    late = (1 << (MOST_PATHS + more)) - (1 << MOST_PATHS)
    assert paths[frozenset()].live == late
    assert paths[frozenset()].pending[0] == late


@pytest.mark.requirement("VF-01")
@pytest.mark.parametrize("seed", [0, 3, 7, 11, 16, 23])
@pytest.mark.parametrize("steps", [1, 10])
def test_a_walk_that_is_given_up_proves_nothing_and_leaves_nothing_out(
    seed: int, steps: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def pairs(result: FunctionResult) -> dict[tuple[str, str], Verdict]:
        return {(o.rule, o.site): o.verdict for o in result.obligations if o.rule in RULES}

    text = kernel_of(seed, wild=True)
    whole = pairs(judge(text, explicit=True))
    monkeypatch.setattr(flow, "MOST_STEPS", steps)
    given_up = pairs(judge(text, explicit=True))
    assert whole.keys() <= given_up.keys()
    assert Verdict.PROVED not in given_up.values()
    assert {p for p, v in given_up.items() if v is Verdict.REFUTED} == {
        p for p, v in whole.items() if v is Verdict.REFUTED}


@pytest.mark.requirement("VF-01")
@pytest.mark.parametrize("rule", ["RACE-VISIBLE", "RACE-FREE", "RACE-NOTIFY", "EVENT-AGAIN"])
def test_a_walk_that_is_given_up_proves_neither_fences_nor_flags_to_be_right(
    rule: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A failure that a run shows stays one; no run has another device in it."""
    pair = PAIRS[rule]
    monkeypatch.setattr(flow, "MOST_STEPS", 1)
    for text, found in ((pair.good, Verdict.UNKNOWN), (pair.bad, Verdict.REFUTED)):
        options = Options(strict=pair.strict, families=frozenset({"RACE", "EVENT"}))
        *_, result = verify(parse(text, "k.pto"), target(pair.chip), options)
        expected = Verdict.UNKNOWN if rule == "RACE-NOTIFY" else found
        assert {o.verdict for o in result.obligations if o.rule == rule} == {expected}


def test_bytes_of_a_place_that_moves_lie_at_its_places_and_nowhere_else() -> None:
    place = 4 * symbol("i", 0, 2) + 1
    assert spread(place, 0b11) == 0b11 << 1 | 0b11 << 5 | 0b11 << 9
    back = 8 - 4 * symbol("i", 0, 2)
    assert spread(back, 1) == 1 | 1 << 4 | 1 << 8


def _arm(where: str, other: str = "") -> str:
    """Two ops of one pipe on one tile, the second one, or what stands between them, in the arm of n > 8."""
    inner = {"second": (exp("a", "b"),), "nothing": ()}[where]
    after = () if where == "second" else (exp("a", "b"),)
    return pipes(
        read("c"), both("MTE2 V"), exp("c", "a"), "%far = arith.cmpi sgt, %n, %c8 : index", "scf.if %far {", *inner,
        "} else {", other, "}", *after, args="%n: index")


@pytest.mark.requirement("EV-08")
@pytest.mark.parametrize("text", [_arm("second"), _arm("nothing", barrier("V"))])
def test_an_arm_that_no_caller_takes_is_no_path(text: str) -> None:
    """With n up to 5 there is no second op, or always a barrier before it."""
    assert Verdict.REFUTED in verdicts_of(judge(text, explicit=True))
    assert not judge(text, explicit=True, assume=("n <= 5",)).findings
    assert judge(text, explicit=True, assume=("n <= 9",)).findings


@pytest.mark.requirement("EV-08")
@pytest.mark.parametrize(("stop", "at", "races"), [(1, 8, False), (2, 8, True), (4, 0, False), (4, 1, True)])
def test_a_while_loop_that_ends_after_its_first_turn_has_no_second_one(stop: int, at: int, races: bool) -> None:
    """Each turn stores to one place; the numbers go from 0 to below `stop`, or break off behind `at`."""
    text = pipes(
        read("a"), both("MTE2 MTE3"), f"%stop = arith.constant {stop} : index", f"%at = arith.constant {at} : index",
        "%no = arith.constant false", "%yes = arith.constant true",
        "%e, %f = scf.while (%i = %c0, %done = %no) : (index, i1) -> (index, i1) {",
        "%less = arith.cmpi slt, %i, %stop : index", "%on = arith.xori %done, %yes : i1",
        "%both = arith.andi %less, %on : i1", "scf.condition(%both) %i, %done : index, i1", "} do {",
        "^bb0(%j: index, %was: i1):", write("a"), "%is = arith.cmpi eq, %j, %at : index",
        "%now = arith.select %is, %yes, %was : i1", "%more = arith.addi %j, %c1 : index",
        "%next = arith.select %now, %j, %more : index", "scf.yield %next, %now : index, i1", "}")
    found = [f for f in judge(text).findings if f.rule in RULES]
    assert [f.rule for f in found] == ["RACE-WAW"] * races


@pytest.mark.requirement("EV-08")
@pytest.mark.parametrize(("condition", "expected"), [("slt, %n, %c1", set()), ("slt, %n, %c2", {Verdict.REFUTED})])
def test_a_store_of_no_rows_reads_no_tile(condition: str, expected: set[Verdict]) -> None:
    """Nothing orders it after the exp that writes its tile: a row is there with n = 1, none with n = 0."""
    text = pipes(
        read("a"), both("MTE2 V"), f"%u = pto.alloc_tile addr = %a8192 valid_row = %n valid_col = %c64 : {VEC}",
        exp("a", "u"), f"%few = arith.cmpi {condition} : index", "scf.if %few {",
        window("some", "qv", "%c0, %c0", "%n, %c64"), store("u", "some", VEC), "}", args="%n: index")
    assert {f.verdict for f in judge(text).findings if f.rule == "RACE-RAW"} == expected


def test_sync_in_an_arm_that_no_caller_takes_is_noted() -> None:
    """2 * n + 1 = 0 for no n; n - 8 = 0 for one."""
    def noted(condition: str) -> list[str]:
        text = pipes(
            read("c"), both("MTE2 V"), exp("c", "a"), "%twice = arith.muli %n, %c2 : index",
            "%more = arith.addi %twice, %c1 : index",
            "%less = arith.subi %n, %c8 : index", f"%is = arith.cmpi eq, {condition}, %c0 : index", "scf.if %is {",
            barrier("V"), exp("a", "b"), "}", args="%n: index")
        module = parse(text, "k.pto")
        return sync_remarks(module, target("a2a3"), Options(explicit_sync=True))

    assert [r.startswith("redundant sync: barrier V") for r in noted("%more")] == [True]
    assert noted("%less") == []


def _broken_off(rows: int, denied: str = "%both", after: str = "") -> str:
    """Stores of 32 rows, `rows` further down in each turn; numbers go from 0 to below 4 or break off behind 1. `after`:
    at which of the values behind the loop another store is."""
    window_at = 'offsets = [%at_{0}, %c0], sizes = [%c32, %c64] : !pto.tensor_view<?x?xf32> -> '
    view_of = f"%w_{{0}} = pto.partition_view %qv, {window_at}!pto.partition_tensor_view<32x64xf32>"
    behind = (f"%at_b = arith.muli {after}, %rows : index", view_of.format("b"), store("a", "w_b", VEC, "32x64"))
    return pipes(
        read("a"), both("MTE2 MTE3"), f"%rows = arith.constant {rows} : index", "%stop = arith.constant 4 : index",
        "%no = arith.constant false", "%yes = arith.constant true",
        "%e, %f = scf.while (%i = %c0, %done = %no) : (index, i1) -> (index, i1) {",
        "%less = arith.cmpi slt, %i, %stop : index", "%on = arith.xori %done, %yes : i1",
        "%both = arith.andi %less, %on : i1", f"scf.condition({denied}) %i, %done : index, i1", "} do {",
        "^bb0(%j: index, %was: i1):", "%at_t = arith.muli %j, %rows : index", view_of.format("t"),
        store("a", "w_t", VEC, "32x64"), "%is = arith.cmpi eq, %j, %c1 : index",
        "%now = arith.select %is, %yes, %was : i1", "%goes = arith.xori %now, %yes : i1",
        "%next = scf.if %goes -> (index) {", "%more = arith.addi %j, %c1 : index", "scf.yield %more : index",
        "} else {", "scf.yield %j : index", "}", "scf.yield %next, %now : index, i1", "}", *(behind if after else ()))


@pytest.mark.requirement("EV-08")
@pytest.mark.parametrize(("text", "races"), [
    (_broken_off(32), False), (_broken_off(16), True), (_broken_off(32, "%less"), True),
    (_broken_off(32, after="%e"), True)])
def test_numbers_go_up_evenly_until_a_loop_breaks_off(text: str, races: bool) -> None:
    """Stores 16 rows further down overlap; where the flag does not end a loop, its number stays; behind the loop it is
    that of the last turn."""
    found = {f.rule for f in judge(text).findings if f.rule in RULES}
    assert found == ({"RACE-WAW"} if races else set())
