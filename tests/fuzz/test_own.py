"""`@pypto_verified.fuzz(kernel)`: a user's kernel at the boundaries of its sizes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import pypto_verified
from pypto_verified.errors import InputError
from pypto_verified.fuzz import own
from pypto_verified.fuzz.faults import switched_on
from pypto_verified.fuzz.own import Run

EXAMPLES = Path(__file__).parents[2] / "examples"
ROWS = '''
import pypto.language as pl

M = pl.dynamic("M")


@pl.program
class Rows:
    @pl.function(type=pl.FunctionType.InCore)
    def double(self, x: pl.Tensor[[M, 32], pl.FP32], n: pl.Scalar[pl.INDEX], out: pl.Out[pl.Tensor[[M, 32], pl.FP32]]):
        m = pl.tensor.dim(x, 0)
        for row in pl.range(0, m, 16):
            t = pl.load(x, [row, 0], [16, 32], valid_shape=[pl.min(16, m - row), 32])
            out = pl.store(pl.mul(t, FACTOR), [row, 0], out)
        return out
'''


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    file = tmp_path / "rows.py"
    file.write_text(ROWS.replace("FACTOR", "2.0"), encoding="utf-8")
    return file


def test_a_right_kernel_passes_and_the_function_sees_every_boundary(rows: Path) -> None:
    seen: list[Run] = []

    @pypto_verified.fuzz(rows, examples=30)
    def test(run: Run) -> None:
        """Twice the input."""
        x = run.inputs["x"]
        assert isinstance(x, np.ndarray)
        with np.errstate(over="ignore"):
            assert (run.outputs["out"] == 2 * x).all()
        seen.append(run)

    assert (test.__name__, test.__doc__) == ("test", "Twice the input.")
    test()
    assert {0, 1, 15, 16, 17, 31, 32, 33} <= {run.sizes["M"] for run in seen}
    assert {run.kind for run in seen} > {"small", "boundary"}
    assert all(run.exact for run in seen)


def test_what_the_function_asserts_is_told_with_the_inputs(rows: Path) -> None:
    @pypto_verified.fuzz(rows)
    def test(run: Run) -> None:
        assert run.sizes["M"] < 16, "too many rows"

    with pytest.raises(AssertionError, match=r"double with .*M=16.*too many rows"):
        test()


def test_the_function_can_not_spoil_what_later_runs_get(rows: Path) -> None:
    def spoil(run: Run) -> None:
        x = run.inputs["x"]
        assert isinstance(x, np.ndarray)
        x[...] = 7

    assert own.campaign(rows, spoil, "", 10, 0, "a5", {}) == 10


def test_a_kernel_that_reads_too_far_fails_unless_its_sizes_are_those_it_is_made_for() -> None:
    kernel = EXAMPLES / "broken" / "bound.py"
    with pytest.raises(AssertionError, match="BOUND-UPPER is refuted"):
        own.campaign(kernel, lambda run: None, "", 5, 0, "a2a3", {})
    assert own.campaign(kernel, lambda run: None, "", 5, 0, "a2a3", {"M": (32, 64)}) == 5


def test_a_fault_of_the_compiler_is_told(rows: Path) -> None:
    with switched_on("mul-is-add"), pytest.raises(AssertionError, match="interpreter and simulator differ: out"):
        own.campaign(rows, lambda run: None, "double", 20, 0, "a2a3", {})


def test_kernels_are_named_by_file_by_name_or_by_what_a_file_defines(rows: Path) -> None:
    function = own.found(rows)
    assert function == own.found(str(rows), "double") == own.found(function)
    with pytest.raises(InputError, match="no one kernel treble"):
        own.found(rows, "treble")
    with pytest.raises(InputError, match="no size or integer scalar K"):
        own.campaign(rows, lambda run: None, "", 1, 0, "a2a3", {"K": (1,)})


def test_boundaries_are_around_the_constants_of_the_kernel(rows: Path) -> None:
    found = own.boundaries(own.found(rows))
    assert set(found) == {"M", "n"}
    assert {0, 1, 15, 16, 17, 31, 32, 33, 63, 64, 65} <= set(found["M"])


def test_the_package_loads_it_only_when_it_is_asked_for() -> None:
    assert "fuzz" not in vars(pypto_verified) or callable(pypto_verified.fuzz)
    with pytest.raises(AttributeError, match="no attribute 'fuzzy'"):
        pypto_verified.fuzzy  # noqa: B018
