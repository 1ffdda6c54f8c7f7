"""Outputs that a loop or the blocks of a launch divide: written to the end, without gaps, under every size."""

from __future__ import annotations

import pytest

from pypto_verified.report.model import Verdict
from tests.verifiers.kernels import check, finding, kernel, obligations, store, verdicts, window
from tests.verifiers.stores import BLOCKS, VEC, grid, output, rows


def taking_turns(count: str, step: str = "n", last: str = "rows") -> str:
    """`for i in range(block_idx, count, step)`: 32 rows each, `rows` cut short at the end."""
    return grid(
        f"scf.for %i = %b to %{count} step %{step} {{", "%at = arith.muli %i, %c32 : index",
        "%left = arith.subi %M, %at : index", "%rows = arith.minsi %left, %c32 : index", rows("at", last), "}")


def divided(rounded: str) -> str:
    """Each block writes its share of M rows: M over the number of blocks, rounded up or down."""
    return grid(
        "%less = arith.subi %n, %c1 : index", "%sum = arith.addi %M, %less : index",
        f"%share = arith.divsi %{rounded}, %n : index", "%at = arith.muli %b, %share : index",
        "%left = arith.subi %M, %at : index", "%some = arith.minsi %left, %share : index",
        "%rows = arith.maxsi %some, %c0 : index", rows("at", "rows"))


def stepping(size: str) -> str:
    """A loop over M rows in steps of 32 that writes `size` of them."""
    return grid(
        "scf.for %i = %c0 to %M step %c32 {", "%left = arith.subi %M, %i : index",
        f"%rows = arith.minsi %left, %{size} : index", rows("i", "rows"), "}")


@pytest.mark.parametrize(("text", "verdict"), [
    (taking_turns("up"), Verdict.PROVED), (taking_turns("down"), Verdict.REFUTED),
    (divided("sum"), Verdict.PROVED), (divided("M"), Verdict.UNKNOWN),
    (stepping("c32"), Verdict.PROVED),
])
def test_what_is_divided_is_written_wholly(text: str, verdict: Verdict) -> None:
    """A caller of a text may keep M a multiple of the number of blocks: that is a question, not a refutation."""
    result = check(text, families="WRITE")
    both = verdicts(result, "WRITE-REST") | verdicts(result, "WRITE-GAP")
    assert both == ({verdict} if verdict is Verdict.PROVED else {verdict, Verdict.PROVED})
    assert all(o.assumptions.count("BLOCK-OF-GRID") == 0 for o in obligations(result, "WRITE-REST"))


def test_the_numbers_of_a_rest_are_small() -> None:
    found = finding(check(taking_turns("down"), families="WRITE"), "WRITE-REST")
    assert dict(found.witness)["M"] == 1
    assert "has M = 1, the loop writes up to 0 of it" in found.message


def test_what_a_caller_must_keep_is_told() -> None:
    found = finding(check(divided("M"), families="WRITE"), "WRITE-REST")
    assert found.needs == "block_num*(M // block_num) >= M"


def test_a_gap_between_windows_is_told_with_its_ends() -> None:
    result = check(stepping("c16"), families="WRITE", assume=("M % 32 == 1", "M > 32"))
    assert verdicts(result, "WRITE-REST") == {Verdict.PROVED}
    found = finding(result, "WRITE-GAP")
    assert found.verdict is Verdict.REFUTED
    assert "one window ends before 16 and the next starts at 32" in found.message


@pytest.mark.parametrize("text", [
    grid("%at = arith.muli %b, %c32 : index", rows("at", "c32")),
    taking_turns("up", step="c2"),
    grid("%in = arith.cmpi slt, %b, %up : index", "scf.if %in {", "%at = arith.muli %b, %c32 : index",
         rows("at", "c32"), "}"),
], ids=["as many blocks as the caller likes", "every other block", "a guard"])
def test_what_a_caller_may_complete_is_not_refuted(text: str) -> None:
    result = check(text, families="WRITE")
    assert all(o.verdict is Verdict.PROVED for o in result.obligations if o.rule != "WRITE-TWICE")
    assert "BLOCK-OF-GRID" in {a for o in result.obligations for a in o.assumptions}


