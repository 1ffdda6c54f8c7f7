"""RACE-CORE: of several stores that nothing orders with a load of the other core a run shows the last one."""

from __future__ import annotations

import pytest

from pypto_verified.pto.reader import read
from pypto_verified.report.model import Verdict
from pypto_verified.targets import target
from pypto_verified.witness import replayed
from tests.verifiers.kernels import alloc, kernel, load, store, view, window
from tests.verifiers.rings_between_cores import ACC, VEC
from verifiers import Options, verify


@pytest.mark.requirement("EV-06", "VF-03")
@pytest.mark.parametrize("stores", [1, 2, 4])
def test_stores_that_a_later_one_covers_are_no_fault_of_the_replay(stores: int) -> None:
    put = [line for n in range(stores) for line in (
        window(f"w{n}", "pv", "%c0, %c0", "%c16, %c16", "16x16"), store("acc", f"w{n}", ACC, "16x16"),
        "pto.barrier <PIPE_ALL>")]
    text = kernel("\n".join((
        view("pv", "p", "c128", "c16"), "pto.section.cube {", alloc("acc", ACC, 0, "c16", "c16"), *put,
        "pto.sync.set #pto.pipe<PIPE_FIX>, 3", "}", "pto.section.vector {", alloc("t", VEC, 0, "c16", "c16"),
        window("there", "pv", "%c0, %c0", "%c16, %c16", "16x16"), load("there", "t", VEC, "16x16"),
        "pto.sync.wait #pto.pipe<PIPE_MTE2>, 3", "}"))).replace(
            " attributes {pto.kernel_kind = #pto.kernel_kind<vector>}", "")
    module, chip = read(text, "k.pto"), target("a2a3")
    (result,) = verify(module, chip, Options(families=frozenset({"RACE"}), explicit_sync=True))
    found = replayed(result, module, chip, 0, {}).findings
    assert {(f.rule, f.verdict) for f in found} == {("RACE-CORE", Verdict.REFUTED)} and len(found) == stores
    assert sum(f.replay.startswith("confirmed") for f in found) == 1
    assert sum(f.replay.startswith("not run: another race of the two cores") for f in found) == stores - 1
