"""WRITE-NEST: one loop that numbers tiles, `i // k` along one axis and `i % k` along another."""

from __future__ import annotations

import random
from itertools import product

import pytest

from pypto_verified.report.model import Verdict
from tests.verifiers.kernels import check, finding, kernel, obligations, store, verdicts, window
from tests.verifiers.stores import VEC, output


def _tiles(count: int, digits: tuple[tuple[int, int, int], ...], shape: tuple[int, int]) -> str:
    """`for i in range(count)`: 32 x 64 elements at `(i // divisor) % modulus * pace` along each axis; a modulus of 0
    is none."""
    numbers = sorted({count, *shape, *(n for digit in digits for n in digit)} - {0})
    places: list[str] = []
    for axis, (divisor, modulus, pace) in enumerate(digits):
        places.append(f"%q{axis} = arith.divsi %i, %n{divisor} : index")
        places.append(f"%d{axis} = arith.remsi %q{axis}, %n{modulus} : index" if modulus else
                      f"%d{axis} = arith.addi %q{axis}, %c0 : index")
        places.append(f"%at{axis} = arith.muli %d{axis}, %n{pace} : index")
    return kernel("\n".join((
        *(f"%n{n} = arith.constant {n} : index" for n in numbers),
        output(f"n{shape[0]}", f"n{shape[1]}"),
        f"scf.for %i = %c0 to %n{count} step %c1 {{", *places,
        window("w", "o", "%at0, %at1", "%c32, %c64"), store("t", "w", VEC), "}")))


def _covered(count: int, digits: tuple[tuple[int, int, int], ...], shape: tuple[int, int]) -> bool:
    """Whether the windows hold every element: a place is in one if it is in one along both axes."""
    starts = {tuple((i // d) % m * p if m else i // d * p for d, m, p in digits) for i in range(count)}
    rows, cols = ({0, shape[axis] - 1, *(s[axis] + e for s in starts for e in (-1, 0, size - 1, size))}
                  for axis, size in ((0, 32), (1, 64)))
    return all(
        any(s[0] <= r < s[0] + 32 and s[1] <= c < s[1] + 64 for s in starts)
        for r, c in product(rows, cols) if 0 <= r < shape[0] and 0 <= c < shape[1])


def _case(seed: int) -> tuple[int, tuple[tuple[int, int, int], ...], tuple[int, int]]:
    """Mostly covered, or nearly so: row by row or column by column. (A window that does not move along an axis is left
    to the blocks.)"""
    draw = random.Random(seed)
    down, across = draw.randint(2, 4), draw.randint(2, 4)
    radix = across if draw.random() < 0.8 else draw.randint(2, 5)
    count = down * radix + draw.choice((0, 0, 0, -1, 1, 2))
    row = (radix, 0, draw.choice((32, 32, 32, 16, 48)))
    col = (1, radix, draw.choice((64, 64, 64, 32, 80)))
    shape = (32 * down - draw.choice((0, 0, 5)), 64 * across - draw.choice((0, 0, 7)))
    if draw.random() < 0.5:
        return max(1, count), (row, col), shape
    return max(1, count), ((1, radix, row[2]), (radix, 0, col[2])), shape


@pytest.mark.parametrize("seed", range(80))
def test_it_is_proved_if_and_only_if_every_element_is_in_a_window(seed: int) -> None:
    case = _case(seed)
    judged = check(_tiles(*case), families="WRITE", outputs=("q",))
    assert obligations(judged, "WRITE-NEST")
    found = {o.verdict for o in judged.obligations}
    assert Verdict.UNKNOWN not in found
    assert (found == {Verdict.PROVED}) is _covered(*case)


def test_both_verdicts_are_among_the_cases() -> None:
    whole = [_covered(*_case(seed)) for seed in range(80)]
    assert 20 <= sum(whole) <= 60


def test_three_digits() -> None:
    """Tile i is in plane i // 12, row (i // 4) % 3 and column i % 4; rows of all planes lie below one another."""
    text = _tiles(24, ((4, 0, 32), (1, 4, 64)), (192, 256))
    assert verdicts(check(text, families="WRITE", outputs=("q",)), "WRITE-NEST") == {Verdict.PROVED}
    folded = _tiles(24, ((4, 3, 32), (1, 4, 64)), (192, 256))
    result = check(folded, families="WRITE", outputs=("q",))
    assert finding(result, "WRITE-NEST").message == (
        "axis 0 of o has 192: no turn of the loops writes elements 96 to 191 of it")


def test_a_last_round_that_ends_early_leaves_the_rest_of_its_row() -> None:
    """Seven tiles in rows of two, four rows wanted: the eighth is missing; three rows are whole."""
    digits = ((2, 0, 32), (1, 2, 64))
    missing = finding(check(_tiles(7, digits, (128, 128)), families="WRITE", outputs=("q",)), "WRITE-NEST")
    assert missing.verdict is Verdict.REFUTED
    assert missing.message == (
        "axis 1 of o has 128: no turn of the loops, in the last round, writes elements 64 to 127 of it")
    three = check(_tiles(7, digits, (96, 128)), families="WRITE", outputs=("q",))
    assert verdicts(three, "WRITE-NEST") == {Verdict.PROVED}


def _sized(count: str, strict: bool = False) -> set[Verdict]:
    """Tiles of M x N elements, `down` rows of `across` of them, with a loop of `count` turns."""
    text = kernel("\n".join((
        "%c31 = arith.constant 31 : index", "%c63 = arith.constant 63 : index", output("M", "N"),
        "%a = arith.addi %M, %c31 : index", "%down = arith.divsi %a, %c32 : index",
        "%d = arith.addi %N, %c63 : index", "%across = arith.divsi %d, %c64 : index",
        "%all = arith.muli %down, %across : index", "%square = arith.muli %down, %down : index",
        f"scf.for %i = %c0 to %{count} step %c1 {{",
        "%row = arith.divsi %i, %across : index", "%col = arith.remsi %i, %across : index",
        "%r = arith.muli %row, %c32 : index", "%c = arith.muli %col, %c64 : index",
        window("w", "o", "%r, %c", "%c32, %c64"), store("t", "w", VEC), "}")), "%M: index, %N: index")
    return verdicts(check(text, families="WRITE", outputs=("q",), strict=strict), "WRITE-NEST")


@pytest.mark.parametrize("strict", [False, True])
def test_the_numbers_of_rows_and_columns_may_be_sizes(strict: bool) -> None:
    assert _sized("all", strict) == {Verdict.PROVED}
    assert Verdict.PROVED not in _sized("square", strict)


def test_rounds_of_two_lengths_are_not_followed() -> None:
    """`i // 4` and `i // 6` are no digits of one number."""
    result = check(_tiles(24, ((4, 0, 32), (6, 0, 64)), (192, 256)), families="WRITE", outputs=("q",))
    assert {o.verdict for o in obligations(result, "WRITE-NEST")} == {Verdict.UNKNOWN}
