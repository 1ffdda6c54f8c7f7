"""Tiles of three and four dims: which rows they become, and that their values stay where they were."""

from __future__ import annotations

import pytest

from pypto_verified.differential import compare
from pypto_verified.errors import NotModelled
from pypto_verified.ir.expr import Const, MakeTuple
from pypto_verified.ir.types import TileType
from pypto_verified.ir.walk import calls
from pypto_verified.targets import target

from .build import after, kernel, lower, ops, tile

SOLID = """
a: pl.Tensor[[4, 8, 32], pl.FP32],
out: pl.Out[pl.Tensor[[4, 8, 32], pl.FP32]]
"""
CUBE = "x = pl.load(a, [0, 0, 0], [4, 8, 32])\n"


def _rows(body: str, params: str = SOLID) -> dict[str, tuple[int, ...]]:
    """The shapes of the tiles after the pass; both meanings agree on the kernel."""
    f = kernel(params, body)
    found = compare(f, target("a2a3"), runs=2)
    assert found.difference is None, str(found.difference)
    assert found.telling > 0, found.undefined
    flat = after(f, "FlattenTileNdTo2D")
    return {c.op.removeprefix("tile."): c.type.shape for c in calls(flat.body) if isinstance(c.type, TileType)}


@pytest.mark.parametrize(("body", "op"), [
    ("pl.add(x, pl.tile.full([4, 8, 32], dtype=pl.FP32, value=2.5))", "full"),
    ("pl.reshape(pl.load(a, [0, 0, 0], [4, 8, 32]), [8, 4, 32])", "reshape"),
    ("pl.tile.maximums(x, 0.5)", "maximums"), ("pl.add(x, x)", "add"), ("pl.neg(x)", "neg"),
])
def test_leading_dims_become_rows(body: str, op: str) -> None:
    shape = _rows(CUBE + f"y = {body}\nz = pl.reshape(y, [4, 8, 32])\nreturn pl.store(z, [0, 0, 0], out)")
    assert shape[op] == (32, 32)


def test_a_matrix_that_is_made_of_such_a_tile_stays_a_matrix() -> None:
    shapes = _rows(CUBE + "y = pl.reshape(x, [16, 64])\nz = pl.exp(y)\nreturn pl.store(z, [0, 0], out)", """
        a: pl.Tensor[[4, 8, 32], pl.FP32],
        out: pl.Out[pl.Tensor[[16, 64], pl.FP32]]
    """)
    assert shapes == {"load": (32, 32), "reshape": (16, 64), "exp": (16, 64)}


def test_a_vector_becomes_one_row() -> None:
    shapes = _rows("x = pl.load(a, [0], [64])\ny = pl.exp(x)\nreturn pl.store(y, [0], out)", """
        a: pl.Tensor[[64], pl.FP32],
        out: pl.Out[pl.Tensor[[64], pl.FP32]]
    """)
    assert shapes == {"load": (1, 64), "exp": (1, 64)}


def test_a_store_whose_result_is_not_used_gets_the_window_too() -> None:
    f = lower(kernel(SOLID, CUBE + "pl.store(x, [0, 0, 0], out)"))
    (store,) = [c for c in calls(f.body) if c.op == "tile.store"]
    assert store.args[3] == MakeTuple((Const(4), Const(8), Const(32)))


@pytest.mark.parametrize("loop", [
    "for i, (y,) in pl.range(3, init_values=(x,)):\n    z = pl.add(y, y)\n    y = pl.yield_(z)\n",
    "y = x\nfor i in pl.range(3):\n    y = pl.add(y, y)\n",
    "if pl.tensor.dim(a, 0) > 3:\n    y = pl.exp(x)\nelse:\n    y = pl.neg(x)\n",
])
def test_what_loops_and_branches_hand_on_is_stored_with_its_window(loop: str) -> None:
    f = kernel(SOLID, CUBE + loop + "return pl.store(y, [0, 0, 0], out)")
    found = compare(f, target("a2a3"), runs=2)
    assert found.difference is None and found.telling > 0
    (store,) = [c for c in calls(lower(f).body) if c.op == "tile.store"]
    assert store.args[3] == MakeTuple((Const(4), Const(8), Const(32)))


