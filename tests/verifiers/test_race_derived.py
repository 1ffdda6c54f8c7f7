"""Values that the text computes from what is not expressed (`n ^ 3`): a failure that rests on a guess of one is open,
though a select or another tile stands between."""

from __future__ import annotations

import pytest

from pypto_verified.index import symbol
from pypto_verified.pto.reader import read as parse
from pypto_verified.report.model import FunctionResult, Verdict
from pypto_verified.targets import target
from pypto_verified.witness import replayed
from tests.verifiers.examples_race import VEC, exp, pipes, read
from tests.verifiers.kernels import fill, kernel, load, unary
from verifiers import Options, verify
from verifiers.access import build_program
from verifiers.race.values import Values


def slot(index: str) -> tuple[str, ...]:
    """A tile `%t` at 0 or 8192, where tiles `a` and `b` are too."""
    return (f"%slot = arith.remsi %{index}, %c2 : index", "%size = arith.constant 8192 : index",
            "%off = arith.muli %slot, %size : index", "%at = arith.index_cast %off : index to i64",
            f"%t = pto.alloc_tile addr = %at valid_row = %c32 valid_col = %c64 : {VEC}")


def judged(*body: str) -> FunctionResult:
    module = parse(pipes(*body, args="%n: index"), "k.pto")
    *_, result = verify(module, target("a2a3"), Options(families=frozenset({"RACE"}), explicit_sync=True))
    return replayed(result, module, target("a2a3"), 0, {})


def verdicts(result: FunctionResult, rule: str) -> set[Verdict]:
    return {o.verdict for o in result.obligations if o.rule == rule}


def chosen(number: str) -> tuple[str, ...]:
    """`%s`: this number where n is at least 1, else 3."""
    return ("%some = arith.cmpi sge, %n, %c1 : index", f"%s = arith.select %some, {number}, %c3 : index")


@pytest.mark.requirement("EV-08")
@pytest.mark.parametrize(("number", "verdict"), [("%x", Verdict.UNKNOWN), ("%c1", Verdict.REFUTED)])
def test_what_a_select_passes_on_is_as_open_as_what_it_selects(number: str, verdict: Verdict) -> None:
    """The fill meets what the exp writes in slot 1."""
    body = ("%x = arith.xori %n, %c3 : index", *chosen(number), *slot("s"), fill("t", VEC), exp("c", "b"))
    result = judged(*body)
    assert verdicts(result, "RACE-WAW") == {verdict}
    assert not any(f.verdict is Verdict.ERROR for f in result.findings)


@pytest.mark.requirement("EV-08")
@pytest.mark.parametrize(("number", "verdict"), [("x", Verdict.UNKNOWN), ("c1", Verdict.REFUTED)])
def test_a_write_that_may_stand_between_leaves_a_pair_open(number: str, verdict: Verdict) -> None:
    """In slot 0 the fill writes over what the load has brought: then it is the fill that races with either."""
    result = judged("%x = arith.xori %n, %c3 : index", *slot(number), read("a"), fill("t", VEC), exp("a", "c"))
    raw = [o for o in result.obligations if o.rule == "RACE-RAW" and " after tload " in o.site]
    assert {o.verdict for o in raw} == {verdict}
    assert not any(f.verdict is Verdict.ERROR for f in result.findings)


@pytest.mark.requirement("EV-08")
@pytest.mark.parametrize(("number", "verdict"), [("x", {Verdict.UNKNOWN}), ("c0", set()), ("c1", {Verdict.REFUTED})])
def test_so_does_the_place_of_the_pair_itself(number: str, verdict: set[Verdict]) -> None:
    """The fill of slot 0 writes over what the load has brought if that is where it went."""
    result = judged(
        "%x = arith.xori %n, %c3 : index", *slot(number), load("src", "t", VEC, "32x64"), fill("a", VEC),
        unary("texp", "t", "c", VEC))
    raw = [o for o in result.obligations if o.rule == "RACE-RAW" and " after tload " in o.site]
    assert {o.verdict for o in raw} == verdict
    assert not any(f.verdict is Verdict.ERROR for f in result.findings)


@pytest.mark.requirement("EV-08")
@pytest.mark.parametrize(("index", "verdict"), [("n", Verdict.UNKNOWN), ("c0", Verdict.REFUTED)])
def test_what_a_branch_asks_of_one_number_leaves_the_others_free(index: str, verdict: Verdict) -> None:
    """Both ops run where f is 0; where n is odd they touch different slots."""
    module = parse(pipes(
        *slot(index), "%if = arith.cmpi eq, %f, %c0 : index", "scf.if %if {", read("a"),
        unary("texp", "t", "c", VEC), "}", args="%n: index, %f: index"), "k.pto")
    *_, result = verify(
        module, target("a2a3"), Options(assume=("n >= 0",), families=frozenset({"RACE"}), explicit_sync=True))
    assert verdicts(result, "RACE-RAW") == {verdict}
    assert not any(f.verdict is Verdict.ERROR for f in replayed(result, module, target("a2a3"), 0, {}).findings)


@pytest.mark.requirement("EV-08")
@pytest.mark.parametrize(("rows", "verdict"), [("x", Verdict.UNKNOWN), ("c3", Verdict.REFUTED)])
def test_a_tile_whose_rows_are_computed_from_a_guess_may_be_empty(rows: str, verdict: Verdict) -> None:
    """`n ^ 1` is 0 for n = 1; then the exp touches nothing of the tile."""
    result = judged(
        "%x = arith.xori %n, %c1 : index", f"%r = arith.remsi %{rows}, %c4 : index",
        f"%t = pto.alloc_tile addr = %a0 valid_row = %r valid_col = %c64 : {VEC}", read("a"),
        unary("texp", "t", "t", VEC))
    raw = [o for o in result.obligations if o.rule == "RACE-RAW"]
    assert {o.verdict for o in raw} == {verdict}
    assert not any(f.verdict is Verdict.ERROR for f in result.findings)


def test_a_value_comes_from_what_it_is_chosen_from_and_not_from_what_is_chosen_by_it() -> None:
    """%s is n or %x, which is not followed; what stands further down speaks of %s too."""
    text = kernel("\n".join((
        "%some = arith.cmpi ne, %n, %m : index", "%x = arith.remui %m, %c3 : index",
        "%two = arith.cmpi eq, %x, %c2 : index", "%s = arith.select %two, %n, %x : index",
        "%t = arith.select %some, %s, %n : index", "%other = arith.cmpi ne, %t, %n : index",
        "%v = arith.divsi %t, %c4 : index", "%u = arith.select %other, %n, %m : index",
        "%w = arith.select %other, %t, %v : index")), "%n: index, %m: index")
    (func,) = parse(text, "k.pto").funcs
    values = Values(build_program(func, "k.pto", "a2a3"), {"n": 0, "m": 2, "x": 1})
    assert {n: values.of(symbol(n)) for n in "stuw"} == {"s": 1, "t": 1, "u": 0, "w": 1}
    assert values.sources({"s"}) == {"x"}
    assert values.sources({"t"}) == {"m", "n", "x"}
