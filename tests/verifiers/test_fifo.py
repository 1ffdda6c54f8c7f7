"""Pipes between cores: counts of both ends for all sizes, slots and their credits."""

from __future__ import annotations

import pytest

from pypto_verified.pto.reader import read
from pypto_verified.report.model import Verdict
from pypto_verified.targets import target
from tests.verifiers.examples_fifo import COPY, FREE, NEAR, PUSH, pair_of_cores, pop, turns
from verifiers import Options, verify

BOTH = pop() + "\n" + FREE
TAKEN = "%q = arith.cmpi sgt, %n, %c8 : index\nscf.if %q {"


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
    guarded = pair_of_cores(f"{TAKEN}\n{PUSH}\n}}", f"{TAKEN}\n{BOTH}\n}}")
    assert verdicts(guarded, "FIFO-POP") == {Verdict.PROVED}
    assert Verdict.PROVED not in verdicts(pair_of_cores(f"{TAKEN}\n{PUSH}\n}}", BOTH), "FIFO-POP")


def test_a_pop_in_both_branches_of_a_value_of_one_end_is_a_pop() -> None:
    own = "%q = arith.cmpi sgt, %w, %c8 : index\nscf.if %q {"

    def popped(*branches: str) -> set[Verdict]:
        cube, vector = pair_of_cores(PUSH, "\n".join((own, *branches))).split("func.func @vector")
        return verdicts(f"{cube}func.func @vector{vector.replace('%n: index', '%w: index')}", "FIFO-POP")

    assert popped(BOTH, "} else {", BOTH, "}") == {Verdict.PROVED}
    assert popped(BOTH, "}") == {Verdict.UNKNOWN}


def _if_positive(made: str, *body: str) -> str:
    return "\n".join((made, "%zero = arith.constant 0.0 : f32", "%q = arith.cmpf ogt, %w, %zero : f32", "scf.if %q {",
                      *body, "}"))


@pytest.mark.requirement("XC-09", "VF-01")
@pytest.mark.parametrize(("here", "there", "expected"), [
    ("%w = pto.load_scalar %gm[%c0] : !pto.ptr<f32> -> f32", "%w = pto.load_scalar %gm[%c1] : !pto.ptr<f32> -> f32",
     Verdict.UNKNOWN),
    ("%w = arith.addf %x, %x : f32", "%w = arith.addf %x, %x : f32", Verdict.PROVED),
    ("%w = arith.addf %x, %x : f32", "%w = arith.addf %y, %x : f32", Verdict.UNKNOWN),
])
def test_a_branch_on_floats_is_one_branch_at_both_ends_only_if_both_compute_it_alike(
    here: str, there: str, expected: Verdict
) -> None:
    """Whatever it is called: what is compared comes from two places, or from the same arguments."""
    text = pair_of_cores(_if_positive(here, PUSH), _if_positive(there, BOTH))
    text = text.replace("%n: index", "%n: index, %x: f32, %y: f32")
    assert verdicts(text, "FIFO-POP") == verdicts(text, "FIFO-DRAIN") == {expected}


def test_a_flag_of_the_caller_is_the_same_at_both_ends() -> None:
    text = pair_of_cores(f"scf.if %q {{\n{PUSH}\n}}", f"scf.if %q {{\n{BOTH}\n}}")
    assert verdicts(text.replace("%n: index", "%n: index, %q: i1"), "FIFO-POP") == {Verdict.PROVED}


@pytest.mark.parametrize(("pushes", "pops", "expected"), [
    ("%b", "%b", Verdict.PROVED), ("%more", "%b", Verdict.PROVED), ("%b", "%more", Verdict.REFUTED),
    ("%b", "%c8", Verdict.REFUTED), ("%c8", "%b", Verdict.UNKNOWN)])
