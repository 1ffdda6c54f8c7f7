"""Flags between cores that may go: each note beside the kernel without them, and each flag without a note beside what
it is for."""

from __future__ import annotations

import re

import pytest

from pypto_verified.pto.reader import read
from pypto_verified.report.model import Verdict
from pypto_verified.targets import target
from tests.verifiers.examples_event import flag
from tests.verifiers.examples_fifo import FREE, PUSH, pair_of_cores, pop
from tests.verifiers.kernels import kernel
from tests.verifiers.test_both_sides import ACC, LOAD, STORE, VEC, crossing, random_kernels, when
from tests.verifiers.test_cores_wait import Lines, heard, told, turns
from verifiers import Options, verify
from verifiers.race.remarks import sync_remarks

PROVED, REFUTED = Verdict.PROVED, Verdict.REFUTED
ASK, ANSWER = heard(5, "FIX"), told(5, "MTE2")
SIZES = ("M >= 0", "N >= 0")
SAVE = STORE.replace("%acc", "%t").replace("%cw", "%vw").replace(ACC, VEC)
"""A vector core's store to the window."""


def notes(text: str, chip: str = "a2a3", explicit: bool = True) -> list[str]:
    found = sync_remarks(read(text, "k.pto"), target(chip), Options(assume=SIZES, explicit_sync=explicit))
    return [note for note in found if note.startswith("redundan")]


def named(text: str, chip: str = "a2a3") -> set[int]:
    """The ids of the flags between cores that are called redundant."""
    return {int(i) for note in notes(text, chip) for i in re.findall(r"flag (\d+) ", note)}


def holds(text: str, chip: str = "a2a3") -> bool:
    options = Options(families=frozenset({"EVENT", "RACE"}), explicit_sync=True, assume=SIZES)
    return all(o.verdict is PROVED for r in verify(read(text, "k.pto"), target(chip), options) for o in r.obligations)


def without(text: str, id: int) -> str:
    """The kernel without the sets and waits of a flag, its second lane's too."""
    ids = f"(?:{id}|{id + 16})"
    return "".join(
        line for line in text.splitlines(True) if not re.search(rf"(?:sync\.|_block).*<PIPE_\w+>, {ids}$", line))


def of_lanes(text: str) -> str:
    """The same with flags within a block of a5: a cube names each lane's."""
    named = text.replace("sync.set #pto.pipe", "set_intra_block #pto.pipe").replace(
        "sync.wait #pto.pipe", "wait_intra_block #pto.pipe")
    first, end, last = named.partition("pto.section.vector")
    second = re.sub(r"( *pto\.\w+_intra_block .*>), (\d+)", lambda m: f"{m[0]}\n{m[1]}, {int(m[2]) + 16}", first)
    return second + end + last


KERNELS: dict[str, tuple[Lines, Lines, set[int]]] = {
    "needed": ((STORE, told(3)), (heard(3), LOAD), set()),
    "either of two": ((STORE, told(3), told(4)), (heard(3), heard(4), LOAD), {3, 4}),
    "before the store": ((told(4), STORE, told(3)), (heard(4), heard(3), LOAD), {4}),
    "after the load": ((STORE, told(3), ASK), (heard(3), LOAD, ANSWER), {5}),
    "nothing to order": ((told(3), ASK), (heard(3), ANSWER), {3, 5}),
    "each turn answers": (turns("M", STORE, told(3), ASK), turns("M", heard(3), LOAD, ANSWER), set()),
    "twice a turn": (
        turns("M", STORE, told(3), told(4), ASK), turns("M", heard(3), heard(4), LOAD, ANSWER), {3, 4}),
    "on one path": ((*when("%M sgt %c4", STORE, told(3)), told(4)), (*when("%M sgt %c4", heard(3), LOAD), heard(4)),
                    {4}),
    "an answer that a counter needs": (turns("M", told(3), ASK), turns("M", heard(3), ANSWER), set()),
}


@pytest.mark.requirement("EV-08")
@pytest.mark.parametrize("chip", ["a2a3", "a5"])
@pytest.mark.parametrize("name", KERNELS)
def test_a_flag_has_a_note_exactly_if_the_kernel_holds_without_it(name: str, chip: str) -> None:
    cube, vector, spare = KERNELS[name]
    for text in (crossing(cube, vector), *([of_lanes(crossing(cube, vector))] if chip == "a5" else [])):
        assert holds(text, chip)
        assert {id for id in (3, 4, 5) if without(text, id) != text and holds(without(text, id), chip)} == spare
        assert named(text, chip) == spare


@pytest.mark.requirement("EV-08")
@pytest.mark.parametrize(("chip", "spare"), [("a2a3", set()), ("a5", {3, 5})])
def test_a_flag_that_orders_a_cores_own_stores_is_needed(chip: str, spare: set[int]) -> None:
    """The answer comes back after the first store; on a5 the stores of FIX are in order anyway."""
    text = crossing((STORE, told(3), ASK, STORE), (heard(3), ANSWER))
    assert holds(text, chip) and holds(without(text, 3), chip) is bool(spare)
    assert named(text, chip) == spare


