"""Kernels that campaigns found, at their smallest, and what was wrong."""

from __future__ import annotations

import numpy as np
import pytest

from pypto_verified.differential import compare
from pypto_verified.fuzz.builder import Kernel
from pypto_verified.fuzz.oracles import examine
from pypto_verified.index import holds
from pypto_verified.index.cond import variable
from pypto_verified.interpreter import interpret
from pypto_verified.targets import target
from tests.interpreter.kernels import tensor
from tests.passes.build import kernel


def _tensors(dtype: str, rows: int, columns: int, *names: str) -> str:
    return ",\n".join(tensor(n, (rows, columns), dtype, out=n == "out") for n in names)


_SCATTERED = ",\n".join((_tensors("FP32", 16, 16, "a", "b"), tensor("i", (16, 16), "INT32"),
                         _tensors("FP32", 16, 16, "out")))

FINDS = {
    # The type said that the result is valid where the first source is, so that what only the second has was lost.
    "part of a wider tile": (_tensors("FP32", 2, 32, "a", "b", "out"), """
        x = pl.load(a, [0, 0], [2, 32], valid_shape=[2, 4])
        y = pl.load(b, [0, 0], [2, 32])
        return pl.store(pl.tile.part_mul(x, y), [0, 0], out)
    """),
    # Both names stood for one handle, which had the extents of whichever operand was looked at last.
    "two valid shapes of one tile in one op": (_tensors("FP32", 8, 32, "a", "out"), """
        x = pl.load(a, [0, 0], [8, 32])
        y = pl.set_validshape(x, 8, 21)
        return pl.store(pl.tile.part_add(y, x), [0, 0], out)
    """),
    # The copy that an overwritten tile asks for stood in the storage of the author's choice, where the tile itself is.
    "view of a tile in the author's storage": (_tensors("FP32", 16, 32, "a", "b", "out"), """
        for i in pl.range(2):
            x: pl.Tile[[8, 32], pl.FP32, pl.MemRef("two", slots=2)[i % 2], pl.Mem.Vec] = pl.load(a, [i * 8, 0], [8, 32])
            v = pl.slice(x, [8, 32], [0, 0])
            y = pl.assemble(x, pl.load(b, [i * 8, 0], [8, 32]), [0, 0])
            out = pl.store(v, [i * 8, 0], out)
        return out
    """),
    # An op in place on a tile that it also reads beside went on in a copy, not in the storage that the author wanted.
    "result in the author's storage, read beside itself": (_SCATTERED, """
        x: pl.Tile[[16, 16], pl.FP32, pl.MemRef("one"), pl.Mem.Vec] = pl.load(a, [0, 0], [16, 16])
        t: pl.Tile[[16, 16], pl.FP32, pl.MemRef("one"), pl.Mem.Vec] = pl.tile.scatter(
            x, x, pl.load(i, [0, 0], [16, 16]))
        return pl.store(t, [0, 0], out)
    """),
    "result in the author's storage, a window read beside it": (_SCATTERED, """
        x: pl.Tile[[16, 16], pl.FP32, pl.MemRef("one"), pl.Mem.Vec] = pl.load(a, [0, 0], [16, 16])
        v = pl.slice(x, [8, 16], [8, 0])
        t: pl.Tile[[16, 16], pl.FP32, pl.MemRef("one"), pl.Mem.Vec] = pl.tile.scatter(
            x, v, pl.load(i, [0, 0], [8, 16]))
        return pl.store(t, [0, 0], out)
    """),
    "result in other storage of the author's": (_SCATTERED, """
        x = pl.load(a, [0, 0], [16, 16])
        t: pl.Tile[[16, 16], pl.FP32, pl.MemRef("one"), pl.Mem.Vec] = pl.tile.scatter(
            x, pl.load(b, [0, 0], [16, 16]), pl.load(i, [0, 0], [16, 16]))
        return pl.store(t, [0, 0], out)
    """),
    # What an op in place gives was said to be in the storage that the author chose for what it was given.
    "scattered into the author's storage, which is read later": (_SCATTERED, """
        x: pl.Tile[[16, 16], pl.FP32, pl.MemRef("ring", slots=2)[1], pl.Mem.Vec] = pl.load(a, [0, 0], [16, 16])
        t = pl.tile.scatter(x, x, pl.load(i, [0, 0], [16, 16]))
        return pl.store(pl.add(t, x), [0, 0], out)
    """),
    # The narrowed tile kept its pad value, so that a2a3's fill took the data beyond its extents for padding.
    "fill after narrowing": (_tensors("FP32", 16, 8, "a", "out"), """
        x = pl.fillpad(pl.load(a, [0, 0], [16, 8], valid_shape=[8, 8]), pad_value=pl.PadValue.max)
        y = pl.set_validshape(x, 16, 7)
        return pl.store(pl.fillpad(y, pad_value=pl.PadValue.max), [0, 0], out)
    """),
    # The interpreter added the vector to zeros, which made +0 of -0.
    "expansion of -0": (_tensors("FP16", 8, 16, "a", "out"), """
        x = pl.load(a, [0, 0], [8, 16])
        return pl.store(pl.tile.col_expand_mul(x, pl.tile.col_prod(x)), [0, 0], out)
    """),
    # The product in BF16, whose order is the device's, was as certain as a number of the type that it was cast to.
    "product in another type": (",\n".join([
        tensor("a", (16, 64), "BF16"), tensor("out", (1, 64), out=True), tensor("out2", (16, 64), "BF16", out=True),
    ]), """
        x = pl.load(a, [0, 0], [16, 64])
        out = pl.store(pl.cast(pl.tile.col_prod(x), target_type=pl.FP32), [0, 0], out)
        out2 = pl.store(x, [0, 0], out2)
        return out, out2
    """),
    # Which of two zeros is the greater was left to numpy, which has another answer for each element type.
    "the greater zero": (_tensors("FP16", 8, 16, "a", "out"), """
        x = pl.tile.divs(pl.load(a, [0, 0], [8, 16]), -0.5)
        y = pl.maximum(pl.tile.minimums(x, 0.0), pl.relu(x))
        return pl.store(pl.tile.col_expand_add(y, pl.tile.col_max(x)), [0, 0], out)
    """),
}


