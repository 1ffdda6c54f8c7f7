"""The shipped example of each rule is the pair that tests it, and does what `pypto-verify rules ID` says."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pypto_verified.check import CheckOptions, verify_module
from pypto_verified.cli import main
from pypto_verified.report.catalogue import explain
from pypto_verified.report.model import Kind, Verdict
from tests import rule_examples as written
from verifiers import registry
from verifiers.catalogue import CatalogueRule, card, catalogue, module_of, results, target_of
from verifiers.examples import FILE, Example, all_examples, parse, spell

RULES = {r.id: r for r in catalogue()}


def test_the_shipped_examples_are_the_pairs_of_the_tests() -> None:
    assert FILE.read_text(encoding="utf-8") == written.text(), "write it anew: python -m tests.rule_examples"


def test_every_rule_has_an_example_and_no_other() -> None:
    assert sorted(all_examples()) == sorted(RULES)


@pytest.mark.parametrize("rule", RULES.values(), ids=lambda r: r.id)
@pytest.mark.requirement("VF-01")
def test_the_passing_kernel_is_proved_and_the_violating_one_refuted(rule: CatalogueRule) -> None:
    example = all_examples()[rule.id]
    good = [o.verdict for r in results(example, violating=False) for o in r.obligations if o.rule == rule.id]
    bad = [o.verdict for r in results(example, violating=True) for o in r.obligations if o.rule == rule.id]
    assert set(good) == {Verdict.PROVED}
    assert Verdict.REFUTED in bad
    assert example.changed() or example.target != example.target_violating


@pytest.mark.parametrize("rule", RULES.values(), ids=lambda r: r.id)
def test_a_card_has_a_formula_what_is_told_and_what_to_do(rule: CatalogueRule) -> None:
    full = card(rule)
    shown = explain(full, [], [])
    assert full.formula
    assert full.told
    assert full.fix
    assert full.example.passing.splitlines()[1].strip() in shown


@pytest.mark.parametrize(("rule", "formula"), [
    ("BOX-ROWS", "rows % 16 == 0"),
    ("VIEW-UPPER", "extent >= size + start or size <= 0"),
    ("PLAN-ALIGN", "address % 32 == 0"),
    ("VALID-UPPER", "extent >= size"),
    ("LEGAL-TRI-SIDE", "s.int('upperOrLower') in (0, 1)"),
])
def test_the_formula_is_the_goal_itself(rule: str, formula: str) -> None:
    assert card(RULES[rule]).formula == formula


def test_the_table_and_a_card_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rules", "--format", "json"]) == 0
    table = json.loads(capsys.readouterr().out)["rules"]
    assert [r["id"] for r in table] == sorted(RULES)
    assert main(["rules", "box-rows", "--format", "json"]) == 0
    one = json.loads(capsys.readouterr().out)
    assert (one["id"], one["formula"]) == ("BOX-ROWS", "rows % 16 == 0")
    assert one["theorems"] == ["BOX-BIJECTION", "BOX-EXACT"]
    assert one["passing"] == all_examples()["BOX-ROWS"].passing


def test_a_card_as_text(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rules", "BOUND-UPPER"]) == 0
    shown = capsys.readouterr().out
    for part in ("claim:", "formula:", "source:", "passes (a2a3):", "fails (a2a3):", "tells:", "fix:", "theorems:"):
        assert part in shown


_LINES = st.lists(st.text("ab c%0[]{}", max_size=8), min_size=1, max_size=4)


@given(_LINES.flatmap(lambda a: st.tuples(st.just(a), st.lists(st.text("ab c%0[]{}", max_size=8), min_size=len(a),
                                                              max_size=len(a)))))
def test_an_example_reads_back_as_it_was_written(lines: tuple[list[str], list[str]]) -> None:
    passing, violating = ("".join(f"{line}\n" for line in text) for text in lines)
    example = Example("A-B", passing, violating, "a5", "a2a3", "level3", ("p", "q"), True, ("M > 3", "n == 2"))
    assert parse(spell([example])) == {"A-B": example}


@pytest.mark.parametrize("rule", [r for r in RULES.values() if r.observable], ids=lambda r: r.id)
@pytest.mark.requirement("VF-03")
def test_what_a_run_can_show_is_confirmed(rule: CatalogueRule) -> None:
    example = all_examples()[rule.id]
    module, chip = module_of(example, violating=True), target_of(example, violating=True)
    outputs = {f.name: example.outputs for f in module.funcs}
    options = CheckOptions(assume=example.assume, strict=example.strict)
    found = [f for r in verify_module(module, chip, options, {}, outputs) for f in r.findings]
    replays = [f.replay for f in found if f.rule == rule.id]
    assert any(r.startswith("confirmed: ") for r in replays), replays
    assert not any(f.rule == "REPLAY" for f in found)


def test_a_rule_of_safety_that_no_run_shows_says_why() -> None:
    assert not [r.id for r in RULES.values() if r.kind is Kind.SAFETY and r.observable == bool(r.unseen)]


def test_what_the_assembler_rejects_is_not_said_to_run() -> None:
    assert not [r.id for r in RULES.values() if r.kind is Kind.LEGALITY and r.observable]


@pytest.mark.parametrize("rule", sorted(r.id for r in registry.all_rules()))
def test_a_formula_speaks_of_kernels_not_of_the_code(rule: str) -> None:
    formula = card(RULES[rule]).formula
    assert len(formula.split()) > 2, formula
    assert not re.search(r"\b(s\.|FALSE|TRUE|as_cond|any_of)", formula), formula
