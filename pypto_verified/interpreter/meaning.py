"""The table op -> meaning. Families register themselves; a missing op is NotModelled, never a guess."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field
from typing import TypeAlias, Union

from pypto_verified.dtypes import DType
from pypto_verified.interpreter.values import Tensor, Tile
from pypto_verified.ir.expr import Attr, Call
from pypto_verified.records import dataclass

Scalar: TypeAlias = Union[int, float, bool]
Value: TypeAlias = Union[Tile, Tensor, int, float, bool, tuple["Value", ...], None]


class Fault(Exception):
    """An op has no defined result for these values; the runner adds where. `index` is the element, if one shows it."""

    def __init__(self, message: str, index: tuple[int, ...] | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.index = index


def require_within(valid: tuple[int, ...], shape: tuple[int, ...]) -> None:
    """Fault for valid extents that the tile can't have."""
    if any(v < 0 or v > n for v, n in zip(valid, shape, strict=True)):
        raise Fault(f"valid shape {valid} is not within the tile {shape}")


@dataclass(frozen=True, slots=True)
class Site:
    """What a meaning sees of its call: the operands' values in order and the call for its keywords and types.

    `loose` collects the ops of the run whose exact result the device leaves open (`unspecified.py`); `pipes` is the
    run's end of the cube-vector pipes (`pipes.py`), None for a run without them; `flags` are the flags that are set
    (`sync.py`), each with the line that set it.
    """

    args: tuple[Value, ...]
    call: Call
    block: tuple[int, int]
    lane: int
    loose: set[str]
    pipes: object = None
    flags: dict[tuple[str, str, int], int] = field(default_factory=dict)

    def leave_open(self) -> None:
        """This op's result is one of several that a device may give."""
        self.loose.add(self.call.op)

    def tile(self, i: int) -> Tile:
        value = self.args[i]
        if not isinstance(value, Tile):
            raise Fault(f"operand {i} of {self.call.op} is not a tile")
        return value

    def tensor(self, i: int) -> Tensor:
        value = self.args[i]
        if not isinstance(value, Tensor):
            raise Fault(f"operand {i} of {self.call.op} is not a tensor")
        return value

    def scalar(self, i: int) -> int | float:
        value = self.args[i]
        if not isinstance(value, (int, float)):
            raise Fault(f"operand {i} of {self.call.op} is not a scalar")
        return value

    def ints(self, i: int) -> tuple[int, ...]:
        value = self.args[i]
        if not isinstance(value, tuple):
            raise Fault(f"operand {i} of {self.call.op} is not a list")
        return tuple([int(v) for v in value if isinstance(v, (int, float))])

    def has(self, i: int) -> bool:
        """Whether operand `i` was given (an empty list stands for an omitted one)."""
        return i < len(self.args) and self.args[i] not in (None, ())

    def attr(self, name: str, default: Attr = None) -> Attr:
        return self.call.kwarg(name, default)

    def int_attr(self, name: str, default: int = 0) -> int:
        value = self.call.kwarg(name, default)
        return int(value) if isinstance(value, (int, float)) else default

    def dtype_attr(self, name: str, default: DType) -> DType:
        value = self.call.kwarg(name)
        return value if isinstance(value, DType) else default


Meaning: TypeAlias = Callable[[Site], Value]

MEANINGS: dict[str, Meaning] = {}


def meaning(*names: str) -> Callable[[Meaning], Meaning]:
    """Register a function as the meaning of these ops."""

    def register(function: Meaning) -> Meaning:
        for name in names:
            MEANINGS[name] = function
        return function

    return register
