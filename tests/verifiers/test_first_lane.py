"""Vector code of a5 that the first lane runs alone: what it exchanges with its cube, beside a run.

The assembler puts a vector function, or a section, behind a test for the first lane where a tile crosses whole in it,
unless an op in it asks for the lane (PTOAS needsA5NoSplitVectorGuard). Flags of FFTS go to both lanes and come from
both."""

from __future__ import annotations

import numpy as np
import pytest

from pypto_verified.pto import writer
from pypto_verified.pto.lanes import first_lane_alone
from pypto_verified.pto.reader import read
from pypto_verified.pto.walk import walk_ops
from pypto_verified.report.model import Verdict
from pypto_verified.simulator import schedule
from pypto_verified.simulator.schedule.confirm import confirm_order
from pypto_verified.simulator.schedule.faults import LeftError
from pypto_verified.targets import target
from tests.simulator.mixed import Mixed
from tests.verifiers.examples_fifo import FREE, PUSH, pair_of_cores, pop
from tests.verifiers.examples_split import ACC, WHOLE
from tests.verifiers.kernels import alloc, store, tile, view, window
from tests.verifiers.test_cores_wait import heard, told
from verifiers import Options, verify

PROVED, REFUTED, UNKNOWN = Verdict.PROVED, Verdict.REFUTED, Verdict.UNKNOWN
GIVE = f"pto.tpush_to_aiv(%c : {ACC}) {{split = 0}}"
TAKE = f"%t = pto.tpop_from_aic(%c32, %c64) {{split = 0}} -> {WHOLE}\npto.tfree_from_aic {{split = 0}}"
HALF = pop() + "\n" + FREE
ASKED = "%own = pto.get_subblock_idx\n%mine = arith.index_cast %own : i64 to index"
FIRST = "%first = arith.cmpi eq, %mine, %c0 : index\nscf.if %first {"
TELLS, HEARS = told(9, "V"), heard(9)
ONE = ("pto.wait_intra_block <PIPE_FIX>, 9", "pto.set_intra_block <PIPE_V>, 9")
BOTH = ("pto.wait_intra_block <PIPE_FIX>, 9\npto.wait_intra_block <PIPE_FIX>, 25", ONE[1])


def _pair(cube: str, *vector: str) -> str:
    return pair_of_cores(cube, "\n".join(vector), memory=False)


@pytest.mark.requirement("EV-06")
@pytest.mark.parametrize(("text", "clean"), [
    (_pair(f"{GIVE}\n{told(9)}", TAKE, HEARS), False),
    (_pair(f"{GIVE}\n{heard(9, 'FIX')}", TAKE, TELLS), False),
    (_pair(f"{PUSH}\n{told(9)}", HALF, HEARS), True),
    (_pair(f"{PUSH}\n{heard(9, 'FIX')}", HALF, TELLS), True),
    (_pair(f"{GIVE}\n{heard(9, 'FIX')}", ASKED, FIRST, TAKE, "}", TELLS), True),
    (_pair(f"{GIVE}\n{heard(9, 'FIX')}", ASKED, FIRST, TAKE, TELLS, "}"), False),
    (_pair(f"{GIVE}\n{ONE[0]}", TAKE, ONE[1]), True),
    (_pair(f"{GIVE}\n{BOTH[0]}", TAKE, BOTH[1]), False),
    (_pair(f"{PUSH}\n{BOTH[0]}", HALF, BOTH[1]), True),
])
def test_what_a_lane_does_not_run_it_neither_gives_nor_takes(text: str, clean: bool) -> None:
    module, chip = read(text, "k.pto"), target("a5")
    run = schedule.replay(module, "cube", {"n": 1}, chip)
    assert (run.deadlock is None and not any(isinstance(e, LeftError) for e in run.errors)) is clean
    results = verify(module, chip, Options(families=frozenset({"EVENT"})))
    found = {o.verdict for r in results for o in r.obligations if o.rule == "EVENT-CORES"}
    assert found == {PROVED} if clean else REFUTED in found
    for r in results:
        for f in (f for f in r.findings if f.rule == "EVENT-CORES" and f.verdict is REFUTED):
            assert confirm_order(module, r.name, f.rule, dict(f.witness), chip, line=f.text_line or 0).startswith(
                "confirmed: ")


@pytest.mark.parametrize(("vector", "drained"), [
    ((HALF,), {PROVED}), ((HALF, TAKE.replace("%t", "%u").replace("{split", "{id = 1, split")), {PROVED, REFUTED})])
