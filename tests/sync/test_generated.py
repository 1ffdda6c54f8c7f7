"""Automatic mode over generated kernels: proved, the same under every schedule, and no part goes unnoticed."""

from __future__ import annotations

import random
from collections.abc import Iterator

import numpy as np
import pytest

from pypto_verified.compiler import Artifact, MemoryPlanner, compile_function
from pypto_verified.differential import arguments
from pypto_verified.errors import NotModelled, PtoError
from pypto_verified.fuzz.builder import Kernel
from pypto_verified.fuzz.deeper import assumptions
from pypto_verified.fuzz.draw import Seeded
from pypto_verified.fuzz.generator import kernel as generated
from pypto_verified.fuzz.oracles import inputs
from pypto_verified.pto import reader, writer
from pypto_verified.pto.module import Module
from pypto_verified.report.model import Finding, Verdict
from pypto_verified.simulator import schedule
from pypto_verified.sync import insert_sync
from pypto_verified.targets import TARGETS, target
from pypto_verified.witness import replayed
from tests.sync.judged import sync_ops, without
from tests.sync.programs import random_program
from verifiers import Options, verify

SEED = 11
FEW, MANY = range(12), range(300)


def _made(example: int, chip: str) -> tuple[Kernel, Artifact, Module, Module] | None:
    """A kernel, what it is compiled to, and that with the flags it needs, and those for the stricter readings; None for
    what is refused or not modelled."""
    kernel = generated(Seeded(SEED, example), chip)
    try:
        artifact = compile_function(kernel.function, target(chip), MemoryPlanner(kernel.planner), read_back=False)
        made, strict = (insert_sync(artifact.module, target(chip), s) for s in (False, True))
    except (NotModelled, PtoError):
        return None
    return kernel, artifact, reader.read(writer.write(made)), reader.read(writer.write(strict))


def _options(kernel: Kernel, artifact: Artifact, strict: bool) -> Options:
    return Options(
        assumptions(kernel), strict, families=frozenset({"RACE", "EVENT"}), explicit_sync=True,
        names={kernel.function.name: artifact.names})


def _proved_and_in_order(example: int, chip: str) -> bool:
    """Whether there was something to judge; fails if it is not proved or a schedule shows something else."""
    got = _made(example, chip)
    if got is None:
        return False
    kernel, artifact, module, for_strict = got
    for judged, strict in ((module, False), (for_strict, True)):
        open_ = [
            f for r in verify(judged, target(chip), _options(kernel, artifact, strict)) for f in r.findings
            if not f.rule.startswith("MODEL-") and not (strict and f.rule == "RACE-VISIBLE")]
        assert open_ == []  # but that memory is visible: under the stricter reading a fence is needed, which is no flag
    for trial in inputs(kernel, SEED, 1):
        arrays, scalars = arguments(kernel.function, artifact, trial)
        runs = [
            schedule.run(module, target(chip), {n: a.copy() for n, a in arrays.items()}, scalars, schedule=s,
                         seed=example, max_steps=20_000) for s in ("program", "eager", "late", "random")]
        for run in runs:
            assert not run.races and run.deadlock is None
            assert [str(e) for e in run.errors] == [str(e) for e in runs[0].errors]
            assert all(np.array_equal(a.view(np.uint8), run.outputs[n].view(np.uint8))
                       for n, a in runs[0].outputs.items())
    return True


@pytest.mark.requirement("EV-07")
@pytest.mark.requirement("EV-08")
@pytest.mark.parametrize("chip", TARGETS)
def test_generated_kernels_are_proved_and_run_as_in_program_order(chip: str) -> None:
    assert sum(_proved_and_in_order(example, chip) for example in FEW) > len(FEW) / 2


@pytest.mark.nightly
@pytest.mark.parametrize("chip", TARGETS)
def test_many_generated_kernels_are_proved_and_run_as_in_program_order(chip: str) -> None:
    assert sum(_proved_and_in_order(example, chip) for example in MANY) > len(MANY) / 2


def _without_one(
    module: Module, chip: str, options: Options, draw: random.Random, most: int
) -> Iterator[tuple[Module, list[Finding]]]:
    """What is left where one of the sync ops is gone, and what is found in it, for some of them."""
    ops = list(sync_ops(module))
    for op in draw.sample(ops, min(most, len(ops))):
        rest = without(module, op)
        yield rest, [
            f for r in verify(rest, target(chip), options)
            for f in replayed(r, rest, target(chip), 0, options.names.get(r.name, {}), ()).findings]


def _missed(found: list[Finding]) -> bool:
    """Whether something is wrong and no refutation of it is replayed."""
    return bool(found) and not any(f.verdict is Verdict.REFUTED and f.replay.startswith("confirmed") for f in found)


def _breaks(module: Module, chip: str) -> bool:
    """Whether a run with small numbers races, whatever its schedule makes of it, or hangs. If none does, the op that is
    gone was redundant, though that may not be proved."""
    numbers = ({"n": n, "m": m, "c": c} for n in range(5) for m in range(5) for c in range(2))
    runs = (schedule.replay(module, "k", given, target(chip)) for given in numbers)
    return any(run.races or run.deadlock is not None for run in runs)


def _missed_of(seeds: range, most: int) -> list[str]:
    options = Options(families=frozenset({"RACE", "EVENT"}), explicit_sync=True)
    missed: list[str] = []
    for seed in seeds:
        chip = sorted(TARGETS)[seed % len(TARGETS)]
        made = insert_sync(random_program(seed, chip, branches=False), target(chip))
        module = reader.read(writer.write(made))
        missed += [
            f"seed {seed}: {found[0].rule} {found[0].message}"
            for rest, found in _without_one(module, chip, options, random.Random(seed), most)
            if _missed(found) and _breaks(rest, chip)]
    return missed


def test_a_sync_op_that_is_needed_is_not_missing_unnoticed() -> None:
    assert _missed_of(range(1000, 1010), most=4) == []
    assert _missed_of(range(1136, 1137), most=10) == [], "a barrier that flags of two slots make redundant"


@pytest.mark.nightly
def test_no_needed_sync_op_of_many_kernels_with_loops_and_rings_is_missing_unnoticed() -> None:
    assert _missed_of(range(1000, 1300), most=10) == []
