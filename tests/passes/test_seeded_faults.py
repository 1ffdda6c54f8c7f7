"""The comparison of meaning and placement notices wrong passes: seeded faults change what is stored."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from pypto_verified.passes import interference, materialize_semantic_aliases, memory_reuse, pipeline
from pypto_verified.passes.buffers import base_of
from pypto_verified.passes.interference import Interference
from pypto_verified.targets import target

from .build import kernel
from .machine import meaning, placed

PARAMS = """
a: pl.Tensor[[256, 64], pl.FP32],
n: pl.Scalar[pl.INDEX],
out: pl.Out[pl.Tensor[[256, 64], pl.FP32]]
"""
OVERWRITES = """
x = pl.load(a, [0, 0], [16, 64])
y = pl.tile.assemble(x, pl.load(a, [64, 0], [4, 64]), [0, 0])
out = pl.store(x, [0, 0], out)
return pl.store(y, [16, 0], out)
"""
NOT_IN_PLACE = """
x = pl.load(a, [0, 0], [16, 64])
y = pl.recip(x)
return pl.store(y, [0, 0], out)
"""
TWO_LIVE = """
x = pl.load(a, [0, 0], [16, 64])
y = pl.load(a, [16, 0], [16, 64])
z = pl.add(x, y)
return pl.store(z, [0, 0], out)
"""
LATER_TRIP = """
x = pl.load(a, [0, 0], [16, 64])
for i in pl.range(n):
    y = pl.exp(x)
    out = pl.store(y, [i * 16, 0], out)
return out
"""
SWAP = """
x = pl.load(a, [0, 0], [16, 64])
y = pl.load(a, [16, 0], [16, 64])
for i in pl.range(n):
    t = x
    x = y
    y = t
out = pl.store(x, [0, 0], out)
return pl.store(y, [16, 0], out)
"""

Fault = Callable[[pytest.MonkeyPatch], None]


def _no_copy_before_overwriting(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(pipeline, "PASSES", tuple(p for p in pipeline.PASSES if p.name != "CopyOverwrittenTiles"))


def _every_result_may_stand_on_every_operand(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(interference, "may_stand_on", lambda call, position, result: True)


def _all_buffers_of_a_space_share(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(memory_reuse, "interference", lambda *args, **kwargs: Interference())


def _a_later_trip_reads_nothing(patch: pytest.MonkeyPatch) -> None:
    def once(self, iter_args, prelude, body, tested, live, depth, record, span):  # type: ignore[no-untyped-def]
        carried = [base_of(a.var) for a in iter_args]
        start = self.block(body, live, carried, depth + 1, record)
        inits = [(p, base_of(a.init)) for p, a in zip(carried, iter_args, strict=True) if p]
        return self.transfer(inits, start | live, depth, record, span)

    patch.setattr(interference._Flow, "loop", once)


def _copies_in_the_order_of_the_yield(patch: pytest.MonkeyPatch) -> None:
    def one_after_another(self, transfers, span):  # type: ignore[no-untyped-def]
        return [self._copy(t, t.var.type, span) for t in transfers if t.needed]

    patch.setattr(materialize_semantic_aliases._Copies, "parallel", one_after_another)


@pytest.mark.parametrize(
    ("fault", "body"),
    [
        (_no_copy_before_overwriting, OVERWRITES),
        (_every_result_may_stand_on_every_operand, NOT_IN_PLACE),
        (_all_buffers_of_a_space_share, TWO_LIVE),
        (_a_later_trip_reads_nothing, LATER_TRIP),
        (_copies_in_the_order_of_the_yield, SWAP),
    ],
)
def test_a_seeded_fault_changes_what_is_stored(fault: Fault, body: str, monkeypatch: pytest.MonkeyPatch) -> None:
    f = kernel(PARAMS, body)
    scalars = {"n": 3}
    assert placed(pipeline.run(f, target("a2a3")), scalars) == meaning(f, scalars)
    fault(monkeypatch)
    assert placed(pipeline.run(f, target("a2a3")), scalars) != meaning(f, scalars)
