"""Simulating a kernel on given inputs: outputs, trace, tables, and what is refused."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import ml_dtypes
import numpy as np
import pytest

from pypto_verified.compiler import compile_function
from pypto_verified.errors import InputError
from pypto_verified.language import load_source
from pypto_verified.simulate import Request, save, simulate
from pypto_verified.targets import A2A3, A5

KERNEL = dedent("""\
    import pypto.language as pl

    M = pl.dynamic("M")


    @pl.program
    class P:
        @pl.function(type=pl.FunctionType.InCore)
        def twice(
            self, a: pl.Tensor[[M, 8], pl.FP32], n: pl.Scalar[pl.INDEX], out: pl.Out[pl.Tensor[[M, 8], pl.FP32]]
        ):
            x = pl.load(a, [0, 0], [4, 8], valid_shape=[n, 8])
            y = pl.mul(x, 2.0)
            return pl.store(y, [0, 0], out)
    """)
LOAD_LINE, MUL_LINE = 12, 13


@pytest.fixture
def kernel(tmp_path: Path) -> str:
    path = tmp_path / "twice.py"
    path.write_text(KERNEL)
    return str(path)


def _quiet(text: str) -> None:
    raise AssertionError(f"unexpected: {text}")


def test_outputs_have_the_authors_names_and_shapes(kernel: str, tmp_path: Path) -> None:
    given = np.arange(40, dtype=np.float32).reshape(5, 8)
    np.save(tmp_path / "a.npy", given)
    request = Request(kernel, inputs={"a": str(tmp_path / "a.npy")}, sets={"M": "5", "n": "3"})
    found = simulate(request, _quiet)
    expected = np.zeros((5, 8), np.float32)
    expected[:3] = 2 * given[:3]
    np.testing.assert_array_equal(found.outputs["out"], expected)
    assert (found.exit_code(), found.notes) == (0, ("out: zeros, since no --input names it",))
    save(found, tmp_path / "results")
    np.testing.assert_array_equal(np.load(tmp_path / "results" / "out.npy"), expected)


def test_the_trace_names_addresses_and_lines(kernel: str) -> None:
    lines: list[str] = []
    simulate(Request(kernel, inputs={"a": "ramp"}, sets={"M": "4", "n": "3"}, trace=True), lines.append)
    # Three rows of eight f32 are bytes 0..95.
    assert lines[0] == f"{kernel}:{LOAD_LINE}:13  pto.tload  gm a 0..95 -> vec %x 0..95"
    assert [line.split("  ")[1] for line in lines] == ["pto.tload", "pto.tmuls", "pto.tstore"]
    assert lines[-1].endswith("-> gm out 0..95")


def test_a_dump_marks_what_is_not_valid_and_what_was_never_written(kernel: str) -> None:
    lines: list[str] = []
    simulate(Request(kernel, inputs={"a": "ramp"}, sets={"M": "4", "n": "2"}, dumps=(MUL_LINE,)), lines.append)
    assert lines[0].endswith(":13:13  pto.tmuls")
    head, columns, *rows = lines[1].splitlines()
    assert head.endswith("f32 4 x 8, valid 2 x 8")
    assert columns.split() == [str(c) for c in range(8)]
    assert [row.split()[1:] for row in rows] == [
        [str(2 * c) for c in range(8)], [str(16 + 2 * c) for c in range(8)], ["."] * 8, ["."] * 8,
    ]


def test_elements_never_written_are_marked_and_reported(tmp_path: Path) -> None:
    path = tmp_path / "k.py"
    path.write_text(KERNEL.replace("pl.mul(x, 2.0)", "pl.mul(pl.set_validshape(x, 4, 8), 2.0)"))
    lines: list[str] = []
    found = simulate(Request(str(path), sets={"M": "4", "n": "2"}, dumps=(MUL_LINE,)), lines.append)
    assert [e.kind for e in found.errors] == ["uninitialised"]
    assert found.exit_code() == 1
    assert lines[-1].splitlines()[-1].split()[1:] == ["?"] * 8


def test_a_pto_file_takes_arrays_by_argument(kernel: str, tmp_path: Path) -> None:
    (function,) = load_source(KERNEL, "twice.py").programs[0].functions
    path = tmp_path / "twice.pto"
    path.write_text(compile_function(function, A2A3).text)
    request = Request(str(path), inputs={"arg0": "ones:5x8", "arg1": "zeros:5x8"}, sets={"arg2": "3", "arg3": "5"})
    assert simulate(request, _quiet).outputs["arg1"].sum() == 2.0 * 3 * 8


def test_a_pto_file_says_shapes_and_target(kernel: str, tmp_path: Path) -> None:
    (function,) = load_source(KERNEL, "twice.py").programs[0].functions
    path = tmp_path / "twice.pto"
    path.write_text(compile_function(function, A5).text)
    found = simulate(Request(str(path), inputs={"arg0": "ones"}, sets={"arg2": "3", "arg3": "5"}), _quiet)
    assert found.outputs["arg0"].shape == found.outputs["arg1"].shape == (5, 8)
    assert found.notes == ("arg1: randn [5, 8] as its view says, since no --input names it",)
    assert found.written == {"arg1"}
    # 240 KiB are there on a5 only
    path.write_text(TILE_AT.format(arch="a5", address=192 * 1024))
    assert simulate(Request(str(path)), _quiet).errors == []
    assert [e.kind for e in simulate(Request(str(path), target="a2a3"), _quiet).errors] == ["capacity"]
    path.write_text(TILE_AT.format(arch="a3", address=192 * 1024))
    assert [e.kind for e in simulate(Request(str(path)), _quiet).errors] == ["capacity"]


def test_the_function_that_nobody_calls_is_run(tmp_path: Path) -> None:
    path = tmp_path / "calls.pto"
    path.write_text("""module {
  func.func @entry(%out: !pto.ptr<i32>) {
    %c0 = arith.constant 0 : index
    %v = func.call @seven() : () -> i32
    pto.store_scalar %v, %out[%c0] : !pto.ptr<i32>, i32
    return
  }
  func.func private @seven() -> i32 {
    %v = arith.constant 7 : i32
    return %v : i32
  }
}
""")
    found = simulate(Request(str(path), inputs={"out": "zeros:2"}), _quiet)
    assert (found.function, found.outputs["out"].tolist()) == ("entry", [7, 0])


def test_eight_bit_floats_come_and_go_as_f32(tmp_path: Path) -> None:
    tile = ("!pto.tile_buf<loc=vec, dtype=f8E5M2, rows=1, cols=32, v_row=1, v_col=32, blayout=row_major, "
            "slayout=none_box, fractal=512, pad=0>")
    view, part = "!pto.tensor_view<?x?xf8E5M2>", "!pto.partition_tensor_view<1x32xf8E5M2>"
    path = tmp_path / "copy.pto"
    path.write_text(f"""module attributes {{pto.target_arch = "a5"}} {{
  func.func @copy(%a: !pto.ptr<f8E5M2>, %out: !pto.ptr<f8E5M2>) {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c32 = arith.constant 32 : index
    %v = pto.make_tensor_view %a, shape = [%c1, %c32], strides = [%c32, %c1] : {view}
    %w = pto.make_tensor_view %out, shape = [%c1, %c32], strides = [%c32, %c1] : {view}
    %p = pto.partition_view %v, offsets = [%c0, %c0], sizes = [%c1, %c32] : {view} -> {part}
    %q = pto.partition_view %w, offsets = [%c0, %c0], sizes = [%c1, %c32] : {view} -> {part}
    %x = pto.alloc_tile : {tile}
    pto.tload ins(%p : {part}) outs(%x : {tile})
    pto.tstore ins(%x : {tile}) outs(%q : {part})
    return
  }}
}}
""")
    np.save(tmp_path / "a.npy", np.full((1, 32), 1.25, np.float32))
    found = simulate(Request(str(path), inputs={"a": str(tmp_path / "a.npy"), "out": "zeros"}), _quiet)
    assert found.errors == [] and found.outputs["out"].dtype == ml_dtypes.float8_e5m2
    save(found, tmp_path)
    assert np.load(tmp_path / "out.npy").tolist() == [[1.25] * 32]


def test_blocks_of_a_launch_run_one_after_the_other(tmp_path: Path) -> None:
    path = tmp_path / "blocks.pto"
    path.write_text("""module {
  func.func @k(%out: !pto.ptr<i32>) {
    %b = pto.get_block_idx
    %i = arith.index_cast %b : i64 to index
    %v = arith.index_cast %i : index to i32
    pto.store_scalar %v, %out[%i] : !pto.ptr<i32>, i32
    return
  }
}
""")
    found = simulate(Request(str(path), inputs={"out": "zeros:4"}, blocks=4), _quiet)
    assert (found.errors, found.outputs["out"].tolist()) == ([], [0, 1, 2, 3])
    one = "%c = arith.constant 1 : index\n    %b ="
    path.write_text(path.read_text().replace("%out[%i]", "%out[%c]").replace("%b =", one))
    (fault,) = simulate(Request(str(path), inputs={"out": "zeros:4"}, blocks=2), _quiet).errors
    assert fault.kind == "conflicting writes"


def test_integers_are_small_unless_asked_for_otherwise(tmp_path: Path) -> None:
    path = tmp_path / "k.py"
    path.write_text(KERNEL.replace("FP32", "INT32").replace("pl.mul(x, 2.0)", "pl.mul(x, 2)"))
    found = simulate(Request(str(path), sets={"M": "4", "n": "2"}), _quiet)
    assert found.notes[0] == "a: small, since no --input names it" and np.abs(found.outputs["a"]).max() < 100


def test_bfloat16_comes_and_goes_as_f32(tmp_path: Path) -> None:
    path = tmp_path / "k.py"
    path.write_text(KERNEL.replace("FP32", "BF16").replace("[4, 8]", "[4, 16]").replace(", 8]", ", 16]")
                    .replace("pl.mul(x, 2.0)", "x"))
    np.save(tmp_path / "a.npy", np.full((4, 16), 1.5, np.float32))
    found = simulate(Request(str(path), inputs={"a": str(tmp_path / "a.npy")}, sets={"M": "4", "n": "4"}), _quiet)
    assert found.outputs["out"].dtype == ml_dtypes.bfloat16
    (written,) = [p for p in save(found, tmp_path) if p.name == "out.npy"]
    assert np.load(written).tolist() == [[1.5] * 16] * 4


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"sets": {"M": "4"}}, "no value for n"),
        ({"sets": {}}, "no value for n, M"),
        ({"sets": {"M": "4", "n": "x"}}, "--set n=x: not a number"),
        ({"sets": {"M": "4", "n": "2", "k": "1"}}, "--set k: there is no such scalar"),
        ({"inputs": {"b": "randn"}}, "--input b: there is no such tensor; there are: a, out"),
        ({"inputs": {"a": "randm"}}, "--input a=randm: not a .npy file"),
        ({"inputs": {"a": "ones:3x8"}}, r"--input a=ones:3x8: the tensor is \[4, 8\]"),
        ({"inputs": {"a": "nowhere.npy"}}, "can't read an array"),
        ({"function": "thrice"}, "no function thrice in this file; it has: twice"),
    ],
)
def test_what_does_not_fit_is_refused(kernel: str, change: dict[str, dict[str, str]], message: str) -> None:
    options = {"sets": {"M": "4", "n": "2"}, **change}
    with pytest.raises(InputError, match=message):
        simulate(Request(kernel, **options), _quiet)  # type: ignore[arg-type]  # the point is what a user may write


def test_a_line_without_tiles_is_noted(kernel: str) -> None:
    found = simulate(Request(kernel, inputs={"a": "ramp"}, sets={"M": "4", "n": "2"}, dumps=(1,)), _quiet)
    assert found.notes[-1] == "no op that writes a tile stands at line 1"


TILE_AT = """module attributes {{pto.target_arch = "{arch}"}} {{
  func.func @kernel() {{
    %at = arith.constant {address} : i64
    %x = pto.alloc_tile addr = %at : !pto.tile_buf<loc=vec, dtype=f32, rows=8, cols=8, v_row=8, v_col=8, \
blayout=row_major, slayout=none_box, fractal=512, pad=0>
    return
  }}
}}
"""

PIPE = dedent("""\
    import pypto.language as pl


    @pl.program
    class P:
        @pl.function(type=pl.FunctionType.AIC)
        def producer(
            self, a: pl.Tensor[[16, 16], pl.FP16], b: pl.Tensor[[16, 16], pl.FP16],
            out: pl.Out[pl.Tensor[[16, 16], pl.FP32]],
        ):
            ring = pl.import_peer_buffer(name="ring", peer_func="other")
            pl.aic_initialize_pipe(ring, pl.const(0, pl.INT32), dir_mask=1, slot_size=1024)
            al = pl.move(pl.load(a, [0, 0], [16, 16], target_memory=pl.Mem.Mat), target_memory=pl.Mem.Left)
            br = pl.move(pl.load(b, [0, 0], [16, 16], target_memory=pl.Mem.Mat), target_memory=pl.Mem.Right)
            c = pl.matmul(al, br)
            pl.tpush_to_aiv(c, split=0)
            return pl.store(c, [0, 0], out)
    """)


@pytest.mark.parametrize("chip", ["a2a3", "a5"])
def test_one_end_of_a_pipe_runs_alone(tmp_path: Path, chip: str) -> None:
    path = tmp_path / "k.py"
    path.write_text(PIPE)
    found = simulate(Request(str(path), inputs={"a": "ones", "b": "ones"}, target=chip), _quiet)
    assert found.errors == []
    assert found.outputs["out"].tolist() == [[16.0] * 16] * 16
    assert set(found.outputs) == {"a", "b", "out"}
    assert "the other core of the pipe is absent" in found.notes[-1]
