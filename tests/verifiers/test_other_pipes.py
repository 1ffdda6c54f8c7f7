"""Names of pipes that the dialect has and no op runs on: what such a flag or barrier does is not modelled."""

from __future__ import annotations

import pytest

from pypto_verified.report.model import Verdict
from tests.verifiers.kernels import alloc, check, fill, kernel, store, tile, view, window

VEC = tile()


def judged(sync: str) -> set[tuple[str, Verdict]]:
    """A fill and a store, ordered by flags of V and MTE3, with `sync` before them."""
    flags = [f"pto.{what}_flag[<PIPE_V>, <PIPE_MTE3>, <EVENT_ID0>]" for what in ("set", "wait")]
    result = check(kernel("\n".join((
        sync, alloc("x", VEC), fill("x", VEC), view("o", "q", "c32"),
        window("w", "o", "%c0, %c0", "%c32, %c64", "32x64"), *flags, store("x", "w", VEC, "32x64")))),
        families="EVENT RACE")
    return {(f.rule, f.verdict) for f in result.findings}


@pytest.mark.parametrize("sync", [
    "pto.set_flag[<PIPE_V>, <PIPE_MTE4>, <EVENT_ID0>]\npto.wait_flag[<PIPE_V>, <PIPE_MTE4>, <EVENT_ID0>]",
    "pto.set_flag[<PIPE_V2>, <PIPE_V>, <EVENT_ID0>]", "pto.wait_flag[<PIPE_MTE2>, <PIPE_MTE5>, <EVENT_ID0>]",
    "pto.barrier <PIPE_MTE5>", "pto.set_flag[<PIPE_ALL>, <PIPE_V>, <EVENT_ID0>]",
    "pto.wait_flag[<PIPE_V>, <PIPE_ALL>, <EVENT_ID0>]"])
def test_a_flag_or_barrier_of_such_a_pipe_is_open(sync: str) -> None:
    assert judged(sync) == {("MODEL-OP", Verdict.UNKNOWN)}


def test_pipes_that_ops_run_on_are_followed() -> None:
    assert judged("pto.barrier <PIPE_MTE3>") == set()
    assert judged("pto.barrier <PIPE_ALL>") == set()
