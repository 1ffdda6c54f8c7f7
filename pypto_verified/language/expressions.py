"""Kernel expressions to IR. What has a compile-time value is a constant; the rest becomes operators and op calls."""

from __future__ import annotations

import ast
from enum import Enum
from typing import NoReturn

from pypto_verified import index
from pypto_verified.dtypes import BOOL
from pypto_verified.errors import Location, NotModelled, OpError
from pypto_verified.ir.expr import BinaryOp, Const, Expr, MakeTuple, TupleGet, UnaryOp, Var
from pypto_verified.ir.types import ScalarType, TensorType, TileType, TupleType, Type
from pypto_verified.language import calls
from pypto_verified.language.events import EventMark
from pypto_verified.language.markers import KernelMark, MemRefMark, OpName
from pypto_verified.language.scalars import BadOperand, binary, unary
from pypto_verified.language.scope import Scope, Unknown, Unsettled
from pypto_verified.language.sources import SourceFile
from pypto_verified.language.statics import Statics
from pypto_verified.language.values import BadAnnotation, as_type, is_expr, lift
from pypto_verified.ops.args import type_of

_BINARY: dict[type[ast.operator], BinaryOp] = {
    ast.Add: BinaryOp.ADD, ast.Sub: BinaryOp.SUB, ast.Mult: BinaryOp.MUL, ast.Div: BinaryOp.DIV,
    ast.FloorDiv: BinaryOp.FLOORDIV, ast.Mod: BinaryOp.MOD, ast.Pow: BinaryOp.POW, ast.LShift: BinaryOp.SHL,
    ast.RShift: BinaryOp.SHR, ast.BitAnd: BinaryOp.BITAND, ast.BitOr: BinaryOp.BITOR, ast.BitXor: BinaryOp.BITXOR,
}
_COMPARE: dict[type[ast.cmpop], BinaryOp] = {
    ast.Eq: BinaryOp.EQ, ast.NotEq: BinaryOp.NE, ast.Lt: BinaryOp.LT, ast.LtE: BinaryOp.LE, ast.Gt: BinaryOp.GT,
    ast.GtE: BinaryOp.GE,
}
_UNARY: dict[type[ast.unaryop], UnaryOp] = {
    ast.USub: UnaryOp.NEG, ast.Not: UnaryOp.NOT, ast.Invert: UnaryOp.BITNOT,
}


