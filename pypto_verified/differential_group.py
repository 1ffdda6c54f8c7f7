"""Two meanings of a cube and its vector cores together: the interpreter runs one core after the other and hands the
tiles over, the simulator runs them at once under a schedule, with the flags that the text needs.

Where tiles cross in both directions one core after the other does not do: NotModelled.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import islice

import numpy as np

from pypto_verified.compiler import Artifact, compile_function
from pypto_verified.differential import MAX_STEPS, SIMULATOR, Comparison, Difference, compared
from pypto_verified.dtypes import DType
from pypto_verified.equality import Outputs, coarsest, first_difference
from pypto_verified.errors import NotModelled
from pypto_verified.interpreter import Pipes, interpret
from pypto_verified.ir.stmt import Function
from pypto_verified.ir.types import TensorType
from pypto_verified.ir.walk import calls
from pypto_verified.openness import is_open
from pypto_verified.pto.module import Module
from pypto_verified.records import dataclass
from pypto_verified.simulator.errors import UnmodelledError
from pypto_verified.simulator.schedule.launch import chosen
from pypto_verified.simulator.schedule.runs import Launch, launched
from pypto_verified.sync import insert_sync
from pypto_verified.targets import Target
from pypto_verified.trials import Array, Scalar, Trial, from_memory, in_memory, trials

_PUSHES = {"tile.tpush_to_aiv": "cube", "tile.tpush_to_aic": "vector"}
SCHEDULES = ("program", "late", "random")


@dataclass(frozen=True, slots=True)
class Group:
    """The function of the cube and that of its vector cores, of which `lanes` run."""

    cube: Function
    vector: Function
    lanes: tuple[int, ...]

    @property
    def merged(self) -> Function:
        """A function with the parameters of both: parameters of one name are one tensor."""
        known = {p.var.name for p in self.cube.params}
        params = (*self.cube.params, *(p for p in self.vector.params if p.var.name not in known))
        sizes = dict.fromkeys((*self.cube.dynamic, *self.vector.dynamic))
        return replace(self.cube, params=params, dynamic=tuple(sizes))


def compare_group(
    functions: Sequence[Function], target: Target, runs: int = 4, attempts: int = 32, seed: int = 0,
    given: Mapping[str, int] | None = None,
) -> Comparison:
    """Compare the two functions of a kernel that a pipe joins, on `runs` inputs with a defined result, each under every
    one of SCHEDULES. Parameters of one name are one tensor.

    Stops at the first difference; a race or a deadlock is one. Raises what compiling raises, and NotModelled naming
    what either meaning lacks.
    """
    artifacts = [compile_function(f, target) for f in functions]
    module = insert_sync(Module([f for a in artifacts for f in a.module.funcs]), target)
    kernel = chosen(module, functions[0].name)
    if kernel.cube is None or kernel.vector is None:
        raise NotModelled(f"{functions[0].name} alone: no function shares a pipe with it")
    by_name = {f.name: f for f in functions}
    group = Group(by_name[kernel.cube.name], by_name[kernel.vector.name], _lanes(by_name[kernel.vector.name], target))

    def differ(trial: Trial, expected: Outputs, loose: set[str]) -> Difference | None:
        found = (_differs(group, artifacts, module, target, trial, expected, loose, s) for s in SCHEDULES)
        return next((d for d in found if d is not None), None)

    return compared(
        Comparison(group.cube.name, target.name), islice(trials(group.merged, seed, given), attempts),
        lambda trial, loose: interpreted(group, trial, loose), differ, runs,
        lambda loose: is_open(group.cube, loose, group.vector),
    )


def _lanes(vector: Function, target: Target) -> tuple[int, ...]:
    """The lanes that run: of unsplit tiles on the chip the first one alone (PTOAS)."""
    ends = ("tile.tpush", "tile.tpop")
    splits = [call.kwarg("split", 0) for call in calls(vector.body) if call.op.startswith(ends)]
    return (0,) if target.on_chip_pipe and not any(splits) else tuple(range(target.lanes_per_cube))


def interpreted(group: Group, trial: Trial, loose: set[str]) -> Outputs:
    """The tensors after the producer and then the consumer have run. Raises Undefined, NotModelled."""
    used = {_PUSHES[c.op] for f in (group.cube, group.vector) for c in calls(f.body) if c.op in _PUSHES}
    if used == set(_PUSHES.values()):
        raise NotModelled("tiles that cross in both directions, with one core after the other")
    values = dict(trial.inputs)
    sent: dict[int, list[Array]] = {}
    cores = [("cube", group.cube, (0,)), ("vector", group.vector, group.lanes)]
    for kind, function, lanes in cores if used == {"cube"} else reversed(cores):
        for lane in lanes:
            arrive = _from_cube(sent.get(0, []), lane) if kind == "vector" else _from_lanes(sent)
            pipes = Pipes(arrive)
            values |= interpret(
                function, values, block=trial.block, lane=lane, max_steps=MAX_STEPS, loose=loose, pipes=pipes)
            if kind in used:
                sent[lane] = list(pipes.left)
    return {name: v for name, v in values.items() if isinstance(v, np.ndarray)}


def _from_cube(sent: Sequence[Array], lane: int) -> Callable[[tuple[int, ...], DType], Array]:
    """The lane's part of each tile of a cube: the whole of it, or the first or the last rows or columns."""
    waiting = list(sent)

    def arrive(extents: tuple[int, ...], dtype: DType) -> Array:
        whole = waiting.pop(0)
        begin = [0 if lane == 0 else n - m for n, m in zip(whole.shape, extents, strict=True)]
        return whole[tuple(slice(b, b + m) for b, m in zip(begin, extents, strict=True))]

    return arrive


