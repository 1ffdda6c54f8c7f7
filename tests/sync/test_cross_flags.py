"""Automatic mode beside flags between cores: a set tells the other core of what this one has stored."""

from __future__ import annotations

import pytest

from pypto_verified.sync import insert_sync
from pypto_verified.targets import target
from pypto_verified.targets.pipes import CROSS_FLAGS, CrossFlag
from tests.sync.programs import Program, syncs


@pytest.mark.requirement("EV-06")
@pytest.mark.parametrize("row", CROSS_FLAGS, ids=lambda row: f"{row.set}-{row.target}")
def test_a_flag_for_another_core_waits_for_the_store_before_it_and_the_load_for_the_flag(row: CrossFlag) -> None:
    p = Program(row.target)
    p.line(f"{row.wait} <PIPE_V>, 4")
    p.load(p.tile(0))
    p.line("pto.barrier <PIPE_ALL>")
    p.store(p.tile(1))
    p.line(f"{row.set} <PIPE_MTE2>, 3")
    found = syncs(insert_sync(p.module(), target(row.target)))
    assert [s for s in found if s.startswith(("V>MTE2", "MTE3>MTE2"))] == ["V>MTE2 0", "MTE3>MTE2 0"]
