"""SPLIT: parts of lanes by hand. A slot in global memory has the pitch of the whole tile's valid columns; lane 1 of
halves of rows begins at as many rows as it has itself."""

from __future__ import annotations

import pytest

from pypto_verified.report.model import FunctionResult, Verdict
from tests.verifiers.examples_split import COLUMNS, PART, clamped, pop, to_cube, to_vector
from tests.verifiers.kernels import check, finding, tile, verdicts

PROVED, REFUTED, UNKNOWN = {Verdict.PROVED}, {Verdict.REFUTED}, {Verdict.UNKNOWN}


def _check(text: str, chip: str = "a2a3", assume: tuple[str, ...] = ()) -> FunctionResult:
    return check(text, chip=chip, families="SPLIT", assume=assume)


def _by_lane(first: str, second: str) -> str:
    """%n: what lane 0 and lane 1 have."""
    return "\n".join((
        "%is_first = arith.cmpi eq, %lane, %c0 : index",
        f"%n = arith.select %is_first, %{first}, %{second} : index"))


@pytest.mark.parametrize(("total", "expected"), [
    ("c5", PROVED),     # 5 and 0: lane 1 has nothing to find
    ("c15", PROVED),
    ("c17", REFUTED),   # 16 and 1: lane 1 would look at row 1 instead of 16
    ("c31", REFUTED),   # 16 and 15
    ("c32", PROVED),    # 16 and 16
])
@pytest.mark.requirement("XC-04")
def test_an_even_split_needs_equal_halves_or_an_empty_second_lane(total: str, expected: set[Verdict]) -> None:
    text = to_vector(("c32", "c64", 1), clamped(total), pop(1, "part", "c64"))
    assert verdicts(_check(text), "SPLIT-LANES") == expected


@pytest.mark.parametrize(("first", "second", "split", "expected"), [
    ("c9", "c8", 3, PROVED), ("c8", "c8", 3, REFUTED), ("c8", "c9", 3, REFUTED), ("c9", "c8", 1, REFUTED),
])
def test_an_odd_split_gives_lane_0_one_line_more(
    first: str, second: str, split: int, expected: set[Verdict]
) -> None:
    text = to_vector(("c17", "c64", split), _by_lane(first, second), pop(split, "n", "c64"))
    assert verdicts(_check(text), "SPLIT-LANES") == expected


def test_the_message_names_both_lanes() -> None:
    text = to_vector(("c17", "c64", 3), _by_lane("c8", "c8"), pop(3, "n", "c64"))
    message = finding(_check(text), "SPLIT-LANES").message
    assert "lane 0 has [8, 64], lane 1 [8, 64]" in message
    assert "one line more" in message


def test_lanes_in_branches_are_matched_with_each_other() -> None:
    def branches(second: str) -> str:
        return to_vector(("c17", "c64", 3), "\n".join((
            "%is_first = arith.cmpi eq, %lane, %c0 : index", "scf.if %is_first {", pop(3, "c9", "c64"), "} else {",
            pop(3, second, "c64"), "}")))

    assert verdicts(_check(branches("c8")), "SPLIT-LANES") == PROVED
    assert verdicts(_check(branches("c9")), "SPLIT-LANES") == REFUTED


def test_an_extent_known_at_run_time_only_does_not_reach_a_split_pop() -> None:
    text = to_vector(("c32", "c64", 1), clamped("rows"), pop(1, "part", "c64"), args="%rows: index")
    result = _check(text)
    assert verdicts(result, "SPLIT-LANES") == UNKNOWN
    assert finding(result, "SPLIT-LANES").needs
    assert verdicts(_check(text, assume=("rows <= 16",)), "SPLIT-LANES") == PROVED
    box = to_vector(("c32", "c64", 1), pop(1, "c16", "c64"), args="%rows: index")
    assert verdicts(_check(box), "SPLIT-LANES") == PROVED


def test_columns_agree_too() -> None:
    text = to_vector(("c32", "c64", 1), _by_lane("c64", "c48"), pop(1, "c16", "n"))
    assert verdicts(_check(text), "SPLIT-LANES") == REFUTED


@pytest.mark.parametrize(("push", "split", "rows", "cols", "expected"), [
    ("c64", 0, "c32", "c64", PROVED),
    ("c48", 0, "c32", "c64", REFUTED),
    ("c48", 0, "c1", "c64", PROVED),     # one row lies together whatever the pitch
    ("c48", 0, "c0", "c64", PROVED),
    ("c48", 1, "c1", "c64", REFUTED),    # but lane 1 begins a row of its own pitch on
    ("c64", 2, "c32", "c32", PROVED),
    ("c64", 2, "c32", "c16", REFUTED),   # 2 * 16 columns a row
    ("c32", 2, "c32", "c16", PROVED),
])
@pytest.mark.requirement("XC-12")
def test_a_slot_is_read_at_the_pitch_of_what_was_pushed(
    push: str, split: int, rows: str, cols: str, expected: set[Verdict]
) -> None:
    type_ = {0: tile(32, 64), 1: PART, 2: COLUMNS}[split]
    found = verdicts(_check(to_vector(("c32", push, split), pop(split, rows, cols, type_))), "SPLIT-PITCH")
    assert (found == PROVED) if expected == PROVED else Verdict.REFUTED in found