def in_shares(size: str, rounded: str = "sum", step: str = "c32") -> str:
    """Each block walks its share of M rows, M over the number of blocks, and writes `size` rows a step."""
    return grid(
        "%less = arith.subi %n, %c1 : index", "%sum = arith.addi %M, %less : index",
        f"%share = arith.divsi %{rounded}, %n : index", "%at = arith.muli %b, %share : index",
        "%end = arith.addi %at, %share : index", "%stop = arith.minsi %end, %M : index",
        f"scf.for %i = %at to %stop step %{step} {{", "%left = arith.subi %stop, %i : index",
        "%rows = arith.minsi %left, %c32 : index", rows("i", size), "}")


def shared_out(rounded: str) -> str:
    """Each block walks its share of the windows of 32 rows, their number over that of the blocks."""
    return grid(
        "%less = arith.subi %n, %c1 : index", "%sum = arith.addi %up, %less : index",
        f"%share = arith.divsi %{rounded}, %n : index", "%first = arith.muli %b, %share : index",
        "%end = arith.addi %first, %share : index", "%stop = arith.minsi %end, %up : index",
        "scf.for %i = %first to %stop step %c1 {", "%at = arith.muli %i, %c32 : index",
        "%left = arith.subi %M, %at : index", "%rows = arith.minsi %left, %c32 : index", rows("at", "rows"), "}")


def by_rows(pace: str) -> str:
    """Blocks take turns at `pace` rows a time: `for i in range(block_idx*pace, M, block_num*pace)`, 32 rows each."""
    return grid(
        f"%first = arith.muli %b, %{pace} : index", f"%stride = arith.muli %n, %{pace} : index",
        "scf.for %i = %first to %M step %stride {",
        "%left = arith.subi %M, %i : index", "%rows = arith.minsi %left, %c32 : index", rows("i", "rows"), "}")


@pytest.mark.parametrize(("text", "rules"), [
    (in_shares("rows"), set()), (in_shares("rows", "M"), {"WRITE-REST"}),
    (in_shares("rows", step="c64"), {"WRITE-REST", "WRITE-GAP"}),
    (shared_out("sum"), set()), (shared_out("up"), {"WRITE-REST"}),
], ids=["rows", "rows rounded down", "steps too long", "windows", "windows rounded down"])
def test_shares_that_blocks_walk_are_all_of_the_output(text: str, rules: set[str]) -> None:
    result = check(text, families="WRITE")
    assert len(obligations(result, "WRITE-REST")) == len(obligations(result, "WRITE-GAP")) == 2
    assert {o.rule for o in result.obligations if o.verdict is not Verdict.PROVED} == rules


def test_a_loop_that_begins_at_a_product_is_followed() -> None:
    """The counter of `for i in range(block_idx*share, ...)` is i less a product of two numbers."""
    result = check(shared_out("sum"), families="INIT EVENT PLAN")
    assert verdicts(result, "INIT-READ") == {Verdict.PROVED}


@pytest.mark.parametrize(("right", "wrong"), [
    (by_rows("c32"), by_rows("c16")), (taking_turns("up"), taking_turns("up", last="c64")),
    (in_shares("rows"), in_shares("c32")),
], ids=["turns of rows", "turns of windows", "shares"])
def test_blocks_that_share_a_loop_do_not_write_the_same(right: str, wrong: str) -> None:
    assert verdicts(check(right, families="WRITE"), "WRITE-TWICE") == {Verdict.PROVED}
    found = finding(check(wrong, families="WRITE", assume=("block_num == 2",)), "WRITE-TWICE")
    assert found.verdict is Verdict.REFUTED
    assert found.message.startswith("blocks 0 and 1 both write to o: ")


def test_with_the_stricter_reading_a_function_writes_all_of_it_alone() -> None:
    block = grid("%at = arith.muli %b, %c32 : index", rows("at", "c32"))
    assert Verdict.UNKNOWN in verdicts(check(block, families="WRITE", strict=True), "WRITE-WHOLE")
    part = grid(rows("c0", "c32"))
    assert Verdict.REFUTED in verdicts(check(part, families="WRITE", strict=True), "WRITE-WHOLE")
    whole = grid(rows("c0", "M"))
    assert verdicts(check(whole, families="WRITE", strict=True), "WRITE-WHOLE") == {Verdict.PROVED}
    loop = kernel("\n".join((
        output("c128"), "scf.for %i = %c0 to %c128 step %c32 {",
        rows("i", "c32"), "}")))
    assert verdicts(check(loop, families="WRITE", strict=True), "WRITE-WHOLE") == {Verdict.PROVED}


