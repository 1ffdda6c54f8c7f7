"""Outputs that a loop or the blocks of a launch divide: written to the end, without gaps, under every size."""

from __future__ import annotations

import pytest

from pypto_verified.report.model import Verdict
from tests.verifiers.kernels import (
    alloc,
    check,
    fill,
    finding,
    kernel,
    obligations,
    store,
    tile,
    verdicts,
    view,
    window,
)

VEC = tile()
BLOCKS = "%block_idx: i32, %block_num: i32"


def rows(start: str, count: str) -> str:
    """Rows of %t from `start` on to the output of M rows."""
    return "\n".join((window("w", "o", f"%{start}, %c0", f"%{count}, %c64"), store("t", "w", VEC)))


def grid(*body: str) -> str:
    """A kernel on an output %o of M rows; %b and %n are block index and count, %up and %down M/32 rounded."""
    return kernel("\n".join((
        "%c31 = arith.constant 31 : index", view("o", "q", "M"), alloc("t", VEC), fill("t", VEC),
        "%b = arith.index_cast %block_idx : i32 to index", "%n = arith.index_cast %block_num : i32 to index",
        "%more = arith.addi %M, %c31 : index", "%up = arith.divsi %more, %c32 : index",
        "%down = arith.divsi %M, %c32 : index", *body)), f"%M: index, {BLOCKS}")


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
        view("o", "q", "c128"), alloc("t", VEC), fill("t", VEC), "scf.for %i = %c0 to %c128 step %c32 {",
        rows("i", "c32"), "}")))
    assert verdicts(check(loop, families="WRITE", strict=True), "WRITE-WHOLE") == {Verdict.PROVED}


def guarded(least: str) -> str:
    """All of M rows, if there are at least as many."""
    return grid(
        f"%some = arith.cmpi sge, %M, %{least} : index", "scf.if %some {", "scf.for %i = %c0 to %M step %c32 {",
        "%left = arith.subi %M, %i : index", "%rows = arith.minsi %left, %c32 : index", rows("i", "rows"), "}", "}")


def test_a_condition_on_the_size_leaves_no_size_out() -> None:
    """A text without declared outputs may be one of several that its caller chooses from by the size."""
    assert verdicts(check(guarded("c1"), families="WRITE", outputs=("q",)), "WRITE-UNION") == {Verdict.PROVED}
    found = finding(check(guarded("c32"), families="WRITE", outputs=("q",)), "WRITE-UNION")
    assert (found.verdict, found.message) == (Verdict.REFUTED, "no store writes o[0, :]")
    assert not obligations(check(guarded("c32"), families="WRITE"), "WRITE-UNION")


def halves(second: str) -> str:
    """Two stores of 32 rows each to a tensor of 64."""
    return kernel("\n".join((
        "%c40 = arith.constant 40 : index", view("o", "q", "c64"), alloc("t", VEC), fill("t", VEC),
        rows("c0", "c32"), rows(second, "c32").replace("%w", "%v"))))


@pytest.mark.parametrize(("second", "verdict"), [("c32", Verdict.PROVED), ("c40", Verdict.REFUTED)])
def test_several_stores_write_all_of_an_output_with_the_stricter_reading(second: str, verdict: Verdict) -> None:
    text = halves(second)
    assert verdicts(check(text, families="WRITE", strict=True), "WRITE-UNION") == {verdict}
    assert not obligations(check(text, families="WRITE"), "WRITE-UNION")


def in_parts(part: str = "c64", windows: str = "c64", rows_of: str = "rows", guard: str = "M") -> str:
    """M rows in parts of `part`, of each the first `windows` in windows of 32 that begin below `guard`."""
    return grid(
        "%c96 = arith.constant 96 : index", f"scf.for %i = %c0 to %M step %{part} {{",
        f"scf.for %j = %c0 to %{windows} step %c32 {{",
        "%at = arith.addi %i, %j : index", f"%in = arith.cmpi slt, %at, %{guard} : index", "scf.if %in {",
        "%left = arith.subi %M, %at : index", "%rows = arith.minsi %left, %c32 : index", rows("at", rows_of),
        "}", "}", "}")