def _from_lanes(sent: Mapping[int, Sequence[Array]]) -> Callable[[tuple[int, ...], DType], Array]:
    """The tile that the parts of the lanes make."""
    waiting = {lane: list(tiles) for lane, tiles in sent.items()}

    def arrive(extents: tuple[int, ...], dtype: DType) -> Array:
        parts = [waiting[lane].pop(0) for lane in sorted(waiting)]
        if parts[0].shape == extents:
            return parts[0]
        return np.concatenate(parts, axis=0 if sum(p.shape[0] for p in parts) == extents[0] else 1)

    return arrive


def _differs(
    group: Group, artifacts: Sequence[Artifact], module: Module, target: Target, trial: Trial, expected: Outputs,
    loose: set[str], schedule: str,
) -> Difference | None:
    """The first difference of a run under a schedule, if there is one."""
    types = {p.var.name: p.var.type for p in group.merged.params}
    arrays: dict[str, Array] = {}
    scalars: dict[str, Scalar] = dict(trial.sizes)
    for name, value in trial.values.items():
        type_ = types[name]
        if isinstance(type_, TensorType) and isinstance(value, np.ndarray):
            arrays[name] = in_memory(value, type_, trial.sizes)
        elif not isinstance(value, np.ndarray):
            scalars[name] = value
    outcome = launched(
        chosen(module, group.cube.name), {f.name: f for f in module.funcs}, target, arrays, scalars,
        Launch(schedule, max_steps=MAX_STEPS), {a.module.funcs[0].name: a.names for a in artifacts})
    stage = f"{SIMULATOR} under schedule {schedule}"
    for error in outcome.errors:
        if isinstance(error, UnmodelledError):
            raise NotModelled(f"{error.op}: {error.message} in the simulator", error.location)
        return Difference(group.cube.name, stage, trial, "", (), "defined", f"{error.kind}: {error.message}", error.op,
                          error.location)
    wrong = [*outcome.races, *([outcome.deadlock] if outcome.deadlock is not None else [])]
    if wrong:
        return Difference(group.cube.name, stage, trial, "", (), "ordered", str(wrong[0]))
    if is_open(group.cube, loose, group.vector):
        return None
    found: dict[str, Array] = {}
    for name, array in outcome.outputs.items():
        type_, value = types[name], trial.values[name]
        if isinstance(type_, TensorType) and isinstance(value, np.ndarray):
            found[name] = from_memory(array, type_, value.shape, trial.sizes)
    differs = first_difference(expected, found, loose, coarsest([group.cube, group.vector], loose))
    return None if differs is None else Difference(group.cube.name, stage, trial, *differs)
