"""FIFO-CREDIT: a free posts the credit of the tile that was popped last, not of the one that it is meant for."""

from __future__ import annotations

import numpy as np
import pytest

from pypto_verified.pto.reader import read
from pypto_verified.report.model import Verdict
from pypto_verified.simulator import schedule
from pypto_verified.simulator.schedule.confirm import confirm_order
from pypto_verified.simulator.schedule.faults import CounterError
from pypto_verified.targets import target
from tests.verifiers.examples_fifo import FREE, HALF, PUSH, SIZE, pair_of_cores, pop, turns
from tests.verifiers.examples_split import ACC, MAT, core
from tests.verifiers.kernels import alloc, check, fill, tile
from tests.verifiers.test_fifo import FREE_ENTRY, POP_ENTRY, _in_global_memory, verdicts

PROVED, REFUTED, UNKNOWN = Verdict.PROVED, Verdict.REFUTED, Verdict.UNKNOWN
ONE = pop("one") + "\n" + FREE
TWO = "\n".join((pop("t"), pop("u"), FREE, FREE))
THREE = "\n".join((pop("t"), pop("u"), pop("v"), FREE, FREE, FREE))
DATA = "%word = pto.load_scalar %gm[%i] : !pto.ptr<f32> -> f32\n%some = arith.cmpf ogt, %word, %word : f32"


def judged(pops: str, slots: int) -> set[Verdict]:
    """The vector core of a pipe on the chip; the cube's text does not matter."""
    return verdicts(pair_of_cores("// elsewhere", pops, memory=False, slots=slots), "FIFO-CREDIT", "a5")


@pytest.mark.requirement("XC-09")
@pytest.mark.parametrize(("slots", "expected"), [(1, REFUTED), (2, REFUTED), (3, PROVED), (4, REFUTED), (8, REFUTED)])
def test_two_tiles_that_are_out_at_once_have_their_credit_posted_twice(slots: int, expected: Verdict) -> None:
    """A credit stands for 1, 2, 1, 2 and 4 tiles (PTO-ISA TPipe, SyncPeriod): where it is one, each free posts it.
    Of one slot the second tile waits for the free of the first."""
    assert judged(turns("%n", TWO), slots) == {expected}
    assert judged(turns("%n", pop(), FREE, pop("u"), FREE), slots) == {PROVED}


@pytest.mark.parametrize(("pops", "slots", "expected"), [
    # The first two of four tiles have no credit, whichever of them a free goes by.
    ((TWO, turns("%n", ONE)), 8, PROVED), ((TWO, turns("%n", ONE)), 2, REFUTED),
    # The third tile ends no period of two: no free posts anything.
    ((THREE,), 4, REFUTED), ((THREE,), 8, PROVED),
    # One tile is popped ahead: the last two frees go by the last tile.
    ((pop("z"), turns("%n", ONE), FREE), 4, REFUTED), ((pop("z"), turns("%n", ONE), FREE), 3, PROVED),
    # Each tile is freed in the block that pops it.
    ((turns("%n", "%q = arith.cmpi sgt, %i, %c8 : index\nscf.if %q {", ONE, "} else {", pop("u"), FREE, "}"),), 2,
     PROVED),
    # What is read decides whether two are out.
    ((turns("%n", DATA, "scf.if %some {", TWO, "} else {", pop("x"), FREE, pop("y"), FREE, "}"),), 2, UNKNOWN),
])
def test_what_is_out_counts_where_a_credit_is_due(pops: tuple[str, ...], slots: int, expected: Verdict) -> None:
    assert judged("\n".join(pops), slots) == {expected}


def test_the_message_tells_when_the_producer_is_too_far_ahead() -> None:
    def found(pops: str) -> str:
        text = pair_of_cores("// elsewhere", pops, memory=False, slots=4)
        return next(f.message for f in check(text, chip="a5", families="FIFO").findings if f.rule == "FIFO-CREDIT")

    assert "after 2 tiles they have posted 2 credits of 2 tiles each: the producer writes over" in found(
        turns("%n", TWO))
    assert "after 3 tiles they have posted 0 credits of 2 tiles each, and 1 are due" in found(THREE)
    assert "the push of the next tile, which is waited for, needs 2: both ends wait for ever" in found(
        turns("%n", THREE + "\n" + ONE))


@pytest.mark.parametrize(("chip", "expected"), [("a2a3", REFUTED), ("a5", REFUTED)])
def test_slots_of_global_memory_that_are_handed_out_are_given_back_so(chip: str, expected: Verdict) -> None:
    two = "\n".join((POP_ENTRY, POP_ENTRY.replace("%entry", "%other"), FREE_ENTRY, FREE_ENTRY))
    assert verdicts(_in_global_memory(turns("%c2", two)), "FIFO-CREDIT", chip) == {expected}
    assert verdicts(_in_global_memory(turns("%c4", POP_ENTRY, FREE_ENTRY).replace("%c4", "%c8"), 8), "FIFO-CREDIT",
                    chip) == {PROVED}


