"""Memory spaces, moves, layouts, compact mode, casts: on both targets."""

from __future__ import annotations

import pytest

from pypto_verified.dtypes import BF16, FP16, FP32, INT8, INT16, UINT8, DType
from pypto_verified.errors import NotModelled, PassError
from pypto_verified.ir.expr import Const, MakeTuple
from pypto_verified.ir.stmt import FunctionKind
from pypto_verified.ir.walk import calls
from pypto_verified.layouts import BLayout, Compact, SLayout, Space
from pypto_verified.passes.legalize_tile_cast import loses

from .build import TARGETS, call_of, kernel, lower, ops, tile

MATMUL = """
a: pl.Tensor[[32, 64], pl.FP16],
b: pl.Tensor[[64, 48], pl.FP16],
rows: pl.Scalar[pl.INDEX],
out: pl.Out[pl.Tensor[[32, 48], pl.FP32]]
"""
VECTOR = """
a: pl.Tensor[[64, 64], pl.FP32],
v: pl.Tensor[[64, 1], pl.FP32],
n: pl.Scalar[pl.INDEX],
out: pl.Out[pl.Tensor[[64, 64], pl.FP32]]
"""


@pytest.mark.parametrize("arch", TARGETS)
def test_matmul_operands_are_moved_to_left_and_right(arch: str) -> None:
    f = lower(kernel(MATMUL, """
        am = pl.load(a, [0, 0], [32, 64], target_memory=pl.Mem.Mat)
        bm = pl.load(b, [0, 0], [64, 48], target_memory=pl.Mem.Mat)
        c = pl.matmul(am, bm)
        return pl.store(c, [0, 0], out)
    """), arch)
    assert ops(f) == ["load", "load", "move", "move", "matmul", "store"]
    assert f.kind is FunctionKind.AIC
    left, right, acc = tile(f, "am_left"), tile(f, "bm_right"), tile(f, "c")
    assert (left.space, right.space, acc.space) == (Space.LEFT, Space.RIGHT, Space.ACC)
    assert left.view and right.view and acc.view
    assert (left.view.blayout, left.view.slayout, left.view.fractal) == (BLayout.COL, SLayout.ROW, 512)
    assert (right.view.blayout, right.view.slayout, right.view.fractal) == (BLayout.ROW, SLayout.COL, 512)
    assert (acc.view.blayout, acc.view.slayout, acc.view.fractal) == (BLayout.COL, SLayout.ROW, 1024)


def test_a_tile_is_moved_once_per_block() -> None:
    f = lower(kernel(MATMUL, """
        am = pl.load(a, [0, 0], [32, 64], target_memory=pl.Mem.Mat)
        bm = pl.load(b, [0, 0], [64, 48], target_memory=pl.Mem.Mat)
        c = pl.matmul(am, bm)
        d = pl.matmul_acc(c, am, bm)
        return pl.store(d, [0, 0], out)
    """))
    assert ops(f) == ["load", "load", "move", "move", "matmul", "matmul_acc", "store"]


def test_an_empty_tile_lives_where_the_loop_that_fills_it_works() -> None:
    f = lower(kernel(MATMUL, """
        am = pl.load(a, [0, 0], [32, 64], target_memory=pl.Mem.Mat)
        bm = pl.load(b, [0, 0], [64, 48], target_memory=pl.Mem.Mat)
        acc = pl.tile.create([32, 48], dtype=pl.FP32)
        for i in pl.range(rows):
            acc = pl.matmul_acc(acc, am, bm, init_cond=i == 0)
        return pl.store(acc, [0, 0], out)
    """))
    assert tile(f, "acc").space is Space.ACC
    assert ops(f) == ["load", "load", "create", "move", "move", "matmul_acc", "store"]


def test_a_vector_tile_can_not_reach_the_cube_core() -> None:
    f = kernel(MATMUL, """
        am = pl.load(a, [0, 0], [32, 64], target_memory=pl.Mem.Vec)
        bm = pl.load(b, [0, 0], [64, 48], target_memory=pl.Mem.Mat)
        c = pl.matmul(am, bm)
        return pl.store(c, [0, 0], out)
    """)
    with pytest.raises(NotModelled, match="ExpandMixedKernel"):
        lower(f)


