"""Gathers, scatters and sorts of the interpreter against values by hand."""

from __future__ import annotations

import numpy as np
import pytest

from pypto_verified.interpreter import Undefined
from tests.interpreter.kernels import Array, run, tensor

A = np.arange(16, dtype=np.float32).reshape(2, 8) * 10
INDICES = np.array([[0, 15, 8, 1, 7, 7, 2, 3], [1, 2, 3, 4, 5, 6, 9, 10]], np.int32)
PARAMS = ",\n".join([tensor("a", (2, 8)), tensor("idx", (2, 8), "INT32"), tensor("out", (2, 8), out=True)])
GATHER = """
    x = pl.load(a, [0, 0], [2, 8])
    i = pl.load(idx, [0, 0], [2, 8])
    tmp: pl.Tile[[2, 8], pl.INT32] = pl.tile.create([2, 8], dtype=pl.INT32)
    return pl.store(pl.tile.gather(x, i, tmp), [0, 0], out)
"""


def test_an_index_counts_elements_in_row_major_order() -> None:
    got = run(PARAMS, GATHER, a=A, idx=INDICES, out=0 * A)["out"]
    # derivation: element k of 0, 10, 20, ... is 10k
    np.testing.assert_array_equal(got, 10.0 * INDICES)


@pytest.mark.parametrize("wrong", [16, -1])
def test_an_index_outside_the_tile_is_named(wrong: int) -> None:
    indices = INDICES.copy()
    indices[1, 3] = wrong
    with pytest.raises(Undefined, match=rf"tile\.gather: index {wrong} is outside 0\.\.15 at element \[1, 3\]"):
        run(PARAMS, GATHER, a=A, idx=indices, out=0 * A)


def test_a_scatter_lets_the_last_one_win() -> None:
    body = """
        base: pl.Tile[[2, 8], pl.FP32] = pl.tile.full([2, 8], dtype=pl.FP32, value=-1.0)
        x = pl.load(a, [0, 0], [2, 8])
        i = pl.load(idx, [0, 0], [2, 8])
        return pl.store(pl.tile.scatter(base, x, i), [0, 0], out)
    """
    got = run(PARAMS, body, a=A, idx=np.full((2, 8), 5, np.int32), out=0 * A)["out"]
    # derivation: all sixteen go to element 5, the last is 150
    expected = np.full((2, 8), -1.0)
    expected[0, 5] = 150.0
    np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize(
    ("pattern", "kept"),
    [("P0101", [0, 2, 4, 6]), ("P1010", [1, 3, 5, 7]), ("P0001", [0, 4]), ("P0010", [1, 5]), ("P0100", [2, 6]),
     ("P1000", [3, 7]), ("P1111", list(range(8)))],
)
def test_a_mask_pattern_keeps_the_columns_of_its_ones(pattern: str, kept: list[int]) -> None:
    # derivation: the rightmost digit of the pattern stands for column 0
    params = ",\n".join([tensor("a", (2, 8)), tensor("out", (2, len(kept)), out=True)])
    body = f"""
        x = pl.load(a, [0, 0], [2, 8])
        return pl.store(pl.tile.gather_mask(x, mask_pattern=pl.tile.MaskPattern.{pattern}), [0, 0], out)
    """
    got = run(params, body, a=A, out=np.zeros((2, len(kept)), np.float32))["out"]
    np.testing.assert_array_equal(got, A[:, kept])


def _sorted_pairs(values: Array, merge: bool) -> tuple[Array, Array]:
    columns = values.shape[1]
    params = ",\n".join([
        tensor("a", (1, columns)), tensor("pos", (1, columns), "UINT32"), tensor("out", (1, 2 * columns), out=True),
    ])
    body = f"""
        x = pl.load(a, [0, 0], [1, {columns}])
        p = pl.load(pos, [0, 0], [1, {columns}])
        s = pl.tile.sort32(x, p)
        {'s = pl.tile.mrgsort(s, block_len=64)' if merge else ''}
        return pl.store(s, [0, 0], out)
    """
    positions = np.arange(columns, dtype=np.uint32)[None, :]
    got = run(params, body, a=values, pos=positions, out=np.zeros((1, 2 * columns), np.float32))["out"]
    return got[0, 0::2], np.ascontiguousarray(got[0, 1::2]).view(np.uint32)


def test_sort32_orders_blocks_of_32_downwards_with_their_positions() -> None:
    values = (np.arange(64, dtype=np.float32) * 7 % 64)[None, :]
    found, positions = _sorted_pairs(values, merge=False)
    for start in (0, 32):
        block = values[0, start : start + 32]
        np.testing.assert_array_equal(found[start : start + 32], np.sort(block)[::-1])
        np.testing.assert_array_equal(positions[start : start + 32], start + np.argsort(-block))


def test_equal_values_keep_the_order_of_their_positions() -> None:
    found, positions = _sorted_pairs(np.ones((1, 32), np.float32), merge=False)
    assert found.tolist() == [1.0] * 32
    assert positions.tolist() == list(range(32))


def test_four_runs_merge_into_one() -> None:
    values = np.random.default_rng(3).permutation(128).astype(np.float32)[None, :]
    found, positions = _sorted_pairs(values, merge=True)
    assert found.tolist() == list(range(127, -1, -1))
    np.testing.assert_array_equal(values[0, positions], found)
