"""Kernels that go wrong: where a tensor has a row or a column less than it needs, or windows begin one too early, and a
run shows it, the rules must not prove it.

    rules: missed    PROVED, though a run leaves its tensor

Generated kernels are right, so a rule that lets everything pass would never be noticed on them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TypeAlias

import numpy as np

from pypto_verified import simulator
from pypto_verified.compiler import MemoryPlanner, compile_function
from pypto_verified.differential import simulate
from pypto_verified.dtypes import INDEX
from pypto_verified.errors import PtoError
from pypto_verified.fuzz.builder import Kernel
from pypto_verified.fuzz.oracles import Find
from pypto_verified.ir.expr import Binary, BinaryOp, Call, Const, Expr, MakeTuple, Var
from pypto_verified.ir.rewrite import map_exprs
from pypto_verified.ir.stmt import Direction, Function
from pypto_verified.ir.types import TensorType
from pypto_verified.targets import Target
from pypto_verified.trials import Trial
from verifiers import Options, verify

_FAMILIES = frozenset({"BOUND"})

Wrong: TypeAlias = tuple[str, Function, Trial]
"""What was done to a kernel, the wrong kernel, and what it runs on."""


def examine(kernel: Kernel, chip: Target, trial: Trial, assume: tuple[str, ...]) -> Iterator[Find]:
    """At most one find, on one of the kernel's inputs."""
    options = Options(assume, families=_FAMILIES)
    for what, function, given in _wrong(kernel.function, trial):
        try:
            artifact = compile_function(function, chip, MemoryPlanner(kernel.planner), read_back=False)
        except PtoError:
            continue
        program = simulator.compile(artifact.module.funcs[0], chip)
        error = next(
            (e for e in simulate(function, artifact, program, chip, given).errors if e.kind == "global bounds"), None)
        if error is None:
            continue
        named = replace(options, names={function.name: artifact.names})
        if all(o.verdict.value == "PROVED" for r in verify(artifact.module, chip, named) for o in r.obligations):
            yield Find("rules: missed", f"PROVED though {error.op} leaves its tensor", f"{what}: {error}", trial)
            return


def _wrong(function: Function, trial: Trial) -> Iterator[Wrong]:
    """An input and an output with a row or a column less, which of them is told by the kernel's length; and all windows
    whose row is known at run time a row too early."""
    for read in (True, False):
        params = (p for p in function.params if (p.direction is Direction.IN) is read)
        ways = [(p.var.name, axis) for p in params for axis in (0, 1) if _extent(p.var, axis) > 1]
        if not ways:
            continue
        name, axis = ways[len(function.body) % len(ways)]
        array = trial.values[name]
        assert isinstance(array, np.ndarray)
        shorter = np.delete(array, -1, axis)
        what = f"{name} has a {('row', 'column')[axis]} less"
        yield what, _shorter(function, name, axis), replace(trial, values={**trial.values, name: shorter})
    body = map_exprs(function.body, _earlier)
    if body != function.body:
        yield "windows begin a row too early", replace(function, body=body), trial


def _extent(var: Var, axis: int) -> int:
    """An extent of a tensor of two dimensions; 0 for one known at run time, and for anything else."""
    if not isinstance(var.type, TensorType) or len(var.type.shape) != 2:
        return 0
    extent = var.type.shape[axis]
    return extent if isinstance(extent, int) else 0


def _shorter(function: Function, name: str, axis: int) -> Function:
    """The kernel with one less along an axis of a tensor."""

    def cut(e: Expr) -> Expr:
        if isinstance(e, Var) and e.name == name:
            return Var(name, _less(e.type, axis))
        if isinstance(e, Call) and e.op == "tile.store" and isinstance(e.args[2], Var) and e.args[2].name == name:
            return replace(e, type=e.args[2].type)
        return e

    params = tuple(
        replace(p, var=Var(name, _less(p.var.type, axis))) if p.var.name == name else p for p in function.params)
    returns = tuple(p.var.type for p in params if p.direction is not Direction.IN)
    return replace(function, params=params, returns=returns, body=map_exprs(function.body, cut))


def _less(type_: object, axis: int) -> TensorType:
    assert isinstance(type_, TensorType)
    shape = list(type_.shape)
    extent = shape[axis]
    assert isinstance(extent, int)
    shape[axis] = extent - 1
    return replace(type_, shape=tuple(shape))


def _earlier(e: Expr) -> Expr:
    """A load or store whose row is known at run time, from the row before."""
    if not isinstance(e, Call) or e.op not in ("tile.load", "tile.store"):
        return e
    at = e.args[1]
    if not isinstance(at, MakeTuple) or isinstance(at.items[0], Const):
        return e
    row = Binary(BinaryOp.SUB, at.items[0], Const(1), INDEX)
    return replace(e, args=(e.args[0], MakeTuple((row, *at.items[1:])), *e.args[2:]))
