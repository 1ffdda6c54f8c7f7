"""SPLIT against a slot of memory: what a lane pops is its part of the whole, or the split is refuted."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from pypto_verified.report.model import Verdict
from tests.verifiers.examples_split import pop, to_vector
from tests.verifiers.kernels import check, tile

_BOX = tile(32, 64)
_EXTENTS = (1, 8, 9, 15, 16, 17, 31, 32)
_STALE = -1


def _slot(rows: int, cols: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """A slot in which `rows` x `cols` different numbers were written row by row; what lies behind them is stale."""
    slot = np.full(8192, _STALE)
    slot[: rows * cols] = np.arange(rows * cols)
    return slot


def _popped(split: int, lane: int, rows: int, cols: int) -> tuple[int, int]:
    """First element and row pitch of what a lane with `rows` x `cols` of its own reads (PTO-ISA TPop.hpp)."""
    odd = int(split in (3, 4))
    if split in (1, 3):
        return lane * (rows + odd * lane) * cols, cols
    return lane * (cols + odd * lane), 2 * cols + odd * (2 * lane - 1)


def _right(whole: tuple[int, int], lanes: tuple[tuple[int, int], tuple[int, int]], split: int) -> bool:
    """Whether both lanes read, of what was written, the elements that follow one another across the lanes."""
    slot = _slot(*whole)
    for lane, (rows, cols) in enumerate(lanes):
        start, pitch = _popped(split, lane, rows, cols)
        first = (lane * lanes[0][0], 0) if split in (1, 3) else (0, lane * lanes[0][1])
        for r in range(rows):
            for c in range(cols):
                row, col = first[0] + r, first[1] + c
                meant = row * whole[1] + col
                if row < whole[0] and col < whole[1] and slot[start + r * pitch + c] != meant:
                    return False
    return True


def _case(random: Random) -> tuple[tuple[int, int], tuple[tuple[int, int], tuple[int, int]], int]:
    """A whole tile and the extents of both lanes, in half of the cases such that they fit."""
    split = random.randint(1, 4)
    line, other = random.choice(_EXTENTS[:5]), random.choice(_EXTENTS)
    second = line if random.random() < 0.6 else random.choice(_EXTENTS[:5])
    first = second + int(split in (3, 4)) if random.random() < 0.7 else line
    whole = first + second if random.random() < 0.7 else random.choice(_EXTENTS)
    if split in (1, 3):
        return (whole, other if random.random() < 0.8 else 8), ((first, other), (second, other)), split
    return (other, whole), ((other, first), (other, second)), split


def _text(
    whole: tuple[int, int], lanes: tuple[tuple[int, int], tuple[int, int]], split: int
) -> str:
    numbers = [*whole, *lanes[0], *lanes[1]]
    names = "\n".join(f"%n{i} = arith.constant {n} : index" for i, n in enumerate(numbers))
    chosen = "\n".join((
        names, "%is_first = arith.cmpi eq, %lane, %c0 : index",
        "%rows = arith.select %is_first, %n2, %n4 : index", "%cols = arith.select %is_first, %n3, %n5 : index"))
    text = to_vector(("n0", "n1", split), chosen, pop(split, "rows", "cols", _BOX))
    allocation = next(line for line in text.splitlines() if "pto.alloc_tile" in line)
    return text.replace(allocation, names + "\n" + allocation)


@pytest.mark.parametrize("start", [0, 60])
@pytest.mark.requirement("XC-12")
def test_a_split_that_is_proved_is_read_right(start: int) -> None:
    outcomes: set[bool] = set()
    for seed in range(start, start + 60):
        case = _case(Random(seed))
        result = check(_text(*case), families="SPLIT")
        proved = all(o.verdict is Verdict.PROVED for o in result.obligations)
        assert proved or any(o.verdict is Verdict.REFUTED for o in result.obligations)
        assert _right(*case) or not proved, f"seed {seed}: {case}"
        outcomes.add(proved)
    assert outcomes == {True, False}
