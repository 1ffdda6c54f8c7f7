"""PITCH: pitches by hand. A product of m rows is written at ceil(m/16)*16 rows; readers differ by target and type."""

from __future__ import annotations

import pytest

from pypto_verified.pto.reader import read
from pypto_verified.report.model import FunctionResult, Verdict
from pypto_verified.simulator.confirm import confirm
from pypto_verified.targets import target
from tests.verifiers.examples_pitch import (
    LEFT,
    PAIRS,
    RIGHT,
    accumulator,
    added,
    cube,
    loaded,
    mat,
    product,
    stored,
)
from tests.verifiers.kernels import alloc, check, finding, tile, unary, verdicts

PROVED, REFUTED, UNKNOWN = {Verdict.PROVED}, {Verdict.REFUTED}, {Verdict.UNKNOWN}


def _check(*body: str, args: str = "", chip: str = "a2a3", assume: tuple[str, ...] = ()) -> FunctionResult:
    return check(cube(*body, args=args), chip=chip, families="PITCH", assume=assume)


def _stored(m: str, acc: str, args: str = "", assume: tuple[str, ...] = ()) -> FunctionResult:
    """A product of `m` rows in `acc`, stored."""
    return _check(
        "%tail = arith.minsi %M, %c64 : index" if args else "",
        loaded(m), alloc("c", acc, 0, m), product(acc), stored(acc, m), args=args, assume=assume)


def test_the_message_names_the_op_and_both_pitches() -> None:
    found = finding(_stored("c16", accumulator()), "PITCH-READ")
    assert "tstore c has a pitch of 64 rows" in found.message
    assert "wrote it at a pitch of 16 rows" in found.message
    assert found.help == "declare c compact, or give the product all 64 rows"


@pytest.mark.parametrize(("rows", "expected"), [("c16", REFUTED), ("c17", REFUTED), ("c64", PROVED)])
@pytest.mark.requirement("CA-05")
def test_a_store_reads_physical_rows_unless_the_accumulator_is_compact(rows: str, expected: set[Verdict]) -> None:
    assert verdicts(_stored(rows, accumulator()), "PITCH-READ") == expected
    assert verdicts(_stored(rows, accumulator(mode=1)), "PITCH-READ") == PROVED


def test_rows_that_reach_into_the_last_fractal_need_no_compact_accumulator() -> None:
    short = _check(loaded("c17"), alloc("c", accumulator(32), 0, "c17"), product(accumulator(32)),
                   stored(accumulator(32), "c17"))
    assert verdicts(short, "PITCH-READ") == PROVED


def test_valid_rows_at_run_time_are_refuted_at_a_size_and_proved_when_compact() -> None:
    plain = _stored("tail", accumulator(), args="%M: index")
    assert verdicts(plain, "PITCH-READ") == UNKNOWN, "a caller may always pass 49 or more"
    assert "M" in finding(plain, "PITCH-READ").needs
    assert verdicts(_stored("tail", accumulator(), "%M: index", ("M > 48",)), "PITCH-READ") == PROVED
    assert verdicts(_stored("tail", accumulator(mode=1), args="%M: index"), "PITCH-READ") == PROVED


def test_within_the_first_sixteen_columns_no_pitch_matters() -> None:
    acc = accumulator()
    narrow = _check(loaded("c16", n="c16"), alloc("c", acc, 0, "c16", "c16"), product(acc), stored(acc, "c16"))
    assert verdicts(narrow, "PITCH-READ") == PROVED


_WITHOUT_EXTENTS = "%c = pto.alloc_tile addr = %a0"


def _moved(chip: str, valid: tuple[str, str], boxed: bool) -> set[Verdict]:
    """Sixteen rows moved to L1 (boxed) or UB."""
    acc = accumulator(valid=valid)
    dst = mat() if boxed else tile(64, 64)
    text = cube(loaded("c16"), alloc("c", acc, 0, "c16"), product(acc), alloc("d", dst, 32768, "c16"),
                unary("tmov", "c", "d", acc, dst))
    if valid != ("?", "?"):
        text = text.replace("%c = pto.alloc_tile addr = %a0 valid_row = %c16 valid_col = %c64", _WITHOUT_EXTENTS)
    return verdicts(check(text, chip=chip, families="PITCH"), "PITCH-READ")