@pytest.mark.parametrize(("text", "missing"), [
    (in_parts(), ""), (in_parts(windows="c96"), ""), (in_parts(windows="c128"), ""),
    (in_parts("c128", "c96"), "M = 97: no turn of the loops writes elements 96 to 96"),
    (in_parts("c128"), "M = 65: no turn of the loops writes elements 64 to 64"),
])
def test_what_several_loops_write_together_is_all_of_an_output(text: str, missing: str) -> None:
    """Each loop may step as far as the loops in it write, no further; what is left out lies between its windows."""
    for strict in (False, True):
        result = check(text, families="WRITE", strict=strict)
        if not missing:
            assert verdicts(result, "WRITE-NEST") == {Verdict.PROVED}
            continue
        found = finding(result, "WRITE-NEST")
        assert found.verdict is Verdict.REFUTED
        assert missing in found.message


def static_nest(outer: str, inner: str, count: str) -> str:
    """32 of 256 rows each: `for i in range(0, 256, outer): for j in range(0, count, inner)`."""
    return kernel("\n".join((
        "%c96 = arith.constant 96 : index", "%c256 = arith.constant 256 : index", view("o", "q", "c256"),
        alloc("t", VEC), fill("t", VEC), f"scf.for %i = %c0 to %c256 step %{outer} {{",
        f"scf.for %j = %c0 to %{count} step %{inner} {{", "%at = arith.addi %i, %j : index", rows("at", "c32"),
        "}", "}")))


@pytest.mark.parametrize(("text", "missing"), [
    (static_nest("c128", "c32", "c128"), ""),
    (static_nest("c32", "c128", "c128"), ""),
    (static_nest("c128", "c32", "c96"), "axis 0 of o has 256: no turn of the loops writes elements 96 to 127 of it"),
    (static_nest("c128", "c64", "c128"), "axis 0 of o has 256: no turn of the loops writes elements 32 to 63 of it"),
])
def test_loops_of_fixed_length_leave_no_gap_in_a_declared_output(text: str, missing: str) -> None:
    result = check(text, families="WRITE", outputs=("q",))
    if missing:
        assert finding(result, "WRITE-NEST").message == missing
    else:
        assert verdicts(result, "WRITE-NEST") == {Verdict.PROVED}
    assert not obligations(check(text, families="WRITE"), "WRITE-NEST"), "a text does not say what is an output"


def test_with_the_stricter_reading_loops_in_blocks_are_not_known_to_write_all() -> None:
    """How many blocks there are, and so where the last one ends, is their caller's."""
    text = grid(
        "%first = arith.muli %b, %c128 : index", "scf.for %i = %c0 to %c128 step %c32 {",
        "%at = arith.addi %first, %i : index", rows("at", "c32"), "}")
    assert verdicts(check(text, families="WRITE", outputs=("q",)), "WRITE-NEST") == {Verdict.PROVED}
    assert verdicts(check(text, families="WRITE", outputs=("q",), strict=True), "WRITE-NEST") == {Verdict.UNKNOWN}


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


def waiting(*inner: str, outer: str = "%none = arith.constant 0 : index", part: str = "c64") -> str:
    """M rows in parts of `part`, of each 64 rows in two windows, in or around what a store may wait for."""
    return grid(
        "%rest = arith.subi %M, %c64 : index", outer, f"scf.for %i = %c0 to %M step %{part} {{",
        "scf.for %j = %c0 to %c64 step %c32 {", *inner, "%at = arith.addi %i, %j : index",
        "%left = arith.subi %M, %at : index", "%some = arith.minsi %left, %c32 : index",
        "%rows = arith.maxsi %some, %c0 : index", rows("at", "rows"),
        *["}"] * (2 + sum(line.endswith("{") for line in (*inner, outer))))


OVER_REST, OVER_J = "scf.for %k = %c0 to %rest step %c64 {", "scf.for %k = %c0 to %j step %c32 {"
LAST_K = ("scf.for %k = %c0 to %c4 step %c1 {", "%in = arith.cmpi eq, %k, %c3 : index", "scf.if %in {")
LARGE = ("%in = arith.cmpi sgt, %M, %c100 : index", "scf.if %in {")