class Expressions:
    """Translates the expressions of one kernel. `variables` are the IR variables so far, `statics` local names whose
    value is known while translating (a list of sizes, an element type). `expected`: the annotation of the assignment
    being translated, for a call that has no type of its own."""

    def __init__(self, source: SourceFile, scope: Scope) -> None:
        self.source = source
        self.scope = scope
        self.variables: dict[str, Var] = {}
        self.statics = Statics()
        self.expected: TileType | None = None
        self._calls: dict[ast.Call, Expr] = {}

    def fail(self, node: ast.expr | ast.stmt | ast.arg | ast.keyword, message: str, help: str = "") -> NoReturn:
        """Raise LanguageError at a node."""
        raise self.source.error(node, message, help)

    def not_modelled(self, node: ast.expr | ast.stmt, what: str, help: str = "") -> NoReturn:
        """Raise NotModelled at a node."""
        where = Location(self.source.name, node.lineno, node.col_offset + 1)
        raise NotModelled(what, where, help, self.source.line(node.lineno))

    def at(self, node: ast.expr | ast.stmt, error: OpError | NotModelled) -> OpError | NotModelled:
        """The same error with the place of `node`, where it has none of its own, and the line it points at."""
        if not error.location.line:
            error.location = Location(self.source.name, node.lineno, node.col_offset + 1)
        error.source_line = error.source_line or self.source.line(error.location.line)
        return error

    def static(self, node: ast.expr) -> object:
        """The compile-time value of an expression that mentions no IR variable, else Unknown."""
        if isinstance(node, ast.Constant):
            return node.value
        if isinstance(node, ast.Name):
            return self._static_name(node.id)
        mentioned = [n for n in ast.walk(node) if isinstance(n, ast.Name)]
        names = {n.id for n in mentioned} - {n.id for n in mentioned if isinstance(n.ctx, ast.Store)}
        if names & self.variables.keys():
            return Unknown("it depends on a run-time value")
        if names & self.statics.keys():
            return self._static_with_locals(node)
        value = self.scope.evaluate(node)
        return Unknown("it compares run-time sizes") if isinstance(value, index.Cond) else value

    def _static_name(self, name: str) -> object:
        if name in self.variables:
            return Unknown("it is a run-time value")
        return self.statics[name] if name in self.statics else self.scope.lookup(name)

    def _static_with_locals(self, node: ast.expr) -> object:
        match node:
            case ast.Subscript(slice=ast.Constant(value=int(i))):
                value = self.static(node.value)
                items = value.items if isinstance(value, MakeTuple) else value
                if isinstance(items, list | tuple) and -len(items) <= i < len(items):
                    item: object = items[i]
                    return item
                return Unknown(f"no item {i}")
            case ast.Attribute():
                return getattr(self.static(node.value), node.attr, Unknown(f"no attribute {node.attr!r}"))
            case _:
                return Unknown("it depends on a local name")

    def partial(self, node: ast.expr) -> object:
        """The value of an annotation or keyword in which run-time expressions may stand inside lists, calls and
        subscripts of compile-time ones: `pl.Tile[[R, C], pl.FP32, ring[i % 2]]`."""
        value = self.static(node)
        if not isinstance(value, Unknown):
            return value
        match node:
            case ast.List() | ast.Tuple():
                return [self.partial(e) for e in node.elts] if isinstance(node, ast.List) else tuple(
                    self.partial(e) for e in node.elts)
            case ast.Subscript() if not isinstance(owner := self.partial(node.value), Unknown) and not is_expr(owner):
                try:
                    item: object = owner[self.partial(node.slice)]  # type: ignore[index]  # a marker subscripts
                except (TypeError, KeyError, IndexError) as e:
                    return Unknown(str(e))
                return item
            case ast.Call() if callable(function := self.static(node.func)) and not isinstance(function, OpName):
                keywords = {k.arg: self.partial(k.value) for k in node.keywords if k.arg is not None}
                values = [self.partial(a) for a in node.args]
                try:
                    result: object = function(*values, **keywords)
                except TypeError as e:
                    name, why = ast.unparse(node.func), str(e)
                    self.fail(node, f"{name}(...) {why.partition('() ')[2] or why}", f"see the signature of {name}")
                return result
            case _:
                return self.expression(node)

    def annotation(self, node: ast.expr) -> Type:
        """The type that an annotation names. Raises LanguageError at the annotation."""
        value = self.partial(node)
        if isinstance(value, Unknown):
            self.fail(node, f"the annotation has no value: {value.why}", "e.g. pl.Tile[[16, 64], pl.FP32]")
        try:
            return as_type(value, lambda mark: self._storage_name(node, mark))
        except BadAnnotation as e:
            self.fail(node, f"the annotation is no type: {e}", "e.g. pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec]")

    def _storage_name(self, node: ast.expr, mark: MemRefMark) -> str:
        """The variable that holds an author's allocation, as named in the annotation."""
        for n in ast.walk(node):
            if isinstance(n, ast.Name):
                value = self.static(n)
                if isinstance(value, MemRefMark) and (value.size, value.slots) == (mark.size, mark.slots):
                    return n.id
        self.fail(node, "the allocation has no name", 'bind pl.MemRef() to a variable or write pl.MemRef("name")')

    def expression(self, node: ast.expr) -> Expr:
        """The IR of an expression used as a value. Raises LanguageError, OpError, NotModelled."""
        if isinstance(node, ast.Name) and node.id in self.variables:
            return self.variables[node.id]
        if isinstance(node, ast.Call):
            # An operand is looked at again when the op is chosen by its type; it is built once.
            if node not in self._calls:
                self._calls[node] = self._call(node)
            return self._calls[node]
        value = self.static(node)
        if not isinstance(value, Unknown):
            return self.lifted(node, value)
        try:
            return self._run_time(node, value)
        except BadOperand as e:
            self.fail(node, str(e), e.help)

    def _call(self, node: ast.Call) -> Expr:
        function = self.static(node.func)
        if isinstance(function, OpName) or (isinstance(node.func, ast.Attribute) and isinstance(function, Unknown)):
            return calls.translate(self, node, function)
        if isinstance(function, KernelMark):
            self.not_modelled(node, f"call of another kernel, {function.function.__name__}")
        value = self.static(node)
        if not isinstance(value, Unknown):
            return self.lifted(node, value)
        if function in (min, max, abs, int, float, bool):
            return calls.builtin(self, node, function)
        if isinstance(function, Unknown):
            self.fail(node.func, f"call of an unknown function: {function.why}", "kernels call functions of pl")
        self.not_modelled(node, f"call of the Python function {ast.unparse(node.func)} on run-time values")

    def lifted(self, node: ast.expr, value: object) -> Expr:
        """A compile-time value as IR. Raises LanguageError for what is no kernel value."""
        lifted = lift(value)
        if lifted is not None:
            return lifted
        if isinstance(value, OpName):
            self.fail(node, f"pl.{value.path} is a function", "call it")
        if isinstance(value, EventMark):
            self.fail(node, "an event is no kernel value", "it stands at wait= and record=, or alone: e.record()")
        self.fail(node, f"a {type(value).__name__} is no kernel value", "use numbers, sizes and lists of them")

    def _run_time(self, node: ast.expr, unknown: Unknown) -> Expr:
        match node:
            case ast.BinOp(op=op) if type(op) in _BINARY:
                return binary(_BINARY[type(op)], self.expression(node.left), self.expression(node.right))
            case ast.Compare(ops=[op], comparators=[right]) if type(op) in _COMPARE:
                return binary(_COMPARE[type(op)], self.expression(node.left), self.expression(right))
            case ast.Compare():
                self.fail(node, "chained or unknown comparison", "compare two values at a time and join them with and")
            case ast.UnaryOp(op=ast.UAdd()):
                return self.expression(node.operand)
            case ast.UnaryOp():
                return unary(_UNARY[type(node.op)], self.expression(node.operand))
            case ast.BoolOp():
                junction = BinaryOp.AND if isinstance(node.op, ast.And) else BinaryOp.OR
                result = self.expression(node.values[0])
                for value in node.values[1:]:
                    result = binary(junction, result, self.expression(value))
                return result
            case ast.List() | ast.Tuple():
                return MakeTuple(tuple(self.expression(e) for e in node.elts))
            case ast.Subscript():
                return self._subscript(node)
            case ast.IfExp() if isinstance(chosen := self.static(node.test), bool):
                return self.expression(node.body if chosen else node.orelse)
            case ast.Attribute(attr="shape"):
                t = type_of(self.expression(node.value))
                if isinstance(t, TensorType | TileType):
                    return self.lifted(node, t.shape)
                self.fail(node, "only tensors and tiles have a shape", "name the tensor or tile")
            case ast.Name() if isinstance(unknown, Unsettled):
                self.not_modelled(node, unknown.why, unknown.help)
            case ast.Name():
                self.fail(node, f"name {node.id!r} is not defined", calls.near_name(self, node.id))
            case ast.Attribute() if isinstance(owner := self.static(node.value), type) and issubclass(owner, Enum):
                self.fail(node, f"{ast.unparse(node.value)} has no {node.attr}",
                          f"it has {', '.join(owner.__members__)}")
            case _:
                self.fail(node, f"this expression is not kernel code ({type(node).__name__}): {unknown.why}",
                          "use arithmetic, comparisons and calls of pl")

    def _subscript(self, node: ast.Subscript) -> Expr:
        value = self.expression(node.value)
        t = type_of(value)
        if isinstance(t, TupleType):
            i = self.static(node.slice)
            if not isinstance(i, int) or not -len(t.items) <= i < len(t.items):
                self.fail(node.slice, f"a tuple of {len(t.items)} needs a constant index", f"0 to {len(t.items) - 1}")
            return value.items[i] if isinstance(value, MakeTuple) else TupleGet(value, i % len(t.items))
        if not isinstance(t, TensorType | TileType):
            self.fail(node, "only tensors, tiles and tuples can be subscripted", "name the tensor or tile")
        return calls.subscript(self, node, value, t)

    def condition(self, node: ast.expr) -> Expr:
        """An expression as a Boolean; an integer counts as true unless it is zero."""
        e = self.expression(node)
        t = type_of(e)
        if isinstance(t, ScalarType) and t.dtype.is_integer:
            return binary(BinaryOp.NE, e, Const(0, t.dtype))
        if t != ScalarType(BOOL):
            self.fail(node, "the condition is no Boolean", "compare: x != 0")
        return e

    def constant(self, node: ast.expr) -> int | float | None:
        """The number that an expression always is; None when it can vary."""
        e = self.expression(node)
        return e.value if isinstance(e, Const) else None