@pytest.mark.requirement("CA-05")
def test_a_move_on_a5_to_ub_takes_the_pitch_from_valid_rows_known_at_run_time_only() -> None:
    assert _moved("a5", ("?", "?"), boxed=False) == PROVED
    assert _moved("a5", ("16", "64"), boxed=False) == REFUTED
    assert _moved("a5", ("?", "?"), boxed=True) == REFUTED
    assert _moved("a2a3", ("?", "?"), boxed=True) == REFUTED


def test_each_product_of_a_chain_has_the_pitch_of_the_first() -> None:
    def chain(first: str, second: str) -> FunctionResult:
        acc = accumulator(mode=1)
        return _check(loaded(first), alloc("c", acc, 0, second), product(acc), loaded(second, more="2"),
                      added(acc, "2"), stored(acc, second))

    assert verdicts(chain("c17", "c32"), "PITCH-ACC") == PROVED
    apart = chain("c16", "c32")
    assert verdicts(apart, "PITCH-ACC") == REFUTED
    assert verdicts(apart, "PITCH-READ") == PROVED, "the store sees the second product's pitch"


def _k_loop(start: str) -> str:
    """Products of the same rows over a loop: the first starts the accumulator, the others add to it."""
    acc = accumulator(mode=1)
    return "\n".join((
        alloc("c", acc, 0, "c16"), "scf.for %i = %c0 to %M step %c1 {", loaded("c16"),
        f"%first = arith.cmpi eq, %i, %{start} : index", "scf.if %first {", product(acc), "} else {", added(acc), "}",
        "}", stored(acc, "c16")))


def test_what_a_loop_accumulates_keeps_one_pitch() -> None:
    result = _check(_k_loop("c0"), args="%M: index")
    assert verdicts(result, "PITCH-ACC") == verdicts(result, "PITCH-READ") == PROVED


def test_an_accumulator_used_again_is_not_compared_with_what_it_held_before() -> None:
    tall, low = accumulator(), accumulator(16)
    result = _check(
        loaded(), alloc("c", tall), product(tall), stored(tall, "c64"),
        loaded("c16", more="2"), alloc("d", low, 0, "c16"), product(low, more="2", into="d"),
        stored(low, "c16").replace("%c ", "%d ").replace("%out", "%out2").replace("%wo", "%wo2"))
    assert verdicts(result, "PITCH-READ") == PROVED


def test_rows_that_differ_from_iteration_to_iteration_are_read_in_the_iteration_that_wrote_them() -> None:
    acc = accumulator(mode=1)
    result = _check(
        alloc("c", acc), "scf.for %i = %c0 to %c64 step %c16 {", "%left = arith.subi %c64, %i : index",
        loaded("left"), f"pto.set_validshape %c, %left, %c64 : {acc}", product(acc), stored(acc, "left"), "}")
    assert verdicts(result, "PITCH-READ") == PROVED


@pytest.mark.parametrize("chip", ["a2a3", "a5"])
def test_an_operand_with_fewer_valid_rows_is_at_home_on_a2a3_only(chip: str) -> None:
    # A left operand lies in rows of boxes on a2a3 (its pitch counts columns), in columns of boxes on a5 (rows).
    plain = LEFT.replace(", compact=1", "")
    acc = accumulator(mode=1)
    result = check(cube(loaded("c16", lefts=plain), alloc("c", acc, 0, "c16"), product(acc, plain)), chip=chip,
                   families="PITCH")
    assert verdicts(result, "PITCH-OPERAND") == (PROVED if chip == "a2a3" else {Verdict.PROVED, Verdict.REFUTED})


def test_moved_in_and_used_by_different_extents() -> None:
    acc = accumulator()
    result = _check(loaded(), f"pto.set_validshape %r, %c64, %c32 : {RIGHT}", alloc("c", acc), product(acc))
    found = finding(result, "PITCH-OPERAND")
    assert found.verdict is Verdict.REFUTED
    assert "%r" not in found.message
    assert "tmatmul r has a pitch of 32 columns; tmov" in found.message


@pytest.mark.parametrize("rule", ["PITCH-READ", "PITCH-ACC", "PITCH-OPERAND", "PITCH-WINDOW"])
@pytest.mark.requirement("VF-03")
def test_a_run_shows_what_is_refuted(rule: str) -> None:
    seen = confirm(read(PAIRS[rule].bad, "k.pto").funcs[0], rule, {}, target("a2a3"))
    assert seen.startswith("confirmed: wrong result")