def test_two_cores_in_one_kernel_are_not_modelled() -> None:
    f = kernel(MATMUL, """
        am = pl.load(a, [0, 0], [32, 64], target_memory=pl.Mem.Mat)
        x: pl.Tile[[32, 48], pl.FP32] = pl.tile.full([32, 48], dtype=pl.FP32, value=0.0)
        return pl.store(x, [0, 0], out)
    """)
    with pytest.raises(NotModelled, match="mixed cube/vector kernel: ExpandMixedKernel"):
        lower(f)


@pytest.mark.parametrize("arch", TARGETS)
def test_a_matmul_larger_than_l0_is_not_modelled(arch: str) -> None:
    f = kernel("""
        a: pl.Tensor[[64, 1024], pl.FP16],
        b: pl.Tensor[[1024, 16], pl.FP16],
        out: pl.Out[pl.Tensor[[64, 16], pl.FP32]]
    """, """
        am = pl.load(a, [0, 0], [64, 1024], target_memory=pl.Mem.Mat)
        bm = pl.load(b, [0, 0], [1024, 16], target_memory=pl.Mem.Mat)
        return pl.store(pl.matmul(am, bm), [0, 0], out)
    """)
    with pytest.raises(NotModelled, match="131072 bytes in left, which has 65536: AutoTileMatmulL0"):
        lower(f, arch)


def test_acc_has_no_way_back_to_left() -> None:
    f = kernel(MATMUL, """
        am = pl.load(a, [0, 0], [32, 64], target_memory=pl.Mem.Mat)
        bm = pl.load(b, [0, 0], [64, 48], target_memory=pl.Mem.Mat)
        c = pl.matmul(am, bm)
        d = pl.move(c, target_memory=pl.Mem.Left)
        return pl.store(c, [0, 0], out)
    """)
    with pytest.raises(PassError, match="no direct move from acc to left") as error:
        lower(f)
    assert error.value.location.line == 16


@pytest.mark.parametrize("arch", TARGETS)
def test_column_arithmetic_runs_on_rows(arch: str) -> None:
    f = lower(kernel(VECTOR, """
        p = pl.load(v, [0, 0], [64, 1])
        q = pl.add(p, p)
        x = pl.load(a, [0, 0], [64, 64])
        y = pl.row_expand_mul(x, q)
        return pl.store(y, [0, 0], out)
    """), arch)
    assert ops(f) == ["load", "reshape", "reshape", "add", "reshape", "load", "row_expand_mul", "store"]
    p, row, q = tile(f, "p"), tile(f, "q_row"), tile(f, "q")
    assert p.view and row.view and q.view
    assert (p.shape, p.view.blayout) == ((64, 1), BLayout.COL)
    assert (row.shape, row.view.blayout) == ((1, 64), BLayout.ROW)
    assert (q.shape, q.view.blayout) == ((64, 1), BLayout.COL)
    assert q.memref == row.memref


def test_a_load_of_a_dn_tensor_has_swapped_boxes() -> None:
    f = lower(kernel("""
        a: pl.Tensor[[64, 48], pl.FP16, pl.TensorView(stride=[1, 64], layout=pl.TensorLayout.DN)],
        b: pl.Tensor[[32, 64], pl.FP16],
        out: pl.Out[pl.Tensor[[32, 48], pl.FP32]]
    """, """
        bm = pl.load(b, [0, 0], [32, 64], target_memory=pl.Mem.Mat)
        am = pl.load(a, [0, 0], [64, 48], target_memory=pl.Mem.Mat)
        c = pl.matmul(pl.move(bm, target_memory=pl.Mem.Left), pl.move(am, target_memory=pl.Mem.Right))
        return pl.store(c, [0, 0], out)
    """))
    view = tile(f, "am").view
    assert view and (view.blayout, view.slayout) == (BLayout.ROW, SLayout.COL)


def _matmul(rows: str, more: str = "") -> str:
    return f"""
        am = pl.load(a, [0, 0], [32, 64], valid_shape=[{rows}, 64], target_memory=pl.Mem.Mat)
        bm = pl.load(b, [0, 0], [64, 48], target_memory=pl.Mem.Mat)
        c = pl.matmul(am, bm)
        {more}
        return pl.store(c, [0, 0], out)
    """


@pytest.mark.requirement("CA-02")
@pytest.mark.parametrize("arch", TARGETS)
@pytest.mark.parametrize(("rows", "mode"), [("32", Compact.NULL), ("13", Compact.NORMAL), ("rows", Compact.NORMAL)])
def test_an_accumulator_with_narrowed_rows_is_compact(arch: str, rows: str, mode: Compact) -> None:
    view = tile(lower(kernel(MATMUL, _matmul(rows)), arch), "c").view
    assert view and view.compact is mode