@pytest.mark.parametrize(("text", "rules"), [
    (waiting(), {}), (waiting(*LAST_K), {}), (waiting(*LAST_K, part="c128"), {"WRITE-NEST": Verdict.REFUTED}),
    (waiting(OVER_REST), {"WRITE-UNION": Verdict.REFUTED}),
    (waiting(outer=OVER_REST), {"WRITE-UNION": Verdict.REFUTED}),
    (waiting(*LARGE), {"WRITE-UNION": Verdict.REFUTED}),
    (waiting(OVER_J), {"WRITE-UNION": Verdict.REFUTED}),
], ids=["nothing", "the last turn", "the last turn, with gaps", "a loop inside", "a loop outside", "a size",
        "a loop that some turns leave out"])
def test_a_store_in_loops_is_not_taken_to_run(text: str, rules: dict[str, Verdict]) -> None:
    """A loop that does not move a store may not turn at all, and then nothing is written."""
    result = check(text, families="WRITE", outputs=("q",))
    assert {o.rule: o.verdict for o in result.obligations if o.verdict is not Verdict.PROVED} == rules


def test_a_condition_on_a_loop_around_the_others_may_never_hold() -> None:
    """`for k in range(M//32): if k > 0:` around loops that write all of M rows: for 32 rows none of them runs."""
    inside = ("scf.for %k = %c0 to %down step %c1 {", "%in = arith.cmpi sgt, %k, %c0 : index", "scf.if %in {")
    text = waiting(outer="\n".join(inside)).replace("return", "}\n return")
    assert verdicts(check(text, families="WRITE", outputs=("q",)), "WRITE-UNION") == {Verdict.UNKNOWN}


@pytest.mark.parametrize(("upper", "verdict"), [("M", set()), ("rest", {Verdict.REFUTED}), ("i", {Verdict.REFUTED})])
def test_one_loop_around_or_in_a_loop_that_may_not_turn(upper: str, verdict: set[Verdict]) -> None:
    text = grid(
        "%rest = arith.subi %M, %c64 : index", "scf.for %i = %c0 to %M step %c32 {",
        f"scf.for %k = %c0 to %{upper} step %c32 {{", "%left = arith.subi %M, %i : index",
        "%rows = arith.minsi %left, %c32 : index", rows("i", "rows"), "}", "}")
    assert verdicts(check(text, families="WRITE", outputs=("q",)), "WRITE-UNION") == verdict


def diagonal(column: str) -> str:
    """32 x 64 elements of an M x M output each turn, the columns from %column on."""
    return kernel("\n".join((
        view("o", "q", "M", "M"), alloc("t", VEC), fill("t", VEC), "scf.for %i = %c0 to %M step %c32 {",
        "%two = arith.muli %i, %c2 : index", "%left = arith.subi %M, %i : index",
        "%rows = arith.minsi %left, %c32 : index", f"%rest = arith.subi %M, %{column} : index",
        "%some = arith.minsi %rest, %c64 : index", "%cols = arith.maxsi %some, %c0 : index",
        window("w", "o", f"%i, %{column}", "%rows, %cols"), store("t", "w", VEC), "}")), "%M: index")


@pytest.mark.parametrize("column", ["i", "two"])
def test_a_loop_along_two_axes_writes_a_diagonal_only(column: str) -> None:
    """Each axis alone is reached to its end; beside the first window nothing is written."""
    result = check(diagonal(column), families="WRITE", outputs=("q",))
    assert not obligations(result, "WRITE-REST")
    messages = [f.message for f in result.findings if (f.rule, f.verdict) == ("WRITE-NEST", Verdict.REFUTED)]
    assert any("axis 1 " in m and "beside the first window of a loop that moves along two axes" in m for m in messages)
    whole = check(diagonal("c0"), families="WRITE", outputs=("q",), assume=("M <= 64",))
    assert verdicts(whole, "WRITE-REST") == {Verdict.PROVED}


