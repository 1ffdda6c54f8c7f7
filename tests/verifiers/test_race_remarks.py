"""Remarks on synchronisation: whose business it is, and what may go."""

from __future__ import annotations

from pathlib import Path

import pytest

from pypto_verified.check import CheckOptions, check_file
from pypto_verified.pto import writer
from pypto_verified.pto.reader import read as parse
from pypto_verified.sync import insert_sync
from pypto_verified.targets import TARGETS, target
from tests.sync.judged import verdicts, without
from tests.sync.programs import random_program
from tests.verifiers.examples_event import flag, loop
from tests.verifiers.examples_race import VEC, barrier, both, chain, exp, pipes, read, write
from tests.verifiers.kernels import store, window
from verifiers import Options
from verifiers.access import build_program
from verifiers.race.redundant import redundant
from verifiers.race.remarks import sync_remarks
from verifiers.solver import Ladder


def _remarks(
    text: str, chip: str = "a2a3", explicit: bool = False, assume: tuple[str, ...] = ()
) -> list[str]:
    return sync_remarks(parse(text, "k.pto"), target(chip), Options(assume, explicit_sync=explicit))


def test_a_text_without_flags_is_left_to_the_assembler() -> None:
    text = pipes(read("a"), barrier("V"), exp("a", "b"))
    (remark,) = _remarks(text)
    assert remark.startswith("sync left to the assembler: k ")
    assert _remarks(text, explicit=True) == []


def test_barriers_alone_are_looked_at_where_they_are_judged_as_they_stand() -> None:
    """The second one stands between ops that the first one has ordered."""
    text = pipes(exp("a", "b"), barrier("V"), exp("b", "c"), barrier("V"), exp("b", "a"))
    assert not any("redundant" in r for r in _remarks(text))
    last = max(n for n, x in enumerate(text.splitlines(), 1) if "barrier" in x)
    (remark,) = _remarks(text, explicit=True)
    assert remark.startswith(f"redundant sync: barrier V (line {last})")


def test_a_barrier_of_all_cores_may_not_go_though_it_orders_nothing_here() -> None:
    """The others would wait for ever."""
    meeting = "pto.syncall() mode = #pto.sync_all_mode<hard>, core_type = #pto.sync_core_type<aiv_only>"
    text = pipes(read("a"), barrier("ALL"), meeting, exp("a", "b"), barrier("ALL"), write("b"))
    line = next(n for n, x in enumerate(text.splitlines(), 1) if "barrier" in x)
    (remark,) = _remarks(text, explicit=True)
    assert remark.startswith(f"redundant sync: barrier all pipes (line {line})")


def test_a_text_with_flags_that_are_all_needed_has_no_remark() -> None:
    assert _remarks(chain("MTE2 V", "V MTE3")) == []


def test_a_flag_that_orders_nothing_new_is_named_with_its_lines_and_cost() -> None:
    text = pipes(read("a"), both("MTE2 V"), exp("a", "b"), both("V MTE3"), both("MTE2 MTE3", 1), write("b"))
    (remark,) = _remarks(text)
    line = next(n for n, x in enumerate(text.splitlines(), 1) if "<PIPE_MTE2>, <PIPE_MTE3>" in x)
    assert f"flag MTE2 -> MTE3 (line {line} and {line + 1})" in remark
    assert remark.endswith("it runs once")


def test_a_barrier_in_a_loop_that_flags_make_spare_costs_each_iteration() -> None:
    """V sets a flag that MTE2 waits for before the load that V waits for: that orders V's own ops too."""
    text = pipes(loop("M", read("a"), both("MTE2 V"), exp("a", "b"), barrier("V"), both("V MTE2", 1)), args="%M: index")
    (remark,) = _remarks(text)
    assert "barrier V" in remark and remark.endswith("in each iteration")


def test_a_barrier_between_ops_on_empty_tiles_is_named_though_no_access_follows() -> None:
    """The last two ops have no valid element; a barrier behind them is the next kernel's business."""
    empty = f"%e = pto.alloc_tile addr = %a0 valid_row = %c0 valid_col = %c0 : {VEC}"
    text = pipes(
        read("a"), both("MTE2 V"), exp("a", "b"), empty, exp("e", "e"), barrier("V"), exp("e", "e"), barrier("V"))
    (remark,) = _remarks(text)
    first, _ = (n for n, x in enumerate(text.splitlines(), 1) if "<PIPE_V>" in x and "barrier" in x)
    assert f"barrier V (line {first})" in remark


def test_what_is_assumed_of_sizes_makes_a_barrier_redundant() -> None:
    """Two stores of `%N` rows, 32 rows apart."""
    text = pipes(
        window("first", "qv", "%c0, %c0", "%N, %c64"), window("second", "qv", "%c32, %c0", "%N, %c64"), both("S MTE3"),
        store("a", "first", VEC), barrier("MTE3"), store("b", "second", VEC), args="%N: index")
    assert not [r for r in _remarks(text) if "barrier" in r]
    assert [r for r in _remarks(text, assume=("N <= 32",)) if "barrier MTE3" in r]


