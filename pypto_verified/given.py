"""Values that a user writes on a command line: numbers and arrays."""

from __future__ import annotations

from math import prod

import numpy as np

from pypto_verified.dtypes import DType
from pypto_verified.errors import InputError, Location
from pypto_verified.trials import KINDS, Array, Scalar, contents, stored

MAX_TENSOR_BYTES = 4 << 30
"""Larger tensors are refused: a run holds each of them several times."""


def integer(name: str, text: str) -> int:
    """`--set name=text` as an integer (0x and the like too)."""
    try:
        return int(text, 0)
    except ValueError:
        raise InputError(f"--set {name}={text}: not an integer") from None


def number(name: str, text: str) -> Scalar:
    """`--set name=text` as an integer or a float."""
    try:
        return int(text, 0)
    except ValueError:
        try:
            return float(text)
        except ValueError:
            raise InputError(f"--set {name}={text}: not a number") from None


def scalar(name: str, text: str, dtype: DType) -> Scalar:
    """`--set name=text` as a scalar argument: for an integer type a whole number of its width, signed or not."""
    value = number(name, text)
    if dtype.is_float:
        return value
    if not isinstance(value, int):
        raise InputError(f"--set {name}={text}: not an integer, {name} is {dtype.name}")
    least = 0 if dtype.kind in ("uint", "bool") else -(1 << (dtype.bits - 1))
    most = 1 if dtype.kind == "bool" else (1 << dtype.bits) - 1
    if not least <= value <= most:
        raise InputError(f"--set {name}={text}: {name} is {dtype.name}, which that does not fit")
    return value


def array(
    name: str, text: str, dtype: DType, shape: tuple[int, ...] | None, random: np.random.Generator
) -> Array:
    """`--input name=text`: a `.npy` file, or a kind, with a shape where nothing else tells it.

    InputError for what does not fit the tensor.
    """
    if text.endswith(".npy"):
        return from_file(name, text, dtype, shape)
    kind, _, extents = text.partition(":")
    if extents:
        if not all(n.isdecimal() for n in extents.split("x")):
            raise InputError(f"--input {name}={text}: write a shape like 16x64")
        given = tuple(map(int, extents.split("x")))
        if shape is not None and given != shape:
            raise InputError(f"--input {name}={text}: the tensor is {list(shape)}")
        shape = given
    if shape is None:
        raise InputError(f"the shape of {name} is not known", help=f"write it: --input {name}={kind}:16x64")
    if (size := prod(shape) * stored(dtype).itemsize) > MAX_TENSOR_BYTES:
        raise InputError(f"{name} is {list(shape)}: {size} bytes, the limit is {MAX_TENSOR_BYTES}")
    if kind in ("zeros", "ones"):
        return np.full(shape, kind == "ones").astype(stored(dtype))
    if kind == "ramp":
        return np.arange(prod(shape)).reshape(shape).astype(stored(dtype))
    if kind == "randn" or kind in KINDS:
        return contents(dtype, shape, "normal" if kind == "randn" else kind, random)
    raise InputError(f"--input {name}={text}: not a .npy file, randn, zeros, ones, ramp or one of {', '.join(KINDS)}")


def of_numpy(kind: np.dtype[np.generic]) -> bool:
    """Whether numpy itself has the type, so that its files can hold it."""
    return hasattr(np, kind.name)


def shape_of_file(path: str) -> tuple[int, ...]:
    """The shape of the array in a `.npy` file; () where it can't be read."""
    try:
        array: Array = np.load(path, mmap_mode="r", allow_pickle=False)
        return array.shape
    except (OSError, ValueError):
        return ()


def from_file(name: str, path: str, dtype: DType, shape: tuple[int, ...] | None) -> Array:
    """The array of a `.npy` file, which must have the tensor's shape and element type."""
    try:
        array: Array = np.load(path, allow_pickle=False)
    except (OSError, ValueError) as error:
        raise InputError(f"can't read an array: {error}", Location(path)) from None
    if shape is not None and array.shape != shape:
        raise InputError(f"{name} is {list(shape)}, the array is {list(array.shape)}", Location(path))
    wanted = stored(dtype)
    if array.dtype == wanted:
        return array
    # numpy files have no bfloat16 and no 8-bit floats: they come as f32 numbers.
    if not of_numpy(wanted) and array.dtype == np.float32:
        return array.astype(wanted)
    raise InputError(f"{name} holds {wanted.name}, the array {array.dtype.name}", Location(path))