def share(rounded: str, windows: str = "cut") -> str:
    """Each block goes over its share of M rows, 32 at a time: `windows` are cut at the end of the share, or not."""
    return grid(
        "%less = arith.subi %n, %c1 : index", "%sum = arith.addi %M, %less : index",
        f"%share = arith.divsi %{rounded}, %n : index", "%first = arith.muli %b, %share : index",
        "scf.for %i = %c0 to %share step %c32 {", "%at = arith.addi %first, %i : index",
        "%left = arith.subi %M, %at : index", "%some = arith.minsi %left, %c32 : index",
        "%whole = arith.maxsi %some, %c0 : index", "%of = arith.subi %share, %i : index",
        "%cut = arith.minsi %whole, %of : index", rows("at", windows), "}")


@pytest.mark.parametrize(("text", "verdict"), [
    (share("sum"), Verdict.PROVED), (share("M"), Verdict.UNKNOWN), (share("sum", "whole"), Verdict.PROVED),
])
def test_a_loop_over_a_share_of_the_blocks_is_judged_with_them(text: str, verdict: Verdict) -> None:
    """A share that is rounded down leaves rows behind the last block, unless a caller keeps M a multiple."""
    assert verdict in verdicts(check(text, families="WRITE", outputs=("q",)), "WRITE-REST") <= {verdict, Verdict.PROVED}


def test_what_the_last_window_of_a_share_writes_past_its_end_counts() -> None:
    """96 rows in blocks of 96 // n, in windows of 16 that only the tensor's end cuts: 5 blocks of 19 rows write all of
    them, for the last window begins at row 92; 7 blocks of 13 rows, the last window at 78, miss two."""
    text = share("M", "whole").replace("%M", "%c96")
    text = text.replace("%c96: index", "%M: index").replace("%c31 =", "%c96 = arith.constant 96 : index\n%c31 =")
    text = text.replace("%share step %c32", "%share step %c16").replace("%left, %c32", "%left, %c16")
    for blocks, verdict in ((5, Verdict.PROVED), (7, Verdict.REFUTED)):
        result = check(text, families="WRITE", outputs=("q",), assume=(f"block_num == {blocks}",))
        assert verdict in verdicts(result, "WRITE-REST") <= {verdict, Verdict.PROVED}


def numbered(height: str) -> str:
    """Tiles of 32 x 64, numbered row by row; blocks take turns, and rows of tiles are `height` rows apart."""
    return kernel("\n".join((
        "%c31 = arith.constant 31 : index", "%c63 = arith.constant 63 : index", output("M", "N"),
        "%b = arith.index_cast %block_idx : i32 to index", "%n = arith.index_cast %block_num : i32 to index",
        "%a = arith.addi %M, %c31 : index", "%down = arith.divsi %a, %c32 : index",
        "%d = arith.addi %N, %c63 : index", "%across = arith.divsi %d, %c64 : index",
        "%tiles = arith.muli %down, %across : index", "scf.for %i = %b to %tiles step %n {",
        "%row = arith.divsi %i, %across : index", "%col = arith.remsi %i, %across : index",
        f"%r = arith.muli %row, %{height} : index", "%c = arith.muli %col, %c64 : index",
        window("w", "o", "%r, %c", "%c32, %c64"), store("t", "w", VEC), "}")), f"%M: index, %N: index, {BLOCKS}")


def test_tiles_that_are_numbered_row_by_row_are_told_apart() -> None:
    assert verdicts(check(numbered("c32"), families="WRITE"), "WRITE-TWICE") == {Verdict.PROVED}
    assert verdicts(check(numbered("c16"), families="WRITE"), "WRITE-TWICE") & {Verdict.REFUTED, Verdict.UNKNOWN}
