"""How element types are stored: numpy types, pad values, scalars. Storage only, no arithmetic."""

from __future__ import annotations

from typing import Any, TypeAlias

import ml_dtypes
import numpy as np
import numpy.typing as npt

from pypto_verified.dtypes import DType
from pypto_verified.layouts import Pad
from pypto_verified.simulator.errors import UnmodelledError

Array: TypeAlias = npt.NDArray[Any]
"""An array of any element type: the type is known at run time only."""
Scalar: TypeAlias = int | float | bool

_NUMPY: dict[str, npt.DTypeLike] = {
    "FP32": np.float32, "FP16": np.float16, "BF16": ml_dtypes.bfloat16, "FP64": np.float64,
    "INT8": np.int8, "INT16": np.int16, "INT32": np.int32, "INT64": np.int64,
    "UINT8": np.uint8, "UINT16": np.uint16, "UINT32": np.uint32, "UINT64": np.uint64,
    "BOOL": np.uint8, "INDEX": np.int64,
    "FP8E4M3FN": ml_dtypes.float8_e4m3fn, "FP8E4M3": ml_dtypes.float8_e4m3fn, "FP8E5M2": ml_dtypes.float8_e5m2,
    "FP8E8M0": ml_dtypes.float8_e8m0fnu,
}
_STORAGE: dict[str, np.dtype[Any]] = {name: np.dtype(kind) for name, kind in _NUMPY.items()}
_INTEGERS: dict[tuple[str, int], np.dtype[Any]] = {
    **{("int", 8 * n): np.dtype(f"i{n}") for n in (1, 2, 4, 8)},
    **{("uint", 8 * n): np.dtype(f"u{n}") for n in (1, 2, 4, 8)},
}
UNSIGNED: dict[int, np.dtype[Any]] = {n: np.dtype(f"u{n}") for n in (1, 2, 4, 8)}

_INFINITY = {"FP32": (0x7F800000, 0xFF800000), "FP16": (0x7C00, 0xFC00), "BF16": (0x7F80, 0xFF80)}


def storage(dtype: DType) -> np.dtype[Any]:
    """The numpy type of `dtype`. UnmodelledError for packed and opaque types."""
    found = _STORAGE.get(dtype.name) or _INTEGERS.get((dtype.kind, dtype.bits))
    if found is None:
        raise UnmodelledError(f"elements of type {dtype.pto}")
    return found


def is_float(kind: np.dtype[Any]) -> bool:
    """Whether a storage type holds floating point numbers (numpy calls bf16 a void type)."""
    return kind.kind in "fV"


def scalar(value: Scalar, kind: np.dtype[Any]) -> Array:
    """`value` as one element: floats rounded to nearest, integers reduced modulo the width."""
    if is_float(kind):
        return np.asarray(value, dtype=np.float64).astype(kind)
    return np.asarray(int(value) & (256**kind.itemsize - 1), dtype=np.uint64).astype(UNSIGNED[kind.itemsize]).view(kind)


def pad_value(pad: Pad, dtype: DType) -> Array:
    """The element that a pad mode writes (PTO-ISA pad codes): floats +-inf, integers their limits, 64-bit types 0."""
    kind = storage(dtype)
    if pad in (Pad.MAX, Pad.MIN) and kind.itemsize < 8:
        if dtype.name in _INFINITY:
            bits = _INFINITY[dtype.name][pad is Pad.MIN]
            return np.asarray(bits, dtype=UNSIGNED[kind.itemsize]).view(kind)
        if not is_float(kind):
            limits = np.iinfo(kind)
            return np.asarray(limits.max if pad is Pad.MAX else limits.min, dtype=kind)
    return np.zeros((), dtype=kind)
