"""Findings that somebody has accepted by a comment in the source.

`# pto: allow BOX-ROWS because the assembler of our release pads them` (`//` in a `.pto`) on a line, or on lines of
comments right above it, accepts what that rule finds on that line. A comment without a reason accepts nothing and is an
error; one that nothing answers to is noted. REFUTED and UNKNOWN can be accepted; an ERROR or VACUOUS can't.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from pypto_verified.records import dataclass
from pypto_verified.report.model import Allowed, FileResult, Finding, Kind, Verdict

_COMMENT = re.compile(r"(?:#|//)\s*pto:\s*allow\b(.*)")
_RULES = re.compile(r"\s*([A-Z][A-Z0-9-]*(?:\s*,\s*[A-Z][A-Z0-9-]*)*)\s*(?:because\b\s*(.*))?$")


@dataclass(frozen=True, slots=True)
class Comment:
    """One `pto: allow`, standing at `line`, that speaks of `target`: that line, or the first one below that is no
    comment. `rules` is empty where the comment can't be read."""

    line: int
    target: int
    rules: tuple[str, ...]
    reason: str


def comments(text: str) -> list[Comment]:
    """All `pto: allow` comments of a source."""
    found: list[Comment] = []
    if _COMMENT.search(text) is None:
        return found
    lines = text.splitlines()
    for number, line in enumerate(lines, 1):
        match = _COMMENT.search(line)
        if match is not None:
            read = _RULES.match(match[1])
            rules = tuple(r.strip() for r in read[1].split(",")) if read else ()
            alone = not line[: match.start()].strip()
            target = _below(lines, number) if alone else number
            found.append(Comment(number, target, rules, (read[2] or "").strip() if read else ""))
    return found


def _below(lines: list[str], number: int) -> int:
    """The first line after `number`, counted from 1, that is neither empty nor a comment."""
    for below, line in enumerate(lines[number:], number + 1):
        if line.strip() and not line.strip().startswith(("#", "//")):
            return below
    return number


def apply_comments(file: FileResult, text: str) -> None:
    """Accept what the comments of the file's own source allow."""
    written = comments(text)
    used: set[Comment] = set()
    for function in file.functions:
        for finding in function.acceptable:
            line = finding.line if finding.file == file.path else finding.text_line
            comment = next((c for c in written if c.reason and c.target == line and finding.rule in c.rules), None)
            if comment is not None:
                function.allow(Allowed(finding, comment.reason, f"comment at line {comment.line}"))
                used.add(comment)
    for comment in written:
        if not comment.reason:
            file.findings.append(Finding(
                "ALLOW", Kind.LEGALITY, Verdict.ERROR, "`pto: allow` needs a rule and a reason", file.path,
                comment.line, help="write: pto: allow RULE-ID because REASON",
                source_line=text.splitlines()[comment.line - 1]))
        elif comment not in used:
            file.outdated.append(
                f"line {comment.line}: `pto: allow {', '.join(comment.rules)}` meets no finding; remove it")


def settle(files: list[FileResult], read: Callable[[str], str]) -> None:
    """Apply the comments of each file, whose text `read` gives."""
    for file in files:
        if file.functions:
            apply_comments(file, read(file.path))
