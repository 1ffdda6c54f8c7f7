"""Two meanings of one kernel, run on the same inputs: the interpreter on the IR before and after each pass, the
simulator on the `.pto` that came out. They share no arithmetic, so what they agree on was computed twice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import field
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from pypto_verified import interpreter, simulator
from pypto_verified.compiler import Artifact, MemoryPlanner, compile_function
from pypto_verified.equality import Outputs, coarsest, equal_elements, first_difference, tells
from pypto_verified.errors import NOWHERE, Location, NotModelled
from pypto_verified.interpreter import Pipes, Undefined, interpret
from pypto_verified.ir.expr import Call
from pypto_verified.ir.stmt import Assign, Function
from pypto_verified.ir.types import TensorType
from pypto_verified.openness import OPEN, is_open
from pypto_verified.passes import pipeline
from pypto_verified.pto.types import PtrType
from pypto_verified.records import dataclass
from pypto_verified.simulator.errors import SimError, UnmodelledError
from pypto_verified.simulator.program import Program
from pypto_verified.targets import Target
from pypto_verified.trials import Array, Scalar, Trial, from_memory, in_memory, partner, trials

if TYPE_CHECKING:
    from pypto_verified.interpreter.meaning import Value

__all__ = [
    "Comparison", "Difference", "SIMULATOR", "Simulated", "compare", "compare_passes", "equal_elements", "simulate",
]

MAX_STEPS = 100_000
SIMULATOR = "the simulated .pto"

@dataclass(frozen=True, slots=True)
class Difference:
    """Where two runs on one input part. `stage`: the pass after which the result is another, or SIMULATOR. `op` and
    `where`: the first op whose value is another, if it could be found."""

    function: str
    stage: str
    trial: Trial
    output: str
    element: tuple[int, ...]
    expected: str
    found: str
    op: str = ""
    where: Location = NOWHERE

    def __str__(self) -> str:
        at = f"{self.output}{list(self.element)}" if self.output else "the run"
        op = f" (first at {self.op}, {self.where})" if self.op else ""
        return (f"{self.function}: after {self.stage} {at} is {self.found} instead of {self.expected}{op}"
                f" [{self.trial}]")


@dataclass(slots=True)
class Comparison:
    """The outcome for one function. `agreed`: runs with equal results; `bitwise`: those without an open op; `telling`:
    those that changed an output to more than one value; `undefined`: why inputs have no defined result; `loose`: the
    ops that were allowed a tolerance; `passes`: those that ran."""

    function: str
    target: str
    agreed: int = 0
    bitwise: int = 0
    telling: int = 0
    undefined: list[str] = field(default_factory=list)
    loose: set[str] = field(default_factory=set)
    passes: list[str] = field(default_factory=list)
    difference: Difference | None = None


def compare(
    function: Function, target: Target, runs: int = 8, attempts: int = 64, seed: int = 0,
    given: Mapping[str, int] | None = None, planner: MemoryPlanner = MemoryPlanner.PYPTO,
) -> Comparison:
    """Compile `function` and run every stage of it, and the `.pto`, on `runs` inputs with a defined result (`attempts`
    are tried; `given` fixes sizes and integer scalars).

    Stops at the first difference. Raises what compiling raises, and NotModelled naming what either meaning lacks.
    """
    stages = _Stages(function)
    artifact = compile_function(function, target, planner, on_pass=stages.add)
    program = simulator.compile(artifact.module.funcs[0], target, lone=True)

    def run(trial: Trial, expected: Outputs, loose: set[str]) -> Difference | None:
        return stages.differ(trial, expected) or _simulator_differs(
            function, artifact, program, target, trial, expected, loose
        )

    return compared(
        _comparison(function, target, stages), islice(trials(function, seed, given), attempts),
        lambda trial, loose: _interpreted(function, trial, loose), run, runs, lambda loose: is_open(function, loose),
    )


def compare_passes(
    function: Function, target: Target, runs: int = 8, attempts: int = 64, seed: int = 0,
    given: Mapping[str, int] | None = None,
) -> Comparison:
    """`compare` of the two sides of every pass alone. Raises what the pipeline raises, and NotModelled."""
    stages = _Stages(function)
    pipeline.run(function, target, on_pass=stages.add)
    return compared(
        _comparison(function, target, stages), islice(trials(function, seed, given), attempts),
        lambda trial, loose: _interpreted(function, trial, loose),
        lambda trial, expected, _: stages.differ(trial, expected), runs,
    )


def _comparison(function: Function, target: Target, stages: _Stages) -> Comparison:
    return Comparison(function.name, target.name, passes=[name for name, _ in stages.after])


def compared(
    found: Comparison, inputs: Iterable[Trial], expect: Callable[[Trial, set[str]], Outputs],
    differ: Callable[[Trial, Outputs, set[str]], Difference | None], runs: int,
    left_open: Callable[[set[str]], bool] = lambda loose: False,
) -> Comparison:
    """Take inputs until `runs` of them agree, or the first differs. `expect` gives the defined result (or raises
    Undefined) and adds the ops that are allowed a tolerance; `left_open`: they leave nothing to compare."""
    for trial in inputs:
        loose: set[str] = set()
        try:
            expected = expect(trial, loose)
        except Undefined as error:
            found.undefined.append(str(error))
            continue
        found.difference = differ(trial, expected, loose)
        if found.difference is not None:
            break
        if left_open(loose):
            found.undefined.append(OPEN)
            continue
        found.agreed += 1
        found.bitwise += not loose
        found.telling += tells(trial.values, expected)
        found.loose |= loose
        if found.agreed == runs:
            break
    return found


def _interpreted(function: Function, trial: Trial, loose: set[str] | None = None) -> Outputs:
    pipes = Pipes(partner())
    outputs: dict[str, Array] = interpret(
        function, trial.inputs, block=trial.block, lane=trial.lane, max_steps=MAX_STEPS, loose=loose, pipes=pipes
    )
    return outputs | {f"tile pushed {number}": tile for number, tile in enumerate(pipes.left)}


class _Stages:
    """The function before the pipeline and after each pass."""

    def __init__(self, source: Function) -> None:
        self.source = source
        self.after: list[tuple[str, Function]] = []

    def add(self, name: str, before: Function, after: Function) -> None:
        self.after.append((name, after))

    def differ(self, trial: Trial, expected: Outputs) -> Difference | None:
        """The first pass that changed what the function computes on this input."""
        previous = self.source
        for name, after in self.after:
            if after is previous:
                continue
            try:
                outputs = _interpreted(after, trial)
            except Undefined as error:
                return Difference(after.name, name, trial, "", (), "defined", f"undefined: {error.message}",
                                  "an op", error.location)
            differs = first_difference(expected, outputs, frozenset())
            if differs is not None:
                op, where = _first_op(previous, after, trial)
                return Difference(after.name, name, trial, *differs, op, where)
            previous = after
        return None


def _simulator_differs(
    function: Function, artifact: Artifact, program: Program, target: Target, trial: Trial,
    expected: Outputs, loose: set[str],
) -> Difference | None:
    outcome = simulate(function, artifact, program, target, trial)
    for error in outcome.errors:
        if isinstance(error, UnmodelledError):
            raise NotModelled(f"{error.op or artifact.function}: {error.message} in the simulator", error.location)
    if outcome.errors:
        error = outcome.errors[0]
        return Difference(function.name, SIMULATOR, trial, "", (), "defined", f"{error.kind}: {error.message}",
                          error.op, error.location)
    if is_open(function, loose):
        return None
    differs = first_difference(expected, outcome.outputs, loose, coarsest([function], loose))
    return None if differs is None else Difference(function.name, SIMULATOR, trial, *differs)


@dataclass(frozen=True, slots=True)
class Simulated:
    """A simulator run in the kernel's own names and logical order."""

    outputs: Outputs
    errors: list[SimError]


