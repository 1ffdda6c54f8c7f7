"""One process an item: results in order, and no item takes another one down."""

from __future__ import annotations

import os
import time

import pytest

from pypto_verified.workers import Failure, Workers


def work(item: str) -> str:
    if item == "hang":
        time.sleep(60)
    if item == "exit":
        os._exit(7)
    if item == "kill":
        os.kill(os.getpid(), 9)
    return f"done {item} in {os.getpid()}"


@pytest.mark.parametrize("jobs", [1, 2, 5])
def test_each_item_gets_its_own_result_or_failure(jobs: int) -> None:
    first, hang, ended, killed, last = Workers(work, jobs, 1.0).run(["a", "hang", "exit", "kill", "b"])
    assert isinstance(first, str) and first.startswith("done a in ")
    assert isinstance(last, str) and last.startswith("done b in ")
    assert hang == Failure(True, "no verdict within 1 s")
    assert ended == Failure(False, "its process ended with exit code 7 before a verdict")
    assert killed == Failure(False, "its process died of SIGKILL")


def test_no_process_is_left_and_none_is_shared() -> None:
    results = Workers(work, 2, 5.0).run(["a", "b", "c"])
    pids = {int(str(r).rpartition(" ")[2]) for r in results}
    assert len(pids) == 3 and os.getpid() not in pids
    for pid in pids:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


def test_without_items_there_is_nothing_to_do() -> None:
    assert Workers(work, 2, 1.0).run([]) == []


def test_jobs_run_at_the_same_time() -> None:
    def nap(item: int) -> float:
        start = time.monotonic()
        time.sleep(0.5)
        return start

    starts = Workers(nap, 3, 10.0).run([0, 1, 2])
    assert all(isinstance(s, float) for s in starts)
    numbers = [s for s in starts if isinstance(s, float)]
    assert max(numbers) - min(numbers) < 0.5
