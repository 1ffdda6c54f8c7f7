"""Where tiles lie: reuse is fine, clobbers are not, and the names that compilers give one buffer are understood."""

from __future__ import annotations

import pytest

from pypto_verified.report.model import Verdict
from tests.verifiers.kernels import alloc, check, fill, finding, kernel, out, tile, unary, verdicts

VEC = tile()
WIDE = tile(64, 64)


def overlap(*lines: str) -> set[Verdict]:
    return verdicts(check(kernel("\n".join(lines), "%flag: index"), families="PLAN"), "PLAN-OVERLAP")


def add(a: str, b: str, dst: str) -> str:
    return f"pto.tadd ins(%{a}, %{b} : {VEC}, {VEC}) outs(%{dst} : {VEC})"


@pytest.mark.requirement("MP-02")
def test_bytes_may_be_reused_after_the_last_read() -> None:
    assert overlap(
        alloc("x", VEC, 0), fill("x", VEC), alloc("y", VEC, 8192), unary("texp", "x", "y", VEC),
        alloc("z", VEC, 0), fill("z", VEC), add("y", "z", "y")) == {Verdict.PROVED}


def test_a_tile_that_nothing_reads_is_not_live() -> None:
    assert overlap(
        alloc("x", VEC, 0), fill("x", VEC), alloc("unused", VEC, 4096), alloc("y", VEC, 8192),
        unary("texp", "x", "y", VEC)) == {Verdict.PROVED}


def test_partial_overlap_of_live_tiles_is_refuted_with_both_ranges() -> None:
    text = kernel("\n".join((
        alloc("x", VEC, 0), fill("x", VEC), alloc("y", VEC, 4096), fill("y", VEC), alloc("z", VEC, 65536),
        add("x", "y", "z"))))
    found = finding(check(text, families="PLAN"), "PLAN-OVERLAP")
    assert found.verdict is Verdict.REFUTED
    assert "bytes 0 to 8191 of vec" in found.message
    assert "bytes 4096 to 12287 of vec" in found.message


def test_the_value_of_a_branch_lives_until_its_last_use() -> None:
    """pypto#1821: m = if c {m1} else {m2}; b = temp; use(b); use(m), with m and b in one place."""
    def program(temp: int) -> set[Verdict]:
        return overlap(
            alloc("x", VEC, 32768), fill("x", VEC), alloc("m", VEC, 0),
            "%c = arith.cmpi sgt, %flag, %c0 : index",
            "scf.if %c {", alloc("m1", VEC, 0), unary("texp", "x", "m1", VEC), "} else {",
            alloc("m2", VEC, 0), unary("tneg", "x", "m2", VEC), "}",
            alloc("b", VEC, temp), fill("b", VEC), alloc("z", VEC, 65536), add("b", "m", "z"))

    assert program(8192) == {Verdict.PROVED}
    assert Verdict.REFUTED in program(0)


def test_an_arm_that_destroys_a_live_tile_is_refuted_although_the_caller_picks_the_arm() -> None:
    assert Verdict.REFUTED in overlap(
        alloc("x", VEC, 0), fill("x", VEC), alloc("m", VEC, 0), alloc("t", VEC, 8192),
        "%c = arith.cmpi sgt, %flag, %c0 : index",
        "scf.if %c {", alloc("u", VEC, 4096), fill("u", VEC), unary("tneg", "u", "t", VEC), "}",
        unary("texp", "x", "t", VEC))


def test_a_loop_carried_tile_is_one_buffer_under_two_names() -> None:
    assert overlap(
        alloc("zero", VEC, 0), fill("zero", VEC),
        "scf.for %i = %c0 to %c4 step %c1 {",
        alloc("x", VEC, 8192), fill("x", VEC), alloc("next", VEC, 0), add("zero", "x", "next"), "}",
        alloc("z", VEC, 65536), unary("texp", "zero", "z", VEC)) == {Verdict.PROVED}