def simulate(
    function: Function, artifact: Artifact, program: Program, target: Target, trial: Trial
) -> Simulated:
    """Run the compiled text of `function` on a trial's inputs."""
    arrays, scalars = arguments(function, artifact, trial)
    outcome = simulator.execute(
        program, arrays, scalars, block=trial.block, lane=(trial.lane, target.lanes_per_cube), max_steps=MAX_STEPS
    )
    return Simulated(named(function, artifact, trial, outcome.outputs), outcome.errors)


def arguments(function: Function, artifact: Artifact, trial: Trial) -> tuple[dict[str, Array], dict[str, Scalar]]:
    """The arrays and scalars of a trial under the names that the text gives to its arguments."""
    types = {p.var.name: p.var.type for p in function.params}
    arrays: dict[str, Array] = {}
    scalars: dict[str, Scalar] = {}
    for argument, name in artifact.names.items():
        value = trial.values[name] if name in types else trial.sizes[name]
        type_ = types.get(name)
        if isinstance(type_, TensorType) and isinstance(value, np.ndarray):
            arrays[argument] = in_memory(value, type_, trial.sizes)
        elif not isinstance(value, np.ndarray):
            scalars[argument] = value
    for added in artifact.module.funcs[0].args:
        if isinstance(added.type, PtrType) and added.name not in artifact.names:
            arrays[added.name] = np.zeros(0, np.uint8)  # the ring of a pipe, which a lone core does not touch
    return arrays, scalars


