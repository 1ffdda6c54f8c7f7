"""The SARIF 2.1.0 form, for code scanning services and editors.

REFUTED and ERROR are failures (level `error`), UNKNOWN and VACUOUS are `open` questions; what is proved gives no
result.
"""

from __future__ import annotations

import json
from typing import Any

from pypto_verified.report.json_form import TOOL
from pypto_verified.report.model import Allowed, FileResult, Finding, Report, Verdict

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"

_FAILURES = (Verdict.REFUTED, Verdict.ERROR)


def to_sarif(report: Report) -> str:
    """The report's SARIF text, ending in a newline. Deterministic."""
    findings = [(file, finding) for file in report.files for finding in _findings(file)]
    allowed = [(file, a) for file in report.files for a in file.accepted]
    rules = {finding.rule for _, finding in findings} | {a.finding.rule for _, a in allowed}
    run = {
        "tool": {"driver": {
            "name": TOOL,
            "version": report.versions.get("pypto-verified", ""),
            "rules": [_rule(rule, report.claims.get(rule, "")) for rule in sorted(rules)],
        }},
        "artifacts": [_artifact(file) for file in report.files],
        "results": [*(_result(file, f) for file, f in findings), *(_suppressed(file, a) for file, a in allowed)],
        "invocations": [{"executionSuccessful": report.exit_code() != 2, "exitCode": report.exit_code()}],
        "columnKind": "unicodeCodePoints",
        "properties": {"target": report.target, "versions": report.versions, "assumptions": dict(report.assumptions)},
    }
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2, sort_keys=True) + "\n"


def _rule(id: str, claim: str) -> dict[str, Any]:
    """A rule as code scanning services show it: they want a short and a full text, and help."""
    if not claim:
        return {"id": id}
    text = claim[0].upper() + claim[1:]
    return {
        "id": id, "shortDescription": {"text": text}, "fullDescription": {"text": f"{text}."},
        "help": {"text": "Each result says what to do; `pypto-verify rules` explains the rules."},
    }


def _findings(file: FileResult) -> list[Finding]:
    return [*file.findings, *(finding for function in file.functions for finding in function.findings)]


def _artifact(file: FileResult) -> dict[str, Any]:
    hashes = {"hashes": {"sha-256": file.sha256}} if file.sha256 else {}
    return {"location": {"uri": _uri(file.path)}, **hashes}


def _result(file: FileResult, finding: Finding) -> dict[str, Any]:
    failure = finding.verdict in _FAILURES
    details = {
        "verdict": finding.verdict.value, "kind": finding.kind.value, "witness": dict(finding.witness),
        "needs": finding.needs, "replay": finding.replay,
    }
    return {
        "ruleId": finding.rule,
        "kind": "fail" if failure else "open",
        "level": "error" if failure else "none",
        "message": {"text": _message(finding)},
        "locations": [{"physicalLocation": _place(file, finding)}],
        "properties": {name: value for name, value in details.items() if value},
    }


def _suppressed(file: FileResult, accepted: Allowed) -> dict[str, Any]:
    kind = "inSource" if accepted.by.startswith("comment") else "external"
    return {**_result(file, accepted.finding), "suppressions": [{"kind": kind, "justification": accepted.reason}]}


def _message(finding: Finding) -> str:
    numbers = ", ".join(f"{name} = {value}" for name, value in finding.witness)
    extra = [f"({numbers})"] if numbers else []
    if finding.needs:
        extra.append(f"Needs: {finding.needs}.")
    if finding.help:
        extra.append(f"Help: {finding.help}")
    return " ".join([finding.message, *extra])


def _place(file: FileResult, finding: Finding) -> dict[str, Any]:
    place: dict[str, Any] = {"artifactLocation": {"uri": _uri(finding.file or file.path)}}
    if finding.line:
        column = {"startColumn": finding.column} if finding.column else {}
        snippet = {"snippet": {"text": finding.source_line}} if finding.source_line else {}
        place["region"] = {"startLine": finding.line, **column, **snippet}
    return place


def _uri(path: str) -> str:
    """A path as a relative or absolute URI reference."""
    from urllib.parse import quote

    return quote(path.replace("\\", "/"))
