"""`@pypto_verified.fuzz(kernel)`: a user's kernel at the boundaries of its sizes."""

from __future__ import annotations

import inspect
import re
import traceback
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pypto_verified
from pypto_verified.errors import InputError, PtoError
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


def test_a_refuted_rule_is_told_with_its_line_its_numbers_and_what_to_do() -> None:
    with pytest.raises(AssertionError) as caught:
        own.campaign(EXAMPLES / "broken" / "bound.py", lambda run: None, "", 5, 0, "a2a3", {})
    first, advice = str(caught.value).split("\n")
    assert "bound.py:17:17: " in first
    assert first.endswith("for M = 1, row = 0")
    assert advice.startswith("help: narrow the window")


def test_an_error_of_the_input_brings_its_help(rows: Path) -> None:
    @pypto_verified.fuzz(rows, sizes={"K": (1,)})
    def test(run: Run) -> None:
        """Is not reached."""

    with pytest.raises(InputError, match="no size or integer scalar K") as caught:
        test()
    assert caught.value.__notes__[0] == "help: it has M, n"


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


ODD = '''
import pypto.language as pl

M = pl.dynamic("M")


@pl.program
class Odd:
    @pl.function(type=pl.FunctionType.InCore)
    def odd(self, x: pl.Tensor[[M, 32], pl.FP32], out: pl.Out[pl.Tensor[[M, 32], pl.FP32]]):
        out = pl.store(pl.abs(pl.load(x, [0, 0], [1, 32])), [0, 0], out)
        m = pl.tensor.dim(x, 0)
        for row in pl.range(1, m, 16):
            out = pl.store(pl.abs(pl.load(x, [row, 0], [16, 32])), [row, 0], out)
        return out
'''


@pytest.mark.parametrize("sizes", [(1, 17, 33), (1, 17, 49), (17,)])
def test_rules_are_asked_about_the_sizes_that_are_given_and_no_others(sizes: tuple[int, ...], tmp_path: Path) -> None:
    file = tmp_path / "odd.py"
    file.write_text(ODD, encoding="utf-8")
    assert own.campaign(file, lambda run: None, "", 5, 0, "a2a3", {"M": sizes}) == 5
    with pytest.raises(AssertionError, match="BOUND-UPPER is refuted"):
        own.campaign(file, lambda run: None, "", 5, 0, "a2a3", {"M": (*sizes, 18)})


def test_a_kernel_without_a_defined_result_is_no_test_that_passes(tmp_path: Path) -> None:
    file = tmp_path / "beyond.py"
    file.write_text('''
import pypto.language as pl


@pl.program
class Beyond:
    @pl.function(type=pl.FunctionType.InCore)
    def beyond(self, x: pl.Tensor[[16, 32], pl.FP32], out: pl.Out[pl.Tensor[[16, 32], pl.FP16]]):
        t = pl.maximum(pl.load(x, [0, 0], [16, 32]), 1.0e6)
        return pl.store(pl.cast(t, pl.FP16), [0, 0], out)
''', encoding="utf-8")

    @pypto_verified.fuzz(file, examples=10)
    def test(run: Run) -> None:
        raise ValueError("is never asked")

    with pytest.raises(AssertionError, match="beyond: none of 10 runs has a defined result"):
        test()


def test_sizes_may_come_from_a_generator_and_the_test_may_run_twice(rows: Path) -> None:
    @pypto_verified.fuzz(rows, examples=5, sizes={"M": (m for m in range(16, 19))})
    def test(run: Run) -> None:
        assert run.sizes["M"] in (16, 17, 18)

    test()
    test()


@pytest.mark.parametrize(("values", "told"), [
    ((), "no value is left for M"), (("a",), "sizes are integers"), (5, "sizes are integers"),
    ((-1, 16), "M is the size of a tensor"),
])
def test_sizes_that_are_none_are_wrong_input(values: Iterable[int], told: str, rows: Path) -> None:
    with pytest.raises(InputError, match=told):
        own.campaign(rows, lambda run: None, "", 5, 0, "a2a3", {"M": values})


