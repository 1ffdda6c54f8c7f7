"""Run-time values of the interpreter: tiles and tensors as logical arrays with element poison.

Poison means "no particular value": memory never written, elements beyond what an op defines. It spreads through every
operation that uses it and is an error when it reaches global memory, a scalar or a branch.
"""

from __future__ import annotations

import numpy as np

from pypto_verified.dtypes import DType
from pypto_verified.interpreter.numbers import Bools, Carrier, settle, storage
from pypto_verified.records import dataclass


@dataclass(frozen=True, slots=True)
class Tile:
    """A tile: exact `data`, `poison` per element, `valid` extents in elements (what a store writes).

    `bits`/`bit_poison` are present on comparison masks: the logical bit matrix that the packed bytes of `data` encode.
    """

    data: Carrier
    poison: Bools
    valid: tuple[int, ...]
    dtype: DType
    bits: Bools | None = None
    bit_poison: Bools | None = None

    @property
    def shape(self) -> tuple[int, ...]:
        return self.data.shape

    def window(self) -> tuple[slice, ...]:
        """The valid region as an index."""
        return tuple([slice(0, n) for n in self.valid])


@dataclass(slots=True)
class Tensor:
    """Global memory behind a tensor parameter. Stores change it in place: it is memory, not a value."""

    data: Carrier
    poison: Bools
    dtype: DType

    @property
    def shape(self) -> tuple[int, ...]:
        return self.data.shape


def carrier_zeros(shape: tuple[int, ...], dtype: DType) -> Carrier:
    """Zeros in the carrier of the type. NotModelled for a type whose values the carriers do not hold."""
    storage(dtype)
    if dtype.is_float:
        return np.zeros(shape, dtype=np.float64)
    return np.zeros(shape, dtype=np.int64)


def undefined(shape: tuple[int, ...], dtype: DType, valid: tuple[int, ...] | None = None) -> Tile:
    """A tile never written."""
    poison = np.empty(shape, dtype=np.bool_)
    poison.fill(True)
    return Tile(carrier_zeros(shape, dtype), poison, shape if valid is None else valid, dtype)


def inside(shape: tuple[int, ...], valid: tuple[int, ...]) -> Bools:
    """Which elements of a tile lie in its valid region."""
    mask = np.zeros(shape, dtype=np.bool_)
    mask[tuple(slice(0, n) for n in valid)] = True
    return mask


def fresh(data: Carrier, poison: Bools, valid: tuple[int, ...], dtype: DType) -> Tile:
    """A new tile that an op fills on `valid`: what lies beyond has never been written."""
    if valid != data.shape:
        poison = poison | ~inside(data.shape, valid)
    return Tile(data, poison, valid, dtype)


def result(data: Carrier, poison: Bools, valid: tuple[int, ...], dtype: DType) -> Tile:
    """An arithmetic result, brought into the type."""
    return fresh(settle(data, dtype), poison, valid, dtype)
