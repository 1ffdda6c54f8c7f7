"""The short form of a report, for thousands of files: one line a file, then what each rule found."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from pypto_verified.report.model import SEVERITY, FileResult, Finding, Report, Verdict
from pypto_verified.report.text import WIDTH, location, summary_line

_SHOWN = (Verdict.ERROR, Verdict.REFUTED, Verdict.UNKNOWN, Verdict.VACUOUS)
_MOST = 20
"""Findings that a log shows one by one."""


def as_lines(report: Report) -> str:
    """A line for each file with its verdict and the rules behind it, a table by rule, the totals."""
    return "\n".join((*(_line(file) for file in report.files), *_table(report), "", summary_line(report))) + "\n"


def digest(report: Report) -> str:
    """What a log shows of a report that is elsewhere: a line for each finding, worst first, as far as they are few,
    what was accepted and is gone, and the totals."""
    found = [(SEVERITY.index(f.verdict), location(f) or file.path, f) for file in report.files for f in _findings(file)]
    found.sort(key=lambda row: row[0])
    told = [f"{where}: {f.verdict.value} {f.rule}: {f.message}" for _, where, f in found[:_MOST]]
    if len(found) > _MOST:
        told.append(f"and {len(found) - _MOST} more")
    told += [f"{file.path}: note: {text}" for file in report.files for text in file.outdated]
    return "\n".join((*told, summary_line(report))) + "\n"


def _findings(file: FileResult) -> list[Finding]:
    return [*file.findings, *(f for function in file.functions for f in function.findings)]


def _line(file: FileResult) -> str:
    """Verdict, path, and how often which rule was not proved, worst first."""
    proved = sum(function.counts()["proved"] for function in file.functions)
    found = Counter((SEVERITY.index(f.verdict), f.rule) for f in _findings(file))
    parts = [f"{SEVERITY[rank].value} {rule}{f' x{count}' if count > 1 else ''}"
             for (rank, rule), count in sorted(found.items())]
    allowed = len(file.accepted)
    told = [*parts, f"{proved} proved", *([f"{allowed} allowed"] if allowed else [])]
    return f"{file.word:<{WIDTH}}  {file.path}  {', '.join(told)}"


def _table(report: Report) -> Iterator[str]:
    """For each rule that does not hold everywhere: obligations proved, and findings by verdict."""
    proved = Counter(
        o.rule for file in report.files for function in file.functions for o in function.obligations
        if o.verdict is Verdict.PROVED)
    found = Counter((f.rule, f.verdict) for file in report.files for f in _findings(file))
    files = Counter(rule for file in report.files for rule in {f.rule for f in _findings(file)})
    rules = sorted(files)
    holding = [rule for rule in proved if rule not in files]
    if holding:
        yield ""
        obligations = sum(proved[rule] for rule in holding)
        yield f"rules that hold wherever they apply: {len(holding)}, with {obligations:,} obligations"
    if not rules:
        return
    width = max(len(rule) for rule in (*rules, "rule"))
    yield ""
    yield f"{'rule':<{width}}  {'proved':>9}" + "".join(f"  {v.value:>9}" for v in _SHOWN) + f"  {'files':>9}"
    for rule in rules:
        numbers = [proved[rule], *(found[rule, v] for v in _SHOWN), files[rule]]
        yield f"{rule:<{width}}" + "".join(f"  {n:>9,}" for n in numbers)
