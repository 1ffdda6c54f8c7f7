"""Findings about an input or about this tool: what an error, a crash or an empty kernel looks like in a report."""

from __future__ import annotations

import os
import sys
import traceback
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from pypto_verified.errors import (
    CodegenError,
    InputError,
    LanguageError,
    Location,
    NotModelled,
    OpError,
    ParseError,
    PassError,
    PtoError,
    told,
)
from pypto_verified.report.model import FileResult, Finding, Kind, Verdict
from pypto_verified.workers import Failure

_RULE_OF = {
    InputError: "INPUT", LanguageError: "LANGUAGE", OpError: "OP", PassError: "PASS", CodegenError: "CODEGEN",
    ParseError: "PARSE", NotModelled: "NOT-MODELLED",
}

OWN_CLAIMS = {
    "INPUT": "the file can be read", "LANGUAGE": "the file is a kernel file", "OP": "ops are called as declared",
    "PASS": "the kernel can be lowered", "CODEGEN": "the kernel has a text", "PARSE": "the text is a module",
    "ERROR": "the file can be checked", "NOT-MODELLED": "all of the kernel is modelled",
    "MODEL-FUNC": "all of the function is modelled", "MODEL-OP": "the op is modelled",
    "EMPTY": "the kernel does something that a rule looks at", "ALLOW": "a comment that accepts says what and why",
    "REPLAY": "a run shows what a rule refutes", "PASS-MEANING": "both sides of a pass compute the same",
    "TIMEOUT": "the file is decided in time", "CRASH": "the check of the file ends by itself",
    "INTERNAL": "this tool has no fault",
}
"""What the ids claim that stand beside those of rules, for programs that want a sentence for each."""


def error_finding(error: PtoError, path: str) -> Finding:
    """The finding of an error that a user can cause; NotModelled is UNKNOWN, all others are ERROR."""
    verdict = Verdict.UNKNOWN if isinstance(error, NotModelled) else Verdict.ERROR
    where = error.location if error.location.file else Location(path)
    return Finding(
        rule=_RULE_OF.get(type(error), "ERROR"), kind=Kind.LEGALITY, verdict=verdict, message=_one_line(error.message),
        file=where.file, line=where.line, column=where.column, help=error.help, source_line=error.source_line,
    )


def internal_error(error: BaseException, path: str) -> Finding:
    """A fault of this tool, in one line; PYPTO_VERIFY_TRACEBACK=1 shows the traceback on stderr. An error that the
    file's own code raised is the file's."""
    place = list(traceback.walk_tb(error.__traceback__))[-1:]
    for frame, line in place:
        if frame.f_code.co_filename == path:
            where = Location(path, line)
            return error_finding(LanguageError(f"the file's own code stops with {told(error)}", where), path)
    if os.environ.get("PYPTO_VERIFY_TRACEBACK") == "1":
        traceback.print_exception(error, file=sys.stderr)
    return Finding(
        rule="INTERNAL", kind=Kind.LEGALITY, verdict=Verdict.ERROR, file=path,
        message=f"internal error: {_one_line(told(error))}",
        help="please report this file; PYPTO_VERIFY_TRACEBACK=1 shows where it happened",
    )


def failed_file(path: str, failure: Failure) -> FileResult:
    """The result of a file whose process gave none."""
    if failure.timed_out:
        rule, verdict, message, help = "TIMEOUT", Verdict.UNKNOWN, failure.reason, "give more time with --timeout"
    else:
        rule, verdict, message = "CRASH", Verdict.ERROR, f"the check of this file crashed: {failure.reason}"
        help = "if the file's own code does not end the process, please report it"
    return FileResult(path, findings=[Finding(rule, Kind.LEGALITY, verdict, message, path, help=help)])


def nothing_to_prove(name: str, path: str) -> Finding:
    return Finding("EMPTY", Kind.LEGALITY, Verdict.UNKNOWN, f"{name} does nothing that a rule looks at", path,
                   help="a kernel loads, computes and stores tiles")


def second_opinion(result: FileResult) -> str:
    """How a second solver judged what the first one decided, and the obligations that one of them decides alone."""
    asked = [o for function in result.functions for o in function.obligations if o.second]
    counts = Counter(o.second.partition(":")[0] for o in asked)
    alone = [f"{o.rule} at {o.site} ({o.second})" for o in asked if o.second.endswith("alone")]
    words = {"agrees": "agree", "differs": "differ"}
    told = ", ".join(f"{n} {words.get(what, what)}" for what, n in sorted(counts.items()))
    told = told or "nothing was left to a solver"
    return f"second opinion: {told}" + (f": {'; '.join(alone)}" if alone else "")


def with_source(finding: Finding, path: str, lines: Sequence[str]) -> Finding:
    """The finding with the text of its line, if it lies in this file."""
    if finding.source_line or finding.file != path or not 0 < finding.line <= len(lines):
        return finding
    return replace(finding, source_line=lines[finding.line - 1])


def _one_line(text: str, limit: int = 300) -> str:
    line = " ".join(text.split())
    return line if len(line) <= limit else line[: limit - 1] + "…"
