"""Where elements lie. Offsets by hand from the definition: boxes of 32 bytes x 16, in column or row order."""

from __future__ import annotations

import numpy as np
import pytest

from pypto_verified.layouts import BLayout, SLayout, Space
from pypto_verified.simulator.layout import layout_of
from pypto_verified.simulator.memory import LocalMemory

ROW, COL = BLayout.ROW, BLayout.COL
NONE, IN_ROW, IN_COL = SLayout.NONE, SLayout.ROW, SLayout.COL

LAYOUTS = [
    (ROW, NONE, 512), (COL, NONE, 512), (COL, IN_ROW, 512), (ROW, IN_COL, 512), (ROW, IN_ROW, 512), (COL, IN_COL, 512),
    (COL, IN_ROW, 1024), (ROW, IN_ROW, 32), (COL, IN_COL, 32),
]


@pytest.mark.parametrize(
    ("blayout", "slayout", "fractal", "expected"),
    [
        # Tile of 32 x 32 f16: boxes of 16 x 16. Element (17, 18) is box (1, 1), inside (1, 2).
        pytest.param(ROW, NONE, 512, 17 * 32 + 18, id="ND"),
        pytest.param(COL, NONE, 512, 18 * 32 + 17, id="DN"),
        pytest.param(COL, IN_ROW, 512, 1 * (32 * 16) + 1 * 256 + 1 * 16 + 2, id="Nz: columns of boxes"),
        pytest.param(ROW, IN_COL, 512, 1 * (32 * 16) + 1 * 256 + 2 * 16 + 1, id="Zn: rows of boxes"),
        pytest.param(ROW, IN_ROW, 512, 1 * (32 * 16) + 1 * 256 + 1 * 16 + 2, id="Zz"),
        pytest.param(COL, IN_COL, 512, 1 * (32 * 16) + 1 * 256 + 2 * 16 + 1, id="Nn"),
        # fractal 32, 16 x 2 boxes: column 18 is box column 9, inside 0; row boxes of 32 * 16 elements.
        pytest.param(ROW, IN_ROW, 32, 1 * (32 * 16) + 9 * 32 + 1 * 2 + 0, id="scales"),
    ],
)
def test_offset_of_one_element(blayout: BLayout, slayout: SLayout, fractal: int, expected: int) -> None:
    assert layout_of(blayout, slayout, fractal, 32, 32, 2).offset(17, 18) == expected


def test_box_width_follows_the_element_size() -> None:
    # Nz of f32: 32 bytes are 8 elements, so (0, 8) starts the second column of boxes: 32 rows x 8 elements further.
    assert layout_of(COL, IN_ROW, 512, 32, 32, 4).offset(0, 8) == 32 * 8
    # The accumulator's boxes are 16 x 16 whatever the type.
    assert layout_of(COL, IN_ROW, 1024, 32, 32, 4).offset(0, 8) == 8


def test_a_single_row_is_dense() -> None:
    assert [layout_of(ROW, IN_ROW, 512, 1, 64, 2).offset(0, c) for c in (0, 15, 16, 63)] == [0, 15, 16, 63]


@pytest.mark.parametrize("itemsize", [1, 2, 4])
@pytest.mark.parametrize(("blayout", "slayout", "fractal"), LAYOUTS)
def test_every_address_belongs_to_one_element(
    blayout: BLayout, slayout: SLayout, fractal: int, itemsize: int
) -> None:
    layout = layout_of(blayout, slayout, fractal, 64, 96, itemsize)
    cells = [(r, c) for r in range(64) for c in range(96)]
    offsets = [layout.offset(r, c) for r, c in cells]
    assert sorted(offsets) == list(range(64 * 96))
    assert [layout.position(o) for o in offsets] == cells


@pytest.mark.parametrize(("blayout", "slayout", "fractal"), LAYOUTS)
@pytest.mark.parametrize("window", [(0, 0, 64, 96), (3, 5, 30, 41), (16, 32, 16, 16), (63, 95, 1, 1), (7, 0, 0, 8)])
def test_windows_follow_the_address_function(
    blayout: BLayout, slayout: SLayout, fractal: int, window: tuple[int, int, int, int]
) -> None:
    memory = LocalMemory(Space.MAT, 64 * 96 * 2 + 64)
    memory.data[:] = np.arange(memory.size) % 251
    layout = layout_of(blayout, slayout, fractal, 64, 96, 2)
    view = memory.view(np.dtype(np.uint16), 64, layout, window, (0, memory.size), "t")
    row, col, rows, cols = window
    got = view.get()
    assert got.shape == (rows, cols)
    for r in range(rows):
        for c in range(cols):
            at = 64 + 2 * layout.offset(row + r, col + c)
            assert got[r, c] == int(memory.data[at]) + 256 * int(memory.data[at + 1])
            assert view.address(r, c) == at


def test_a_window_writes_its_elements_and_no_others() -> None:
    memory = LocalMemory(Space.MAT, 64 * 96 * 2)
    layout = layout_of(COL, IN_ROW, 512, 64, 96, 2)
    memory.data[:] = 7
    view = memory.view(np.dtype(np.uint16), 0, layout, (3, 5, 30, 41), (0, memory.size), "t")
    view.put(np.zeros((30, 41), np.uint16))
    zero = {layout.position(int(i) // 2) for i in np.flatnonzero(memory.data == 0)}
    assert zero == {(r, c) for r in range(3, 33) for c in range(5, 46)}


def test_initialisation_is_kept_by_byte() -> None:
    memory = LocalMemory(Space.VEC, 64)
    dense = layout_of(ROW, NONE, 512, 1, 16, 4)
    words = memory.view(np.dtype(np.float32), 0, dense, (0, 0, 1, 16), (0, 64), "w")
    halves = memory.view(np.dtype(np.float16), 0, layout_of(ROW, NONE, 512, 1, 32, 2), (0, 0, 1, 3), (0, 64), "h")
    halves.mark()
    bad = words.bad()
    # Three halves initialise one word; of the second word two bytes are missing.
    assert bad is not None
    assert bad[0].tolist() == [False] + [True] * 15
    words.mark()
    assert words.bad() is None
    words.poison()
    assert np.isnan(words.get()).all()
    assert halves.bad() is not None
