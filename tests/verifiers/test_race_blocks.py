"""RACE-BLOCK: what one block writes and another one reads, with a run of two blocks beside each verdict."""

from __future__ import annotations

import pytest

from pypto_verified.pto.reader import read
from pypto_verified.report.model import Verdict
from pypto_verified.simulator import schedule
from pypto_verified.simulator.schedule.confirm import confirm_order
from pypto_verified.targets import target
from tests.verifiers.examples_blocks import ALL, BY_DATA, HALVES, TILE, blocks, get, meeting, put
from tests.verifiers.kernels import check, fill, verdicts
from verifiers import Options, verify
from verifiers.options import Launch

CLEAN = "pto.cmo.cacheinvalid all #pto.address_space<gm>"
PROVED, REFUTED, UNKNOWN = Verdict.PROVED, Verdict.REFUTED, Verdict.UNKNOWN
WHOLE = ("block_num == 48",)
ADD = " {atomicType = #pto<atomic_type atomic_add>}"


def again(access: str) -> str:
    """The same load or store, once more in a text."""
    return access.replace("%to_", "%again_to_").replace("%from_", "%again_from_")


def meet(text: str) -> bool:
    """Whether two blocks race in some run of the first two blocks, on a chip that they fill."""
    for order in ("program", "late", "eager", "random"):
        run = schedule.replay(read(text, "k.pto"), "k", {}, target("a2a3"), schedule=order, blocks=(0, 1))
        if any(r.first.core != r.second.core for r in run.races):
            return True
    return False


@pytest.mark.parametrize(("body", "expected"), [
    ((put("mine"), meeting(), get("next"), again(put("mine"))), {PROVED, REFUTED}),
    ((put("mine"), meeting(), get("next"), meeting(), again(put("mine"))), {PROVED}),
    ((get("next"), meeting(), put("mine"), again(get("next"))), {PROVED, REFUTED}),
    ((put("mine"), meeting(), "scf.for %i = %c0 to %c2 step %c1 {", get("next"), again(put("mine")), "}"),
     {PROVED, REFUTED}),
    ((put("c0"), get("mine", "qv"), again(put("c0"))), {PROVED, REFUTED}),
])
def test_the_same_place_once_more_on_the_other_side_of_a_barrier(
    body: tuple[str, ...], expected: set[Verdict]
) -> None:
    """One pair of accesses with a barrier between them does not stand for another one without."""
    text = blocks(*body)
    assert verdicts(check(text, families="RACE", assume=WHOLE), "RACE-BLOCK") == expected
    assert meet(text) is (REFUTED in expected)


@pytest.mark.requirement("EV-06")
@pytest.mark.parametrize(("body", "expected"), [
    ((put("mine"), get("mine")), {PROVED}),
    ((put("mine"), get("next"), put("mine", "qv")), {REFUTED}),
    ((get("next"), put("mine")), {REFUTED}),
    ((put("mine"), meeting(), get("next")), {PROVED}),
    ((meeting(), put("mine"), get("next")), {REFUTED}),
    ((get("next"), meeting(), put("mine"), meeting()), {PROVED}),
    ((get("next", "qv"), put("mine")), set()), ((put("mine"),), set()),
    ((put("mine"), put("next")), {REFUTED}),
    ((get("c0"), put("mine")), {REFUTED}),
])
def test_blocks_share_only_what_a_barrier_stands_between(body: tuple[str, ...], expected: set[Verdict]) -> None:
    text = blocks(*body)
    result = check(text, families="RACE", assume=WHOLE)
    assert verdicts(result, "RACE-BLOCK") == expected
    assert meet(text) is (REFUTED in expected)
    for f in (f for f in result.findings if f.rule == "RACE-BLOCK"):
        site = f.site.rpartition(" line ")[2]
        seen = confirm_order(read(text, "k.pto"), "k", f.rule, dict(f.witness), target("a2a3"),
                             line=f.text_line or 0, first=int(site.split()[0]))
        assert seen.startswith("confirmed: ") and "block 0" in seen and "block 1" in seen


def test_what_two_blocks_add_to_is_no_conflict_of_theirs() -> None:
    both = blocks(put("mine", attrs=ADD), put("next", attrs=ADD))
    assert verdicts(check(both, families="RACE"), "RACE-BLOCK") == set()
    assert REFUTED in verdicts(
        check(blocks(put("mine", attrs=ADD), get("next")), families="RACE"), "RACE-BLOCK")


@pytest.mark.parametrize(("by", "expected"), [("%many", {PROVED}), ("%c1", {REFUTED, PROVED})])
def test_blocks_that_take_turns_have_rows_of_their_own(by: str, expected: set[Verdict]) -> None:
    """From its own index on, in steps of their number; in steps of one they walk over each other's rows."""
    text = blocks(f"scf.for %i = %block to %c16 step {by} {{", "%row = arith.muli %i, %c16 : index",
                  get("row"), put("row"), "}")
    assert verdicts(check(text, families="RACE"), "RACE-BLOCK") <= expected
    assert meet(text) is (REFUTED in expected)