def test_a_loop_may_replace_a_tile_that_it_does_not_read() -> None:
    """What is written under a name that nothing reads is for the name that is read; a temporary is read by its own."""
    def program(*use: str) -> set[Verdict]:
        return overlap(
            alloc("first", VEC, 0), fill("first", VEC), alloc("y", VEC, 32768),
            "scf.for %i = %c0 to %c4 step %c1 {", alloc("next", VEC, 0), fill("next", VEC), *use, "}",
            alloc("z", VEC, 65536), unary("texp", "first", "z", VEC))

    assert program() == {Verdict.PROVED}
    assert Verdict.REFUTED in program(unary("texp", "next", "y", VEC))


def test_two_carried_tiles_in_one_place_are_refuted() -> None:
    """pypto#585: two accumulators of one loop at one address."""
    def program(second: int) -> set[Verdict]:
        return overlap(
            alloc("s", VEC, 0), fill("s", VEC), alloc("t", VEC, second), fill("t", VEC), alloc("x", VEC, 65536),
            fill("x", VEC),
            "scf.for %i = %c0 to %c4 step %c1 {",
            alloc("s1", VEC, 0), add("s", "x", "s1"), alloc("t1", VEC, second), add("t", "x", "t1"), "}",
            alloc("z", VEC, 32768), add("s", "t", "z"))

    assert program(8192) == {Verdict.PROVED}
    assert Verdict.REFUTED in program(0)


def test_a_clobber_reaches_over_the_back_edge() -> None:
    def program(scratch: int) -> set[Verdict]:
        return overlap(
            alloc("table", VEC, 0), fill("table", VEC),
            "scf.for %i = %c0 to %c4 step %c1 {",
            alloc("y", VEC, 16384), unary("texp", "table", "y", VEC),
            alloc("u", VEC, scratch), fill("u", VEC), add("u", "y", "y"), "}")

    assert program(8192) == {Verdict.PROVED}
    assert Verdict.REFUTED in program(4096)


def test_slots_that_alternate_do_not_meet() -> None:
    def program(stride: str) -> set[Verdict]:
        return overlap(
            "%size = arith.constant 8192 : index", "%half = arith.constant 4096 : index",
            "scf.for %i = %c0 to %c8 step %c1 {",
            "%k = arith.remsi %i, %c2 : index", f"%o = arith.muli %k, %{stride} : index",
            "%base = arith.addi %size, %o : index", "%at = arith.index_cast %base : index to i64",
            alloc("x", VEC, "at"), fill("x", VEC),
            "%n = arith.addi %i, %c1 : index", "%m = arith.remsi %n, %c2 : index",
            f"%far = arith.muli %m, %{stride} : index", "%low = arith.addi %size, %far : index",
            "%to = arith.index_cast %low : index to i64",
            alloc("y", VEC, "to"), fill("y", VEC), alloc("z", VEC, 65536), add("x", "y", "z"), "}")

    assert program("size") == {Verdict.PROVED}
    assert Verdict.REFUTED in program("half")


def test_a_subview_reads_only_its_part() -> None:
    part = tile(32, 64, valid=("32", "64"))
    base = (alloc("x", WIDE, 0, "c64"), fill("x", WIDE))
    view = f"%v = pto.subview %x[%c0, %c0] sizes [32, 64] : {WIDE} -> {part}"
    other = (alloc("u", VEC, 8192), fill("u", VEC), alloc("z", VEC, 65536))
    assert overlap(*base, view, *other, f"pto.tadd ins(%v, %u : {part}, {VEC}) outs(%z : {VEC})") == {Verdict.PROVED}
    assert Verdict.REFUTED in overlap(*base, *other, unary("texp", "x", "x", WIDE))


def in_place(op: str, src_type: str, dst_type: str, dst_address: int = 0) -> set[Verdict]:
    text = kernel("\n".join((
        alloc("x", src_type, 0, "c32"), fill("x", src_type), alloc("y", dst_type, dst_address, "c32"),
        unary(op, "x", "y", src_type, dst_type))))
    return verdicts(check(text, families="PLAN"), "PLAN-INPLACE")


@pytest.mark.parametrize(("op", "expected"), [("texp", Verdict.PROVED), ("trecip", Verdict.REFUTED)])
def test_safety_in_place_is_a_fact_of_the_op(op: str, expected: Verdict) -> None:
    assert in_place(op, VEC, VEC) == {expected}


