"""`check --passes`: what the interpreter says about the two sides of every pass, as a finding or a note."""

from __future__ import annotations

from pypto_verified.differential import Comparison, Difference, compare_passes
from pypto_verified.errors import PtoError
from pypto_verified.ir.stmt import Function
from pypto_verified.report.model import Finding, Kind, Verdict
from pypto_verified.targets import Target

RULE = "PASS-MEANING"


def check_passes(function: Function, chip: Target, seed: int) -> tuple[Finding | None, str]:
    """A finding if a pass changes what the kernel computes, and what to note otherwise: agreement on random inputs is
    no proof, and passes that could not be run are named, so neither is a verdict."""
    try:
        found = compare_passes(function, chip, seed=seed)
    except PtoError as error:
        return None, f"{function.name}: passes not compared: {error}"
    if found.difference is not None:
        return _finding(found.difference), ""
    return None, _note(found)


def _note(found: Comparison) -> str:
    if not found.agreed:
        return f"{found.function}: passes not compared: no input with a defined result found: {found.undefined[0]}"
    return f"{found.function}: both sides of {len(found.passes)} passes agree on {found.agreed} random inputs"


def _finding(difference: Difference) -> Finding:
    return Finding(
        RULE, Kind.SAFETY, Verdict.REFUTED, str(difference), difference.where.file, difference.where.line,
        difference.where.column, help="a fault of this compiler: please report the kernel",
    )
