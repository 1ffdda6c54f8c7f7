"""Sizes and types that meet: what is provably equal, and why a value can't take another's place."""

from __future__ import annotations

import pytest

from pypto_verified.dtypes import FP16, FP32, INDEX, INT32
from pypto_verified.ir.expr import Binary, BinaryOp, Const, Expr, Var
from pypto_verified.ir.types import Dim, ScalarType, TensorType, TensorView, TileType, TileView, TupleType, Type
from pypto_verified.layouts import BLayout, Space, TensorLayout
from pypto_verified.passes.dims import disagreement, same_dim, same_dims, show, static

N, M = (Var(name, ScalarType(INDEX)) for name in "NM")


def _index(op: str, lhs: Expr | int, rhs: Expr | int) -> Expr:
    left, right = (Const(e, INDEX) if isinstance(e, int) else e for e in (lhs, rhs))
    return Binary(BinaryOp[op], left, right, INDEX)


UNKNOWN = _index("SHL", N, M)
"""A size without an index form."""


@pytest.mark.parametrize(("a", "b", "same"), [
    (4, 4, True), (4, 5, False), (4, Const(4), True), (N, N, True), (N, M, False), (N, 4, False),
    (_index("ADD", N, 1), _index("ADD", 1, N), True), (_index("ADD", N, 1), N, False),
    (_index("MUL", N, 2), _index("ADD", N, N), True), (UNKNOWN, UNKNOWN, True), (UNKNOWN, N, False),
    (_index("FLOORDIV", _index("MUL", N, 4), 4), N, True),
])
def test_sizes_are_equal_if_it_is_certain(a: Dim, b: Dim, same: bool) -> None:
    assert same_dim(a, b) is same and same_dim(b, a) is same


def test_shapes_are_equal_dim_by_dim() -> None:
    assert same_dims((4, N), (4, N)) and same_dims((), ())
    assert not same_dims((4, N), (4, M)) and not same_dims((5, N), (4, N))
    assert not same_dims((4,), (4, N)) and not same_dims((4, N), (4,))


def test_a_size_is_a_number_if_it_is_written_as_one() -> None:
    assert static(4) == 4 and static(Const(4)) == 4
    assert static(N) is None and static(_index("ADD", 1, 2)) is None and static(Const(1.5, FP32)) is None


def test_sizes_are_shown_as_the_user_writes_them() -> None:
    assert show((4, Const(8), N, _index("ADD", N, 1), UNKNOWN)) == "[4, 8, N, N + 1, ?]"
    assert show(()) == "[]"


TILE = TileType((16, 32), FP32, Space.VEC, TileView((N, 32)))


@pytest.mark.parametrize(("a", "b", "why"), [
    (TILE, TILE, ""), (TILE, TileType((16, 32), FP16, Space.VEC, TileView((N, 32))), "FP32 against FP16"),
    (TILE, TileType((32, 16), FP32, Space.VEC, TileView((N, 16))), "shape [16, 32] against [32, 16]"),
    (TILE, TileType((16, 32), FP32, Space.VEC, TileView((M, 32))), "valid shape [N, 32] against [M, 32]"),
    (TILE, TileType((16, 32), FP32, Space.VEC), "valid shape [N, 32] against [16, 32]"),
    # neither space nor layout is decided yet
    (TILE, TileType((16, 32), FP32, Space.MAT, TileView((N, 32), BLayout.COL)), ""),
    (TILE, TileType((16, 32), FP32, None, TileView((N, 32))), ""),
    (TensorType((N, 32), FP32), TensorType((N, 32), FP32), ""),
    (TensorType((N, 32), FP32), TensorType((N, 32), FP32, TensorView(layout=TensorLayout.DN)), ""),
    (TensorType((N, 32), FP32), TensorType((M, 32), FP32), "FP32 [N, 32] against FP32 [M, 32]"),
    (TensorType((N, 32), FP32), TensorType((N, 32), FP16), "FP32 [N, 32] against FP16 [N, 32]"),
    (ScalarType(INDEX), ScalarType(INDEX), ""), (ScalarType(INDEX), ScalarType(INT32), "INDEX against INT32"),
    (TILE, TensorType((16, 32), FP32), "tile against tensor"), (ScalarType(INDEX), TILE, "scalar against tile"),
    (TupleType((TILE,)), TupleType((TILE,)), ""), (TupleType((TILE,)), ScalarType(INDEX), "tuple against scalar"),
])
def test_why_a_value_can_not_take_the_place_of_another(a: Type, b: Type, why: str) -> None:
    assert disagreement(a, b) == why
