"""Kernels that end a worker, or that the generator fails to make: each is a find, and no other kernel is lost."""

from __future__ import annotations

import os
import pickle
import signal
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from pypto_verified.fuzz import campaign, folder, work
from pypto_verified.fuzz.campaign import run
from pypto_verified.fuzz.draw import Seeded
from pypto_verified.fuzz.generator import kernel
from pypto_verified.fuzz.processes import pool
from pypto_verified.fuzz.records import Batch, Found, Job, Outcome, Plan, Shrink
from pypto_verified.fuzz.work import run_job
from tests.fuzz.finds import FAULTY, written
from tests.fuzz.inline import Inline


def _dies(job: Job) -> Outcome | Found:
    if isinstance(job, Batch) and 17 in job.examples():
        os.kill(os.getpid(), signal.SIGKILL)
    return run_job(job)


@pytest.mark.skipif(sys.platform == "win32", reason="kills its worker")
@pytest.mark.parametrize("workers", [1, 2])
def test_a_worker_that_dies_loses_nothing_and_is_a_find(workers: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(campaign, "run_job", _dies)
    plan = Plan(seed=5, examples=30, batch=10, deep_every=0, shrink=False)
    seen: list[int] = []
    result = run(partial(pool, workers), workers, plan, on_found=lambda found: seen.append(found.example))
    (found,) = result.found.values()
    assert (found.find.cause, found.example, found.duplicates) == ("the worker died", 17, 0)
    assert seen == [17]
    stats = result.stats
    assert stats.kernels == 30
    assert stats.agreed + stats.undefined + sum(stats.left_out.values()) == 29, "all others are examined"
    assert found.kernel == kernel(Seeded(5, 17))


class _Deadly(Seeded):
    """Ends the process that generates one of the kernels."""

    def __init__(self, seed: int, example: int) -> None:
        if example == 17:
            os.kill(os.getpid(), signal.SIGKILL)
        super().__init__(seed, example)


@pytest.mark.skipif(sys.platform == "win32", reason="kills its worker")
def test_a_kernel_whose_generation_kills_ends_no_campaign(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(work, "Seeded", _Deadly)
    plan = Plan(seed=5, examples=30, batch=10, deep_every=0)
    result = run(partial(pool, 2), 2, plan)
    (found,) = result.found.values()
    assert (found.find.cause, found.example, found.statements) == ("the worker died", 17, 0)
    assert result.stats.kernels == 30
    assert (folder.write(found, tmp_path) / "kernel.py").exists()


def test_a_generator_that_fails_is_a_find_and_ends_no_campaign(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def fails(draw: Seeded) -> None:
        raise KeyError("lost")

    monkeypatch.setattr(work, "generate", fails)
    result = run(Inline, 1, Plan(examples=5))
    assert list(result.found) == ["generated: KeyError: 'lost'"]
    (found,) = result.found.values()
    made, told = written(pickle.loads(pickle.dumps(found)), tmp_path)
    assert "there is no kernel: making it failed" in told
    assert not (made / "kernel.pto").exists()


def _dies_while_shrinking(job: Job) -> Outcome | Found:
    if isinstance(job, Shrink):
        os.kill(os.getpid(), signal.SIGKILL)
    return run_job(job)


@pytest.mark.skipif(sys.platform == "win32", reason="kills its worker")
def test_a_find_that_kills_while_it_is_made_smaller_stands_as_it_was_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(campaign, "run_job", _dies_while_shrinking)
    result = run(partial(pool, 2), 2, replace(FAULTY, examples=30))
    assert result.stats.kernels == 30
    assert result.found
    assert not any(found.shrunk for found in result.found.values())