# Kernels that ran, but whose text the rules refute.
REFUTED = {
    # Ops that PyPTO's table of row-major ops leaves out took the column of a reduction as it lay.
    "ops of columns": (_tensors("FP32", 8, 64, "a", "out"), """
        x = pl.load(a, [0, 0], [8, 64])
        t: pl.Tile[[8, 64], pl.FP32] = pl.tile.create([8, 64], dtype=pl.FP32)
        c = pl.neg(pl.tile.minimums(pl.row_max(x, t), 2.0))
        return pl.store(pl.row_expand_mul(x, c), [0, 0], out)
    """),
    # At level 3 on a2a3 the assembler makes no scratch for a narrowing cast.
    "narrowing casts": (",\n".join([
        tensor("a", (16, 32)), tensor("out", (16, 32), "INT16", out=True), tensor("out2", (16, 1), "INT16", out=True),
    ]), """
        x = pl.load(a, [0, 0], [16, 32])
        t: pl.Tile[[16, 32], pl.FP32] = pl.tile.create([16, 32], dtype=pl.FP32)
        out = pl.store(pl.cast(x, target_type=pl.INT16, mode='rint'), [0, 0], out)
        out2 = pl.store(pl.cast(pl.row_max(x, t), target_type=pl.INT16, mode='rint'), [0, 0], out2)
        return out, out2
    """),
    # What a loop without a turn does was taken for the last that had to be waited for.
    "order over a loop that never runs": (
        ",\n".join([tensor("a", (32, 32)), tensor("b", (32, 32)), tensor("out", (32, 32), out=True)]), """
        x = pl.load(a, [0, 0], [32, 32])
        y = pl.move(x, target_memory=pl.MemorySpace.Vec)
        for i in pl.range(0, 0, 1):
            x = pl.assemble(y, y, [0, 0])
        z = pl.load(b, [0, 0], [32, 32])
        return pl.store(pl.add(y, z), [0, 0], out)
    """),
    # The slope had the tile's type; the assembler takes FP32 only on a5.
    "slopes of FP16 tiles": (_tensors("FP16", 8, 64, "a", "out"), """
        x = pl.load(a, [0, 0], [8, 64])
        return pl.store(pl.tile.lrelu(x, 0.5), [0, 0], out)
    """),
    # The scratch of a ramp of 16-bit integers had their type; the assembler takes words of 4 bytes only.
    "ramps of 16-bit integers": (tensor("out", (1, 32), "INT16", out=True), """
        x = pl.tile.ci(pl.const(3, pl.INT16), [1, 32], dtype=pl.INT16)
        return pl.store(x, [0, 0], out)
    """),
    # The second handle of a tile was made in a branch and used after it.
    "two valid shapes in a branch": (
        ",\n".join([tensor("a", (8, 32)), "n: pl.Scalar[pl.INDEX]", tensor("out", (8, 32), out=True)]), """
        x = pl.load(a, [0, 0], [8, 32])
        z = pl.mul(x, 3.0)
        y = pl.set_validshape(x, 8, 21)
        if n == 1:
            z = pl.mul(pl.tile.part_add(y, x), 2.0)
        return pl.store(pl.add(z, x), [0, 0], out)
    """),
    # A run asked for the inner branch's scalar, whose first equation is with the outer one's, which asked it back.
    "a scalar that one branch hands to another": (
        ",\n".join(["n: pl.Scalar[pl.INDEX]", tensor("a", (8, 32)), tensor("out", (8, 32), out=True)]), """
        u = n
        x = pl.load(a, [0, 0], [8, 32])
        if u != 1:
            x = pl.add(x, x)
        else:
            u = (u + 1) % 3
            x = pl.mul(x, 3.0)
            if n != 1:
                u = (u + 2) % 3
                x = pl.mul(x, 2.0)
        u = (u + 1) % 3
        return pl.store(x, [0, 0], out)
    """),
}


