"""RACE-CORE: what the scalar unit of one core stores the other one sees when the cache of its core has been cleaned."""

from __future__ import annotations

import numpy as np
import pytest

from pypto_verified.pto.reader import read
from pypto_verified.report.model import Verdict
from pypto_verified.simulator import schedule
from pypto_verified.targets import target
from tests.verifiers.kernels import alloc, check, finding, kernel, load, verdicts, view, window
from tests.verifiers.rings_between_cores import MAT

STORE = "pto.store_scalar %one, %p[%c0] : !pto.ptr<f32>, f32"
CLEAN = "pto.cmo.cacheinvalid all #pto.address_space<gm>"
TELL = "pto.sync.set #pto.pipe<PIPE_S>, 3"


def text(*lanes: str) -> str:
    body = (
        view("pv", "p", "c128", "c16"), "pto.section.cube {", alloc("m", MAT, 0, "c16", "c16"),
        "pto.sync.wait #pto.pipe<PIPE_MTE2>, 3", window("w", "pv", "%c0, %c0", "%c16, %c16", "16x16"),
        load("w", "m", MAT, "16x16"), "}", "pto.section.vector {", *lanes, "}")
    return kernel("\n".join(body)).replace(" attributes {pto.kernel_kind = #pto.kernel_kind<vector>}", "")


@pytest.mark.requirement("EV-06", "EV-02")
@pytest.mark.parametrize(("lanes", "expected"), [
    ((STORE, CLEAN, TELL), Verdict.PROVED), ((STORE, TELL), Verdict.UNKNOWN), ((CLEAN, STORE, TELL), Verdict.UNKNOWN)])
def test_a_scalar_store_stays_in_the_cache_of_its_core(lanes: tuple[str, ...], expected: Verdict) -> None:
    both = text(*lanes)
    result = check(both, families="RACE")
    assert verdicts(result, "RACE-CORE") == {expected}
    if expected is Verdict.UNKNOWN:
        assert "stays in the cache of its core" in finding(result, "RACE-CORE").message
    nothing = np.zeros((128, 16), np.float32)
    ran = schedule.run(read(both, "k.pto"), target("a2a3"), {"p": nothing, "q": nothing})
    assert not [r for r in ran.races if r.first.core[:4] != r.second.core[:4]]
    assert bool(ran.unseen) is (expected is Verdict.UNKNOWN)
