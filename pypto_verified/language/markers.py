"""Objects that a kernel file sees instead of the real DSL: they only record what the author wrote."""

from __future__ import annotations

import types
from dataclasses import dataclass, field, replace
from enum import Enum, IntEnum

from pypto_verified import index
from pypto_verified.dtypes import DType
from pypto_verified.ir.stmt import Direction, FunctionKind
from pypto_verified.language.stubs import Stub


class DynVar:
    """`pl.dynamic("M")`: a size known at run time. Arithmetic gives an index expression over its symbol."""

    def __init__(self, name: str) -> None:
        self.name = name

    @property
    def symbol(self) -> index.Expr:
        """The size as an index symbol; sizes are not negative."""
        return index.symbol(self.name, 0)

    def __add__(self, other: object) -> index.Expr:
        return self.symbol + _operand(other)

    def __radd__(self, other: object) -> index.Expr:
        return _operand(other) + self.symbol

    def __sub__(self, other: object) -> index.Expr:
        return self.symbol - _operand(other)

    def __rsub__(self, other: object) -> index.Expr:
        return _operand(other) - self.symbol

    def __mul__(self, other: object) -> index.Expr:
        return self.symbol * _operand(other)

    def __rmul__(self, other: object) -> index.Expr:
        return _operand(other) * self.symbol

    def __floordiv__(self, other: object) -> index.Expr:
        return self.symbol // _operand(other)

    def __mod__(self, other: object) -> index.Expr:
        return self.symbol % _operand(other)


def _operand(value: object) -> index.Expr:
    if isinstance(value, DynVar):
        return value.symbol
    if isinstance(value, int | index.Expr):
        return index.as_expr(value)
    raise TypeError(f"a pl.dynamic size can't be combined with {value!r}")


@dataclass(frozen=True)
class OpName:
    """A function of the DSL, by its path below `pl` (`add`, `tile.load`): not callable outside a kernel."""

    path: str

    def __call__(self, *args: object, **kwargs: object) -> object:
        raise TypeError(f"pl.{self.path}(...) is kernel code: call it inside a function decorated with @pl.function")


@dataclass(frozen=True)
class TypeMark:
    """An evaluated annotation: `kind` Tensor, Tile, Scalar, Array, Tuple or DistributedTensor with its subscript."""

    kind: str
    items: tuple[object, ...] = ()

    def __getitem__(self, items: object) -> TypeMark:
        return TypeMark(self.kind, items if isinstance(items, tuple) else (items,))


@dataclass(frozen=True)
class DirectionMark:
    """`pl.Out[...]` or `pl.InOut[...]` around a type."""

    direction: Direction
    inner: object = None

    def __getitem__(self, inner: object) -> DirectionMark:
        return DirectionMark(self.direction, inner)


@dataclass(frozen=True)
class ViewMark:
    """`pl.TileView(...)` or `pl.TensorView(...)` with the keywords the author gave."""

    kind: str
    fields: dict[str, object]


@dataclass
class MemRefMark:
    """`pl.MemRef(...)`: an author's allocation. `name` empty: the variable that holds the mark names it."""

    name: str = ""
    offset: object = None
    size: object = None
    slots: int = 1
    pinned: bool = True
    slot: object = 0

    def __getitem__(self, slot: object) -> MemRefMark:
        return replace(self, slot=slot)


class FunctionType(Enum):
    """`pl.FunctionType`."""

    Opaque = FunctionKind.PLAIN
    InCore = FunctionKind.INCORE
    AIC = FunctionKind.AIC
    AIV = FunctionKind.AIV
    Orchestration = FunctionKind.ORCHESTRATION
    Group = FunctionKind.GROUP
    Spmd = FunctionKind.SPMD
    Inline = FunctionKind.INLINE


class SplitMode(IntEnum):
    """`pl.SplitMode`: how a tile is halved between the two vector lanes."""

    NONE = 0
    UP_DOWN = 1
    LEFT_RIGHT = 2


class AtomicType(IntEnum):
    """`pl.AtomicType` of a store."""

    None_ = 0
    Add = 1


class MaskPattern(IntEnum):
    """`pl.tile.MaskPattern` of a masked gather or scatter (letters are kept lanes, first lane last)."""

    P0101 = 1
    P1010 = 2
    P0001 = 3
    P0010 = 4
    P0100 = 5
    P1000 = 6
    P1111 = 7


class PipeType(IntEnum):
    """`pl.PipeType`: the hardware pipes by their code."""

    MTE1 = 0
    MTE2 = 1
    MTE3 = 2
    M = 3
    V = 4
    S = 5
    FIX = 6
    ALL = 7


@dataclass(frozen=True)
class LanguageDType:
    """A `pl.FP32` as kernel files see it; `get_byte()` is usable in Python arithmetic."""

    dtype: DType

    def get_byte(self) -> int:
        """Bytes of one element, rounded up."""
        return (self.dtype.bits + 7) // 8

    def get_bit(self) -> int:
        """Bits of one element."""
        return self.dtype.bits

    def __repr__(self) -> str:
        return f"pl.{self.dtype.name}"


class _Decorated:
    """What becomes of a definition: code that calls it or looks into it while the file runs gets stubs."""

    def __call__(self, *args: object, **kwargs: object) -> object:
        return Stub()

    def __getattr__(self, name: str) -> object:
        if name.startswith("__"):
            raise AttributeError(name)
        return Stub()


@dataclass(eq=False)
class KernelMark(_Decorated):
    """A decorated function. `flavor`: function, jit, jit.incore, ...; `scope`: names visible where it was written."""

    function: types.FunctionType
    flavor: str
    keywords: dict[str, object]
    scope: dict[str, object]
    certain: bool = True


@dataclass(eq=False)
class ProgramMark(_Decorated):
    """A `@pl.program` class and its kernels in source order."""

    cls: type
    kernels: tuple[KernelMark, ...]
    certain: bool = True


@dataclass
class Recorder:
    """What the decorators met while a file ran, in the order of decoration. `certain`: the values that the running code
    depends on are those of the file, so that a mistake in what it defines is the author's."""

    certain: bool = True
    programs: list[ProgramMark] = field(default_factory=list)
    kernels: list[KernelMark] = field(default_factory=list)


@dataclass(frozen=True)
class ConstMark:
    """`pl.const(value, dtype)` evaluated outside a kernel."""

    value: int | float
    dtype: LanguageDType