def test_narrowed_columns_alone_leave_an_accumulator_as_it_is() -> None:
    view = tile(lower(kernel(MATMUL, """
        am = pl.load(a, [0, 0], [32, 64], target_memory=pl.Mem.Mat)
        bm = pl.load(b, [0, 0], [64, 48], valid_shape=[64, 40], target_memory=pl.Mem.Mat)
        c = pl.matmul(am, bm)
        return pl.store(c, [0, 0], out)
    """)), "c").view
    assert view and view.compact is Compact.NULL


@pytest.mark.requirement("CA-03")
def test_an_accumulating_matmul_inherits_the_mode() -> None:
    f = lower(kernel(MATMUL, _matmul("rows", "d = pl.matmul_acc(c, am, bm)").replace("store(c", "store(d")))
    view = tile(f, "d").view
    assert view and view.compact is Compact.NORMAL


@pytest.mark.requirement("CA-03", "CA-04")
def test_a_created_accumulator_keeps_its_declared_mode() -> None:
    body = """
        acc = pl.tile.create([32, 48], dtype=pl.FP32, target_memory=pl.Mem.Acc{})
        am = pl.load(a, [0, 0], [32, 64], valid_shape=[rows, 64], target_memory=pl.Mem.Mat)
        bm = pl.load(b, [0, 0], [64, 48], target_memory=pl.Mem.Mat)
        d = pl.matmul_acc(acc, am, bm, init_cond=rows > 0)
        return pl.store(d, [0, 0], out)
    """
    view = tile(lower(kernel(MATMUL, body.format(", compact=True"))), "d").view
    assert view and view.compact is Compact.NORMAL
    with pytest.raises(PassError, match="its pitch need not be the 32 rows of 'acc', which is not compact") as error:
        lower(kernel(MATMUL, body.format("")))
    assert error.value.location.line == 16


@pytest.mark.requirement("CA-01")
@pytest.mark.parametrize("arch", TARGETS)
@pytest.mark.parametrize(("rows", "mode"), [("32", Compact.NULL), ("20", Compact.NORMAL), ("rows", Compact.NORMAL)])
@pytest.mark.parametrize("into", ["tile.extract(am, 0, 0, [32, 64], ", "move(am, "], ids=["extract", "move"])
def test_a_partial_operand_of_a_product_is_compact(arch: str, rows: str, mode: Compact, into: str) -> None:
    # The real compiler leaves a move's result at its physical pitch, and `mad` reads it at that of its valid extents.
    f = lower(kernel(MATMUL, f"""
        am = pl.load(a, [0, 0], [32, 64], valid_shape=[{rows}, 64], target_memory=pl.Mem.Mat)
        bm = pl.load(b, [0, 0], [64, 48], target_memory=pl.Mem.Mat)
        al = pl.{into}target_memory=pl.Mem.Left)
        c = pl.matmul(al, bm)
        return pl.store(c, [0, 0], out)
    """), arch)
    view, mat = tile(f, "al").view, tile(f, "am").view
    assert view and view.compact is mode
    assert mat and mat.compact is Compact.NULL


CASTS = [
    ("FP16", "BF16", ["FP32", "BF16"], ["FP32", "BF16"]),
    ("INT32", "FP16", ["FP16"], ["FP32", "FP16"]),
    ("FP32", "BF16", ["BF16"], ["BF16"]),
    ("INT8", "INT32", None, ["INT32"]),
    ("INT8", "FP32", None, None),
]


@pytest.mark.parametrize(("src", "dst", "a2a3", "a5"), CASTS)
def test_casts_are_single_instructions_or_lossless_chains(
    src: str, dst: str, a2a3: list[str] | None, a5: list[str] | None
) -> None:
    f = kernel(f"""
        a: pl.Tensor[[32, 64], pl.{src}],
        out: pl.Out[pl.Tensor[[32, 64], pl.{dst}]]
    """, f"""
        x = pl.load(a, [0, 0], [32, 64])
        y = pl.cast(x, target_type=pl.{dst}, mode="rint")
        return pl.store(y, [0, 0], out)
    """)
    for arch, chain in (("a2a3", a2a3), ("a5", a5)):
        if chain is None:
            with pytest.raises(PassError, match=f"{arch} can't cast {src} to {dst}") as error:
                lower(f, arch)
            assert error.value.location.line == 12
        else:
            lowered = lower(f, arch)
            names = [f"y_{d.lower()}" for d in chain[:-1]] + ["y"]
            assert [tile(lowered, n).dtype.name for n in names] == chain
            assert {dict(call_of(lowered, n).kwargs)["mode"] for n in names} == {1}


