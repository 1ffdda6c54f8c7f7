"""Elements that the scalar unit reads and writes one at a time lie in their tile, its valid region, or their tensor."""

from __future__ import annotations

import pytest

from pypto_verified.pto.reader import read
from pypto_verified.report.model import Verdict
from pypto_verified.simulator.confirm import confirm
from pypto_verified.targets import target
from tests.verifiers.examples_scalar import VEC, get_element, load_element, set_element
from tests.verifiers.kernels import alloc, check, fill, finding, kernel, tile, verdicts, view

COLUMN = tile(64, 8, blayout="col_major")


def _scalar(body: str, args: str = "") -> str:
    return kernel(body + "\n%v = pto.load_scalar %p[%n] : !pto.ptr<f32> -> f32", f"%n: index{args}")


@pytest.mark.requirement("CG-06")
@pytest.mark.parametrize(("text", "rule", "fault"), [
    (set_element("c33"), "BOUND-ELEMENT", "local bounds"),
    (get_element("c16"), "VALID-ELEMENT", "uninitialised"),
    (load_element("more"), "BOUND-SCALAR", "global bounds"),
])
def test_a_run_with_the_numbers_of_a_refutation_shows_it(text: str, rule: str, fault: str) -> None:
    found = finding(check(text, families=rule.split("-")[0]), rule)
    (func,) = read(text, "k.pto").funcs
    seen = confirm(func, rule, dict(found.witness), target("a2a3"), line=found.line)
    assert seen.startswith(f"confirmed: {fault}")


def test_the_first_element_past_a_tile_is_named() -> None:
    found = finding(check(set_element("c33"), families="BOUND"), "BOUND-ELEMENT")
    assert dict(found.witness) == {"i": 32}
    assert "element 64*i = 2048, which has 32 x 64 = 2048" in found.message


@pytest.mark.parametrize(("at", "verdict"), [("c17", Verdict.PROVED), ("c128", Verdict.REFUTED)])
def test_elements_of_a_column_major_tile_count_down_its_columns(at: str, verdict: Verdict) -> None:
    """64 rows, 2 valid columns: elements 0 to 127 are valid, element 128 begins column 2."""
    text = kernel("\n".join((
        alloc("t", COLUMN, rows="c64", cols="c2"),
        f"%v = pto.tgetval ins(%t, %{at} : {COLUMN}, index) outs : f32")))
    assert verdicts(check(text, families="VALID"), "VALID-ELEMENT") == {verdict}


def test_an_element_may_be_set_outside_of_the_valid_region() -> None:
    text = kernel("\n".join((
        alloc("t", VEC, rows="c8"), fill("t", VEC), f"pto.tsetval ins(%c512, %one : index, f32) outs(%t : {VEC})")))
    result = check(text, families="BOUND VALID")
    assert verdicts(result, "BOUND-ELEMENT") == {Verdict.PROVED}
    assert verdicts(result, "VALID-ELEMENT") == set()


def test_an_element_of_boxes_is_not_placed() -> None:
    boxed = tile(blayout="col_major", slayout="row_major")
    found = finding(check(get_element("c8", boxed), families="VALID"), "VALID-ELEMENT")
    assert found.verdict is Verdict.UNKNOWN
    assert "boxes" in found.message


def test_an_index_of_the_caller_needs_a_condition() -> None:
    text = _scalar(view("a", "p", "c32"))
    found = finding(check(text, families="BOUND"), "BOUND-SCALAR")
    assert found.verdict is Verdict.UNKNOWN
    assert verdicts(check(text, families="BOUND", assume=(found.needs,)), "BOUND-SCALAR") == {Verdict.PROVED}
    assert "n <= 2047" in found.needs


def test_the_largest_tensor_of_a_pointer_counts() -> None:
    views = view("a", "p", "c16") + "\n" + view("b", "p", "c32")
    assume = ("n >= 0", "n < 2048")
    assert verdicts(check(_scalar(views), families="BOUND", assume=assume), "BOUND-SCALAR") == {Verdict.PROVED}
    small = _scalar(view("a", "p", "c16"))
    assert verdicts(check(small, families="BOUND", assume=assume), "BOUND-SCALAR") == {Verdict.UNKNOWN}


def test_rows_of_a_tensor_may_lie_apart() -> None:
    """16 rows of 64 elements, 128 apart: element 15 * 128 + 63 is the last."""
    apart = view("a", "p", "c16").replace("strides = [%c64, %c1]", "strides = [%c128, %c1]")
    assume = ("n >= 0", "n <= 1983")
    assert verdicts(check(_scalar(apart), families="BOUND", assume=assume), "BOUND-SCALAR") == {Verdict.PROVED}
    more = ("n == 1984",)
    assert verdicts(check(_scalar(apart), families="BOUND", assume=more), "BOUND-SCALAR") == {Verdict.REFUTED}


@pytest.mark.parametrize(("offset", "verdict"), [("c64", Verdict.PROVED), ("c2", Verdict.REFUTED)])
def test_a_moved_pointer_counts_from_where_it_is(offset: str, verdict: Verdict) -> None:
    text = kernel("\n".join((
        "%m = arith.constant -64 : index", view("a", "p", "c32"),
        f"%r = pto.addptr %p, %{offset} : !pto.ptr<f32> -> !pto.ptr<f32>",
        "%v = pto.load_scalar %r[%m] : !pto.ptr<f32> -> f32")))
    assert verdicts(check(text, families="BOUND"), "BOUND-SCALAR") == {verdict}


def test_a_pointer_without_a_tensor_has_an_unknown_size() -> None:
    found = finding(check(_scalar(""), families="BOUND"), "BOUND-SCALAR")
    assert found.verdict is Verdict.UNKNOWN
    assert "no tensor view tells how many elements are behind %p" in found.message
