"""IR expressions. Immutable; equality is structural, spans do not count. A variable is its name (unique after SSA)."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, TypeAlias, Union

from pypto_verified.dtypes import INDEX, DType
from pypto_verified.errors import Location
from pypto_verified.layouts import BLayout, Compact, Member, Pad, SLayout, Space, TensorLayout
from pypto_verified.records import dataclass

if TYPE_CHECKING:
    from pypto_verified.ir.types import Type


@dataclass(frozen=True, slots=True)
class Span:
    """A source range; lines and columns count from 1, 0 is unknown."""

    file: str = ""
    line: int = 0
    column: int = 0
    end_line: int = 0
    end_column: int = 0

    @property
    def location(self) -> Location:
        """Where it starts."""
        return Location(self.file, self.line, self.column)

    def contains(self, other: Span) -> bool:
        """Whether `other` lies inside this span (same file)."""
        return (
            self.file == other.file
            and (self.line, self.column) <= (other.line, other.column)
            and (other.end_line, other.end_column) <= (self.end_line, self.end_column)
        )


NO_SPAN = Span()


class BinaryOp(Member):
    """Scalar binary operators. FLOORDIV and MOD are Python's (floor, sign of the divisor)."""

    ADD = "+"
    SUB = "-"
    MUL = "*"
    FLOORDIV = "//"
    MOD = "%"
    DIV = "/"
    POW = "**"
    MIN = "min"
    MAX = "max"
    EQ = "=="
    NE = "!="
    LT = "<"
    LE = "<="
    GT = ">"
    GE = ">="
    AND = "and"
    OR = "or"
    XOR = "xor"
    BITAND = "&"
    BITOR = "|"
    BITXOR = "^"
    SHL = "<<"
    SHR = ">>"


class UnaryOp(Member):
    """Scalar unary operators."""

    NEG = "-"
    NOT = "not"
    BITNOT = "~"
    ABS = "abs"


@dataclass(frozen=True, slots=True)
class Var:
    """A variable: parameter, loop variable, or the target of an assignment."""

    name: str
    type: Type


@dataclass(frozen=True, slots=True)
class Const:
    """A scalar constant."""

    value: int | float | bool
    dtype: DType = INDEX


@dataclass(frozen=True, slots=True)
class Binary:
    """A scalar operation; `dtype` is the result's (BOOL for comparisons), operands have one common type."""

    op: BinaryOp
    lhs: Expr
    rhs: Expr
    dtype: DType


@dataclass(frozen=True, slots=True)
class Unary:
    """A scalar operation on one operand."""

    op: UnaryOp
    operand: Expr
    dtype: DType


@dataclass(frozen=True, slots=True)
class Cast:
    """A scalar conversion to `dtype`."""

    operand: Expr
    dtype: DType


@dataclass(frozen=True, slots=True)
class MakeTuple:
    """A literal list or tuple operand: offsets, shapes, valid shapes."""

    items: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class TupleGet:
    """One item of a tuple value."""

    value: Expr
    index: int


Attr: TypeAlias = Union[
    bool, int, float, str, DType, Space, Pad, BLayout, SLayout, Compact, TensorLayout, tuple["Attr", ...], None
]
"""A compile-time keyword value."""


@dataclass(frozen=True, slots=True)
class Call:
    """An op call, e.g. `tile.add(a, b)`. `args` are values (an omitted optional operand in the middle is NO_ARG);
    `kwargs` are compile-time constants sorted by name; `type` is what the op's rule deduced."""

    op: str
    args: tuple[Expr, ...]
    kwargs: tuple[tuple[str, Attr], ...]
    type: Type
    span: Span = field(default=NO_SPAN, compare=False)

    def kwarg(self, name: str, default: Attr = None) -> Attr:
        """The keyword's value, or `default`."""
        for key, value in self.kwargs:
            if key == name:
                return value
        return default


Expr: TypeAlias = Union[Var, Const, Binary, Unary, Cast, MakeTuple, TupleGet, Call]

Dim: TypeAlias = Union[int, Expr]
"""A size in elements: static int, or an INDEX expression."""

NO_ARG = MakeTuple(())
"""Stands for an omitted optional operand."""
