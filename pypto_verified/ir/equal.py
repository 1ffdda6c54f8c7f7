"""Structural equality up to the names of variables and buffers; spans never count.

A call's own type is not compared: it follows from op, operands and keywords, and the variable it is assigned to has it.
"""

from __future__ import annotations

from dataclasses import field

from pypto_verified.ir.expr import Attr, Binary, Call, Cast, Const, Dim, Expr, MakeTuple, TupleGet, Unary, Var
from pypto_verified.ir.stmt import Assign, Eval, For, Function, If, IterArg, Program, Return, Stmt, While, Yield
from pypto_verified.ir.types import MemRef, TensorType, TileType, TupleType, Type
from pypto_verified.ir.walk import blocks
from pypto_verified.records import dataclass


class _Different(Exception):
    """Carries the first difference."""


@dataclass(slots=True)
class _Names:
    """The correspondence of names so far, one to one."""

    right: dict[str, str] = field(default_factory=dict)
    left: dict[str, str] = field(default_factory=dict)

    def bind(self, a: str, b: str) -> None:
        """`a` here is `b` there from now on; what they stood for before is gone."""
        self.left.pop(self.right.get(a, ""), None)
        self.right.pop(self.left.get(b, ""), None)
        self.right[a], self.left[b] = b, a

    def same(self, a: str, b: str) -> bool:
        """Whether `a` corresponds to `b`; names seen for the first time become a pair."""
        if a not in self.right and b not in self.left:
            self.bind(a, b)
        return self.right.get(a) == b


