"""Windows, writes and reshapes against an enumeration of their elements."""

from __future__ import annotations

from itertools import product

import pytest

from pypto_verified.errors import OpError
from pypto_verified.ir.index_form import to_index
from pypto_verified.ops.views import reshaped_valid
from pypto_verified.ops.windows import write_union
from tests.ops.common import index, numbers, result, tile

Pair = tuple[int, int]
SHAPES = ((1, 8), (8, 1), (2, 4), (4, 2))


def cells(extent: Pair, offset: Pair = (0, 0)) -> set[Pair]:
    """The elements of a rectangle."""
    return {(r + offset[0], c + offset[1]) for r, c in product(range(extent[0]), range(extent[1]))}


def flat(extent: Pair, shape: Pair) -> set[int]:
    """Row-major positions of the elements of an origin-anchored rectangle."""
    return {r * shape[1] + c for r, c in cells(extent)}


def static(dims: object) -> Pair:
    assert isinstance(dims, tuple) and len(dims) == 2 and all(isinstance(d, int) for d in dims)
    return dims


@pytest.mark.parametrize(("old", "new"), list(product(SHAPES, SHAPES)))
def test_a_reshape_keeps_exactly_the_valid_elements_or_is_refused(old: Pair, new: Pair) -> None:
    for valid in product(range(old[0] + 1), range(old[1] + 1)):
        got = reshaped_valid(valid, old, new)
        representable = {e for e in product(range(new[0] + 1), range(new[1] + 1)) if flat(e, new) == flat(valid, old)}
        assert (got is None) == (not representable), (valid, representable)
        assert got is None or static(got) in representable


def test_a_reshape_of_so_many_run_time_rows() -> None:
    rows = index("rows")
    got = reshaped_valid((rows, 8), (16, 8), (32, 4))
    assert got is not None
    assert (to_index(got[0]), got[1]) == (to_index(rows) * 2, 4)
    assert reshaped_valid((rows, 8), (16, 8), (1, 128)) is not None
    assert reshaped_valid((rows, 8), (16, 8), (8, 16)) is None, "an odd number of rows would end inside a row"


@pytest.mark.parametrize("target", [(3, 4), (2, 2), (1, 5)])
def test_a_write_makes_valid_exactly_what_holds_data_or_is_refused(target: Pair) -> None:
    for valid, offset, written in product(
        product(range(target[0] + 1), range(target[1] + 1)),
        product(range(target[0]), range(target[1])),
        product(range(1, target[0] + 1), range(1, target[1] + 1)),
    ):
        if offset[0] + written[0] > target[0] or offset[1] + written[1] > target[1]:
            continue
        held = cells(valid) | cells(written, offset)
        rectangles = [e for e in product(range(target[0] + 1), range(target[1] + 1)) if cells(e) == held]
        got = write_union(target, valid, offset, written)
        assert (got is None) == (not rectangles), (valid, offset, written)
        assert got is None or cells(static(got)) == held


def test_where_a_write_goes_on_has_to_be_known() -> None:
    rows = index("rows")
    got = write_union((8, 4), (rows, 4), (rows, 0), (2, 4))
    assert got is not None
    assert (to_index(got[0]), got[1]) == (to_index(rows) + 2, 4)
    assert write_union((8, 4), (4, 4), (rows, 0), (2, 4)) is None, "there may be a gap, and it may end inside"
    assert write_union((8, 4), (8, 4), (rows, 0), (2, 4)) == (8, 4)


def test_a_write_that_completes_the_tile_makes_it_fully_valid() -> None:
    for split in range(1, 8):
        assert write_union((8, 4), (split, 4), (split, 0), (8 - split, 4)) == (8, 4)
        assert write_union((4, 8), (4, split), (0, split), (4, 8 - split)) == (4, 8)


def test_a_slice_is_valid_on_the_common_part_of_window_and_source() -> None:
    for valid, offset, size in product(
        product(range(1, 5), range(1, 5)), product(range(3), range(3)), product(range(1, 3), range(1, 3))
    ):
        source = tile(4, 4, valid=valid)
        if offset[0] + size[0] > 4 or offset[1] + size[1] > 4:
            with pytest.raises(OpError, match="the window ends at"):
                result("tile.slice", source, numbers(*size), numbers(*offset))
            continue
        got = static(result("tile.slice", source, numbers(*size), numbers(*offset)).valid_shape)
        assert cells(got, offset) == cells(size, offset) & cells(valid)