def test_tiles_that_are_copied_out_of_their_slots_have_no_say() -> None:
    assert verdicts(pair_of_cores(turns("%n", PUSH, PUSH), turns("%n", TWO)), "FIFO-CREDIT", "a2a3") == set()


# The counter of a pipe's flag

@pytest.mark.requirement("XC-09")
@pytest.mark.parametrize(("slots", "tiles", "expected"), [
    (8, "%c32", PROVED), (14, "%c32", PROVED), (16, "%c32", REFUTED), (16, "%c15", PROVED), (16, "%c16", REFUTED),
    (32, "%n", REFUTED)])
def test_a_flag_counts_fifteen_tiles(slots: int, tiles: str, expected: Verdict) -> None:
    """One more than four bits hold, if the lanes are late; credits let as many wait as there are slots."""
    turn = pop() + "\n" + FREE
    text = pair_of_cores(turns(tiles, PUSH), turns(tiles, turn), slots=slots, reserved=262144, last="cube")
    module, chip = read(text, "k.pto"), target("a2a3")
    assert verdicts(text, "FIFO-COUNTER") == {expected}
    found = [f for f in check(text, families="FIFO").findings if f.rule == "FIFO-COUNTER"]
    for f in found:
        seen = confirm_order(module, "cube", f.rule, dict(f.witness), chip)
        assert seen.startswith("confirmed: ") and "the counter of a pipe exceeds 15" in seen
    late = schedule.replay(module, "cube", {"n": 20}, chip, schedule="late")
    assert not any(isinstance(e, CounterError) for e in late.errors) or expected is REFUTED


# What a run shows

_WHOLE, _PART = "!pto.tensor_view<32x64xf32>", "!pto.tensor_view<16x64xf32>"


def _entries(pops: str, slots: int) -> str:
    """Lanes that write two tiles a turn into slots of global memory, and a cube that pops these slots."""
    def pipe(kind: str, rows: int, type_: str) -> str:
        return (f"%slots = pto.make_tensor_view %gm, shape = [%c{rows}, %c64], strides = [%c64, %c1] : {type_}\n"
                f"pto.{kind}_initialize_pipe {{dir_mask = 2, slot_size = 8192, slot_num = {slots}}} "
                f"(gm_slot_tensor = %slots : {type_})")

    push = "\n".join((
        f"%e = pto.talloc_to_aic {{split = 1}} -> {_PART}", _window("e", 16, _PART),
        f"pto.tstore ins(%o : {HALF}) outs(%w_e : !pto.partition_tensor_view<16x64xf32>)",
        f"pto.tpush_to_aic(%e : {_PART}) {{split = 1}}"))
    vector = core("k_aiv", "vector", pipe("aiv", 16, _PART), alloc("o", HALF, 0, "c16", "c64"),
                  "%one = arith.constant 1.0 : f32", fill("o", HALF), "pto.barrier <PIPE_ALL>",
                  turns("%n", push, push.replace("%e", "%f").replace("%w_e", "%w_f")), args=SIZE)
    cube = core("k_aic", "cube", pipe("aic", 32, _WHOLE), alloc("m", MAT, 0, "c32", "c64"), turns("%n", pops),
                args=SIZE)
    return f"module {{\n{cube}{vector}}}\n"


def _window(of: str, rows: int, type_: str) -> str:
    return (f"%w_{of} = pto.partition_view %{of}, offsets = [%c0, %c0], sizes = [%c{rows}, %c64] : {type_} -> "
            f"!pto.partition_tensor_view<{rows}x64xf32>")


def _taken(*order: str) -> str:
    """Pops (`x+`) slots, loads them (`x`) and gives them back (`x-`)."""
    lines: list[str] = []
    for name in order:
        if name.endswith("+"):
            lines += [f"%{name[0]} = pto.tpop_from_aiv {{split = 1}} -> {_WHOLE}", _window(name[0], 32, _WHOLE)]
        elif name.endswith("-"):
            lines += ["pto.barrier <PIPE_ALL>", f"pto.tfree_from_aiv(%{name[0]} : {_WHOLE}) {{split = 1}}"]
        else:
            lines.append(f"pto.tload ins(%w_{name} : !pto.partition_tensor_view<32x64xf32>) outs(%m : {MAT})")
    return "\n".join(lines)


