"""Kernel statements to IR. Names are re-assigned as the author wrote them; SSA form is a pass's work."""

from __future__ import annotations

import ast

from pypto_verified.dtypes import INDEX
from pypto_verified.ir.expr import Const, Expr, MakeTuple, Var
from pypto_verified.ir.stmt import Break, Continue, For, If, LoopKind, Return, Stmt, While, Yield
from pypto_verified.ir.types import ScalarType
from pypto_verified.language.assignments import Assignments, effect
from pypto_verified.language.bindings import define, join, names_of, turns
from pypto_verified.language.event_statements import event_call, without_events
from pypto_verified.language.events import Events, Ordered, event_of, ordered
from pypto_verified.language.expressions import Expressions
from pypto_verified.language.loop_heads import carried_values, loop_bounds, loop_target
from pypto_verified.language.markers import OpName
from pypto_verified.language.regions import region_body
from pypto_verified.language.scope import Scope
from pypto_verified.language.sources import SourceFile
from pypto_verified.ops.args import type_of

_LOOPS = {kind.value: kind for kind in LoopKind}

_Block = tuple[Stmt, ...]


class Statements:
    """Translates the body of one kernel."""

    def __init__(self, source: SourceFile, scope: Scope, definition: ast.FunctionDef) -> None:
        self.x = Expressions(source, scope)
        self._yield_names: list[tuple[str, ...] | None] = []
        self._events = Events()
        self._assignments = Assignments(self.x, self._events, definition)

    def block(self, body: list[ast.stmt]) -> _Block:
        """A list of statements. Raises LanguageError, OpError, NotModelled at the first that is wrong."""
        return tuple(s for node in body for s in self._statement(node))

    def _statement(self, node: ast.stmt) -> _Block:
        span = self.x.source.span(node)
        if isinstance(node, ast.Assign | ast.AnnAssign | ast.Expr) and node.value is not None:
            alone = event_call(self.x, self._events, node, node.value)
            if alone is not None:
                return (alone,)
            call = ordered(self.x, node.value)
            if call is not None:
                return self._around(node, call)
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
                with turns(self.x, node.body):
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

    def _around(self, node: ast.Assign | ast.AnnAssign | ast.Expr, call: Ordered) -> _Block:
        """A call with what it waits for before it and what it records after it."""
        inner, records = without_events(self.x, self._events, node, call)
        waits = [self._events.wait(self.x, at, mark) for at, mark in call.waits]
        return (*waits, *self._statement(inner), *(self._events.record(self.x, at, mark) for at, mark in records))

    def _assign(self, node: ast.stmt, target: ast.expr, value: ast.expr, annotation: ast.expr | None) -> _Block:
        if isinstance(target, ast.Tuple | ast.Name) and _calls(self.x, value, "yield_"):
            return self._yield(node, value, names_of(self.x, target))
        match target:
            case ast.Name():
                return self._assignments.to_name(node, target.id, value, annotation)
            case ast.Tuple(elts=names) if isinstance(value, ast.Tuple) and len(names) == len(value.elts) and all(
                isinstance(n, ast.Name) and event_of(self.x, v) for n, v in zip(names, value.elts, strict=True)
            ):
                return tuple(s for n, v in zip(names, value.elts, strict=True) for s in self._assign(node, n, v, None))
            case ast.Tuple():
                return self._assignments.to_names(node, target, value)
            case ast.Subscript():
                return self._assignments.to_element(node, target, value)
            case _:
                self.x.fail(target, "a kernel assigns to names", "x = ..., or t[i, j] = ... for one element")

    def _expression(self, node: ast.Expr) -> _Block:
        if isinstance(node.value, ast.Constant):
            return ()
        if _calls(self.x, node.value, "yield_"):
            return self._yield(node, node.value, None)
        if isinstance(node.value, ast.Call):
            function = self.x.static(node.value.func)
            if isinstance(function, OpName) and function.path in ("static_print", "static_assert"):
                return ()
        return effect(self.x, node, self.x.expression(node.value))

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
        return tuple(define(self.x, n, type_of(v)) for n, v in zip(names, body[-1].values, strict=True))

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
            join(self.x, after)
        results = self._results(then, self._yield_names.pop())
        if results and not (orelse and isinstance(orelse[-1], Yield) and len(orelse[-1].values) == len(results)):
            self.x.fail(node, f"one branch yields {len(results)} values, the other does not",
                        "end both branches with pl.yield_ of as many values")
        return (If(cond, then, orelse, results, self.x.source.span(node)),)

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
        loop, carried = loop_target(self.x, node)
        start, stop, step = loop_bounds(self.x, node.iter)
        iter_args = carried_values(self.x, node, node.iter, carried)
        var = define(self.x, loop, ScalarType(INDEX))
        for a in iter_args:
            define(self.x, a.var.name, a.var.type)
        self._yield_names.append(None)
        with turns(self.x, node.body):
            body = self.block(node.body)
        results = self._results(body, self._yield_names.pop())
        if len(results) != len(iter_args):
            self.x.fail(node, f"the loop carries {len(iter_args)} values but yields {len(results)}",
                        "end its body with pl.yield_ of one value for each init value")
        return For(var, start, stop, step, iter_args, body, results, _LOOPS[function.path], self.x.source.span(node))

    def _carried_while(self, node: ast.For, call: ast.Call) -> Stmt:
        """`for (a, b) in pl.while_(init_values=...)`: statements up to `pl.cond(...)` run before each test."""
        iter_args = carried_values(self.x, node, call, names_of(self.x, node.target))
        for a in iter_args:
            define(self.x, a.var.name, a.var.type)
        tests = [i for i, s in enumerate(node.body) if isinstance(s, ast.Expr) and _calls(self.x, s.value, "cond")]
        if not tests:
            self.x.fail(node, "the body of pl.while_ has no pl.cond", "start it with pl.cond(condition)")
        test = node.body[tests[0]]
        assert isinstance(test, ast.Expr) and isinstance(test.value, ast.Call)
        if len(test.value.args) != 1:
            self.x.fail(test, "pl.cond takes one condition", "join conditions with and")
        with turns(self.x, node.body):
            prelude = self.block(node.body[: tests[0]])
            cond = self.x.condition(test.value.args[0])
            self._yield_names.append(None)
            body = self.block(node.body[tests[0] + 1 :])
        results = self._results(body, self._yield_names.pop())
        return While(cond, iter_args, body, results, prelude, self.x.source.span(node))


def _calls(x: Expressions, node: ast.expr, path: str) -> bool:
    """Whether an expression is a call of `pl.<path>`."""
    return isinstance(node, ast.Call) and x.static(node.func) == OpName(path)
