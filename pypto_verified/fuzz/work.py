"""What a worker of a campaign does: examine a batch of kernels, or make a find smaller."""

from __future__ import annotations

import gc
import time
from dataclasses import replace

from pypto_verified.errors import PtoError
from pypto_verified.fuzz.builder import Kernel
from pypto_verified.fuzz.coverage import features
from pypto_verified.fuzz.deeper import blamed
from pypto_verified.fuzz.draw import Seeded
from pypto_verified.fuzz.faults import switched_on
from pypto_verified.fuzz.generator import kernel as generate
from pypto_verified.fuzz.oracles import Find, examine, pattern
from pypto_verified.fuzz.records import Batch, Found, Job, Outcome, Stats
from pypto_verified.fuzz.shrink import shrunk, size
from pypto_verified.ir.stmt import Function, FunctionKind, Return

RUNS, DEEP_RUNS = 1, 2
SHRINK_RUNS = 4
DEEP = ("passes", "printed", "rules", "places", "variants", "order", "accepted", "crash")
"""How the names of the oracles begin that a deep examination asks, some only that."""


def settle() -> None:
    """For a process that only examines kernels: what is loaded by now stays, and kernels leave next to no cycles
    behind, so the collector need not look at either as often as it would."""
    gc.freeze()
    gc.set_threshold(10_000)


def run_job(job: Job) -> Outcome | Found:
    """What a worker does."""
    return run_batch(job) if isinstance(job, Batch) else shrink(job.found, job.fault)


def run_batch(batch: Batch) -> Outcome:
    """Examine the kernels of a batch."""
    stats, found = Stats(), []
    plan = batch.plan
    started = time.perf_counter()
    with switched_on(plan.fault):
        for example in batch.examples():
            try:
                kernel = generate(Seeded(plan.seed, example))
            except PtoError as error:
                found.append(_ungenerated(plan.seed, example, error))
                continue
            deep = plan.deep_every > 0 and example % plan.deep_every == 0
            verdict = examine(kernel, example, DEEP_RUNS if deep else RUNS, deep)
            stats.kernels += 1
            stats.deep += deep
            stats.agreed += verdict.agreed
            stats.bitwise += verdict.bitwise
            stats.undefined += verdict.undefined
            if verdict.left_out:
                stats.left_out[verdict.left_out] += 1
            stats.known.update(verdict.known)
            stats.features.update(features(kernel))
            found += [Found(f, kernel, plan.seed, example, size(kernel.function)) for f in verdict.finds]
    stats.busy = time.perf_counter() - started
    return stats, found


def _ungenerated(seed: int, example: int, error: PtoError) -> Found:
    """A type rule refuses what should be well typed by construction: there is no kernel to show."""
    find = Find("generated", f"{type(error).__name__}: {pattern(error.message)}", str(error))
    nothing = Kernel(Function("kernel", FunctionKind.INCORE, (), (), (Return(()),)), {}, "a2a3", "PYPTO")
    return Found(find, nothing, seed, example, 0, shrunk=True)


def shrink(found: Found, fault: str = "") -> Found:
    """The same find on the smallest kernel that shows it."""
    wanted = (found.find.oracle, found.find.cause)
    deep = found.find.oracle.startswith(DEEP)

    def find_in(kernel: Kernel) -> Find | None:
        verdict = examine(kernel, found.example, SHRINK_RUNS, deep)
        return next((f for f in verdict.finds if (f.oracle, f.cause) == wanted), None)

    with switched_on(fault):
        kernel = shrunk(found.kernel, lambda candidate: find_in(candidate) is not None)
        find = find_in(kernel) or found.find
        if find.oracle == "meaning" and find.trial is not None:
            find = replace(find, detail=f"{find.detail}; {_blamed(kernel, find)}")
    return replace(found, kernel=kernel, find=find, statements=size(kernel.function), shrunk=True)


def _blamed(kernel: Kernel, find: Find) -> str:
    assert find.trial is not None
    try:
        return blamed(kernel, find.trial, find.expected)
    except (AssertionError, PtoError) as error:
        return f"a pass fails: {error}"
