"""A kernel under construction: parameters, statements, the tiles in scope."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import field, replace

from pypto_verified.dtypes import BOOL, INDEX, DType
from pypto_verified.fuzz.draw import Draw, chance, choice, weighted
from pypto_verified.ir.expr import Attr, Binary, BinaryOp, Call, Const, Dim, Expr, MakeTuple, Span, Var
from pypto_verified.ir.stmt import Assign, Direction, Eval, Function, FunctionKind, Param, Return, Stmt
from pypto_verified.ir.types import ScalarType, TensorType, TensorView, TileType
from pypto_verified.layouts import Space, TensorLayout
from pypto_verified.ops.build import make_call
from pypto_verified.records import dataclass
from pypto_verified.targets import Target

SPAN = Span("kernel.py", 1, 1, 1, 2)
ROWS, MAX_ROWS, MAX_COLUMNS = (1, 2, 4, 8, 16, 32), 32, 64
BLOCK_BYTES = 32
MAX_TRIPS = 4
INTEGERS = {"INT8": (-128, -3, 1, 2, 7), "INT16": (-300, -1, 2, 5, 32_767), "INT32": (-70_000, -2, 1, 3, 2**31 - 1),
            "UINT8": (1, 2, 128, 200, 255), "UINT16": (1, 3, 32_768, 60_000, 65_535),
            "UINT32": (1, 7, 2**31, 4_000_000_000, 2**32 - 1), "INT64": (-2**33, -1, 2, 3)}
"""What constants and arguments of an element type are: everyday ones, and limits of the type, those of unsigned types
above what a signed one of the width can hold."""
REALS = (0.5, -1.5, 2.0)
"""What a scalar of a float type may be."""


@dataclass(frozen=True, slots=True)
class Kernel:
    """A generated kernel. `ranges`: what each size and integer scalar may be, so that no access leaves its tensor;
    `planner` and `target`: how to compile it."""

    function: Function
    ranges: Mapping[str, tuple[int, ...]]
    target: str
    planner: str


@dataclass(frozen=True, slots=True)
class Loop:
    """An enclosing loop: its variable and how many trips it can make at most."""

    var: Var
    trips: int


@dataclass(frozen=True, slots=True)
class Counter:
    """A scalar that is assigned again and stays less than `limit`."""

    var: Var
    limit: int


@dataclass(slots=True)
class Builder:
    """`scopes`: tiles by name, innermost last; `blocks`: the statements so far of each open block; `kept`: names that
    are not assigned again; `counters`: scalars that may be."""

    draw: Draw
    target: Target
    params: list[Param] = field(default_factory=list)
    outs: list[Param] = field(default_factory=list)
    ranges: dict[str, tuple[int, ...]] = field(default_factory=dict)
    dynamic: list[str] = field(default_factory=list)
    blocks: list[list[Stmt]] = field(default_factory=lambda: [[]])
    scopes: list[dict[str, Var]] = field(default_factory=lambda: [{}])
    loops: list[Loop] = field(default_factory=list)
    counters: list[Counter] = field(default_factory=list)
    kept: frozenset[str] = frozenset()
    count: int = 0

    def name(self, prefix: str) -> str:
        """A name that the kernel does not have yet."""
        self.count += 1
        return f"{prefix}{self.count}"

    def call(self, op: str, args: Sequence[Expr], **kwargs: Attr) -> Call:
        """A typed call. Raises OpError when the op refuses the operands."""
        return make_call(op, args, kwargs, SPAN)

    def add(self, statement: Stmt) -> None:
        """Append to the innermost block."""
        self.blocks[-1].append(statement)

    def assign(self, value: Call, prefix: str = "t") -> Var:
        """Name a value. A tile sometimes takes the name of an older one of the same type."""
        var = Var(self._reused(value) or self.name(prefix), value.type)
        self.add(Assign(var, value, SPAN))
        if isinstance(var.type, TileType):
            next((s for s in self.scopes if var.name in s), self.scopes[-1])[var.name] = var
        return var

    def _reused(self, value: Call) -> str:
        percent = 50 if len(self.scopes) > 1 else 15
        if not isinstance(value.type, TileType) or not chance(self.draw, percent):
            return ""
        same = [v.name for v in self.tiles() if v.type == value.type and v.name not in self.kept]
        return choice(self.draw, same) if same else ""

    def scratch(self, value: Call) -> Var:
        """Name a value that no later op may pick."""
        var = Var(self.name("s"), value.type)
        self.add(Assign(var, value, SPAN))
        return var

    def placed(self, var: Var, declared: TileType) -> Var:
        """The tile that was assigned last in storage of the author's choice."""
        last = self.blocks[-1][-1]
        assert isinstance(last, Assign) and last.var is var and isinstance(last.value, Call)
        named = Var(self.name("x"), declared)
        self.blocks[-1][-1] = Assign(named, replace(last.value, type=declared), SPAN)
        scope = next(s for s in self.scopes if s.get(var.name) is var)
        del scope[var.name]
        self.scopes[-1][named.name] = named
        return named

    def effect(self, call: Call) -> None:
        """A call for its effect."""
        self.add(Eval(call, SPAN))

    def scalar(self, var: Var, value: Expr) -> None:
        """Name a scalar."""
        self.add(Assign(var, value, SPAN))

    def store(self, out: Var, call: Call) -> None:
        """A store whose result is the tensor of the same name."""
        self.add(Assign(out, call, SPAN))

    def tiles(self) -> list[Var]:
        """The tiles in scope."""
        return [v for scope in self.scopes for v in scope.values()]

    def tile(self, var: Var) -> TileType:
        assert isinstance(var.type, TileType)
        return var.type

    @contextmanager
    def block(self) -> Iterator[list[Stmt]]:
        """Statements of an inner block; the names that it defines end with it."""
        self.blocks.append([])
        self.scopes.append({})
        yield self.blocks[-1]
        self.blocks.pop()
        self.scopes.pop()

    def tensor(
        self, shape: Sequence[Dim], dtype: DType, layout: TensorLayout = TensorLayout.ND, pitch: int = 0
    ) -> Var:
        """A new input tensor. `pitch`: elements from row to row, if the rows do not lie side by side."""
        var = Var(self.name("a"), TensorType(tuple(shape), dtype, TensorView((pitch, 1) if pitch else (), layout)))
        self.params.append(Param(var))
        return var

    def out(self, shape: Sequence[Dim], dtype: DType, partly: bool = False) -> Var:
        """A new output tensor, which keeps what it had if it is written only `partly`."""
        direction = Direction.INOUT if partly or chance(self.draw, 20) else Direction.OUT
        var = Var(self.name("out"), TensorType(tuple(shape), dtype))
        self.outs.append(Param(var, direction))
        return var

    def integer(self, values: Sequence[int], prefix: str = "n", dtype: DType = INDEX) -> Var:
        """An integer parameter that takes these values; an old one with the same values sometimes."""
        type_ = ScalarType(dtype)
        old = [p.var for p in self.params if p.var.type == type_ and self.ranges.get(p.var.name) == tuple(values)
               and p.var.name.startswith(prefix)]
        if old and chance(self.draw, 60):
            return choice(self.draw, old)
        var = Var(self.name(prefix), type_)
        self.params.append(Param(var))
        self.ranges[var.name] = tuple(values)
        return var

    def flag(self) -> Var:
        """A parameter that is true or false."""
        return self.integer((0, 1), "on", BOOL)

    def real(self, dtype: DType) -> Var:
        """A new parameter of a float type, which may be any number."""
        var = Var(self.name("f"), ScalarType(dtype))
        self.params.append(Param(var))
        return var

    def size(self, values: Sequence[int]) -> Var:
        """A new dynamic size."""
        var = Var(self.name("M"), ScalarType(INDEX))
        self.dynamic.append(var.name)
        self.ranges[var.name] = tuple(values)
        return var

    def columns(self, dtype: DType) -> int:
        """A width whose row is a whole number of 32-byte blocks."""
        least = BLOCK_BYTES // dtype.bytes
        return choice(self.draw, [n for n in (least, 2 * least, 4 * least) if n <= MAX_COLUMNS])

    def valid(self, extent: int) -> Dim:
        """A valid extent: whole, partial, or known at run time only, 0 included."""
        match weighted(self.draw, (("full", 12), ("part", 4), ("run", 5))):
            case "full":
                return extent
            case "part":
                return self.draw.integer(1, extent)
            case _:
                return self.integer(tuple(sorted({0, 1, extent // 2, max(extent - 1, 0), extent})))

    def index(self, limit: int) -> Expr:
        """An INDEX of 0 .. limit - 1: a constant, a scalar, or the variable of a loop that is short enough."""
        inside = [loop.var for loop in self.loops if loop.trips <= limit]
        kind = weighted(self.draw, (("const", 5), ("scalar", 1), ("loop", 4 if inside else 0)))
        if kind == "loop":
            return choice(self.draw, inside)
        if kind == "scalar" and limit > 1:
            return self.integer(tuple(sorted({0, 1, limit - 1})))
        return Const(self.draw.integer(0, limit - 1))

    def scaled(self, index: Expr, unit: int) -> Expr:
        """`index * unit`."""
        if isinstance(index, Const):
            return Const(int(index.value) * unit)
        return index if unit == 1 else Binary(BinaryOp.MUL, index, Const(unit), INDEX)

    def constant(self, dtype: DType) -> Const:
        """A constant of the element type."""
        if dtype.is_float:
            return Const(choice(self.draw, (-2.0, -0.5, 0.0, 0.5, 1.0, 1.5, 3.0)), dtype)
        return Const(choice(self.draw, INTEGERS.get(dtype.name, (1, 2, 3, 7))), dtype)

    def function(self, kind: FunctionKind = FunctionKind.INCORE) -> Function:
        """The finished kernel."""
        values = tuple(p.var for p in self.outs)
        self.add(Return(values, SPAN))
        return Function(
            "kernel", kind, (*self.params, *self.outs), tuple(v.type for v in values),
            tuple(self.blocks[0]), tuple(self.dynamic), span=SPAN,
        )


def numbers(*values: int) -> MakeTuple:
    """A literal list of integers."""
    return MakeTuple(tuple(map(Const, values)))


def dims(values: Sequence[Dim | Expr]) -> MakeTuple:
    """A list of sizes or offsets."""
    return MakeTuple(tuple(Const(v) if isinstance(v, int) else v for v in values))


def in_vector_memory(t: TileType) -> bool:
    """Whether a vector op can read the tile."""
    return t.space in (None, Space.VEC)
