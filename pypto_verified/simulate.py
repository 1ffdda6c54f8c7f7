"""`pypto-verify simulate`: one run of a kernel or of a `.pto` function on inputs that the user names."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np

from pypto_verified import simulator
from pypto_verified.errors import InputError, NotModelled
from pypto_verified.given import of_numpy
from pypto_verified.layouts import Space
from pypto_verified.pto.module import Module, Op
from pypto_verified.pto.types import PtrType
from pypto_verified.pto.walk import walk_ops
from pypto_verified.records import dataclass
from pypto_verified.request import (
    Request,
    Simulation,
    arrays_of,
    by_argument,
    group_of,
    launch_of,
    logical,
    program_of,
    scalars_of,
    sizes_of,
)
from pypto_verified.simulator.memory import Access
from pypto_verified.simulator.program import ORDERING
from pypto_verified.simulator.schedule.launch import chosen, rings
from pypto_verified.simulator.schedule.outcome import Outcome, first_difference
from pypto_verified.simulator.schedule.runs import Launch, launched
from pypto_verified.simulator.tile import Tile
from pypto_verified.sync import insert_sync
from pypto_verified.targets import Target
from pypto_verified.tile_table import table
from pypto_verified.trials import Array

_OVERRUN = ("on a5 a pipe hands out one period of credits before anything is read (PTO-ISA npu/a5 TPush.hpp): its "
            "producer can overrun slots that are in use")
_OF_PIPES = ORDERING - {"pto.set_ffts", "pto.fence.barrier_all", "pto.cmo.cacheinvalid"}
"""Ops that order the pipes of a core: fences, and what flags between cores need, leave that to the assembler."""

__all__ = ["Request", "Simulation", "save", "simulate"]


def simulate(request: Request, show: Callable[[str], None]) -> Simulation:
    """Run as requested; the trace and the dumps go to `show`, line by line.

    InputError: a file, function, name or value that does not exist or does not fit. Raises what compiling raises.
    """
    if request.held and request.schedule != "program":
        instead = f", not {request.schedule}" if request.schedule else ""
        raise InputError(f"--hold changes the order of the program: take --schedule program{instead}")
    return _scheduled(request, show) if request.schedule else _alone(request, show)


def _alone(request: Request, show: Callable[[str], None]) -> Simulation:
    """One core, its ops in the order of the program."""
    program = program_of(request)
    (kernel,), chip = program.kernels, program.target
    launch = launch_of(request.sets, chip.lanes_per_cube)
    notes: list[str] = []
    scalars = scalars_of(program.kernels, request, notes)
    arrays = arrays_of(program.kernels, request, scalars, notes)
    names = {a.name: kernel.name(a) for a in kernel.func.args}
    given: dict[str, Array] = {
        # a ring of a pipe has no author: a lone core does not touch it
        a.name: arrays[names[a.name]] if names[a.name] in arrays else np.zeros(0, np.uint8)
        for a in kernel.func.args if isinstance(a.type, PtrType)
    }
    watched = _Shown(request, show, names)
    lone = any(op.name.startswith(("pto.tpop_", "pto.tpush_")) for op in walk_ops(kernel.func))
    if lone:
        notes.append("the other core of the pipe is absent: what is popped is arbitrary, what is pushed is dropped")
    compiled = simulator.compile(kernel.func, chip, lone=lone, watch=watched.tiles if request.dumps else None)
    numbers, lane = by_argument(kernel, scalars), (launch["subblock_idx"], chip.lanes_per_cube)
    trace = watched.accesses if request.trace else None
    if request.blocks is not None:
        outcome = simulator.run_grid(compiled, given, numbers, request.blocks, lane=lane, trace=trace)
    else:
        block = launch["block_idx"], max(launch["block_num"], launch["block_idx"] + 1)
        outcome = simulator.execute(compiled, given, numbers, block=block, lane=lane, trace=trace)
    if request.dumps and not watched.shown:
        notes.append(f"no op that writes a tile stands at line {', '.join(map(str, request.dumps))}")
    sizes = sizes_of(scalars)
    outputs = {
        names[name]: logical(program.kernels, names[name], left, sizes)
        for name, left in outcome.outputs.items() if names[name] in arrays
    }
    written = frozenset(names[n] for n, buffer in compiled.buffers.items() if buffer.written) & set(outputs)
    return Simulation(kernel.func.name, outputs, written, outcome.errors, tuple(notes))


def _scheduled(request: Request, show: Callable[[str], None]) -> Simulation:
    """All cores of the kernel under a schedule."""
    if request.dumps:
        raise InputError("--dump shows tiles in the order of the program: leave --schedule out")
    program = group_of(request)
    notes: list[str] = list(program.left_out)
    module = program.module if request.explicit else _ordered(program.module, program.target, notes)
    group = chosen(module, request.function)
    names = {f.name for f in group.functions}
    kernels = [k for k in program.kernels if k.func.name in names]
    launch = launch_of(request.sets, program.target.lanes_per_cube)
    scalars = scalars_of(kernels, request, notes)
    free = [{k.name(a) for a in k.func.args if a.name in rings(k.func)} for k in kernels]
    used = {k.name(a) for k in kernels for a in k.func.args if a.name not in rings(k.func)}
    arrays = arrays_of(kernels, request, scalars, notes, frozenset(set[str]().union(*free) - used))
    if not group.mixed and any(
        op.name.startswith(("pto.tpop_", "pto.tpush_")) for op in walk_ops(kernels[0].func)
    ):
        notes.append("the other core of the pipe is absent: what is popped is arbitrary, what is pushed is dropped")
    first = launch["block_idx"]
    outcome = launched(
        group, {f.name: f for f in module.funcs}, program.target, arrays, scalars,
        Launch(request.schedule, request.seed, request.blocks, first,
               count=max(launch["block_num"], first + 1) if request.blocks is None else None,
               lane=launch["subblock_idx"], chip=request.cores, trace=request.trace,
               held=_held(module, request.held)),
        {k.func.name: k.names for k in kernels},
    )
    for run in (outcome, outcome.other) if request.trace else ():
        if run is outcome.other is not None:
            show("the other schedule:")
        for ran in run.trace if run is not None else ():
            show(f"{ran.at.core} {ran.at.pipe}  {_place(ran.at.op)}  {ran.at.op.name}")
    if request.schedule == "exhaustive":
        notes.append(f"runs that differ in the order of conflicting accesses: {outcome.runs}"
                     + (", and there are more" if outcome.cut else ""))
    if program.target.on_chip_pipe and any("tpush" in r.first.op.name + r.second.op.name for r in outcome.races):
        notes.append(_OVERRUN)
    findings = [*map(str, outcome.races), *map(str, outcome.unseen)]
    findings += [str(outcome.deadlock)] if outcome.deadlock is not None else []
    findings += [_contrasted(outcome, outcome.other)] if outcome.other is not None else []
    sizes = sizes_of(scalars)
    outputs = {name: logical(kernels, name, left, sizes) for name, left in outcome.outputs.items()}
    written = outcome.written & set(outputs)
    return Simulation(group.name, outputs, written, outcome.errors, tuple(notes), tuple(findings))


def _held(module: Module, lines: tuple[int, ...]) -> frozenset[int]:
    """Lines of the text, for lines of the kernel. InputError where no op stands."""
    ops = [op for func in module.funcs for op in walk_ops(func)]
    for line in lines:
        if all(_line(op) != line for op in ops):
            raise InputError(f"--hold {line}: no op stands at this line")
    return frozenset(op.line for op in ops if _line(op) in lines)


def _contrasted(one: Outcome, other: Outcome) -> str:
    """What two runs of an exhaustive search leave differently."""
    found = first_difference(one, other)
    differing = f": element {found.element} of {found.argument} is {found.one} or {found.other}" if found else ""
    return f"two schedules end in different outputs{differing} (--trace prints both)"


def save(simulation: Simulation, directory: Path) -> list[Path]:
    """Write each tensor after the run as `NAME.npy` (bfloat16 and 8-bit floats as f32 numbers). OSError where that
    fails."""
    directory.mkdir(parents=True, exist_ok=True)
    written = []
    for name, tensor in simulation.outputs.items():
        path = directory / f"{name}.npy"
        np.save(path, tensor if of_numpy(tensor.dtype) else tensor.astype(np.float32))
        written.append(path)
    return written


def _ordered(module: Module, chip: Target, notes: list[str]) -> Module:
    """A text without any flag or barrier is left to the assembler: with those that it needs. One that can't be followed
    stays as it is."""
    if any(op.name in _OF_PIPES for func in module.funcs for op in walk_ops(func)):
        return module
    try:
        made = insert_sync(module, chip)
    except NotModelled as error:
        notes.append(f"the text has no flags, and where they belong is not known: {error}")
        return module
    if any(op.name in _OF_PIPES for func in made.funcs for op in walk_ops(func)):
        notes.append("the text has no flags, which leaves them to the assembler: run with those that it needs "
                     "(--sync explicit: as it stands)")
    return made


@dataclass(slots=True)
class _Shown:
    """Writes the trace and the dumps while the run goes on."""

    request: Request
    show: Callable[[str], None]
    names: Mapping[str, str]
    shown: bool = False

    def accesses(self, op: Op, found: list[Access]) -> None:
        reads = ", ".join(self._range(a) for a in found if not a.writes)
        writes = ", ".join(self._range(a) for a in found if a.writes)
        self.show(f"{_place(op)}  {op.name}  {reads or 'nothing'} -> {writes or 'nothing'}")

    def tiles(self, op: Op, written: list[Tile]) -> None:
        if _line(op) not in self.request.dumps or op.name == "pto.alloc_tile":
            return
        for tile in written:
            self.shown = True
            self.show(f"{_place(op)}  {op.name}")
            self.show(table(tile))

    def _range(self, a: Access) -> str:
        """The bytes of an access, first to last; a tensor by the author's name."""
        last = a.start + sum((n - 1) * s for n, s in zip(a.shape, a.strides, strict=True)) + a.itemsize - 1
        owner = self.names.get(a.owner, a.owner) if a.space is Space.GM else f"%{a.owner}"
        return f"{a.space.value} {owner} {a.start}..{last}"


def _line(op: Op) -> int:
    """The line that the user knows."""
    return op.loc.line if op.loc.file else op.line


def _place(op: Op) -> str:
    return str(op.loc) if op.loc.file else f"line {op.line}"
