"""Where ops may touch memory: capacity and alignment, bounds of tensors and tiles, views, valid shapes."""

from __future__ import annotations

import numpy as np

from pypto_verified.simulator.errors import (
    AlignmentError,
    CapacityError,
    GlobalBoundsError,
    LocalBoundsError,
    ShapeError,
    UninitialisedError,
)
from tests.simulator.text import Kernel, ramp, the_error, zeros


def test_capacity_and_alignment() -> None:
    k = Kernel()
    k.tile("x", "f32", 64, 64, addr=184 * 1024)
    assert isinstance(the_error(k), CapacityError)
    k = Kernel()
    k.tile("x", "f32", 8, 8, addr=16)
    error = the_error(k)
    assert isinstance(error, AlignmentError)
    assert (error.place.name, error.place.address) == ("x", 16)


def test_global_bounds_name_the_first_row_outside() -> None:
    k = Kernel()
    a, x = k.tensor("a", "f32", 60, 8, (48, 0, 16, 8)), k.tile("x", "f32", 16, 8)
    k.load(a, x)
    error = the_error(k, a=ramp(60, 8))
    assert isinstance(error, GlobalBoundsError)
    assert "row 60 of 60: the window covers 48..63" in str(error)
    assert (error.op, error.location.file, error.line > 0) == ("pto.tload", "", True)


def test_a_view_larger_than_its_buffer_is_a_fault() -> None:
    k = Kernel()
    a, x = k.tensor("a", "f32", 16, 8), k.tile("x", "f32", 16, 8)
    k.load(a, x)
    error = the_error(k, a=ramp(15, 8))
    assert isinstance(error, GlobalBoundsError)
    assert "buffer of 480 bytes" in str(error)


def subviewed(row: int) -> Kernel:
    k = Kernel()
    a, x, y = k.tensor("a", "f32", 32, 16), k.tile("x", "f32", 32, 16), k.tile("y", "f32", 8, 16)
    k.load(a, x)
    view = k.types[x].replace("rows=32", "rows=8").replace("v_row=?, v_col=?", "v_row=8, v_col=16")
    k.types["v"] = view
    k.line(f"%v = pto.subview %x[{k.number(row)}, {k.number(0)}] sizes [8, 16] : {k.types[x]} -> {view}")
    k.op("tneg", "v", y)
    k.store(y, k.tensor("out", "f32", 8, 16))
    return k


def test_a_subview_keeps_its_parents_pitch_and_place() -> None:
    got = subviewed(5).result("a2a3", "out", a=ramp(32, 16), out=zeros(8, 16))
    np.testing.assert_array_equal(got, -ramp(32, 16)[5:13])


def test_a_subview_must_stay_inside_its_parent() -> None:
    error = the_error(subviewed(25), a=ramp(32, 16), out=zeros(8, 16))
    assert isinstance(error, LocalBoundsError)
    assert "rows 25..32" in str(error)


def test_valid_shapes_change_with_the_handle() -> None:
    k = Kernel({"n": "index"})
    a, out = k.tensor("a", "f32", 8, 8), k.tensor("out", "f32", 8, 8)
    x, y = k.tile("x", "f32", 8, 8), k.tile("y", "f32", 8, 8)
    k.load(a, x)
    k.op("tmuls", f"{x} c:1:i32", y)
    k.line(f"pto.set_validshape %y, %n, {k.number(8)} : {k.types[y]}")
    k.op("tmuls", f"{x} c:3:i32", y)
    k.line(f"pto.set_validshape %y, {k.number(8)}, {k.number(8)} : {k.types[y]}")
    k.store(y, out)
    expected = ramp(8, 8).copy()
    expected[:3] *= 3
    np.testing.assert_array_equal(k.result("a2a3", "out", {"n": 3}, a=ramp(8, 8), out=zeros(8, 8)), expected)
    outcome = k.run("a2a3", {"n": -1}, a=ramp(8, 8), out=zeros(8, 8))
    assert isinstance(outcome.errors[0], ShapeError)


def test_scalar_access_to_tiles_is_checked() -> None:
    k = Kernel()
    a, x = k.tensor("a", "f32", 2, 8), k.tile("x", "f32", 2, 8)
    k.load(a, x)
    k.line(f"%v = pto.tgetval ins(%x, {k.number(16)} : {k.types[x]}, index) outs : f32")
    assert isinstance(the_error(k, a=ramp(2, 8)), LocalBoundsError)


def test_scratch_over_the_result_spoils_it() -> None:
    k = Kernel()
    a, out = k.tensor("a", "f32", 8, 8), k.tensor("out", "f32", 8, 8)
    x, y, t = k.tile("x", "f32", 8, 8), k.tile("y", "f32", 8, 8), k.tile("t", "f32", 8, 8, addr=512)
    k.load(a, x)
    k.op("tprelu", f"{x} {x} {t}", y)
    k.store(y, out)
    assert isinstance(the_error(k, a=ramp(8, 8), out=zeros(8, 8)), UninitialisedError)


def test_allocations_without_addresses_get_storage_of_their_own() -> None:
    k = Kernel()
    a, out = k.tensor("a", "f32", 8, 8), k.tensor("out", "f32", 8, 8)
    x, y = k.tile("x", "f32", 8, 8), k.tile("y", "f32", 8, 8, addr=0)
    k.lines = [line.replace(f"addr = {k.number(0, 'i64')} ", "") for line in k.lines]
    k.load(a, x)
    k.op("tneg", x, y)
    k.op("tadd", f"{x} {y}", y)
    k.store(y, out)
    np.testing.assert_array_equal(k.result("a2a3", "out", a=ramp(8, 8), out=ramp(8, 8)), zeros(8, 8))
