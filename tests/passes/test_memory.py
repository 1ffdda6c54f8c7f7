"""Addresses: where buffers lie under each planner, and what does not fit."""

from __future__ import annotations

import pytest

from pypto_verified.errors import PassError
from pypto_verified.ir.stmt import Function
from pypto_verified.layouts import Space

from .buffers import PARAMS, address
from .build import TARGETS, call_of, kernel, lower, tile


@pytest.mark.requirement("MP-01")
def test_planners_differ_in_sharing_and_addresses() -> None:
    f = kernel(PARAMS, """
x = pl.load(a, [0, 0], [16, 64])
y = pl.exp(x)
return pl.store(y, [0, 0], out)
""")
    pypto, dsa, ptoas = (lower(f, planner=p) for p in ("PYPTO", "DSA_RP", "PTOAS"))
    assert tile(pypto, "x").memref == tile(pypto, "y").memref
    assert (address(dsa, "x"), address(dsa, "y")) == (0, 0)
    x, y = tile(dsa, "x").memref, tile(dsa, "y").memref
    assert x and y and x.base != y.base
    assert address(ptoas, "x") is None and address(ptoas, "y") is None


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
    assert [address(f, name) for name in ("c", "x", "y", "z")] == [0, 0, 4096, 8192]
    f = lower(kernel(PARAMS, """
x = pl.load(a, [0, 0], [16, 64])
y = pl.exp(x)
z = pl.mul(x, y)
return pl.store(z, [0, 0], out)
"""), planner="DSA_RP")
    assert [address(f, name) for name in ("x", "y", "z")] == [0, 4096, 0]


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
    assert (address(f, "am"), address(f, "bm")) == (0, 256), "Mat: 32 bytes"
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
    for planner, base, start in (("PYPTO", 0, 16384), ("DSA_RP", 0, 16384), ("PTOAS", -1, None)):
        f = lower(kernel(PARAMS, text), planner=planner)
        assert dict(call_of(f, "ring").kwargs)["base"] == base
        assert address(f, "x") == start


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
    assert address(lower(f, "a2a3"), "d") == 32 * 32 * 4, "a2a3 pads to 32 rows"
    assert address(lower(f, "a5"), "d") == 16 * 32 * 4