def test_a_barrier_in_a_loop_is_not_followed() -> None:
    text = blocks("scf.for %i = %c0 to %c4 step %c1 {", put("mine"), meeting(), get("next"), meeting(), "}")
    result = check(text, families="RACE", assume=WHOLE)
    assert verdicts(result, "RACE-BLOCK") == {UNKNOWN}
    assert any("whether syncall at line" in f.message for f in result.findings)
    assert not meet(text)


@pytest.mark.parametrize("blocks_", [1, 2])
def test_a_launch_of_one_block_has_no_other(blocks_: int) -> None:
    launches = {"k": (Launch(blocks_, True, 1),)}
    options = Options(families=frozenset({"RACE"}), launches=launches)
    (result,) = verify(read(blocks(get("next"), put("mine")), "k.pto"), target("a2a3"), options)
    assert verdicts(result, "RACE-BLOCK") == ({REFUTED} if blocks_ == 2 else set())


def test_where_data_say_what_blocks_use_they_are_taken_to_be_apart() -> None:
    """Unless they are apart whatever the data say: what is moved by as much in all blocks."""
    text = blocks(*BY_DATA)
    result = check(text, families="RACE")
    assert verdicts(result, "RACE-BLOCK") == {PROVED}
    assert any("BLOCKS-DATA" in o.assumptions for o in result.obligations)
    assert UNKNOWN in verdicts(check(text, families="RACE", strict=True), "RACE-BLOCK")
    moved = blocks("%row = arith.addi %mine, %M : index", get("row"), put("row"), args="%M: index")
    result = check(moved, families="RACE", strict=True)
    assert verdicts(result, "RACE-BLOCK") == {PROVED}
    assert not any("BLOCKS-DATA" in o.assumptions for o in result.obligations)


@pytest.mark.parametrize("body", [(put("c0"),), (put("c0"), get("c16")), (put("c16"), put("c0"))])
def test_what_the_index_of_the_block_does_not_tell_is_taken_for_harmless(body: tuple[str, ...]) -> None:
    """All blocks store to one place, the same for all that is known."""
    text = blocks(*body, get("mine", "qv"))
    result = check(text, families="RACE")
    assert verdicts(result, "RACE-BLOCK") == {PROVED}
    assert any("BLOCKS-DATA" in o.assumptions for o in result.obligations)
    assert UNKNOWN in verdicts(check(text, families="RACE", strict=True), "RACE-BLOCK")


SHARE = ("%share = arith.divsi %c512, %many : index", "%row = arith.muli %block, %share : index")
"""512 rows for all blocks."""


@pytest.mark.parametrize(("many", "expected"), [(2, PROVED), (32, PROVED), (48, REFUTED)])
def test_as_many_blocks_as_are_launched_share_the_rows(many: int, expected: Verdict) -> None:
    """Each of 48 blocks has ten rows, and writes sixteen."""
    text = blocks(*SHARE, get("row"), put("row"))
    told = {"k": (Launch(many, True, 1),)}
    for options in (Options(assume=(f"block_num == {many}",)), Options(launches=told)):
        (result,) = verify(read(text, "k.pto"), target("a2a3"), options)
        assert verdicts(result, "RACE-BLOCK") == verdicts(result, "WRITE-TWICE") == {expected}
    assert verdicts(check(text), "RACE-BLOCK") == {PROVED}
    several = {"k": (*told["k"], Launch(2, True, 9))}
    (result,) = verify(read(text, "k.pto"), target("a2a3"), Options(launches=several))
    assert verdicts(result, "RACE-BLOCK") == {PROVED, expected}
    for f in (f for f in result.findings if f.rule == "RACE-BLOCK"):
        seen = confirm_order(read(text, "k.pto"), "k", f.rule, dict(f.witness), target("a2a3"), line=f.text_line or 0,
                             first=int(f.site.rpartition(" line ")[2].split()[0]))
        assert seen.startswith("confirmed: ")


def by(factor: str, *more: str) -> str:
    """A store to 16 rows from `block * factor + M` on."""
    return blocks(
        f"%part = arith.muli %block, {factor} : index", "%row = arith.addi %part, %M : index", put("row"), *more,
        args="%M: index")