def test_halves_of_tiles_stay_in_the_pipe_of_a_lane_that_does_not_run(
    vector: tuple[str, ...], drained: set[Verdict]
) -> None:
    """Beside a pipe of whole tiles the second lane pops nothing of what the cube pushes to both."""
    end = "pto.aiv_initialize_pipe {dir_mask = 1, slot_size = 8192, slot_num = 2} "
    text = _pair(PUSH, *vector)
    if len(vector) > 1:
        whole = 'pto.reserve_buffer {name = "whole", size = 16384, location = #pto.address_space<vec>, auto = false, '
        text = text.replace(end, f"%whole = {whole}base = 65536}} -> i32\n{end}").replace(
            HALF, "pto.aiv_initialize_pipe {id = 1, dir_mask = 1, slot_size = 8192, slot_num = 2} "
            f"(c2v_consumer_buf = %whole : i32, v2c_consumer_buf = %none : i32)\n{HALF}")
    results = verify(read(text, "k.pto"), target("a5"), Options(families=frozenset({"FIFO"})))
    assert {o.verdict for r in results for o in r.obligations if o.rule == "FIFO-DRAIN"} == drained


@pytest.mark.parametrize(("vector", "chip", "alone"), [
    ((TAKE,), "a5", True), ((TAKE,), "a2a3", False), ((HALF,), "a5", False), ((ASKED, TAKE), "a5", False),
    ((TAKE, HALF.replace("%t", "%u")), "a5", True),
])
def test_one_whole_tile_is_enough_and_asking_for_the_lane_is_too(
    vector: tuple[str, ...], chip: str, alone: bool
) -> None:
    func = read(_pair(GIVE, *vector), "k.pto").funcs[1]
    assert first_lane_alone(func, target(chip)) == (frozenset(walk_ops(func)) if alone else frozenset())


STORED = "\n".join((
    view("ov", "gm", "c32", "c64").replace("%c1]", "%one]"),
    window("rows", "ov", "%start, %zero", "%c16, %c64", "16x64"), store("own", "rows", tile(16, 64), "16x64")))


@pytest.mark.parametrize(("take", "chip", "whole"), [
    (TAKE, "a5", {REFUTED}), (TAKE, "a2a3", {PROVED}), (HALF, "a5", {PROVED})])
def test_a_lane_that_is_given_its_number_and_runs_nothing_writes_nothing(
    take: str, chip: str, whole: set[Verdict]
) -> None:
    """Each lane stores its half of 32 rows; where the first one alone runs, the second half is never written."""
    text = _pair(
        GIVE if take is TAKE else PUSH, "%one = arith.constant 1 : index", "%zero = arith.constant 0 : index",
        "%start = arith.muli %lane, %c16 : index", alloc("own", tile(16, 64), "far", "c16", "c64"), take,
        "pto.barrier <PIPE_ALL>", STORED)
    results = verify(read(text, "k.pto"), target(chip), Options(families=frozenset({"WRITE"})))
    assert {o.verdict for r in results for o in r.obligations if o.rule == "WRITE-LANES"} == whole


def test_each_section_is_by_itself() -> None:
    lines = "\n".join(line for line in _pair(GIVE, TAKE).split("func.func @vector")[1].splitlines()[1:-3])
    func = read(
        "module {\nfunc.func @k(%gm: !pto.ptr<f32>, %__pypto_spmd_subblock_idx: i32) {\npto.section.vector {\n"
        f"{lines}\n}}\npto.section.vector {{\n{heard(3)}\n}}\nreturn\n}}\n}}", "k.pto").funcs[0]
    alone = first_lane_alone(func, target("a5"))
    assert {op.name for op in alone} >= {"pto.tpop_from_aic", "pto.tfree_from_aic"}
    assert "pto.sync.wait" not in {op.name for op in alone}


@pytest.mark.parametrize("asked", [False, True])
def test_the_end_of_a_pipe_of_whole_tiles_to_the_cube_is_not_proved_where_both_lanes_make_it(asked: bool) -> None:
    """The cube gives slots back to the first lane alone, and the library's destructor waits for them on both."""
    mixed = Mixed("a5", direction=2, split=0, tiles=2)
    text = writer.write(mixed.module)
    cube, vector = text.split("func.func @kernel_aiv")
    head, loop = vector.split("scf.for", 1)
    body, rest = loop.split("\n    }\n", 1)
    guard = f"{ASKED}\n{FIRST}\nscf.for{body}\n    }}\n    }}\n" if asked else f"scf.for{loop[:len(body)]}\n    }}\n"
    module = read(f"{cube}func.func @kernel_aiv{head}{guard}{rest}", "k.pto")
    tensors = {"a": np.ones((64, 32), np.float32), "eye": np.eye(32, dtype=np.float32),
               "out": np.zeros((64, 32), np.float32), "ring": np.zeros(1, np.float32)}
    run = schedule.run(module, target("a5"), tensors)
    assert (run.deadlock is not None) is asked
    results = verify(module, target("a5"), Options(families=frozenset({"FIFO"})))
    drained = {o.verdict for r in results for o in r.obligations if o.rule == "FIFO-DRAIN"}
    assert drained == {UNKNOWN if asked else PROVED}