@pytest.mark.parametrize(("shape", "valid", "rows"), [
    # derivation: the valid rows of the merged tile are a run from row 0 only if nothing is cut behind a dim above 1
    ((4, 8, 32), (4, 8, 32), 32), ((4, 8, 32), (3, 8, 32), 24), ((4, 8, 32), (4, 8, 20), 32),
    ((1, 8, 32), (1, 5, 32), 5),
    ((1, 4, 8, 32), (1, 3, 8, 32), 24), ((1, 1, 8, 32), (1, 1, 5, 16), 5), ((4, 1, 8, 32), (3, 1, 8, 32), 24),
])
def test_a_cut_of_whole_rows_stays_a_cut_of_rows(
    shape: tuple[int, ...], valid: tuple[int, ...], rows: int
) -> None:
    zeros = [0] * len(shape)
    f = kernel(
        f"a: pl.Tensor[{list(shape)}, pl.FP32],\nout: pl.Out[pl.Tensor[{list(shape)}, pl.FP32]]",
        f"x = pl.load(a, {zeros}, {list(shape)}, valid_shape={list(valid)})\ny = pl.exp(x)\n"
        f"return pl.store(y, {zeros}, out)")
    assert compare(f, target("a2a3"), runs=2).difference is None
    assert tile(lower(f), "y").valid_shape == (rows, valid[-1])


@pytest.mark.parametrize(("shape", "valid"), [
    ((4, 8, 32), (4, 5, 32)), ((4, 8, 32), (3, 5, 32)), ((1, 4, 8, 32), (1, 4, 5, 32)), ((4, 1, 8, 32), (4, 1, 5, 32)),
])
def test_a_cut_behind_another_dim_is_no_run_of_rows(shape: tuple[int, ...], valid: tuple[int, ...]) -> None:
    zeros = [0] * len(shape)
    f = kernel(
        f"a: pl.Tensor[{list(shape)}, pl.FP32],\nout: pl.Out[pl.Tensor[{list(shape)}, pl.FP32]]",
        f"x = pl.load(a, {zeros}, {list(shape)}, valid_shape={list(valid)})\nreturn pl.store(x, {zeros}, out)")
    with pytest.raises(NotModelled, match="that is valid on"):
        lower(f)


def test_an_op_across_rows_is_not_modelled_on_three_dims() -> None:
    f = kernel(SOLID, CUBE + "y = pl.tile.slice(x, [2, 8, 32], [1, 0, 0])\nreturn pl.store(y, [0, 0, 0], out)")
    with pytest.raises(NotModelled, match=r"tile\.slice on a tile of rank 3"):
        lower(f)


def test_tiles_of_two_dims_beside_them_stay_as_they_are() -> None:
    f = kernel("""
        a: pl.Tensor[[4, 8, 32], pl.FP32],
        b: pl.Tensor[[8, 64], pl.FP32],
        out: pl.Out[pl.Tensor[[4, 8, 32], pl.FP32]],
        out2: pl.Out[pl.Tensor[[8, 64], pl.FP32]]
    """, CUBE + """
y = pl.load(b, [0, 0], [8, 64])
z = pl.tile.slice(y, [4, 64], [4, 0])
out2 = pl.store(z, [0, 0], out2)
return pl.store(x, [0, 0, 0], out)
""")
    flat = after(f, "FlattenTileNdTo2D")
    assert tile(flat, "y").shape == (8, 64) and tile(flat, "z").shape == (4, 64)
    stores = [c for c in calls(flat.body) if c.op == "tile.store"]
    assert [len(s.args) > 3 and isinstance(s.args[3], MakeTuple) for s in stores] == [False, True]
    assert ops(flat).count("slice") == 1


def test_what_is_done_for_its_effect_beside_them_stays_as_it_is() -> None:
    """Stores of matrices, carried ones too, a scalar that is carried, and what touches no tile at all."""
    f = kernel("""
        a: pl.Tensor[[4, 8, 32], pl.FP32],
        b: pl.Tensor[[8, 64], pl.FP32],
        out: pl.Out[pl.Tensor[[4, 8, 32], pl.FP32]],
        out2: pl.Out[pl.Tensor[[16, 64], pl.FP32]]
    """, CUBE + """
y = pl.load(b, [0, 0], [8, 64])
pl.store(y, [0, 0], out2)
row = 8
for i in pl.range(2):
    y = pl.add(y, y)
    row = row - 8 * i
pl.system.bar_all()
pl.store(y, [row, 0], out2)
pl.store(x, [0, 0, 0], out)
""")
    before, after_ = (
        [c for c in calls(g.body) if not isinstance(c.type, TileType)] for g in (
            after(f, "InferTileMemorySpace"), after(f, "FlattenTileNdTo2D")))
    changed = [new.op for old, new in zip(before, after_, strict=True) if old != new]
    assert changed == ["tile.store"]
    (window,) = [new.args[3] for old, new in zip(before, after_, strict=True) if old != new]
    assert window == MakeTuple((Const(4), Const(8), Const(32)))
