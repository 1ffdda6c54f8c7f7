"""Transfers and moves: which bytes they write, what they clobber, and what differs between the targets."""

from __future__ import annotations

import numpy as np
import pytest

from pypto_verified.simulator.errors import UninitialisedError, UnmodelledError
from tests.simulator.text import Kernel, ramp, zeros

BOTH = pytest.mark.parametrize("on", ["a2a3", "a5"])
INF = np.float32(np.inf)


def probe(k: Kernel, addr: int, rows: int, cols: int, dtype: str = "f32", space: str = "vec") -> None:
    """Store the whole bytes at `addr` to `out`."""
    out, whole = k.tensor("out", dtype, rows, cols), k.tile("whole", dtype, rows, cols, space, addr=addr)
    k.store(whole, out)


@BOTH
@pytest.mark.parametrize(("pad", "filler"), [(1, 0.0), (2, INF), (3, -INF)])
def test_a_load_pads_to_the_next_block_only(on: str, pad: int, filler: float) -> None:
    k = Kernel()
    a = k.tensor("a", "f32", 2, 10)
    k.op("texpands", "c:7:i32", k.tile("back", "f32", 2, 24, addr=0))
    k.load(a, k.tile("x", "f32", 2, 24, valid=(2, 10), addr=0, pad=pad))
    probe(k, 0, 2, 24)
    got = k.result(on, "out", a=ramp(2, 10), out=zeros(2, 24))
    # Blocks are 8 f32: columns 10..15 are padded, 16..23 keep the 7.
    for r in (0, 1):
        assert got[r].tolist() == [*range(10 * r, 10 * r + 10), *[filler] * 6, *[7.0] * 8]


@BOTH
def test_without_a_pad_the_rest_of_the_block_is_unspecified(on: str) -> None:
    k = Kernel()
    a = k.tensor("a", "f32", 1, 10)
    k.op("texpands", "c:7:i32", k.tile("back", "f32", 1, 24, addr=0))
    k.load(a, k.tile("x", "f32", 1, 24, valid=(1, 10), addr=0))
    probe(k, 0, 1, 24)
    (error,) = k.run(on, a=ramp(1, 10), out=zeros(1, 24)).errors
    assert isinstance(error, UninitialisedError)
    assert error.place.element == (0, 10)
    assert "6 of 24" in str(error)


@BOTH
def test_a_load_to_l1_zeroes_the_last_block(on: str) -> None:
    k = Kernel()
    a = k.tensor("a", "f16", 16, 20)
    k.load(a, k.tile("m", "f16", 16, 32, "mat", valid=(16, 20)))
    out = k.tensor("out", "f16", 16, 32)
    k.store(k.tile("whole", "f16", 16, 32, "mat", addr=0), out)
    got = k.result(on, "out", a=ramp(16, 20, np.float16), out=zeros(16, 32, np.float16))
    np.testing.assert_array_equal(got, np.pad(ramp(16, 20, np.float16), ((0, 0), (0, 12))))


@BOTH
def test_the_bytes_of_a_transfer_where_window_and_valid_shape_differ(on: str) -> None:
    """To UB: the window's rows, the tile's valid columns. To L1 boxes: the whole window."""
    for space, shape in (("vec", (4, 8)), ("mat", (4, 16))):
        k = Kernel()
        dtype, kind = ("f32", np.float32) if space == "vec" else ("f16", np.float16)
        a = k.tensor("a", dtype, 4, 16)
        k.op("texpands", "c:7:i32", k.tile("back", dtype, 16, 16, space, addr=0))
        k.load(a, k.tile("x", dtype, 16, 16, space, valid=(2, 8), addr=0))
        probe(k, 0, 16, 16, dtype, space)
        got = k.result(on, "out", a=-ramp(4, 16, kind) - 1, out=zeros(16, 16, kind))
        rows, cols = shape
        assert (got < 0).sum() == rows * cols
        assert (got[:rows, :cols] < 0).all()


@pytest.mark.parametrize(("on", "copied"), [("a2a3", 16), ("a5", 10)])
def test_a_vector_move_copies_blocks_on_a2a3(on: str, copied: int) -> None:
    k = Kernel()
    a = k.tensor("a", "f32", 2, 24)
    x, y = k.tile("x", "f32", 2, 24), k.tile("y", "f32", 2, 24, valid=(2, 10), addr=4096)
    k.load(a, x)
    k.op("texpands", "c:7:i32", k.tile("back", "f32", 2, 24, addr=4096))
    k.op("tmov", x, y)
    probe(k, 4096, 2, 24)
    got = k.result(on, "out", a=ramp(2, 24), out=zeros(2, 24))
    expected = np.full((2, 24), 7.0)
    expected[:, :copied] = ramp(2, 24)[:, :copied]
    np.testing.assert_array_equal(got, expected)


