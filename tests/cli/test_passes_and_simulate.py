"""`check --passes` and `simulate` as a user runs them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from pypto_verified.cli import main
from pypto_verified.fuzz.faults import switched_on
from pypto_verified.ir.expr import Call
from pypto_verified.ir.stmt import Assign, For, Function, Stmt
from pypto_verified.passes import pipeline
from pypto_verified.passes.context import PassContext, Planner
from pypto_verified.request import Simulation
from pypto_verified.simulator.errors import ShapeError, SimError, UnmodelledError

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
VECTOR_ADD = str(EXAMPLES / "vector_add.py")
RMSNORM = str(EXAMPLES / "rmsnorm.py")


def test_passes_that_agree_are_noted(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "--passes", "--timeout", "0", VECTOR_ADD]) == 0
    passes = len([p for p in pipeline.PASSES if Planner.PYPTO in p.planners])
    assert f"both sides of {passes} passes agree on" in capsys.readouterr().out


def test_a_wrong_pass_is_named_with_the_op_and_the_line(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    path = tmp_path / "sub.py"
    path.write_text(Path(VECTOR_ADD).read_text().replace("pl.add", "pl.sub"))
    line = next(i for i, text in enumerate(path.read_text().splitlines(), 1) if "pl.sub" in text)
    broken = tuple(
        replace(p, run=_swapping(p.run)) if p.name == "ResolveTileViews" else p for p in pipeline.PASSES
    )
    monkeypatch.setattr(pipeline, "PASSES", broken)
    assert main(["check", "--passes", "--timeout", "0", str(path)]) == 1
    out = capsys.readouterr().out
    assert "PASS-MEANING" in out
    assert f"{path}:{line}" in out
    assert "after ResolveTileViews c[" in " ".join(out.split())
    assert "first at tile.sub" in " ".join(out.split())


RELABELLED = """import pypto.language as pl


@pl.program
class Row:
    @pl.function(type=pl.FunctionType.InCore)
    def third_row(
        self, x: pl.Tensor[[4, 64], pl.FP32], out: pl.Out[pl.Tensor[[64, 1], pl.FP32]]
    ) -> pl.Tensor[[64, 1], pl.FP32]:
        t = pl.load(x, [0, 0], [4, 64])
        column = pl.reshape(pl.tile.slice(t, [1, 64], [2, 0]), [64, 1])
        return pl.store(column, [0, 0], out)
"""


def test_a_code_generator_that_loses_the_offset_of_a_view_is_found(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "row.py"
    path.write_text(RELABELLED)
    assert main(["check", "--passes", "--timeout", "0", str(path)]) == 0
    assert "random inputs, and so does the simulated .pto" in " ".join(capsys.readouterr().out.split())
    with switched_on("reshaped-slice-at-base"):
        assert main(["check", "--passes", "--timeout", "0", str(path)]) == 1
    assert "after the simulated .pto out[" in " ".join(capsys.readouterr().out.split())


def _swapping(right: pipeline.PassFn) -> pipeline.PassFn:
    """The pass, and then every subtraction the wrong way round, inside loops too."""

    def run(function: Function, ctx: PassContext) -> Function:
        after = right(function, ctx)
        return replace(after, body=tuple(map(_swapped, after.body)))

    return run


def _swapped(s: Stmt) -> Stmt:
    if isinstance(s, For):
        return replace(s, body=tuple(map(_swapped, s.body)))
    if isinstance(s, Assign) and isinstance(s.value, Call) and s.value.op == "tile.sub":
        return replace(s, value=replace(s.value, args=s.value.args[::-1]))
    return s


def test_simulate_writes_arrays_and_prints_the_trace(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    x = np.random.default_rng(0).standard_normal((19, 256)).astype(np.float32)
    np.save(tmp_path / "x.npy", x)
    code = main([
        "simulate", RMSNORM, "--input", f"x={tmp_path / 'x.npy'}", "--set", "M=19", "--trace", "--dump", "19",
        "-o", str(tmp_path / "out"),
    ])
    printed = capsys.readouterr()
    assert code == 0
    assert "rmsnorm.py:19:17  pto.tload  gm x 0..16383 -> vec %t 0..16383" in printed.out
    assert "valid 3 x 256" in printed.out
    assert "note: out: zeros" in printed.err
    # derivation: the formula of the example, in f64
    wide = x.astype(np.float64)
    expected = wide / np.sqrt((wide**2).mean(axis=1, keepdims=True) + 1e-6)
    np.testing.assert_allclose(np.load(tmp_path / "out" / "out.npy"), expected, rtol=1e-5)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--set", "M"], "--set M: write --set NAME=VALUE"),
        (["--set", "M=1", "--set", "M=2"], "--set M is given twice"),
        ([], "no value for M"),
    ],
)
def test_simulate_refuses_what_it_can_not_read(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["simulate", RMSNORM, *arguments]) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--set", "M=-1"], "x has a dim of -1 elements"),
        (["--set", "M=100000000000"], "x is [100000000000, 256]: 102400000000000 bytes, the limit is"),
        (["--set", "M=1", "--set", "block_idx=2", "--set", "block_num=2"], "block_idx=2: blocks are 0 to 1"),
        (["--set", "M=1", "--set", "block_idx=-1"], "block_idx=-1: blocks are"),
        (["--set", "M=1", "--set", "subblock_idx=2"], "subblock_idx=2: lanes are 0 to 1"),
    ],
)
def test_simulate_refuses_what_no_launch_has(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["simulate", RMSNORM, *arguments]) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [["--blocks", "0"], ["--cores", "0"], ["--seed", "-1"]])
def test_simulate_refuses_counts_that_run_nothing(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["simulate", RMSNORM, "--set", "M=1", *arguments])
    assert "or more" in capsys.readouterr().err


def test_a_file_tells_the_sizes_that_nobody_sets(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.ones((5, 256), np.float32))
    assert main(["simulate", RMSNORM, "--input", f"x={tmp_path / 'x.npy'}", "-o", str(tmp_path)]) == 0
    assert f"note: M: 5, as the shape of {tmp_path / 'x.npy'} says" in capsys.readouterr().err
    assert np.load(tmp_path / "out.npy").shape == (5, 256)


@pytest.mark.parametrize(
    ("errors", "findings", "code"),
    [
        ([], (), 0), ([ShapeError("a fault")], (), 1), ([UnmodelledError("an op")], (), 3), ([], ("a race",), 1),
        ([ShapeError("a fault"), UnmodelledError("an op")], (), 1), ([UnmodelledError("an op")], ("a race",), 1),
    ],
)
def test_what_is_not_modelled_hides_no_fault(errors: list[SimError], findings: tuple[str, ...], code: int) -> None:
    assert Simulation("k", {}, frozenset(), errors, (), findings).exit_code() == code


SCALARS = """import pypto.language as pl

