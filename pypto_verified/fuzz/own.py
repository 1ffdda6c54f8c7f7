"""Campaigns on a kernel of one's own: its sizes at their boundaries, its inputs of every kind.

    @pypto_verified.fuzz("kernels/rmsnorm.py")
    def test_rmsnorm(run: Run) -> None:
        x = run.inputs["x"]
        assert numpy.allclose(run.outputs["out"], x / numpy.sqrt((x * x).mean(axis=1, keepdims=True) + 1e-6))

The decorated function is a test without arguments (a method: with `self` alone). Before it sees a run, the
interpreter, the simulator and the rules have agreed on it.
"""

from __future__ import annotations

import inspect
import operator
import random
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import WRAPPER_ASSIGNMENTS, partial, update_wrapper
from math import gcd
from pathlib import Path
from traceback import walk_tb
from typing import TypeAlias

import numpy as np

from pypto_verified import language, simulator
from pypto_verified.check import CheckOptions, verify_module
from pypto_verified.compiler import Artifact, compile_function, kernels_of
from pypto_verified.differential import Simulated, simulate
from pypto_verified.errors import NOWHERE, InputError, Location, NotModelled, PtoError
from pypto_verified.fuzz.oracles import compared, interpreted
from pypto_verified.interpreter import Poisoned, Undefined
from pypto_verified.ir.expr import Const
from pypto_verified.ir.stmt import Function, Program
from pypto_verified.ir.types import ScalarType
from pypto_verified.ir.walk import operands, walk_expr, walk_stmts
from pypto_verified.language.markers import ProgramMark
from pypto_verified.records import dataclass
from pypto_verified.report.model import Verdict
from pypto_verified.simulator.errors import UninitialisedError
from pypto_verified.simulator.program import Program as Compiled
from pypto_verified.targets import Target
from pypto_verified.targets import target as target_of
from pypto_verified.trials import Array, Scalar, Trial, trials

EXAMPLES = 60
LARGEST = 300
"""The largest size that is tried unasked."""

Kernel: TypeAlias = str | Path | ProgramMark | Program | Function | type | Callable[..., object]
"""A kernel file, or what such a file defines."""


@dataclass(frozen=True, slots=True)
class Run:
    """One run. `inputs`: parameters before it, by name; `outputs`: all tensors after it; `sizes`: dynamic sizes;
    `kind`: of the arrays, one of `trials.KINDS`; `exact`: no op left its result open, so equal means bit by bit."""

    inputs: Mapping[str, Array | Scalar]
    outputs: Mapping[str, Array]
    sizes: Mapping[str, int]
    kind: str
    exact: bool


def fuzz(
    kernel: Kernel, *, name: str = "", examples: int = EXAMPLES, seed: int = 0, target: str = "a2a3",
    sizes: Mapping[str, Iterable[int]] | None = None,
) -> Callable[[Callable[..., object]], Callable[..., None]]:
    """A decorator that makes a test of a function of one run.

    `name`: which kernel of the file; `examples`: runs; `sizes`: what sizes and integer scalars may be, by name, where
    that is less than everything. The test raises AssertionError with the sizes, the inputs and the line at the first
    run in which the two meanings differ, a fault happens, or the function fails; for a refuted rule; and where no run
    has a defined result. Another exception of the function goes through, with a note of the run. InputError for what is
    no kernel and for sizes that are none, NotModelled for a kernel with something that is not modelled.
    """
    allowed = _whole(sizes or {})

    def decorate(function: Callable[..., object]) -> Callable[..., None]:
        code = getattr(inspect.unwrap(function), "__code__", None)

        def test(*owner: object) -> None:
            __tracebackhide__ = True
            try:
                campaign(kernel, partial(function, *owner), name, examples, seed, target, allowed)
            except PtoError as error:
                if error.help:
                    error.add_note(f"help: {error.help}")
                if code is None or code in (frame.f_code for frame, _ in walk_tb(error.__traceback__)):
                    raise
                error.add_note(f"test: {function.__name__}, {code.co_filename}:{code.co_firstlineno}")
                raise error.with_traceback(None) from None  # the way through this package is no news to the author

        update_wrapper(test, function, [n for n in WRAPPER_ASSIGNMENTS if n != "__annotations__"])
        del test.__wrapped__  # type: ignore[attr-defined]  # by it pytest would see the argument
        return test

    return decorate


