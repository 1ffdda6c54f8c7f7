"""Each legality rule accepts one text and rejects its neighbour, which differs in one field."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace

import pytest

from pypto_verified.pto.legality import Check, check_legality, checks
from pypto_verified.pto.legality_rows import RULES
from pypto_verified.pto.reader import read
from pypto_verified.pto.types import TileBufType

from .legality_cases import CASES, Case

_CONSTANTS = {"c0": 0, "c1": 1, "c2": 2, "c4": 4, "c8": 8, "c16": 16, "cn": -1}
_ADDRESSES = {"a0": 0, "a32": 32, "a512": 512, "an": -32}
_HOLE = re.compile(r"\[\[(.*?)\|(.*?)\]\]", re.DOTALL)


def text_of(case: Case, good: bool) -> str:
    """The module of a case with the good or the bad field."""
    constants = [f"%{name} = arith.constant {value} : index" for name, value in _CONSTANTS.items()]
    constants += [f"%{name} = arith.constant {value} : i64" for name, value in _ADDRESSES.items()]
    constants.append("%z = arith.constant 0 : i32")
    args = ", ".join(f"%{name}: {type_}" for name, type_ in case.args)
    text = (
        f"module {{\n  func.func @f({args}) "
        f"attributes {{{case.attrs}pto.kernel_kind = #pto.kernel_kind<{case.kind}>}} {{\n    "
        + "\n    ".join([*constants, case.body]) + f"\n    return\n  }}\n  {case.module}\n}}\n"
    )
    return fill(text, good)


def fill(text: str, good: bool) -> str:
    return _HOLE.sub(lambda m: m[1] if good else m[2], text)


def judged(case: Case, good: bool) -> list[Check]:
    """What the case's rule says at all sites of its text."""
    module = read(text_of(case, good))
    return [c for c in checks(module, fill(case.target, good), case.level) if c.rule.id == case.rule]


def test_every_rule_has_a_case_and_every_case_a_rule() -> None:
    assert Counter(r.id for r in RULES) == Counter(c.rule for c in CASES)


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.rule)
def test_rule_accepts_the_good_field(case: Case) -> None:
    found = judged(case, good=True)
    assert found, "the rule does not apply to its own case"
    assert [c.message for c in found if not c.holds] == []


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.rule)
def test_rule_rejects_the_bad_field_and_says_why(case: Case) -> None:
    violated = [c for c in judged(case, good=False) if not c.holds]
    assert len(violated) >= 1
    message = violated[0].message
    assert message.startswith(violated[0].op.name + ": ")
    assert "None" not in message and violated[0].rule.claim in message


@pytest.mark.parametrize(("result", "scratch", "holds"), [(128, 128, True), (256, 128, False), (64, 64, False)])
def test_the_scratch_of_a_merge_has_the_columns_of_the_wider_of_result_and_sources(
    result: int, scratch: int, holds: bool
) -> None:
    """Two sources of 64 columns."""
    (case,) = [c for c in CASES if c.rule == "MERGE-SCRATCH"]

    def spelled(text: str) -> str:
        wide = text.replace("1x128xf32", f"1x{result}xf32")
        return wide.replace("1x[[128|64]]xf32", f"1x{scratch}xf32")

    made = replace(case, body=spelled(case.body), args=tuple((name, spelled(type_)) for name, type_ in case.args))
    assert [c.holds for c in judged(made, good=True)] == [holds]


def test_illegal_carries_the_line_of_the_text_and_of_the_user() -> None:
    text = (
        "module {\n  func.func @f() {\n"
        '    %t = pto.alloc_tile : !pto.tile_buf<vec, 8x7xf32> loc("k.py":3:5)\n    return\n  }\n}\n'
    )
    found = check_legality(read(text), "a2a3", "level2")
    assert [(i.id, i.line, str(i.loc)) for i in found] == [("ALLOC-LINE", 3, "k.py:3:5")]
    assert "28 bytes" in found[0].message


def test_each_rule_judges_a_site_at_most_once() -> None:
    for case in CASES:
        module = read(text_of(case, good=True))
        seen = Counter((c.rule.id, id(c.op)) for c in checks(module, fill(case.target, True), case.level))
        assert max(seen.values()) == 1


@pytest.mark.parametrize("rule", ["OPERAND-VALID", "STORE-COUNT", "ROW-VALID-COL", "CVT-VALID", "CONCAT-COLS"])
def test_an_open_extent_is_not_judged(rule: str) -> None:
    """The assembler skips what it does not know; so does the table, and the solver looks at it."""
    case = next(c for c in CASES if c.rule == rule)
    module = read(text_of(case, good=False))
    for value in module.funcs[0].args:
        if isinstance(value.type, TileBufType):
            value.type = replace(value.type, v_row=None, v_col=None)
    found = [c for c in checks(module, case.target, case.level) if c.rule.id == rule]
    assert found and all(c.holds for c in found)


def test_a_move_to_zz_needs_extents_that_are_known() -> None:
    case = next(c for c in CASES if c.rule == "ZZ-SHAPE")
    module = read(text_of(case, good=True))
    for value in module.funcs[0].args:
        if isinstance(value.type, TileBufType):
            value.type = replace(value.type, v_row=None)
    found = [c for c in checks(module, case.target, case.level) if c.rule.id == "ZZ-SHAPE"]
    assert found and not any(c.holds for c in found)


def test_a_rule_of_another_target_or_level_says_nothing() -> None:
    tile = "!pto.tile_buf<vec, 8x16xi32>"
    text = (
        f"func.func @f(%t: {tile}, %s: i32) {{\n"
        f"pto.tands ins(%t, %s : {tile}, i32) outs(%t : {tile})\nreturn\n}}\n"
    )
    assert {i.id for i in check_legality(read(text), "a2a3")} == {"OPERAND-TYPES-A3", "BITS-STORAGE"}
    assert {i.id for i in check_legality(read(text), "a5")} == {"BITS-STORAGE"}
