"""The report for a terminal or a log: verdict lines, then each finding with its source line, numbers and what to do.

Lines are built once as (style, text) segments; `plain` joins them, `print_rich` colours them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

from pypto_verified.report.model import (
    ALLOWED,
    SEVERITY,
    FileResult,
    Finding,
    FunctionResult,
    Obligation,
    Report,
    Verdict,
)

if TYPE_CHECKING:
    from rich.console import Console

Line: TypeAlias = list[tuple[str, str]]

_STYLE = {
    Verdict.PROVED: "green", Verdict.REFUTED: "bold red", Verdict.VACUOUS: "yellow", Verdict.UNKNOWN: "yellow",
    Verdict.ERROR: "bold red",
}
_WHOLE = "--format json has all of it"
WIDTH = max(len(v.value) for v in Verdict)
"""Letters of the longest verdict."""
MOST_NEEDED = 200
"""Letters of a condition beyond which its end is left out: nobody reads on, or types it."""
_LANE = re.compile(r"\blane \d+")


def plain(report: Report, verbose: bool = False) -> str:
    """The report as text without colours, ending in a newline. `verbose`: each obligation too."""
    return "".join("".join(text for _, text in line) + "\n" for line in lines(report, verbose))


def print_rich(report: Report, console: Console, verbose: bool = False) -> None:
    """Print the report with colours."""
    from rich.text import Text

    for line in lines(report, verbose):
        console.print(Text.assemble(*((text, style) for style, text in line)), soft_wrap=True)


def lines(report: Report, verbose: bool = False) -> Iterator[Line]:
    """All lines of the report; blocks are one blank line apart."""
    previous: Line = []
    for line in _lines(report, verbose):
        if line or previous:
            yield line
        previous = line


def _lines(report: Report, verbose: bool) -> Iterator[Line]:
    for file in report.files:
        yield from _file(file)
        if verbose:
            yield from _obligations(file)
    if report.assumptions:
        yield []
        yield [("bold", "assumptions used")]
        width = max(len(name) for name, _ in report.assumptions)
        yield from ([("", f"  {name:<{width}}  {text}")] for name, text in report.assumptions)
    yield []
    yield _summary(report)


def _file(file: FileResult) -> Iterator[Line]:
    for function in file.functions:
        what = f"{file.path}: {function.name}"
        yield [(_STYLE[function.verdict], f"{function.word:<{WIDTH}}"), ("", f"  {what}"),
               ("dim", f"  ({_counts(function)})")]
    for finding in file.findings:
        yield from _finding(finding, file.path)
    for function in file.functions:
        for finding, *alike in _alike(function.findings):
            yield []
            yield from _finding(finding, file.path)
            if alike:
                yield _item("also", "; ".join(f.site for f in alike))
        if len(function.needs) > 1:
            yield []
            yield _item(f"all that {function.name} needs", _all_needed(function.needs))
    if any(function.findings for function in file.functions):
        yield []
    for accepted in file.accepted:
        f = accepted.finding
        what = f"{location(f) or file.path}: {f.verdict.value} {f.rule}: {accepted.reason} ({accepted.by})"
        yield [("dim", f"{'allowed':<{WIDTH}}  {what}")]
    for note in file.remarks:
        yield [("dim", f"{'note':<{WIDTH}}  {file.path}: {note}")]


def _obligations(file: FileResult) -> Iterator[Line]:
    """A table of each kernel's obligations: what was decided, by what, and what it cost."""
    for function in file.functions:
        if not function.obligations:
            continue
        rows = [(o.rule, o.site, o.verdict.value, _decider(o), f"{o.milliseconds:.1f}", str(o.rlimit))
                for o in function.obligations]
        head = ("rule", "site", "verdict", "decided by", "ms", "units")
        widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
        yield []
        yield [("bold", f"obligations of {function.name}")]
        for row in (head, *rows):
            left = "  ".join(f"{text:<{w}}" for text, w in zip(row[:4], widths[:4], strict=True))
            yield [("dim", f"  {left}  {row[4]:>{widths[4]}}  {row[5]:>{widths[5]}}")]
        yield [("dim", f"  {', '.join(_costs(function))}")]
    yield []


