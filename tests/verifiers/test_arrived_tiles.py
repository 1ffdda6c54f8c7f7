"""RACE: a tile that another core has pushed is there when its pop is over: the pop waits, and writes nothing itself."""

from __future__ import annotations

import pytest

from pypto_verified.pto.reader import read
from pypto_verified.report.model import Verdict
from pypto_verified.simulator import schedule
from pypto_verified.targets import target
from tests.verifiers.examples_fifo import HALF, SIZE, turns
from tests.verifiers.examples_split import core
from tests.verifiers.kernels import alloc, tile
from tests.verifiers.test_fifo_mirror import take
from verifiers import Options, verify

LEFT = tile(32, 64, loc="left", blayout="col_major", slayout="row_major")
BOXES = HALF.replace("blayout=row_major, slayout=none_box", "blayout=col_major, slayout=row_major")
PIPES = "dir_mask = 2, slot_size = 8192, slot_num = 4} (c2v_consumer_buf = %none : i32, v2c_consumer_buf = %back : i32)"


def text(count: str) -> str:
    """Lanes push tiles to L1 of a5, and the cube moves each on to L0 before it gives the slot back."""
    moved = take("u").replace("\n", f"\npto.tmov ins(%u : {_type_of_take()}) outs(%left : {LEFT})\n")
    cube = core(
        "cube", "cube", '%back = pto.reserve_buffer {name = "back", size = 32768, location = #pto.address_space<mat>, '
        "auto = false, base = 0} -> i32", f"pto.aic_initialize_pipe {{{PIPES}", alloc("left", LEFT, "a0"),
        turns(count, moved), args=SIZE)
    vector = core(
        "vector", "vector", '%back = pto.import_reserved_buffer {name = "back", peer_func = @cube} -> i32',
        f"pto.aiv_initialize_pipe {{{PIPES}", alloc("o", BOXES, "a0", "c16", "c64"),
        turns(count, f"pto.tpush_to_aic(%o : {BOXES}) {{split = 1}}"), args=SIZE)
    return f"module {{\n{vector}{cube}}}\n"


def _type_of_take() -> str:
    return take().split("-> ")[1].split("\n")[0]


@pytest.mark.requirement("XC-09")
@pytest.mark.parametrize("strict", [False, True])
def test_the_pipe_on_which_a_pop_waits_reads_the_tile_without_a_barrier(strict: bool) -> None:
    """With --strict ops of MTE1 that conflict want a barrier, and none could stand for the push."""
    options = Options(families=frozenset({"RACE"}), explicit_sync=True, strict=strict)
    found = [o.verdict for o in verify(read(text("%n"), "k.pto"), target("a5"), options)[-1].obligations
             if o.rule == "RACE-RAW"]
    assert Verdict.REFUTED not in found and found
    ran = schedule.replay(read(text("%c2"), "k.pto"), "cube", {}, target("a5"), schedule="late", strict=strict)
    assert ran.deadlock is None and not [r for r in ran.races if r.hazard.name == "RAW"]
