"""A campaign on a cluster finds what one on this machine finds."""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from pypto_verified.cli import main
from pypto_verified.errors import InputError
from pypto_verified.fuzz.campaign import run
from pypto_verified.fuzz.cluster import Cluster
from pypto_verified.fuzz.processes import pool
from pypto_verified.fuzz.records import Plan

distributed = pytest.importorskip("distributed")
FAULTY = Plan(seed=1, examples=60, batch=10, deep_every=0, fault="sub-is-add")


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        yield cluster.scheduler_address


def test_a_cluster_finds_what_the_pool_finds(address: str) -> None:
    there = run(partial(Cluster, address), 2, FAULTY)
    here = run(partial(pool, 2), 2, FAULTY)
    assert set(there.found) == set(here.found)
    assert there.stats.kernels == here.stats.kernels == 60
    assert there.stats.features == here.stats.features


def test_the_command_takes_the_address_of_a_scheduler(address: str, tmp_path: Path) -> None:
    arguments = ["fuzz", "--examples", "30", "--scheduler", address, "--corpus", str(tmp_path)]
    assert main(arguments) == 0


def test_a_cluster_without_this_package_is_wrong_input(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pypto_verified.fuzz.cluster._PACKAGE", "pypto_that_nobody_installed")
    with pytest.raises(InputError, match="can't use this package: No module named 'pypto_that_nobody_installed'"):
        Cluster(address)


@pytest.mark.parametrize("address", ["nonsense", "tcp://host", "host:port"])
def test_what_is_no_address_is_told_at_once(address: str) -> None:
    started = time.monotonic()
    with pytest.raises(InputError, match=f"no scheduler at {address}"):
        Cluster(address)
    assert time.monotonic() - started < 5


def test_an_address_without_a_scheduler_is_wrong_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pypto_verified.fuzz.cluster._PATIENCE", "200ms")
    with pytest.raises(InputError, match=r"no scheduler at tcp://127\.0\.0\.1:9"):
        Cluster("tcp://127.0.0.1:9")
