"""What runs hold that nobody has given inputs to: the usual numbers, or those that a text compares with."""

from __future__ import annotations

import numpy as np
import pytest

from pypto_verified.pto.reader import read
from pypto_verified.simulator.contents import ANY, Contents, tried
from pypto_verified.simulator.values import Array
from tests.verifiers.kernels import kernel

TEXT = kernel("\n".join((
    "%w = pto.load_scalar %p[%c0] : !pto.ptr<f32> -> f32", "%k = arith.constant 70.5 : f32",
    "%other = arith.constant 9.0 : f32", "%sum = arith.addf %w, %other : f32",
    "%is = arith.cmpf ogt, %sum, %k : f32", "scf.if %is {", "}")))


def elements(contents: Contents, kind: str) -> Array:
    return contents.elements(np.dtype(kind), 200, np.random.default_rng(0))


def test_usual_contents_are_floats_around_zero_and_small_integers() -> None:
    floats, integers = elements(ANY, "f4"), elements(ANY, "i4")
    assert abs(floats.mean()) < 0.5 and 0.5 < floats.std() < 1.5
    assert set(integers.tolist()) == set(range(8))
    assert ANY.number("f") == 1.0
    assert str(ANY) == ""


@pytest.mark.parametrize(("kind", "held"), [
    ("f4", 300.5), ("i4", 300), ("i1", 127), ("u1", 255), ("f2", 300.5), ("u8", 300)])
def test_a_number_is_held_as_near_as_its_type_has_it(kind: str, held: float) -> None:
    assert set(elements(Contents(among=(300.5,)), kind).tolist()) == {held}


@pytest.mark.parametrize(("kind", "held"), [("i1", -128), ("u1", 0), ("i2", -301), ("f4", -300.5)])
def test_so_is_a_negative_one(kind: str, held: float) -> None:
    assert set(elements(Contents(among=(-300.5,)), kind).tolist()) == {held}


def test_mixed_contents_differ_from_element_to_element_and_from_mix_to_mix() -> None:
    one, other = Contents(among=(1.0, 5.0), mix=0), Contents(among=(1.0, 5.0), mix=1)
    assert set(elements(one, "f4").tolist()) == {1.0, 5.0}
    assert len({tuple(c.number(n) for n in "abcdefgh") for c in (one, other)}) == 2
    assert str(one) == "all elements and float arguments drawn from 1, 5"


def test_what_is_compared_is_tried_first_and_then_mixed() -> None:
    """70.5 is compared with, 9 is not; 3 is what is read where the run is wanted."""
    found = list(tried(read(TEXT, "k.pto").funcs, {"word": 3}))
    assert found[:5] == [ANY, *(Contents(among=(n,)) for n in (3.0, 70.5, 71.5, 69.5))]
    assert not any(9.0 in c.among for c in found)
    assert sum(len(c.among) > 1 for c in found) == 24
    assert len(set(found)) == len(found)
