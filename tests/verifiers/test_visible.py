"""RACE-VISIBLE: which of the two kinds of fences makes which write visible to whom; each beside a run."""

from __future__ import annotations

import pytest

from pypto_verified.check import CheckOptions, verify_module
from pypto_verified.pto.reader import read
from pypto_verified.report.model import Verdict
from pypto_verified.simulator.schedule.runs import replay
from pypto_verified.targets import target
from tests.verifiers.examples_race import VEC, both
from tests.verifiers.kernels import alloc, fill, kernel, load, store, unary, view, window

FENCE = "pto.fence.barrier_all #pto.fence_scope<gm>"
CLEAN = "pto.cmo.cacheinvalid all #pto.address_space<gm>"
SCALAR_STORE = "%x = arith.constant 1.0 : f32\npto.store_scalar %x, %p[%c0] : !pto.ptr<f32>, f32"
SCALAR_LOAD = "%y = pto.load_scalar %p[%c0] : !pto.ptr<f32> -> f32"
BULK_STORE, BULK_LOAD = store("a", "w", VEC, "32x64"), load("w", "b", VEC, "32x64")
KINDS = {
    "scalar to bulk": (SCALAR_STORE, "S MTE2", BULK_LOAD),
    "bulk to scalar": (BULK_STORE, "MTE3 S", SCALAR_LOAD),
    "bulk to bulk": (BULK_STORE, "MTE3 MTE2", BULK_LOAD),
}


@pytest.mark.requirement("EV-02")
@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize(("kind", "helps"), [
    ("scalar to bulk", CLEAN), ("bulk to scalar", CLEAN), ("bulk to bulk", FENCE)])
@pytest.mark.parametrize("between", ["", FENCE, CLEAN])
def test_the_data_cache_needs_a_cleaning_and_bulk_a_fence(kind: str, helps: str, between: str, strict: bool) -> None:
    """A flag orders the two ops; between bulk accesses that is enough but for the stricter reading. A fence waits for
    transfers and leaves the data cache alone (PTOAS lowers it to barriers and dsb, a cleaning to dcci)."""
    write, flag, reader = KINDS[kind]
    text = kernel("\n".join((
        view("pv", "p", "c32"), alloc("a", VEC), alloc("b", VEC, 8192), fill("a", VEC),
        window("w", "pv", "%c0, %c0", "%c32, %c64", "32x64"), both("V MTE3"), write, both(flag),
        *([between] if between else []), reader)))
    hidden = between != helps and (strict or kind != "bulk to bulk")
    module = read(text, "k.pto")
    (result,) = verify_module(module, target("a2a3"), CheckOptions(strict=strict))
    verdicts = {o.verdict for o in result.obligations if o.rule == "RACE-VISIBLE"}
    assert verdicts <= {Verdict.REFUTED if hidden else Verdict.PROVED}
    assert verdicts or not hidden
    assert not any(f.rule == "REPLAY" for f in result.findings)
    outcome = replay(module, "k", {}, target("a2a3"), strict=strict)
    assert outcome.races == [] and bool(outcome.unseen) is hidden


@pytest.mark.requirement("EV-02")
@pytest.mark.parametrize("kind", ["scalar to bulk", "bulk to scalar"])
@pytest.mark.parametrize("ordered", [False, True])
def test_what_nothing_orders_is_not_said_to_be_ordered_by_a_flag(kind: str, ordered: bool) -> None:
    """Both findings are replayed: the read that does not wait for the write does not see it either."""
    write, flag, reader = KINDS[kind]
    text = kernel("\n".join((
        view("pv", "p", "c32"), alloc("a", VEC), alloc("b", VEC, 8192), fill("a", VEC),
        window("w", "pv", "%c0, %c0", "%c32, %c64", "32x64"), both("V MTE3"), write, *([both(flag)] * ordered),
        reader)))
    (result,) = verify_module(read(text, "k.pto"), target("a2a3"), CheckOptions())
    found = {f.rule: f for f in result.findings if f.rule.startswith("RACE") or f.rule == "REPLAY"}
    assert found.keys() == ({"RACE-VISIBLE"} if ordered else {"RACE-VISIBLE", "RACE-RAW"})
    assert all(f.replay.startswith("confirmed") for f in found.values())
    assert ("a flag orders the two" in found["RACE-VISIBLE"].message) is ordered


@pytest.mark.requirement("EV-02")
@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("fenced", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_a_fence_waits_for_the_scalar_unit_too(kind: str, fenced: bool, strict: bool) -> None:
    """It runs there, behind a scalar store: no flag has to order what comes after."""
    write, _, reader = KINDS[kind]
    text = kernel("\n".join((
        view("pv", "p", "c32"), alloc("a", VEC), alloc("b", VEC, 8192), fill("a", VEC),
        window("w", "pv", "%c0, %c0", "%c32, %c64", "32x64"), both("V MTE3"), write, *([FENCE] * fenced), CLEAN,
        reader)))
    module = read(text, "k.pto")
    (result,) = verify_module(module, target("a2a3"), CheckOptions(strict=strict))
    found = [f for f in result.findings if f.rule in ("RACE-RAW", "REPLAY")]
    assert bool(found) is not fenced
    assert all(f.replay.startswith("confirmed") for f in found)
    assert bool(replay(module, "k", {}, target("a2a3"), strict=strict).races) is not fenced


@pytest.mark.requirement("EV-02")
@pytest.mark.parametrize("fenced", [False, True])
def test_a_fence_waits_for_what_the_pipes_of_memory_have_waited_for(fenced: bool) -> None:
    """MTE3 waits for a vector op; behind the fence that op is over, for other vector ops too."""
    text = kernel("\n".join((
        alloc("a", VEC), alloc("b", VEC, 8192), fill("a", VEC), both("V MTE3"), *([FENCE] * fenced),
        unary("texp", "a", "b", VEC))))
    module = read(text, "k.pto")
    (result,) = verify_module(module, target("a2a3"), CheckOptions())
    assert any(f.rule == "RACE-RAW" and f.replay.startswith("confirmed") for f in result.findings) is not fenced
    assert not any(f.rule == "REPLAY" for f in result.findings)
    assert bool(replay(module, "k", {}, target("a2a3")).races) is not fenced
