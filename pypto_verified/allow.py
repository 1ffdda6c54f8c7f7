"""Findings that somebody has accepted: comments in the source, and a baseline file of those that were there before.

`# pto: allow BOX-ROWS because the assembler of our release pads them` (`//` in a `.pto`) on a line, or on lines of
comments right above it, accepts what that rule finds on that line. A comment without a reason accepts nothing and is an
error; one that nothing answers to is noted. REFUTED and UNKNOWN can be accepted; an ERROR or VACUOUS can't.
"""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from pypto_verified.errors import InputError, Location
from pypto_verified.report.model import Allowed, FileResult, Finding, FunctionResult, Kind, Verdict

_COMMENT = re.compile(r"(?:#|//)\s*pto:\s*allow\b(.*)")
_RULES = re.compile(r"\s*([A-Z][A-Z0-9-]*(?:\s*,\s*[A-Z][A-Z0-9-]*)*)\s*(?:because\b\s*(.*))?$")
_ACCEPTABLE = (Verdict.REFUTED, Verdict.UNKNOWN)
BASELINE_VERSION = 1


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
        for finding in _acceptable(function):
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
            file.notes.append(
                f"line {comment.line}: `pto: allow {', '.join(comment.rules)}` meets no finding; remove it")


def _acceptable(function: FunctionResult) -> list[Finding]:
    return [f for f in function.findings if f.verdict in _ACCEPTABLE]


Entry = tuple[str, str, str, str, str]
"""File, kernel, rule, verdict, source line: what a finding is known by while lines move."""


def write_baseline(path: str, files: Iterable[FileResult]) -> int:
    """Write all findings that can be accepted; the number of them. OSError if the file can't be written."""
    from pypto_verified.report.render import write_atomically

    where = Path(path).absolute().parent
    entries = sorted(_entry(where, file, function, f) for file, function, f in _findings(files))
    data = {"baseline_version": BASELINE_VERSION, "findings": [
        {"file": e[0], "kernel": e[1], "rule": e[2], "verdict": e[3], "line": e[4]} for e in entries]}
    write_atomically(path, json.dumps(data, indent=1, ensure_ascii=False) + "\n")
    return len(entries)


def read_baseline(path: str) -> Counter[Entry]:
    """The accepted findings of a baseline file. InputError if it can't be read or is of another shape."""
    try:
        data = json.loads(Path(path).read_text(encoding="utf-8"))
        if data["baseline_version"] != BASELINE_VERSION:
            raise InputError(f"a baseline of version {data['baseline_version']}", Location(path))
        return Counter(
            (str(f["file"]), str(f["kernel"]), str(f["rule"]), str(f["verdict"]), str(f["line"]))
            for f in data["findings"])
    except OSError as error:
        raise InputError(f"can't read the baseline: {error.strerror or error}", Location(path)) from error
    except (ValueError, KeyError, TypeError) as error:
        raise InputError("not a baseline", Location(path), "write one with --write-baseline FILE") from error


def apply_baseline(path: str, files: list[FileResult]) -> None:
    """Accept what the baseline has, each entry once. What it has and no file of this run shows any more is noted at
    its file; files that are no longer there, at the first file of the run."""
    left, where = read_baseline(path), Path(path).absolute().parent
    for file, function, finding in list(_findings(files)):
        entry = _entry(where, file, function, finding)
        if left[entry] > 0:
            left[entry] -= 1
            function.allow(Allowed(finding, "it was there before", f"baseline {path}"))
    checked = {_relative(where, file.path): file for file in files}
    for (name, kernel, rule, verdict, _), count in sorted(left.items()):
        if count > 0 and name in checked:
            checked[name].notes.append(f"the baseline has {rule} {verdict} in {kernel}, which is gone: write it anew")
    for name in sorted({e[0] for e in left} - set(checked)):
        if files and not (where / name).exists():
            files[0].notes.append(f"the baseline has findings of {name}, which is gone: write it anew")


def _findings(files: Iterable[FileResult]) -> Iterator[tuple[FileResult, FunctionResult, Finding]]:
    return ((file, function, f) for file in files for function in file.functions for f in _acceptable(function))


def _entry(where: Path, file: FileResult, function: FunctionResult, finding: Finding) -> Entry:
    line = " ".join(finding.source_line.split())
    return _relative(where, file.path), function.name, finding.rule, finding.verdict.value, line


def _relative(where: Path, path: str) -> str:
    """A path as seen from the baseline's directory, so that it holds wherever the command is run from."""
    return os.path.relpath(os.path.abspath(path), where).replace(os.sep, "/")


def settle(files: list[FileResult], read: Callable[[str], str], baseline: str | None) -> None:
    """Apply the comments of each file, whose text `read` gives, then the baseline."""
    for file in files:
        if file.functions:
            apply_comments(file, read(file.path))
    if baseline is not None:
        apply_baseline(baseline, files)