def test_a_narrowing_conversion_may_run_in_place_and_a_widening_one_may_not() -> None:
    half = tile(dtype="f16")
    assert in_place("tcvt", VEC, half) == {Verdict.PROVED}
    assert in_place("tcvt", half, VEC) == {Verdict.REFUTED}


def test_a_destination_behind_its_source_is_safe_and_one_ahead_is_not() -> None:
    assert in_place("texp", VEC, VEC, 2048) == {Verdict.REFUTED}
    text = kernel("\n".join((
        alloc("x", VEC, 2048), fill("x", VEC), alloc("y", VEC, 0), unary("texp", "x", "y", VEC))))
    assert verdicts(check(text, families="PLAN"), "PLAN-INPLACE") == {Verdict.PROVED}


@pytest.mark.parametrize(("source", "expected"), [(8, Verdict.PROVED), (0, Verdict.REFUTED)])
def test_rows_of_a_tile_without_an_address_move_down_in_place_and_not_up(source: int, expected: Verdict) -> None:
    """16 of 32 rows onto those that begin 8 rows further up, or down: there a row is overwritten before it is read."""
    rows = tile(16, 64, valid=("16", "64"))
    text = kernel("\n".join((
        alloc("x", VEC, None), fill("x", VEC),
        *(f"%{name} = pto.subview %x[%c{row}, %c0] sizes [16, 64] : {VEC} -> {rows}"
          for name, row in (("v", source), ("u", 8 - source))),
        unary("texp", "v", "u", rows))))
    assert verdicts(check(text, families="PLAN"), "PLAN-INPLACE") == {expected}


@pytest.mark.requirement("MP-07")
@pytest.mark.parametrize(("chip", "expected"), [("a2a3", Verdict.REFUTED), ("a5", Verdict.PROVED)])
def test_capacity_is_the_targets(chip: str, expected: Verdict) -> None:
    """8 KiB at 188416 end at 192 KiB: past 184 usable KiB of a2a3, within the 240 of a5."""
    result = check(kernel(alloc("t", VEC, 188416)), chip=chip, families="PLAN")
    assert verdicts(result, "PLAN-CAPACITY") == {expected}


_TWO = f"!pto.multi_tile_buf<{VEC}, count=2>"


def slots(address: int, *before: str) -> str:
    """Two tiles one behind the other, 16 KiB, of which the second one is filled and stored."""
    return kernel("\n".join((
        *before, f"%m = pto.alloc_multi_tile addr = %a{address} valid_row = %c32 valid_col = %c64 : {_TWO}",
        f"%t = pto.multi_tile_get %m[%c1] : {_TWO} -> {VEC}", fill("t", VEC), out("t", VEC))))


@pytest.mark.requirement("MP-07")
@pytest.mark.parametrize(("rule", "good", "bad"), [
    ("PLAN-CAPACITY", 65536, 188416), ("PLAN-ALIGN", 32, 16), ("PLAN-RESERVE", 16384, 2048)])
def test_an_allocation_of_several_tiles_is_one_too(rule: str, good: int, bad: int) -> None:
    """UB of a2a3 has 188416 bytes, addresses are multiples of 32, and the ring has bytes 8192 to 16383: from 2048 on
    the first tile reaches into it, and the second one lies in it."""
    ring = ('%r = pto.reserve_buffer {name = "ring", size = 8192, location = #pto.address_space<vec>, auto = false, '
            "base = 8192} -> i32")
    before = (ring,) if rule == "PLAN-RESERVE" else ()
    for address, expected in (good, Verdict.PROVED), (bad, Verdict.REFUTED):
        assert verdicts(check(slots(address, *before), families="PLAN"), rule) == {expected}


def test_both_tiles_count_towards_a_ring() -> None:
    """From 0 on the first one ends where the ring begins."""
    ring = ('%r = pto.reserve_buffer {name = "ring", size = 8192, location = #pto.address_space<vec>, auto = false, '
            "base = 8192} -> i32")
    found = finding(check(slots(0, ring), families="PLAN"), "PLAN-RESERVE")
    assert "bytes 0 to 16383 of vec, lies in the ring ring, bytes 8192 to 16383" in found.message


