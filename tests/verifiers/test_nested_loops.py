"""Who wrote what is read is found in polynomial time, however deep loops are nested, and still found."""

from __future__ import annotations

import pytest

from pypto_verified.pto import reader
from pypto_verified.report.model import Verdict
from tests.calls import calls
from tests.verifiers.kernels import alloc, check, fill, kernel, tile, unary, verdicts
from verifiers.access import build_program
from verifiers.liveness import Flow

VEC = tile()


def _nest(depth: int, temp: int = 16384) -> str:
    """Loops of two trips, one in the other: x, made outside, is read in each, and the innermost writes a temporary."""
    read = unary("texp", "x", "y", VEC)
    heads = [line for k in range(depth) for line in (f"scf.for %i{k} = %c0 to %c2 step %c1 {{", read)]
    inner = [alloc("temp", VEC, temp), fill("temp", VEC), unary("tabs", "temp", "y", VEC)]
    return kernel("\n".join((
        alloc("x", VEC, 0), fill("x", VEC), alloc("y", VEC, 8192), *heads, *inner, *["}"] * depth)))


def test_twice_the_nesting_costs_at_most_eight_times_as_much() -> None:
    """What analyses a body twice at each level would cost 256 times as much."""
    shallow, deep = (build_program(reader.read(_nest(depth)).funcs[0], "k.pto", "a2a3") for depth in (8, 16))
    calls(lambda: Flow(deep), limit=8 * calls(lambda: Flow(shallow)))


@pytest.mark.parametrize(("temp", "verdict"), [(16384, Verdict.PROVED), (4096, Verdict.REFUTED)])
def test_a_temporary_of_the_innermost_of_sixteen_loops_is_judged_in_every_loop(temp: int, verdict: Verdict) -> None:
    """At byte 4096 the temporary destroys half of x, which each of the loops reads again."""
    found = verdicts(check(_nest(16, temp), families="PLAN"), "PLAN-OVERLAP")
    assert verdict in found and found <= {verdict, Verdict.PROVED}
