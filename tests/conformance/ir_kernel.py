"""Kernels for the interpreter, written op by op, and their run."""

from __future__ import annotations

import numpy as np

from pypto_verified.dtypes import DTYPES, FP32, INDEX, DType
from pypto_verified.interpreter import Tile, interpret
from pypto_verified.interpreter.meaning import Value
from pypto_verified.ir.expr import Attr, Call, Const, Expr, MakeTuple, Var
from pypto_verified.ir.stmt import Assign, Direction, Function, FunctionKind, Param, Return, Stmt
from pypto_verified.ir.types import TensorType
from pypto_verified.layouts import Space
from pypto_verified.ops.build import make_call
from tests.conformance.arithmetic import KINDS, Array, lead
from tests.conformance.case import INTERPRETER, Case, differences

Operand = Expr | int | float | tuple[int, ...]


class IrKernel:
    """Collects parameters and ops. `fresh` are variables that must have no value outside their valid region."""

    def __init__(self, inputs: dict[str, Array]) -> None:
        self._inputs = inputs
        self._tensors: dict[str, Var] = {}
        self._body: list[Stmt] = []
        self.fresh: dict[str, tuple[int, int]] = {}

    def tensor(self, name: str) -> Var:
        """A parameter with the shape and type of its input."""
        if name not in self._tensors:
            array = self._inputs[name]
            dtype = next(d for d, kind in KINDS.items() if kind == array.dtype)
            self._tensors[name] = Var(name, TensorType(array.shape, DTYPES[dtype]))
        return self._tensors[name]

    def load(
        self, name: str, shape: tuple[int, int], valid: tuple[int, int] | None = None, at: tuple[int, int] = (0, 0),
        space: Space = Space.VEC,
    ) -> Var:
        """A tile from the tensor `name`."""
        return self.call("load", self.tensor(name), at, shape, valid or shape, target_memory=space)

    def create(self, shape: tuple[int, int], dtype: str, space: Space = Space.VEC) -> Var:
        """A tile that nothing has written."""
        return self.call("create", shape, dtype=DTYPES[dtype], target_memory=space)

    def call(self, op: str, *operands: Operand, **keywords: Attr) -> Var:
        """The result of an op."""
        made = make_call(f"tile.{op}", [_expr(o) for o in operands], keywords)
        var = Var(f"v{len(self._body)}", made.type)
        self._body.append(Assign(var, made))
        return var

    def store(self, tile: Expr, name: str, at: tuple[int, int] = (0, 0)) -> None:
        """The tile's valid region into a tensor."""
        self.call("store", tile, at, self.tensor(name))

    def result(self, tile: Var, name: str, valid: tuple[int, int]) -> None:
        """Store a fresh tile; outside `valid` it must have no value."""
        self.fresh[tile.name] = valid
        self.store(tile, name)

    @property
    def function(self) -> Function:
        params = tuple(Param(v, Direction.INOUT) for v in self._tensors.values())
        return Function("kernel", FunctionKind.INCORE, params, (), (*self._body, Return(())))


def _expr(operand: Operand) -> Expr:
    if isinstance(operand, tuple):
        return MakeTuple(tuple(Const(n, INDEX) for n in operand))
    if isinstance(operand, float):
        return Const(operand, FP32)
    return Const(operand, INDEX) if isinstance(operand, int) else operand


def dtype_of(name: str) -> DType:
    """The element type by its name."""
    return DTYPES[name]


def run(case: Case) -> list[str]:
    """What is wrong with the interpreter's result for the case."""
    assert case.ir is not None
    kernel = IrKernel(dict(case.inputs))
    case.ir(kernel)
    wrong: list[str] = []

    def observe(stmt: Assign, value: Value) -> None:
        valid = kernel.fresh.get(stmt.var.name)
        if valid is not None and isinstance(value, Tile) and isinstance(stmt.value, Call):
            inside = lead((value.shape[0], value.shape[1]), valid)
            if not value.poison[~inside].all():
                wrong.append(f"{stmt.value.op} gives a value outside its valid region {valid}")

    function = kernel.function
    names = [p.var.name for p in function.params]
    with np.errstate(all="ignore"):
        outputs = interpret(function, {n: case.inputs[n] for n in names}, observe=observe)
    return wrong + differences(case, INTERPRETER, outputs)
