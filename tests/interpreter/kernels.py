"""Kernels as text, run by the interpreter on given arrays."""

from __future__ import annotations

from collections.abc import Callable
from textwrap import dedent

import numpy as np
from numpy.typing import NDArray

from pypto_verified.interpreter import interpret
from tests.passes.build import kernel

Array = NDArray[np.generic]
FIRST_BODY_LINE = 8
"""Line of the first statement in a kernel of one tensor and one output."""


def run(params: str, body: str, **inputs: Array | int | float) -> dict[str, Array]:
    """The tensors after the kernel `k(params): body`."""
    return interpret(kernel(params, dedent(body)), inputs)


def tensor(name: str, shape: tuple[int, ...], dtype: str = "FP32", out: bool = False) -> str:
    """A tensor parameter."""
    type_ = f"pl.Tensor[[{', '.join(map(str, shape))}], pl.{dtype}]"
    return f"{name}: pl.Out[{type_}]" if out else f"{name}: {type_}"


def unary(call: str, x: Array, dtype: str = "FP32", out_dtype: str = "", out_shape: tuple[int, ...] = ()) -> Array:
    """`call` of the loaded tile `x`, which fills the output."""
    return binary(call, x, x, dtype, out_dtype, out_shape)


def binary(
    call: str, x: Array, y: Array, dtype: str = "FP32", out_dtype: str = "", out_shape: tuple[int, ...] = ()
) -> Array:
    """`call` of the loaded tiles `x` and `y`; `t` is a scratch tile like x."""
    shape = out_shape or x.shape
    params = ",\n".join([
        tensor("a", x.shape, dtype), tensor("b", y.shape, dtype), tensor("out", shape, out_dtype or dtype, out=True),
    ])
    body = f"""
        x = pl.load(a, [0, 0], {list(x.shape)})
        y = pl.load(b, [0, 0], {list(y.shape)})
        t: pl.Tile[{list(x.shape)}, pl.{dtype}] = pl.tile.create({list(x.shape)}, dtype=pl.{dtype})
        return pl.store({call}, [0, 0], out)
    """
    stored = NUMPY[out_dtype or dtype]
    return run(params, body, a=x, b=y, out=np.zeros(shape, stored))["out"]


NUMPY: dict[str, type[np.generic]] = {
    "FP32": np.float32, "FP16": np.float16, "INT32": np.int32, "INT16": np.int16, "INT8": np.int8, "UINT8": np.uint8,
    "UINT32": np.uint32, "UINT16": np.uint16,
}

Expected = Callable[[Array, Array], Array]
