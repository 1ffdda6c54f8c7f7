"""Copies: where a value that is still needed would be written over, and only there."""

from __future__ import annotations

import pytest

from pypto_verified.errors import NotModelled, PassError

from .buffers import CUBE, LOADS, PARAMS, address, checked
from .build import TARGETS, kernel, lower, ops, tile


@pytest.mark.parametrize("arch", TARGETS)
def test_a_swap_with_a_sum_takes_two_copies_and_no_temporary(arch: str) -> None:
    f = checked(kernel(PARAMS, LOADS + """
for i, (x, y) in pl.range(n, init_values=(x0, y0)):
    s = pl.add(x, y)
    x, y = pl.yield_(y, s)
return pl.store(x, [0, 0], out)
"""), arch)
    assert ops(f).count("move") == 2


@pytest.mark.parametrize("arch", TARGETS)
def test_a_swap_goes_through_a_temporary(arch: str) -> None:
    f = checked(kernel(PARAMS, LOADS + """
for i, (x, y) in pl.range(n, init_values=(x0, y0)):
    x, y = pl.yield_(y, x)
out = pl.store(x, [0, 0], out)
return pl.store(y, [16, 0], out)
"""), arch)
    assert ops(f).count("move") == 3


def test_a_rotation_of_three_goes_through_one_temporary() -> None:
    f = checked(kernel(PARAMS, LOADS + """
for i, (x, y, z) in pl.range(n, init_values=(x0, y0, z0)):
    x, y, z = pl.yield_(y, z, x)
out = pl.store(x, [0, 0], out)
out = pl.store(y, [16, 0], out)
return pl.store(z, [32, 0], out)
"""))
    assert ops(f).count("move") == 4


def test_a_swap_under_a_condition() -> None:
    checked(kernel(PARAMS, """
x = pl.load(a, [0, 0], [16, 64])
y = pl.load(a, [16, 0], [16, 64])
for i in pl.range(n):
    if i % 2 == 0:
        t = x
        x = y
        y = t
out = pl.store(x, [0, 0], out)
return pl.store(y, [16, 0], out)
"""))


def test_the_value_a_loop_starts_from_survives_if_it_is_read_later() -> None:
    f = checked(kernel(PARAMS, LOADS + """
for i, (x,) in pl.range(n, init_values=(x0,)):
    e = pl.exp(x)
    x = pl.yield_(e)
out = pl.store(x, [0, 0], out)
return pl.store(x0, [16, 0], out)
"""))
    assert ops(f).count("move") == 1


def test_one_value_may_start_two_carried_tiles() -> None:
    f = checked(kernel(PARAMS, LOADS + """
for i, (x, y) in pl.range(n, init_values=(x0, x0)):
    e = pl.exp(x)
    s = pl.add(y, e)
    x, y = pl.yield_(e, s)
out = pl.store(x, [0, 0], out)
return pl.store(y, [16, 0], out)
"""))
    assert address(f, "x0") == 0
    assert ops(f).count("move") == 1


@pytest.mark.requirement("MP-02")
@pytest.mark.parametrize("planner", ["PYPTO", "DSA_RP", "PTOAS"])
def test_accumulators_need_no_copy_under_any_planner(planner: str) -> None:
    vector = lower(kernel(PARAMS, LOADS + """
for i, (acc,) in pl.range(n, init_values=(x0,)):
    t = pl.load(a, [i, 0], [16, 64])
    s = pl.add(acc, t)
    acc = pl.yield_(s)
return pl.store(acc, [0, 0], out)
"""), planner=planner)
    cube = lower(kernel(CUBE, """
am = pl.load(a, [0, 0], [32, 64], target_memory=pl.Mem.Mat)
bm = pl.load(b, [0, 0], [64, 48], target_memory=pl.Mem.Mat)
acc = pl.tile.create([32, 48], dtype=pl.FP32, target_memory=pl.Mem.Acc)
for i in pl.range(n):
    acc = pl.matmul_acc(acc, am, bm, init_cond=i == 0)
return pl.store(acc, [0, 0], out)
"""), planner=planner)
    assert "move" not in ops(vector)
    assert ops(cube).count("move") == 2, "to Left and Right only"
    assert tile(vector, "s").memref == tile(vector, "x0").memref
    assert tile(cube, "acc__2").memref == tile(cube, "acc").memref


