"""Statements with events: `e.record()` and `e.wait()`, and any op with `wait=`, `record=` or `token=`."""

from __future__ import annotations

import ast
from copy import copy

from pypto_verified.ir.stmt import Stmt
from pypto_verified.language.bindings import bind_static
from pypto_verified.language.events import EventMark, Events, Ordered, event_of
from pypto_verified.language.expressions import Expressions


def event_call(x: Expressions, events: Events, node: ast.stmt, value: ast.expr) -> Stmt | None:
    """`e.record()` or `e.wait()` as a statement; None for any other. LanguageError for a use of them that is none."""
    match value:
        case ast.Call(func=ast.Attribute(value=owner, attr="record" | "wait" as what), args=args, keywords=more):
            mark = event_of(x, owner)
            if mark is not None:
                if args or more or not isinstance(node, ast.Expr):
                    x.fail(value, f"{ast.unparse(owner)}.{what}() takes no arguments and has no value",
                           f"as a statement of its own: {ast.unparse(owner)}.{what}()")
                return (events.record if what == "record" else events.wait)(x, node, mark)
        case ast.Attribute(value=owner, attr="record" | "wait"):
            if event_of(x, owner) is not None:
                x.fail(node, f"{ast.unparse(value)} is a method", f"call it: {ast.unparse(value)}()")
    return None


def without_events(
    x: Expressions, events: Events, node: ast.Assign | ast.AnnAssign | ast.Expr, call: Ordered
) -> tuple[ast.stmt, list[tuple[ast.expr, EventMark]]]:
    """(the statement without its event keywords, what is recorded after it)."""
    records = list(call.records)
    if call.token is None:
        inner = copy(node)
    else:
        if not isinstance(node, ast.Assign) or not isinstance(node.targets[0], ast.Tuple):
            x.fail(node, "a token has a name of its own", 'x, done = pl.load(..., token="TADD")')
        target, name = node.targets[0].elts if len(node.targets[0].elts) == 2 else (node, node)
        if not isinstance(target, ast.Name) or not isinstance(name, ast.Name):
            x.fail(node, "a call with a token gives two names: its result and the token",
                   'x, done = pl.load(..., token="TADD")')
        at, given = call.token
        token = events.fixed(x, at, given)
        bind_static(x, name.id, token)
        records.append((at, token))
        inner = ast.copy_location(ast.Assign([target], call.call), node)
    inner.value = call.call
    return inner, records
