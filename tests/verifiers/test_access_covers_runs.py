"""The access program is honest: whatever bytes a simulated run touches, the symbolic access of that op covers.

Derivation: the simulator logs the bytes of every access; the symbolic rectangles are evaluated for the run's dims and
for every value that the loop counters can take, and must contain them, reads within reads and writes within writes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from pypto_verified import simulator
from pypto_verified.compiler import compile_function
from pypto_verified.index import Expr, evaluate, symbols_of
from pypto_verified.ir.expr import Var
from pypto_verified.ir.stmt import Function
from pypto_verified.ir.types import ScalarType, TensorType
from pypto_verified.language import load_file
from pypto_verified.layouts import Space
from pypto_verified.pto.module import Op
from pypto_verified.simulator.memory import Access
from pypto_verified.targets import target
from verifiers.access import build_program
from verifiers.access.program import AccessProgram, Operand, Step, TileUse, Window
from verifiers.access.symbols import SymbolKind

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.py"))
TRIPS = range(16)
"""No example runs a loop more often, with these dims."""
DIMS = {"M": 37}
Env = Mapping[str, int]


def _touched(access: Access) -> set[int]:
    """Every byte of one logged access."""
    steps = np.zeros((), dtype=np.int64)
    for extent, stride in zip(access.shape, access.strides, strict=True):
        steps = np.add.outer(steps, np.arange(extent, dtype=np.int64) * stride)
    starts = access.start + steps.ravel()
    return set(np.add.outer(starts, np.arange(access.itemsize)).ravel().tolist())


def _assignments(program: AccessProgram, exprs: list[Expr], env: Env) -> Iterator[dict[str, int]]:
    """The run's values, and every small value of the loop counters that the expressions use."""
    used = symbols_of(*exprs)
    counters = [n for n in used if program.symbols.kinds.get(n) is SymbolKind.TRIP]
    for values in product(TRIPS, repeat=len(counters)):
        yield {**env, **dict(zip(counters, values, strict=True))}


def _tile_bytes(program: AccessProgram, tile: TileUse, env: Env) -> set[int]:
    assert tile.root.address is not None
    start = tile.root.address + tile.rect.base
    found: set[int] = set()
    for assignment in _assignments(program, [start], env):
        first = evaluate(start, assignment)
        for row in range(tile.rect.rows):
            at = first + row * tile.rect.pitch
            found.update(range(at, at + tile.rect.row_bytes))
    return found


def _window_bytes(program: AccessProgram, window: Window, env: Env) -> set[int]:
    outer, view, size = window, window.view, window.view.dtype.bytes
    assert outer.parent is None, "these kernels cut windows from tensors"
    found: set[int] = set()
    exprs = [view.offset, *view.strides, *outer.offsets, *outer.sizes]
    for assignment in _assignments(program, exprs, env):
        base = evaluate(view.offset, assignment)
        axes = [
            [(evaluate(o, assignment) + i) * evaluate(s, assignment) for i in range(max(0, evaluate(n, assignment)))]
            for o, n, s in zip(outer.offsets, outer.sizes, view.strides, strict=True)]
        for place in product(*axes):
            at = (base + sum(place)) * size
            found.update(range(at, at + size))
    return found


def _allowed(program: AccessProgram, step: Step, writes: bool, space: Space, env: Env) -> set[int]:
    groups = {g for p in step.phases for g in (p.writes if writes else p.reads)}
    operands: list[Operand] = [o for g in groups for o in step.operands.get(g, ())]
    found: set[int] = set()
    for o in operands:
        if isinstance(o, TileUse) and o.type.loc is space:
            found |= _tile_bytes(program, o, env)
        elif isinstance(o, Window) and space is Space.GM:
            found |= _window_bytes(program, o, env)
    return found


def _arguments(function: Function) -> tuple[dict[str, np.ndarray[tuple[int, ...], np.dtype[np.generic]]], Env]:
    """An array for each tensor and a value for each dynamic dim, in the generated function's argument names."""
    from pypto_verified.interpreter.numbers import storage

    tensors = [p for p in function.params if isinstance(p.var.type, TensorType)]
    scalars = [p for p in function.params if isinstance(p.var.type, ScalarType)]
    assert not scalars, "the examples have no scalar parameters"
    arrays, env = {}, {}
    for k, param in enumerate(tensors):
        type_ = param.var.type
        assert isinstance(type_, TensorType)
        shape = [d if isinstance(d, int) else DIMS[d.name] if isinstance(d, Var) else 0 for d in type_.shape]
        arrays[f"arg{k}"] = np.ones(shape, dtype=storage(type_.dtype))
    for k, dim in enumerate(function.dynamic):
        env[f"arg{len(tensors) + k}"] = DIMS[dim]
    return arrays, env


@pytest.mark.parametrize("arch", ["a2a3", "a5"])
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda p: p.stem)
def test_a_run_stays_inside_the_access_program(path: Path, arch: str) -> None:
    chip = target(arch)
    function = load_file(path).programs[0].functions[0]
    (func,) = compile_function(function, chip).module.funcs
    program = build_program(func, "", arch)
    arrays, env = _arguments(function)
    steps = {id(s.op): s for s in program.steps}
    checked = 0

    def check(op: Op, accesses: list[Access]) -> None:
        nonlocal checked
        for access in accesses:
            beyond = _touched(access) - _allowed(program, steps[id(op)], access.writes, access.space, env)
            assert not beyond, f"{op.name} {'writes' if access.writes else 'reads'} {access.space} {min(beyond)}"
            checked += 1

    outcome = simulator.run(func, arrays, env, chip, trace=check)
    assert not outcome.errors
    assert checked > 2
