"""Refutations are replayed: a true witness is confirmed, one that shows nothing makes the run fail."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from pypto_verified.check import CheckOptions, check_file, verify_module
from pypto_verified.compiler import compile_function
from pypto_verified.language import load_file
from pypto_verified.pto.reader import read
from pypto_verified.report.model import Finding, FunctionResult, Kind, Verdict
from pypto_verified.targets import A2A3
from pypto_verified.witness import replayed

BROKEN = Path(__file__).resolve().parents[2] / "examples" / "broken"


def claim(rule: str, witness: tuple[tuple[str, int], ...], kind: Kind = Kind.SAFETY) -> FunctionResult:
    finding = Finding(rule, kind, Verdict.REFUTED, "claimed", "bound.py", 17, 17, witness)
    return FunctionResult("forgotten_tail", findings=[finding])


def judge(result: FunctionResult) -> FunctionResult:
    """The replay of a claim about `examples/broken/bound.py`."""
    artifact = compile_function(load_file(BROKEN / "bound.py").programs[0].functions[0], A2A3)
    return replayed(result, artifact.module, A2A3, 0, artifact.names)


@pytest.mark.requirement("VF-03")
def test_a_true_witness_is_confirmed_under_the_name_that_the_author_knows() -> None:
    (finding,) = judge(claim("BOUND-UPPER", (("M", 33), ("row", 32)))).findings
    assert finding.replay.startswith("confirmed: global bounds: ")


@pytest.mark.requirement("VF-03")
def test_a_witness_that_shows_nothing_fails_the_run() -> None:
    result = judge(claim("BOUND-UPPER", (("M", 64), ("row", 32))))
    refuted, fault = result.findings
    assert refuted.replay.startswith("not observed: ")
    assert (fault.rule, fault.verdict) == ("REPLAY", Verdict.ERROR)
    assert (fault.file, fault.line) == (refuted.file, refuted.line)
    assert result.verdict is Verdict.ERROR


def test_a_fault_at_another_op_confirms_nothing() -> None:
    result = claim("BOUND-UPPER", (("M", 33), ("row", 32)))
    result.findings = [replace(f, line=1) for f in result.findings]
    (finding,) = judge(result).findings
    assert finding.replay == "not run: the inputs of this run do not lead there"


def test_what_the_assembler_rejects_is_not_run() -> None:
    result = claim("BOX-ROWS", (), Kind.LEGALITY)
    assert [f.replay for f in judge(result).findings] == [""]


def test_a_result_without_refutation_is_left_as_it_is() -> None:
    result = claim("BOUND-UPPER", ())
    result.findings = [replace(f, verdict=Verdict.UNKNOWN) for f in result.findings]
    assert judge(result) is result


@pytest.mark.requirement("VF-03")
@pytest.mark.parametrize("name", ["bound.py", "dtype.pto", "layout.pto", "plan.pto", "valid.py", "view.pto"])
def test_the_observable_broken_examples_are_confirmed(name: str) -> None:
    (function,) = check_file(str(BROKEN / name), CheckOptions(timeout=0)).functions
    assert function.findings
    shown = [f.replay.partition(":")[0] for f in function.findings]
    assert shown[0] == "confirmed" and set(shown) <= {"confirmed", "not run"}


def test_replays_can_be_left_out() -> None:
    (function,) = check_file(str(BROKEN / "bound.py"), CheckOptions(timeout=0, simulate=False)).functions
    assert function.verdict is Verdict.REFUTED
    assert {f.replay for f in function.findings} == {""}


TILE = "!pto.tile_buf<loc=vec, dtype=f32, rows=16, cols=64, v_row=16, v_col=64, blayout=row_major, slayout=none_box, \
fractal=512, pad=0>"
COLUMN = TILE.replace("cols=64, v_row=16, v_col=64", "cols=8, v_row=?, v_col=?")
MODULE = f"""
module attributes {{pto.target_arch = "a2a3"}} {{
  func.func @k(%a: !pto.ptr<f32>, %out: !pto.ptr<f32>) attributes {{pto.kernel_kind = #pto.kernel_kind<vector>}} {{
    %z = arith.constant 0 : i64
    %p1 = arith.constant 4096 : i64
    %p2 = arith.constant 8192 : i64
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    %c64 = arith.constant 64 : index
    %av = pto.make_tensor_view %a, shape = [%c16, %c64], strides = [%c64, %c1] {{layout = #pto.layout<nd>}} \
: !pto.tensor_view<?x?xf32>
    %ov = pto.make_tensor_view %out, shape = [%c16, %c64], strides = [%c64, %c1] {{layout = #pto.layout<nd>}} \
: !pto.tensor_view<?x?xf32>
    %ap = pto.partition_view %av, offsets = [%c0, %c0], sizes = [%c16, %c64] : !pto.tensor_view<?x?xf32> \
-> !pto.partition_tensor_view<16x64xf32>
    %op = pto.partition_view %ov, offsets = [%c0, %c0], sizes = [%c16, %c64] : !pto.tensor_view<?x?xf32> \
-> !pto.partition_tensor_view<16x64xf32>
    %x = pto.alloc_tile addr = %z : {TILE}
    %y = pto.alloc_tile addr = %AT : {TILE}
    %col = pto.alloc_tile addr = %p2 valid_row = %c16 valid_col = %c1 : {COLUMN}
    pto.tload ins(%ap : !pto.partition_tensor_view<16x64xf32>) outs(%x : {TILE})
BODY
    pto.tstore ins(%x : {TILE}) outs(%op : !pto.partition_tensor_view<16x64xf32>)
    return
  }}
}}
"""


def checked(path: Path, at: str, *body: str) -> dict[str, Finding]:
    """The findings on MODULE by rule; `at` is where %y lies."""
    text = MODULE.replace("%AT", at).replace("BODY", "\n".join(f"    {line}" for line in body))
    path.write_text(text, encoding="utf-8")
    (function,) = check_file(str(path), CheckOptions(timeout=0)).functions
    return {f.rule: f for f in function.findings}


@pytest.mark.requirement("VF-03")
def test_a_clobber_with_equal_data_stays_refuted_and_is_no_fault_of_the_tool(tmp_path: Path) -> None:
    again = f"pto.tload ins(%ap : !pto.partition_tensor_view<16x64xf32>) outs(%y : {TILE})"
    same = checked(tmp_path / "k.pto", "%z", again)
    assert same.keys() == {"PLAN-OVERLAP"}
    assert same["PLAN-OVERLAP"].verdict is Verdict.REFUTED
    assert same["PLAN-OVERLAP"].replay == "not observed: the bytes held the same values in this run"


@pytest.mark.requirement("VF-03")
def test_a_clobber_with_other_data_is_confirmed(tmp_path: Path) -> None:
    other = checked(tmp_path / "k.pto", "%z", f"pto.tadd ins(%x, %x : {TILE}, {TILE}) outs(%y : {TILE})")
    assert other["PLAN-OVERLAP"].replay.startswith("confirmed: ")


@pytest.mark.requirement("VF-03")
def test_a_row_major_column_is_read_as_a_block_of_each_row(tmp_path: Path) -> None:
    found = checked(
        tmp_path / "k.pto", "%p1", "%one = arith.constant 1.0 : f32",
        f"pto.texpands ins(%one : f32) outs(%col : {COLUMN})",
        f"pto.trowexpandadd ins(%x, %col : {TILE}, {COLUMN}) outs(%x : {TILE})")
    assert found["VALID-EXPAND"].replay.startswith("confirmed: invalid read: ")


WORD = TILE.replace("f32", "i32")


@pytest.mark.requirement("VF-03")
def test_a_move_to_another_type_moves_bits(tmp_path: Path) -> None:
    """A float of 1.0 read as an integer is no 1: stored as a float again it is still one, so the tile in between is
    doubled as an integer."""
    found = checked(
        tmp_path / "k.pto", "%p1", f"%i = pto.alloc_tile addr = %p2 : {WORD}",
        f"pto.tmov ins(%x : {TILE}) outs(%i : {WORD})", f"pto.tadd ins(%i, %i : {WORD}, {WORD}) outs(%i : {WORD})",
        f"pto.tmov ins(%i : {WORD}) outs(%x : {TILE})")
    assert found["DTYPE-MOVE"].replay.startswith("confirmed: wrong result: %out")


@pytest.mark.requirement("VF-03")
def test_a_tile_in_the_ring_of_a_pipe_is_written_by_the_peer(tmp_path: Path) -> None:
    ring = 'pto.reserve_buffer {name = "r", size = 4096, location = #pto.address_space<vec>, auto = false, base = '
    shared = checked(tmp_path / "k.pto", "%p1", f"%r = {ring}0}} -> i32")
    assert shared["PLAN-RESERVE"].replay.startswith("confirmed: wrong result: %out")
    assert "PLAN-RESERVE" not in checked(tmp_path / "apart.pto", "%p1", f"%r = {ring}16384}} -> i32")


CLAMPED = """
import pypto.language as pl


@pl.program
class Shift:
    @pl.function(type=pl.FunctionType.InCore)
    def row_before(self, x: pl.Tensor[[64, 64], pl.FP32], out: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
        for r in pl.range(0, 64, 32):
            t = pl.load(x, [pl.max(r - 1, 0), 0], [32, 64])
            out = pl.store(t, [r, 0], out)
        return out
"""


def test_an_author_may_clamp_an_offset(tmp_path: Path) -> None:
    """In a text it is a compiler that hides a negative offset; no run of it shows a fault, which is not one of ours."""
    kernel, text = tmp_path / "shift.py", tmp_path / "shift.pto"
    kernel.write_text(CLAMPED, encoding="utf-8")
    (function,) = check_file(str(kernel), CheckOptions(timeout=0)).functions
    assert function.verdict is Verdict.PROVED
    text.write_text(compile_function(load_file(kernel).programs[0].functions[0], A2A3).text, encoding="utf-8")
    (function,) = check_file(str(text), CheckOptions(timeout=0)).functions
    assert [(f.rule, f.verdict, f.replay) for f in function.findings] == [("BOUND-CLAMP", Verdict.REFUTED, "")]


@pytest.mark.parametrize(("at", "replay"), [
    (" addr = %z", "confirmed: capacity: "), ("", "not run: a tile without an address has memory of its own in a run"),
])
def test_a_tile_that_fits_nowhere_is_seen_where_it_has_an_address(tmp_path: Path, at: str, replay: str) -> None:
    path = tmp_path / "k.pto"
    path.write_text(
        'module attributes {pto.target_arch = "a2a3"} {\n  func.func @k() {\n    %z = arith.constant 0 : i64\n'
        f"    %t = pto.alloc_tile{at} : !pto.tile_buf<vec, 512x512xf32>\n    return\n  }}\n}}\n", encoding="utf-8")
    (function,) = check_file(str(path), CheckOptions(timeout=0)).functions
    found = {f.rule: f.replay for f in function.findings}
    assert found["PLAN-CAPACITY"].startswith(replay)
    assert function.verdict is Verdict.REFUTED


def test_a_window_that_leaves_its_tensor_hides_what_two_blocks_write(tmp_path: Path) -> None:
    """Block 1 takes rows 8 to 23 of 17, over rows 8 to 15 of block 0; the simulator runs no such load and what follows
    from it, and that is no fault of the verdict."""
    path = tmp_path / "twice.py"
    path.write_text(TWICE, encoding="utf-8")
    (kernel,) = check_file(str(path), CheckOptions(assume=("M == 17",))).functions
    found = {f.rule: f for f in kernel.findings}
    assert found["WRITE-TWICE"].verdict is Verdict.REFUTED
    assert found["WRITE-TWICE"].replay.startswith("not run: a window leaves its tensor before: ")
    assert "REPLAY" not in found


TWICE = '''import pypto.language as pl
M = pl.dynamic("M")
@pl.program
class P:
    @pl.function(type=pl.FunctionType.InCore)
    def k(
        self, x: pl.Tensor[[M, 32], pl.FP32], out: pl.Out[pl.Tensor[[M, 32], pl.FP32]]
    ) -> pl.Tensor[[M, 32], pl.FP32]:
        b = pl.get_block_idx()
        tiles = (pl.tensor.dim(x, 0) + 15) // 16
        share = (tiles + pl.get_block_num() - 1) // pl.get_block_num()
        for i in pl.range(b * share, pl.min((b + 1) * share, tiles)):
            t = pl.load(x, [i * 8, 0], [16, 32])
            out = pl.store(t, [i * 8, 0], out)
        return out
'''


def test_a_store_that_a_run_leaves_out_is_not_taken_for_a_gap(tmp_path: Path) -> None:
    """The last window reaches over the end: the device writes rows of it that the simulator does not."""
    path = tmp_path / "left.py"
    path.write_text(LEFT, encoding="utf-8")
    (kernel,) = check_file(str(path), CheckOptions(assume=("M == 40",))).functions
    shown = {f.rule: f.replay for f in kernel.findings if f.rule.startswith("WRITE-")}
    assert shown
    assert all(r.startswith("not run: a window leaves its tensor before: ") for r in shown.values())


LEFT = '''import pypto.language as pl
M = pl.dynamic("M")
@pl.program
class P:
    @pl.function(type=pl.FunctionType.InCore)
    def k(
        self, x: pl.Tensor[[M, 32], pl.FP32], out: pl.Out[pl.Tensor[[M, 32], pl.FP32]]
    ) -> pl.Tensor[[M, 32], pl.FP32]:
        for i in pl.range(0, pl.tensor.dim(x, 0), 32):
            t = pl.load(x, [0, 0], [16, 32])
            out = pl.store(t, [i, 0], out)
        return out
'''


def test_a_fill_in_place_of_what_was_never_written_is_seen() -> None:
    """Such a fill copies nothing; the replay of its read was an internal error."""
    kind = "!pto.tile_buf<vec, 32x32xf32, pad=1>"
    text = (f"module {{\nfunc.func @f() {{\n%t = pto.alloc_tile : {kind}\n"
            f"pto.tfillpad ins(%t : {kind}) outs(%t : {kind})\nreturn\n}}\n}}\n")
    (result,) = verify_module(read(text), A2A3, CheckOptions(), {}, {})
    found = {f.rule: f.replay for f in result.findings}
    assert found["INIT-READ"].startswith("confirmed: uninitialised: ")
    assert "REPLAY" not in found


def test_a_stricter_reading_that_no_run_takes_is_no_fault_of_the_tool() -> None:
    """The text calls the left operand what the other chip has (LEFT-LAYOUT): the usual reading takes no notice."""
    matmul = str(BROKEN.parent / "matmul.py")
    told = {strict: [f for function in check_file(matmul, CheckOptions(strict=strict, timeout=0)).functions
                     for f in function.findings] for strict in (False, True)}
    assert not told[False]
    assert told[True] and {f.rule for f in told[True]} == {"LAYOUT-CUBE"}
    assert all(f.replay.startswith("not run: ") for f in told[True])


@pytest.mark.parametrize(("chip", "second"), [("a2a3", "pto.tpush_to_aiv"), ("a5", "pto.texp")])
def test_a_producer_that_is_too_many_tiles_ahead_is_shown_by_what_meets_its_push(chip: str, second: str) -> None:
    """Through global memory another push; in the vector core's memory the op that still works on the slot."""
    path = BROKEN.parents[1] / "tests" / "corpus" / "reject" / "fifo_five_slots.pto"
    functions = check_file(str(path), CheckOptions(target=chip, timeout=0)).functions
    found = [f for function in functions for f in function.findings]
    assert {(f.rule, f.verdict) for f in found} == {("FIFO-OVERRUN", Verdict.REFUTED)}
    assert all(f.replay.startswith("confirmed: ") and second in f.replay for f in found)


@pytest.mark.parametrize("strict", [False, True])
def test_an_accumulating_product_reads_its_destination_whatever_the_text_names(strict: bool) -> None:
    """It names an accumulator that lies elsewhere. The device does not touch that (PTO-ISA TMatmul.hpp): no race about
    it can be shown, and the replay of one was an internal error."""
    path = BROKEN.parents[1] / "tests" / "corpus" / "reject" / "accumulator_elsewhere.pto"
    functions = check_file(str(path), CheckOptions(strict=strict, sync="explicit", timeout=0)).functions
    found = [f for function in functions for f in function.findings]
    assert {f.verdict for f in found} == {Verdict.REFUTED}
    assert {"PLAN-ACCUMULATOR", "INIT-READ", "RACE-RAW"} <= {f.rule for f in found}
    assert all(f.replay.startswith("confirmed: ") for f in found)


def test_a_kernel_that_is_proved_needs_no_simulator() -> None:
    """Nothing of it is replayed: neither numpy nor the simulator is loaded for it."""
    program = ("import sys\nfrom pypto_verified.cli import main\n"
               "code = main(['examples/multiply_32x32.py', '--no-cache', '--timeout', '0'])\n"
               "sys.exit(code or any(m in sys.modules for m in ('numpy', 'z3', 'pypto_verified.simulator')))")
    root = BROKEN.parents[1]
    done = subprocess.run([sys.executable, "-c", program], cwd=root, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
