"""What RACE says of a text, for its tests."""

from __future__ import annotations

from pypto_verified.pto.reader import read as parse
from pypto_verified.report.model import FunctionResult, Verdict
from pypto_verified.targets import target
from verifiers import Options, verify

RULES = ("RACE-RAW", "RACE-WAR", "RACE-WAW")


def judge(
    text: str, chip: str = "a2a3", strict: bool = False, explicit: bool = False, assume: tuple[str, ...] = ()
) -> FunctionResult:
    """The result of the last function; `explicit`: a text without sync is judged too."""
    options = Options(assume, strict, families=frozenset({"RACE"}), explicit_sync=explicit)
    *_, result = verify(parse(text, "k.pto"), target(chip), options)
    return result


def verdicts_of(result: FunctionResult) -> set[Verdict]:
    """Those of all races."""
    return {o.verdict for o in result.obligations if o.rule in RULES}


def message_of(result: FunctionResult, rule: str, verdict: Verdict) -> str:
    """Of the first finding of a rule with that verdict."""
    return next(f.message for f in result.findings if (f.rule, f.verdict) == (rule, verdict))