def test_a_function_that_is_too_large_says_that_nothing_was_looked_for() -> None:
    """80 flags are set and waited for, alone and after 100 other ops."""
    few, many = (pipes(*[exp("a", "a")] * n, *[both("V MTE3")] * 80) for n in (0, 100))
    assert not [r for r in _remarks(few) if "not examined" in r]
    assert [r for r in _remarks(many) if r.startswith("redundancy not examined: k: 160 sync ops among 260 ops")]


def test_in_the_strict_reading_what_keeps_a_set_behind_the_last_wait_is_not_redundant() -> None:
    """V tells MTE2 that its wait is over, before MTE2 sets the flag again; no byte needs that."""
    text = pipes(loop("M", both("MTE2 V"), both("V MTE2")), args="%M: index")
    assert len(_remarks(text)) == 2
    strict = sync_remarks(parse(text, "k.pto"), target("a2a3"), Options(strict=True))
    assert not [r for r in strict if "flag V -> MTE2" in r]


@pytest.mark.parametrize("seed", [1004, 1055, 1060, 1074])
def test_what_is_called_redundant_can_go(seed: int) -> None:
    """One group at a time: RACE and EVENT prove the rest."""
    chip = sorted(TARGETS)[seed % len(TARGETS)]
    module = parse(writer.write(insert_sync(random_program(seed, chip, branches=False), target(chip))))
    (func,) = module.funcs
    groups = redundant(build_program(func, "", chip), target(chip), Ladder())
    assert groups
    for group in groups:
        rest = module
        for sync in group.syncs:
            rest = without(rest, sync.step.op)
        assert verdicts(rest, chip) <= {"PROVED"}


def test_nothing_is_called_redundant_where_an_order_is_missing_or_an_op_is_not_modelled() -> None:
    assert _remarks(pipes(read("a"), flag("set", 0, "MTE2 V"), exp("a", "b"), flag("wait", 0, "MTE2 V"))) == []
    unknown = pipes("%t2 = pto.declare_tile -> !pto.tile_buf<vec, 32x64xf32>", both("S V"), exp("a", "b"))
    assert _remarks(unknown) == []


KERNEL = """\
import pypto.language as pl


@pl.program
class Pair:
    @pl.function(type=pl.FunctionType.InCore)
    def alone(self, a: pl.Tensor[[32, 64], pl.FP32], out: pl.Out[pl.Tensor[[32, 64], pl.FP32]]):
        pl.system.bar_v()
        return pl.store(pl.exp(pl.load(a, [0, 0], [32, 64])), [0, 0], out)

    @pl.function(type=pl.FunctionType.InCore)
    def ordered(self, a: pl.Tensor[[32, 64], pl.FP32], out: pl.Out[pl.Tensor[[32, 64], pl.FP32]]):
        loaded = pl.Event("TLOAD", "TEXP")
        done = pl.Event("TEXP", "TSTORE_VEC")
        x = pl.load(a, [0, 0], [32, 64], record=loaded)
        y = pl.exp(x, wait=loaded, record=done)
        pl.system.bar_v()
        out = pl.store(y, [0, 0], out, wait=done)
        return out
"""


def test_a_kernel_in_python_has_the_same_remarks_at_its_own_lines(tmp_path: Path) -> None:
    """`alone` has a barrier of V, which leaves its flags to the assembler; no op of V follows that of `ordered`."""
    path = tmp_path / "pair.py"
    path.write_text(KERNEL, encoding="utf-8")
    left, spare = check_file(str(path), CheckOptions(timeout=0)).notes
    assert left.startswith("sync left to the assembler: alone (")
    assert "barrier V (line 17) orders nothing" in spare


def test_nothing_is_called_redundant_while_a_flag_is_misused(tmp_path: Path) -> None:
    """The barrier and the wait that nothing is set for: the first may be what a repair needs."""
    path = tmp_path / "pair.py"
    wrong = KERNEL.replace("        return out\n", "        done.wait()\n        return out\n")
    path.write_text(wrong, encoding="utf-8")
    result = check_file(str(path), CheckOptions(timeout=0))
    assert {f.rule for r in result.functions for f in r.findings} == {"EVENT-WAIT"}
    assert not any("redundant" in note for note in result.notes)


@pytest.mark.parametrize(("ops", "help"), [
    ("    y = pl.exp(pl.mul(x, x))\n", "put a barrier of V between them, in a statement of its own each"),
    ("    s = pl.mul(x, x)\n    y = pl.exp(s)\n", "put a barrier of V between them"),
])
def test_ops_of_one_line_are_taken_apart_before_a_barrier_can_stand_between_them(
    ops: str, help: str, tmp_path: Path
) -> None:
    path = tmp_path / "k.py"
    path.write_text(
        "import pypto.language as pl\n@pl.function(type=pl.FunctionType.InCore)\n"
        "def k(a: pl.Tensor[[16, 64], pl.FP32], out: pl.Out[pl.Tensor[[16, 64], pl.FP32]]):\n"
        "    x = pl.load(a, [0, 0], [16, 64])\n    pl.system.bar_all()\n" + ops
        + "    pl.system.bar_all()\n    return pl.store(y, [0, 0], out)\n", encoding="utf-8")
    (found,) = check_file(str(path), CheckOptions(sync="explicit", timeout=0)).functions
    assert {f.help for f in found.findings if f.rule == "RACE-RAW"} == {help}