def test_an_accumulator_that_is_needed_again_can_not_be_copied() -> None:
    f = kernel(CUBE, """
am = pl.load(a, [0, 0], [32, 64], target_memory=pl.Mem.Mat)
bm = pl.load(b, [0, 0], [64, 48], target_memory=pl.Mem.Mat)
c = pl.matmul(am, bm)
d = pl.matmul_acc(c, am, bm)
out = pl.store(c, [0, 0], out)
return pl.store(d, [0, 0], out)
""")
    with pytest.raises(PassError, match="needs a copy within acc, and a2a3 has no such move") as error:
        lower(f)
    assert error.value.location.line == 16


def test_two_values_in_one_place_of_the_authors_are_refused() -> None:
    f = kernel("a: pl.Tensor[[16, 16], pl.FP32], out: pl.Out[pl.Tensor[[16, 16], pl.FP32]]", """
x: pl.Tile[[16, 16], pl.FP32, pl.MemRef("one"), pl.Mem.Vec] = pl.load(a, [0, 0], [16, 16])
y: pl.Tile[[16, 16], pl.FP32, pl.MemRef("one"), pl.Mem.Vec] = pl.assemble(x, pl.load(a, [0, 0], [8, 16]), [0, 0])
return pl.store(pl.add(x, y), [0, 0], out)
""")
    with pytest.raises(PassError, match="'y' is to stand where 'x' does, which is read later") as error:
        lower(f)
    assert error.value.help == "give 'y' storage of its own"


def test_an_empty_accumulator_used_twice_is_made_twice() -> None:
    f = lower(kernel(CUBE, """
am = pl.load(a, [0, 0], [32, 64], target_memory=pl.Mem.Mat)
bm = pl.load(b, [0, 0], [64, 48], target_memory=pl.Mem.Mat)
empty = pl.tile.create([32, 48], dtype=pl.FP32, target_memory=pl.Mem.Acc)
c = pl.matmul_acc(empty, am, bm, init_cond=n == 0)
d = pl.matmul_acc(empty, am, bm, init_cond=n == 0)
out = pl.store(c, [0, 0], out)
return pl.store(d, [0, 0], out)
"""))
    assert ops(f).count("create") == 2
    assert address(f, "c") != address(f, "d")


def test_assemble_into_a_tile_that_is_read_again_works_on_a_copy() -> None:
    f = checked(kernel(PARAMS, """
x = pl.load(a, [0, 0], [16, 64])
s = pl.load(a, [64, 0], [4, 64])
y = pl.tile.assemble(x, s, [0, 0])
out = pl.store(x, [0, 0], out)
return pl.store(y, [16, 0], out)
"""))
    assert ops(f) == ["load", "load", "move", "assemble", "store", "store"]


def test_a_write_through_a_window_of_a_tile_that_is_read_again_is_not_modelled() -> None:
    f = kernel(PARAMS, """
x = pl.load(a, [0, 0], [16, 64])
s = pl.tile.slice(x, [8, 64], [8, 0])
y = pl.tile.assemble(s, pl.load(a, [64, 0], [4, 64]), [0, 0])
out = pl.store(y, [16, 0], out)
return pl.store(x, [0, 0], out)
""")
    with pytest.raises(NotModelled, match="a window of a tile that is read again"):
        lower(f)


def test_a_tile_assembled_with_a_window_of_itself_works_on_a_copy() -> None:
    f = checked(kernel(PARAMS, """
x = pl.load(a, [0, 0], [16, 64])
y = pl.tile.assemble(x, pl.tile.slice(x, [8, 64], [4, 0]), [0, 0])
return pl.store(y, [0, 0], out)
"""))
    assert "move" in ops(f)
