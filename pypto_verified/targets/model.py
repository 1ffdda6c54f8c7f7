"""What a target is: plain data, filled in by `rows.py`. Sizes and addresses count bytes."""

from __future__ import annotations

from pypto_verified.dtypes import DType
from pypto_verified.layouts import BLayout, SLayout, Space
from pypto_verified.records import dataclass

Pair = tuple[str, str]
"""(source pipe, destination pipe)."""


@dataclass(frozen=True, slots=True)
class Memory:
    """One memory space of a core. `usable`: bytes a tile may occupy, counted from address 0 (the smallest documented
    capacity); `physical`: bytes that exist; between them lies what the library keeps for itself. `align`: what a tile's
    address must be a multiple of."""

    space: Space
    usable: int
    physical: int
    align: int
    source: str


@dataclass(frozen=True, slots=True)
class Move:
    """A direct way from one space to another. `pipes`: the pipe that carries it; more than one where the sources
    differ, and then a proof must hold under each (EV-01)."""

    src: Space
    dst: Space
    pipes: tuple[str, ...]
    source: str


@dataclass(frozen=True, slots=True)
class ReservedEvent:
    """An event id that library code sets and waits on its own: it must be free while `ops` run."""

    pair: Pair
    event: int
    ops: tuple[str, ...]
    source: str


@dataclass(frozen=True, slots=True)
class ReservedFlag:
    """A cross-core flag id that library code uses on its own."""

    flag: int
    user: str
    source: str


@dataclass(frozen=True, slots=True)
class Target:
    """A target as data.

    `in_order`: pipes on which a dependent op needs no barrier after its producer; `in_order_strict` is the same under
    `--strict`. `waw_in_order`: pipes on which two writes to the same bytes land in program order although a read after
    a write needs a barrier. `barriers`: pipes whose `barrier` has an effect. `auto_sync_reserved`: pipe pairs whose
    last id the assembler's own synchronisation keeps. `acc_rows`: rows that a physical accumulator is padded to, by
    element type (16 for the others). `left_layout`: (blayout, slayout) of a LEFT tile on the device. `casts`: (from,
    to) pairs that one instruction converts; `wrapping_casts`: those whose default is not to saturate.
    `matmul_extent_max`: largest m, k, n of one matmul. `on_chip_pipe`: cube and vector cores exchange tiles on chip,
    not through global memory.
    """

    name: str
    arch: str
    cubes: int
    lanes_per_cube: int
    memories: tuple[Memory, ...]
    moves: tuple[Move, ...]
    pipes: tuple[str, ...]
    in_order: frozenset[str]
    in_order_strict: frozenset[str]
    waw_in_order: frozenset[str]
    barriers: frozenset[str]
    event_ids: int
    auto_sync_reserved: tuple[Pair, ...]
    reserved_events: tuple[ReservedEvent, ...]
    flag_ids: int
    flag_count_max: int
    reserved_flags: tuple[ReservedFlag, ...]
    left_layout: tuple[BLayout, SLayout]
    acc_rows: tuple[tuple[DType, int], ...]
    casts: frozenset[tuple[DType, DType]]
    wrapping_casts: frozenset[tuple[DType, DType]]
    matmul_extent_max: int
    on_chip_pipe: bool

    def memory(self, space: Space) -> Memory:
        """The space's row. Raises KeyError for GM, which has no capacity of its own."""
        for row in self.memories:
            if row.space is space:
                return row
        raise KeyError(space)

    def capacity(self, space: Space) -> int:
        """Bytes of `space` that tiles may occupy, from address 0 (assumption UB-TOP)."""
        return self.memory(space).usable

    def alignment(self, space: Space) -> int:
        """What a tile address in `space` must be a multiple of, in bytes."""
        return self.memory(space).align

    def move(self, src: Space, dst: Space) -> Move | None:
        """The direct move from `src` to `dst`, if the target has one."""
        for row in self.moves:
            if row.src is src and row.dst is dst:
                return row
        return None

    def acc_row_multiple(self, dtype: DType) -> int:
        """Rows that an accumulator of `dtype` is padded to."""
        return dict(self.acc_rows).get(dtype, 16)

    def same_pipe_ordered(self, pipe: str, strict: bool = False) -> bool:
        """Whether a dependent op on `pipe` sees its producer's result without a barrier."""
        return pipe in (self.in_order_strict if strict else self.in_order)