@pytest.mark.parametrize(("whole", "first", "second", "expected"), [
    ("c31", "c16", "c15", PROVED),       # 2*16 - 1 and 2*15 + 1 columns
    ("c32", "c16", "c15", REFUTED),
])
@pytest.mark.requirement("XC-12")
def test_odd_columns_are_read_at_twice_the_lanes_width_and_one(
    whole: str, first: str, second: str, expected: set[Verdict]
) -> None:
    text = to_vector(("c32", whole, 4), _by_lane(first, second), pop(4, "c32", "n", COLUMNS))
    assert verdicts(_check(text), "SPLIT-PITCH") == expected


def test_rows_behind_what_was_pushed_may_be_popped() -> None:
    # XC-12: they are stale; a full box is popped and its logical shape restored afterwards.
    assert verdicts(_check(to_vector(("c5", "c64", 1), pop(1, "c16", "c64"))), "SPLIT-PITCH") == PROVED


@pytest.mark.parametrize(("lane", "split", "popped", "expected"), [
    (("c16", "c64"), 1, ("c32", "c64"), PROVED), (("c16", "c48"), 1, ("c32", "c64"), REFUTED),
    (("c32", "c32"), 2, ("c32", "c64"), PROVED), (("c32", "c16"), 2, ("c32", "c64"), REFUTED),
])
def test_a_cube_core_reads_what_two_lanes_pushed(
    lane: tuple[str, str], split: int, popped: tuple[str, str], expected: set[Verdict]
) -> None:
    type_ = PART if split == 1 else COLUMNS
    assert verdicts(_check(to_cube((*lane, split), popped, type_)), "SPLIT-PITCH") == expected


def test_extents_of_the_same_argument_are_the_same_at_both_ends() -> None:
    def text(columns: str) -> str:
        return to_vector(("c32", "n", 0), pop(0, "c32", columns, tile(32, 64)), args="%n: index, %m: index")

    assert verdicts(_check(text("n")), "SPLIT-PITCH") == PROVED
    assert verdicts(_check(text("m")), "SPLIT-PITCH") == UNKNOWN


def test_transfers_in_different_orders_are_compared_only_if_all_are_alike() -> None:
    def text(second: str) -> str:
        whole = tile(32, 64)
        loop = "\n".join(("scf.for %i = %c0 to %c2 step %c1 {", pop(0, "c32", "c64", whole), "}"))
        once = to_vector(("c32", "c64", 0), loop)
        push = next(line for line in once.splitlines() if "tpush" in line)
        first = next(line for line in once.splitlines() if "%c = pto.alloc_tile" in line)
        other = first.replace("%c =", "%d =").replace("valid_col = %c64", f"valid_col = %{second}")
        return once.replace(push, "\n".join((push, other, push.replace("%c ", "%d "))))

    assert verdicts(_check(text("c64")), "SPLIT-PITCH") == PROVED
    assert verdicts(_check(text("c48")), "SPLIT-PITCH") == UNKNOWN


@pytest.mark.parametrize(("looped", "second", "expected"), [
    (False, "c48", PROVED), (False, "c64", REFUTED), (True, "c48", UNKNOWN), (True, "c64", UNKNOWN),
])
def test_a_loop_at_one_end_alone_is_another_order(looped: bool, second: str, expected: set[Verdict]) -> None:
    """The cube pushes 64 columns and then 48, once or in a loop; as many pops in the text, none in a loop."""
    whole = tile(32, 64)
    text = to_vector(("c32", "c64", 0), pop(0, "c32", "c64", whole), pop(0, "c32", second, whole, "u"))
    push = next(line for line in text.splitlines() if "tpush" in line)
    first = next(line for line in text.splitlines() if "%c = pto.alloc_tile" in line)
    again = [push.replace("%c ", "%d ")]
    if looped:
        again = ["scf.for %i = %c0 to %c2 step %c1 {", *again, "}"]
    other = first.replace("%c =", "%d =").replace("valid_col = %c64", "valid_col = %c48")
    found = verdicts(_check(text.replace(push, "\n".join((push, other, *again)))), "SPLIT-PITCH")
    assert found == expected if expected != REFUTED else Verdict.REFUTED in found


@pytest.mark.parametrize(("rows", "split", "expected"), [("c32", 1, PROVED), ("c31", 1, REFUTED)])
def test_on_a5_the_hardware_halves_even_rows(rows: str, split: int, expected: set[Verdict]) -> None:
    text = to_vector((rows, "c64", split), pop(split, "c15", "c64"), memory=False, last="cube")
    assert verdicts(_check(text, "a5"), "SPLIT-CHIP") == expected
    assert not verdicts(_check(text, "a2a3"), "SPLIT-CHIP")


def test_a_function_without_a_peer_says_nothing_of_the_other_end() -> None:
    text = to_vector(("c32", "c64", 1), pop(1, "c16", "c64"))
    alone = "module {\n" + text[text.index("  func.func @vector"):]
    result = _check(alone)
    assert verdicts(result, "SPLIT-LANES") == PROVED
    assert not verdicts(result, "SPLIT-PITCH")