M = pl.dynamic("M")


@pl.program
class Scalars:
    @pl.function(type=pl.FunctionType.InCore)
    def plus(
        self, n: pl.Scalar[pl.INT8], f: pl.Scalar[pl.FP16], x: pl.Tensor[[M, 32], pl.INT8],
        out: pl.Out[pl.Tensor[[M, 32], pl.INT8]],
    ) -> pl.Tensor[[M, 32], pl.INT8]:
        return pl.store(pl.load(x, [0, 0], [1, 32]), [0, 0], out)
"""


@pytest.mark.parametrize(
    ("sets", "message"),
    [
        ({"M": "1.5"}, "--set M=1.5: not an integer, M is INDEX"),
        ({"n": "1.5"}, "--set n=1.5: not an integer, n is INT8"),
        ({"n": "inf"}, "--set n=inf: not an integer, n is INT8"),
        ({"n": "256"}, "--set n=256: n is INT8, which that does not fit"),
        ({"n": "-129"}, "--set n=-129: n is INT8, which that does not fit"),
        ({"n": "-128", "f": "nan"}, ""),
        ({"n": "255"}, ""),
    ],
)
def test_scalars_have_the_type_of_their_argument(
    sets: dict[str, str], message: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "scalars.py"
    path.write_text(SCALARS)
    words = [w for name, value in ({"M": "1", "n": "1", "f": "1"} | sets).items() for w in ("--set", f"{name}={value}")]
    assert main(["simulate", str(path), *words]) == (2 if message else 0)
    assert message in capsys.readouterr().err


def test_simulate_refuses_a_negative_size_of_a_module(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(["compile", RMSNORM, "-o", str(tmp_path)]) == 0
    module = tmp_path / "ptoas" / "rmsnorm.pto"
    size = next(line.split("%arg2: ")[1] for line in module.read_text().splitlines() if "%arg2: " in line)
    assert size.startswith("index")
    assert main(["simulate", str(module), "--set", "arg2=-1"]) == 2
    assert "--set arg2=-1: a dim of a tensor is 0 or more" in capsys.readouterr().err


def test_simulate_says_that_a_file_has_no_kernel(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "empty.py"
    path.write_text("x = 1\n")
    assert main(["simulate", str(path)]) == 2
    assert "empty.py: no kernel in this file" in capsys.readouterr().err


@pytest.mark.parametrize("shape", ["8x", "-8x4", "axb"])
def test_simulate_names_a_shape_that_is_none(shape: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["simulate", RMSNORM, "--set", "M=1", "--input", f"x=randn:{shape}"]) == 2
    assert f"--input x=randn:{shape}: write a shape like 16x64" in capsys.readouterr().err