@pytest.mark.parametrize(("text", "expected", "assumed"), [
    (by("%c16"), PROVED, False), (by("%c8"), REFUTED, False), (by("%M"), PROVED, True),
    (by("%c16", "%last = arith.addi %next, %M : index", get("last")), REFUTED, False),
    (by("%c16", "%last = arith.addi %next, %c8 : index", get("last")), PROVED, True),
])
def test_what_callers_pass_does_not_excuse_blocks_that_meet_whatever_it_is(
    text: str, expected: Verdict, assumed: bool
) -> None:
    """A stride that is too small, or the rows of the next block, from a row on that the caller says."""
    result = check(text, families="RACE", assume=("M >= 0", "M <= 64"))
    assert expected in verdicts(result, "RACE-BLOCK") <= {PROVED, expected}
    found = [o for o in result.obligations if o.rule == "RACE-BLOCK" and o.verdict is expected]
    assert any("BLOCKS-DATA" in o.assumptions for o in found) is assumed
    for f in (f for f in result.findings if f.rule == "RACE-BLOCK" and f.verdict is REFUTED):
        seen = confirm_order(read(text, "k.pto"), "k", f.rule, dict(f.witness), target("a2a3"), line=f.text_line or 0,
                             first=int(f.site.rpartition(" line ")[2].split()[0]))
        assert seen.startswith("confirmed: ")


@pytest.mark.parametrize(("body", "expected"), [
    ((get("mine", "qv"), put("c0")), {REFUTED}),
    ((get("c0", "qv"), put("c0")), {PROVED}),
    ((get("mine", "qv"), fill("t", TILE), put("c0")), {PROVED}),
    (("scf.for %i = %c0 to %c2 step %c1 {", put("c0"), get("mine", "qv"), "}"), {REFUTED}),
    ((get("mine", "qv"), put("c0", attrs=ADD)), set()),
])
def test_blocks_that_write_values_of_their_own_to_one_place(body: tuple[str, ...], expected: set[Verdict]) -> None:
    """Where all write one value to one place that does no harm, as far as is known (BLOCKS-DATA)."""
    assert verdicts(check(blocks(*body), families="RACE"), "RACE-BLOCK") == expected


def test_a_loop_that_walks_over_the_places_of_other_blocks_writes_there_what_they_do() -> None:
    text = blocks("scf.for %i = %block to %c16 step %c1 {", "%old = pto.load_scalar %q[%i] : !pto.ptr<f32> -> f32",
                  "pto.store_scalar %old, %p[%i] : !pto.ptr<f32>, f32", "}")
    result = check(text, families="RACE")
    assert verdicts(result, "RACE-BLOCK") == {PROVED}
    assert any("BLOCKS-DATA" in o.assumptions for o in result.obligations if o.rule == "RACE-BLOCK")
    straight = blocks("%at = arith.divsi %block, %c2 : index", "pto.store_scalar %one, %p[%at] : !pto.ptr<f32>, f32")
    assert verdicts(check(straight, families="RACE"), "RACE-BLOCK") == {REFUTED}


def test_a_race_that_another_one_hides_is_no_fault_of_this_tool() -> None:
    """Both blocks store to the rows of the second one: of each a run remembers the last store."""
    text = blocks(put("next"), put("mine"), get("mine"))
    found = [f for f in check(text, families="RACE").findings if f.rule == "RACE-BLOCK" and f.verdict is REFUTED]
    seen = [confirm_order(read(text, "k.pto"), "k", f.rule, dict(f.witness), target("a2a3"), line=f.text_line or 0,
                          first=int(f.site.rpartition(" line ")[2].split()[0])) for f in found]
    assert any(s.startswith("confirmed: ") for s in seen)
    assert any(s.startswith("not run: another race of the two blocks") for s in seen)


@pytest.mark.parametrize(("barrier", "expected"), [(meeting("mix"), PROVED), (ALL, REFUTED)])
def test_a_cube_and_the_vector_core_of_another_block(barrier: str, expected: Verdict) -> None:
    lines = (
        "%there = arith.muli %next, %c16 : index", "pto.section.cube {", barrier, CLEAN,
        "%x = pto.load_scalar %p[%there] : !pto.ptr<f32> -> f32", "}", "pto.section.vector {", put("mine"), barrier,
        "}")
    text = blocks(*lines).replace(" attributes {pto.kernel_kind = #pto.kernel_kind<vector>}", "")
    result = check(text, families="RACE", assume=("block_num == 24",))
    assert expected in verdicts(result, "RACE-BLOCK") <= {PROVED, expected}


