"""Every rule has exactly one verdict at each of its sites, and what is not proved has exactly one finding there."""

from __future__ import annotations

from collections import Counter

import pytest

from pypto_verified.pto.reader import read
from pypto_verified.report.model import FunctionResult, Verdict
from pypto_verified.targets import target
from tests.verifiers.test_every_rule import PAIRS
from verifiers import Options, verify


def results(rule: str, assume: tuple[str, ...] = ()) -> list[FunctionResult]:
    """Both kernels of a rule under all rules."""
    pair = PAIRS[rule]
    options = Options(assume=assume, outputs={"k": pair.outputs}, strict=pair.strict)
    return [r for text in (pair.good, pair.bad) for r in verify(read(text, "k.pto"), target(pair.chip), options)]


@pytest.mark.requirement("VF-02")
@pytest.mark.parametrize("rule", PAIRS)
def test_each_pair_of_rule_and_site_has_one_verdict_and_the_counts_add_up(rule: str) -> None:
    for result in results(rule):
        seen = Counter((o.rule, o.site) for o in result.obligations)
        assert [key for key, n in seen.items() if n != 1] == []
        assert sum(result.counts().values()) == len(result.obligations)
        unproved = [o for o in result.obligations if o.verdict is not Verdict.PROVED]
        told = Counter((f.rule, f.site, f.verdict) for f in result.findings)
        assert Counter((o.rule, o.site, o.verdict) for o in unproved) == told


@pytest.mark.requirement("VF-02")
def test_under_contradicting_assumptions_every_pair_is_vacuous_and_one_finding_says_so() -> None:
    for result in results("BOUND-UPPER", ("M > 3", "M < 2")):
        judged = [o for o in result.obligations if o.decider != "normal-form" or not o.rule.startswith("LEGAL-")]
        assert {o.verdict for o in judged} == {Verdict.VACUOUS}
        assert [f.verdict for f in result.findings].count(Verdict.VACUOUS) == 1
