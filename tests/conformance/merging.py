"""TMRGSORT of separate lists: two to four sorted rows of (value, index) pairs become one."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tests.conformance.arithmetic import KINDS, bits
from tests.conformance.case import Case
from tests.conformance.indexing import sorted_pairs
from tests.conformance.ir_kernel import IrKernel, Operand
from tests.conformance.pto_kernel import PtoKernel

LENGTHS = ((32, 32), (64, 16), (16, 32, 48), (16, 16, 32, 64))


def cases() -> Iterator[Case]:
    """No two values are equal: who wins then is the unit's choice."""
    for dtype in ("FP32", "FP16"):
        for lengths in LENGTHS:
            yield _case(dtype, lengths, exhausted=False)
        yield _case(dtype, (16, 48), exhausted=True)


def _case(dtype: str, lengths: tuple[int, ...], exhausted: bool) -> Case:
    width, total = 64 // bits(dtype), sum(lengths)
    values = (np.random.default_rng(191).permutation(total) / 4).astype(KINDS[dtype])
    names = np.arange(total, dtype=np.uint32)
    starts = np.cumsum((0, *lengths))
    lists = {f"l{i}": sorted_pairs(values[None, s : s + n], names[None, s : s + n], width, n)
             for i, (s, n) in enumerate(zip(starts, lengths, strict=False))}
    merged = sorted_pairs(values[None], names[None], width, total)
    # The unit stops when a list has given its last, and smallest, value: what follows that one is not stored.
    latest = max(float(pairs[0, -width]) for pairs in lists.values())
    known = int((values.astype(np.float64) >= latest).sum()) * width if exhausted else total * width
    after = np.zeros_like(merged)
    after[0, :known] = merged[0, :known]

    def write_pto(k: PtoKernel) -> None:
        for name, pairs in lists.items():
            k.load(name, k.tile(f"t_{name}", dtype, (1, pairs.shape[1])))
        tmp, z = k.tile("tmp", dtype, (1, total * width)), k.tile("z", dtype, (1, total * width))
        k.line("%counts = arith.constant dense<0> : vector<4xi16>")
        tiles = [f"t_{n}" for n in lists] + [tmp]
        k.line(f"pto.tmrgsort ins({', '.join('%' + t for t in tiles)} {{exhausted = {str(exhausted).lower()}}} : "
               f"{', '.join(k.type_of(t) for t in tiles)}) outs(%{z}, %counts : {k.type_of(z)}, vector<4xi16>)")
        if exhausted:
            k.line(f"pto.set_validshape %{z}, {k.number(1)}, {k.number(known)} : {k.type_of(z)}")
        k.store(z, "out", (1, known))

    def write_ir(k: IrKernel) -> None:
        tiles: list[Operand] = [k.load(n, (1, pairs.shape[1])) for n, pairs in lists.items()]
        tmp = k.create((1, total * width), dtype)
        made = k.call("mrgsort_format2", *tiles[:2], tmp, *tiles[2:], exhausted=exhausted)
        k.store(k.call("set_validshape", made, 1, known), "out")

    label = "x".join(map(str, lengths)) + ("-exhausted" if exhausted else "")
    return Case(f"tmrgsort-lists-{dtype}-{label}", "tmrgsort", "Python's sort of all pairs of the lists, as far as the "
                "first list lasts where the unit stops then", {**lists, "out": np.zeros_like(merged)}, {"out": after},
                write_ir, write_pto)

