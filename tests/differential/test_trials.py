"""Inputs: what is tried, and how tensors lie in memory."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest

from pypto_verified.dtypes import BF16, DTYPES, FP16, FP32, INT8, INT32, UINT32
from pypto_verified.errors import NotModelled
from pypto_verified.ir.types import TensorType, TensorView
from pypto_verified.layouts import TensorLayout
from pypto_verified.trials import KINDS, contents, from_memory, in_memory, trials
from tests.differential.kernels import function

MATRIX = np.arange(6, dtype=np.float32).reshape(2, 3)


def test_sizes_and_scalars_are_tried_with_every_kind_of_contents() -> None:
    found = list(islice(trials(function("tail")), 36))
    assert {t.kind for t in found} == set(KINDS)
    assert {t.sizes["M"] for t in found} >= {0, 1, 16, 37, 128}
    assert {(t.kind, t.sizes["M"]) for t in found} == {(k, m) for k in KINDS for m in (0, 1, 16, 37, 64, 128)}


def test_what_is_given_is_not_varied() -> None:
    assert {t.sizes["M"] for t in islice(trials(function("tail"), given={"M": 5}), 12)} == {5}


def test_launches_vary_where_the_kernel_asks_for_its_block_or_lane() -> None:
    found = list(islice(trials(function("launch")), 12))
    assert len({t.block for t in found}) > 1
    assert {t.lane for t in found} == {0, 1}
    assert {t.block for t in islice(trials(function("tail")), 12)} == {(0, 1)}


def test_a_seed_gives_the_same_inputs_again() -> None:
    first, again, other = (next(trials(function("arithmetic"), seed)).values["a"] for seed in (3, 3, 4))
    assert isinstance(first, np.ndarray) and isinstance(again, np.ndarray) and isinstance(other, np.ndarray)
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)


@pytest.mark.parametrize(
    ("dtype", "least", "greatest"),
    [(INT8, -128, 127), (INT32, -(2**31), 2**31 - 1), (UINT32, 0, 2**32 - 1), (FP16, -np.inf, np.inf)],
)
def test_boundary_contents_reach_both_limits(dtype: object, least: float, greatest: float) -> None:
    array = contents(DTYPES[str(dtype)], (64, 64), "boundary", np.random.default_rng(0)).astype(np.float64)
    assert (array.min(), array.max()) == (least, greatest)


@pytest.mark.parametrize("dtype", [FP32, FP16, BF16, INT8, INT32, UINT32])
def test_small_contents_add_up_exactly(dtype: object) -> None:
    array = contents(DTYPES[str(dtype)], (8, 8), "small", np.random.default_rng(0)).astype(np.float64)
    assert np.all(np.abs(array) <= 7)
    assert np.all(array == np.rint(array))


def test_an_element_type_without_arrays_is_named() -> None:
    with pytest.raises(NotModelled, match="arrays of HF8"):
        contents(DTYPES["HF8"], (1,), "small", np.random.default_rng(0))


@pytest.mark.parametrize(
    ("view", "stored"),
    [
        (TensorView(), [0, 1, 2, 3, 4, 5]),
        (TensorView(layout=TensorLayout.DN), [0, 3, 1, 4, 2, 5]),
        # derivation: row 1 starts at element 4, so element 3 belongs to no element of the matrix
        (TensorView(stride=(4, 1)), [0, 1, 2, 0, 3, 4, 5]),
        (TensorView(stride=(1, 2)), [0, 3, 1, 4, 2, 5]),
    ],
)
def test_a_tensor_lies_in_memory_as_its_view_says(view: TensorView, stored: list[int]) -> None:
    type_ = TensorType((2, 3), FP32, view)
    there = in_memory(MATRIX, type_, {})
    assert there.reshape(-1).tolist() == stored
    np.testing.assert_array_equal(from_memory(there, type_, (2, 3), {}), MATRIX)


def test_a_blocked_layout_is_named() -> None:
    with pytest.raises(NotModelled, match="arrays in layout nz"):
        in_memory(MATRIX, TensorType((2, 3), FP32, TensorView(layout=TensorLayout.NZ)), {})