def stepping_by_a_size(upper: str, step: str) -> str:
    """`for i in range(0, upper, step)` over M rows, `step` rows a window, cut short at the end."""
    return grid(
        "%less = arith.subi %M, %c31 : index", f"scf.for %i = %c0 to %{upper} step %{step} {{",
        "%left = arith.subi %M, %i : index", f"%rows = arith.minsi %left, %{step} : index", rows("i", "rows"), "}")


def test_a_loop_whose_step_is_a_size_is_followed() -> None:
    """The step is the caller's: what it must keep for all rows to be written is asked for, or a size shows a rest."""
    whole = check(stepping_by_a_size("M", "n"), families="WRITE", outputs=("q",))
    assert verdicts(whole, "WRITE-NEST") <= {Verdict.PROVED}
    rest = check(stepping_by_a_size("less", "n"), families="WRITE", outputs=("q",))
    assert Verdict.PROVED not in verdicts(rest, "WRITE-NEST")


def numbered(height: str) -> str:
    """Tiles of 32 x 64, numbered row by row; blocks take turns, and rows of tiles are `height` rows apart."""
    return kernel("\n".join((
        "%c31 = arith.constant 31 : index", "%c63 = arith.constant 63 : index", view("o", "q", "M", "N"),
        alloc("t", VEC), fill("t", VEC),
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


@pytest.mark.parametrize(("step", "verdict"), [("n", Verdict.PROVED), ("over", Verdict.UNKNOWN)])
def test_blocks_that_take_turns_step_by_no_more_than_they_are(step: str, verdict: Verdict) -> None:
    """32 rows each of parts of 64: blocks that step by one more part than there are of them leave it out. (A caller
    of a text may have M end before.)"""
    text = grid(
        "%over = arith.addi %n, %c1 : index", "%first = arith.muli %b, %c64 : index",
        f"%pace = arith.muli %{step}, %c64 : index", "scf.for %i = %first to %M step %pace {",
        "scf.for %j = %c0 to %c64 step %c32 {", "%at = arith.addi %i, %j : index",
        "%left = arith.subi %M, %at : index", "%some = arith.minsi %left, %c32 : index",
        "%rows = arith.maxsi %some, %c0 : index", rows("at", "rows"), "}", "}")
    result = check(text, families="WRITE", outputs=("q",))
    assert verdicts(result, "WRITE-NEST") == {verdict}
    if verdict is Verdict.UNKNOWN:
        assert "no turn of the loops writes elements" in finding(result, "WRITE-NEST").message


def test_of_a_tensor_without_elements_nothing_is_missing() -> None:
    """With no rows there are no turns; what they leave of the columns is not there either."""
    text = grid(
        "%square = arith.muli %up, %up : index",
        "scf.for %i = %b to %square step %n {",
        "%row = arith.remsi %i, %up : index", "%col = arith.divsi %i, %up : index",
        "%at = arith.muli %row, %c32 : index", "%right = arith.muli %col, %c64 : index",
        "%left = arith.subi %M, %at : index", "%rows = arith.minsi %left, %c32 : index",
        window("w", "o", "%at, %right", "%rows, %c64"), store("t", "w", VEC), "}")
    assert verdicts(check(text, families="WRITE", outputs=("q",)), "WRITE-NEST") == {Verdict.PROVED}


def test_a_gap_is_shown_inside_the_tensor() -> None:
    """The first window of 16 of 64 columns would begin 72 before the tensor, the next ones 24 further on each."""
    text = kernel("\n".join((
        "%c24 = arith.constant 24 : index", "%c72 = arith.constant 72 : index", "%c6 = arith.constant 6 : index",
        view("o", "q", "c32"), alloc("t", VEC), fill("t", VEC), "scf.for %i = %c0 to %c6 step %c1 {",
        "%far = arith.muli %i, %c24 : index", "%at = arith.subi %far, %c72 : index",
        window("w", "o", "%c0, %at", "%c32, %c16"), store("t", "w", VEC), "}")))
    message = finding(check(text, families="WRITE", outputs=("q",)), "WRITE-NEST").message
    assert message == "axis 1 of o has 64: no turn of the loops writes elements 16 to 23 of it"
