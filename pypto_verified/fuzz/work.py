"""What a worker of a campaign does: examine a batch of kernels, make a find smaller, make what ended another again."""

from __future__ import annotations

import gc
import time
import traceback
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from pypto_verified.errors import PtoError
from pypto_verified.fuzz.builder import Kernel
from pypto_verified.fuzz.coverage import features
from pypto_verified.fuzz.deeper import blamed
from pypto_verified.fuzz.draw import Seeded
from pypto_verified.fuzz.faults import switched_on
from pypto_verified.fuzz.generator import kernel as generate
from pypto_verified.fuzz.limit import SECONDS, Late, limited
from pypto_verified.fuzz.oracles import Find, Verdict, examine, pattern
from pypto_verified.fuzz.records import DIED, SLOW, Batch, Found, Job, Outcome, Remake, Shrink, Stats
from pypto_verified.fuzz.shrink import shrunk, size
from pypto_verified.ir.stmt import Function, FunctionKind, Return
from pypto_verified.trials import Trial

RUNS, DEEP_RUNS = 1, 2
SHRINK_RUNS = 4
SHRINK_LIMITS = 10
"""What making a find smaller may take, in limits of one kernel."""
DEEP = ("passes", "printed", "rules", "places", "variants", "order", "accepted", "crash", SLOW)
"""How the names of the oracles begin that a deep examination asks, some only that."""


def settle() -> None:
    """For a process that only examines kernels: what is loaded by now stays, and kernels leave next to no cycles
    behind, so the collector need not look at either as often as it would."""
    gc.freeze()
    gc.set_threshold(10_000)


def run_job(job: Job) -> Outcome | Found:
    """What a worker does."""
    match job:
        case Batch():
            return run_batch(job)
        case Shrink():
            return shrink(job.found, job.fault, job.timeout)
        case Remake():
            return remake(job)


def run_batch(batch: Batch) -> Outcome:
    """Examine the kernels of a batch."""
    stats, found = Stats(), []
    plan = batch.plan
    started = time.perf_counter()
    with switched_on(plan.fault):
        for example in batch.examples():
            try:
                with limited(plan.timeout):
                    kernel = generate(Seeded(plan.seed, example))
            except (Exception, Late) as error:
                found.append(_ungenerated(plan.seed, example, error))
                continue
            deep = plan.deep_every > 0 and example % plan.deep_every == 0
            verdict = examined(kernel, example, DEEP_RUNS if deep else RUNS, deep, timeout=plan.timeout)
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


def examined(
    kernel: Kernel, example: int, runs: int, deep: bool, given: Sequence[Trial] | None = None, timeout: float = SECONDS
) -> Verdict:
    """`oracles.examine` within `timeout` seconds of a processor: a kernel that takes longer is a find, named by what it
    was in."""
    try:
        with limited(timeout):
            return examine(kernel, example, runs, deep, given)
    except Late as late:
        frames = traceback.extract_tb(late.__traceback__)
        inner = [f.name for f in frames if Path(f.filename).parent != Path(__file__).parent]
        cause = inner[0] if inner else examine.__name__
        detail = f"more than {timeout:g} s\n{''.join(traceback.format_list(frames))}"
        return Verdict([Find(SLOW, cause, detail)])


NOTHING = Kernel(Function("kernel", FunctionKind.INCORE, (), (), (Return(()),)), {}, "a2a3", "PYPTO")
"""Stands where there is no kernel to show."""


def _ungenerated(seed: int, example: int, error: BaseException) -> Found:
    """The generator fails, mostly as a type rule refuses what should be well typed by construction."""
    message = error.message if isinstance(error, PtoError) else str(error)
    find = Find("generated", f"{type(error).__name__}: {pattern(message)}", "".join(traceback.format_exception(error)))
    return Found(find, NOTHING, seed, example, 0, shrunk=True)


def remake(job: Remake) -> Found:
    """The kernel of an example whose examination ended its worker, as a find."""
    plan = job.batch.plan
    (example,) = job.batch.examples()
    try:
        with switched_on(plan.fault), limited(plan.timeout):
            kernel = generate(Seeded(plan.seed, example))
    except (Exception, Late) as error:
        return _ungenerated(plan.seed, example, error)
    return ended(job, kernel)


def ended(job: Remake, kernel: Kernel = NOTHING) -> Found:
    """What ended a worker, as a find; without a kernel if making it again ended another."""
    seed, (example,) = job.batch.plan.seed, job.batch.examples()
    what = "is late and can't be interrupted" if job.late else "ends its process"
    find = Find(SLOW if job.late else "crash", DIED, f"example {example} of seed {seed} {what}")
    return Found(find, kernel, seed, example, size(kernel.function))


def shrink(found: Found, fault: str = "", timeout: float = SECONDS) -> Found:
    """The same find on the smallest kernel that shows it, as far as it is reached within `SHRINK_LIMITS` timeouts. No
    rule refutes that one which did not refute the first: what is wrong for another reason shows nothing."""
    wanted = (found.find.oracle, found.find.cause)
    deep = found.find.oracle.startswith(DEEP)
    until = time.process_time() + SHRINK_LIMITS * timeout
    find = found.find

    def finds_of(kernel: Kernel, runs: int) -> list[Find]:
        return examined(kernel, found.example, runs, deep, timeout=timeout).finds

    def shown(finds: Sequence[Find]) -> Find | None:
        return next((f for f in finds if (f.oracle, f.cause) == wanted), None)

    def holds(kernel: Kernel) -> bool:
        nonlocal find
        if time.process_time() >= until:
            return False
        finds = finds_of(kernel, runs)
        again = shown(finds)
        if again is None or not _refuted(finds) <= refuted:
            return False
        find = again
        return True

    with switched_on(fault):
        runs, first = SHRINK_RUNS, finds_of(found.kernel, SHRINK_RUNS)
        if shown(first) is None:  # a further run shows something else, and what comes first is told alone
            runs = DEEP_RUNS
            first = finds_of(found.kernel, runs)
        refuted = _refuted(first)
        kernel = shrunk(found.kernel, holds)
        if find.oracle == "meaning" and find.trial is not None:
            find = replace(find, detail=f"{find.detail}; {_blamed(kernel, find, timeout)}")
    return replace(found, kernel=kernel, find=find, statements=size(kernel.function), shrunk=True)


def _refuted(finds: Sequence[Find]) -> set[str]:
    return {f.cause for f in finds if f.oracle == "rules"}


def _blamed(kernel: Kernel, find: Find, timeout: float) -> str:
    assert find.trial is not None
    try:
        with limited(timeout):
            return blamed(kernel, find.trial, find.expected)
    except Late:
        return "the passes take too long to tell where"
    except Exception as error:
        return f"a pass fails: {type(error).__name__}: {error}"
