"""Flags and events order nothing in a run of one core; that each is free when it is set is checked (EV-09)."""

from __future__ import annotations

import numpy as np
import pytest

from pypto_verified.interpreter import Undefined, interpret
from tests.interpreter.kernels import Array, tensor
from tests.passes.build import kernel

PARAMS = ",\n".join([tensor("a", (16, 64)), tensor("out", (16, 64), out=True)])
X: Array = np.arange(1024, dtype=np.float32).reshape(16, 64)


def run(*lines: str) -> Array:
    body = "".join(f"    {line}\n" for line in (
        'e = pl.Event("TLOAD", "TADD")', "x = pl.load(a, [0, 0], [16, 64])", *lines, "return pl.store(x, [0, 0], out)"))
    return interpret(kernel(PARAMS, "\n" + body), {"a": X, "out": 0 * X})["out"]


@pytest.mark.requirement("EV-09")
def test_events_and_barriers_change_no_value() -> None:
    got = run("e.record()", "e.wait()", "pl.system.bar_all()", 'pl.system.tsync(name="TADD")', "pl.system.syncall()")
    np.testing.assert_array_equal(got, X)


@pytest.mark.requirement("EV-03", "EV-09")
def test_an_event_that_is_recorded_again_names_both_places() -> None:
    with pytest.raises(Undefined, match=r"MTE2 -> V id 0 is set already, by line (\d+)") as caught:
        run("e.record()", "pl.system.bar_all()", "e.record()")
    first = int(str(caught.value).partition("by line ")[2].partition(":")[0])
    assert caught.value.location.line == first + 2


@pytest.mark.requirement("EV-03")
def test_a_wait_frees_the_flag_of_its_pair_and_id_alone() -> None:
    run("e.record()", "e.wait()", "e.record()", "e.wait()")
    other = "event_id=1"
    run("e.record()", f"pl.system.sync_src(set_pipe=1, wait_pipe=4, {other})", "e.wait()",
        f"pl.system.sync_dst(set_pipe=1, wait_pipe=4, {other})")
    with pytest.raises(Undefined, match="is set already"):
        run("e.record()", "pl.system.sync_src(set_pipe=1, wait_pipe=4, event_id=0)")


def test_a_wait_that_nothing_set_never_ends() -> None:
    with pytest.raises(Undefined, match="the wait never ends"):
        run("e.wait()")
