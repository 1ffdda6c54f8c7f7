"""Parameters and sizes before the first statement."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from pypto_verified.interpreter.meaning import Value
from pypto_verified.interpreter.numbers import to_carrier
from pypto_verified.interpreter.undefined import Undefined
from pypto_verified.interpreter.values import Tensor
from pypto_verified.ir.expr import Var
from pypto_verified.ir.stmt import Function
from pypto_verified.ir.types import TensorType

Inputs: TypeAlias = Mapping[str, "NDArray[np.generic] | int | float"]
"""Values by parameter name; a dynamic dim follows from the arrays' shapes, or is given by its own name."""


def bind(function: Function, inputs: Inputs) -> tuple[dict[str, Value], dict[str, Tensor]]:
    """The variables' values, and the tensors by parameter name (copies of the arrays).

    Undefined for values that contradict the parameters' types or each other, KeyError for a missing one.
    """
    env: dict[str, Value] = {n: int(given) for n in function.dynamic if isinstance(given := inputs.get(n), int)}
    tensors: dict[str, Tensor] = {}
    for param in function.params:
        name, given, type_ = param.var.name, inputs[param.var.name], param.var.type
        if isinstance(type_, TensorType):
            if not isinstance(given, np.ndarray):
                raise Undefined(f"parameter {name} is a tensor and needs an array")
            _bind_dims(env, name, type_, given.shape)
            tensors[name] = Tensor(to_carrier(given, type_.dtype), np.zeros(given.shape, dtype=np.bool_), type_.dtype)
            env[name] = tensors[name]
        elif isinstance(given, np.ndarray):
            raise Undefined(f"parameter {name} is a scalar and can't be an array")
        else:
            env[name] = given
    return env, tensors


def _bind_dims(env: dict[str, Value], name: str, type_: TensorType, shape: tuple[int, ...]) -> None:
    if len(shape) != len(type_.shape):
        raise Undefined(f"parameter {name} has rank {len(type_.shape)}, the array has {len(shape)}")
    for dim, n in zip(type_.shape, shape, strict=True):
        if isinstance(dim, Var):
            known = env.setdefault(dim.name, n)
            if known != n:
                raise Undefined(f"dim {dim.name} is {known} in one tensor and {n} in {name}")
        elif isinstance(dim, int) and dim != n:
            raise Undefined(f"parameter {name} has a dim of {dim}, the array has {n}")
