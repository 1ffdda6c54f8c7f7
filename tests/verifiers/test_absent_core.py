"""A text of one core alone: what the other one does is assumed, and the report says so."""

from __future__ import annotations

import pytest

from pypto_verified.report.model import FunctionResult, Verdict
from tests.verifiers.examples_fifo import PAIRS, PUSH, pair_of_cores, pop
from tests.verifiers.kernels import check, kernel, verdicts

_CUBE, _, _ = pair_of_cores(PUSH, pop()).partition("  func.func @vector")
PUSHES_ALONE = _CUBE + "}\n"
"""A cube core that pushes a tile, whose vector core has no text here."""


def _assumed(result: FunctionResult, rule: str) -> set[bool]:
    return {"ABSENT-CORE" in o.assumptions for o in result.obligations if o.rule == rule}


@pytest.mark.requirement("EV-06")
@pytest.mark.parametrize(("text", "rule"), [
    (kernel("pto.sync.wait <PIPE_V>, 3"), "EVENT-CORES"), (kernel("pto.sync.set <PIPE_V>, 3"), "EVENT-CORES"),
    (PUSHES_ALONE, "FIFO-DRAIN"),
])
def test_what_a_core_without_text_does_is_an_assumption(text: str, rule: str) -> None:
    family = rule.split("-")[0]
    default, strict = (check(text, families=family, strict=strict) for strict in (False, True))
    assert verdicts(default, rule) == {Verdict.PROVED} and _assumed(default, rule) == {True}
    assert verdicts(strict, rule) == {Verdict.UNKNOWN}


def test_with_both_texts_nothing_is_assumed_and_the_fault_is_found() -> None:
    result = check(PAIRS["FIFO-DRAIN"].bad, families="FIFO")
    assert Verdict.REFUTED in verdicts(result, "FIFO-DRAIN") and _assumed(result, "FIFO-DRAIN") == {False}


@pytest.mark.requirement("EV-06")
@pytest.mark.parametrize("mode", ["hard", "soft"])
def test_the_other_core_of_a_barrier_of_both_is_taken_to_come_where_its_text_is_not_at_hand(mode: str) -> None:
    """A cube kernel of the same file that comes to no barrier is none of its own."""
    workspace = "" if mode == "hard" else "%w : !pto.ptr<i32>"
    meet = f"pto.syncall({workspace}) mode = #pto.sync_all_mode<{mode}>, core_type = #pto.sync_core_type<mix>"
    first, second = (kernel(body, "%w: !pto.ptr<i32>", kind) for body, kind in (("", "cube"), (meet, "vector")))
    text = first.replace("@k(", "@another(").rstrip().removesuffix("}") + second.removeprefix("module {\n")
    for strict in (False, True):
        result = check(text, families="EVENT", assume=("block_num == 24",), strict=strict)
        found = [o for o in result.obligations if o.rule == "EVENT-CORES"]
        assert [o.verdict for o in found] == [Verdict.UNKNOWN if strict else Verdict.PROVED]
        assert strict or "ABSENT-CORE" in found[0].assumptions
