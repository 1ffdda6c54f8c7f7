"""IR types: scalars, global tensors, tiles, tuples. All immutable; equality is structural.

A dimension is an int or an INDEX expression (`Dim`). Shapes and extents count elements.
"""

from __future__ import annotations

from typing import TypeAlias, Union

from pypto_verified.dtypes import DType
from pypto_verified.ir.expr import Dim, Expr
from pypto_verified.layouts import BLayout, Compact, Pad, SLayout, Space, TensorLayout
from pypto_verified.records import dataclass


@dataclass(frozen=True, slots=True)
class ScalarType:
    """A scalar value."""

    dtype: DType


@dataclass(frozen=True, slots=True)
class TensorView:
    """How a tensor lies in global memory. `stride` in elements per logical dim, empty = packed by `layout`.
    `valid_shape` empty = full."""

    stride: tuple[Dim, ...] = ()
    layout: TensorLayout = TensorLayout.ND
    valid_shape: tuple[Dim, ...] = ()


@dataclass(frozen=True, slots=True)
class TensorType:
    """A tensor in global memory."""

    shape: tuple[Dim, ...]
    dtype: DType
    view: TensorView = TensorView()


@dataclass(frozen=True, slots=True)
class TileView:
    """Layout of a tile. `valid_shape` empty = full; `fractal` in bytes."""

    valid_shape: tuple[Dim, ...] = ()
    blayout: BLayout = BLayout.ROW
    slayout: SLayout = SLayout.NONE
    fractal: int = 512
    pad: Pad = Pad.NULL
    compact: Compact = Compact.NULL


@dataclass(frozen=True, slots=True)
class MemRef:
    """Storage of a tile: `base` names the buffer, `offset` its byte address in the space (int once allocated,
    None before), `size` bytes. Tiles with the same base share bytes. `pinned`: the author gave the address.
    `slots`/`slot`: an author's multi-slot buffer and the index of the slot used."""

    base: str
    offset: Dim | None
    size: int
    pinned: bool = False
    slots: int = 1
    slot: Dim = 0


@dataclass(frozen=True, slots=True)
class TileType:
    """A 2-D (or, before flattening, n-D) tile. `space` None until memory-space inference; `view` None until the
    layout pass has resolved it (the implicit view of the space); `memref` None until InitMemRef."""

    shape: tuple[int, ...]
    dtype: DType
    space: Space | None = None
    view: TileView | None = None
    memref: MemRef | None = None

    @property
    def valid_shape(self) -> tuple[Dim, ...]:
        """Valid extents in elements, one per dim; the shape when none are declared."""
        return self.view.valid_shape if self.view is not None and self.view.valid_shape else self.shape


@dataclass(frozen=True, slots=True)
class TupleType:
    """Several results."""

    items: tuple[Type, ...]


@dataclass(frozen=True, slots=True)
class NoneType:
    """The type of a call made for its effect."""


@dataclass(frozen=True, slots=True)
class OpaqueType:
    """A value this version does not look into (pipe, communication context, event); `what` names it."""

    what: str


Type: TypeAlias = Union[ScalarType, TensorType, TileType, TupleType, NoneType, OpaqueType]

__all__ = [
    "Dim", "Expr", "MemRef", "NoneType", "OpaqueType", "ScalarType", "TensorType", "TensorView", "TileType",
    "TileView", "TupleType", "Type",
]