def named(function: Function, artifact: Artifact, trial: Trial, outputs: Outputs) -> dict[str, Array]:
    """What a run left, by the kernel's own names and in logical order."""
    types = {p.var.name: p.var.type for p in function.params}
    found: dict[str, Array] = {}
    for argument, array in outputs.items():
        name = artifact.names.get(argument, "")
        type_, given = types.get(name), trial.values.get(name)
        if isinstance(type_, TensorType) and isinstance(given, np.ndarray):
            found[name] = from_memory(array, type_, given.shape, trial.sizes)
    return found


def _first_op(before: Function, after: Function, trial: Trial) -> tuple[str, Location]:
    """The first assignment in the later function whose value differs from what the same name got in the earlier one."""
    known: dict[str, list[Value]] = {}
    interpret(before, trial.inputs, block=trial.block, lane=trial.lane, max_steps=MAX_STEPS, pipes=Pipes(partner()),
              observe=lambda s, value: known.setdefault(s.var.name, []).append(value))
    for stmt, value in _observed(after, trial):
        same_name = known.get(stmt.var.name)
        if same_name and not _same_value(same_name.pop(0), value):
            op = stmt.value.op if isinstance(stmt.value, Call) else stmt.var.name
            return op, stmt.span.location
    return "", NOWHERE


def _observed(function: Function, trial: Trial) -> Iterator[tuple[Assign, Value]]:
    seen: list[tuple[Assign, Value]] = []
    interpret(function, trial.inputs, block=trial.block, lane=trial.lane, max_steps=MAX_STEPS, pipes=Pipes(partner()),
              observe=lambda s, value: seen.append((s, value)))
    yield from seen


def _same_value(a: Value, b: Value) -> bool:
    if isinstance(a, interpreter.Tile) and isinstance(b, interpreter.Tile):
        if a.data.size != b.data.size or int(np.prod(a.valid)) != int(np.prod(b.valid)):
            return False
        x, y = a.data.reshape(-1), b.data.reshape(-1)
        known = ~(a.poison.reshape(-1) | b.poison.reshape(-1))
        return bool(np.all((x == y) | (np.isnan(x) & np.isnan(y)) | ~known))
    return True if isinstance(a, interpreter.Tensor) or isinstance(b, interpreter.Tensor) else a == b
