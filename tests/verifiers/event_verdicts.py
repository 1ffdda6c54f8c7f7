"""What EVENT says of a text, for its tests."""

from __future__ import annotations

from pypto_verified.report.model import FunctionResult, Verdict
from tests.verifiers.examples_event import flags
from tests.verifiers.kernels import check, verdicts

ALL = ("EVENT-SET", "EVENT-WAIT", "EVENT-EXIT")
PROVED = {Verdict.PROVED}


def events(*body: str, chip: str = "a2a3") -> FunctionResult:
    """The result of a kernel with this body and an argument %M."""
    return check(flags(*body), chip=chip, families="EVENT")


def clean(result: FunctionResult) -> bool:
    """Whether each flag is proved to be set and waited for in turn."""
    return all(verdicts(result, rule) == PROVED for rule in ALL)
