"""Running a kernel under a schedule."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from pypto_verified.errors import InputError
from pypto_verified.pto.module import Func, Module, Op
from pypto_verified.pto.op_pipes import op_pipes
from pypto_verified.pto.types import ScalarType
from pypto_verified.records import dataclass
from pypto_verified.simulator.contents import ANY, Contents
from pypto_verified.simulator.errors import SimError
from pypto_verified.simulator.replay import inputs_of, scalar_of, shape_operands
from pypto_verified.simulator.run import LAUNCH_ARGUMENTS, MAX_STEPS, Given
from pypto_verified.simulator.schedule import across, cross, engine, fifo, flags
from pypto_verified.simulator.schedule.core import Core
from pypto_verified.simulator.schedule.explore import explore
from pypto_verified.simulator.schedule.issuers import ISSUERS
from pypto_verified.simulator.schedule.launch import Group, Memory, bind, chosen, make_code, own_rings, rings
from pypto_verified.simulator.schedule.outcome import Outcome, first_difference
from pypto_verified.simulator.schedule.world import World
from pypto_verified.simulator.values import Array, Scalar
from pypto_verified.targets import Target

MAX_RUNS = 1000
"""Runs of an exhaustive search before it is cut."""


@dataclass(frozen=True, slots=True)
class Launch:
    """How a kernel is run. `blocks`: how many blocks, None for one block of a launch that is not known; `first`: the
    index of the first one, `indices`: those of all, if they do not follow each other; `lanes`: vector cores a block
    (default: those of a cluster where a cube runs with them, else one); `lane`: the index of the first one; `chip`:
    cube cores of the chip, which a hard barrier waits for (default: the target's, or no more than there are if `blocks`
    is None); `strict`: the stricter reading of each fact; `pipes`: assumption -> pipe, for ops whose pipe the sources
    differ on; `max_steps`: jumps, that is turns of loops; `max_runs`: of an exhaustive search; `trace`: keep what ran,
    in order; `apart`: the slots of each pipe, and of each of its directions, lie in memory of their own; `held`: lines
    of the text whose ops run when nothing else can, in an order that is otherwise that of the program (`schedule` is
    then `program`)."""

    schedule: str = "program"
    seed: int = 0
    blocks: int | None = None
    first: int = 0
    indices: tuple[int, ...] = ()
    count: int | None = None
    lanes: int | None = None
    lane: int = 0
    chip: int | None = None
    strict: bool = False
    pipes: Mapping[str, str] | None = None
    max_steps: int = MAX_STEPS
    max_runs: int = MAX_RUNS
    trace: bool = False
    apart: bool = False
    held: frozenset[int] = frozenset()


def run(
    kernel: Module | Func, target: Target, inputs: Given[Array], scalars: Given[Scalar] | None = None, *,
    function: str = "", schedule: str = "program", seed: int = 0, blocks: int | None = None, lanes: int | None = None,
    chip: int | None = None, strict: bool = False, pipes: Mapping[str, str] | None = None,
    max_steps: int = MAX_STEPS, max_runs: int = MAX_RUNS, trace: bool = False,
) -> Outcome:
    """Run a kernel: a function alone, or the functions of a module that run together (`function` names one of them).

    `inputs`: an array for each pointer argument, by name or position, copied; `scalars`: a number for each other one.
    See Launch for the rest. InputError for a missing argument or an unknown schedule.
    """
    launch = Launch(
        schedule, seed, blocks, lanes=lanes, chip=chip, strict=strict, pipes=pipes, max_steps=max_steps,
        max_runs=max_runs, trace=trace)
    group, functions = _group(kernel, function)
    return launched(group, functions, target, inputs, scalars if scalars is not None else {}, launch)


@dataclass(frozen=True, slots=True)
class Contrast:
    """Two runs on the same inputs that end in different outputs: the first element that differs, by schedule."""

    schedules: tuple[str, str]
    outcomes: tuple[Outcome, Outcome]
    argument: str
    element: int
    values: tuple[str, str]

    def __str__(self) -> str:
        (one, other), (a, b) = self.schedules, self.values
        return f"%{self.argument} element {self.element} is {a} under schedule {one} and {b} under schedule {other}"


CONTRASTED = (("late", 0), ("eager", 0), *(("random", seed) for seed in range(8)))
"""Schedules that are held against program order, with their seeds."""


def contrast(
    kernel: Module | Func, function: str, witness: Mapping[str, int], target: Target, seed: int = 0, *,
    strict: bool = False, max_steps: int = MAX_STEPS,
) -> Contrast | None:
    """Two schedules that end in different outputs on the inputs of a witness (see `replay`), if program order and one
    of CONTRASTED do. A run that a fault or a deadlock ended is not compared."""
    group, functions = _group(kernel, function)
    inputs, scalars = _witnessed(group, witness, seed, ANY)
    first: Outcome | None = None
    for schedule, own in (("program", 0), *CONTRASTED):
        launch = _at(witness, Launch(schedule, own, strict=strict, max_steps=max_steps, trace=True))
        outcome = launched(group, functions, target, inputs, scalars, launch)
        if outcome.stopped or outcome.deadlock is not None:
            if first is None:
                return None
            continue
        first = first or outcome
        found = first_difference(first, outcome)
        if found is not None:
            named = schedule if schedule != "random" else f"random --seed {own}"
            return Contrast(
                ("program", named), (first, outcome), found.argument, found.element, (found.one, found.other))
    return None


def _group(kernel: Module | Func, function: str) -> tuple[Group, dict[str, Func]]:
    if isinstance(kernel, Func):
        callees = kernel.unit.funcs if kernel.unit is not None else [kernel]
        return chosen(Module([kernel]), kernel.name), {f.name: f for f in callees}
    units = [u for u in kernel.units() if any(f.body is not None for f in u.funcs)]
    for unit in units:
        if len(units) == 1 or function in (f.name for f in unit.funcs):
            return chosen(unit, function), {f.name: f for f in unit.funcs}
    if not units:
        raise InputError("this file has no function with a body", help="give a file with a kernel")
    raise InputError("which kernel? this file has several modules", help="name one of its functions")


def launched(
    group: Group, functions: Mapping[str, Func], target: Target, inputs: Given[Array], scalars: Given[Scalar],
    launch: Launch, names: Mapping[str, Mapping[str, str]] | None = None,
) -> Outcome:
    """Run a group as `launch` says. `names`: what inputs and scalars call the arguments of each function, where that is
    not what the text calls them."""
    if launch.schedule not in engine.SCHEDULES:
        raise InputError(f"no schedule {launch.schedule}; there are: {', '.join(engine.SCHEDULES)}")
    prepared = Prepared(group, functions, target, launch, names or {})
    if launch.schedule == "exhaustive":
        return explore(lambda: prepared.world(inputs, scalars), finish, launch.max_runs)
    try:
        world, memory = prepared.world(inputs, scalars)
    except SimError as error:
        return Outcome(errors=[error], stopped=True)
    with np.errstate(all="ignore"):
        engine.run(world, engine.policy(launch.schedule, launch.seed, launch.held))
    return finish(world, memory)


class Prepared:
    """A group compiled for the cores of a launch, to be run more than once."""

    def __init__(
        self, group: Group, functions: Mapping[str, Func], target: Target, launch: Launch,
        names: Mapping[str, Mapping[str, str]],
    ) -> None:
        readings = launch.pipes or {}

        def pipe_of(op: Op, own: str) -> str:
            named, assumption = op_pipes(op, target.name) if readings else ((), "")
            asked = readings.get(assumption, own)
            return asked if asked in named else own

        self.group = group
        self.target = target
        self.launch = launch
        self.names = names
        self._rings = {f.name: own_rings(f) for f in group.functions}
        self.blocks = launch.blocks or 1
        self.lanes = launch.lanes or (target.lanes_per_cube if group.mixed else 1)
        self.codes = make_code(group, functions, target, self.blocks, self.lanes, pipe_of)

    def world(self, inputs: Given[Array], scalars: Given[Scalar]) -> tuple[World, Memory]:
        """The cores before their first op, and their tensors. SimError, InputError for arguments that do not fit."""
        launch, target = self.launch, self.target
        memory = Memory(inputs, self.names, self._rings)
        chip = launch.chip if launch.chip is not None else target.cubes if launch.blocks is not None else 0
        world = World(
            target, len(self.codes), blocks=self.blocks, lanes=self.lanes, chip=chip, strict=launch.strict,
            ordering=launch.schedule != "cpu", max_steps=launch.max_steps, tracing=launch.trace, issuers=ISSUERS,
            compute=across.issue_op, closing=fifo.drain, apart=launch.apart,
        )
        count = launch.count if launch.count is not None else launch.first + self.blocks
        for index, (code, block, lane) in enumerate(self.codes):
            own = launch.indices[block] if launch.indices else launch.first + block
            place, own_lane = (own, count), launch.lane if self.lanes == 1 else lane
            env = bind(code, memory, scalars, place, own_lane)
            code.machine.log = world.log
            code.machine.lone = len(self.codes) == 1
            code.machine.start(place, (own_lane, target.lanes_per_cube), lambda op, found: None, False)
            world.cores.append(Core(world, index, code, own, lane, env))
        for buffer in memory.buffers():
            buffer.log = world.log
        return world, memory


def finish(world: World, memory: Memory) -> Outcome:
    """The outcome of a run, with what is left when all has run."""
    outcome = world.outcome
    world.checks.close()
    if not outcome.stopped and outcome.deadlock is None:
        for core in world.cores:
            flags.left_set(core)
            fifo.left_over(core)
        cross.left_set(world)
    outcome.outputs, outcome.written = memory.outputs(), memory.written()
    return outcome


def replay(
    kernel: Module | Func, function: str, witness: Mapping[str, int], target: Target, *, schedule: str = "program",
    seed: int = 0, strict: bool = False, pipes: Mapping[str, str] | None = None, max_steps: int = MAX_STEPS,
    max_runs: int = MAX_RUNS, contents: Contents = ANY, trace: bool = False, apart: bool = False,
    held: frozenset[int] = frozenset(), blocks: tuple[int, ...] = (),
) -> Outcome:
    """Run a kernel under a schedule on the numbers of a witness (see `simulator.replay`): tensors as large as its views
    say, of some `contents`; `block_idx`, `block_num` and `subblock_idx` name the block and lane; with `blocks` those of
    a launch run, by their indices, on a chip that they fill. `apart`, `held`: see Launch."""
    group, functions = _group(kernel, function)
    try:
        inputs, scalars = _witnessed(group, witness, seed, contents)
    except SimError as error:
        return Outcome(errors=[error], stopped=True)
    launch = Launch(
        schedule, seed, strict=strict, pipes=pipes, max_steps=max_steps, max_runs=max_runs, trace=trace, apart=apart,
        held=held)
    if blocks:
        cubes = len(blocks) if group.cube is not None else -(-len(blocks) // target.lanes_per_cube)
        count = max(*blocks, witness.get("block_num", 0) - 1) + 1
        launch = replace(launch, blocks=len(blocks), indices=blocks, chip=cubes, count=count)
    else:
        launch = _at(witness, launch)
    return launched(group, functions, target, inputs, scalars, launch)


def _witnessed(
    group: Group, witness: Mapping[str, int], seed: int, contents: Contents
) -> tuple[dict[str, Array], dict[str, Scalar]]:
    """Tensors and numbers for the arguments of a group. SimError for tensors that can't be made."""
    inputs: dict[str, Array] = {}
    scalars: dict[str, Scalar] = {}
    for func in group.functions:
        shapes = shape_operands(func)
        own = {a.name: scalar_of(a, witness, a in shapes, contents) for a in func.args
               if isinstance(a.type, ScalarType) and a.name not in LAUNCH_ARGUMENTS}
        scalars |= own
        unused = rings(func) if group.mixed else set[str]()
        for name, array in inputs_of(func, own, seed, contents).items():
            if name not in unused and (name not in inputs or array.size > inputs[name].size):
                inputs[name] = array
    return inputs, scalars


def _at(witness: Mapping[str, int], launch: Launch) -> Launch:
    """The launch of the block and lane that a witness names."""
    block = witness.get("block_idx", 0)
    return replace(
        launch, first=block, count=witness.get("block_num", block + 1), lane=witness.get("subblock_idx", 0))