@pytest.mark.parametrize("arch", ["a2a3", "a5"])
@pytest.mark.parametrize("name", REFUTED)
def test_nothing_is_found_on_former_finds_of_the_rules(name: str, arch: str) -> None:
    k = Kernel(kernel(*REFUTED[name]), {"n": (0, 1)} if "n:" in REFUTED[name][0] else {}, arch, "PYPTO")
    verdict = examine(k, deep=True)
    assert (verdict.finds, verdict.left_out) == ([], "")
    assert verdict.agreed > 0


@pytest.mark.parametrize("arch", ["a2a3", "a5"])
@pytest.mark.parametrize("name", FINDS)
def test_both_meanings_agree_on_former_finds(name: str, arch: str) -> None:
    found = compare(kernel(*FINDS[name]), target(arch))
    assert found.difference is None, str(found.difference)
    assert found.telling > 0


def test_the_padding_of_a_narrowed_tile_is_filled_again() -> None:
    a = np.ones((16, 8), np.float32)
    got = interpret(kernel(*FINDS["fill after narrowing"]), {"a": a, "out": 0 * a})["out"]
    assert np.all(got[:, 7] == np.finfo(np.float32).max) or np.all(np.isinf(got[:, 7]))


def test_truths_that_are_made_when_they_are_asked_for_may_start_empty() -> None:
    class Made(dict[str, bool]):
        def __missing__(self, name: str) -> bool:
            return name == "yes"

    assert holds(variable("yes"), {}, Made())
    assert not holds(variable("no"), {}, Made())
