"""Operands of ops that want rows, and modes of carried accumulators: what is relabelled, moved, refused."""

from __future__ import annotations

import pytest

from pypto_verified.differential import compare
from pypto_verified.errors import PassError
from pypto_verified.layouts import BLayout, Compact
from pypto_verified.targets import target

from .build import TARGETS, after, kernel, lower, ops, tile

SQUARE = """
a: pl.Tensor[[32, 32], pl.FP32],
v: pl.Tensor[[32, 1], pl.FP32],
out: pl.Out[pl.Tensor[[32, 32], pl.FP32]]
"""
CUBE = """
a: pl.Tensor[[32, 64], pl.FP16],
b: pl.Tensor[[64, 48], pl.FP16],
rows: pl.Scalar[pl.INDEX],
out: pl.Out[pl.Tensor[[32, 48], pl.FP32]]
"""
OPERANDS = """
am = pl.load(a, [0, 0], [32, 64], valid_shape=[{}, 64], target_memory=pl.Mem.Mat)
bm = pl.load(b, [0, 0], [64, 48], target_memory=pl.Mem.Mat)
"""


def _layout(body: str, name: str, arch: str = "a2a3") -> BLayout:
    view = tile(after(kernel(SQUARE, body), "ResolveTileViews", arch), name).view
    assert view is not None
    return view.blayout


@pytest.mark.parametrize("arch", TARGETS)
def test_a_column_major_operand_that_is_no_column_is_moved(arch: str) -> None:
    body = """
        x = pl.load(a, [0, 0], [32, 32])
        t = pl.tile.transpose_view(x)
        y = pl.add(t, x)
        return pl.store(y, [0, 0], out)
    """
    assert ops(after(kernel(SQUARE, body), "ResolveBackendOpLayouts", arch)) == [
        "load", "transpose_view", "move", "add", "store"]
    assert [_layout(body, n, arch) for n in ("x", "t", "t_rows", "y")] == [
        BLayout.ROW, BLayout.COL, BLayout.ROW, BLayout.ROW]


@pytest.mark.parametrize("column", [
    "pl.load(v, [0, 0], [32, 1])", "pl.row_sum(x, pl.tile.create([32, 32], dtype=pl.FP32))",
])
@pytest.mark.parametrize(("op", "around"), [
    ("pl.exp(c)", ["reshape", "exp", "reshape"]), ("pl.add(c, 1.0)", ["reshape", "adds", "reshape"]),
    ("pl.mul(c, c)", ["reshape", "reshape", "mul", "reshape"]),
    ("pl.add(c, pl.tile.full([32, 1], dtype=pl.FP32, value=2.0))",
     ["full", "reshape", "reshape", "reshape", "add", "reshape"]),
])
def test_columns_are_relabelled_rows_and_the_result_a_column_again(column: str, op: str, around: list[str]) -> None:
    f = kernel(SQUARE, f"""
        x = pl.load(a, [0, 0], [32, 32])
        c = {column}
        d = {op}
        y = pl.row_expand_mul(x, d)
        return pl.store(y, [0, 0], out)
    """)
    found = compare(f, target("a2a3"), runs=2)
    assert found.difference is None and found.telling > 0
    done = ops(after(f, "ResolveBackendOpLayouts"))
    assert [o for o in done if o not in ("load", "row_sum", "create", "row_expand_mul", "store")] == around


def test_a_type_that_follows_another_operand_is_deduced_anew() -> None:
    body = """
        x = pl.load(a, [0, 0], [32, 32])
        t = pl.tile.transpose_view(x)
        y = pl.add(t, x)
        z = pl.exp(y)
        return pl.store(z, [0, 0], out)
    """
    assert _layout(body, "z") is BLayout.ROW


@pytest.mark.parametrize("loop", [
    "for i in pl.range(4):\n    acc = pl.matmul_acc(acc, am, bm, init_cond=i == 0)\n",
    "i = 0\nwhile i < rows:\n    acc = pl.matmul_acc(acc, am, bm, init_cond=i == 0)\n    i = i + 1\n",
])
@pytest.mark.parametrize(("rows", "compact", "fits"), [
    # derivation: a product of 17 valid rows is written at a pitch of 32, one of 16 at a pitch of 16
    ("32", "", True), ("17", "", True), ("16", "", False), ("16", ", compact=True", True),
])
def test_an_accumulator_that_a_loop_carries_keeps_its_mode(loop: str, rows: str, compact: str, fits: bool) -> None:
    made = f"acc = pl.tile.create([32, 48], dtype=pl.FP32, target_memory=pl.Mem.Acc{compact})\n"
    f = kernel(CUBE, OPERANDS.format(rows) + made + loop + "return pl.store(acc, [0, 0], out)")
    if not fits:
        with pytest.raises(PassError, match="which is not compact"):
            lower(f)
        return
    views = [tile(lower(f), name).view for name in ("acc", "am")]
    assert [v and v.compact for v in views] == [Compact.NORMAL if compact else Compact.NULL, Compact.NULL]


@pytest.mark.parametrize(("loop", "step"), [
    ("for i in pl.range(4):", ""), ("i = 0\nwhile i < rows:", "    i = i + 1\n"),
])
@pytest.mark.parametrize(("first", "other", "said"), [
    ("", ", compact=True", "starts not compact and is yielded compact"),
    (", compact=True", "", "starts compact and is yielded not compact"),
    (", compact=True", ", compact=True", ""), ("", "", ""),
])
def test_a_loop_does_not_change_the_mode_of_what_it_carries(
    loop: str, step: str, first: str, other: str, said: str
) -> None:
    empty = "pl.tile.create([32, 48], dtype=pl.FP32, target_memory=pl.Mem.Acc{})"
    f = kernel(CUBE, OPERANDS.format(32) + f"""
acc = {empty.format(first)}
{loop}
    other = {empty.format(other)}
    acc = pl.matmul_acc(other, am, bm, init_cond=rows > 0)
{step}return pl.store(acc, [0, 0], out)
""")
    if said:
        with pytest.raises(PassError, match=said):
            lower(f)
    else:
        lower(f)


@pytest.mark.requirement("CA-01")
@pytest.mark.parametrize(("rows", "mode"), [("32", Compact.NULL), ("20", Compact.NORMAL), ("rows", Compact.NORMAL)])
@pytest.mark.parametrize("product", ["", "c = pl.matmul(al, bm)\nout = pl.store(c, [0, 0], out)\n"])
def test_an_operand_is_compact_whether_a_product_reads_it_or_not(product: str, rows: str, mode: Compact) -> None:
    moved = "al = pl.move(am, target_memory=pl.Mem.Left)\n"
    view = tile(lower(kernel(CUBE, OPERANDS.format(rows) + moved + product + "return out")), "al").view
    assert view is not None and view.compact is mode