@BOTH
def test_fillpad_stops_at_the_destinations_valid_rows(on: str) -> None:
    k = Kernel()
    a = k.tensor("a", "f32", 2, 10)
    x = k.tile("x", "f32", 4, 16, valid=(2, 10))
    y = k.tile("y", "f32", 4, 16, valid=(3, 16), addr=4096, pad=3)
    k.op("texpands", "c:7:i32", k.tile("back", "f32", 4, 16, addr=4096))
    k.load(a, x)
    k.op("tfillpad", x, y)
    probe(k, 4096, 4, 16)
    got = k.result(on, "out", a=ramp(2, 10), out=zeros(4, 16))
    assert got[1].tolist() == [*range(10, 20), *[-INF] * 6]
    assert got[2].tolist() == [-INF] * 16
    assert got[3].tolist() == [7.0] * 16


@BOTH
def test_fillpad_trusts_an_equal_pad(on: str) -> None:
    # x claims pad Zero, but a computation, not a load, wrote it: the rest of its last block is not padded.
    k = Kernel()
    a = k.tensor("a", "f32", 1, 24)
    full = k.tile("full", "f32", 1, 24, addr=0)
    x = k.tile("x", "f32", 1, 24, valid=(1, 10), addr=0, pad=1)
    y = k.tile("y", "f32", 1, 24, addr=4096, pad=1)
    k.load(a, full)
    k.op("tfillpad", x, y)
    probe(k, 4096, 1, 24)
    got = k.result(on, "out", a=ramp(1, 24) + 1, out=zeros(1, 24))
    assert got[0].tolist() == [*range(1, 17), *[0.0] * 8]


def test_transpose_in_place_loses_one_triangle() -> None:
    def transposed(addr: int) -> int:
        k = Kernel()
        a, out = k.tensor("a", "f32", 8, 8), k.tensor("out", "f32", 8, 8)
        x, y = k.tile("x", "f32", 8, 8, addr=0), k.tile("y", "f32", 8, 8, addr=addr)
        k.load(a, x)
        k.op("ttrans", x, y)
        k.store(y, out)
        return int((k.result("a2a3", "out", a=ramp(8, 8), out=zeros(8, 8)) != ramp(8, 8).T).sum())

    assert transposed(4096) == 0
    assert transposed(0) == 28  # 8 * 7 / 2 elements of one triangle


def test_concat_over_its_first_source_loses_rows() -> None:
    # src0 [4, 8] at 0 has rows of 32 bytes, dst [4, 16] at 0 of 64: row 0 of dst overwrites row 1 of src0.
    k = Kernel()
    a, b, out = k.tensor("a", "f32", 4, 8), k.tensor("b", "f32", 4, 8), k.tensor("out", "f32", 4, 16)
    x, y, z = k.tile("x", "f32", 4, 8, addr=0), k.tile("y", "f32", 4, 8, addr=4096), k.tile("z", "f32", 4, 16, addr=0)
    k.load(a, x)
    k.load(b, y)
    k.op("tconcat", f"{x} {y}", z)
    k.store(z, out)
    got = k.result("a2a3", "out", a=ramp(4, 8), b=-ramp(4, 8), out=zeros(4, 16))
    assert got[1, :8].tolist() == (-ramp(4, 8))[0].tolist()  # what row 0 of src1 left there, not src0's row 1


@BOTH
def test_extract_and_insert_between_vectors(on: str) -> None:
    k = Kernel()
    a, out = k.tensor("a", "f32", 4, 32), k.tensor("out", "f32", 4, 32)
    x, w = k.tile("x", "f32", 4, 32), k.tile("w", "f32", 2, 8)
    k.load(a, x)
    k.op("textract", f"{x} c:2:index c:16:index", w)
    k.op("tinsert", f"{w} c:0:index c:8:index", x)
    k.store(x, out)
    expected = ramp(4, 32).copy()
    expected[0:2, 8:16] = ramp(4, 32)[2:4, 16:24]
    np.testing.assert_array_equal(k.result(on, "out", a=ramp(4, 32), out=zeros(4, 32)), expected)


@BOTH
def test_atomic_stores_add(on: str) -> None:
    k = Kernel()
    a, out = k.tensor("a", "f32", 2, 8), k.tensor("out", "f32", 2, 8)
    x = k.tile("x", "f32", 2, 8)
    k.load(a, x)
    k.store(x, out, "{atomicType = #pto<atomic_type atomic_add>}")
    k.store(x, out, "{atomicType = #pto<atomic_type atomic_add>}")
    got = k.result(on, "out", a=ramp(2, 8), out=np.ones((2, 8), np.float32))
    np.testing.assert_array_equal(got, 2 * ramp(2, 8) + 1)


