"""Kernel statements to IR. Names are re-assigned as the author wrote them; SSA form is a pass's work."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import contextmanager
from copy import copy
from dataclasses import replace

from pypto_verified.dtypes import INDEX
from pypto_verified.ir.expr import Call, Const, Expr, MakeTuple, TupleGet, Var
from pypto_verified.ir.stmt import (
    Assign,
    Break,
    Continue,
    Eval,
    For,
    If,
    IterArg,
    LoopKind,
    Return,
    Stmt,
    While,
    Yield,
)
from pypto_verified.ir.types import NoneType, OpaqueType, ScalarType, TileType, TupleType, Type
from pypto_verified.language.events import Events, Ordered, event_of, ordered
from pypto_verified.language.expressions import Expressions
from pypto_verified.language.markers import OpName
from pypto_verified.language.regions import region_body
from pypto_verified.language.scalars import cast
from pypto_verified.language.scope import Scope, Unknown, Unsettled
from pypto_verified.language.sources import SourceFile
from pypto_verified.language.statics import Statics
from pypto_verified.language.stores import stored_tensors
from pypto_verified.language.values import lift
from pypto_verified.ops.args import describe, type_of

_LOOPS = {kind.value: kind for kind in LoopKind}
# Hints to the compiler that do not change what a loop computes.
_LOOP_HINTS = frozenset({"init_values", "stage", "chunk", "chunk_policy", "attrs"})

_Block = tuple[Stmt, ...]


class Statements:
    """Translates the body of one kernel."""

    def __init__(self, source: SourceFile, scope: Scope, definition: ast.FunctionDef) -> None:
        self.x = Expressions(source, scope)
        self._stored = stored_tensors(definition)
        self._yield_names: list[tuple[str, ...] | None] = []
        self._events = Events()

    def block(self, body: list[ast.stmt]) -> _Block:
        """A list of statements. Raises LanguageError, OpError, NotModelled at the first that is wrong."""
        return tuple(s for node in body for s in self._statement(node))

    def _statement(self, node: ast.stmt) -> _Block:
        span = self.x.source.span(node)
        if (found := self._event(node)) is not None:
            return found
        match node:
            case ast.Assign(targets=[target]):
                return self._assign(node, target, node.value, None)
            case ast.AnnAssign(value=ast.expr() as value):
                return self._assign(node, node.target, value, node.annotation)
            case ast.AugAssign(target=ast.Name(id=name)):
                operation = ast.copy_location(
                    ast.BinOp(ast.copy_location(ast.Name(name, ast.Load()), node.target), node.op, node.value),
                    node,
                )
                return self._assign(node, node.target, operation, None)
            case ast.Expr():
                return self._expression(node)
            case ast.For():
                return (self._for(node),)
            case ast.While():
                with self._turns(node.body):
                    return (While(self.x.condition(node.test), (), self.block(node.body), (), (), span),)
            case ast.If():
                return self._if(node)
            case ast.With():
                return self.block(region_body(self.x, node))
            case ast.Return():
                return (self._return(node),)
            case ast.Break():
                return (Break(span),)
            case ast.Continue():
                return (Continue(span),)
            case ast.Pass():
                return ()
            case _:
                self.x.fail(node, f"a kernel has no {type(node).__name__} statement",
                            "kernels are assignments, calls, for, while, if, with pl.at, return")

    def _assign(self, node: ast.stmt, target: ast.expr, value: ast.expr, annotation: ast.expr | None) -> _Block:
        if isinstance(target, ast.Tuple | ast.Name) and _calls(self.x, value, "yield_"):
            return self._yield(node, value, _names_of(self.x, target))
        match target:
            case ast.Name():
                return self._assign_name(node, target.id, value, annotation)
            case ast.Tuple(elts=names) if isinstance(value, ast.Tuple) and len(names) == len(value.elts) and all(
                isinstance(n, ast.Name) and event_of(self.x, v) for n, v in zip(names, value.elts, strict=True)
            ):
                return tuple(s for n, v in zip(names, value.elts, strict=True) for s in self._assign(node, n, v, None))
            case ast.Tuple():
                return self._unpack(node, target, value)
            case ast.Subscript():
                return self._write(node, target, value)
            case _:
                self.x.fail(target, "a kernel assigns to names", "x = ..., or t[i, j] = ... for one element")

    def _assign_name(self, node: ast.stmt, name: str, value: ast.expr, annotation: ast.expr | None) -> _Block:
        static = self.x.static(value)
        event = event_of(self.x, value)
        if event is not None:
            self._bind_static(name, self._events.fixed(self.x, value, event))
            return ()
        if not isinstance(static, Unknown | bool | int | float) and annotation is None:
            e = lift(static)
            if e is None or isinstance(e, MakeTuple):
                self._bind_static(name, static)
                return ()
        declared = self.x.annotation(annotation) if annotation is not None else None
        self.x.expected = declared if isinstance(declared, TileType) else None
        e = self.x.expression(value)
        self.x.expected = None
        if isinstance(e, MakeTuple):
            self._bind_static(name, e)
            return ()
        t = type_of(e)
        if annotation is not None and declared is not None:
            e, t = self._annotated(annotation, declared, e, t)
        if isinstance(e, Call) and e.op in ("tile.write", "tensor.write") and isinstance(t, NoneType):
            # A scalar write changes its operand in place and is written like a functional update.
            span, target = self.x.source.span(node), e.args[0]
            same = isinstance(target, Var) and target.name == name
            update = () if same else (Assign(self._define(name, type_of(target)), target, span),)
            return (Eval(e, span), *update)
        if isinstance(t, NoneType):
            self.x.fail(value, "this call has no value", "call it as a statement of its own")
        var = self._define(self._stored.get(name, name), t)
        self.x.variables[name] = var
        return (Assign(var, e, self.x.source.span(node)),)

    def _event(self, node: ast.stmt) -> _Block | None:
        """A statement that records an event or waits for one, alone or around the op that it calls; None for others."""
        if not isinstance(node, ast.Assign | ast.AnnAssign | ast.Expr) or node.value is None:
            return None
        match node.value:
            case ast.Call(func=ast.Attribute(value=owner, attr="record" | "wait" as what), args=args, keywords=more):
                mark = event_of(self.x, owner)
                if mark is not None:
                    if args or more or not isinstance(node, ast.Expr):
                        self.x.fail(node.value, f"{ast.unparse(owner)}.{what}() takes no arguments and has no value",
                                    f"as a statement of its own: {ast.unparse(owner)}.{what}()")
                    return (getattr(self._events, what)(self.x, node, mark),)
            case ast.Attribute(value=owner, attr="record" | "wait" as what):
                if event_of(self.x, owner) is not None:
                    self.x.fail(node, f"{ast.unparse(node.value)} is a method", f"call it: {ast.unparse(node.value)}()")
        call = ordered(self.x, node.value)
        return self._around(node, call) if call is not None else None

    def _around(self, node: ast.Assign | ast.AnnAssign | ast.Expr, call: Ordered) -> _Block:
        """A call with what it waits for before it and what it records after it."""
        records = list(call.records)
        if call.token is None:
            inner = copy(node)
        else:
            if not isinstance(node, ast.Assign) or not isinstance(node.targets[0], ast.Tuple):
                self.x.fail(node, "a token has a name of its own", 'x, done = pl.load(..., token="TADD")')
            target, name = node.targets[0].elts if len(node.targets[0].elts) == 2 else (node, node)
            if not isinstance(target, ast.Name) or not isinstance(name, ast.Name):
                self.x.fail(node, "a call with a token gives two names: its result and the token",
                            'x, done = pl.load(..., token="TADD")')
            at, given = call.token
            token = self._events.fixed(self.x, at, given)
            self._bind_static(name.id, token)
            records.append((at, token))
            inner = ast.copy_location(ast.Assign([target], call.call), node)
        inner.value = call.call
        waits = [self._events.wait(self.x, at, mark) for at, mark in call.waits]
        return (*waits, *self._statement(inner), *(self._events.record(self.x, at, mark) for at, mark in records))

    def _bind_static(self, name: str, value: object) -> None:
        self.x.variables.pop(name, None)
        self.x.statics[name] = value

    def _define(self, name: str, t: Type) -> Var:
        var = Var(name, t)
        self.x.variables[name] = var
        self.x.statics.assigned(name)
        return var

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

    def _unpack(self, node: ast.stmt, target: ast.Tuple, value: ast.expr) -> _Block:
        names = _names_of(self.x, target)
        e = self.x.expression(value)
        t = type_of(e)
        if not isinstance(t, TupleType) or len(t.items) != len(names):
            self.x.fail(node, f"{len(names)} names for {describe(t)}", "one name for each result")
        span = self.x.source.span(node)
        if isinstance(e, MakeTuple):
            if any(isinstance(v, Var) and v.name in names for v in e.items):
                self.x.not_modelled(node, "assignment that swaps names", "use a temporary name")
            return tuple(Assign(self._define(n, i), v, span) for n, i, v in zip(names, t.items, e.items, strict=True))
        whole = Var(f"{'_'.join(names)}_tuple", t)
        parts = (Assign(self._define(n, i), TupleGet(whole, k), span) for k, (n, i) in
                 enumerate(zip(names, t.items, strict=True)))
        return (Assign(whole, e, span), *parts)

    def _write(self, node: ast.stmt, target: ast.Subscript, value: ast.expr) -> _Block:
        """`t[i, j] = v` is a scalar write."""
        indices = target.slice.elts if isinstance(target.slice, ast.Tuple) else [target.slice]
        if any(isinstance(i, ast.Slice) for i in indices):
            self.x.not_modelled(node, "assignment to a slice", "use pl.store(tile, offsets, tensor) or pl.assemble")
        call = ast.copy_location(ast.Call(
            func=ast.copy_location(ast.Constant(OpName("write")), target),  # type: ignore[arg-type]  # evaluates to itself
            args=[target.value, ast.copy_location(ast.List(indices, ast.Load()), target), value], keywords=[],
        ), node)
        return self._effect(node, self.x.expression(call))

    def _expression(self, node: ast.Expr) -> _Block:
        if isinstance(node.value, ast.Constant):
            return ()
        if _calls(self.x, node.value, "yield_"):
            return self._yield(node, node.value, None)
        if isinstance(node.value, ast.Call):
            function = self.x.static(node.value.func)
            if isinstance(function, OpName) and function.path in ("static_print", "static_assert"):
                return ()
        return self._effect(node, self.x.expression(node.value))

    def _effect(self, node: ast.stmt, e: Expr) -> _Block:
        if not isinstance(e, Call):
            self.x.fail(node, "this statement has no effect", "assign the value or leave it out")
        return (Eval(e, self.x.source.span(node)),)

    def _yield(self, node: ast.stmt, value: ast.expr, names: tuple[str, ...] | None) -> _Block:
        assert isinstance(value, ast.Call)
        if not self._yield_names:
            self.x.fail(node, "pl.yield_ stands only at the end of a loop or branch",
                        "use return for the result of the kernel")
        values = tuple(self.x.expression(a) for a in value.args)
        if names is not None and len(names) != len(values):
            self.x.fail(node, f"{len(names)} names for {len(values)} yielded values", "one name for each value")
        self._yield_names[-1] = names or self._yield_names[-1] or tuple(
            v.name if isinstance(v, Var) else f"yielded_{i}" for i, v in enumerate(values))
        return (Yield(values, self.x.source.span(node)),)

    def _return(self, node: ast.Return) -> Return:
        match node.value:
            case None:
                values: tuple[Expr, ...] = ()
            case ast.Tuple():
                values = tuple(self.x.expression(e) for e in node.value.elts)
            case _:
                e = self.x.expression(node.value)
                values = e.items if isinstance(e, MakeTuple) else (e,)
        return Return(values, self.x.source.span(node))

    def _results(self, body: _Block, names: tuple[str, ...] | None) -> tuple[Var, ...]:
        """The variables that a block's Yield defines after it; none when it does not yield."""
        if not body or not isinstance(body[-1], Yield) or names is None:
            return ()
        return tuple(self._define(n, type_of(v)) for n, v in zip(names, body[-1].values, strict=True))

    def _if(self, node: ast.If) -> _Block:
        known = self.x.static(node.test)
        if isinstance(known, bool):
            return self.block(node.body if known else node.orelse)
        cond = self.x.condition(node.test)
        if isinstance(cond, Const):
            return self.block(node.body if cond.value else node.orelse)
        self._yield_names.append(None)
        before = self.x.statics.copy()
        then = self.block(node.body)
        after, self.x.statics = self.x.statics, before
        orelse = self.block(node.orelse)
        if orelse and isinstance(orelse[-1], Return):
            self.x.statics = after
        elif not (then and isinstance(then[-1], Return)):
            self._join(after)
        results = self._results(then, self._yield_names.pop())
        if results and not (orelse and isinstance(orelse[-1], Yield) and len(orelse[-1].values) == len(results)):
            self.x.fail(node, f"one branch yields {len(results)} values, the other does not",
                        "end both branches with pl.yield_ of as many values")
        return (If(cond, then, orelse, results, self.x.source.span(node)),)

    def _join(self, other: Statics) -> None:
        """Another path ends here."""
        self.x.statics.join(other, self.x.variables)
        for name, value in self.x.statics.items():
            if isinstance(value, Unsettled):
                self.x.variables.pop(name, None)

    @contextmanager
    def _turns(self, body: list[ast.stmt]) -> Iterator[None]:
        """Around the translation of a loop's body."""
        before = self.x.statics.copy()
        self.x.statics.enter_loop(body)
        yield
        self._join(before)

    def _for(self, node: ast.For) -> Stmt:
        function = self.x.static(node.iter.func) if isinstance(node.iter, ast.Call) else None
        if node.orelse:
            self.x.fail(node, "a kernel's loop has no else", "write what follows after the loop")
        if not isinstance(node.iter, ast.Call) or not isinstance(function, OpName):
            self.x.fail(node.iter, "a kernel loops over pl.range", "for i in pl.range(n):")
        if function.path == "while_":
            return self._carried_while(node, node.iter)
        if function.path not in _LOOPS:
            self.x.not_modelled(node.iter, f"loop over pl.{function.path}")
        loop, carried = self._target(node)
        start, stop, step = self._bounds(node.iter)
        iter_args = self._carried(node, node.iter, carried)
        var = self._define(loop, ScalarType(INDEX))
        for a in iter_args:
            self._define(a.var.name, a.var.type)
        self._yield_names.append(None)
        with self._turns(node.body):
            body = self.block(node.body)
        results = self._results(body, self._yield_names.pop())
        if len(results) != len(iter_args):
            self.x.fail(node, f"the loop carries {len(iter_args)} values but yields {len(results)}",
                        "end its body with pl.yield_ of one value for each init value")
        return For(var, start, stop, step, iter_args, body, results, _LOOPS[function.path], self.x.source.span(node))

    def _carried_while(self, node: ast.For, call: ast.Call) -> Stmt:
        """`for (a, b) in pl.while_(init_values=...)`: statements up to `pl.cond(...)` run before each test."""
        iter_args = self._carried(node, call, _names_of(self.x, node.target))
        for a in iter_args:
            self._define(a.var.name, a.var.type)
        tests = [i for i, s in enumerate(node.body) if isinstance(s, ast.Expr) and _calls(self.x, s.value, "cond")]
        if not tests:
            self.x.fail(node, "the body of pl.while_ has no pl.cond", "start it with pl.cond(condition)")
        test = node.body[tests[0]]
        assert isinstance(test, ast.Expr) and isinstance(test.value, ast.Call)
        if len(test.value.args) != 1:
            self.x.fail(test, "pl.cond takes one condition", "join conditions with and")
        with self._turns(node.body):
            prelude = self.block(node.body[: tests[0]])
            cond = self.x.condition(test.value.args[0])
            self._yield_names.append(None)
            body = self.block(node.body[tests[0] + 1 :])
        results = self._results(body, self._yield_names.pop())
        return While(cond, iter_args, body, results, prelude, self.x.source.span(node))

    def _target(self, node: ast.For) -> tuple[str, tuple[str, ...]]:
        match node.target:
            case ast.Name():
                return node.target.id, ()
            case ast.Tuple(elts=[ast.Name() as loop, (ast.Tuple() | ast.Name()) as carried]):
                return loop.id, _names_of(self.x, carried)
            case _:
                self.x.fail(node.target, "a loop's target is a name, or a name and a tuple of carried names",
                            "for i, (acc,) in pl.range(n, init_values=(zero,)):")

    def _bounds(self, call: ast.Call) -> tuple[Expr, Expr, Expr]:
        for keyword in call.keywords:
            if keyword.arg not in _LOOP_HINTS:
                self.x.fail(keyword, f"a loop has no parameter {keyword.arg!r}", "start, stop, step, init_values")
        bounds = [self.x.expression(a) for a in call.args]
        if not 1 <= len(bounds) <= 3:
            self.x.fail(call, f"{len(bounds)} loop bounds",
                        "pl.range(stop), pl.range(start, stop) or pl.range(start, stop, step)")
        for node, bound in zip(call.args, bounds, strict=True):
            t = type_of(bound)
            if not (isinstance(t, ScalarType) and t.dtype.is_integer):
                self.x.fail(node, f"a loop bound must be an integer, got {describe(t)}", "convert it with pl.cast")
        start, stop, step = ([Const(0), *bounds, Const(1)] if len(bounds) == 1 else [*bounds, Const(1)])[:3]
        if isinstance(step, Const) and step.value <= 0:
            self.x.fail(call, f"the step must be positive, got {step.value}", "count up and use n - 1 - i in the body")
        return cast(start, INDEX), cast(stop, INDEX), cast(step, INDEX)

    def _carried(self, node: ast.For, call: ast.Call, names: tuple[str, ...]) -> tuple[IterArg, ...]:
        given = next((k.value for k in call.keywords if k.arg == "init_values"), None)
        if given is None:
            if names:
                self.x.fail(node.target, "carried names need init_values", "pl.range(n, init_values=(a, b))")
            return ()
        e = self.x.expression(given)
        values = e.items if isinstance(e, MakeTuple) else (e,)
        if len(values) != len(names):
            self.x.fail(given, f"{len(values)} init values for {len(names)} carried names", "one for each name")
        return tuple(IterArg(Var(n, type_of(v)), v) for n, v in zip(names, values, strict=True))


def _calls(x: Expressions, node: ast.expr, path: str) -> bool:
    """Whether an expression is a call of `pl.<path>`."""
    return isinstance(node, ast.Call) and x.static(node.func) == OpName(path)


def _names_of(x: Expressions, target: ast.expr) -> tuple[str, ...]:
    nodes = target.elts if isinstance(target, ast.Tuple) else [target]
    names = [n.id for n in nodes if isinstance(n, ast.Name)]
    if len(names) != len(nodes):
        x.fail(target, "a value is unpacked into plain names only", "a, b = ...")
    return tuple(names)