def _costs(function: FunctionResult) -> Iterator[str]:
    """How much each rung of the solver ladder decided, and what that cost."""
    for decider in sorted({o.decider for o in function.obligations}):
        own = [o for o in function.obligations if o.decider == decider]
        units = sum(o.rlimit for o in own)
        cost = f"{sum(o.milliseconds for o in own):.1f} ms" + (f", {units:,} units" if units else "")
        yield f"{len(own)} by {decider or 'no rung'} ({cost})"


def _decider(o: Obligation) -> str:
    return ", ".join(part for part in (o.decider, o.second and f"cvc5 {o.second}".replace("cvc5 cvc5", "cvc5")) if part)


def _counts(function: FunctionResult) -> str:
    counts = {**function.counts(), "allowed": len(function.allowed)}
    names = [*(v.value.lower() for v in reversed(SEVERITY)), "allowed"]
    return ", ".join(f"{counts[name]} {name}" for name in names if counts[name]) or "nothing to prove"


def _alike(findings: list[Finding]) -> list[list[Finding]]:
    """The findings, those together that read the same: of other accesses at one place, or of the other lane."""
    found: dict[Finding, list[Finding]] = {}
    for f in findings:
        told = replace(f, message=_LANE.sub("lane", f.message), replay=_LANE.sub("lane", f.replay), site="")
        found.setdefault(told if f.site else f, []).append(f)
    return list(found.values())


def _finding(finding: Finding, path: str) -> Iterator[Line]:
    where = location(finding) or path
    yield [("bold", f"{where}: "), (_STYLE[finding.verdict], f"{finding.verdict.value} {finding.rule}: "),
           ("", finding.message)]
    if finding.source_line:
        number = str(finding.line)
        yield [("dim", f"  {number} | "), ("", finding.source_line.rstrip())]
        if finding.column:
            yield [("dim", f"  {' ' * len(number)} | "), (_STYLE[finding.verdict], _caret(finding))]
    if finding.witness:
        yield _item("numbers", ", ".join(f"{name} = {value}" for name, value in finding.witness))
    if len(finding.needs) > MOST_NEEDED:
        yield _item("needs", f"{finding.needs[:MOST_NEEDED]}… ({len(finding.needs)} letters: {_WHOLE})")
    elif finding.needs:
        yield _item("needs", f'{finding.needs}    (if that always holds: --assume "{finding.needs}")')
    if finding.replay:
        yield _item("replay", finding.replay)
    if finding.help:
        yield _item("help", finding.help)


def _all_needed(texts: tuple[str, ...]) -> str:
    short = [f'--assume "{text}"' for text in texts if len(text) <= MOST_NEEDED]
    longer = len(texts) - len(short)
    return " ".join(short) + f"{' ' if short else ''}({longer} longer: {_WHOLE})" * bool(longer)


def _item(name: str, text: str) -> Line:
    return [("cyan", f"    {name}: "), ("", text)]


def _caret(finding: Finding) -> str:
    """Blanks (and the tabs of the source line) up to the column, then a caret."""
    before = finding.source_line[: finding.column - 1]
    return "".join("\t" if c == "\t" else " " for c in before).ljust(finding.column - 1) + "^"


def location(finding: Finding) -> str:
    """`file:line:column` as far as known."""
    parts = [finding.file, *(str(n) for n in (finding.line, finding.column) if n)]
    return ":".join(parts) if finding.file else ""


def summary_line(report: Report) -> str:
    """The last line of the report."""
    return "".join(text for _, text in _summary(report))


def _summary(report: Report) -> Line:
    kernels = [function for file in report.files for function in file.functions]
    verdicts = Counter(f.word for f in kernels)
    verdicts.update(f.word for f in report.files if not f.functions)
    proved = sum(f.counts()["proved"] for f in kernels)
    total = sum(sum(f.counts().values()) for f in kernels)
    words = (Verdict.PROVED.value, ALLOWED, *(v.value for v in reversed(SEVERITY) if v is not Verdict.PROVED))
    found = ", ".join(f"{verdicts[word]} {word}" for word in words if verdicts[word])
    size = f"{_number(len(report.files), 'file')}, {_number(len(kernels), 'kernel')}"
    obligations = f"; {proved} of {_number(total, 'obligation')} proved"
    return [("bold", f"{size} for {report.target}: {found}"), ("dim", obligations)]


def _number(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
