"""Buffers: what shares bytes, what is copied, where it lies, and what does not fit."""

from __future__ import annotations

import pytest

from pypto_verified.errors import NotModelled, PassError
from pypto_verified.ir.stmt import Function
from pypto_verified.language import load_source
from pypto_verified.layouts import Space
from pypto_verified.passes.context import PassContext
from pypto_verified.passes.pipeline import PASSES, run
from pypto_verified.targets import target

from .build import TARGETS, call_of, kernel, lower, ops, tile
from .machine import meaning, placed

PARAMS = """
a: pl.Tensor[[256, 64], pl.FP32],
n: pl.Scalar[pl.INDEX],
out: pl.Out[pl.Tensor[[256, 64], pl.FP32]]
"""
CUBE = """
a: pl.Tensor[[32, 64], pl.FP16],
b: pl.Tensor[[64, 48], pl.FP16],
n: pl.Scalar[pl.INDEX],
out: pl.Out[pl.Tensor[[32, 48], pl.FP32]]
"""
LOADS = """
x0 = pl.load(a, [0, 0], [16, 64])
y0 = pl.load(a, [16, 0], [16, 64])
z0 = pl.load(a, [32, 0], [16, 64])
"""


def _checked(f: Function, arch: str = "a2a3", planner: str = "PYPTO") -> Function:
    """Lowered, and run against its source."""
    lowered = lower(f, arch, planner)
    for n in range(5):
        assert placed(lowered, {"n": n}) == meaning(f, {"n": n}), n
    return lowered


def _address(f: Function, name: str) -> object:
    memref = tile(f, name).memref
    assert memref is not None
    return memref.offset


@pytest.mark.parametrize("arch", TARGETS)
def test_a_swap_with_a_sum_takes_two_copies_and_no_temporary(arch: str) -> None:
    f = _checked(kernel(PARAMS, LOADS + """
for i, (x, y) in pl.range(n, init_values=(x0, y0)):
    s = pl.add(x, y)
    x, y = pl.yield_(y, s)
return pl.store(x, [0, 0], out)
"""), arch)
    assert ops(f).count("move") == 2


@pytest.mark.parametrize("arch", TARGETS)
def test_a_swap_goes_through_a_temporary(arch: str) -> None:
    f = _checked(kernel(PARAMS, LOADS + """
for i, (x, y) in pl.range(n, init_values=(x0, y0)):
    x, y = pl.yield_(y, x)
out = pl.store(x, [0, 0], out)
return pl.store(y, [16, 0], out)
"""), arch)
    assert ops(f).count("move") == 3


def test_a_rotation_of_three_goes_through_one_temporary() -> None:
    f = _checked(kernel(PARAMS, LOADS + """
for i, (x, y, z) in pl.range(n, init_values=(x0, y0, z0)):
    x, y, z = pl.yield_(y, z, x)
out = pl.store(x, [0, 0], out)
out = pl.store(y, [16, 0], out)
return pl.store(z, [32, 0], out)
"""))
    assert ops(f).count("move") == 4


