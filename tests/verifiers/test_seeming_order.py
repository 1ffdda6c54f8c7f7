"""RACE of two cores: what seems to order accesses and does not. Each text is proved with one thing more, and each
verdict stands beside a run."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from pypto_verified.pto.reader import read
from pypto_verified.report.model import Verdict
from pypto_verified.simulator import schedule
from pypto_verified.targets import target
from tests.verifiers.examples_fifo import HALF
from tests.verifiers.examples_split import ACC, core
from tests.verifiers.kernels import alloc, tile, view, window
from tests.verifiers.test_cores_wait import LANE, both, heard, told
from verifiers import Options, verify

PROVED, REFUTED = Verdict.PROVED, Verdict.REFUTED
TILE = tile(16, 16)
FENCE = "pto.fence.barrier_all #pto.fence_scope<gm>"


def races(text: str, rule: str, chip: str, sizes: Mapping[str, int] = {}) -> set[Verdict]:
    """The verdicts of a rule, which a run bears out; what both lanes store alike is no race of two ops."""
    module = read(text, "k.pto")
    results = verify(module, target(chip), Options(families=frozenset({"RACE"}), explicit_sync=True))
    verdicts = {o.verdict for r in results for o in r.obligations if o.rule == rule}
    outcomes = [schedule.replay(module, results[0].name, sizes, target(chip), schedule=s) for s in ("program", "late")]
    assert any(r.first.op is not r.second.op for o in outcomes for r in o.races) is (REFUTED in verdicts)
    return verdicts


@pytest.mark.requirement("EV-06")
@pytest.mark.parametrize("chip", ["a2a3", "a5"])
@pytest.mark.parametrize(("between", "expected"), [(FENCE, REFUTED), ("pto.barrier <PIPE_ALL>", PROVED)])
def test_a_fence_does_not_wait_for_a_flag_that_v_sets_for_another_core(
    between: str, expected: Verdict, chip: str
) -> None:
    """A fence waits for the pipes of global memory alone, so nobody has heard of what V has done."""
    vector = (
        alloc("t", TILE, 0, "c16", "c16"), alloc("u", TILE, 4096, "c16", "c16"), view("qv", "q", "c16", "c16"),
        window("w", "qv", "%c0, %c0", "%c16, %c16"), f"pto.texp ins(%t : {TILE}) outs(%u : {TILE})", told(2, "V"),
        between, heard(3, "MTE3"), f"pto.tstore ins(%u : {TILE}) outs(%w : !pto.partition_tensor_view<?x?xf32>)")
    assert races(both((told(3), heard(2, "FIX")), vector), "RACE-RAW", chip) == {expected}


def two_pipes(late: str, numbers: tuple[int, int]) -> str:
    """A cube pushes a tile into ring `early`, stores to global memory and pushes one into ring `late`; the vector cores
    pop the tile of ring 'b', load what was stored, and pop the other one. `numbers`: what these call rings 'a', 'b'."""
    early = {"a": "b", "b": "a"}[late]
    here, there = {"a": 0, "b": 1}, dict(zip("ab", numbers, strict=True))

    def end(kind: str, name: str, ids: dict[str, int], *body: str) -> str:
        lines = ["%off_a = arith.constant 16384 : index", "%off_b = arith.constant 32768 : index"]
        for ring, base in (("a", 0), ("b", 32768)):
            made = (f'pto.reserve_buffer {{name = "{ring}", size = 32768, location = #pto.address_space<vec>, auto = '
                    f"false, base = {base}}}" if name == "vector" else
                    f'pto.import_reserved_buffer {{name = "{ring}", peer_func = @vector}}')
            lines += [
                f"%ring_{ring} = {made} -> i32",
                f"%slots_{ring} = pto.addptr %gm, %off_{ring} : !pto.ptr<f32> -> !pto.ptr<f32>",
                f"pto.{kind}_initialize_pipe {{id = {ids[ring]}, dir_mask = 1, slot_size = 8192, slot_num = 2}} "
                f"(gm_slot_buffer = %slots_{ring} : !pto.ptr<f32>, c2v_consumer_buf = %ring_{ring} : i32, "
                "v2c_consumer_buf = %none : i32)"]
        return core(name, name, *lines, *body, args="%x: !pto.ptr<f32>")

    def push(ring: str) -> str:
        return f"pto.tpush_to_aiv(%c : {ACC}) {{id = {here[ring]}, split = 1}}"

    def pop(ring: str) -> str:
        return f"%{ring} = pto.tpop_from_aic(%c16, %c64) {{id = {there[ring]}, split = 1}} -> {HALF}"

    out = view("xv", "x", "c32")
    cube = end(
        "aic", "cube", here, alloc("c", ACC, 0, "c32", "c64"), push(early), out,
        window("w", "xv", "%c0, %c0", "%c32, %c64"),
        f"pto.tstore ins(%c : {ACC}) outs(%w : !pto.partition_tensor_view<?x?xf32>)", push(late))
    vector = end(
        "aiv", "vector", there, "%far = arith.constant 131072 : i64", alloc("o", HALF, "far", "c16", "c64"), pop("b"),
        out, window("w", "xv", "%c0, %c0", "%c16, %c64"),
        f"pto.tload ins(%w : !pto.partition_tensor_view<?x?xf32>) outs(%o : {HALF})", pop("a"))
    return f"module {{\n{cube}{vector}}}\n"


@pytest.mark.requirement("EV-06", "XC-09")
@pytest.mark.parametrize("numbers", [(0, 1), (1, 0), (3, 0)])
@pytest.mark.parametrize(("late", "expected"), [("a", REFUTED), ("b", PROVED)])
def test_a_push_is_for_the_pop_of_its_ring_whatever_number_that_has(
    late: str, expected: Verdict, numbers: tuple[int, int]
) -> None:
    """The buffer says which ring it is (PTOAS, lowering of frontend pipes)."""
    assert races(two_pipes(late, numbers), "RACE-CORE", "a2a3") == {expected}


def _flag(op: str, pipe: str, lane: int) -> str:
    """A flag of a cube for one of its lanes: 3 tells it, 4 answers."""
    return f"pto.{op}_intra_block <PIPE_{pipe}>, {16 * lane + (3 if op == 'wait' else 4)}"


@pytest.mark.requirement("EV-06")
@pytest.mark.parametrize("early", [None, 0, 1])
def test_a_cube_that_answers_one_lane_before_it_reads_its_half_is_refuted_whichever_lane_it_is(
    early: int | None
) -> None:
    half, matrix = tile(8, 16), tile(16, 16, "f32", "mat", "col_major", "row_major", 512)
    waits, answers = ([_flag(op, "MTE2", lane) for lane in (0, 1)] for op in ("wait", "set"))
    soon, late = ([a for lane, a in enumerate(answers) if (lane == early) is first] for first in (True, False))
    cube = (
        alloc("m", matrix, 0, "c16", "c16"), window("all", "pv", "%c0, %c0", "%c16, %c16"),
        "scf.for %i = %c0 to %M step %c1 {", *waits, *soon,
        f"pto.tload ins(%all : !pto.partition_tensor_view<?x?xf32>) outs(%m : {matrix})", *late, "}")
    vector = (
        *LANE[:2], alloc("t", half, 0, "c8", "c16"), "%r = arith.muli %lane, %c8 : index",
        window("own", "pw", "%r, %c0", "%c8, %c16"), "scf.for %k = %c0 to %M step %c1 {",
        f"pto.tstore ins(%t : {half}) outs(%own : !pto.partition_tensor_view<?x?xf32>)",
        "pto.set_intra_block <PIPE_MTE3>, 3", "pto.wait_intra_block <PIPE_MTE3>, 4", "}")
    shown = both((view("pv", "p", "c16", "c16"), *cube), (view("pw", "p", "c16", "c16"), *vector), "%M: index")
    verdicts = races(shown, "RACE-CORE", "a5", {"M": 3})
    assert verdicts == ({PROVED} if early is None else {PROVED, REFUTED})
