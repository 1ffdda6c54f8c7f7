"""Runs an IR function, before or after any pass. Variables live in an environment keyed by name."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import field
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

import pypto_verified.interpreter.axes
import pypto_verified.interpreter.cube
import pypto_verified.interpreter.elementwise
import pypto_verified.interpreter.gather
import pypto_verified.interpreter.make
import pypto_verified.interpreter.memory
import pypto_verified.interpreter.select
import pypto_verified.interpreter.sort
import pypto_verified.interpreter.sync
import pypto_verified.interpreter.views  # noqa: F401  # the families register their meanings
from pypto_verified.errors import NotModelled
from pypto_verified.interpreter.binding import Inputs, bind
from pypto_verified.interpreter.meaning import MEANINGS, Fault, Scalar, Site, Value
from pypto_verified.interpreter.numbers import from_carrier
from pypto_verified.interpreter.pipes import Pipes
from pypto_verified.interpreter.scalars import binary, convert, unary
from pypto_verified.interpreter.undefined import Poisoned, Undefined
from pypto_verified.interpreter.values import Tile
from pypto_verified.ir.expr import Binary, Call, Cast, Const, Expr, MakeTuple, Span, TupleGet, Unary, Var
from pypto_verified.ir.stmt import (
    Assign,
    Break,
    Continue,
    Eval,
    For,
    Function,
    If,
    Return,
    Stmt,
    While,
    Yield,
)
from pypto_verified.ops.registry import lookup
from pypto_verified.records import dataclass


class _Break(Exception):
    pass


class _Continue(Exception):
    pass


class _Return(Exception):
    pass


Observer: TypeAlias = Callable[[Assign, Value], None]
"""Called after each assignment with the value."""


@dataclass(slots=True)
class _Frame:
    function: Function
    env: dict[str, Value] = field(default_factory=dict)
    block: tuple[int, int] = (0, 1)
    lane: int = 0
    steps: int = 0
    max_steps: int = 1_000_000
    observe: Observer | None = None
    loose: set[str] = field(default_factory=set)
    pipes: Pipes | None = None
    flags: dict[tuple[str, str, int], int] = field(default_factory=dict)


def interpret(
    function: Function,
    inputs: Inputs,
    *,
    block: tuple[int, int] = (0, 1),
    lane: int = 0,
    max_steps: int = 1_000_000,
    observe: Observer | None = None,
    loose: set[str] | None = None,
    pipes: Pipes | None = None,
) -> dict[str, NDArray[np.generic]]:
    """The tensors after one run of one block, by parameter name (inputs are not changed).

    `loose` receives the ops of this run whose exact result the device leaves open (`unspecified.UNSPECIFIED`).
    `pipes` is what stands at the other end of the cube-vector pipes.
    Raises Undefined (with the op, the element and the user's line) when the result is not defined, NotModelled for an
    op without a meaning here, KeyError for a missing input.
    """
    frame = _Frame(function, block=block, lane=lane, max_steps=max_steps, observe=observe, pipes=pipes)
    frame.loose = frame.loose if loose is None else loose
    frame.env, tensors = bind(function, inputs)
    with np.errstate(all="ignore"):
        with contextlib.suppress(_Return):
            _block(frame, function.body)
        return {name: from_carrier(t.data, t.dtype) for name, t in tensors.items()}


def _block(frame: _Frame, body: Sequence[Stmt]) -> tuple[Value, ...]:
    """Run the statements; the values of the block's yield, if it has one."""
    yielded: tuple[Value, ...] = ()
    for stmt in body:
        frame.steps += 1
        if frame.steps > frame.max_steps:
            raise Undefined(f"no end after {frame.max_steps} statements", stmt.span.location)
        match stmt:
            case Assign():
                value = _eval(frame, stmt.value, stmt.span)
                frame.env[stmt.var.name] = value
                if frame.observe is not None:
                    frame.observe(stmt, value)
            case Eval():
                _effect(frame, stmt.call, stmt.span)
            case For():
                _for(frame, stmt)
            case While():
                _while(frame, stmt)
            case If():
                chosen = stmt.then if _truth(frame, stmt.cond, stmt.span) else stmt.orelse
                _assign(frame, [v.name for v in stmt.results], _block(frame, chosen))
            case Yield():
                yielded = tuple(_eval(frame, v, stmt.span) for v in stmt.values)
            case Return():
                for returned in stmt.values:
                    _eval(frame, returned, stmt.span)
                raise _Return
            case Break():
                raise _Break
            case Continue():
                raise _Continue
    return yielded


def _effect(frame: _Frame, call: Call, span: Span) -> None:
    """A call made for its effect. An op that updates a tile changes the very tile: each view of it sees the change."""
    value = _eval(frame, call, span)
    position = lookup(call.op).inplace
    if position is None or not isinstance(value, Tile):
        return
    target = _eval(frame, call.args[position], span)
    if isinstance(target, Tile):
        target.data[...], target.poison[...] = value.data, value.poison


def _assign(frame: _Frame, names: Sequence[str], values: Sequence[Value]) -> None:
    for name, value in zip(names, values, strict=True):
        frame.env[name] = value


def _for(frame: _Frame, loop: For) -> None:
    start, stop, step = (_int(frame, e, loop.span) for e in (loop.start, loop.stop, loop.step))
    if step == 0:
        raise Undefined("a loop with step 0 never ends", loop.span.location)
    carried = [a.var.name for a in loop.iter_args]
    values: tuple[Value, ...] = tuple(_eval(frame, a.init, loop.span) for a in loop.iter_args)
    _assign(frame, carried, values)
    for i in range(start, stop, step):
        frame.env[loop.var.name] = i
        _assign(frame, carried, values)
        got = _turn(frame, loop.body, carried)
        if got is None:
            break
        values = got
    _assign(frame, [v.name for v in loop.results], values)


def _while(frame: _Frame, loop: While) -> None:
    carried = [a.var.name for a in loop.iter_args]
    values: tuple[Value, ...] = tuple(_eval(frame, a.init, loop.span) for a in loop.iter_args)
    while True:
        frame.steps += 1
        if frame.steps > frame.max_steps:
            raise Undefined(f"no end after {frame.max_steps} statements", loop.span.location)
        _assign(frame, carried, values)
        _block(frame, loop.prelude)
        if not _truth(frame, loop.cond, loop.span):
            break
        got = _turn(frame, loop.body, carried)
        if got is None:
            break
        values = got
    _assign(frame, [v.name for v in loop.results], values)


def _turn(frame: _Frame, body: tuple[Stmt, ...], carried: list[str]) -> tuple[Value, ...] | None:
    """What a turn of a loop hands on to the next; None if it breaks the loop off."""
    try:
        got = _block(frame, body)
    except _Continue:
        got = tuple(frame.env[name] for name in carried)
    except _Break:
        return None
    return got if carried else ()


def _truth(frame: _Frame, cond: Expr, span: Span) -> bool:
    value = _eval(frame, cond, span)
    if isinstance(value, (bool, int, float)):
        return bool(value)
    raise Undefined("a branch needs a scalar condition", span.location)


def _int(frame: _Frame, expr: Expr, span: Span) -> int:
    value = _eval(frame, expr, span)
    if isinstance(value, (bool, int)):
        return int(value)
    raise Undefined("a loop bound needs an integer", span.location)


def _scalar(value: Value, span: Span) -> Scalar:
    if isinstance(value, (bool, int, float)):
        return value
    raise Undefined("scalar arithmetic on something that is no scalar", span.location)


def _eval(frame: _Frame, expr: Expr, span: Span) -> Value:
    if isinstance(expr, Var):
        if expr.name not in frame.env:
            raise Undefined(f"{expr.name} is used before it has a value", span.location)
        return frame.env[expr.name]
    if isinstance(expr, Const):
        return expr.value
    if isinstance(expr, Call):
        return _call(frame, expr, expr.span if expr.span.line else span)
    match expr:
        case Binary():
            lhs, rhs = (_scalar(_eval(frame, e, span), span) for e in (expr.lhs, expr.rhs))
            try:
                return binary(expr.op, lhs, rhs, expr.dtype)
            except ZeroDivisionError:
                raise Undefined("integer division by zero", span.location) from None
            except Fault as fault:
                raise Undefined(fault.message, span.location) from None
        case Unary():
            return unary(expr.op, _scalar(_eval(frame, expr.operand, span), span), expr.dtype)
        case Cast():
            try:
                return convert(_scalar(_eval(frame, expr.operand, span), span), expr.dtype)
            except Fault as fault:
                raise Undefined(fault.message, span.location) from None
        case MakeTuple():
            return tuple([e.value if isinstance(e, Const) else _eval(frame, e, span) for e in expr.items])
        case TupleGet():
            whole = _eval(frame, expr.value, span)
            if not isinstance(whole, tuple):
                raise Undefined("takes an item of something that is no tuple", span.location)
            return whole[expr.index]


def _call(frame: _Frame, call: Call, span: Span) -> Value:
    apply = MEANINGS.get(call.op)
    if apply is None:
        raise NotModelled(f"{call.op} in the interpreter", span.location)
    site = Site(tuple([_eval(frame, a, span) for a in call.args]), call, frame.block, frame.lane,
                frame.loose, frame.pipes, frame.flags)
    try:
        return apply(site)
    except NotModelled as error:
        raise NotModelled(error.what, span.location) from None
    except Fault as fault:
        at = f" at element {list(fault.index)}" if fault.index is not None else ""
        kind = Poisoned if "no defined value" in fault.message else Undefined
        raise kind(f"{call.op}: {fault.message}{at}", span.location) from None