def test_a_swap_under_a_condition() -> None:
    _checked(kernel(PARAMS, """
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
    f = _checked(kernel(PARAMS, LOADS + """
for i, (x,) in pl.range(n, init_values=(x0,)):
    e = pl.exp(x)
    x = pl.yield_(e)
out = pl.store(x, [0, 0], out)
return pl.store(x0, [16, 0], out)
"""))
    assert ops(f).count("move") == 1


def test_one_value_may_start_two_carried_tiles() -> None:
    f = _checked(kernel(PARAMS, LOADS + """
for i, (x, y) in pl.range(n, init_values=(x0, x0)):
    e = pl.exp(x)
    s = pl.add(y, e)
    x, y = pl.yield_(e, s)
out = pl.store(x, [0, 0], out)
return pl.store(y, [16, 0], out)
"""))
    assert _address(f, "x0") == 0
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
    assert _address(f, "c") != _address(f, "d")


def test_assemble_into_a_tile_that_is_read_again_works_on_a_copy() -> None:
    f = _checked(kernel(PARAMS, """
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
    f = _checked(kernel(PARAMS, """
x = pl.load(a, [0, 0], [16, 64])
y = pl.tile.assemble(x, pl.tile.slice(x, [8, 64], [4, 0]), [0, 0])
return pl.store(y, [0, 0], out)
"""))
    assert "move" in ops(f)


def test_a_result_takes_the_buffer_of_an_operand_that_dies() -> None:
    f = _checked(kernel(PARAMS, """
x = pl.load(a, [0, 0], [16, 64])
y = pl.exp(x)
z = pl.add(y, y)
return pl.store(z, [0, 0], out)
"""))
    assert _address(f, "x") == _address(f, "y") == _address(f, "z") == 0


def test_an_op_that_forbids_it_gets_another_buffer() -> None:
    f = _checked(kernel(PARAMS, """
x = pl.load(a, [0, 0], [16, 64])
y = pl.recip(x)
return pl.store(y, [0, 0], out)
"""))
    assert _address(f, "x") == 0 and _address(f, "y") == 16 * 64 * 4


def test_a_result_of_another_width_does_not_stand_on_its_operand() -> None:
    f = _checked(kernel("""
        a: pl.Tensor[[256, 64], pl.FP32],
        n: pl.Scalar[pl.INDEX],
        out: pl.Out[pl.Tensor[[256, 64], pl.FP16]]
    """, """
x = pl.load(a, [0, 0], [16, 64])
y = pl.cast(x, target_type=pl.FP16, mode="rint")
return pl.store(y, [0, 0], out)
"""))
    assert _address(f, "y") == 16 * 64 * 4


def test_a_result_does_not_stand_on_the_tile_whose_window_it_reads() -> None:
    f = _checked(kernel(PARAMS, """
x = pl.load(a, [0, 0], [32, 64])
s = pl.tile.slice(x, [16, 64], [16, 0])
y = pl.exp(s)
return pl.store(y, [0, 0], out)
"""))
    assert _address(f, "y") == 32 * 64 * 4


def test_a_tile_that_a_later_trip_reads_keeps_its_buffer_through_the_loop() -> None:
    f = _checked(kernel(PARAMS, """
x = pl.load(a, [0, 0], [16, 64])
for i in pl.range(n):
    y = pl.exp(x)
    z = pl.exp(y)
    out = pl.store(z, [i * 16, 0], out)
return out
"""))
    assert _address(f, "x") not in (_address(f, "y"), _address(f, "z"))
    assert _address(f, "y") == _address(f, "z")


@pytest.mark.requirement("MP-01")
def test_planners_differ_in_sharing_and_addresses() -> None:
    f = kernel(PARAMS, """
x = pl.load(a, [0, 0], [16, 64])
y = pl.exp(x)
return pl.store(y, [0, 0], out)
""")
    pypto, dsa, ptoas = (lower(f, planner=p) for p in ("PYPTO", "DSA_RP", "PTOAS"))
    assert tile(pypto, "x").memref == tile(pypto, "y").memref
    assert (_address(dsa, "x"), _address(dsa, "y")) == (0, 0)
    x, y = tile(dsa, "x").memref, tile(dsa, "y").memref
    assert x and y and x.base != y.base
    assert _address(ptoas, "x") is None and _address(ptoas, "y") is None


@pytest.mark.requirement("MP-01")
def test_a_result_starts_where_its_dead_operand_does_or_lies_beside_it() -> None:
    """`z` must not lie in the 7168 bytes of `c`, which is live with it, nor half in those of `y` behind it."""
    f = lower(kernel(PARAMS, """
x = pl.load(a, [0, 0], [16, 64])
y = pl.exp(x)
z = pl.mul(x, y)
c = pl.load(a, [0, 0], [28, 64])
out = pl.store(c, [0, 0], out)
return pl.store(z, [0, 0], out)
"""), planner="DSA_RP")
    assert [_address(f, name) for name in ("c", "x", "y", "z")] == [0, 0, 4096, 8192]
    f = lower(kernel(PARAMS, """
x = pl.load(a, [0, 0], [16, 64])
y = pl.exp(x)
z = pl.mul(x, y)
return pl.store(z, [0, 0], out)
"""), planner="DSA_RP")
    assert [_address(f, name) for name in ("x", "y", "z")] == [0, 4096, 0]


@pytest.mark.requirement("MP-07")
@pytest.mark.parametrize(("arch", "rows"), [("a2a3", 184), ("a5", 240)])
def test_a_tile_may_take_all_of_a_memory_and_not_a_row_more(arch: str, rows: int) -> None:
    """Rows of 1024 bytes in 188416 and 245760 bytes."""
    def copied(rows: int) -> Function:
        return lower(kernel(f"""
            a: pl.Tensor[[{rows}, 256], pl.FP32],
            out: pl.Out[pl.Tensor[[{rows}, 256], pl.FP32]]
        """, f"return pl.store(pl.load(a, [0, 0], [{rows}, 256]), [0, 0], out)"), arch)

    assert copied(rows)
    with pytest.raises(PassError, match="vec overflows"):
        copied(rows + 1)


@pytest.mark.requirement("MP-07")
@pytest.mark.parametrize(("arch", "capacity"), [("a2a3", 188416), ("a5", 245760)])
def test_overflow_lists_the_live_tiles(arch: str, capacity: int) -> None:
    f = kernel("""
        a: pl.Tensor[[256, 256], pl.FP32],
        out: pl.Out[pl.Tensor[[256, 256], pl.FP32]]
    """, """
x = pl.load(a, [0, 0], [128, 256])
y = pl.load(a, [128, 0], [128, 256])
small = pl.exp(pl.load(a, [0, 0], [8, 256]))
z = pl.add(x, y)
out = pl.store(small, [0, 0], out)
return pl.store(z, [0, 0], out)
""")
    with pytest.raises(PassError) as error:
        lower(f, arch)
    assert error.value.location.line == 12
    assert error.value.message == (
        f"vec overflows: 270336 bytes are live at once, {arch} has {capacity}; live tiles: "
        "'x' [128, 256] FP32 131072 bytes (line 11), 'y' [128, 256] FP32 131072 bytes (line 12), "
        "'t' [8, 256] FP32 8192 bytes (line 13)"
    )


@pytest.mark.requirement("MP-07")
@pytest.mark.parametrize("arch", TARGETS)
def test_addresses_are_aligned_for_their_space(arch: str) -> None:
    f = lower(kernel("""
        a: pl.Tensor[[16, 16], pl.INT8],
        b: pl.Tensor[[16, 16], pl.INT8],
        out: pl.Out[pl.Tensor[[64, 16], pl.INT32]]
    """, """
am = pl.load(a, [0, 0], [16, 16], target_memory=pl.Mem.Mat)
bm = pl.load(b, [0, 0], [16, 16], target_memory=pl.Mem.Mat)
c = pl.matmul(am, bm)
d = pl.matmul(pl.move(bm, target_memory=pl.Mem.Left), am)
out = pl.store(c, [0, 0], out)
return pl.store(d, [16, 0], out)
"""), arch)
    assert (_address(f, "am"), _address(f, "bm")) == (0, 256), "Mat: 32 bytes"
    lefts = (tile(f, "am_left"), tile(f, "t"))
    assert {t.space for t in lefts} == {Space.LEFT}
    assert all(t.memref and isinstance(t.memref.offset, int) and t.memref.offset % 512 == 0 for t in lefts)


@pytest.mark.requirement("MP-06")
def test_declared_slots_get_one_region_and_keep_their_index() -> None:
    f = lower(kernel(PARAMS, """
for i in pl.range(8):
    x: pl.Tile[[32, 64], pl.FP32, pl.MemRef("ring", slots=2)[i % 2], pl.Mem.Vec] = pl.load(a, [i * 32, 0], [32, 64])
    y = pl.exp(x)
    out = pl.store(y, [i * 32, 0], out)
return out
"""))
    x, y = tile(f, "x").memref, tile(f, "y").memref
    assert x and y
    assert (x.offset, x.size, x.slots) == (0, 8192, 2), "size is the distance of the slots"
    assert y.offset == 16384, "after both slots"


@pytest.mark.requirement("MP-03")
def test_a_reserved_buffer_gets_its_base_before_the_tiles() -> None:
    text = """
        ring = pl.reserve_buffer(name="ring", size=16384, base=pl.AUTO)
        x = pl.load(a, [0, 0], [16, 64])
        return pl.store(x, [0, 0], out)
    """
    for planner, base, address in (("PYPTO", 0, 16384), ("DSA_RP", 0, 16384), ("PTOAS", -1, None)):
        f = lower(kernel(PARAMS, text), planner=planner)
        assert dict(call_of(f, "ring").kwargs)["base"] == base
        assert _address(f, "x") == address


def test_a_pass_with_nothing_to_do_returns_the_very_same_function() -> None:
    f = kernel(PARAMS, """
x = pl.load(a, [0, 0], [16, 64])
for i in pl.range(n):
    if i == 2:
        y = pl.exp(x)
    else:
        y = pl.add(x, x)
    out = pl.store(y, [i * 16, 0], out)
return out
""")
    outputs: dict[str, Function] = {}
    run(f, target("a2a3"), on_pass=lambda name, _, new: outputs.update({name: new}))
    ctx = PassContext(target("a2a3"))
    # InitMemRef is left out: its output is not an input of it.
    again = [p for p in PASSES if p.name != "InitMemRef"]
    assert [p.name for p in again if p.run(outputs[p.name], ctx) is not outputs[p.name]] == []


@pytest.mark.requirement("MP-07")
def test_an_int32_accumulator_occupies_the_rows_that_the_target_pads_it_to() -> None:
    f = kernel("""
        a: pl.Tensor[[16, 32], pl.INT8],
        b: pl.Tensor[[32, 32], pl.INT8],
        out: pl.Out[pl.Tensor[[16, 32], pl.INT32]]
    """, """
am = pl.load(a, [0, 0], [16, 32], target_memory=pl.Mem.Mat)
bm = pl.load(b, [0, 0], [32, 32], target_memory=pl.Mem.Mat)
c = pl.matmul(am, bm)
d = pl.matmul(am, bm)
out = pl.store(c, [0, 0], out)
return pl.store(d, [0, 0], out)
""")
    assert _address(lower(f, "a2a3"), "d") == 32 * 32 * 4, "a2a3 pads to 32 rows"
    assert _address(lower(f, "a5"), "d") == 16 * 32 * 4


POP = '''
import pypto.language as pl

@pl.program
class P:
    @pl.function(type=pl.FunctionType.AIV)
    def k(self, a: pl.Tensor[[16, 32], pl.FP32], out: pl.Out[pl.Tensor[[16, 32], pl.FP32]]):
        ring = pl.reserve_buffer(name="ring", size=16384, base=pl.AUTO)
        pl.aiv_initialize_pipe(ring, pl.const(0, pl.INT32), dir_mask=1, slot_size=2048)
        v: pl.Tile[[16, 32], pl.FP32, pl.Mem.Vec] = pl.tpop_from_aic(split=0)
        x = pl.load(a, [0, 0], [16, 32])
        y = pl.add(x, v)
        pl.tfree_to_aic(v)
        out = pl.store(y, [0, 0], out)
'''


@pytest.mark.requirement("MP-08")
@pytest.mark.parametrize(("arch", "shared"), [("a2a3", False), ("a5", True)])
def test_an_op_on_a_popped_tile_does_not_write_over_a_load_on_a2a3(arch: str, shared: bool) -> None:
    (program,) = load_source(POP, "k.py").programs
    f = lower(program.functions[0], arch)
    assert (_address(f, "x") == _address(f, "y")) is shared
    assert _address(f, "v") is None, "the pipe's slot"
