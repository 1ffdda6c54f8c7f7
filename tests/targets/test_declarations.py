"""Splits, pitches and credits on numbers: small cases by hand, whole small ranges by playing them."""

from __future__ import annotations

import pytest

from pypto_verified.layouts import Compact, Space
from pypto_verified.targets.fifo import LEDGERS, period, posts, waits
from pypto_verified.targets.pitch import Accumulator, read_pitch, reader, written_pitch
from pypto_verified.targets.split import SPLITS, fits, lane_extents, popped, pushed


@pytest.mark.parametrize(("code", "extents", "lanes"), [
    (0, (7, 5), [(7, 5)]),
    (1, (8, 5), [(4, 5), (4, 5)]),
    (2, (7, 6), [(7, 3), (7, 3)]),
    (3, (7, 5), [(4, 5), (3, 5)]),
    (4, (7, 5), [(7, 3), (7, 2)]),
])
def test_lanes_read_every_element_of_a_slot_once(
    code: int, extents: tuple[int, int], lanes: list[tuple[int, int]]
) -> None:
    split = SPLITS[code]
    assert fits(split, *extents)
    places: list[object] = []
    for lane, (rows, cols) in enumerate(lanes):
        assert lane_extents(split, *extents, lane) == (rows, cols)
        window = popped(split, rows, cols, lane)
        places += [window.offset + r * window.pitch + c for r in range(rows) for c in range(cols)]
    assert sorted(places, key=str) == sorted(range(extents[0] * extents[1]), key=str)


@pytest.mark.parametrize(("code", "extents"), [(1, (7, 4)), (2, (4, 7)), (3, (8, 4)), (4, (4, 8))])
def test_a_split_of_the_wrong_parity_does_not_fit(code: int, extents: tuple[int, int]) -> None:
    assert not fits(SPLITS[code], *extents)


def test_an_odd_push_lies_elsewhere_than_an_odd_pop() -> None:
    """Odd rows, 3 x 5 of lane 1 behind the 4 x 5 of lane 0: the pop finds it 20 elements on, the push puts it at 5."""
    assert popped(SPLITS[3], 3, 5, 1).offset == 20
    assert pushed(SPLITS[3], 3, 5, 1).offset == 5
    assert pushed(SPLITS[1], 4, 5, 1) == popped(SPLITS[1], 4, 5, 1)


@pytest.mark.parametrize(("op", "dst", "target", "static", "compact", "boxed", "pitch"), [
    ("tstore", Space.GM, "a2a3", False, Compact.NULL, False, 64),
    ("tstore", Space.GM, "a2a3", False, Compact.NORMAL, False, 32),
    ("tstore", Space.GM, "a5", True, Compact.NORMAL, False, 32),
    ("tmov", Space.MAT, "a2a3", False, Compact.NORMAL, True, 64),
    ("tmov", Space.VEC, "a5", False, Compact.NULL, False, 32),
    ("tmov", Space.VEC, "a5", True, Compact.NORMAL, False, 64),
    ("tmov", Space.MAT, "a5", False, Compact.NORMAL, True, 64),
    ("textract", Space.VEC, "a5", True, Compact.NORMAL, False, 32),
    ("textract", Space.MAT, "a5", False, Compact.NORMAL, True, 64),
    ("tinsert", Space.VEC, "a5", True, Compact.NULL, False, 32),
    ("tinsert", Space.VEC, "a5", True, Compact.NULL, True, 64),
    ("tpush_to_aiv", Space.GM, "a2a3", False, Compact.NULL, False, 64),
    ("tpush_to_aiv", Space.VEC, "a5", False, Compact.NULL, False, 32),
])
def test_pitches_of_readers(
    op: str, dst: Space, target: str, static: bool, compact: Compact, boxed: bool, pitch: int
) -> None:
    """20 valid rows of 64; the unit writes at 32."""
    row = reader(f"pto.{op}", dst, target)
    assert row is not None
    assert written_pitch(20) == 32
    assert read_pitch(row, Accumulator(64, 20, compact, static), boxed) == pitch


def test_a_way_that_a_target_has_not_got_has_no_reader() -> None:
    assert reader("pto.tmov", Space.VEC, "a2a3") is None


def played(slots: int, target: str) -> int:
    """Most tiles on their way when the producer runs as far as its credits let it and the consumer reads one tile at a
    time."""
    credits, tile, most = LEDGERS[target].initial(slots), 0, 0
    for read in range(6 * slots + 40):
        while not waits(slots, tile) or credits > 0:
            credits -= bool(waits(slots, tile))
            tile += 1
        most = max(most, tile - read)
        credits += bool(posts(slots, read))
    return most


@pytest.mark.parametrize("target", LEDGERS)
def test_outstanding_tiles_are_those_of_the_protocol_when_it_is_played(target: str) -> None:
    """a2a3: 1, 2, 3, 4, then 6 with 5 slots; a5: 2, 6, 6, 8, and 24 with 8 slots."""
    assert [LEDGERS[target].outstanding(n) for n in range(1, 16)] == [played(n, target) for n in range(1, 16)]


def test_safe_slot_counts() -> None:
    assert [n for n in range(1, 16) if LEDGERS["a2a3"].safe(n)] == [1, 2, 3, 4, 6, 8, 10, 12, 14]
    assert not [n for n in range(1, 16) if LEDGERS["a5"].safe(n)]
    assert (LEDGERS["a5"].outstanding(8), LEDGERS["a2a3"].outstanding(5)) == (24, 6)
    assert [period(n) for n in (1, 2, 3, 8, 9)] == [1, 2, 1, 4, 4]


@pytest.mark.parametrize("tiles", range(1, 30))
@pytest.mark.parametrize("slots", range(1, 10))
def test_what_a_pipe_takes_at_its_end_is_what_was_left(slots: int, tiles: int) -> None:
    """a2a3: nothing remains. a5 takes one period, whatever is there."""
    posted = sum(bool(posts(slots, t)) for t in range(tiles))
    waited = sum(bool(waits(slots, t)) for t in range(tiles))
    drained = LEDGERS["a2a3"].drained(slots, tiles)
    assert (drained if isinstance(drained, int) else drained.value) == posted - waited
    assert LEDGERS["a5"].drained(slots, tiles) == period(slots)
