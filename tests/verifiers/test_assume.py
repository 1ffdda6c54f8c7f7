"""`--assume` texts are read as conditions over a kernel's names, and nothing else is."""

from __future__ import annotations

import pytest

from pypto_verified.errors import InputError
from pypto_verified.index import holds, symbol
from pypto_verified.pto.reader import read
from pypto_verified.report.model import Verdict
from pypto_verified.targets import A2A3
from tests.verifiers.kernels import alloc, check, kernel, load, tile, verdicts, view, window
from verifiers import Options, unused_assumptions
from verifiers.assume import names_in, parse_assumption, to_condition

NAMES = {"M": symbol("M", 0), "row": symbol("row"), "n": symbol("n")}


@pytest.mark.parametrize("text", [
    "M % 16 == 0", "0 <= row <= 24", "row + 8 <= 12 and row >= 0", "not row < 3", "n == 1 or n == 2", "n != row",
    "2 * row - 1 < min(n, 8)", "row // 4 >= -1", "-row > max(n, -2)",
])
def test_a_condition_means_what_it_means_in_python(text: str) -> None:
    condition = to_condition(text, NAMES)
    for m in (0, 8, 16):
        for row in range(-9, 10):
            for n in range(-3, 4):
                values = {"M": m, "row": row, "n": n}
                assert holds(condition, values) == eval(text, {"min": min, "max": max}, values)


@pytest.mark.parametrize("text", [
    "row", "row + 1", "f(row) > 1", "row > 1.5", "__import__('os')", "row <", "row / 2 > 1"])
def test_anything_else_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(InputError) as e:
        to_condition(text, NAMES)
    assert "--assume" in e.value.help


def test_an_unknown_name_is_named_with_those_that_exist() -> None:
    with pytest.raises(InputError, match="'K'") as e:
        to_condition("K > 1", NAMES)
    assert e.value.help == "names of this kernel: M, n, row"


def test_names_of_an_assumption() -> None:
    assert names_in(parse_assumption("min(M, row) > n")) == {"M", "row", "n"}


def test_an_assumption_about_nothing_is_reported() -> None:
    module = read(kernel(view("a", "p", "M"), "%M: index"), "k.pto")
    options = Options(assume=("M % 16 == 0", "N > 1"), names={"k": {"M": "rows"}})
    assert unused_assumptions(module, A2A3, options) == ("N > 1",)


def test_an_assumption_that_nothing_meets_is_named() -> None:
    text = kernel("\n".join((
        view("a", "p", "M"), alloc("t", tile()), window("w", "a", "%c0, %c0", "%c32, %c64"), load("w", "t", tile()))),
        "%M: index")
    result = check(text, families="BOUND", assume=("M < 0",))
    assert Verdict.VACUOUS in verdicts(result, "BOUND-UPPER")
    assert {"assumed: M < 0"} <= {a for o in result.obligations for a in o.assumptions}