@pytest.mark.requirement("EV-06")
@pytest.mark.parametrize(("assume", "strict", "expected"), [
    (("block_num == 2",), False, PROVED), (("block_num == 3",), False, REFUTED), (("block_num <= 8",), False, REFUTED),
    ((), False, PROVED), ((), True, REFUTED),
])
def test_any_two_blocks_of_as_many_as_there_may_be_are_compared(
    assume: tuple[str, ...], strict: bool, expected: Verdict
) -> None:
    """Blocks 0 and 2 have the same half: where nobody tells how many there are, there are two."""
    text = blocks(*HALVES, put("row"), again(put("row")))
    result = check(text, families="RACE WRITE", assume=assume, strict=strict)
    assert expected in verdicts(result, "RACE-BLOCK") <= {PROVED, expected}
    assert verdicts(result, "WRITE-TWICE") == {expected}
    own = [o for o in result.obligations if o.rule == "WRITE-TWICE"]
    assert all(("FEW-BLOCKS" in o.assumptions) is (not assume and not strict) for o in own)
    for f in (f for f in result.findings if f.verdict is REFUTED and f.rule == "RACE-BLOCK"):
        assert {dict(f.witness)["block_idx"], dict(f.witness)["other_block_idx"]} == {0, 2}
        seen = confirm_order(read(text, "k.pto"), "k", f.rule, dict(f.witness), target("a2a3"), line=f.text_line or 0,
                             first=int(f.site.rpartition(" line ")[2].split()[0]))
        assert seen.startswith("confirmed: ") and "block 0" in seen and "block 2" in seen


@pytest.mark.parametrize(("step", "of_49"), [("c48", REFUTED), ("many", PROVED)])
def test_as_many_blocks_as_the_chip_has_cores_take_turns(step: str, of_49: Verdict) -> None:
    """In steps of 48 tiles the 49th block would come to the tile of the first one's second turn."""
    text = blocks("%c48 = arith.constant 48 : index", f"scf.for %i = %block to %c512 step %{step} {{",
                  "%row = arith.muli %i, %c16 : index", put("row"), "}")
    for assume, expected in (((), PROVED), (("block_num == 48",), PROVED), (("block_num == 49",), of_49)):
        own = [o for o in check(text, families="WRITE", assume=assume).obligations if o.rule == "WRITE-TWICE"]
        assert {o.verdict for o in own} == {expected}
        assert any("FEW-BLOCKS" in o.assumptions for o in own) <= (not assume)


def test_rows_of_its_own_are_a_block_s_whatever_their_number() -> None:
    result = check(blocks(put("mine"), get("mine")), families="RACE WRITE")
    own = [o for o in result.obligations if o.rule in ("RACE-BLOCK", "WRITE-TWICE")]
    assert {o.verdict for o in own} == {PROVED}
    assert not any("FEW-BLOCKS" in o.assumptions for o in own)


FENCE = "pto.fence.barrier_all #pto.fence_scope<gm>"
LOAD = "%x = pto.load_scalar %p[%next] : !pto.ptr<f32> -> f32"
STORE = "pto.store_scalar %one, %p[%mine] : !pto.ptr<f32>, f32"


@pytest.mark.requirement("EV-06", "EV-02")
@pytest.mark.parametrize(("body", "expected", "strict"), [
    ((put("mine"), meeting(), get("next")), PROVED, UNKNOWN),
    ((put("mine"), FENCE, meeting(), get("next")), PROVED, PROVED),
    ((put("mine"), meeting(), FENCE, get("next")), PROVED, PROVED),
    ((FENCE, put("mine"), meeting(), get("next"), FENCE), PROVED, UNKNOWN),
    ((put("mine"), meeting(), LOAD), UNKNOWN, UNKNOWN), ((put("mine"), meeting(), CLEAN, LOAD), PROVED, PROVED),
    ((put("mine"), CLEAN, meeting(), LOAD), UNKNOWN, UNKNOWN),
    ((STORE, meeting(), get("next")), UNKNOWN, UNKNOWN), ((STORE, CLEAN, meeting(), get("next")), PROVED, PROVED),
    ((STORE, meeting(), CLEAN, get("next")), UNKNOWN, UNKNOWN),
    (("scf.if %yes {", CLEAN, "}", put("mine"), meeting(), "scf.if %yes {", CLEAN, "}", LOAD), UNKNOWN, UNKNOWN),
])
def test_a_barrier_cleans_no_cache_and_fences_no_memory(
    body: tuple[str, ...], expected: Verdict, strict: Verdict
) -> None:
    """Who reads by the scalar unit cleans before, who stores by it behind; transfers need a fence in the strict reading
    alone (CORES-SEE)."""
    text = blocks("%yes = arith.cmpi slt, %M, %c4 : index", *body, args="%M: index")
    for options, wanted in ((False, expected), (True, strict)):
        result = check(text, families="RACE", assume=WHOLE, strict=options)
        assert wanted in verdicts(result, "RACE-BLOCK") <= {wanted, PROVED}
        seen = [o.assumptions for o in result.obligations if o.rule == "RACE-BLOCK"]
        assert any("CORES-SEE" in a for a in seen) is (not options and get("next") in body and put("mine") in body)
