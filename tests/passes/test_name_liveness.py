"""Which names are live at the start of a loop's trip."""

from __future__ import annotations

from pypto_verified.ir.stmt import For
from pypto_verified.ir.walk import walk_stmts
from pypto_verified.passes.name_liveness import live_before, loop_head
from tests.passes.build import kernel


def _loop() -> For:
    """Each trip reads `old` and `x`, and writes `new`; nothing of it is read afterwards but what the test says."""
    function = kernel("x: pl.Tensor[[32, 32], pl.FP32], out: pl.Out[pl.Tensor[[32, 32], pl.FP32]]", """
        old = pl.load(x, [0, 0], [32, 32])
        for i in pl.range(4):
            new = pl.add(old, old)
            out = pl.store(new, [0, 0], out)
        return out
    """)
    (loop,) = (s for s in walk_stmts(function.body) if isinstance(s, For))
    return loop


def test_what_a_trip_reads_and_what_is_read_after_the_loop_is_live_at_its_start() -> None:
    head = loop_head(_loop(), frozenset({"later"}))
    assert {"old", "out", "later"} <= head
    assert "new" not in head


def test_what_a_trip_writes_first_and_the_code_after_the_loop_reads_is_live_as_the_loop_may_end() -> None:
    loop = _loop()
    assert "new" not in live_before(loop.body, frozenset({"new"}))
    assert "new" in loop_head(loop, frozenset({"new"}))
