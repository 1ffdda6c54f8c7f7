"""Every registered rule has a kernel that it proves, one that it refutes, and a mutant that this pair exposes."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pypto_verified.pto.reader import read
from pypto_verified.report.model import Verdict
from pypto_verified.targets import target
from tests.verifiers import (
    examples,
    examples_blocks,
    examples_event,
    examples_fifo,
    examples_index,
    examples_kind,
    examples_ops,
    examples_pitch,
    examples_race,
    examples_scalar,
    examples_split,
    examples_write,
)
from tests.verifiers.kernels import check, finding, obligations, verdicts
from verifiers import Options, registry, verify
from verifiers.registry import AnyRule, all_rules, family

IDS = [r.id for r in all_rules()]
PAIRS = (
    examples.PAIRS | examples_ops.PAIRS | examples_event.PAIRS | examples_pitch.PAIRS | examples_split.PAIRS
    | examples_write.PAIRS | examples_scalar.PAIRS | examples_kind.PAIRS | examples_race.PAIRS | examples_fifo.PAIRS
    | examples_index.PAIRS | examples_blocks.PAIRS)


def test_each_rule_has_an_example_and_each_example_a_rule() -> None:
    assert sorted(IDS) == sorted(PAIRS)


def test_ids_are_unique_and_begin_with_a_family() -> None:
    assert len(set(IDS)) == len(IDS)
    assert {family(r) for r in all_rules()} == {i.split("-")[0] for i in IDS}


@pytest.mark.parametrize("word", ["ANY", "OUT", "REST", "GAP", "NEST", "UNION", "TAKEN", "TWICE"])
def test_what_is_never_written_or_written_twice_shows_in_a_run(word: str) -> None:
    (rule,) = (r for r in all_rules() if r.id == f"WRITE-{word}")
    assert rule.observable and not rule.unseen


@pytest.mark.parametrize("rule", all_rules(), ids=IDS)
@pytest.mark.requirement("VF-01")
def test_the_good_kernel_is_proved(rule: AnyRule) -> None:
    pair = PAIRS[rule.id]
    result = check(pair.good, chip=pair.chip, families=family(rule), outputs=pair.outputs, strict=pair.strict,
                   assume=pair.assume)
    assert obligations(result, rule.id), "the rule looked at nothing"
    assert verdicts(result, rule.id) == {Verdict.PROVED}


@pytest.mark.parametrize("rule", all_rules(), ids=IDS)
@pytest.mark.requirement("VF-01")
def test_the_bad_kernel_is_refuted_at_its_line_with_help(rule: AnyRule) -> None:
    pair = PAIRS[rule.id]
    result = check(pair.bad, chip=pair.chip, families=family(rule), outputs=pair.outputs, strict=pair.strict,
                   assume=pair.assume)
    assert Verdict.REFUTED in verdicts(result, rule.id)
    found = finding(result, rule.id)
    assert found.verdict is Verdict.REFUTED
    assert found.file == "k.pto"
    assert found.line > 0
    assert found.message
    assert found.help
    assert found.needs == ""


@pytest.mark.parametrize("rule", all_rules(), ids=IDS)
def test_the_two_kernels_have_the_same_statements_and_the_family_accepts_the_good_one(rule: AnyRule) -> None:
    pair = PAIRS[rule.id]
    good, bad = pair.good.splitlines(), pair.bad.splitlines()
    assert len(good) == len(bad)
    changed = [(a, b) for a, b in zip(good, bad, strict=True) if a != b]
    assert changed
    result = check(pair.good, chip=pair.chip, families=family(rule), outputs=pair.outputs, strict=pair.strict,
                   assume=pair.assume)
    assert all(o.verdict is Verdict.PROVED for o in result.obligations)


@pytest.mark.parametrize("rule", all_rules(), ids=IDS)
@pytest.mark.requirement("VF-01")
def test_the_mutant_is_exposed_by_the_pair(rule: AnyRule, monkeypatch: pytest.MonkeyPatch) -> None:
    pair = PAIRS[rule.id]
    wrong = replace(rule, goal=rule.mutant)
    right = registry._rules
    monkeypatch.setattr(registry, "_rules", lambda modules: tuple(wrong if r is rule else r for r in right(modules)))

    def outcome(text: str) -> bool:
        options = Options(families=frozenset({family(rule)}), outputs={"k": pair.outputs},
                          strict=pair.strict, assume=pair.assume)
        *_, result = verify(read(text, "k.pto"), target(pair.chip), options)
        return Verdict.REFUTED in verdicts(result, rule.id)

    assert (outcome(pair.good), outcome(pair.bad)) != (False, True)


@pytest.mark.parametrize("rule", all_rules(), ids=IDS)
def test_a_rule_names_its_source_and_claim(rule: AnyRule) -> None:
    assert rule.source
    assert rule.claim
    assert rule.requires