def test_both_ends_of_a_pipe_run_for_one_block(pushes: str, pops: str, expected: Verdict) -> None:
    """Turns that the index of the block counts. Every launch has a block 0; whether it has a ninth is open."""
    block = ("%block = pto.get_block_idx", "%b = arith.index_cast %block : i64 to index",
             "%more = arith.addi %b, %c1 : index")
    text = pair_of_cores("\n".join((*block, turns(pushes, PUSH))), "\n".join((*block, turns(pops, BOTH))))
    assert verdicts(text, "FIFO-POP") == {expected}


@pytest.mark.parametrize(("place", "before", "expected"), [
    ("%c0", "", Verdict.PROVED), ("%c1", "", Verdict.UNKNOWN),
    ("%c0", "%w = arith.constant 1 : i32\npto.store_scalar %w, %gm[%c0] : !pto.ptr<i32>, i32", Verdict.UNKNOWN)])
def test_what_both_ends_read_at_one_place_that_neither_writes_is_one_number(
    place: str, before: str, expected: Verdict
) -> None:
    def times(at: str) -> str:
        return (f"%word = pto.load_scalar %gm[{at}] : !pto.ptr<i32> -> i32\n"
                "%times = arith.index_cast %word : i32 to index")

    text = pair_of_cores("\n".join((times("%c0"), turns("%times", PUSH))),
                         "\n".join((before, times(place), turns("%times", BOTH))), memory=False)
    assert verdicts(text.replace("%gm: !pto.ptr<f32>", "%gm: !pto.ptr<i32>"), "FIFO-POP", "a5") == {expected}


def test_two_pops_that_turn_differently_often_stay_two() -> None:
    text = pair_of_cores(turns("%n", PUSH) + "\n" + turns("%c8", PUSH), turns("%n", BOTH) + "\n" + turns("%c8", BOTH))
    assert verdicts(text, "FIFO-POP") == {Verdict.PROVED}


def test_a_pop_without_any_push_waits_for_ever() -> None:
    assert Verdict.REFUTED in verdicts(pair_of_cores("// nothing", BOTH), "FIFO-POP")


EVEN = "%r = arith.remsi %i, %c2 : index\n%q = arith.cmpi eq, %r, %c0 : index\nscf.if %q {"
LATE = "%q = arith.cmpi sgt, %i, %c2 : index\nscf.if %q {"
FIRST = "%q = arith.cmpi sle, %i, %c2 : index\nscf.if %q {"
SQUARE = "%s = arith.muli %i, %i : index\n%q = arith.cmpi sle, %s, %n : index\nscf.if %q {"


@pytest.mark.requirement("XC-09")
@pytest.mark.parametrize("when", [EVEN, LATE])
@pytest.mark.parametrize("stop", ["%n", "%c8"])
def test_turns_in_which_one_condition_holds_are_as_many_at_both_ends(when: str, stop: str) -> None:
    text = pair_of_cores(turns(stop, when, PUSH, "}"), turns(stop, when, BOTH, "}"))
    assert verdicts(text, "FIFO-POP") == verdicts(text, "FIFO-DRAIN") == {Verdict.PROVED}


