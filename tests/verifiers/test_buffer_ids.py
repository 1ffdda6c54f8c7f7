"""Buffer ids of a5: in values as well as in the text, by what several pipes give back, and the mode that waits for
nobody. Each verdict on an order beside a timed run."""

from __future__ import annotations

import pytest

from pypto_verified.pto.reader import read as parse
from pypto_verified.report.model import Verdict
from pypto_verified.simulator import schedule
from pypto_verified.targets import target
from tests.verifiers.examples_event import branch, flags, loop
from tests.verifiers.examples_race import VEC, exp, pipes, read, write
from tests.verifiers.kernels import check, load, unary, verdicts

PROVED, REFUTED, UNKNOWN = Verdict.PROVED, Verdict.REFUTED, Verdict.UNKNOWN


def held(pipe: str, id: str, *body: str, mode: int = 0) -> str:
    """What a pipe does while it has a buffer; the id is a number or a value."""
    form = "_dyn" if id.startswith("%") else ""
    named = f"[#pto.pipe_event_type<{pipe}>, {id}, {mode}]"
    return "\n".join((f"pto.get_buf{form} {named}", *body, f"pto.rls_buf{form} {named}"))


def in_turn(used: str) -> str:
    """Load and exp in two slots in turn; the load holds buffer `i % 2`, the exp buffer `used`."""
    return pipes(
        "%slot = arith.constant 8192 : index",
        loop("M", "%own = arith.remsi %i, %c2 : index", "%next = arith.addi %i, %c1 : index",
             "%other = arith.remsi %next, %c2 : index", "%off = arith.muli %own, %slot : index",
             "%at = arith.index_cast %off : index to i64",
             f"%t = pto.alloc_tile addr = %at valid_row = %c32 valid_col = %c64 : {VEC}",
             held("TLOAD", "%own", load("src", "t", VEC, "32x64")),
             held("TVEC", used, unary("texp", "t", "c", VEC))),
        args="%M: index")


def raced(text: str) -> bool:
    module = parse(text, "k.pto")
    return any(schedule.replay(module, "k", {"M": 4}, target("a5"), schedule=name).races
               for name in ("late", "exhaustive"))


@pytest.mark.requirement("EV-02")
@pytest.mark.parametrize(("used", "expected"), [("%own", PROVED), ("%other", REFUTED)])
def test_buffers_whose_ids_are_computed_order_what_their_pipes_do(used: str, expected: Verdict) -> None:
    text = in_turn(used)
    result = check(text, chip="a5", families="RACE")
    assert raced(text) is (expected is REFUTED)
    assert result.verdict is expected
    assert verdicts(check(text, chip="a5", families="EVENT"), "EVENT-BUFFER") == {PROVED}


@pytest.mark.requirement("EV-03")
@pytest.mark.parametrize(("returned", "expected"), [("%id", PROVED), ("%M", REFUTED), ("%c3", REFUTED)])
def test_a_computed_buffer_id_is_given_back_by_the_pipe_that_took_it(returned: str, expected: Verdict) -> None:
    text = flags(loop("M", "%id = arith.remsi %i, %c2 : index", held("TVEC", "%id")))
    first, _, last = text.partition("rls_buf_dyn [#pto.pipe_event_type<TVEC>, %id")
    text = f"{first}rls_buf_dyn [#pto.pipe_event_type<TVEC>, {returned}{last}"
    found = verdicts(check(text, chip="a5", families="EVENT"), "EVENT-BUFFER")
    assert (found == {PROVED}) is (expected is PROVED)
    assert (REFUTED in found) is (expected is REFUTED)


@pytest.mark.requirement("EV-02")
@pytest.mark.parametrize(("id", "expected"), [("1", PROVED), ("2", REFUTED)])
def test_who_takes_a_buffer_waits_for_all_that_gave_it_back(id: str, expected: Verdict) -> None:
    """V and MTE3 read the tile that MTE2 loads next; V gives back buffer `id`, the others use 1."""
    text = pipes(
        held("TLOAD", "1", held("TLOAD", "2", read("a"))), held("TVEC", id, exp("a", "b")),
        held("TSTORE_VEC", "1", write("a")), held("TLOAD", "1", read("a")))
    assert raced(text) is (expected is REFUTED)
    assert check(text, chip="a5", families="RACE").verdict is expected


@pytest.mark.requirement("EV-02")
@pytest.mark.parametrize(("around", "before", "expected"), [
    (branch("eq, %M, %c1", held("TLOAD", "1")), "", REFUTED),
    (loop("M", held("TLOAD", "1")), "", REFUTED),
    (loop("M", held("TLOAD", "1")), held("TLOAD", "1"), PROVED)])
def test_who_takes_a_buffer_that_nobody_gave_back_waits_for_nobody(
    around: str, before: str, expected: Verdict
) -> None:
    """The release stands in a branch or a loop of M turns; there may be none since the load."""
    text = pipes(read("a"), before, around, held("TVEC", "1", exp("a", "b")), args="%M: index")
    assert check(text, chip="a5", families="RACE").verdict is expected
    module = parse(text, "k.pto")
    runs = [schedule.replay(module, "k", {"M": n}, target("a5"), schedule="late") for n in (0, 1)]
    assert any(run.races for run in runs) is (expected is REFUTED)
    assert not runs[1].races


@pytest.mark.requirement("EV-02")
def test_a_buffer_that_is_free_at_first_is_waited_for_from_the_second_turn_on() -> None:
    text = pipes(
        loop("M", held("TLOAD", "1", read("a")), held("TVEC", "1", exp("a", "b"))), args="%M: index")
    assert check(text, chip="a5", families="RACE").verdict is PROVED


@pytest.mark.parametrize("id", ["1", "%c1"])
def test_a_pipe_that_takes_a_buffer_without_waiting_is_not_followed(id: str) -> None:
    """In mode 1 nobody waits; the load may overtake the exp."""
    waits, goes = (
        check(pipes(held("TVEC", id, exp("a", "b"), mode=mode), held("TLOAD", id, read("a"), mode=mode)), chip="a5",
              families="RACE") for mode in (0, 1))
    assert waits.verdict is PROVED
    assert goes.verdict is UNKNOWN
    assert PROVED not in {o.verdict for o in goes.obligations if o.rule == "RACE-WAR"}
    assert any(f.message.startswith("pto.get_buf") and "is not modelled" in f.message for f in goes.findings)


TAKE, RETURN = (f"pto.{op}_buf[#pto.pipe_event_type<TLOAD>, 1]" for op in ("get", "rls"))


@pytest.mark.requirement("EV-03")
@pytest.mark.parametrize(("cube", "vector", "expected"), [
    ((TAKE, RETURN), (TAKE, RETURN), {PROVED}),
    ((TAKE,), (RETURN,), {PROVED, REFUTED}),
    ((TAKE,), (RETURN, TAKE, RETURN), {PROVED, REFUTED}),
])
def test_what_the_cube_takes_no_vector_core_gives_back(
    cube: tuple[str, ...], vector: tuple[str, ...], expected: set[Verdict]
) -> None:
    """Each core has buffers of its own."""
    sections = "\n".join(("pto.section.cube {", *cube, "}", "pto.section.vector {", *vector, "}"))
    text = flags(sections).replace(" attributes {pto.kernel_kind = #pto.kernel_kind<vector>}", "")
    assert verdicts(check(text, chip="a5", families="EVENT"), "EVENT-BUFFER") == expected