@dataclass(slots=True)
class _Comparison:
    variables: _Names = field(default_factory=_Names)
    buffers: _Names = field(default_factory=_Names)

    def require(self, ok: bool, what: str, a: object, b: object) -> None:
        if not ok:
            raise _Different(f"{what}: {a} and {b}")

    def function(self, a: Function, b: Function) -> None:
        self.require((a.kind, a.opaque) == (b.kind, b.opaque), "function", (a.name, a.kind), (b.name, b.kind))
        self.require(len(a.params) == len(b.params), f"parameters of {a.name}", len(a.params), len(b.params))
        self.require(len(a.dynamic) == len(b.dynamic), f"dynamic sizes of {a.name}", a.dynamic, b.dynamic)
        for x, y in zip(a.dynamic, b.dynamic, strict=True):
            self.variables.bind(x, y)
        for p, q in zip(a.params, b.params, strict=True):
            self.require(p.direction is q.direction, f"direction of {p.var.name}", p.direction, q.direction)
            self.definition(p.var, q.var)
        self.types(a.returns, b.returns, f"results of {a.name}")
        self.block(a.body, b.body)

    def definition(self, a: Var, b: Var) -> None:
        self.type(a.type, b.type, f"type of {a.name}")
        self.variables.bind(a.name, b.name)

    def block(self, a: tuple[Stmt, ...], b: tuple[Stmt, ...]) -> None:
        for x, y in zip(a, b, strict=False):
            self.statement(x, y)
        self.require(len(a) == len(b), "statements in a block", len(a), len(b))

    def statement(self, a: Stmt, b: Stmt) -> None:
        self.require(type(a) is type(b), "statement", a, b)
        match a, b:
            case Assign(), Assign():
                self.expr(a.value, b.value)
                self.definition(a.var, b.var)
            case Eval(), Eval():
                self.expr(a.call, b.call)
            case Yield(), Yield():
                self.exprs(a.values, b.values)
            case Return(), Return():
                self.exprs(a.values, b.values)
            case For(), For():
                self.require(a.kind is b.kind, "loop kind", a.kind, b.kind)
                self.exprs((a.start, a.stop, a.step), (b.start, b.stop, b.step))
                self.carried(a.iter_args, b.iter_args)
                self.definition(a.var, b.var)
                self.inside(a, b)
            case While(), While():
                self.carried(a.iter_args, b.iter_args)
                self.block(a.prelude, b.prelude)
                self.expr(a.cond, b.cond)
                self.block(a.body, b.body)
                self.results(a.results, b.results)
            case If(), If():
                self.expr(a.cond, b.cond)
                self.inside(a, b)
            case _:
                pass

    def inside(self, a: For | If, b: For | If) -> None:
        for x, y in zip(blocks(a), blocks(b), strict=True):
            self.block(x, y)
        self.results(a.results, b.results)

    def results(self, a: tuple[Var, ...], b: tuple[Var, ...]) -> None:
        self.require(len(a) == len(b), "results", len(a), len(b))
        for x, y in zip(a, b, strict=True):
            self.definition(x, y)

    def carried(self, a: tuple[IterArg, ...], b: tuple[IterArg, ...]) -> None:
        self.exprs(tuple(x.init for x in a), tuple(y.init for y in b))
        for x, y in zip(a, b, strict=True):
            self.definition(x.var, y.var)

    def exprs(self, a: tuple[Expr, ...], b: tuple[Expr, ...]) -> None:
        self.require(len(a) == len(b), "operands", len(a), len(b))
        for x, y in zip(a, b, strict=True):
            self.expr(x, y)

    def expr(self, a: Expr, b: Expr) -> None:
        match a, b:
            case Var(), Var():
                self.require(self.variables.same(a.name, b.name), "variable", a.name, b.name)
            case Const(), Const():
                self.require(a.dtype == b.dtype and _same_value(a.value, b.value), "constant", a, b)
            case Binary(), Binary():
                self.require((a.op, a.dtype) == (b.op, b.dtype), "operator", (a.op, a.dtype), (b.op, b.dtype))
                self.exprs((a.lhs, a.rhs), (b.lhs, b.rhs))
            case Unary(), Unary():
                self.require((a.op, a.dtype) == (b.op, b.dtype), "operator", a.op, b.op)
                self.expr(a.operand, b.operand)
            case Cast(), Cast():
                self.require(a.dtype == b.dtype, "cast to", a.dtype, b.dtype)
                self.expr(a.operand, b.operand)
            case MakeTuple(), MakeTuple():
                self.exprs(a.items, b.items)
            case TupleGet(), TupleGet():
                self.require(a.index == b.index, "item", a.index, b.index)
                self.expr(a.value, b.value)
            case Call(), Call():
                self.require(a.op == b.op, "op", a.op, b.op)
                mine, theirs = _given(a), _given(b)
                self.require(mine == theirs, f"keywords of {a.op}", mine, theirs)
                self.exprs(a.args, b.args)
            case _:
                raise _Different(f"expression: {a} and {b}")

    def types(self, a: tuple[Type, ...], b: tuple[Type, ...], what: str) -> None:
        self.require(len(a) == len(b), what, len(a), len(b))
        for x, y in zip(a, b, strict=True):
            self.type(x, y, what)

    def type(self, a: Type, b: Type, what: str) -> None:
        match a, b:
            case TensorType(), TensorType():
                self.require((a.dtype, a.view.layout) == (b.dtype, b.view.layout), what, a, b)
                self.dims(a.shape, b.shape, what)
                self.dims(a.view.stride, b.view.stride, what)
                self.dims(a.view.valid_shape, b.view.valid_shape, what)
            case TileType(), TileType():
                self.require((a.shape, a.dtype, a.space) == (b.shape, b.dtype, b.space), what, a, b)
                self.require((a.view is None) == (b.view is None), what, a.view, b.view)
                if a.view is not None and b.view is not None:
                    v, w = a.view, b.view
                    mine = (v.blayout, v.slayout, v.fractal, v.pad, v.compact)
                    theirs = (w.blayout, w.slayout, w.fractal, w.pad, w.compact)
                    self.require(mine == theirs, what, mine, theirs)
                    self.dims(v.valid_shape, w.valid_shape, what)
                self.memref(a.memref, b.memref, what)
            case TupleType(), TupleType():
                self.types(a.items, b.items, what)
            case _:
                self.require(a == b, what, a, b)

    def memref(self, a: MemRef | None, b: MemRef | None, what: str) -> None:
        if a is None or b is None:
            self.require(a is b, what, a, b)
            return
        mine, theirs = (a.size, a.pinned, a.slots), (b.size, b.pinned, b.slots)
        self.require(mine == theirs and self.buffers.same(a.base, b.base), what, a, b)
        self.require((a.offset is None) == (b.offset is None), what, a, b)
        if a.offset is not None and b.offset is not None:
            self.dims((a.offset, a.slot), (b.offset, b.slot), what)
        else:
            self.dims((a.slot,), (b.slot,), what)

    def dims(self, a: tuple[Dim, ...], b: tuple[Dim, ...], what: str) -> None:
        self.require(len(a) == len(b), what, a, b)
        for x, y in zip(a, b, strict=True):
            if isinstance(x, int) or isinstance(y, int):
                self.require(x == y, what, x, y)
            else:
                self.expr(x, y)


def _same_value(a: int | float, b: int | float) -> bool:
    """Floats by their text: 0.0 is not -0.0, NaN is NaN."""
    return repr(a) == repr(b) if isinstance(a, float) or isinstance(b, float) else a == b


def _given(call: Call) -> dict[str, Attr]:
    """The keywords that have a value; None is the same as leaving one out."""
    return {name: value for name, value in call.kwargs if value is not None}


def difference(a: Function | Program, b: Function | Program) -> str | None:
    """The first structural difference of two functions, or of the functions of two programs in order; None if they are
    equal up to the names of variables and buffers."""
    lefts = a.functions if isinstance(a, Program) else (a,)
    rights = b.functions if isinstance(b, Program) else (b,)
    if len(lefts) != len(rights):
        return f"functions: {len(lefts)} and {len(rights)}"
    for x, y in zip(lefts, rights, strict=True):
        try:
            _Comparison().function(x, y)
        except _Different as e:
            return f"in {x.name}: {e}"
    return None


def equal(a: Function | Program, b: Function | Program) -> bool:
    """Whether two functions or programs are structurally equal up to names."""
    return difference(a, b) is None
