"""Kernels that go wrong: where an input has a row less than it needs and a run shows it, the rules must not prove it.

    rules: missed    PROVED, though a run leaves its tensor

Generated kernels are right, so a rule that lets everything pass would never be noticed on them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from pypto_verified import simulator
from pypto_verified.compiler import MemoryPlanner, compile_function
from pypto_verified.differential import simulate
from pypto_verified.errors import PtoError
from pypto_verified.fuzz.builder import Kernel
from pypto_verified.fuzz.oracles import Find
from pypto_verified.ir.expr import Expr, Var
from pypto_verified.ir.stmt import Direction, Function
from pypto_verified.ir.types import TensorType
from pypto_verified.ir.walk import map_exprs
from pypto_verified.targets import Target
from pypto_verified.trials import Trial
from verifiers import Options, verify

_FAMILIES = frozenset({"BOUND"})


def examine(kernel: Kernel, chip: Target, trial: Trial, assume: tuple[str, ...]) -> Iterator[Find]:
    """At most one find, on one of the kernel's inputs."""
    names = [p.var.name for p in kernel.function.params if p.direction is Direction.IN and _rows(p.var) > 1]
    if not names:
        return
    name = names[len(kernel.function.body) % len(names)]
    array = trial.values[name]
    assert isinstance(array, np.ndarray)
    function = _shorter(kernel.function, name)
    shorter = replace(trial, values={**trial.values, name: array[:-1].copy()})
    try:
        artifact = compile_function(function, chip, MemoryPlanner(kernel.planner), read_back=False)
    except PtoError:
        return
    program = simulator.compile(artifact.module.funcs[0], chip)
    error = next((e for e in simulate(function, artifact, program, chip, shorter).errors if e.kind == "global bounds"),
                 None)
    if error is None:
        return
    options = Options(assume, families=_FAMILIES, names={function.name: artifact.names})
    if all(o.verdict.value == "PROVED" for r in verify(artifact.module, chip, options) for o in r.obligations):
        cause = f"PROVED though {error.op} leaves its tensor"
        yield Find("rules: missed", cause, f"{name} has a row less: {error}", trial)


def _rows(var: Var) -> int:
    """Rows of a tensor of two dimensions that are known; 0 for anything else."""
    if not isinstance(var.type, TensorType) or len(var.type.shape) != 2:
        return 0
    rows = var.type.shape[0]
    return rows if isinstance(rows, int) else 0


def _shorter(function: Function, name: str) -> Function:
    """The kernel with a row less in one input."""

    def cut(e: Expr) -> Expr:
        return Var(e.name, _less(e.type)) if isinstance(e, Var) and e.name == name else e

    params = tuple(replace(p, var=Var(name, _less(p.var.type))) if p.var.name == name else p for p in function.params)
    return replace(function, params=params, body=map_exprs(function.body, cut))


def _less(type_: object) -> TensorType:
    assert isinstance(type_, TensorType)
    rows, *rest = type_.shape
    assert isinstance(rows, int)
    return replace(type_, shape=(rows - 1, *rest))