@pytest.mark.requirement("MP-01")
@pytest.mark.parametrize(("address", "over_it"), [(8192, False), (4096, True)])
def test_what_a_while_loop_reads_for_its_test_is_read_again(address: int, over_it: bool) -> None:
    """%x is stored before each test; the body fills %y, from 4096 on over its second half."""
    text = kernel("\n".join((
        alloc("x", VEC, 0), fill("x", VEC), alloc("y", VEC, address),
        "scf.while (%k = %c0) : (index) -> index {", out("x", VEC), "%more = arith.cmpi slt, %k, %c4 : index",
        "scf.condition(%more) %k : index", "} do {", "^bb0(%j: index):", fill("y", VEC), unary("texp", "y", "y", VEC),
        "%n = arith.addi %j, %c1 : index", "scf.yield %n : index", "}")))
    assert (Verdict.REFUTED in verdicts(check(text, families="PLAN"), "PLAN-OVERLAP")) is over_it


def test_roots_without_addresses_are_the_assemblers_to_place() -> None:
    text = kernel("\n".join((
        alloc("x", VEC, None), fill("x", VEC), alloc("y", VEC, None), unary("texp", "x", "y", VEC))))
    result = check(text, families="PLAN")
    assert not [o for o in result.obligations if o.rule == "PLAN-OVERLAP"]
    assert {o.verdict for o in result.obligations} == {Verdict.PROVED}


def test_an_accumulator_may_have_a_new_name_in_every_op() -> None:
    """Each step of an unrolled accumulation declares the accumulator again and updates it in place."""
    def step(name: str) -> tuple[str, str]:
        return alloc(name, VEC, 0), add(name, "x", name)

    assert overlap(
        alloc("x", VEC, 8192), fill("x", VEC), alloc("acc", VEC, 0), fill("acc", VEC),
        "scf.for %i = %c0 to %c4 step %c1 {",
        "scf.for %j = %c0 to %c4 step %c1 {", *step("b0"), *step("b1"), "}", *step("b2"), "}",
        alloc("z", VEC, 65536), unary("texp", "acc", "z", VEC)) == {Verdict.PROVED}


def test_a_tile_without_valid_elements_is_not_read() -> None:
    """The second lane of a split runs the same ops on empty tiles."""
    text = kernel("\n".join((
        alloc("x", VEC, 0, "c0", "c0"), alloc("y", VEC, 8192, "c0", "c0"), unary("tneg", "x", "y", VEC))))
    assert verdicts(check(text, families="INIT"), "INIT-READ") == {Verdict.PROVED}


def test_only_earlier_iterations_can_have_spoilt_a_row() -> None:
    """Each iteration reads row i of a table and writes row 0: row 0 is read first, in iteration 0."""
    row = tile(1, 64, valid=("1", "64"))

    def program(lower: str) -> set[Verdict]:
        return overlap(
            alloc("x", VEC, 0), fill("x", VEC), alloc("z", VEC, 65536),
            f"scf.for %i = %{lower} to %c16 step %c1 {{",
            "%r = arith.subi %c16, %i : index",
            f"%v = pto.subview %x[%{'i' if lower == 'c0' else 'r'}, %c0] sizes [1, 64] : {VEC} -> {row}",
            alloc("u", row.replace("v_row=1, v_col=64", "v_row=?, v_col=?"), 0 if lower == "c0" else 2048, "c1"),
            unary("texp", "v", "u", row, row.replace("v_row=1, v_col=64", "v_row=?, v_col=?")), "}")

    assert program("c0") == {Verdict.PROVED}
    # From the other end, row 8 (bytes 2048 to 2303) is overwritten by the first iteration and read by the eighth.
    assert Verdict.REFUTED in program("c1")


def test_an_extract_reads_only_its_window() -> None:
    """Halves of a row extracted to where they already are: nothing changes."""
    def program(col: str) -> set[Verdict]:
        whole, half = tile(1, 64), tile(1, 32)
        text = kernel("\n".join((
            alloc("x", whole, 0, "c1"), fill("x", whole), "%a128 = arith.constant 128 : i64",
            alloc("h", half, "a128", "c1", "c32"),
            f"pto.textract ins(%x, %c0, %{col} : {whole}, index, index) outs(%h : {half})")))
        return verdicts(check(text, families="PLAN"), "PLAN-INPLACE")

    assert program("c32") == {Verdict.PROVED}
    assert program("c16") == {Verdict.REFUTED}


