"""WRITE-UNION: what several stores, or a store under a condition on a counter, write of an output together.

What the windows hold is counted out here, element by element.
"""

from __future__ import annotations

import random
from itertools import product

import pytest

from pypto_verified.report.model import Verdict
from tests.verifiers.kernels import alloc, check, fill, finding, kernel, obligations, store, verdicts, view, window
from tests.verifiers.stores import VEC

WRITTEN = "%c24 = arith.constant 24 : index\n%c40 = arith.constant 40 : index\n%c48 = arith.constant 48 : index"


def _put(name: str, at: str, rows: str, col: str = "c0", cols: str = "c64") -> str:
    """`rows` x `cols` elements at row `at` and column `col`."""
    return "\n".join((
        alloc(f"{name}t", VEC, 8192, rows, cols), fill(f"{name}t", VEC),
        window(f"{name}w", "o", f"%{at}, %{col}", f"%{rows}, %{cols}"), store(f"{name}t", f"{name}w", VEC)))


def _upto(name: str, at: str, end: str) -> str:
    """32 rows at `at`, or fewer up to `end`."""
    return "\n".join((
        f"%{name}left = arith.subi %{end}, %{at} : index", f"%{name}rows = arith.minsi %{name}left, %c32 : index",
        _put(name, at, f"{name}rows")))


def _loop(name: str, begin: str, end: str, step: str) -> str:
    """`for name in range(begin, end, step)`: 32 rows each, or fewer up to the end."""
    return f"scf.for %{name} = %{begin} to %{end} step %{step} {{\n{_upto(name, name, end)}\n}}"


def _kernel(*lines: str, cols: str = "c64") -> str:
    return kernel("\n".join((WRITTEN, view("o", "q", "M", cols), *lines)), "%M: index")


def _halves(begin: str, step: str) -> str:
    """One loop up to half of M, another from `begin` on."""
    return _kernel(
        "%half = arith.divsi %M, %c2 : index", "%behind = arith.addi %half, %c1 : index",
        _loop("i", "c0", "half", step), _loop("j", begin, "M", "c32"))


@pytest.mark.parametrize(("text", "missing"), [
    (_halves("half", "c32"), None), (_halves("half", "c16"), None),
    (_halves("behind", "c32"), "no store writes o[0, :]"), (_halves("half", "c64"), "no store writes o[32, :]"),
])
def test_a_second_loop_goes_on_where_the_first_ends(text: str, missing: str | None) -> None:
    result = check(text, families="WRITE", outputs=("q",))
    assert verdicts(result, "WRITE-UNION") == {Verdict.PROVED if missing is None else Verdict.REFUTED}
    if missing is not None:
        assert finding(result, "WRITE-UNION").message == missing


def _by_turn(otherwise: str, radix: str = "c64") -> str:
    """`for i in range(0, M, 32)`: 32 rows where `i % radix == 0`, else what is `otherwise`."""
    return _kernel(
        "scf.for %i = %c0 to %M step %c32 {", f"%rem = arith.remsi %i, %{radix} : index",
        "%even = arith.cmpi eq, %rem, %c0 : index", "scf.if %even {", _upto("a", "i", "M"), "} else {", otherwise, "}",
        "}")


@pytest.mark.parametrize(("text", "verdict"), [
    (_by_turn(_upto("b", "i", "M")), Verdict.PROVED), (_by_turn(""), Verdict.REFUTED),
    (_by_turn(_put("b", "i", "c1")), Verdict.REFUTED), (_by_turn("", "c32"), Verdict.PROVED),
])
def test_a_condition_on_a_counter_is_asked_of_the_turn_that_an_element_belongs_to(text: str, verdict: Verdict) -> None:
    result = check(text, families="WRITE", outputs=("q",))
    assert {o.verdict for o in result.obligations} == {verdict, Verdict.PROVED}
    assert verdicts(result, "WRITE-UNION") in ({verdict}, set())


def _two_in_a_turn(step: str) -> str:
    """Each turn writes 32 rows and, if they begin before the end, the 32 rows behind them."""
    return _kernel(
        f"scf.for %i = %c0 to %M step %{step} {{", _upto("a", "i", "M"), "%next = arith.addi %i, %c32 : index",
        "%more = arith.cmpi slt, %next, %M : index", "scf.if %more {", _upto("b", "next", "M"), "}", "}")


@pytest.mark.parametrize(("step", "verdict"), [("c64", Verdict.PROVED), ("c128", Verdict.REFUTED)])
def test_two_stores_in_one_turn(step: str, verdict: Verdict) -> None:
    assert verdicts(check(_two_in_a_turn(step), families="WRITE", outputs=("q",)), "WRITE-UNION") == {verdict}


