"""The JSON form: the contract for other programs. Sorted and deterministic: the same input gives the same bytes.

`to_json` writes it, `from_json` reads it back and refuses what does not follow the contract.
"""

from __future__ import annotations

import json
from typing import NotRequired, TypedDict, cast, get_args, get_origin, get_type_hints, is_typeddict

from pypto_verified.errors import InputError
from pypto_verified.report.model import SCHEMA_VERSION, Allowed, FileResult, Finding, FunctionResult, Report

TOOL = "pypto-verify"


class FindingJson(TypedDict):
    """An obligation that was not proved; `line` and `column` count from 1, 0 is unknown."""

    rule: str
    kind: str
    verdict: str
    message: str
    file: str
    line: int
    column: int
    witness: dict[str, int]
    needs: str
    replay: str
    help: str


class AllowedJson(FindingJson):
    """A finding that somebody has accepted: `reason`, and `by` a comment or a baseline."""

    reason: str
    by: str


class ObligationJson(TypedDict):
    """One rule at one site: `decider` is the rung of the solver ladder, `rlimit` the resource units of the solver."""

    rule: str
    site: str
    verdict: str
    decider: str
    milliseconds: float
    rlimit: int
    assumptions: list[str]
    second: str


class FunctionJson(TypedDict):
    """One kernel; `obligations` counts them by verdict in lower case. `needs` and `allowed` are there if they are
    not empty, `details` if asked for: it has times, and so is not the same in every run."""

    name: str
    verdict: str
    obligations: dict[str, int]
    findings: list[FindingJson]
    needs: NotRequired[list[str]]
    allowed: NotRequired[list[AllowedJson]]
    details: NotRequired[list[ObligationJson]]


class FileJson(TypedDict):
    """One input. `findings` are those that belong to no function, and so are `allowed`, which are there if there are
    some."""

    path: str
    sha256: str
    verdict: str
    functions: list[FunctionJson]
    findings: list[FindingJson]
    notes: list[str]
    allowed: NotRequired[list[AllowedJson]]


class AssumptionJson(TypedDict):
    """Something that the verdicts rest on."""

    id: str
    text: str


class ReportJson(TypedDict):
    """A run."""

    schema_version: int
    tool: str
    versions: dict[str, str]
    target: str
    assumptions: list[AssumptionJson]
    files: list[FileJson]


def to_json(report: Report, verbose: bool = False) -> str:
    """The report's JSON text, ending in a newline."""
    return dumps(as_dict(report, verbose))


def dumps(report: ReportJson) -> str:
    """The canonical text of a report."""
    return json.dumps(report, indent=2, sort_keys=True, ensure_ascii=False) + "\n"


def from_json(text: str) -> ReportJson:
    """Read a report. InputError if the text is not JSON, of another version or tool, or not of the contract's shape."""
    try:
        found = json.loads(text)
    except ValueError as error:
        raise InputError(f"not a JSON report: {error}") from error
    if not isinstance(found, dict) or found.get("tool") != TOOL:
        raise InputError(f"not a report of {TOOL}")
    if found.get("schema_version") != SCHEMA_VERSION:
        raise InputError(f"report of schema version {found.get('schema_version')}, this tool reads {SCHEMA_VERSION}")
    _require(found, ReportJson, "report")
    return cast(ReportJson, found)


def _require(value: object, shape: type[object], where: str) -> None:
    """InputError unless `value` is of the type `shape` (a TypedDict, list[..], dict[str, ..] or a plain type)."""
    if is_typeddict(shape):
        fields = get_type_hints(shape)
        if not isinstance(value, dict) or not _needed(shape) <= set(value) <= set(fields):
            raise InputError(f"{where} must have the fields {', '.join(sorted(_needed(shape)))}")
        for name in value:
            _require(value[name], fields[name], f"{where}.{name}")
        return
    origin, arguments = get_origin(shape) or shape, get_args(shape)
    if not isinstance(value, origin) or isinstance(value, bool):
        raise InputError(f"{where} must be {shape}, not {type(value).__name__}")
    if isinstance(value, list):
        for index, item in enumerate(value):
            _require(item, arguments[0], f"{where}[{index}]")
    elif isinstance(value, dict):
        for name, item in value.items():
            _require(item, arguments[1], f"{where}.{name}")


def _needed(shape: type[object]) -> set[str]:
    """The fields that a TypedDict must have."""
    return {name for name, field in get_type_hints(shape, include_extras=True).items()
            if get_origin(field) is not NotRequired}


def as_dict(report: Report, verbose: bool = False) -> ReportJson:
    """The report as plain data in the contract's shape."""
    return {
        "schema_version": SCHEMA_VERSION,
        "tool": TOOL,
        "versions": report.versions,
        "target": report.target,
        "assumptions": [{"id": name, "text": text} for name, text in sorted(report.assumptions)],
        "files": [_file(f, verbose) for f in sorted(report.files, key=lambda f: f.path)],
    }


def _file(file: FileResult, verbose: bool) -> FileJson:
    found: FileJson = {
        "path": file.path,
        "sha256": file.sha256,
        "verdict": file.verdict.value,
        "functions": [_function(f, verbose) for f in sorted(file.functions, key=lambda f: f.name)],
        "findings": _findings(file.findings),
        "notes": file.remarks,
    }
    if file.allowed:
        found["allowed"] = _allowed(file.allowed)
    return found


def _function(function: FunctionResult, verbose: bool) -> FunctionJson:
    found: FunctionJson = {
        "name": function.name,
        "verdict": function.verdict.value,
        "obligations": function.counts(),
        "findings": _findings(function.findings),
    }
    if function.needs:
        found["needs"] = list(function.needs)
    if function.allowed:
        found["allowed"] = _allowed(function.allowed)
    if verbose:
        found["details"] = [
            {"rule": o.rule, "site": o.site, "verdict": o.verdict.value, "decider": o.decider,
             "milliseconds": round(o.milliseconds, 3), "rlimit": o.rlimit, "assumptions": list(o.assumptions),
             "second": o.second} for o in function.obligations]
    return found


def _allowed(accepted: list[Allowed]) -> list[AllowedJson]:
    return [{**_finding(a.finding), "reason": a.reason, "by": a.by}
            for a in sorted(accepted, key=lambda a: _order(a.finding))]


def _order(f: Finding) -> tuple[str, int, int, str, str]:
    return f.file, f.line, f.column, f.rule, f.message


def _findings(findings: list[Finding]) -> list[FindingJson]:
    return [_finding(f) for f in sorted(findings, key=_order)]


def _finding(finding: Finding) -> FindingJson:
    return {
        "rule": finding.rule,
        "kind": finding.kind.value,
        "verdict": finding.verdict.value,
        "message": finding.message,
        "file": finding.file,
        "line": finding.line,
        "column": finding.column,
        "witness": dict(finding.witness),
        "needs": finding.needs,
        "replay": finding.replay,
        "help": finding.help,
    }
