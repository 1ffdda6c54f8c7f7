"""What is alive at one time, where the assembler gives the addresses: any planner needs that much."""

from __future__ import annotations

import pytest

from pypto_verified.report.model import Verdict
from tests.verifiers.kernels import alloc, check, fill, finding, kernel, tile, verdicts

LARGE, HALF, ROW, COLUMN = tile(256, 64), tile(128, 64), tile(1, 64), tile(256, 1, blayout="col_major")
"""64 KiB, 32 KiB, 256 and 1024 bytes; a2a3 has 184 KiB."""


def made(name: str, type_: str = LARGE) -> str:
    return alloc(name, type_, None, "c128") + "\n" + fill(name, type_)


def used(name: str, type_: str = LARGE) -> str:
    """The tile is read, into a row that nothing reads."""
    return alloc(f"{name}_max", ROW, None, "c1") + f"\npto.tcolmax ins(%{name} : {type_}) outs(%{name}_max : {ROW})"


def text(*lines: str) -> str:
    return kernel("\n".join(lines), "%flag: index")


def peak(*lines: str) -> set[Verdict]:
    return verdicts(check(text(*lines), families="PLAN"), "PLAN-PEAK")


@pytest.mark.requirement("MP-07")
def test_values_that_are_used_later_are_in_use() -> None:
    assert peak(made("a"), made("b"), made("c"), used("c"), used("b"), used("a")) == {Verdict.REFUTED}
    assert peak(made("a"), used("a"), made("b"), made("c"), used("c"), used("b")) == {Verdict.PROVED}


def test_the_message_has_the_bytes_and_the_tiles() -> None:
    found = finding(check(text(made("a"), made("b"), made("c"), used("b"), used("a"), used("c")), families="PLAN"),
                    "PLAN-PEAK")
    assert found.message == (
        "here 196608 bytes of vec are in use (a 65536, b 65536, c 65536); there are 188416 on a2a3")


@pytest.mark.parametrize(("scratch", "expected"), [(LARGE, Verdict.REFUTED), (HALF, Verdict.PROVED)])
def test_scratch_is_in_use_while_its_op_runs(scratch: str, expected: Verdict) -> None:
    assert peak(
        made("a"), made("b"), alloc("tmp", scratch, None, "c128"), alloc("s", COLUMN, None, "c128", "c1"),
        f"pto.trowsum ins(%a, %tmp : {LARGE}, {scratch}) outs(%s : {COLUMN})", used("b"), used("a")) == {expected}


def test_the_assembler_leaves_scratch_out_on_a5() -> None:
    """PTOAS#531: 240 KiB are there, 128 are alive; the scratch would make it 256."""
    huge, column = tile(512, 64), tile(512, 1, blayout="col_major")
    body = text(
        made("a", huge), alloc("tmp", huge, None, "c128"), alloc("s", column, None, "c128", "c1"),
        f"pto.trowsum ins(%a, %tmp : {huge}, {huge}) outs(%s : {column})")
    assert verdicts(check(body, chip="a5", families="PLAN"), "PLAN-PEAK") == {Verdict.PROVED}


def test_arms_of_a_branch_are_not_alive_together() -> None:
    assert peak(
        made("a"), "%arm = arith.cmpi sgt, %flag, %c0 : index",
        "scf.if %arm {", made("b"), used("b"), "} else {", made("c"), used("c"), "}", used("a")) == {Verdict.PROVED}


def test_what_a_loop_reads_lives_through_it() -> None:
    def program(*read: str) -> set[Verdict]:
        return peak(
            made("a"), made("b"), "scf.for %i = %c0 to %c4 step %c1 {", *read, made("c"), used("c"), "}")

    assert program(used("a"), used("b")) == {Verdict.REFUTED}
    assert program(used("a")) == {Verdict.PROVED}


def test_a_tile_made_in_a_loop_is_a_new_one_in_each_iteration() -> None:
    """The second half of it is read although never written: nothing comes around for it."""
    assert peak(
        "scf.for %i = %c0 to %c4 step %c1 {", alloc("a", LARGE, None, "c128"), used("a"), made("b"), made("c", HALF),
        used("c", HALF), used("b"), fill("a", LARGE), "}") == {Verdict.PROVED}


def test_addresses_are_for_the_other_rules() -> None:
    assert peak(*(line for k in "abc" for line in (alloc(k, LARGE, 0, "c128"), fill(k, LARGE)))) == set()


def loop(head: tuple[str, ...], body: tuple[str, ...]) -> str:
    """A while loop of `%flag` iterations; the head runs once more."""
    return "\n".join((
        "%end = scf.while (%w = %c0) : (index) -> index {", *head, "%more = arith.cmpi slt, %w, %flag : index",
        "scf.condition(%more) %w : index", "} do {", "^bb0(%k: index):", *body, "%next = arith.addi %k, %c1 : index",
        "scf.yield %next : index", "}"))


TWO = (made("a"), made("b"), used("b"), used("a"))
"""Two tiles that are alive together."""


@pytest.mark.requirement("MP-07")
@pytest.mark.parametrize(("head", "body", "expected"), [
    (TWO, (fill("x", LARGE),), Verdict.REFUTED),
    ((fill("x", LARGE),), TWO, Verdict.PROVED),
    ((*TWO, fill("x", LARGE)), (), Verdict.PROVED),
    ((fill("x", LARGE), *TWO), (), Verdict.REFUTED),
    ((), (*TWO, fill("x", LARGE)), Verdict.PROVED),
])
def test_a_while_loop_may_end_after_its_test_and_not_after_its_body(
    head: tuple[str, ...], body: tuple[str, ...], expected: Verdict
) -> None:
    """`x` is read behind the loop: what the body wrote is alive in the test that comes after it, what the test wrote is
    not alive in the body, as the next test writes it anew."""
    assert peak(alloc("x", LARGE, None, "c128"), loop(head, body), used("x")) == {expected}
