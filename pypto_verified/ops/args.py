"""The operands of one call, as a type rule reads them. Accessors raise OpError with op, operand and a way out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NoReturn

from pypto_verified.dtypes import INDEX, DType
from pypto_verified.errors import OpError
from pypto_verified.ir.expr import (
    Attr,
    Binary,
    Call,
    Cast,
    Const,
    Dim,
    Expr,
    MakeTuple,
    Span,
    TupleGet,
    Unary,
    Var,
)
from pypto_verified.ir.types import NoneType, OpaqueType, ScalarType, TensorType, TileType, TupleType, Type
from pypto_verified.layouts import Pad, Space
from pypto_verified.ops.decl import OpDecl
from pypto_verified.ops.dims import as_dim, at_most, equal, show, show_shape
from pypto_verified.records import dataclass


def type_of(e: Expr) -> Type:
    """The type of an operand."""
    if isinstance(e, Var):
        return e.type
    match e:
        case Call():
            return e.type
        case MakeTuple():
            return TupleType(tuple(map(type_of, e.items)))
        case TupleGet():
            inner = type_of(e.value)
            return inner.items[e.index] if isinstance(inner, TupleType) else OpaqueType("item of no tuple")
        case Const() | Binary() | Unary() | Cast():
            return ScalarType(e.dtype)


def is_omitted(e: Expr) -> bool:
    """Whether an operand is NO_ARG, which an empty list equals."""
    return isinstance(e, MakeTuple) and not e.items


def describe(t: Type) -> str:
    """A type for a message: `FP32 tile [16, 64] in vec`."""
    match t:
        case TileType():
            where = f" in {t.space.value}" if t.space is not None else ""
            return f"{t.dtype} tile {show_shape(t.shape)}{where}"
        case TensorType():
            return f"{t.dtype} tensor {show_shape(t.shape)}"
        case ScalarType():
            return f"{t.dtype} scalar"
        case TupleType():
            return f"tuple of {len(t.items)}"
        case NoneType():
            return "nothing"
        case OpaqueType():
            return t.what


def fail(decl: OpDecl, span: Span, message: str, help: str = "") -> NoReturn:
    """Raise OpError at a call of the op."""
    raise OpError(f"{decl.name}: {message}", span.location, help)


@dataclass(frozen=True, slots=True)
class Args:
    """A call that is being typed: operands in declared order (missing trailing ones absent), coerced keywords."""

    decl: OpDecl
    values: tuple[Expr, ...]
    kwargs: Mapping[str, Attr]
    span: Span

    def fail(self, message: str, help: str = "") -> NoReturn:
        """Raise OpError at the call."""
        fail(self.decl, self.span, message, help)

    def require(self, holds: bool, message: str, help: str = "") -> None:
        """Raise OpError unless `holds`. For messages that are cheap to make; show() of a size is not."""
        if not holds:
            self.fail(message, help)

    def value(self, name: str) -> Expr:
        """An operand that is given."""
        return self.values[self.decl.positions[name]]

    def has(self, name: str) -> bool:
        """Whether an optional operand is given."""
        i = self.decl.positions[name]
        return i < len(self.values) and not is_omitted(self.values[i])

    def tile(self, name: str) -> TileType:
        """A tile operand."""
        e = self.values[self.decl.positions[name]]
        t = e.type if isinstance(e, Var) else type_of(e)
        if not isinstance(t, TileType):
            self.fail(f"{name} must be a tile, got {describe(t)}", "load tensor data with pl.load first")
        return t

    def tensor(self, name: str) -> TensorType:
        """A tensor operand."""
        t = type_of(self.values[self.decl.positions[name]])
        if not isinstance(t, TensorType):
            self.fail(f"{name} must be a tensor, got {describe(t)}")
        return t

    def scalar(self, name: str) -> DType:
        """The dtype of a scalar operand."""
        t = type_of(self.value(name))
        if not isinstance(t, ScalarType):
            self.fail(f"{name} must be a scalar, got {describe(t)}")
        return t.dtype

    def dim(self, name: str) -> Dim:
        """An integer scalar operand as a size or offset."""
        self.require(self.scalar(name).is_integer, f"{name} must be an integer, got {self.scalar(name)}")
        return as_dim(self.value(name))

    def dims(self, name: str) -> tuple[Dim, ...]:
        """A tuple operand as sizes or offsets; () when it is not given."""
        at = self.decl.positions[name]
        if at >= len(self.values):
            return ()
        e = self.values[at]
        if not isinstance(e, MakeTuple):
            self.fail(f"{name} must be a literal list of integers, got {describe(type_of(e))}")
        found: list[Dim] = []
        for item in e.items:
            if isinstance(item, Const) and item.dtype is INDEX:
                found.append(int(item.value))
                continue
            t = type_of(item)
            if not (isinstance(t, ScalarType) and t.dtype.is_integer):
                self.fail(f"{name}[{len(found)}] must be an integer, got {describe(t)}")
            found.append(as_dim(item))
        return tuple(found)

    def extents(self, name: str) -> tuple[Dim, ...]:
        """A tuple operand as valid extents: sizes that are not provably negative; () when it is not given."""
        found = self.dims(name)
        for i, d in enumerate(found):
            if at_most(0, d) is False:
                self.fail(f"{name}[{i}] is {show(d)}, but an extent can't be negative")
        return found

    def shape(self, name: str) -> tuple[int, ...]:
        """A tuple operand as a physical tile shape: constant and positive."""
        found: list[int] = []
        for i, d in enumerate(self.dims(name)):
            if not isinstance(d, int):
                self.fail(
                    f"{name}[{i}] must be a compile-time constant: tiles have static shapes",
                    "give the largest size as the shape and the run-time size as valid_shape",
                )
            self.require(d > 0, f"{name}[{i}] must be positive, got {d}")
            found.append(d)
        self.require(bool(found), f"{name} must not be empty")
        return tuple(found)

    def dtype(self, name: str) -> DType:
        """A dtype keyword that is given or has a default."""
        value = self.kwargs[name]
        assert isinstance(value, DType)
        return value

    def flag(self, name: str) -> bool:
        """A Boolean keyword."""
        return bool(self.kwargs.get(name))

    def number(self, name: str) -> int:
        """An integer keyword or the code of a named one."""
        value = self.kwargs[name]
        assert isinstance(value, int)
        return value

    def pad(self, name: str) -> Pad:
        """A pad keyword."""
        value = self.kwargs[name]
        assert isinstance(value, Pad)
        return value

    def space(self) -> Space | None:
        """The result's space: fixed, from target_memory, or inherited from an operand; None while not known."""
        if self.decl.space_keyword:
            value = self.kwargs.get("target_memory")
            assert value is None or isinstance(value, Space)
            return value
        if self.decl.space_from is not None:
            t = type_of(self.values[self.decl.space_from])
            return t.space if isinstance(t, TileType) else None
        return self.decl.out_space

    def same_dtype(self, *operands: str) -> DType:
        """The dtype that all these tile operands share."""
        first = self.tile(operands[0]).dtype
        for name in operands[1:]:
            got = self.tile(name).dtype
            self.require(
                got == first, f"{operands[0]} is {first} but {name} is {got}",
                f"cast one of them: pl.cast({name}, pl.{first})",
            )
        return first

    def same_shape(self, a: str, b: str) -> None:
        """Require equal physical shapes of two tile operands."""
        left, right = self.tile(a).shape, self.tile(b).shape
        if left != right:
            self.fail(
                f"{a} has shape {show_shape(left)} but {b} has {show_shape(right)}",
                "operands must have equal shapes; to broadcast a [M, 1] column or a [1, N] row use the row_expand_* or "
                "col_expand_* ops",
            )

    def same_valid(self, a: str, b: str) -> None:
        """Refuse two tile operands whose valid extents provably differ."""
        left, right = self.tile(a).valid_shape, self.tile(b).valid_shape
        for i, (x, y) in enumerate(zip(left, right, strict=True)):
            if equal(x, y) is False:
                self.fail(
                    f"{a} is valid on {show_shape(left)} but {b} on {show_shape(right)} (dim {i} differs)",
                    "narrow both to the same extent with pl.set_validshape or fill the padding with pl.fillpad",
                )

    def only_dtypes(self, name: str, *allowed: str) -> None:
        """Refuse a tile operand of any other dtype."""
        got = self.tile(name).dtype
        self.require(
            got.name in allowed, f"{name} is {got}, but the op takes {', '.join(allowed)}",
            f"cast it first, e.g. pl.cast({name}, pl.{allowed[-1]})",
        )

    def integers(self, *operands: str) -> None:
        """Refuse tile operands of a non-integer dtype."""
        for name in operands:
            got = self.tile(name).dtype
            self.require(got.is_integer and got != INDEX, f"{name} must have an integer dtype, got {got}")

    def rank(self, name: str, rank: int) -> tuple[int, ...]:
        """The shape of a tile operand of that rank."""
        shape = self.tile(name).shape
        if len(shape) != rank:
            self.fail(f"{name} must be {rank}-D, got shape {show_shape(shape)}")
        return shape
