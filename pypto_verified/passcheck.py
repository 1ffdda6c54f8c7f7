"""`check --passes`: what the interpreter says about the two sides of every pass, and the simulator about the text that
came out, as a finding or a note."""

from __future__ import annotations

from pypto_verified.differential import SIMULATOR, Comparison, Difference, compare, compare_passes
from pypto_verified.errors import CodegenError, NotModelled, PtoError
from pypto_verified.ir.stmt import Function
from pypto_verified.openness import OPEN
from pypto_verified.report.model import Finding, Kind, Verdict
from pypto_verified.targets import Target

RULE = "PASS-MEANING"


def check_passes(function: Function, chip: Target, seed: int) -> tuple[Finding | None, str]:
    """A finding if a pass, or the code generator behind them, changes what the kernel computes, and what to note
    otherwise: agreement on random inputs is no proof, and what could not be run is named, so neither is a verdict."""
    text, left_out = f", and so does {SIMULATOR}", ""
    try:
        try:
            found = compare(function, chip, seed=seed)
            if not found.agreed and OPEN in found.undefined:
                raise NotModelled(OPEN)
        except (NotModelled, CodegenError) as error:
            text, left_out = "", f" ({SIMULATOR} is left out: {error.message})"
            found = compare_passes(function, chip, seed=seed)
    except PtoError as error:
        return None, f"{function.name}: passes not compared: {error}"
    if found.difference is not None:
        return _finding(found.difference), ""
    return None, _note(found, text + left_out)


def _note(found: Comparison, text: str) -> str:
    if not found.agreed:
        return f"{found.function}: passes not compared: no input with a defined result found: {found.undefined[0]}"
    return f"{found.function}: both sides of {len(found.passes)} passes agree on {found.agreed} random inputs{text}"


def _finding(difference: Difference) -> Finding:
    return Finding(
        RULE, Kind.SAFETY, Verdict.REFUTED, str(difference), difference.where.file, difference.where.line,
        difference.where.column, help="a fault of this compiler: please report the kernel",
    )
