"""Results as text for a terminal and as JSON."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from textwrap import wrap

from proofs.result import Result
from pypto_verified.report.model import Verdict

_WIDTH = 110
_SHOWN = 3
"""Counterexamples of a theorem that the text spells out."""


def as_json(results: Sequence[Result]) -> str:
    """`{"theorems": [...]}`; `witness` is null unless something failed."""
    rows = [
        {**asdict(r), "verdict": r.verdict.value, "witness": r.witness or None, "failed": r.failed or None,
         "cross": r.cross or None}
        for r in results]
    return json.dumps({"theorems": rows}, indent=1) + "\n"


def as_text(results: Sequence[Result]) -> str:
    """A paragraph a theorem: verdict, statement, formula, ranges, what failed or what the theorem shows to fail."""
    lines: list[str] = []
    for r in results:
        lines += [_head(r), *_indented(r.statement), *_indented(r.formula), *_indented(f"for {r.ranges}")]
        if r.rests:
            lines += _indented(f"rules that rest on it: {', '.join(r.rests)}")
        if r.failed:
            lines += _indented(f"failed: {r.failed}" + (f" at {_values(r.witness)}" if r.witness else ""))
        if r.alone:
            lines += _indented(f"decided by z3 alone: {'; '.join(r.alone)}")
        for label, values in list(r.counterexamples.items())[:_SHOWN]:
            lines += _indented(f"fails, as it says: {label}, at {_values(values)}")
        if len(r.counterexamples) > _SHOWN:
            lines += _indented(f"and {len(r.counterexamples) - _SHOWN} more counterexamples, which --format json lists")
        lines.append("")
    counts = Counter(r.verdict.value for r in results)
    verdicts = ", ".join(f"{n} {v}" for v, n in counts.items())
    refuted, mutants = sum(r.mutants_refuted for r in results), sum(len(r.mutants) for r in results)
    lines.append(
        f"{len(results)} theorem{'s' * (len(results) != 1)}: {verdicts}; {sum(r.claims for r in results)} claims, "
        f"{refuted} of {mutants} mutants refuted")
    return "\n".join(lines) + "\n"


def _head(r: Result) -> str:
    parts = [f"{r.claims} claims", f"{r.mutants_refuted} of {len(r.mutants)} mutants refuted", r.decider]
    parts.append(f"{r.milliseconds:.0f} ms" + (" when recorded" if r.recorded else ""))
    if r.seeds[1] > 1:
        parts.append(f"{r.seeds[0]} of {r.seeds[1]} seeds")
    if r.cross:
        parts.append(f"cvc5: {r.cross}")
    return f"{r.verdict.value}  {r.id}  ({', '.join(parts)})"


def _indented(text: str) -> list[str]:
    return wrap(text, _WIDTH, initial_indent="    ", subsequent_indent="      ")


def _values(values: dict[str, int]) -> str:
    return ", ".join(f"{name} = {value}" for name, value in values.items())


def exit_code(results: Sequence[Result]) -> int:
    """0 if all are PROVED, 1 if any is REFUTED, else 3."""
    verdicts = {r.verdict for r in results}
    return 1 if Verdict.REFUTED in verdicts else 0 if verdicts == {Verdict.PROVED} else 3
