"""Ops on two sources with tiles of indices beside them: TPARTARGMAX, TPARTARGMIN, TCONCAT by index."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tests.conformance.arithmetic import KINDS, Array, pasted, samples, small
from tests.conformance.case import SHAPE, Case
from tests.conformance.pto_kernel import PtoKernel
from tests.conformance.single import Pto, Source, single


def partial_cases() -> Iterator[Case]:
    """The greater (smaller) value with its index where both sources are valid, those of `a` elsewhere and in a tie."""
    for op in ("tpartargmax", "tpartargmin"):
        for dtype, names in (("FP32", "INT32"), ("FP16", "INT16"), ("FP32", "UINT32")):
            a, b = small(dtype, SHAPE, 181), small(dtype, SHAPE, 182)
            i, j = (np.arange(128).reshape(SHAPE).astype(KINDS[names]) + KINDS[names].type(k) for k in (0, 1000))
            for inner in (SHAPE, (3, 19), (1, 1), (0, 32), (3, 0)):
                yield _partial(op, dtype, names, (a, b, i, j), inner)


def _partial(op: str, dtype: str, names: str, data: tuple[Array, Array, Array, Array], inner: tuple[int, int]) -> Case:
    a, b, i, j = data
    value, index = a.copy(), i.copy()
    for r in range(inner[0]):
        for c in range(inner[1]):
            if b[r, c] > a[r, c] if op == "tpartargmax" else b[r, c] < a[r, c]:
                value[r, c], index[r, c] = b[r, c], j[r, c]

    def write(k: PtoKernel) -> None:
        for name, kind, valid in (("a", dtype, SHAPE), ("b", dtype, inner), ("i", names, SHAPE), ("j", names, inner)):
            k.op("tload", k.view(name, (0, 0, *valid)), k.tile(f"t_{name}", kind, SHAPE, valid))
        k.op(op, "t_a t_b t_i t_j", f"{k.tile('x', dtype, SHAPE)} {k.tile('y', names, SHAPE)}")
        k.store("x", "value")
        k.store("y", "index")

    return Case(f"{op}-{dtype}-{names}-{inner[0]}x{inner[1]}", op, "one comparison after the other, of equal ones the "
                "first", {"a": a, "b": b, "i": i, "j": j, "value": np.zeros_like(a), "index": np.zeros_like(i)},
                {"value": value, "index": index}, None, write)


def concat_cases() -> Iterator[Case]:
    """The first elements of both sources of a row; counts are bytes of the index type."""
    for dtype, names in (("FP32", "INT32"), ("FP16", "INT16"), ("INT8", "INT32")):
        a, b = samples(dtype, SHAPE, 183), samples(dtype, SHAPE, 184)
        counts = np.array([[5, 11], [0, 32], [32, 9], [19, 0]])
        size = KINDS[names].itemsize
        first, second = (np.zeros((SHAPE[0], 32), KINDS[names]) for _ in range(2))
        first[:, 0], second[:, 0] = counts[:, 0] * size, counts[:, 1] * size
        before = samples(dtype, SHAPE, 99)  # what `single` puts into the result tile
        for region, valid in {"full": SHAPE, "partial": (3, 19), "one": (1, 1), "no-rows": (0, 32)}.items():
            values = before.copy()
            for r in range(valid[0]):
                line = [*a[r, : counts[r, 0]], *b[r, : counts[r, 1]]][: valid[1]]
                values[r, : len(line)] = line
            yield single(
                f"tconcatidx-{dtype}-{names}-{region}", "Python lists, joined and cut to the row",
                {"a": Source(a, (valid[0], 32)), "b": Source(b, (valid[0], 32)), "i": Source(first),
                 "j": Source(second)},
                pasted(before, values, valid), valid, Pto("tconcatidx", "a b i j"), None,
            )


def cases() -> Iterator[Case]:
    yield from partial_cases()
    yield from concat_cases()
