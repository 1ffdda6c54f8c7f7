"""Windows of a boxed tile that an insert writes from within a box on: compared with the bytes that a run writes."""

from __future__ import annotations

import pytest

from pypto_verified.pto.reader import read as parse
from pypto_verified.report.model import Verdict
from pypto_verified.simulator import schedule
from pypto_verified.targets import target
from tests.verifiers.race_verdicts import judge, verdicts_of

_WHOLE, _PART = (f"!pto.tile_buf<mat, {n}x{n}xf16, blayout=col_major, slayout=row_major>" for n in (32, 16))
_ACC = "!pto.tile_buf<acc, 16x16xf32, blayout=col_major, slayout=row_major, fractal=1024>"
_WINDOW = "!pto.partition_tensor_view<16x16xf16>"


def text(row: int | None, col: int | None, at: int) -> str:
    """16 x 16 elements go into a tile of 32 x 32, in two columns of two boxes of 512 bytes, from (row, col) on, None: 0
    or 8; a load writes the box at `at`."""
    second = "arith.muli %rest, %c8" if col is None else f"arith.constant {col}"
    first = "%turn = arith.muli %rest, %c8 : index" if row is None else f"%turn = arith.constant {row} : index"
    return f"""module {{
      func.func @k(%h: !pto.ptr<f16>, %n: index) attributes {{pto.kernel_kind = #pto.kernel_kind<cube>}} {{
        %c0 = arith.constant 0 : index
        %c1 = arith.constant 1 : index
        %c8 = arith.constant 8 : index
        %c16 = arith.constant 16 : index
        %a0 = arith.constant 0 : i64
        %a = arith.constant {at} : i64
        %least = arith.maxsi %n, %c0 : index
        %rest = arith.minsi %least, %c1 : index
        {first}
        %col = {second} : index
        %v = pto.make_tensor_view %h, shape = [%c16, %c16], strides = [%c16, %c1] : !pto.tensor_view<?x?xf16>
        %t = pto.alloc_tile addr = %a0 : {_WHOLE}
        %u = pto.alloc_tile addr = %a : {_PART}
        %acc = pto.alloc_tile addr = %a0 : {_ACC}
        %w = pto.partition_view %v, offsets = [%c0, %c0], sizes = [%c16, %c16] : !pto.tensor_view<?x?xf16> -> {_WINDOW}
        pto.tinsert ins(%acc, %turn, %col : {_ACC}, index, index) outs(%t : {_WHOLE})
        pto.tload ins(%w : {_WINDOW}) outs(%u : {_PART})
        return
      }}
    }}"""


@pytest.mark.requirement("EV-08")
@pytest.mark.parametrize("chip", ["a2a3", "a5"])
@pytest.mark.parametrize(("row", "col"), [(0, 0), (8, 0), (16, 0), (4, 16), (0, 8), (8, 8), (None, 0), (None, 16)])
def test_a_load_of_a_box_races_with_an_insert_that_writes_there(chip: str, row: int | None, col: int) -> None:
    for at in (0, 512, 1024, 1536):
        module = parse(text(row, col, at), "k.pto")
        races = any(schedule.replay(module, "k", {"n": n}, target(chip), schedule="late").races for n in (0, 1))
        open_ = verdicts_of(judge(text(row, col, at), chip, explicit=True)) - {Verdict.PROVED}
        assert bool(open_) is races, at


@pytest.mark.requirement("EV-08")
@pytest.mark.parametrize("at", [0, 512, 1024, 1536])
def test_an_insert_at_any_column_may_touch_the_whole_tile_and_is_refuted_where_it_does(at: int) -> None:
    module = parse(text(0, None, at), "k.pto")
    races = any(schedule.replay(module, "k", {"n": n}, target("a5"), schedule="late").races for n in (0, 1))
    found = verdicts_of(judge(text(0, None, at), "a5", explicit=True))
    assert not (Verdict.REFUTED in found and not races)
    assert not (found <= {Verdict.PROVED} and races)
    assert races is (at in (0, 1024))
