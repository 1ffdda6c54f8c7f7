"""CG-05: shape, strides and layout of a tensor's view, in elements."""

from __future__ import annotations

import pytest

from pypto_verified.codegen.tensors import tensor_layout
from pypto_verified.dtypes import FP32, INDEX
from pypto_verified.ir.expr import Binary, BinaryOp, Const, Expr, Var
from pypto_verified.ir.types import Dim, ScalarType, TensorType, TensorView
from pypto_verified.layouts import TensorLayout

ND, DN, NZ = TensorLayout.ND, TensorLayout.DN, TensorLayout.NZ
M, N = (Var(name, ScalarType(INDEX)) for name in "MN")


def _times(a: Expr, b: Expr) -> Expr:
    return Binary(BinaryOp.MUL, a, b, INDEX)


@pytest.mark.requirement("CG-05")
@pytest.mark.parametrize(("shape", "view", "strides", "layout"), [
    ((16,), TensorView(), (1,), ND), ((8, 16), TensorView(), (16, 1), ND), ((4, 8, 16), TensorView(), (128, 16, 1), ND),
    ((2, 4, 8, 16), TensorView(), (512, 128, 16, 1), ND),
    ((16,), TensorView(layout=DN), (1,), DN), ((8, 16), TensorView(layout=DN), (1, 8), DN),
    ((4, 8, 16), TensorView(layout=DN), (128, 1, 8), DN), ((2, 4, 8, 16), TensorView(layout=DN), (512, 128, 1, 8), DN),
    # the last dimension is 1: DN, whatever strides are given
    ((8, 1), TensorView(), (1, 8), DN), ((1, 1), TensorView(), (1, 1), DN), ((4, 8, 1), TensorView(), (8, 1, 8), DN),
    ((8, 1), TensorView((64, 1)), (1, 8), DN), ((8, 1), TensorView(layout=DN), (1, 8), DN),
    ((8, 1), TensorView((3, 5), NZ), (3, 5), NZ), ((1,), TensorView(), (1,), ND), ((1, 8), TensorView(), (8, 1), ND),
    # given ones
    ((8, 16), TensorView((64, 1)), (64, 1), ND), ((8, 16), TensorView((1, 64), DN), (1, 64), DN),
    # sizes known at run time only
    ((M, 16), TensorView(), (16, 1), ND), ((16, M), TensorView(), (M, 1), ND),
    ((2, N, M), TensorView(), (_times(N, M), M, 1), ND), ((2, M, 16), TensorView(), (_times(M, Const(16)), 16, 1), ND),
    ((2, 16, M), TensorView(), (_times(Const(16), M), M, 1), ND), ((M, N), TensorView(layout=DN), (1, M), DN),
    ((M, 1), TensorView(), (1, M), DN),
])
def test_strides_are_those_given_or_packed(
    shape: tuple[Dim, ...], view: TensorView, strides: tuple[Dim, ...], layout: TensorLayout
) -> None:
    assert tensor_layout(TensorType(shape, FP32, view)) == (shape, strides, layout)