def test_tiles_of_three_dims_become_rows() -> None:
    f = lower(kernel("""
        a: pl.Tensor[[4, 8, 64], pl.FP32],
        out: pl.Out[pl.Tensor[[4, 8, 64], pl.FP32]]
    """, """
        x = pl.load(a, [0, 0, 0], [4, 8, 64])
        y = pl.exp(x)
        return pl.store(y, [0, 0, 0], out)
    """))
    assert tile(f, "x").shape == tile(f, "y").shape == (32, 64)
    (store,) = [c for c in calls(f.body) if c.op == "tile.store"]
    assert store.args[3] == MakeTuple((Const(4), Const(8), Const(64)))


def test_a_store_of_such_a_tile_keeps_the_window_that_is_given() -> None:
    f = lower(kernel("""
        a: pl.Tensor[[4, 8, 64], pl.FP32],
        out: pl.Out[pl.Tensor[[32, 64], pl.FP32]]
    """, """
        x = pl.load(a, [0, 0, 0], [4, 8, 64])
        return pl.store(x, [0, 0], out, [32, 64])
    """))
    (store,) = [c for c in calls(f.body) if c.op == "tile.store"]
    assert store.args[3] == MakeTuple((Const(32), Const(64)))


@pytest.mark.parametrize(("via", "dst", "lost"), [
    # derivation: INT8 holds 7 bits and a sign, UINT8 has 8; BF16 keeps 8 bits exactly, which all of INT8 has
    (INT8, UINT8, True), (UINT8, INT8, True), (INT8, INT16, True), (INT16, INT8, False), (INT16, UINT8, False),
    (BF16, INT8, False), (BF16, UINT8, False), (BF16, INT16, True), (FP16, INT16, True), (FP32, INT16, False),
])
def test_a_type_on_the_way_loses_what_it_has_no_bits_for(via: DType, dst: DType, lost: bool) -> None:
    assert loses(via, dst) is lost


def test_a_transpose_gets_scratch() -> None:
    f = lower(kernel("""
        a: pl.Tensor[[32, 64], pl.FP32],
        out: pl.Out[pl.Tensor[[64, 32], pl.FP32]]
    """, """
        x = pl.load(a, [0, 0], [32, 64])
        y = pl.transpose(x, 0, 1)
        return pl.store(y, [0, 0], out)
    """))
    x, tmp, y = tile(f, "x"), tile(f, "y_tmp"), tile(f, "y")
    assert tmp.shape == (32, 64)
    assert len({t.memref.base for t in (x, tmp, y) if t.memref}) == 3


def test_a_ramp_gets_scratch_where_the_assembler_wants_it() -> None:
    # derivation: PTOAS at level3 on a2a3 wants 768 bytes for 32-bit ramps (192 elements), nothing on a5
    text = kernel("out: pl.Out[pl.Tensor[[1, 64], pl.INT32]]", """
        r = pl.tile.ci(0, [1, 64], dtype=pl.INT32)
        return pl.store(r, [0, 0], out)
    """)
    assert tile(lower(text), "r_tmp").shape == (1, 192)
    assert [c.op for c in calls(lower(text, "a5").body)] == ["tile.ci", "tile.store"]


def test_a_column_sum_loses_the_scratch_that_the_assembler_refuses() -> None:
    f = lower(kernel("""
        a: pl.Tensor[[32, 64], pl.FP32],
        out: pl.Out[pl.Tensor[[1, 64], pl.FP32]]
    """, """
        x = pl.load(a, [0, 0], [32, 64])
        tmp = pl.tile.create([16, 64], dtype=pl.FP32, target_memory=pl.MemorySpace.Vec)
        y = pl.tile.col_sum(x, tmp)
        return pl.store(y, [0, 0], out)
    """))
    (total,) = [c for c in calls(f.body) if c.op == "tile.col_sum"]
    assert len(total.args) == 1
