"""Types of the PTO dialect. Immutable; extents count elements, `fractal` and slot sizes count bytes.

Source of the grammar: facts on PTOAS, section 1 (types).
"""

from __future__ import annotations

from typing import TypeAlias, Union

from pypto_verified.dtypes import DType
from pypto_verified.layouts import BLayout, Compact, Pad, SLayout, Space
from pypto_verified.records import dataclass


@dataclass(frozen=True, slots=True)
class ScalarType:
    """A builtin scalar: `f32`, `i64`, `index`, `i1`, ..."""

    dtype: DType


@dataclass(frozen=True, slots=True)
class PtrType:
    """`!pto.ptr<T[, space]>`."""

    dtype: DType
    space: Space = Space.GM


@dataclass(frozen=True, slots=True)
class TensorViewType:
    """`!pto.tensor_view<AxBxT>`; None is `?`. Strides are operands of make_tensor_view, not part of the type."""

    dims: tuple[int | None, ...]
    dtype: DType


@dataclass(frozen=True, slots=True)
class PartitionViewType:
    """`!pto.partition_tensor_view<AxBxT>`; None is `?`."""

    dims: tuple[int | None, ...]
    dtype: DType


@dataclass(frozen=True, slots=True)
class TileBufType:
    """`!pto.tile_buf<...>`; `v_row`/`v_col` None is `?` (given by an operand)."""

    loc: Space
    dtype: DType
    rows: int
    cols: int
    v_row: int | None
    v_col: int | None
    blayout: BLayout = BLayout.ROW
    slayout: SLayout = SLayout.NONE
    fractal: int = 512
    pad: Pad = Pad.NULL
    compact: Compact = Compact.NULL

    @property
    def boxed(self) -> bool:
        return self.slayout is not SLayout.NONE

    @property
    def bytes(self) -> int:
        """Storage of the whole physical tile."""
        return self.rows * self.cols * self.dtype.bytes


@dataclass(frozen=True, slots=True)
class MultiTileBufType:
    """`!pto.multi_tile_buf<SLOT, count=N>`: N slots of one tile type."""

    slot: TileBufType
    count: int


@dataclass(frozen=True, slots=True)
class OpaqueType:
    """A type this version only names: pipes, event arrays, sessions. `params` are its parsed parameters."""

    name: str
    params: tuple[str, ...] = ()


Type: TypeAlias = Union[
    ScalarType, PtrType, TensorViewType, PartitionViewType, TileBufType, MultiTileBufType, OpaqueType
]
