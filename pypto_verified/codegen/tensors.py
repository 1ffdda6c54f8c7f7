"""Tensor parameters and how they lie in global memory (CG-03, CG-05)."""

from __future__ import annotations

from pypto_verified.codegen.types import static_dim
from pypto_verified.dtypes import INDEX
from pypto_verified.ir.expr import Binary, BinaryOp, Const
from pypto_verified.ir.stmt import Param
from pypto_verified.ir.types import Dim, TensorType
from pypto_verified.layouts import TensorLayout
from pypto_verified.pto.module import Value
from pypto_verified.records import dataclass


@dataclass(slots=True)
class Tensor:
    """A tensor parameter: its pointer, and its view once something uses it."""

    param: Param
    pointer: Value
    view: Value | None = None

    @property
    def type(self) -> TensorType:
        assert isinstance(self.param.var.type, TensorType)
        return self.param.var.type


def tensor_layout(tensor: TensorType) -> tuple[tuple[Dim, ...], tuple[Dim, ...], TensorLayout]:
    """Shape, strides and layout of a tensor's view (CG-05). Strides in elements: as the IR gives them, else packed.

    A constant last dimension of 1 is DN with strides [..., 1, M]: the assembler reads [M, 1] / [1, 1] as DN anyway.
    A DN tensor keeps its logical shape here; whether to swap it is a pass's business.
    """
    shape, view = tensor.shape, tensor.view
    rank = len(shape)
    if rank >= 2 and static_dim(shape[-1]) == 1 and view.layout in (TensorLayout.ND, TensorLayout.DN):
        return shape, _packed(shape, TensorLayout.DN), TensorLayout.DN
    return shape, view.stride or _packed(shape, view.layout), view.layout


def _packed(shape: tuple[Dim, ...], layout: TensorLayout) -> tuple[Dim, ...]:
    strides: list[Dim] = []
    step: Dim = 1
    for dim in reversed(shape):
        strides.append(step)
        step = _times(dim, step)
    strides.reverse()
    if layout is TensorLayout.DN and len(shape) >= 2:
        strides[-2:] = [1, shape[-2]]
    return tuple(strides)


def _times(a: Dim, b: Dim) -> Dim:
    x, y = static_dim(a), static_dim(b)
    if x is not None and y is not None:
        return x * y
    if y == 1:
        return a
    left = Const(a) if isinstance(a, int) else a
    right = Const(b) if isinstance(b, int) else b
    return Binary(BinaryOp.MUL, left, right, INDEX)
