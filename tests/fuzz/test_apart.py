"""A job in a process of its own: what it gives comes back, what ends it or never ends ends nothing else."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest

from pypto_verified.fuzz import apart, campaign
from pypto_verified.fuzz.campaign import run
from pypto_verified.fuzz.draw import Seeded
from pypto_verified.fuzz.generator import kernel
from pypto_verified.fuzz.records import Plan
from tests.fuzz.jobs import STUCK, die, job_out_of_reach, late, number, stuck_job

PLAN = Plan(seed=5, examples=20, batch=10, deep_every=0, timeout=0.6)

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there is no timer")


@pytest.fixture(autouse=True, scope="module")
def ended() -> Iterator[None]:
    yield
    while apart._idle:
        apart._idle.pop().end()


def test_a_process_does_many_jobs_one_after_the_other() -> None:
    first, second = apart.run(number), apart.run(number)
    assert first == second != os.getpid()


def test_a_process_that_nobody_asks_ends_and_the_next_job_gets_another(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(apart, "_IDLE", 0.3)
    monkeypatch.setattr(apart, "_idle", [])
    first = apart.run(number)
    (waiting,) = apart._idle
    assert waiting._child.wait(timeout=30) == apart._UNASKED
    assert apart.run(number) != first
    (waiting,) = apart._idle
    waiting.end()


def test_jobs_of_several_threads_have_processes_of_their_own() -> None:
    with ThreadPoolExecutor(2) as threads:
        one, other = threads.map(partial(apart.run, number), (0.5, 0.5))
    assert one != other


def test_an_error_is_raised_here_and_the_process_goes_on() -> None:
    before = apart.run(number)
    with pytest.raises(ValueError, match="invalid literal"):
        apart.run(int, "x")
    assert apart.run(number) == before


def test_what_a_job_prints_is_no_answer(capfd: pytest.CaptureFixture[str]) -> None:
    assert apart.run(partial(print, "spoken", flush=True)) is None
    assert capfd.readouterr().out == ""


def test_a_job_that_ends_its_process_breaks_nothing_but_itself() -> None:
    with pytest.raises(apart.Died, match="exit code -9"):
        apart.run(die)
    assert apart.run(int, "7") == 7


def test_a_kernel_without_end_is_interrupted_though_a_thread_asked_for_it() -> None:
    with ThreadPoolExecutor(1) as threads:
        assert threads.submit(apart.run, late).result(timeout=60) == "late"


@pytest.mark.parametrize(("job", "cause"), [(stuck_job, "slow: stuck"), (job_out_of_reach, "slow: the worker died")])
def test_on_a_cluster_a_kernel_that_takes_too_long_is_a_find(
    job: object, cause: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    distributed = pytest.importorskip("distributed")
    from pypto_verified.fuzz.cluster import Cluster

    monkeypatch.setattr(campaign, "run_job", job)
    with distributed.LocalCluster(n_workers=1, threads_per_worker=2, processes=False, dashboard_address=None) as local:
        result = run(partial(Cluster, local.scheduler_address), 2, PLAN)
    (found,) = result.found.values()
    assert (found.cause, found.example, found.kernel) == (cause, STUCK, kernel(Seeded(5, STUCK)))
    assert result.stats.kernels == 20
