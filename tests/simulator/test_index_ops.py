"""Gathers and scatters through indices: policies for indices that leave the tensor, atomics, merges."""

from __future__ import annotations

import numpy as np
import pytest

from pypto_verified.layouts import Space
from pypto_verified.simulator import compile, execute
from pypto_verified.simulator.errors import GlobalBoundsError, LocalBoundsError
from pypto_verified.simulator.values import Array
from pypto_verified.targets import target
from tests.simulator.text import Kernel, ramp, zeros

BOTH = pytest.mark.parametrize("on", ["a2a3", "a5"])


def gathered(policy: str, mode: str = "row") -> Kernel:
    """out = rows (or elements) of an 8 x 16 table, picked by 4 (or 4 x 16) indices."""
    k = Kernel()
    table, out = k.tensor("table", "f32", 8, 16), k.tensor("out", "f32", 4, 16)
    n = 1 if mode == "row" else 16
    i, x = k.tensor("i", "i32", 4, n), k.tile("x", "i32", 4, 16, valid=(4, n))
    y = k.tile("y", "f32", 4, 16)
    k.load(i, x)
    k.op("mgather", f"{table} {x}", y, f"{{coalesce = #pto<coalesce {mode}>, gatherOob = #pto<gather_oob {policy}>}}")
    k.store(y, out)
    return k


@BOTH
@pytest.mark.parametrize(("policy", "rows"), [("clamp", [2, 7, 0]), ("wrap", [2, 1, 7]), ("zero", [2, None, None])])
def test_rows_by_index(on: str, policy: str, rows: list[int | None]) -> None:
    indices = np.asarray([[2], [9], [-1], [0]], np.int32)  # 9 and -1 lie outside 0..7
    got = gathered(policy).result(on, "out", table=ramp(8, 16) + 1, i=indices, out=zeros(4, 16))
    table = ramp(8, 16) + 1
    for line, row in enumerate(rows):
        np.testing.assert_array_equal(got[line], zeros(1, 16)[0] if row is None else table[row])


@BOTH
def test_elements_by_index(on: str) -> None:
    indices = ramp(4, 16, np.int32)[::-1] * 2
    got = gathered("undefined", "elem").result(on, "out", table=ramp(8, 16), i=indices, out=zeros(4, 16))
    np.testing.assert_array_equal(got, indices)  # the value of element i is i


def test_an_index_outside_is_a_fault_without_a_policy() -> None:
    indices = np.asarray([[2], [8], [0], [0]], np.int32)
    (error,) = gathered("undefined").run("a2a3", table=ramp(8, 16), i=indices, out=zeros(4, 16)).errors
    assert isinstance(error, GlobalBoundsError)
    assert "index 8 of 8" in str(error)


@BOTH
@pytest.mark.parametrize(("atomic", "expected"), [("none", 3.0), ("add", 106.0), ("max", 100.0), ("min", 1.0)])
def test_scattered_rows_meet(on: str, atomic: str, expected: float) -> None:
    k = Kernel()
    a, out = k.tensor("a", "f32", 3, 16), k.tensor("out", "f32", 8, 16)
    i, x = k.tensor("i", "i32", 3, 1), k.tile("x", "i32", 3, 16, valid=(3, 1))
    y = k.tile("y", "f32", 3, 16)
    k.load(a, y)
    k.load(i, x)
    attrs = f"{{coalesce = #pto<coalesce row>, scatterAtomicOp = #pto<scatter_atomic_op {atomic}>}}"
    k.op("mscatter", f"{y} {x}", out, attrs)
    values: Array = np.repeat(np.asarray([[1], [2], [3]], np.float32), 16, axis=1)
    before = np.full((8, 16), 100.0, np.float32)
    got = k.result(on, "out", a=values, i=np.full((3, 1), 5, np.int32), out=before)
    # Rows 1, 2, 3 all go to row 5, which held 100.
    assert got[5, 0] == expected
    assert (np.delete(got, 5, axis=0) == 100.0).all()