@pytest.mark.requirement("XC-09")
@pytest.mark.parametrize(("pushes", "pops", "popped", "drained"), [
    (turns("%c8", EVEN, PUSH, "}"), turns("%c5", BOTH), Verdict.REFUTED, Verdict.PROVED),
    (turns("%c8", EVEN, PUSH, "}"), turns("%c2", turns("%c2", BOTH).replace("%i", "%j")), Verdict.PROVED,
     Verdict.PROVED),
    (turns("%c8", LATE, PUSH, "}"), turns("%c8", EVEN, BOTH, "}"), Verdict.PROVED, Verdict.REFUTED),
    (turns("%n", EVEN, PUSH, "} else {", PUSH, "}"), turns("%n", BOTH), Verdict.PROVED, Verdict.PROVED),
    (turns("%n", PUSH, EVEN, PUSH, "} else {", PUSH, "}"), turns("%n", BOTH, BOTH.replace("%t", "%u")), Verdict.PROVED,
     Verdict.PROVED),
    (turns("%n", EVEN, PUSH, "}"), turns("%n", LATE, BOTH, "}"), Verdict.UNKNOWN, Verdict.UNKNOWN),
    (turns("%n", EVEN, PUSH, "}"), turns("%n", BOTH), Verdict.UNKNOWN, Verdict.PROVED),
    (turns("%n", LATE, "} else {", PUSH, "}"), turns("%n", FIRST, BOTH, "}"), Verdict.PROVED, Verdict.PROVED),
    (turns("%n", SQUARE, PUSH, "}"), turns("%n", BOTH), Verdict.UNKNOWN, Verdict.UNKNOWN),
    (turns("%n", EVEN, PUSH, PUSH, "}"), turns("%n", EVEN, BOTH, BOTH.replace("%t", "%u"), "}"), Verdict.PROVED,
     Verdict.PROVED),
    (turns("%n", turns("%i", PUSH).replace("scf.for %i", "scf.for %j")),
     turns("%n", turns("%i", BOTH).replace("scf.for %i", "scf.for %j")), Verdict.PROVED, Verdict.PROVED),
])
def test_turns_of_a_condition_are_counted_where_they_are_few_or_have_a_closed_form_and_else_equal_or_unknown(
    pushes: str, pops: str, popped: Verdict, drained: Verdict
) -> None:
    """Of eight turns four are even and five come after the third; a push in both branches is one in each turn. Those
    that are even and those after the third are as many for some sizes; one comes before the root of a size or not."""
    text = pair_of_cores(pushes, pops)
    assert (verdicts(text, "FIFO-POP"), verdicts(text, "FIFO-DRAIN")) == ({popped}, {drained})


def test_a_pop_of_a2a3_frees_its_slot_by_itself_unless_read_strictly() -> None:
    text = pair_of_cores(turns("%c8", PUSH), turns("%c8", pop()))
    assert verdicts(text, "FIFO-FREE") == set()
    assert verdicts(text, "FIFO-FREE", strict=True) == {Verdict.REFUTED}
    on_chip = pair_of_cores(turns("%c8", PUSH), turns("%c8", pop()), memory=False)
    assert verdicts(on_chip, "FIFO-FREE", chip="a5") == {Verdict.REFUTED}


@pytest.mark.requirement("XC-09")
@pytest.mark.parametrize(("slots", "tiles", "frees", "expected"), [
    (8, 3, 0, Verdict.PROVED), (8, 3, 2, Verdict.PROVED), (8, 3, 4, Verdict.REFUTED), (8, 4, 0, Verdict.REFUTED),
    (2, 1, 0, Verdict.PROVED), (2, 2, 1, Verdict.REFUTED), (1, 1, 0, Verdict.REFUTED)])
def test_a_free_that_would_have_told_nothing_may_be_left_out(
    slots: int, tiles: int, frees: int, expected: Verdict
) -> None:
    """One credit stands for half of eight slots, for both of two (PTO-ISA TPipe, SyncPeriod)."""
    pops = "\n".join([*(pop(f"t{n}") for n in range(tiles)), *[FREE] * frees])
    text = pair_of_cores("\n".join([PUSH] * tiles), pops, memory=False, slots=slots, reserved=65536)
    assert verdicts(text, "FIFO-FREE", chip="a5") == {expected}


def _in_global_memory(pops: str, tiles: int = 4) -> str:
    """A cube that pushes tiles to slots of a tensor, two of them, and a vector core."""
    view = ("%slots = pto.make_tensor_view %gm, shape = [%c32, %c64], strides = [%c64, %c1] : "
            "!pto.tensor_view<32x64xf32>\n    ")
    text = pair_of_cores("\n".join([PUSH] * tiles), pops)
    for kind in ("aic", "aiv"):
        text = text.replace(f"pto.{kind}_initialize_pipe", f"{view}pto.{kind}_initialize_pipe")
    return text.replace("gm_slot_buffer = %gm : !pto.ptr<f32>", "gm_slot_tensor = %slots : !pto.tensor_view<32x64xf32>")


