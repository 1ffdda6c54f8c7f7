"""What takes too long: interrupted, a find of its own, and no end of a campaign."""

from __future__ import annotations

import contextlib
import signal
import sys
import time
from collections.abc import Callable
from concurrent.futures import Executor, ThreadPoolExecutor
from functools import partial
from itertools import chain, repeat
from pathlib import Path
from types import SimpleNamespace

import pytest

from pypto_verified.fuzz import folder, work
from pypto_verified.fuzz.campaign import run
from pypto_verified.fuzz.draw import Seeded
from pypto_verified.fuzz.generator import kernel
from pypto_verified.fuzz.limit import Late, limited
from pypto_verified.fuzz.processes import pool
from pypto_verified.fuzz.records import Found, Plan
from pypto_verified.fuzz.shrink import size
from tests.fuzz.inline import Inline
from tests.fuzz.jobs import STUCK, out_of_reach, stuck

PLAN = Plan(seed=5, examples=20, batch=10, deep_every=0, timeout=0.6)

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there is no timer")


def _work(seconds: float) -> None:
    until = time.thread_time() + seconds
    while time.thread_time() < until:
        pass


def test_a_loop_without_end_is_interrupted_and_the_timer_given_back() -> None:
    before = signal.getsignal(signal.SIGPROF)
    with pytest.raises(Late), limited(0.05):
        while True:
            pass
    assert signal.getsignal(signal.SIGPROF) is before
    assert signal.getitimer(signal.ITIMER_PROF) == (0.0, 0.0)


def test_what_ends_in_time_is_left_alone() -> None:
    with limited(0.05):
        pass
    _work(0.1)


def test_what_takes_an_interrupt_for_its_own_error_is_interrupted_again() -> None:
    with pytest.raises(Late), limited(0.05):
        with contextlib.suppress(BaseException):
            _work(10)
        _work(10)
    with pytest.raises(Late), limited(0.05), contextlib.suppress(BaseException):
        _work(10)


def test_an_interrupt_that_was_taken_for_something_else_is_told_in_the_end() -> None:
    """What comes after it may be no answer of the product."""
    with pytest.raises(Late), limited(10), contextlib.suppress(BaseException):
        signal.raise_signal(signal.SIGPROF)


def test_only_work_counts() -> None:
    with limited(0.05):
        time.sleep(0.2)


def test_in_another_thread_what_ends_late_is_late() -> None:
    def work() -> None:
        with limited(0.02):
            _work(0.05)

    with ThreadPoolExecutor(1) as threads, pytest.raises(Late):
        threads.submit(work).result()


@pytest.mark.parametrize("make", [Inline, partial(pool, 2)], ids=["here", "pool"])
def test_a_kernel_that_takes_too_long_is_a_find(
    make: Callable[[], Executor], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(work, "examine", stuck)
    seen: list[Found] = []
    result = run(make, 2, PLAN, on_found=seen.append)
    (found,) = result.found.values()
    assert (found.cause, found.example) == ("slow: stuck", STUCK)
    assert found.kernel == kernel(Seeded(5, STUCK))
    assert "more than 0.6 s" in found.find.detail and "stuck" in found.find.detail
    assert seen == [found], "nobody tries to make it smaller: each step would take as long"
    assert result.stats.kernels == 20
    written = folder.write(found, tmp_path, PLAN.timeout)
    assert {p.name for p in written.iterdir()} == {"README.md", "kernel.py", "find.json", "test_find.py"}
    assert [(f.oracle, f.cause) for f in folder.replay(written)] == [("slow", "stuck")]


def test_a_worker_that_can_not_be_interrupted_ends_and_its_kernel_is_a_find(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(work, "examine", out_of_reach)
    result = run(partial(pool, 2), 2, PLAN)
    (found,) = result.found.values()
    assert (found.cause, found.example) == ("slow: the worker died", STUCK)
    assert found.statements == size(kernel(Seeded(5, STUCK)).function)
    assert result.stats.kernels == 20


def test_a_find_is_that_of_the_kernel_it_is_shown_with_when_the_time_is_up(monkeypatch: pytest.MonkeyPatch) -> None:
    plan = Plan(seed=1, examples=60, batch=10, deep_every=0, fault="sub-is-add", shrink=False)
    found = next(f for f in run(Inline, 1, plan).found.values() if "tile.sub" in f.cause and len(f.find.expected) > 2)
    clock = chain([0.0] * 10, repeat(1e9))
    monkeypatch.setattr(work, "time", SimpleNamespace(process_time=lambda: next(clock)))
    small = work.shrink(found, plan.fault)
    parameters = {p.var.name for p in small.kernel.function.params}
    assert len(parameters) < len(found.kernel.function.params)
    assert small.find.trial is not None
    assert set(small.find.expected) <= parameters and set(small.find.trial.values) <= parameters


def test_a_find_is_made_smaller_only_as_long_as_that_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    plan = Plan(seed=1, examples=60, batch=10, deep_every=0, fault="sub-is-add", shrink=False)
    found = next(f for f in run(Inline, 1, plan).found.values() if "tile.sub" in f.cause)
    monkeypatch.setattr(work, "SHRINK_LIMITS", 0)
    assert work.shrink(found, plan.fault).statements == found.statements