def _beside(rows: str, cols: str = "c64") -> str:
    """Over M rows: the first 32 columns of 32 rows, and `rows` of the 32 columns beside them."""
    return _kernel(
        "scf.for %i = %c0 to %M step %c32 {", "%left = arith.subi %M, %i : index",
        "%few = arith.minsi %left, %c32 : index", _put("a", "i", "few", "c0", "c32"),
        _put("b", "i", rows, "c32", "c32"), "}", cols=cols)


@pytest.mark.parametrize(("text", "verdict"), [
    (_beside("few"), Verdict.PROVED), (_beside("c1"), Verdict.REFUTED),
    (_beside("few", "c128"), Verdict.PROVED),
], ids=["both", "one row beside", "columns of other blocks"])
def test_stores_beside_each_other_each_go_to_the_end(text: str, verdict: Verdict) -> None:
    """The last 64 of 128 columns are left to other blocks, as with one store (BLOCK-OF-GRID)."""
    assert verdicts(check(text, families="WRITE", outputs=("q",)), "WRITE-UNION") == {verdict}


def test_loops_that_are_not_followed_are_said_to_be() -> None:
    """Windows of `i * i` rows on: nothing is shown of a declared output, and a text does not say what is one."""
    squares = _kernel(
        _loop("j", "c32", "M", "c32"), "scf.for %i = %c0 to %c8 step %c1 {", "%at = arith.muli %i, %i : index",
        _upto("i", "at", "M"), "}")
    assert verdicts(check(squares, families="WRITE", outputs=("q",)), "WRITE-UNION") == {Verdict.UNKNOWN}
    assert not obligations(check(squares, families="WRITE"), "WRITE-UNION")


def _case(seed: int) -> tuple[tuple[tuple[int, int, int, int], ...], int]:
    """(begin, end, step, rows) of loops over a tensor of so many rows, which mostly go on where the one before ends. (A
    loop of one turn is a window at a fixed place, and all of those are left to the blocks.)"""
    draw, loops, begin = random.Random(seed), list[tuple[int, int, int, int]](), 0
    for number in range(draw.randint(2, 3)):
        rows = draw.choice((8, 16, 32))
        step = rows * draw.choice((1, 1, 1, 1, 2)) - draw.choice((0, 0, 0, 4))
        end = begin + draw.randint(1 if number else 2, 3) * step
        loops.append((begin, end, step, rows))
        begin = end + draw.choice((0, 0, 0, 0, -4, 4))
    return tuple(loops), max(1, loops[-1][1] - draw.choice((0, 0, 3, -2)))


@pytest.mark.parametrize("seed", range(60))
def test_it_is_proved_if_and_only_if_every_row_is_in_a_window(seed: int) -> None:
    loops, extent = _case(seed)
    numbers = sorted({extent, *(n for loop in loops for n in loop)})
    lines = [f"%n{n} = arith.constant {n} : index" for n in numbers]
    for k, (begin, end, step, rows) in enumerate(loops):
        lines += [f"scf.for %i{k} = %n{begin} to %n{end} step %n{step} {{", _put(f"p{k}", f"i{k}", f"n{rows}"), "}"]
    text = kernel("\n".join((*lines[:len(numbers)], view("o", "q", f"n{extent}"), *lines[len(numbers):])))
    starts = [(at, rows) for begin, end, step, rows in loops for at in range(begin, end, step)]
    held = {at + row for at, rows in starts for row in range(rows)}
    wanted = Verdict.PROVED if held >= set(range(extent)) else Verdict.REFUTED
    assert verdicts(check(text, families="WRITE", outputs=("q",)), "WRITE-UNION") == {wanted}


def test_both_verdicts_are_among_the_cases() -> None:
    whole = 0
    for seed in range(60):
        loops, extent = _case(seed)
        held = {a + r for b, e, s, n in loops for a, r in product(range(b, e, s), range(n))}
        whole += held >= set(range(extent))
    assert 15 <= whole <= 45


@pytest.mark.parametrize(("op", "verdict"), [
    (store("t", "mem", VEC), Verdict.PROVED), (store("t", "mem", VEC).replace("tstore", "tmov"), Verdict.REFUTED),
], ids=["a store", "a move to a tile"])
def test_a_window_that_a_caller_passes_is_stored_to(op: str, verdict: Verdict) -> None:
    moved = op.replace("%mem : !pto.partition_tensor_view<?x?xf32>", f"%d : {VEC}")
    text = kernel("\n".join((alloc("t", VEC), fill("t", VEC), alloc("d", VEC, 8192), op if "tstore" in op else moved)),
                  "%mem: !pto.partition_tensor_view<?x?xf32>")
    assert verdicts(check(text, families="WRITE"), "WRITE-ANY") == {verdict}