ENTRY = "!pto.tensor_view<16x64xf32>"
POP_ENTRY = f"%entry = pto.tpop_from_aic {{split = 1}} -> {ENTRY}"
FREE_ENTRY = f"pto.tfree_from_aic(%entry : {ENTRY}) {{split = 1}}"


@pytest.mark.requirement("XC-09")
@pytest.mark.parametrize(("turn", "chip", "expected"), [
    ((pop(),), "a5", {Verdict.PROVED}),
    ((pop(), FREE), "a5", {Verdict.REFUTED}),
    ((pop(), FREE), "a2a3", set()),
    ((POP_ENTRY, FREE_ENTRY), "a5", {Verdict.PROVED}),
    ((POP_ENTRY,), "a5", {Verdict.REFUTED}),
    ((POP_ENTRY, FREE_ENTRY), "a2a3", {Verdict.PROVED}),
    ((POP_ENTRY,), "a2a3", {Verdict.REFUTED}),
])
def test_a_pop_that_copies_a_tile_frees_its_slot_and_one_that_hands_it_out_does_not(
    turn: tuple[str, ...], chip: str, expected: set[Verdict]
) -> None:
    """PTO-ISA TPop.hpp: a tile from global memory is copied, also on a5, where the pop and a free post a credit each;
    on a2a3 the free of a tile does nothing. A tensor is the slot itself."""
    assert verdicts(_in_global_memory(turns("%c8", *turn), 8), "FIFO-FREE", chip) == expected


@pytest.mark.parametrize(("memory", "expected"), [(True, set()), (False, {Verdict.REFUTED})])
def test_a_tile_that_was_copied_may_be_used_after_its_free(memory: bool, expected: set[Verdict]) -> None:
    pops = "\n".join((NEAR, pop(), FREE, COPY))
    text = _in_global_memory(pops, 1) if memory else pair_of_cores(PUSH, pops, memory=False)
    assert verdicts(text, "FIFO-USED", "a5") == expected


@pytest.mark.requirement("XC-02")
@pytest.mark.parametrize(("memory", "chip"), [(True, "a2a3"), (False, "a5")])
@pytest.mark.parametrize(("tiles", "expected"), [("%c2", Verdict.PROVED), ("%c3", Verdict.REFUTED)])
def test_a_buffer_may_be_smaller_than_a_ring_of_which_few_slots_are_used(
    tiles: str, expected: Verdict, memory: bool, chip: str
) -> None:
    """Eight slots in the memory of two: the third tile is written behind it."""
    three = "%c3 = arith.constant 3 : index"
    text = pair_of_cores(f"{three}\n{turns(tiles, PUSH)}", f"{three}\n{turns(tiles, BOTH)}", memory, slots=8,
                         reserved=16384)
    assert verdicts(text, "FIFO-RING", chip=chip) == {expected}


@pytest.mark.requirement("XC-02")
@pytest.mark.parametrize(("tiles", "slots", "expected"), [
    (1, 2, Verdict.PROVED), (2, 2, Verdict.REFUTED), (1, 1, Verdict.REFUTED)])
def test_a_tile_larger_than_its_slot_harms_nothing_where_it_is_the_only_one(
    tiles: int, slots: int, expected: Verdict
) -> None:
    """A tile of 8192 bytes in slots of 4096."""
    pops = "\n".join(f"{pop(f't{n}')}\n{FREE}" for n in range(tiles))
    text = pair_of_cores("\n".join([PUSH] * tiles), pops, slots=slots, slot_size=4096)
    assert verdicts(text, "FIFO-SLOT") == {expected}
