"""Masks of comparisons: the bytes that a2a3 leaves without a meaning behind those that are asked for."""

from __future__ import annotations

import numpy as np
import pytest

from pypto_verified.simulator import Outcome
from tests.simulator.text import Kernel, ramp

ROWS, BYTES = 2, 32
"""Of the mask: one block of 32 bytes a row."""


def _compared(on: str, dtype: str, cols: int, valid: int) -> Outcome:
    """The whole mask tile, 32 bytes a row of which each was written before, after a comparison of `valid` columns."""
    kind = np.dtype({"f32": np.float32, "f16": np.float16, "i32": np.int32}[dtype])
    k = Kernel()
    a, before, out = k.tensor("a", dtype, ROWS, cols), *(k.tensor(n, "ui8", ROWS, BYTES) for n in ("b", "out"))
    x, y = k.tile("x", dtype, ROWS, cols, addr=0), k.tile("y", dtype, ROWS, cols, valid=(ROWS, valid), addr=0)
    mask = k.tile("m", "ui8", ROWS, BYTES, addr=4096)
    k.load(a, x)
    k.load(before, mask)
    k.op("tcmp", f"{y} {y}", mask, "{cmpMode = #pto<cmp eq>}")
    k.store(mask, out)
    before_ = np.full((ROWS, BYTES), 0xA5, np.uint8)
    return k.run(on, a=ramp(ROWS, cols, kind), b=before_, out=before_)


@pytest.mark.parametrize(("dtype", "cols", "valid", "spoilt"), [
    # derivation: a2a3 compares whole repeats of 256 bytes, one bit an element; bytes behind ceil(valid / 8) of those
    # say nothing: 64 or 128 elements are 8 or 16 bytes
    ("f32", 64, 64, 0), ("f32", 64, 57, 0), ("f32", 64, 56, 1), ("f32", 32, 32, 4), ("f32", 8, 1, 7),
    ("i32", 32, 32, 4),
    ("f32", 72, 65, 7), ("f16", 128, 128, 0), ("f16", 32, 32, 12), ("f16", 144, 129, 15), ("f32", 256, 256, 0),
])
def test_the_rest_of_a_repeat_is_spoilt_on_a2a3(dtype: str, cols: int, valid: int, spoilt: int) -> None:
    assert _compared("a5", dtype, cols, valid).errors == []
    errors = _compared("a2a3", dtype, cols, valid).errors
    assert [str(e.message).partition(" element")[0] for e in errors] == (
        [f"{ROWS * spoilt} of {ROWS * BYTES}"] if spoilt else [])