def campaign(
    kernel: Kernel, judge: Callable[[Run], object], name: str, examples: int, seed: int, target: str,
    sizes: Mapping[str, Iterable[int]],
) -> int:
    """Examine a kernel, as `fuzz` says; the number of runs that had a defined result."""
    __tracebackhide__ = True
    function, chip = found(kernel, name), target_of(target)
    if examples < 1:
        raise InputError(f"{examples} examples test nothing", help="at least one")
    given = _whole(sizes)
    allowed = boundaries(function) | given
    unknown = set(given) - set(boundaries(function))
    if unknown:
        raise InputError(f"{function.name} has no size or integer scalar {', '.join(sorted(unknown))}",
                         help=f"it has {', '.join(boundaries(function)) or 'none'}")
    below = [n for n in function.dynamic if min(allowed[n]) < 0]
    if below:
        raise InputError(f"{below[0]} is the size of a tensor: it is not less than 0")
    artifact = compile_function(function, chip)
    _check_rules(function, artifact, chip, given)
    program = simulator.compile(artifact.module.funcs[0], chip, lone=True)
    defined = 0
    for trial in _chosen(function, allowed, seed, examples):
        run = _examined(function, artifact, program, chip, trial)
        if run is not None:
            defined += 1
            _judged(function, judge, trial, run)
    if not defined:
        raise AssertionError(f"{function.name}: none of {examples} runs has a defined result, so nothing was tested")
    return defined


def _whole(sizes: Mapping[str, Iterable[int]]) -> dict[str, tuple[int, ...]]:
    """Each size's values, which may come from a generator. InputError for none, or for what is no integer."""
    try:
        given = {name: tuple(map(operator.index, values)) for name, values in sizes.items()}
    except TypeError as error:
        raise InputError(f"sizes are integers by name: {error}", help='sizes={"M": (16, 32)}') from None
    for name, values in given.items():
        if not values:
            raise InputError(f"no value is left for {name}", help='sizes={"M": (16, 32)}')
    return given


def found(kernel: Kernel, name: str = "") -> Function:
    """The IR of a kernel. InputError for what is none, or for several without a name."""
    if isinstance(kernel, Function):
        return kernel
    functions = [f for program in _programs(kernel) for f in kernels_of(program)]
    wanted = name or getattr(kernel, "__name__", "")
    named = [f for f in functions if f.name == wanted] or ([] if name else functions)
    if len(named) != 1:
        there = ", ".join(f.name for f in functions)
        raise InputError(
            f"no one kernel {name}".rstrip(), Location(str(kernel)) if isinstance(kernel, str | Path) else NOWHERE,
            f"there are {there}: say which with name=" if there else "no function here is a kernel")
    return named[0]


def _programs(kernel: Kernel) -> tuple[Program, ...]:
    if isinstance(kernel, Program):
        return (kernel,)
    if isinstance(kernel, ProgramMark):
        return (language.lower_program(kernel),)
    if isinstance(kernel, str | Path):
        return language.load_file(Path(kernel)).programs
    assert not isinstance(kernel, Function)
    try:
        file = inspect.getsourcefile(kernel)
    except TypeError:
        file = None
    if file is None:
        raise InputError(f"{kernel!r} is in no file", help="give the path of the kernel file")
    return language.load_file(Path(file)).programs


def boundaries(function: Function) -> dict[str, tuple[int, ...]]:
    """What each size and integer scalar is tried with: 0, 1, and values around the constants of the kernel and their
    multiples, where the last tile is whole, short by one, or one element long."""
    steps = {
        int(e.value) for s in walk_stmts(function.body) for o in operands(s) for e in walk_expr(o)
        if isinstance(e, Const) and isinstance(e.value, int) and 1 < e.value < LARGEST // 2
    }
    near = {c + d for c in steps for d in (-1, 0, 1)} | {2 * c + d for c in steps for d in (-1, 0, 1)}
    values = tuple(sorted({0, 1, 2, *near}))
    scalars = (p.var.name for p in function.params
               if isinstance(p.var.type, ScalarType) and p.var.type.dtype.is_integer)
    return dict.fromkeys((*function.dynamic, *scalars), values)


