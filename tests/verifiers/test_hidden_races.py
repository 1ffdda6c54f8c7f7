"""RACE-CORE: of several stores that nothing orders with a load of the other core a run shows the last one."""

from __future__ import annotations

import pytest

from pypto_verified.pto.reader import read
from pypto_verified.report.model import Verdict
from pypto_verified.simulator import schedule
from pypto_verified.targets import target
from pypto_verified.witness import replayed
from tests.verifiers.examples_fifo import FREE, PUSH, pair_of_cores, pop
from tests.verifiers.kernels import alloc, kernel, load, store, tile, view, window
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


MAT = tile(16, 16, loc="mat", blayout="col_major", slayout="row_major")
HERE = window("here", "pv", "%c0, %c0", "%c16, %c16", "16x16")


def read_back(*other: str) -> str:
    """A cube stores, tells the vector cores, which do something and answer, and loads what it has stored."""
    return kernel("\n".join((
        view("pv", "p", "c128", "c16"), HERE, "pto.section.cube {", alloc("acc", ACC, 0, "c16", "c16"),
        alloc("mat", MAT, 0, "c16", "c16"), store("acc", "here", ACC, "16x16"), "pto.sync.set #pto.pipe<PIPE_FIX>, 3",
        "pto.sync.wait #pto.pipe<PIPE_MTE2>, 4", load("here", "mat", MAT, "16x16"), "}", "pto.section.vector {",
        alloc("t", VEC, 0, "c16", "c16"), "pto.sync.wait #pto.pipe<PIPE_MTE3>, 3", *other,
        "pto.sync.set #pto.pipe<PIPE_MTE3>, 4", "}"))).replace(
            " attributes {pto.kernel_kind = #pto.kernel_kind<vector>}", "")


FENCE = "pto.fence.barrier_all #pto.fence_scope<gm>"
OVER = ("%own = pto.get_subblock_idx", "%lane = arith.index_cast %own : i64 to index",
        "%first = arith.cmpi eq, %lane, %c0 : index", "scf.if %first {", store("t", "here", VEC, "16x16"), "}")


@pytest.mark.requirement("EV-02", "VF-03")
@pytest.mark.parametrize(("other", "shown"), [
    ((), "confirmed: pto.tload"),
    (OVER, "not run: another core writes over it in between: pto.tload"),
    ((FENCE,), "confirmed: pto.tload"),
    ((*OVER, FENCE), "not run: another core writes over it in between: "),
])
def test_a_flag_around_another_core_is_no_fence_in_the_strict_reading(other: tuple[str, ...], shown: str) -> None:
    """What a core reads back of its own; a fence of the other core publishes what that one has written. Where the other
    one writes over it in between, no run shows that it is stale."""
    module, chip = read(read_back(*other), "k.pto"), target("a2a3")
    asked = Options(families=frozenset({"RACE"}), explicit_sync=True, strict=True)
    (result,) = verify(module, chip, asked)
    result = replayed(result, module, chip, 0, {}, strict=True)
    assert not any(f.verdict is Verdict.ERROR for f in result.findings)
    (found,) = (f for f in result.findings if f.rule == "RACE-VISIBLE")
    assert found.verdict is Verdict.REFUTED and found.replay.startswith(shown)


@pytest.mark.parametrize("strict", [False, True])
def test_a_pipe_of_the_library_shows_the_tile_that_it_hands_on(strict: bool) -> None:
    module = read(pair_of_cores(PUSH, f"{pop()}\n{FREE}"), "k.pto")
    assert schedule.replay(module, "cube", {"n": 1}, target("a2a3"), strict=strict).unseen == []
