"""How conflicts of bytes are found, and all runs that can differ: against a count of every byte and of every order."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pypto_verified.simulator import schedule
from pypto_verified.simulator.schedule.clocks import Timeline, Token, join, together
from pypto_verified.simulator.schedule.history import MemoryHistory, Region, pattern_of
from pypto_verified.targets import target
from tests.simulator.text import ramp, zeros
from tests.simulator.timed import Timed


def bytes_of(start: int, shape: tuple[int, ...], strides: tuple[int, ...], width: int) -> set[int]:
    """The bytes of a window, one at a time."""
    offsets = (sum(i * s for i, s in zip(index, strides, strict=True)) for index in product(*map(range, shape)))
    return {start + offset + byte for offset in offsets for byte in range(width)}


WINDOWS = st.tuples(
    st.integers(0, 40),
    st.lists(st.tuples(st.integers(1, 4), st.integers(0, 24)), min_size=1, max_size=3),
    st.sampled_from([1, 2, 4, 8]),
)


def region(window: tuple[int, list[tuple[int, int]], int]) -> tuple[Region, set[int]]:
    start, axes, width = window
    shape, strides = tuple(n for n, _ in axes), tuple(s for _, s in axes)
    return Region(start, pattern_of((shape, strides, width))), bytes_of(start, shape, strides, width)


@settings(max_examples=300, deadline=None)
@given(WINDOWS, WINDOWS)
def test_two_windows_share_bytes_where_a_count_of_each_byte_says_so(
    first: tuple[int, list[tuple[int, int]], int], second: tuple[int, list[tuple[int, int]], int]
) -> None:
    (a, in_a), (b, in_b) = region(first), region(second)
    shared = a.shared(b)
    assert (shared is not None) is bool(in_a & in_b)
    if shared is not None:
        low, high = shared
        assert low < high and set(range(low, high)) <= in_a & in_b


@settings(max_examples=100, deadline=None)
@given(st.lists(WINDOWS, min_size=1, max_size=8))
def test_regions_know_all_that_they_share_bytes_with(windows: list[tuple[int, list[tuple[int, int]], int]]) -> None:
    memory = MemoryHistory()
    made = [(memory.region(w[0], region(w)[0].pattern), region(w)[1]) for w in windows]
    for known, own in made:
        assert known.near[0] is known
        assert {id(r) for r in known.near} == {id(r) for r, other in made if own & other}


def test_a_full_boxed_tile_is_one_interval() -> None:
    pattern = pattern_of(((4, 16, 2, 16), (512, 32, 2048, 2), 2))
    assert (pattern.starts.tolist(), pattern.ends.tolist()) == ([0], [4096])


def test_a_signal_tells_what_was_complete_when_it_was_given() -> None:
    load, add = Timeline(0, 2, False), Timeline(1, 2, False)
    load.step()
    token = load.token()
    load.step()
    add.learn(token)
    assert add.known == [1, 0] and load.done == [2, 0]
    load.drain()
    assert load.known == [2, 0]
    assert together([token, Token([0, 3], [0, 0], [0, 0], [0, 0])]).done == join([1, 0], [0, 3]) == [1, 3]


def three_pipes() -> Timed:
    """Load, add and store over one tile, and a second load; nothing orders them."""
    k = Timed()
    for name in ("a", "b", "out"):
        k.tensor(name, "f32", 1, 8)
    k.tile("t", "f32", 1, 8)
    k.load("a_p", "t")
    k.op("tadd", "t t", "t")
    k.load("b_p", "t")
    k.store("t", "out_p")
    return k


def interleavings(queues: tuple[tuple[str, ...], ...]) -> Iterator[tuple[str, ...]]:
    """All orders of steps that keep the order of each pipe."""
    if not any(queues):
        yield ()
    for i, queue in enumerate(queues):
        if queue:
            rest = (*queues[:i], queue[1:], *queues[i + 1:])
            yield from ((queue[0], *tail) for tail in interleavings(rest))


def effect(order: tuple[str, ...]) -> tuple[str, str]:
    """What is in out and in the tile in the end, as a formula."""
    tile, out = "?", "?"
    for step in order:
        if step in ("a", "b"):
            tile = step
        elif step == "add":
            tile = f"2({tile})"
        else:
            out = tile
    return out, tile


@pytest.mark.requirement("EV-08")
def test_the_search_visits_each_order_of_conflicts_once() -> None:
    """MTE2 runs a, b; V the add; MTE3 the store. Every two conflict: each of the 12 orders is a run of its own."""
    orders = set(interleavings((("a", "b"), ("add",), ("store",))))
    assert len(orders) == 12
    a, b = ramp(1, 8) + 1, ramp(1, 8) + 100
    outcome = three_pipes().under("exhaustive", "a2a3", a=a, b=b, out=zeros(1, 8))
    assert (outcome.runs, outcome.cut) == (12, False)
    assert len({effect(o) for o in orders}) > 1 and outcome.other is not None
    pairs = {(r.first.op.name, r.second.op.name) for r in outcome.races}
    assert pairs == {("pto.tload", "pto.tadd"), ("pto.tadd", "pto.tload"), ("pto.tload", "pto.tstore"),
                     ("pto.tadd", "pto.tstore")}


def test_steps_that_share_no_byte_are_run_in_one_order() -> None:
    k = Timed()
    for name in ("a", "b", "c"):
        k.tensor(name, "f32", 1, 8)
        k.tile(f"t{name}", "f32", 1, 8)
    k.load("a_p", "ta")
    k.fill("tb", 1)
    k.store("tc", "c_p")
    outcome = k.under("exhaustive", "a2a3", a=zeros(1, 8), b=zeros(1, 8), c=zeros(1, 8))
    assert outcome.runs == 1


def test_a_search_says_when_it_was_cut() -> None:
    tensors = {name: zeros(1, 8) for name in ("a", "b", "out")}
    outcome = schedule.run(three_pipes().func, target("a2a3"), tensors, schedule="exhaustive", max_runs=5)
    assert (outcome.runs, outcome.cut) == (5, True)


def test_the_orders_of_a_long_run_are_not_searched() -> None:
    k = Timed({"n": "index"})
    k.tile("t", "f32", 1, 8)
    k.loop("%n")
    k.fill("t", 1)
    k.close()
    assert k.under("exhaustive", "a5", {"n": 10}).cut is False
    long = k.under("exhaustive", "a5", {"n": 600})
    assert (long.runs, long.cut, long.races) == (1, True, [])


def test_equal_outputs_of_all_runs_are_no_second_outcome() -> None:
    """Two loads of the same numbers: the races are there, the outputs agree."""
    a = ramp(1, 8)
    k = Timed()
    for name in ("a", "out"):
        k.tensor(name, "f32", 1, 8)
    k.tile("t", "f32", 1, 8)
    k.load("a_p", "t")
    k.both("MTE2>MTE3")
    k.load("a_p", "t")
    k.store("t", "out_p")
    outcome = k.under("exhaustive", "a2a3", a=a, out=zeros(1, 8))
    assert outcome.runs == 2 and outcome.other is None and len(outcome.races) == 1
    np.testing.assert_array_equal(outcome.outputs["out"], a)


@pytest.mark.requirement("EV-08")
@pytest.mark.parametrize("known", [0, 1, 2])
def test_a_write_races_with_each_reader_before_it_that_it_does_not_wait_for(known: int) -> None:
    """Two readers on V, then a load over what they read; its flag is set after the first `known` of them."""
    k = Timed()
    for name in ("a", "b"):
        k.tensor(name, "f32", 1, 8)
    for name in ("t", "u"):
        k.tile(name, "f32", 1, 8)
    k.load("a_p", "t")
    k.both("MTE2>V")
    readers = ("tabs", "texp")
    for place, name in enumerate((*readers, "")):
        if place == known:
            k.set("V>MTE2")
        if name:
            k.op(name, "t", "u")
            k.barrier("V")
    k.wait("V>MTE2")
    k.load("b_p", "t")
    outcome = k.under("program", "a2a3", a=zeros(1, 8), b=zeros(1, 8))
    assert [r.first.op.name for r in outcome.races] == [f"pto.{name}" for name in readers[known:]]
