"""Moves of a5 that leave the core: the accumulator into UB of one of the two vector cores, a vector tile into L1."""

from __future__ import annotations

import numpy as np
import pytest

from pypto_verified.pto.reader import read
from pypto_verified.simulator import schedule
from pypto_verified.simulator.errors import UnmodelledError
from pypto_verified.simulator.schedule import Outcome
from pypto_verified.simulator.values import Array
from pypto_verified.targets import target

ORDERS = ("program", "eager", "late", "random")
BOXED = "blayout=col_major, slayout=row_major"
MAT, VEC = f"!pto.tile_buf<mat, 32x32xf32, {BOXED}>", "!pto.tile_buf<vec, 32x32xf32>"
NZ = f"!pto.tile_buf<vec, 32x32xf32, {BOXED}>"
LEFT, RIGHT = f"!pto.tile_buf<left, 32x32xf32, {BOXED}>", "!pto.tile_buf<right, 32x32xf32, slayout=col_major>"
ACC = f"!pto.tile_buf<acc, 32x32xf32, {BOXED}, fractal=1024>"
PART = "!pto.partition_tensor_view<32x32xf32>"
ALL = "pto.barrier <PIPE_ALL>"


def tiles(*rows: str) -> str:
    return "\n".join(f"%{row.split()[0]} = pto.alloc_tile addr = %at : {row.split(maxsplit=1)[1]}" for row in rows)


def run(cube: list[str], vector: list[str], order: str) -> Outcome:
    """A cube and its vector cores over a, eye and out, of 32 x 32 each; %mine holds on the lane that is asked for."""
    views = "\n".join(
        f"""%{n}_v = pto.make_tensor_view %{n}, shape = [%c32, %c32], strides = [%c32, %c1] {{layout = #pto.layout<nd>}}
          : !pto.tensor_view<?x?xf32>
        %{n}_p = pto.partition_view %{n}_v, offsets = [%c0, %c0], sizes = [%c32, %c32]
          : !pto.tensor_view<?x?xf32> -> {PART}""" for n in ("a", "eye", "out"))
    numbers = "\n".join(f"%c{n} = arith.constant {n} : index" for n in (0, 1, 32))
    text = f"""module {{
      func.func @kernel(%a: !pto.ptr<f32>, %eye: !pto.ptr<f32>, %out: !pto.ptr<f32>) {{
        {numbers}
        %at = arith.constant 0 : i64
        %further = arith.constant 4096 : i64
        {views}
        pto.section.cube {{
        {tiles(f"m {MAT}", f"l {LEFT}", f"r {RIGHT}", f"acc {ACC}", f"u {VEC}")}
        %m2 = pto.alloc_tile addr = %further : {MAT}
        {chr(10).join(cube)}
        }}
        pto.section.vector {{
        {tiles(f"v {VEC}", f"m {MAT}")}
        %n = pto.alloc_tile addr = %further : {NZ}
        %l = pto.get_subblock_idx
        {chr(10).join(vector)}
        }}
        return
      }}
    }}"""
    tensors: dict[str, Array] = {
        "a": np.arange(1024, dtype=np.float32).reshape(32, 32), "eye": np.eye(32, dtype=np.float32),
        "out": np.zeros((32, 32), np.float32)}
    return schedule.run(read(text, "k.pto"), target("a5"), tensors, schedule=order)


PRODUCT = [
    f"pto.tload ins(%a_p : {PART}) outs(%m : {MAT})", f"pto.tload ins(%eye_p : {PART}) outs(%m2 : {MAT})", ALL,
    f"pto.tmov ins(%m : {MAT}) outs(%l : {LEFT})", f"pto.tmov ins(%m2 : {MAT}) outs(%r : {RIGHT})", ALL,
    f"pto.tmatmul ins(%l, %r : {LEFT}, {RIGHT}) outs(%acc : {ACC})", ALL]


def to_lane(mode: str) -> list[str]:
    told = f"{{accToVecMode = #pto<acc_to_vec_mode {mode}>}}" if mode else ""
    return [*PRODUCT, f"pto.tmov ins(%acc : {ACC}) outs(%u : {VEC}) {told}", "pto.sync.set <PIPE_FIX>, 3"]


def stored_by(lane: int, wait: bool = True) -> list[str]:
    return [
        *(["pto.sync.wait <PIPE_MTE3>, 3"] if wait else []), f"%which = arith.constant {lane} : i64",
        "%mine = arith.cmpi eq, %l, %which : i64", "scf.if %mine {",
        f"pto.tstore ins(%v : {VEC}) outs(%out_p : {PART})", "}"]


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize(("mode", "lane"), [("", 0), ("single_mode_vec0", 0), ("single_mode_vec1", 1)])
def test_the_accumulator_lands_in_the_vector_core_that_the_mode_names(mode: str, lane: int, order: str) -> None:
    outcome = run(to_lane(mode), stored_by(lane), order)
    assert outcome.clean
    np.testing.assert_array_equal(outcome.outputs["out"], np.arange(1024, dtype=np.float32).reshape(32, 32))


def test_the_other_vector_core_has_nothing_of_it() -> None:
    outcome = run(to_lane("single_mode_vec0"), stored_by(1), "program")
    assert np.isnan(outcome.outputs["out"]).all()


def test_a_store_that_does_not_wait_for_the_cube_is_a_race_in_the_memory_of_the_lane() -> None:
    outcome = run(to_lane("")[:-1], stored_by(0, wait=False), "late")
    assert {r.memory for r in outcome.races} == {"vec of vector lane 0"}


def test_a_split_over_both_lanes_is_not_modelled() -> None:
    (error,) = run(to_lane("dual_mode_split_m"), stored_by(0), "program").errors
    assert isinstance(error, UnmodelledError) and "dual_mode_split_m" in error.message


@pytest.mark.parametrize("order", ORDERS)
def test_a_vector_tile_lands_in_the_l1_of_its_cube(order: str) -> None:
    vector = [
        "%zero = arith.constant 0 : i64", "%mine = arith.cmpi eq, %l, %zero : i64", "scf.if %mine {",
        f"pto.tload ins(%a_p : {PART}) outs(%v : {VEC})", ALL, f"pto.tmov ins(%v : {VEC}) outs(%n : {NZ})", ALL,
        f"pto.tmov ins(%n : {NZ}) outs(%m : {MAT})", "}", ALL, "pto.sync.set <PIPE_MTE3>, 3"]
    cube = ["pto.sync.wait <PIPE_MTE1>, 3", *PRODUCT[1:], f"pto.tstore ins(%acc : {ACC}) outs(%out_p : {PART})"]
    outcome = run(cube, vector, order)
    np.testing.assert_array_equal(outcome.outputs["out"], np.arange(1024, dtype=np.float32).reshape(32, 32))
