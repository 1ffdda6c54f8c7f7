"""The oracles that take longer than a run: both sides of every pass, other places, the printed text, the rules."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from pypto_verified import language, simulator
from pypto_verified.check import CheckOptions, verify_module
from pypto_verified.compiler import Artifact, MemoryPlanner, compile_function
from pypto_verified.differential import equal_elements, simulate
from pypto_verified.dtypes import BOOL
from pypto_verified.errors import NotModelled, PtoError
from pypto_verified.fuzz import cut, ordered, spoilt
from pypto_verified.fuzz.builder import Kernel
from pypto_verified.fuzz.oracles import Find, compared, interpreted, pattern
from pypto_verified.fuzz.variants import moved, variants
from pypto_verified.interpreter import Undefined
from pypto_verified.ir.printer import print_program
from pypto_verified.ir.stmt import Function, Program
from pypto_verified.ir.types import ScalarType
from pypto_verified.passes import pipeline
from pypto_verified.report.model import FunctionResult, Verdict
from pypto_verified.targets import Target, target
from pypto_verified.trials import Array, Trial

Runs = Sequence[tuple[Trial, Mapping[str, Array]]]
"""Inputs with the result that the kernel's own text gives."""


_ELEMENT_TYPES = re.compile(r"-(TYPES?|DTYPE|WIDTH)(-A\w+)?$")
"""Rules that the assembler knows fewer element types than the device: an answer about the kernel, not a fault."""


def examine(kernel: Kernel, artifact: Artifact, chip: Target, runs: Runs) -> Iterator[Find]:
    """What the deeper oracles find, each at most once."""
    yield from _passes(kernel, chip, runs)
    yield from _places(kernel, chip, runs)
    yield from _variants(kernel, chip, runs)
    yield from _printed(kernel.function)
    yield from _rules(kernel, artifact, chip)
    for trial, expected in runs[:1]:
        loose: set[str] = set()
        interpreted(kernel.function, trial, loose)
        yield from ordered.examine(kernel, artifact, chip, trial, expected, loose, assumptions(kernel))
        yield from cut.examine(kernel, chip, trial, assumptions(kernel))
        yield from spoilt.examine(kernel, chip, trial, expected, loose, assumptions(kernel))


def _passes(kernel: Kernel, chip: Target, runs: Runs) -> Iterator[Find]:
    """The first pass after which the kernel computes something else."""
    after: list[tuple[str, Function]] = []
    try:
        pipeline.run(
            kernel.function, chip, kernel.planner, lambda name, _, new: after.append((name, new)), checked=True)
    except AssertionError as error:
        yield Find("passes", f"a property broken: {pattern(str(error))}", str(error))
        return
    for trial, expected in runs:
        previous = kernel.function
        for name, function in after:
            if function is previous:
                continue
            previous = function
            try:
                actual = interpreted(function, trial)
            except Undefined as error:
                yield Find("passes", f"after {name}: undefined", str(error), trial, expected)
                return
            for output, wanted in expected.items():
                if not equal_elements(wanted, actual[output], tolerant=False).all():
                    yield Find("passes", f"after {name}", f"{output} is another", trial, expected, actual)
                    return


def blamed(kernel: Kernel, trial: Trial, expected: Mapping[str, Array]) -> str:
    """Where a wrong result comes from, as far as both sides of the passes tell."""
    find = next(_passes(kernel, target(kernel.target), [(trial, expected)]), None)
    if find is None:
        return "all passes agree: the fault is in places, in code generation or in a meaning"
    return f"wrong {find.cause}"


def _places(kernel: Kernel, chip: Target, runs: Runs) -> Iterator[Find]:
    """Other addresses: those of the other planners, and each tile's a step further."""
    for place, other in _placed(kernel, chip) if runs else ():
        yield from _same(kernel, chip, runs, kernel.function, other, f"places: {place}")


def _variants(kernel: Kernel, chip: Target, runs: Runs) -> Iterator[Find]:
    """Kernels that must give the same: see `variants`. One that the compiler refuses is an answer."""
    for what, function in variants(kernel.function, len(kernel.function.body)) if runs else ():
        try:
            artifact = compile_function(function, chip, MemoryPlanner(kernel.planner), read_back=False)
        except PtoError:
            continue
        yield from _same(kernel, chip, runs, function, artifact, f"variants: {what}")


def _same(
    kernel: Kernel, chip: Target, runs: Runs, function: Function, artifact: Artifact, oracle: str
) -> Iterator[Find]:
    """At most one run of a module that differs from what the kernel gives."""
    program = simulator.compile(artifact.module.funcs[0], chip)
    for trial, expected in runs:
        loose: set[str] = set()
        interpreted(kernel.function, trial, loose)
        outcome = simulate(function, artifact, program, chip, trial)
        try:
            find = compared(kernel.function, outcome, trial, expected, loose, oracle)
        except NotModelled:
            return
        if find is not None:
            yield find
            return


def _placed(kernel: Kernel, chip: Target) -> Iterator[tuple[str, Artifact]]:
    for planner in MemoryPlanner:
        if planner.value == kernel.planner:
            continue
        try:
            yield planner.value, compile_function(kernel.function, chip, planner)
        except PtoError:
            continue  # a planner may need more room than there is, and the assembler's has no second name for a place
    again = compile_function(kernel.function, chip, MemoryPlanner(kernel.planner), read_back=False)
    if moved(again, chip):
        yield "a step further", again


def _printed(function: Function) -> Iterator[Find]:
    """The text of the kernel is the kernel."""
    program = Program("Printed", (function,))
    text = print_program(program)
    try:
        loaded = language.load_source(text, "kernel.py").programs
    except PtoError as error:
        yield Find("printed", f"the text does not load: {pattern(error.message)}", str(error))
        return
    if not loaded or loaded[0].functions != program.functions:
        again = print_program(loaded[0]) if loaded else ""
        first = next(
            ((a, b) for a, b in zip(text.splitlines(), again.splitlines(), strict=False) if a != b), ("", "")
        )
        yield Find("printed", "the text loads as another kernel", f"{first[0].strip()} became {first[1].strip()}")


def assumptions(kernel: Kernel) -> tuple[str, ...]:
    """What a caller of the kernel promises; nothing of what is true or false."""
    flags = {p.var.name for p in kernel.function.params if p.var.type == ScalarType(BOOL)}
    bounds = ((name, min(values), max(values)) for name, values in kernel.ranges.items() if name not in flags)
    return tuple(text for name, low, high in bounds for text in (f"{name} >= {low}", f"{name} <= {high}"))


def _rules(kernel: Kernel, artifact: Artifact, chip: Target) -> Iterator[Find]:
    """A kernel that ran without a fault is not refuted."""
    options = CheckOptions(kernel.target, level=3, assume=assumptions(kernel))
    names = {kernel.function.name: artifact.names}
    seen: set[str] = set()
    for result in verify_module(artifact.module, chip, options, names):
        for rule, text in _wrong(result):
            if rule not in seen:
                seen.add(rule)
                yield Find("rules", rule, text)


def _wrong(result: FunctionResult) -> Iterator[tuple[str, str]]:
    for f in result.findings:
        if f.verdict is Verdict.REFUTED and _ELEMENT_TYPES.search(f.rule) and "tmp is" not in f.message:
            continue
        if f.verdict is Verdict.REFUTED:
            yield f"{f.rule} is refuted", f"{f.message} [{f.witness}] {f.replay}"
        elif f.verdict is Verdict.ERROR:
            yield f"{f.rule}: error", f.message
