"""Many kernels, by any `concurrent.futures.Executor`: batches out, finds in, one per cause, each shrunk.

A kernel is named by (seed, example): whoever generates it, on whatever worker, gets the same one. Nothing is shared
between batches, so a broken pool costs no find: what it had is handed out again, one example at a time and nothing
beside it, so that the one that breaks the next pool is known.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, wait
from dataclasses import replace
from typing import TypeAlias

from pypto_verified.fuzz.limit import PATIENCE
from pypto_verified.fuzz.records import Batch, Found, Job, Outcome, Plan, Remake, Result, Shrink, ops_of
from pypto_verified.fuzz.work import ended, run_job

OnProgress: TypeAlias = Callable[[Result], None]
OnFound: TypeAlias = Callable[[Found], None]
_LOOKS = 0.2
"""Seconds between looks at whether there was an interrupt."""


def run(
    make: Callable[[], Executor], workers: int, plan: Plan, on_progress: OnProgress = lambda result: None,
    on_found: OnFound = lambda found: None, interrupted: Callable[[], bool] = lambda: False,
) -> Result:
    """Run a campaign on the executor that `make` gives (again, if one breaks). `on_found` sees each new cause twice:
    as it was found, and shrunk. It ends when `interrupted` says so, which is asked several times a second, or a
    KeyboardInterrupt does; what was found is in the result."""
    campaign = _Campaign(make, workers, plan, on_progress, on_found, interrupted)
    started = time.monotonic()
    try:
        campaign.work(started)
    except KeyboardInterrupt:
        campaign.result.interrupted = True
    finally:
        campaign.flush()
        campaign.executor.shutdown(wait=not campaign.result.interrupted, cancel_futures=True)
        campaign.result.seconds = time.monotonic() - started
    return campaign.result


class _Campaign:
    def __init__(
        self, make: Callable[[], Executor], workers: int, plan: Plan, on_progress: OnProgress, on_found: OnFound,
        interrupted: Callable[[], bool],
    ) -> None:
        self.make, self.workers, self.plan = make, workers, plan
        self.on_progress, self.on_found, self.interrupted = on_progress, on_found, interrupted
        self.result = Result(plan)
        self.executor = make()
        self.jobs: dict[Future[Outcome | Found], Job] = {}
        self.suspects: deque[Job] = deque()
        self.since = 0.0
        self.next = 0
        self.arrived: dict[int, tuple[int, list[Found]]] = {}
        self.turn = 0
        self.queue: deque[Found] = deque()

    def work(self, started: float) -> None:
        while True:
            self.result.seconds = time.monotonic() - started
            self._hand_out()
            if not self.jobs:
                return
            done, _ = wait(self.jobs, _LOOKS, FIRST_COMPLETED)
            broken = [future for future in done if not self._collect(future)]
            if broken:
                self._recover()
            self.result.seconds = time.monotonic() - started
            self.on_progress(self.result)
            if self.interrupted():
                self.result.interrupted = True
                return

    def _hand_out(self) -> None:
        if self.suspects:
            if not self.jobs:
                self._submit(self.suspects.popleft())
            return
        while sum(isinstance(job, Batch) for job in self.jobs.values()) < 2 * self.workers:
            batch = self._next_batch()
            if batch is None:
                return
            self._submit(batch)

    def _submit(self, job: Job) -> None:
        try:
            future = self.executor.submit(run_job, job)
        except BrokenExecutor:
            self.executor = self.make()
            future = self.executor.submit(run_job, job)
        self.jobs[future], self.since = job, time.monotonic()

    def _next_batch(self) -> Batch | None:
        plan = self.plan
        if plan.seconds is not None and self.result.seconds >= plan.seconds:
            return None
        left = plan.batch if plan.examples is None else min(plan.batch, plan.examples - self.next)
        if left <= 0:
            return None
        batch = Batch(plan, self.next, left)
        self.next += left
        return batch

    def _collect(self, future: Future[Outcome | Found]) -> bool:
        """Take in what a worker gave; False if its pool is broken."""
        try:
            outcome = future.result()
        except BrokenExecutor:
            return False
        job = self.jobs.pop(future)
        match job, outcome:
            case Shrink(), Found():
                self._named(job.found, outcome)
            case Remake(), Found():
                self._ended(job, outcome)
            case Batch(), (stats, found):
                self.result.stats.add(stats)
                self.arrived[job.start] = job.count, found
        self._advance()
        return True

    def _advance(self) -> None:
        """Take up finds in the order of their examples, whoever was faster, and each only when all before it that may
        be of one cause are small: so that the same finds get the same names on every executor."""
        while self.turn in self.arrived:
            count, found = self.arrived.pop(self.turn)
            self.turn += count
            self.queue += found
        while self.queue and not any(
            isinstance(job, Shrink) and _alike(job.found, self.queue[0])
            for job in (*self.jobs.values(), *self.suspects)
        ):
            self._found(self.queue.popleft())

    def flush(self) -> None:
        """Keep what was found and is still waiting for its turn."""
        for found in (*self.queue, *(f for _, batch in self.arrived.values() for f in batch)):
            if not any(_explains(old, found) for old in self.result.found.values()):
                self.result.found[found.cause] = found
                self.on_found(found)

    def _found(self, found: Found) -> None:
        known = next((c for c, old in self.result.found.items() if _explains(old, found)), None)
        if known is not None:
            old = self.result.found[known]
            self.result.found[known] = replace(old, duplicates=old.duplicates + 1)
            return
        self.result.found[found.cause] = found
        self.on_found(found)
        if self.plan.shrink and not found.shrunk and not found.hazardous:
            self._submit(Shrink(found, self.plan.fault, self.plan.timeout))

    def _named(self, original: Found, small: Found) -> None:
        """A shrunk find may turn out to be one that is known, or to be the better form of one."""
        before = self.result.found.pop(original.cause, original)
        small = replace(small, duplicates=before.duplicates)
        known = next((c for c, old in self.result.found.items() if _explains(old, small)), None)
        if known is not None:
            old = self.result.found[known]
            self.result.found[known] = replace(old, duplicates=old.duplicates + small.duplicates + 1)
            return
        for cause, old in list(self.result.found.items()):
            if _explains(small, old):
                del self.result.found[cause]
                small = replace(small, duplicates=small.duplicates + old.duplicates + 1)
        self.result.found[small.cause] = small
        self.on_found(small)

    def _recover(self) -> None:
        """A worker died: a new pool, and what was under way once more, each example on its own. A job that had the
        pool for itself is the one that kills: an example is a find, whose kernel another worker tells (this process is
        not risked), and a find that kills while it is made smaller stands as it was found."""
        self.executor.shutdown(wait=False)
        late = time.monotonic() - self.since > PATIENCE * self.plan.timeout
        self.executor = self.make()
        jobs, self.jobs = list(self.jobs.values()), {}
        for job in jobs:
            if isinstance(job, Batch) and job.count > 1:
                self.suspects += [Batch(job.plan, job.start + i, 1) for i in range(job.count)]
            elif len(jobs) > 1:
                self.suspects.append(job)
            elif isinstance(job, Batch):
                self.suspects.appendleft(Remake(job, late))
            elif isinstance(job, Remake):
                self._ended(job, ended(job))
        self._advance()

    def _ended(self, job: Remake, found: Found) -> None:
        self.result.stats.kernels += 1
        self.arrived[job.batch.start] = 1, [found]


def _alike(old: Found, new: Found) -> bool:
    return (old.find.oracle, old.find.cause) == (new.find.oracle, new.find.cause)


def _explains(old: Found, new: Found) -> bool:
    """Whether a known find is likely the cause of a new one: same oracle and words, and for a wrong result all ops of
    the known kernel are in the new one."""
    return _alike(old, new) and (old.find.trial is None or ops_of(old.kernel) <= ops_of(new.kernel))
