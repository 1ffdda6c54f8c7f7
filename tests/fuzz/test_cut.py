"""Kernels that were made wrong: what is found when the rules do not see it."""

from __future__ import annotations

import pytest

from pypto_verified.fuzz import work
from pypto_verified.fuzz.builder import Kernel
from pypto_verified.fuzz.faults import switched_on
from pypto_verified.fuzz.oracles import Find, Verdict, examine
from pypto_verified.fuzz.records import Found
from pypto_verified.fuzz.shrink import size
from pypto_verified.fuzz.work import shrink
from tests.interpreter.kernels import tensor
from tests.passes.build import kernel as from_text

PARAMETERS = ",\n".join([tensor("a", (64, 32)), tensor("out", (64, 32), out=True)])
WHOLE = Kernel(from_text(PARAMETERS, """
    for i in pl.range(0, 4, 1):
        x = pl.load(a, [i * 16, 0], [16, 32])
        out = pl.store(pl.mul(x, 2.0), [i * 16, 0], out)
    return out
"""), {}, "a2a3", "PYPTO")


def _found(fault: str) -> list[tuple[str, str]]:
    with switched_on(fault):
        return [(f.oracle, f.cause) for f in examine(WHOLE, deep=True).finds]


def test_rules_that_see_a_row_too_few_are_no_find() -> None:
    assert _found("") == []


def test_a_find_of_the_rules_stays_the_only_one_when_it_is_made_smaller() -> None:
    """A kernel that stores nothing is refuted for that too."""
    with switched_on("bound-of-stores-only"):
        (find,) = examine(WHOLE, deep=True).finds
    small = shrink(Found(find, WHOLE, 0, 0, size(WHOLE.function)), "bound-of-stores-only")
    with switched_on("bound-of-stores-only"):
        assert [f.oracle for f in examine(small.kernel, deep=True).finds] == ["rules: missed"]
    assert small.statements <= 3


def test_what_is_smaller_but_refuted_for_another_reason_is_not_the_same_find(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = size(WHOLE.function)
    find = Find("rules", "A is refuted", "")

    def examined(kernel: Kernel, *_: object, **__: object) -> Verdict:
        other = Find("rules", "B is refuted", "")
        return Verdict([find, other] if size(kernel.function) < whole - 1 else [find])

    monkeypatch.setattr(work, "examined", examined)
    assert shrink(Found(find, WHOLE, 0, 0, whole)).statements == whole - 1


@pytest.mark.parametrize(("fault", "op"), [
    ("bound-a-row-late", "tload"), ("bound-of-stores-only", "tload"), ("bound-of-loads-only", "tstore"),
    ("bound-from-anywhere", "tload")])
def test_rules_that_let_a_wrong_window_pass_are_found(fault: str, op: str) -> None:
    assert _found(fault) == [("rules: missed", f"PROVED though pto.{op} leaves its tensor")]


def test_rules_that_let_a_column_too_few_pass_are_found() -> None:
    one_row = Kernel(from_text(",\n".join([tensor("a", (1, 32)), tensor("out", (1, 32), out=True)]), """
        return pl.store(pl.load(a, [0, 0], [1, 32]), [0, 0], out)
    """), {}, "a2a3", "PYPTO")
    assert examine(one_row, deep=True).finds == []
    with switched_on("bound-of-rows-only"):
        assert [f.oracle for f in examine(one_row, deep=True).finds] == ["rules: missed"]
