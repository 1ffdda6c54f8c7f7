"""Campaigns: the same finds on every executor, one per cause, small."""

from __future__ import annotations

from functools import partial

import pytest

from pypto_verified.fuzz import work
from pypto_verified.fuzz.campaign import run
from pypto_verified.fuzz.processes import pool
from pypto_verified.fuzz.records import Batch, Found, Plan
from pypto_verified.fuzz.work import run_batch
from tests.fuzz.finds import FAULTY
from tests.fuzz.inline import Inline


def test_a_fault_is_found_once_and_small() -> None:
    seen: list[Found] = []
    result = run(Inline, 1, FAULTY, on_found=seen.append)
    assert result.stats.kernels == 60
    (found,) = [f for f in result.found.values() if "tile.sub" in f.cause]
    assert found.shrunk
    assert found.statements <= 6
    assert found.duplicates >= 1
    assert [f.shrunk for f in seen if f.example == found.example] == [False, True]


def test_processes_find_what_this_process_finds() -> None:
    alone = run(Inline, 1, FAULTY)
    many = run(partial(pool, 2), 2, FAULTY)
    assert set(many.found) == set(alone.found)
    assert many.stats.kernels == alone.stats.kernels == 60
    assert many.stats.features == alone.stats.features


def test_shards_together_are_the_whole() -> None:
    def examples(shard: tuple[int, int]) -> list[int]:
        return list(Batch(Plan(shard=shard), 0, 10).examples())

    assert sorted(examples((0, 3)) + examples((1, 3)) + examples((2, 3))) == list(range(30))


def test_equal_batches_give_equal_counts() -> None:
    batch = Batch(Plan(seed=9), 0, 10)
    first, second = run_batch(batch)[0], run_batch(batch)[0]
    first.busy = second.busy = 0.0
    assert first == second


def test_time_ends_a_campaign() -> None:
    result = run(Inline, 1, Plan(seconds=0.5, batch=5, deep_every=0))
    assert result.stats.kernels > 0
    assert result.seconds < 20


def test_where_a_wrong_result_comes_from_may_fail_in_whatever_way(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*args: object) -> str:
        raise AttributeError("nothing there")

    monkeypatch.setattr(work, "blamed", broken)
    found = run(Inline, 1, FAULTY).found.values()
    assert any(f.find.detail.endswith("; a pass fails: AttributeError: nothing there") for f in found)