@BOTH
def test_scatter_in_a_tile_keeps_the_last_writer(on: str) -> None:
    k = Kernel()
    a, i, out = k.tensor("a", "f32", 1, 8), k.tensor("i", "i32", 1, 8), k.tensor("out", "f32", 2, 8)
    x, n, y = k.tile("x", "f32", 1, 8), k.tile("n", "i32", 1, 8), k.tile("y", "f32", 2, 8)
    k.load(a, x)
    k.load(i, n)
    k.op("texpands", "c:-1:i32", y)
    k.op("tscatter", f"{x} {n}", y)
    k.store(y, out)
    indices = np.asarray([[15, 0, 0, 3, 3, 3, 8, 9]], np.int32)
    got = k.result(on, "out", a=ramp(1, 8), i=indices, out=zeros(2, 8))
    assert got.reshape(-1).tolist() == [2, -1, -1, 5, -1, -1, -1, -1, 6, 7, -1, -1, -1, -1, -1, 0]
    indices[0, 4] = 16
    (error,) = k.run(on, a=ramp(1, 8), i=indices, out=zeros(2, 8)).errors
    assert isinstance(error, LocalBoundsError)
    assert error.place.element == (0, 4)


@BOTH
def test_four_sorted_runs_merge(on: str) -> None:
    k = Kernel()
    a, out = k.tensor("a", "f32", 1, 256), k.tensor("out", "f32", 1, 256)
    x, y = k.tile("x", "f32", 1, 256), k.tile("y", "f32", 1, 256)
    k.load(a, x)
    k.line(f"pto.tmrgsort ins(%x, {k.number(64, 'i32')} : {k.types[x]}, i32) outs(%y : {k.types[y]})")
    k.store(y, out)
    # Run q holds 127 - q, 123 - q, ...: together the numbers 127..0; the second of a pair is its companion, 1000 more.
    values = np.concatenate([np.arange(127 - q, -1, -4) for q in range(4)]).astype(np.float32)
    pairs = np.stack([values, values + 1000], axis=1).reshape(1, 256)
    got = k.result(on, "out", a=pairs, out=zeros(1, 256)).reshape(128, 2)
    assert got[:, 0].tolist() == list(range(127, -1, -1))
    np.testing.assert_array_equal(got[:, 1], got[:, 0] + 1000)


@BOTH
def test_a_matrix_of_indices_names_no_rows(on: str) -> None:
    k = Kernel()
    table, places = k.tensor("table", "f32", 8, 16), k.tensor("i", "i32", 4, 16)
    x, y = k.tile("x", "i32", 4, 16), k.tile("y", "f32", 4, 16)
    k.load(places, x)
    k.op("mgather", f"{table} {x}", y)  # without a mode the library gathers rows
    (error,) = k.run(on, table=ramp(8, 16), i=ramp(4, 16, np.int32)).errors
    assert error.kind == "shape" and "4 x 16 indices of rows" in error.message


@BOTH
def test_rows_gathered_into_l1_by_indices_in_global_memory(on: str) -> None:
    k = Kernel()
    table, places = k.tensor("table", "f16", 64, 32), k.tensor("i", "i32", 1, 16)
    x = k.tile("x", "f16", 16, 32, space="mat")
    k.op("mgather", f"{table} {places}", x, "{coalesce = #pto<coalesce row>, gatherOob = #pto<gather_oob clamp>}")
    program = compile(k.func, target(on))
    rows = np.asarray([5, 0, 63, 99, *range(12)], np.int32)[None]
    content = ramp(64, 32, np.float16)
    assert execute(program, {"table": content, "i": rows}, {}).errors == []
    # columns of 16 x 16 boxes
    boxes = program.machine.memories[Space.MAT].data[:1024].view(np.float16).reshape(2, 16, 16)
    np.testing.assert_array_equal(np.concatenate(boxes, axis=1), content[np.minimum(rows[0], 63)])
