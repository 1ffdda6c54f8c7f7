"""Witnesses of rules are run: what confirms a refutation, what does not, and what is not run."""

from __future__ import annotations

import numpy as np

from pypto_verified.simulator import confirm, replay, replay_overlap
from pypto_verified.simulator.errors import (
    UninitialisedError,
)
from pypto_verified.targets import target
from tests.simulator.text import Kernel, zeros

A2A3 = target("a2a3")


def test_a_bounds_witness_replays() -> None:
    k = Kernel({"m": "index"})
    a, x = k.tensor("a", "f32", "%m", 8, (48, 0, 16, 8)), k.tile("x", "f32", 16, 8)
    k.load(a, x)
    seen = confirm(k.func, "BOUND-UPPER", {"m": 60}, A2A3)
    assert seen.startswith("confirmed: global bounds")
    assert "row 60 of 60" in seen
    assert confirm(k.func, "BOUND-UPPER", {"m": 64}, A2A3).startswith("not observed")
    # a fault of another kind, or at another line, confirms nothing
    assert confirm(k.func, "INIT-READ", {"m": 60}, A2A3).startswith("not observed")
    assert confirm(k.func, "BOUND-UPPER", {"m": 60}, A2A3, line=1).startswith("not run: the inputs of this run")


def test_a_replay_goes_on_to_the_fault_that_is_meant() -> None:
    k = Kernel({"m": "index", "n": "index"})
    a, b = (k.tensor(t, "f32", f"%{d}", 8, (48, 0, 16, 8)) for t, d in (("a", "m"), ("b", "n")))
    k.load(a, k.tile("x", "f32", 16, 8))
    k.load(b, k.tile("y", "f32", 16, 8))
    first, second = (e.line for e in replay(k.func, {"m": 60, "n": 61}, A2A3).errors)
    assert "row 60 of 60" in confirm(k.func, "BOUND-UPPER", {"m": 60, "n": 61}, A2A3, line=first)
    assert "row 61 of 61" in confirm(k.func, "BOUND-UPPER", {"m": 60, "n": 61}, A2A3, line=second)
    # an extent that the witness leaves open is large enough
    assert len(replay(k.func, {"m": 60}, A2A3).errors) == 1


def test_a_witness_with_an_absurd_extent_is_not_run() -> None:
    k = Kernel({"m": "index"})
    a, x = k.tensor("a", "f32", "%m", 8, (0, 0, 16, 8)), k.tile("x", "f32", 16, 8)
    k.load(a, x)
    assert "not run" in confirm(k.func, "BOUND-UPPER", {"m": 10**15}, A2A3)


def test_an_uninitialised_read_replays() -> None:
    k = Kernel({"m": "index"})
    x = k.tile("x", "f32", 8, 8)
    k.store(x, k.tensor("out", "f32", 8, 8))
    (error,) = replay(k.func, {}, A2A3).errors
    assert isinstance(error, UninitialisedError)


def test_reads_without_a_defined_value_are_noted_even_if_nothing_comes_of_them() -> None:
    k = Kernel()
    x, y = k.tile("x", "f32", 8, 8, valid=(6, 8)), k.tile("y", "f32", 8, 8)
    k.op("tneg", x, y)
    outcome = replay(k.func, {}, A2A3)
    assert outcome.errors == []
    assert [(e.kind, e.op) for e in outcome.suspicions] == [("invalid read", "pto.tneg"), ("uninitialised", "pto.tneg")]
    assert confirm(k.func, "INIT-READ", {}, A2A3).startswith("confirmed: uninitialised")
    assert confirm(k.func, "VALID-SOURCE", {}, A2A3).startswith("confirmed: invalid read")


def test_a_clobbered_tile_replays() -> None:
    def planned(addr: int) -> Kernel:
        k = Kernel()
        a, b, out = (k.tensor(n, "f32", 8, 8) for n in ("a", "b", "out"))
        x, y = k.tile("x", "f32", 8, 8, addr=0), k.tile("y", "f32", 8, 8, addr=addr)
        k.load(a, x)
        k.load(b, y)
        k.store(x, out)
        return k

    for private in (frozenset({"x"}), None):
        clobber = replay_overlap(planned(128).func, {}, A2A3, private)
        assert clobber is not None
        assert (clobber.argument, clobber.element) == ("out", (32,))  # y starts 32 elements into x
        assert replay_overlap(planned(256).func, {}, A2A3, private) is None


def test_a_second_name_for_the_same_bytes_is_no_clobbering() -> None:
    k = Kernel()
    a, out = k.tensor("a", "f32", 8, 8), k.tensor("out", "f32", 1, 64)
    x, row = k.tile("x", "f32", 8, 8, addr=0), k.tile("row", "f32", 1, 64, addr=0)
    k.load(a, x)
    k.store(row, out)
    assert replay_overlap(k.func, {}, A2A3) is None


def test_a_layout_that_the_unit_does_not_use_shows_as_a_wrong_result() -> None:
    def product(right: tuple[str, str, int]) -> Kernel:
        k = Kernel()
        a, b, c = (k.tensor(n, t, 32, 32) for n, t in (("a", "f16"), ("b", "f16"), ("c", "f32")))
        am, bm = k.tile("am", "f16", 32, 32, "mat"), k.tile("bm", "f16", 32, 32, "mat")
        al, br = k.tile("al", "f16", 32, 32, "left"), k.tile("br", "f16", 32, 32, "right", layout=right)
        cc = k.tile("cc", "f32", 32, 32, "acc")
        k.load(a, am)
        k.load(b, bm)
        k.op("tmov", am, al)
        k.op("tmov", bm, br)
        k.op("tmatmul", f"{al} {br}", cc)
        k.store(cc, c)
        return k

    wrong = confirm(product(("col_major", "row_major", 512)).func, "LAYOUT-CUBE", {}, A2A3)
    assert wrong.startswith("confirmed: wrong result: %c element (0,)")
    right = confirm(product(("row_major", "col_major", 512)).func, "LAYOUT-CUBE", {}, A2A3)
    assert right == "not observed: the run ended without such a fault"


def test_a_transfer_between_types_moves_bits() -> None:
    k = Kernel()
    a, out = k.tensor("a", "i32", 1, 8), k.tensor("out", "f32", 1, 8)
    x = k.tile("x", "f32", 1, 8)
    k.lines.append(f"  pto.tload ins(%{a} : {k.types[a]}) outs(%{x} : {k.types[x]})")
    k.store(x, out)
    one = np.full((1, 8), 0x3F800000, np.int32)
    assert k.result("a2a3", "out", a=one, out=zeros(1, 8))[0, 0] == 1.0
    assert confirm(k.func, "DTYPE-TRANSFER", {}, A2A3).startswith("confirmed: wrong result")