@BOTH
def test_gather_by_index_and_by_mask(on: str) -> None:
    k = Kernel()
    a, i = k.tensor("a", "f32", 2, 16), k.tensor("i", "i32", 1, 8)
    out, odd = k.tensor("out", "f32", 1, 8), k.tensor("odd", "f32", 2, 8)
    x, n, t = k.tile("x", "f32", 2, 16), k.tile("n", "i32", 1, 8), k.tile("t", "i32", 1, 8)
    y, z = k.tile("y", "f32", 1, 8), k.tile("z", "f32", 2, 8)
    k.load(a, x)
    k.load(i, n)
    k.op("tgather", f"{x} {n} {t}", y)
    odd_columns = "{maskPattern = #pto.mask_pattern<P1010>}"
    k.line(f'pto.tgather ins(%x, {odd_columns} : {k.types[x]}, "row") outs(%z : {k.types[z]})')
    k.store(y, out)
    k.store(z, odd)
    indices = np.asarray([[0, 31, 16, 15, 1, 1, 2, 30]], np.int32)
    outcome = k.run(on, a=ramp(2, 16), i=indices, out=zeros(1, 8), odd=zeros(2, 8))
    assert outcome.errors == []
    np.testing.assert_array_equal(outcome.outputs["out"], indices)  # the value of element i is i
    np.testing.assert_array_equal(outcome.outputs["odd"], ramp(2, 16)[:, 1::2])


@BOTH
def test_sorting_keeps_values_with_their_indices(on: str) -> None:
    k = Kernel()
    a, i, out = k.tensor("a", "f32", 1, 32), k.tensor("i", "ui32", 1, 32), k.tensor("out", "f32", 1, 64)
    x, n, y = k.tile("x", "f32", 1, 32), k.tile("n", "ui32", 1, 32), k.tile("y", "f32", 1, 64)
    k.load(a, x)
    k.load(i, n)
    k.op("tsort32", f"{x} {n}", y)
    k.store(y, out)
    values = np.zeros((1, 32), np.float32)
    values[0, [5, 9, 20]] = [2.0, 3.0, 2.0]
    got = k.result(on, "out", a=values, i=ramp(1, 32, np.uint32), out=zeros(1, 64))
    assert got[0, 0:6:2].tolist() == [3.0, 2.0, 2.0]
    assert got.view(np.uint32)[0, 1:9:2].tolist() == [9, 5, 20, 0]  # ties by smaller index


def test_unmodelled_combinations_are_named() -> None:
    k = Kernel()
    x, y = k.tile("x", "f32", 16, 16, "acc"), k.tile("y", "f32", 16, 16)
    k.op("tmov", x, y)
    (error,) = k.run("a2a3").errors
    assert isinstance(error, UnmodelledError)
    assert "a2a3 has no way from the accumulator to UB" in str(error)


@BOTH
def test_a_gather_by_mask_moves_bits(on: str) -> None:
    # 1.0 and 2.0 have the bits 0x3F800000 and 0x40000000.
    k = Kernel()
    a, out = k.tensor("a", "f32", 1, 16), k.tensor("out", "ui32", 1, 8)
    x, y = k.tile("x", "f32", 1, 16), k.tile("y", "ui32", 1, 8)
    k.load(a, x)
    k.line(
        f'pto.tgather ins(%{x}, {{maskPattern = #pto.mask_pattern<P1010>}} : {k.types[x]}, "row") '
        f"outs(%{y} : {k.types[y]})"
    )
    k.store(y, out)
    values = np.asarray([[0, 1, 0, 2] * 4], np.float32)
    got = k.result(on, "out", a=values, out=zeros(1, 8, np.uint32))
    assert got[0, :2].tolist() == [0x3F800000, 0x40000000]


@BOTH
def test_a_gather_of_blocks_takes_32_bytes_at_each_offset(on: str) -> None:
    # Eight f32 are 32 bytes: offset 96 is elements 24..31, offset 4 elements 1..8.
    k = Kernel()
    a, i, out = k.tensor("a", "f32", 2, 16), k.tensor("i", "ui32", 1, 8), k.tensor("out", "f32", 1, 64)
    x, n, y = k.tile("x", "f32", 2, 16), k.tile("n", "ui32", 1, 8), k.tile("y", "f32", 1, 64)
    k.load(a, x)
    k.load(i, n)
    k.op("tgatherb", f"{x} {n}", y)
    k.store(y, out)
    offsets = np.asarray([[96, 4, 0, 0, 0, 0, 0, 0]], np.uint32)
    got = k.result(on, "out", a=ramp(2, 16), i=offsets, out=zeros(1, 64))
    assert got[0, :16].tolist() == [*range(24, 32), *range(1, 9)]
    beyond = k.run(on, a=ramp(2, 16), i=offsets + 4, out=zeros(1, 64))
    assert [e.kind for e in beyond.errors] == ["local bounds"]
