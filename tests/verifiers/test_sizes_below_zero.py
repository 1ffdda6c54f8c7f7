"""Which numbers of a caller are not negative because an extent is not: the extents themselves and their factors. What
an extent is a sum, a difference or a choice of may be."""

from __future__ import annotations

import pytest

from pypto_verified.pto.reader import read as parse
from pypto_verified.report.model import Verdict
from pypto_verified.simulator import schedule
from pypto_verified.targets import target
from tests.verifiers.examples_event import branch, flag
from tests.verifiers.kernels import kernel, tile, view, window
from verifiers import Options, verify


def text(rows: str) -> str:
    """A tensor of so many rows; a flag that is set for a negative %n alone."""
    body = rows, view("a", "p", "rows"), branch("slt, %n, %c0", flag("set"))
    return kernel("\n".join(body), "%n: index, %m: index")


@pytest.mark.requirement("EV-03")
@pytest.mark.parametrize("rows", [
    "%rows = arith.muli %n, %m : index", "%rows = arith.minsi %n, %m : index",
    "%x = arith.index_cast %n : index to i32\n%rows = arith.index_cast %x : i32 to index"])
def test_factors_of_an_extent_are_not_negative(rows: str) -> None:
    *_, result = verify(parse(text(rows), "k.pto"), target("a2a3"), Options(families=frozenset({"EVENT"})))
    assert {o.verdict for o in result.obligations} == {Verdict.PROVED}


@pytest.mark.requirement("EV-03")
@pytest.mark.parametrize("rows", [
    "%rows = arith.maxsi %n, %c8 : index", "%rows = arith.addi %n, %c8 : index", "%rows = arith.subi %c8, %n : index",
    "%few = arith.cmpi slt, %n, %c0 : index\n%rows = arith.select %few, %c8, %c32 : index",
    "%rows = arith.divsi %n, %c8 : index"])
def test_other_parts_of_an_extent_may_be(rows: str) -> None:
    module = parse(text(rows), "k.pto")
    *_, result = verify(module, target("a2a3"), Options(families=frozenset({"EVENT"})))
    assert Verdict.REFUTED in {o.verdict for o in result.obligations}
    run = schedule.replay(module, "k", {"n": -1, "m": 1}, target("a2a3"))
    assert [e.kind for e in run.errors] == ["event"]


ROWS = tile(32, 64, valid=("?", "64"))


@pytest.mark.requirement("EV-03")
@pytest.mark.parametrize("used", [
    view("a", "p", "n"), "\n".join((view("a", "p", "c32"), window("w", "a", "%c0, %c0", "%n, %c64"))),
    f"%t = pto.alloc_tile addr = %a0 valid_row = %n : {ROWS}"])
def test_an_extent_in_one_arm_may_be_negative_in_the_other(used: str) -> None:
    """The arm for a negative %n sets a flag; the other one has an extent of it, and no flag."""
    text = kernel("\n".join((
        "%few = arith.cmpi slt, %n, %c0 : index", "scf.if %few {", flag("set"), "} else {", used, "}")), "%n: index")
    module = parse(text, "k.pto")
    *_, result = verify(module, target("a2a3"), Options(families=frozenset({"EVENT"})))
    assert Verdict.REFUTED in {o.verdict for o in result.obligations}
    run = schedule.replay(module, "k", {"n": -1}, target("a2a3"))
    assert [e.kind for e in run.errors] == ["event"]


@pytest.mark.parametrize("used", [view("a", "p", "n"), view("a", "p", "c32")])
def test_it_is_none_below_zero_where_it_is_one(used: str) -> None:
    """A flag is set below zero in the arm that has the extent, or a constant one in its place."""
    inner = branch("slt, %n, %c0", flag("set"))
    text = kernel("\n".join(("%any = arith.cmpi ne, %n, %m : index", "scf.if %any {", used, inner, "}")),
                  "%n: index, %m: index")
    *_, result = verify(parse(text, "k.pto"), target("a2a3"), Options(families=frozenset({"EVENT"})))
    assert ({o.verdict for o in result.obligations} == {Verdict.PROVED}) is ("[%n," in used)