def _chosen(function: Function, allowed: Mapping[str, tuple[int, ...]], seed: int, examples: int) -> Iterator[Trial]:
    """Inputs: first all sizes alike from the least on, then any."""
    draw = random.Random(seed)
    longest = max(map(len, allowed.values()), default=0)
    for example in range(examples):
        if example < longest:
            given = {n: values[min(example, len(values) - 1)] for n, values in allowed.items()}
        else:
            given = {n: draw.choice(values) for n, values in allowed.items()}
        every = trials(function, seed + example, given)
        trial = next(every)
        for _ in range(example % 6):
            trial = next(every, trial)
        yield trial


def _examined(
    function: Function, artifact: Artifact, program: Compiled, chip: Target, trial: Trial
) -> Run | None:
    """A run on which both meanings agree; None for one without a defined result that is none of the kernel's fault."""
    __tracebackhide__ = True
    loose: set[str] = set()
    try:
        expected = interpreted(function, trial, loose)
    except Poisoned as error:
        if not _unwritten(simulate(function, artifact, program, chip, trial)):
            return None
        raise AssertionError(_told(function, trial, str(error))) from None
    except Undefined as error:
        raise AssertionError(_told(function, trial, str(error))) from None
    outcome = simulate(function, artifact, program, chip, trial)
    find = compared(function, outcome, trial, expected, loose, "meaning")
    if find is not None:
        raise AssertionError(_told(function, trial, f"interpreter and simulator differ: {find.detail}"))
    return Run(trial.values, expected, trial.sizes, trial.kind, not loose)


def _unwritten(outcome: Simulated) -> bool:
    return any(isinstance(e, UninitialisedError) for e in outcome.errors)


def _judged(function: Function, judge: Callable[[Run], object], trial: Trial, run: Run) -> None:
    """The user's own word on a run."""
    __tracebackhide__ = True
    kept = {n: v.copy() if isinstance(v, np.ndarray) else v for n, v in run.inputs.items()}
    try:
        judge(replace(run, inputs=kept))
    except AssertionError as error:
        raise AssertionError(_told(function, trial, str(error) or "the test of this run fails")) from error
    except Exception as error:
        error.add_note(f"in {_told(function, trial, type(error).__name__)}")
        raise


def _told(function: Function, trial: Trial, what: str) -> str:
    return f"{function.name} with {trial}: {what}"


def _assumed(sizes: Mapping[str, tuple[int, ...]]) -> Iterator[str]:
    """That each size is one of its values, as intervals, remainders and, where those leave others, by name."""
    for name, values in sizes.items():
        least, greatest = min(values), max(values)
        yield f"{name} >= {least}"
        yield f"{name} <= {greatest}"
        step = gcd(*(v - least for v in values))
        if step > 1:
            yield f"{name} % {step} == {least % step}"
        if step and (greatest - least) // step + 1 > len(set(values)):
            yield " or ".join(f"{name} == {v}" for v in sorted(set(values)))


def _check_rules(
    function: Function, artifact: Artifact, chip: Target, sizes: Mapping[str, tuple[int, ...]]
) -> None:
    """No rule is refuted for the sizes that are allowed."""
    __tracebackhide__ = True
    options = CheckOptions(chip.name, level=3, assume=tuple(_assumed(sizes)))
    for result in verify_module(artifact.module, chip, options, {function.name: artifact.names}):
        for f in result.findings:
            if f.verdict is Verdict.REFUTED:
                place = f"{Location(f.file, f.line, f.column)}: " if f.file else ""
                numbers = f" for {', '.join(f'{n} = {v}' for n, v in f.witness)}" if f.witness else ""
                advice = f"\nhelp: {f.help}" if f.help else ""
                raise AssertionError(f"{place}{function.name}: {f.rule} is refuted: {f.message}{numbers}{advice}")


__all__ = ["NotModelled", "Run", "boundaries", "campaign", "found", "fuzz"]