def test_no_examples_are_wrong_input(rows: Path) -> None:
    with pytest.raises(InputError, match="0 examples test nothing"):
        own.campaign(rows, lambda run: None, "", 0, 0, "a2a3", {})


def test_another_exception_of_the_function_tells_the_run(rows: Path) -> None:
    @pypto_verified.fuzz(rows)
    def test(run: Run) -> None:
        run.outputs["nothing"]

    with pytest.raises(KeyError, match="nothing") as caught:
        test()
    assert "M=0" in caught.value.__notes__[0]


BROKEN = {
    "missing": (None, r"kernel\.py: can't read .*No such file", ()),
    "not Python": ("def f(:\n", r"kernel\.py:1:7: not Python", ("help: correct the syntax",)),
    "stops": ("import os\n1 / 0\n", r"kernel\.py:2:1: the file stops with ZeroDivisionError", ()),
    "not a text": ("\udcff", r"kernel\.py:1: not UTF-8", ()),
    "no kernel": ("x = 1\n", r"kernel\.py: no one kernel$", ("help: no function here is a kernel",)),
    "unknown op": (ROWS.replace("FACTOR", "2.0").replace("pl.load(", "pl.lod("),
                   r"kernel\.py:13:17: pl\.lod does not exist", ("help: did you mean pl.load or pl.log?",)),
}


@pytest.mark.parametrize("what", BROKEN)
def test_what_is_wrong_with_the_kernel_is_told_at_its_line_and_not_by_the_way_here(what: str, tmp_path: Path) -> None:
    text, told, notes = BROKEN[what]
    file = tmp_path / "kernel.py"
    if text is not None:
        file.write_bytes(text.encode("utf-8", "surrogateescape"))

    @pypto_verified.fuzz(file)
    def test(run: Run) -> None:
        raise AssertionError("there is no run")

    with pytest.raises(PtoError) as caught:
        test()
    assert re.search(told, str(caught.value))
    line = inspect.getsourcelines(test_what_is_wrong_with_the_kernel_is_told_at_its_line_and_not_by_the_way_here)[1]
    place = f"test: test, {__file__}:"
    (own_place,) = [n for n in caught.value.__notes__ if n.startswith(place)]
    assert line < int(own_place.removeprefix(place)) < line + 12
    assert set(notes) <= set(caught.value.__notes__)
    frames = [f.name for f in traceback.extract_tb(caught.value.__traceback__)]
    assert frames[1:] == ["test"]
    assert caught.value.__suppress_context__ and caught.value.__cause__ is None


@pytest.mark.parametrize("kernel", [3, len])
def test_what_is_no_kernel_at_all_is_wrong_input(kernel: Any) -> None:
    with pytest.raises(InputError, match="is in no file"):
        own.campaign(kernel, lambda run: None, "", 5, 0, "a2a3", {})


def test_an_error_of_this_package_that_the_function_meets_keeps_its_way(rows: Path) -> None:
    @pypto_verified.fuzz(rows, examples=5)
    def test(run: Run) -> None:
        own.found(rows, "treble")

    with pytest.raises(InputError, match="no one kernel treble") as caught:
        test()
    assert "found" in [f.name for f in traceback.extract_tb(caught.value.__traceback__)]


def test_methods_are_tests_and_marks_stay(rows: Path) -> None:
    class Rows:
        seen = 0

        @pypto_verified.fuzz(rows, examples=5)
        @pytest.mark.nightly
        def test(self, run: Run) -> None:
            self.seen += 1

    own_test = Rows()
    own_test.test()
    assert own_test.seen == 5
    assert [mark.name for mark in vars(Rows.test)["pytestmark"]] == ["nightly"]


def test_boundaries_are_around_the_constants_of_the_kernel(rows: Path) -> None:
    found = own.boundaries(own.found(rows))
    assert set(found) == {"M", "n"}
    assert {0, 1, 15, 16, 17, 31, 32, 33, 63, 64, 65} <= set(found["M"])


def test_the_package_loads_it_only_when_it_is_asked_for() -> None:
    assert "fuzz" not in vars(pypto_verified) or callable(pypto_verified.fuzz)
    with pytest.raises(AttributeError, match="no attribute 'fuzzy'"):
        pypto_verified.fuzzy  # noqa: B018
