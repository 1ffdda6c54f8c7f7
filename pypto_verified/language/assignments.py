"""Assignments of a kernel: to a name, to several names, to one element."""

from __future__ import annotations

import ast
from dataclasses import replace

from pypto_verified.ir.expr import Call, Expr, MakeTuple, TupleGet, Var
from pypto_verified.ir.stmt import Assign, Eval, Stmt
from pypto_verified.ir.types import NoneType, OpaqueType, ScalarType, TileType, TupleType, Type
from pypto_verified.language.bindings import bind_static, define, names_of
from pypto_verified.language.events import Events, event_of
from pypto_verified.language.expressions import Expressions
from pypto_verified.language.markers import OpName
from pypto_verified.language.scalars import cast
from pypto_verified.language.scope import Unknown
from pypto_verified.language.stores import stored_tensors
from pypto_verified.language.values import lift
from pypto_verified.ops.args import describe, type_of

_Block = tuple[Stmt, ...]


class Assignments:
    """Translates the assignments of one kernel."""

    def __init__(self, x: Expressions, events: Events, definition: ast.FunctionDef) -> None:
        self.x = x
        self._events = events
        self._stored = stored_tensors(definition)

    def to_name(self, node: ast.stmt, name: str, value: ast.expr, annotation: ast.expr | None) -> _Block:
        """`x = value`, with an annotation or without."""
        static = self.x.static(value)
        event = event_of(self.x, value)
        if event is not None:
            bind_static(self.x, name, self._events.fixed(self.x, value, event))
            return ()
        if not isinstance(static, Unknown | bool | int | float) and annotation is None:
            e = lift(static)
            if e is None or isinstance(e, MakeTuple):
                bind_static(self.x, name, static)
                return ()
        declared = self.x.annotation(annotation) if annotation is not None else None
        self.x.expected = declared if isinstance(declared, TileType) else None
        e = self.x.expression(value)
        self.x.expected = None
        if isinstance(e, MakeTuple):
            bind_static(self.x, name, e)
            return ()
        t = type_of(e)
        if annotation is not None and declared is not None:
            e, t = self._annotated(annotation, declared, e, t)
        if isinstance(e, Call) and e.op in ("tile.write", "tensor.write") and isinstance(t, NoneType):
            # A scalar write changes its operand in place and is written like a functional update.
            span, target = self.x.source.span(node), e.args[0]
            same = isinstance(target, Var) and target.name == name
            update = () if same else (Assign(define(self.x, name, type_of(target)), target, span),)
            return (Eval(e, span), *update)
        if isinstance(t, NoneType):
            self.x.fail(value, "this call has no value", "call it as a statement of its own")
        var = define(self.x, self._stored.get(name, name), t)
        self.x.variables[name] = var
        return (Assign(var, e, self.x.source.span(node)),)

    def _annotated(self, annotation: ast.expr, declared: Type, e: Expr, deduced: Type) -> tuple[Expr, Type]:
        """The value and the variable's type under an annotation: it must agree with what the op gives and may add a
        memory space, storage and a view."""
        match deduced, declared:
            case TileType(), TileType():
                if (deduced.shape, deduced.dtype) != (declared.shape, declared.dtype):
                    self.x.fail(annotation, f"annotated as {describe(declared)} but the value is {describe(deduced)}",
                                "correct the annotation or leave it out")
                t: Type = replace(
                    deduced, space=declared.space or deduced.space, view=declared.view or deduced.view,
                    memref=declared.memref or deduced.memref,
                )
            case ScalarType(), ScalarType():
                return cast(e, declared.dtype), declared
            case (OpaqueType() | NoneType()), _:
                t = declared
            case _ if type(deduced) is not type(declared):
                self.x.fail(annotation, f"annotated as {describe(declared)} but the value is {describe(deduced)}",
                            "correct the annotation or leave it out")
            case _:
                t = deduced
        return (replace(e, type=t) if isinstance(e, Call) and not isinstance(e.type, TupleType) else e), t

    def to_names(self, node: ast.stmt, target: ast.Tuple, value: ast.expr) -> _Block:
        """`a, b = value`."""
        names = names_of(self.x, target)
        e = self.x.expression(value)
        t = type_of(e)
        if not isinstance(t, TupleType) or len(t.items) != len(names):
            self.x.fail(node, f"{len(names)} names for {describe(t)}", "one name for each result")
        span = self.x.source.span(node)
        if isinstance(e, MakeTuple):
            if any(isinstance(v, Var) and v.name in names for v in e.items):
                self.x.not_modelled(node, "assignment that swaps names", "use a temporary name")
            return tuple(Assign(define(self.x, n, i), v, span) for n, i, v in zip(names, t.items, e.items, strict=True))
        whole = Var(f"{'_'.join(names)}_tuple", t)
        parts = (Assign(define(self.x, n, i), TupleGet(whole, k), span) for k, (n, i) in
                 enumerate(zip(names, t.items, strict=True)))
        return (Assign(whole, e, span), *parts)

    def to_element(self, node: ast.stmt, target: ast.Subscript, value: ast.expr) -> _Block:
        """`t[i, j] = v` is a scalar write."""
        indices = target.slice.elts if isinstance(target.slice, ast.Tuple) else [target.slice]
        if any(isinstance(i, ast.Slice) for i in indices):
            self.x.not_modelled(node, "assignment to a slice", "use pl.store(tile, offsets, tensor) or pl.assemble")
        call = ast.copy_location(ast.Call(
            func=ast.copy_location(ast.Constant(OpName("write")), target),  # type: ignore[arg-type]  # evaluates to itself
            args=[target.value, ast.copy_location(ast.List(indices, ast.Load()), target), value], keywords=[],
        ), node)
        return effect(self.x, node, self.x.expression(call))


def effect(x: Expressions, node: ast.stmt, e: Expr) -> _Block:
    """A call for what it does. LanguageError for any other expression."""
    if not isinstance(e, Call):
        x.fail(node, "this statement has no effect", "assign the value or leave it out")
    return (Eval(e, x.source.span(node)),)