@pytest.mark.requirement("XC-09")
@pytest.mark.parametrize("slots", [1, 2, 3, 4, 8])
@pytest.mark.parametrize("order", [("a+", "a", "a-", "b+", "b", "b-"), ("a+", "b+", "a", "b", "a-", "b-")])
def test_a_run_shows_what_is_written_over_or_waits_for_ever(slots: int, order: tuple[str, ...]) -> None:
    text = _entries(_taken(*order), slots)
    module, gm = read(text, "k.pto"), np.zeros(32768, np.float32)
    runs = [schedule.run(module, target("a2a3"), {"gm": gm}, {"n": 8}, function="k_aic", schedule=way, seed=seed)
            for way, seed in (("program", 0), ("late", 0), ("eager", 0), ("random", 1), ("random", 2))]
    assert not any(r.errors for r in runs)
    races = {(x.first.op.name, x.second.op.name) for r in runs for x in r.races if x.first.core != x.second.core}
    wrong = bool(races) or any(r.deadlock for r in runs)
    assert wrong is (order[1] == "b+" and slots != 3)
    assert verdicts(text, "FIFO-CREDIT", "a2a3") == {REFUTED if wrong else PROVED}


# Two rings

NZ = tile(16, 64, blayout="col_major", slayout="row_major")
GIVE = f"pto.tpush_to_aiv(%c : {ACC}) {{id = 0, split = 1}}"
RETURN = f"pto.tpush_to_aic(%o : {NZ}) {{id = 1, split = 1}}"
FREED = "pto.tfree_from_aic {id = 0, split = 1}"


def _taken_there(name: str) -> str:
    return pop(name).replace("{split", "{id = 0, split")


def _taken_back(name: str) -> str:
    return (f"%{name} = pto.tpop_from_aiv(%c32, %c64) {{id = 1, split = 1}} -> {MAT}\n"
            "pto.tfree_from_aiv {id = 1, split = 1}")


def _pipe(kind: str, name: str, peer: str) -> str:
    """One slot on the chip: of 'there' in the memory of the vector core, of 'back' in that of the cube."""
    there = name == "there"
    own = kind == ("aiv" if there else "aic")
    space = "vec" if there else "mat"
    buffer = (
        f'pto.reserve_buffer {{name = "{name}", size = 8192, location = #pto.address_space<{space}>, auto = false, '
        "base = 0}" if own else
        f'pto.import_reserved_buffer {{name = "{name}", peer_func = @{peer}}}')
    ends = ("%there", "%none") if there else ("%none", "%back")
    return (f"%{name} = {buffer} -> i32\npto.{kind}_initialize_pipe {{id = {0 if there else 1}, dir_mask = "
            f"{1 if there else 2}, slot_size = 8192, slot_num = 1}} (c2v_consumer_buf = {ends[0]} : i32, "
            f"v2c_consumer_buf = {ends[1]} : i32)")


def _there_and_back(*vector: str) -> str:
    """A cube that pushes two tiles a turn and then pops two."""
    def both_pipes(kind: str, peer: str) -> str:
        return "\n".join(_pipe(kind, name, peer) for name in ("there", "back"))

    cube = core(
        "cube", "cube", both_pipes("aic", "vector"), alloc("c", ACC, 0, "c32", "c64"),
        turns("%n", GIVE, GIVE, _taken_back("x"), _taken_back("y")), args=SIZE)
    lanes = core(
        "vector", "vector", both_pipes("aiv", "cube"), "%high = arith.constant 65536 : i64",
        alloc("o", NZ, "high", "c16", "c64"), turns("%n", *vector), args=SIZE)
    return f"module {{\n{cube}{lanes}}}\n"


@pytest.mark.requirement("XC-09")
@pytest.mark.parametrize(("vector", "expected"), [
    ((_taken_there("t"), FREED, RETURN, _taken_there("u"), FREED, RETURN), {PROVED}),
    ((_taken_there("t"), FREED, RETURN, RETURN, _taken_there("u"), FREED), {PROVED}),
    ((_taken_there("t"), RETURN, RETURN, FREED, _taken_there("u"), FREED), {UNKNOWN}),
    ((_taken_there("t"), RETURN, FREED, _taken_there("u"), FREED, RETURN), {PROVED}),
])
def test_a_slot_on_the_chip_is_free_when_its_tile_is_freed(vector: tuple[str, ...], expected: set[Verdict]) -> None:
    """The cube pushes its second tile when the first is freed. Where the lanes first return two tiles, of which the
    cube takes none before it has pushed, both wait. Which pipes that holds back is open (on a5 a pop holds one)."""
    text = _there_and_back(*vector)
    assert verdicts(text, "FIFO-POP", "a5") == expected
    assert verdicts(text, "FIFO-CREDIT", "a5") == {PROVED}
