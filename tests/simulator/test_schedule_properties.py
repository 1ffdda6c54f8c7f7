"""What holds for every program: drawn at random, run under every schedule."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from pypto_verified.pto.module import Func
from pypto_verified.simulator import schedule
from pypto_verified.simulator.schedule import Outcome
from pypto_verified.targets import target
from tests.simulator.text import ramp, zeros
from tests.simulator.timed import Timed

TILES = ("t", "u")
ORDERS = ("program", "eager", "late")
PIPES = ("MTE2", "V", "MTE3")

OPS = st.one_of(
    st.tuples(st.just("load"), st.sampled_from(TILES)),
    st.tuples(st.just("add"), st.sampled_from(TILES), st.sampled_from(TILES)),
    st.tuples(st.just("store"), st.sampled_from(TILES)),
    st.tuples(st.just("flag"), st.sampled_from([(a, b) for a in PIPES for b in PIPES if a != b])),
    st.tuples(st.just("barrier"), st.sampled_from(("V", "MTE2", "MTE3", "ALL"))),
)


def program(ops: list[tuple[str, ...]]) -> Timed:
    """Both tiles are filled first, so that every later read is of defined bytes."""
    k = Timed()
    for name in ("a", "out"):
        k.tensor(name, "f32", 1, 8)
    for name in TILES:
        k.tile(name, "f32", 1, 8)
        k.fill(name, 1)
    k.barrier()
    for op, *rest in ops:
        if op == "load":
            k.load("a_p", rest[0])
        elif op == "add":
            k.op("tadd", f"{rest[0]} {rest[0]}", rest[1])
        elif op == "store":
            k.store(rest[0], "out_p")
        elif op == "flag":
            k.both(">".join(rest[0]))
        else:
            k.barrier(rest[0])
    return k


def under(func: Func, order: str, on: str, seed: int = 0) -> Outcome:
    return schedule.run(func, target(on), {"a": ramp(1, 8), "out": zeros(1, 8)}, schedule=order, seed=seed)


def runs(func: Func, on: str) -> list[Outcome]:
    return [under(func, order, on) for order in ORDERS] + [under(func, "random", on, seed) for seed in range(3)]


@settings(max_examples=50, deadline=None)
@given(st.lists(OPS, max_size=9), st.sampled_from(("a2a3", "a5")))
def test_a_race_is_found_under_every_schedule_or_under_none(ops: list[tuple[str, ...]], on: str) -> None:
    found = runs(program(ops).func, on)
    assert all(o.errors == [] and o.deadlock is None for o in found)
    assert len({bool(o.races) for o in found}) == 1


@settings(max_examples=50, deadline=None)
@given(st.lists(OPS, max_size=9), st.sampled_from(("a2a3", "a5")))
def test_without_a_race_all_schedules_agree(ops: list[tuple[str, ...]], on: str) -> None:
    found = runs(program(ops).func, on)
    outputs = {o.outputs["out"].tobytes() for o in found}
    assert len(outputs) == 1 or found[0].races


@settings(max_examples=25, deadline=None)
@given(st.lists(OPS, max_size=7))
def test_a_search_finds_every_output_that_some_schedule_has(ops: list[tuple[str, ...]]) -> None:
    func = program(ops).func
    every, found = under(func, "exhaustive", "a2a3"), runs(func, "a2a3")
    assert not every.cut
    assert bool(every.races) is bool(found[0].races)
    differs = any(not np.array_equal(o.outputs["out"], every.outputs["out"]) for o in found)
    assert every.other is not None or not differs
    assert every.runs == 1 or every.races