def valid_lines(rule: str, body: tuple[str, ...]) -> set[Verdict]:
    return verdicts(check(kernel("\n".join(body)), families="PLAN"), rule)


@pytest.mark.requirement("MP-02")
@pytest.mark.parametrize(("rows", "refuted"), [("c32", False), ("c64", True)])
def test_only_lines_with_valid_elements_are_read(rows: str, refuted: bool) -> None:
    """A 64 x 64 f32 tile has its first 32 rows in bytes 0 to 8191; the other tile takes those from 8192 on."""
    body = (
        alloc("x", WIDE, 0, rows=rows), fill("x", WIDE), alloc("y", WIDE, 8192, rows=rows), fill("y", WIDE),
        alloc("z", WIDE, 65536, rows=rows), f"pto.tadd ins(%x, %y : {WIDE}, {WIDE}) outs(%z : {WIDE})")
    assert (Verdict.REFUTED in valid_lines("PLAN-OVERLAP", body)) == refuted


@pytest.mark.requirement("MP-02")
@pytest.mark.parametrize(("rows", "refuted"), [("c32", False), ("c64", True)])
def test_a_destination_may_lie_behind_the_valid_lines_of_the_source(rows: str, refuted: bool) -> None:
    body = (
        alloc("x", WIDE, 0, rows=rows), fill("x", WIDE), alloc("y", WIDE, 8192, rows=rows),
        f"pto.tadd ins(%x, %x : {WIDE}, {WIDE}) outs(%y : {WIDE})")
    assert (Verdict.REFUTED in valid_lines("PLAN-INPLACE", body)) == refuted


@pytest.mark.requirement("MP-02")
@pytest.mark.parametrize("address", [None, 0])
def test_an_insert_writes_what_is_read_later(address: int | None) -> None:
    """Its destination is an operand that it keeps the rest of; that is no copy of the tile onto itself."""
    boxed = tile(32, 64, "f16", "mat", "col_major", "row_major")
    acc = tile(32, 64, "f32", "acc", "col_major", "row_major", 1024)
    left = tile(32, 64, "f16", "left", "row_major", "row_major")
    result = check(kernel("\n".join((
        alloc("acc", acc, address), alloc("mid", boxed, address), alloc("left", left, address),
        f"pto.tinsert ins(%acc, %c0, %c0 : {acc}, index, index) outs(%mid : {boxed})",
        f"pto.tmov ins(%mid : {boxed}) outs(%left : {left})")), kind="cube"), families="INIT")
    found = [f for f in result.findings if f.rule == "INIT-READ" and "mid" in f.message]
    assert found == []
    assert {o.verdict for o in result.obligations if o.rule == "INIT-READ" and "tmov" in o.site} == {Verdict.PROVED}


@pytest.mark.parametrize("address", [10**9, 1 << 62])
def test_a_tile_behind_every_memory_is_one_finding(address: int) -> None:
    """No analysis counts bytes up to there."""
    found = check(kernel("\n".join((
        f"%far = arith.constant {address} : i64", alloc("x", VEC, "far"), fill("x", VEC), alloc("y", VEC, 0),
        unary("texp", "x", "y", VEC), out("y", VEC)))))
    assert {f.rule for f in found.findings} == {"PLAN-CAPACITY"}


def test_a_window_that_is_filled_in_part_does_not_renew_its_tile() -> None:
    """16 of 64 columns are written anew; the others are what the tile had, until another one lay over it."""
    part, other = tile(32, 64, valid=("32", "16")), tile(16, 64)
    first = (alloc("x", VEC), fill("x", VEC), alloc("y", VEC, 8192), fill("y", VEC))
    between = (alloc("z", other, rows="c16"), fill("z", other))
    last = (
        f"%v = pto.subview %x[%c0, %c0] sizes [32, 64] valid [%c32, %c16] : {VEC} -> {part}",
        unary("tmov", "y", "v", VEC, part), alloc("e", VEC, 16384), unary("texp", "x", "e", VEC))
    assert overlap(*first, *last) == {Verdict.PROVED}
    assert Verdict.REFUTED in overlap(*first, *between, *last)