def test_a_note_tells_lines_and_cost() -> None:
    text = crossing(turns("M", STORE, told(3), told(4), ASK), turns("M", heard(3), heard(4), LOAD, ANSWER))
    lines = [n for n, line in enumerate(text.splitlines(), 1) if line.endswith(("<PIPE_FIX>, 3", "<PIPE_MTE2>, 3"))]
    assert notes(text)[0] == (
        f"redundant sync: flag 3 of the cube core (line {lines[0]} and {lines[1]}) orders nothing that is not ordered "
        "anyway; it runs in each iteration, and its wait holds back a whole core")


def test_one_set_of_several_may_go_with_its_wait() -> None:
    """The second use of flag 3 tells of nothing new."""
    text = crossing((STORE, told(3), told(3)), (heard(3), LOAD, heard(3)))
    (note,) = notes(text)
    first, second = (
        [n for n, line in enumerate(text.splitlines(), 1) if f"<PIPE_{pipe}>, 3" in line] for pipe in ("FIX", "MTE2"))
    assert f"(line {first[1]} and {second[1]})" in note


@pytest.mark.requirement("EV-08")
@pytest.mark.parametrize("chip", ["a2a3", "a5"])
@pytest.mark.parametrize("count", [8, pytest.param(60, marks=pytest.mark.nightly)])
def test_what_is_called_redundant_can_go_and_what_breaks_a_kernel_is_not(count: int, chip: str) -> None:
    seen = 0
    for seed, text in random_kernels(count):
        found = [note for note in notes(text, chip) if "redundant sync" in note]
        assert holds(text, chip) or not found, seed
        for note in found:
            (gone,) = re.findall(r"\(line ([^)]*)\)", note)
            numbers = {int(n) for n in gone.split(" and ")}
            rest = (line for n, line in enumerate(text.splitlines(True), 1) if n not in numbers)
            assert holds("".join(rest), chip), (seed, note)
            seen += 1
    assert seen


def test_a_flag_within_a_core_may_be_for_the_other_core() -> None:
    """The store of MTE3 is told by V, which waits for it first; to the core itself that is of no use."""
    hand = (flag("set", 0, "MTE3 V"), flag("wait", 0, "MTE3 V"))
    stored = (SAVE, *hand, told(5, "V"))
    text = crossing((ASK, STORE), stored)
    assert holds(text) and notes(text) == []
    assert not holds(text.replace("\n".join(f"    {line}" for line in hand) + "\n", ""))
    (note,) = notes(crossing((ASK,), (*stored[:-1], told(5, "MTE3"))).replace(ASK, f"{ASK}\n{STORE}"))
    assert "flag MTE3 -> V" in note


def test_without_the_text_of_the_other_core_nothing_is_called_redundant() -> None:
    body = "\n".join((flag("set", 0, "MTE3 V"), flag("wait", 0, "MTE3 V"), told(5, "V")))
    (note,) = notes(kernel(body))
    assert note == ("redundancy not examined: k: what it tells another core is for a text that is not at hand")


@pytest.mark.parametrize(("extra", "expected"), [((), {4}), (
    ("%word = arith.constant 1 : i32",
     "%sv = pto.make_tensor_view %s, shape = [%c1], strides = [%c1] : !pto.tensor_view<1xi32>",
     "%sw = pto.partition_view %sv, offsets = [%c0], sizes = [%c1] : !pto.tensor_view<1xi32> -> "
     "!pto.partition_tensor_view<1xi32>",
     "pto.comm.tnotify(%sw, %word : !pto.partition_tensor_view<1xi32>, i32) {notifyOp = #pto<notify_op set>}"), set())])
def test_where_other_devices_hear_of_the_data_flags_are_left_alone(extra: Lines, expected: set[int]) -> None:
    text = crossing((STORE, told(3), told(4)), (heard(3), LOAD, heard(4), *extra))
    assert named(text.replace("%q: !pto.ptr<f32>", "%q: !pto.ptr<f32>, %s: !pto.ptr<i32>")) == expected


def test_a_cube_of_a5_that_writes_its_vector_cores_memory_needs_its_flags() -> None:
    """The accumulator goes to UB; what follows the flag reads it there."""
    move = f"pto.tmov ins(%acc : {ACC}) outs(%u : {VEC})"
    shared = f"%u = pto.alloc_tile addr = %a0 valid_row = %c16 valid_col = %c16 : {VEC}"
    text = crossing((shared, move, told(3)), (heard(3), SAVE))
    assert named(text, "a5") == set()


@pytest.mark.parametrize("last", ["cube", "vector"])
def test_a_kernel_of_two_functions_has_each_note_once(last: str) -> None:
    """The pipe orders all there is; the flag after its tile says nothing new."""
    text = pair_of_cores(f"{PUSH}\n{told(9)}", f"{pop()}\n{FREE}\n{heard(9)}", last=last)
    options = Options(families=frozenset({"EVENT", "RACE"}), assume=("n >= 0",))
    assert all(r.verdict is PROVED for r in verify(read(text, "k.pto"), target("a2a3"), options))
    lines = [
        next(n for n, line in enumerate(text.splitlines(), 1) if f"sync.{what} " in line) for what in ("set", "wait")]
    (note,) = notes(text, explicit=False)
    assert note.startswith(f"redundant sync: flag 9 of the cube core (line {lines[0]} and {lines[1]}) orders nothing")
