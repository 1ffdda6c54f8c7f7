"""IR statements, functions, programs. Immutable; passes return unchanged nodes by identity.

Before ConvertToSSA a name may be assigned often and loops and branches have no `iter_args`/`results` unless the author
wrote them. After it each name is defined once, a loop's `iter_args` pair a body variable with its initial value, and a
loop or branch with results ends each block in one `Yield`.
"""

from __future__ import annotations

from dataclasses import field
from enum import Enum
from typing import TypeAlias, Union

from pypto_verified.ir.expr import NO_SPAN, Call, Expr, Span, Var
from pypto_verified.ir.types import Type
from pypto_verified.layouts import Member
from pypto_verified.records import dataclass


@dataclass(frozen=True, slots=True)
class Assign:
    """`var = value`."""

    var: Var
    value: Expr
    span: Span = field(default=NO_SPAN, compare=False)


@dataclass(frozen=True, slots=True)
class Eval:
    """A call for its effect."""

    call: Call
    span: Span = field(default=NO_SPAN, compare=False)


@dataclass(frozen=True, slots=True)
class IterArg:
    """A loop-carried variable and its value before the first trip."""

    var: Var
    init: Expr


class LoopKind(Enum):
    """How the author wrote the loop. PARALLEL and PIPELINE loops run like SEQUENTIAL ones on one core."""

    SEQUENTIAL = "range"
    PARALLEL = "parallel"
    UNROLL = "unroll"
    PIPELINE = "pipeline"


@dataclass(frozen=True, slots=True)
class For:
    """`for var in range(start, stop, step)`; `results` are the carried values after the last trip (init if none)."""

    var: Var
    start: Expr
    stop: Expr
    step: Expr
    iter_args: tuple[IterArg, ...]
    body: tuple[Stmt, ...]
    results: tuple[Var, ...]
    kind: LoopKind = LoopKind.SEQUENTIAL
    span: Span = field(default=NO_SPAN, compare=False)


@dataclass(frozen=True, slots=True)
class While:
    """A loop that runs while `cond` (evaluated at the top of each trip, over the carried variables) holds.
    `prelude` computes what `cond` needs and runs before each test (empty before flattening)."""

    cond: Expr
    iter_args: tuple[IterArg, ...]
    body: tuple[Stmt, ...]
    results: tuple[Var, ...]
    prelude: tuple[Stmt, ...] = ()
    span: Span = field(default=NO_SPAN, compare=False)


@dataclass(frozen=True, slots=True)
class If:
    """A branch; with `results` both blocks end in a Yield of as many values."""

    cond: Expr
    then: tuple[Stmt, ...]
    orelse: tuple[Stmt, ...]
    results: tuple[Var, ...]
    span: Span = field(default=NO_SPAN, compare=False)


@dataclass(frozen=True, slots=True)
class Yield:
    """The values a block hands to its loop or branch."""

    values: tuple[Expr, ...]
    span: Span = field(default=NO_SPAN, compare=False)


@dataclass(frozen=True, slots=True)
class Return:
    """The function's results."""

    values: tuple[Expr, ...]
    span: Span = field(default=NO_SPAN, compare=False)


@dataclass(frozen=True, slots=True)
class Break:
    """Leaves the innermost loop."""

    span: Span = field(default=NO_SPAN, compare=False)


@dataclass(frozen=True, slots=True)
class Continue:
    """Next trip of the innermost loop."""

    span: Span = field(default=NO_SPAN, compare=False)


Stmt: TypeAlias = Union[Assign, Eval, For, While, If, Yield, Return, Break, Continue]

LOOPS = (For, While)
COMPOUND = (For, While, If)
"""The statements that have blocks, for `isinstance`: a union is built anew each time it is asked."""


class Direction(Enum):
    """How a parameter is used."""

    IN = "In"
    OUT = "Out"
    INOUT = "InOut"


@dataclass(frozen=True, slots=True)
class Param:
    """A parameter of a function."""

    var: Var
    direction: Direction = Direction.IN
    span: Span = field(default=NO_SPAN, compare=False)


class FunctionKind(Member):
    """What runs a function. PLAIN is `@pl.function` without a type: the seed's kernels, treated as InCore when the body
    is tile-level. AIC (cube) and AIV (vector) are what InCore becomes. Others stay opaque."""

    PLAIN = "Opaque"
    INCORE = "InCore"
    AIC = "AIC"
    AIV = "AIV"
    ORCHESTRATION = "Orchestration"
    GROUP = "Group"
    SPMD = "Spmd"
    INLINE = "Inline"


@dataclass(frozen=True, slots=True)
class Launch:
    """A launch of a kernel: `blocks` of it, or one for each core of the kind `fills` ('cube', 'vector'); neither where
    the text does not tell. `together`: all of them start before any has to end."""

    kernel: str
    blocks: int | None
    fills: str
    together: bool
    span: Span = field(default=NO_SPAN, compare=False)


@dataclass(frozen=True, slots=True)
class Function:
    """A kernel. `opaque` is empty for a function whose body was lowered into `body`, else the reason why it was not,
    which stands at `span`; `advice`: what its author can do about that.
    `dynamic` names the `pl.dynamic` symbols of the parameter shapes in first-seen order; inside the body each is an
    INDEX variable of that name, free and >= 0. `launches`: what an orchestration function launches."""

    name: str
    kind: FunctionKind
    params: tuple[Param, ...]
    returns: tuple[Type, ...]
    body: tuple[Stmt, ...]
    dynamic: tuple[str, ...] = ()
    opaque: str = ""
    span: Span = field(default=NO_SPAN, compare=False)
    launches: tuple[Launch, ...] = ()
    advice: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Program:
    """The functions of one kernel file or `@pl.program` class, in source order."""

    name: str
    functions: tuple[Function, ...]
    span: Span = field(default=NO_SPAN, compare=False)
