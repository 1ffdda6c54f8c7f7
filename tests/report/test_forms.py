"""The forms of a report: what a reader sees in text, and what programs can rely on in JSON, SARIF and HTML."""

from __future__ import annotations

import html
import io
import json
import re
from collections.abc import Callable
from dataclasses import replace

import jsonschema
import pytest
from rich.console import Console

from pypto_verified.errors import InputError
from pypto_verified.report.json_form import dumps, from_json, to_json
from pypto_verified.report.model import FileResult, Finding, FunctionResult, Kind, Obligation, Report, Verdict
from pypto_verified.report.render import render
from pypto_verified.report.sarif import to_sarif
from pypto_verified.report.text import plain, print_rich

REFUTED = Finding(
    rule="BOUND-LOAD", kind=Kind.SAFETY, verdict=Verdict.REFUTED, message="rows 32 .. 63 of `a`, which has 48",
    file="kernels/tail.py", line=14, column=13, witness=(("M", 48), ("r", 32)), help="narrow the last tile",
    replay="confirmed: reads 2048 bytes too far", source_line="        x = pl.load(a, [r, 0], [32, 64])",
)
UNKNOWN = Finding(
    rule="VALID-SIZE", kind=Kind.SAFETY, verdict=Verdict.UNKNOWN, message="rows may pass the tile",
    file="kernels/tail.py", line=16, column=9, needs="n <= 32",
)
MALFORMED = Finding("LANGUAGE", Kind.LEGALITY, Verdict.ERROR, "no <such> thing & more", "kernels/bad.py", 3)


def report_of(*files: FileResult) -> Report:
    versions = {"pypto-verified": "0.1.0", "z3-solver": "5"}
    return Report("a2a3", list(files), [("SIZE-NONNEG", "sizes are not negative")], versions)


def tail() -> FileResult:
    obligations = [
        Obligation("BOUND-LOAD", Kind.SAFETY, Verdict.PROVED, "line 12"),
        Obligation("BOUND-LOAD", Kind.SAFETY, Verdict.REFUTED, "line 14"),
        Obligation("VALID-SIZE", Kind.SAFETY, Verdict.UNKNOWN, "line 16"),
    ]
    return FileResult("kernels/tail.py", "ab" * 32, "a2a3", [FunctionResult("tail", obligations, [UNKNOWN, REFUTED])])


def bad() -> FileResult:
    return FileResult("kernels/bad.py", findings=[MALFORMED], notes=["something to know"])


@pytest.mark.requirement("VF-08")
def test_text_shows_the_line_the_numbers_and_what_to_do() -> None:
    text = plain(report_of(tail()))
    assert text.splitlines()[0] == "REFUTED  kernels/tail.py: tail  (1 proved, 1 unknown, 1 refuted)"
    assert (
        "kernels/tail.py:14:13: REFUTED BOUND-LOAD: rows 32 .. 63 of `a`, which has 48\n"
        "  14 |         x = pl.load(a, [r, 0], [32, 64])\n"
        "     |             ^\n"
        "    numbers: M = 48, r = 32\n"
        "    replay: confirmed: reads 2048 bytes too far\n"
        "    help: narrow the last tile\n"
    ) in text
    assert '--assume "n <= 32"' in text
    assert text.splitlines()[-1] == "1 file, 1 kernel for a2a3: 1 REFUTED; 1 of 3 obligations proved"


def test_of_a_long_condition_the_terminal_shows_the_beginning_and_json_all() -> None:
    """Up to 200 letters it can be assumed as it is printed."""
    fits, longer = "n <= 3" + "2" * 194, "n <= 3" + "2" * 195
    for needs, shown in ((fits, f'{fits}    (if that always holds: --assume "{fits}")'),
                         (longer, f"{fits}… (201 letters: --format json has all of it)")):
        function = FunctionResult("k", findings=[replace(UNKNOWN, needs=needs)])
        report = report_of(FileResult("k.py", functions=[function]))
        assert f"    needs: {shown}\n" in plain(report)
        assert needs in to_json(report)


def test_what_a_kernel_needs_in_all_leaves_out_long_conditions() -> None:
    function = FunctionResult("k", findings=[UNKNOWN], needs=("n <= 32", "m == 1" + "0" * 200))
    text = plain(report_of(FileResult("k.py", functions=[function])))
    assert '    all that k needs: --assume "n <= 32" (1 longer: --format json has all of it)\n' in text


def test_text_of_a_file_that_does_not_load_is_one_line() -> None:
    text = plain(report_of(bad()))
    assert text.splitlines()[0] == "kernels/bad.py:3: ERROR LANGUAGE: no <such> thing & more"
    assert "note     kernels/bad.py: something to know\n" in text


def test_a_caret_stays_below_its_column_when_the_line_has_tabs() -> None:
    finding = replace(REFUTED, source_line="\tx = load(a)", column=2)
    text = plain(report_of(FileResult("kernels/tail.py", findings=[finding])))
    assert "  14 | \tx = load(a)\n     | \t^\n" in text


def test_the_coloured_form_has_the_same_text() -> None:
    report = report_of(tail(), bad())
    screen = io.StringIO()
    print_rich(report, Console(file=screen, force_terminal=True, color_system="standard", highlight=False, width=60))
    coloured = screen.getvalue()
    assert "\x1b[1;31m" in coloured
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == plain(report)


@pytest.mark.requirement("VF-08")
def test_json_round_trips() -> None:
    text = to_json(report_of(tail(), bad()))
    assert dumps(from_json(text)) == text


def test_json_is_sorted_and_the_same_for_the_same_findings() -> None:
    assert to_json(report_of(tail(), bad())) == to_json(report_of(bad(), tail()))
    found = from_json(to_json(report_of(tail(), bad())))
    assert [f["path"] for f in found["files"]] == ["kernels/bad.py", "kernels/tail.py"]
    assert [f["line"] for f in found["files"][1]["functions"][0]["findings"]] == [14, 16]


def test_json_has_the_fields_of_its_contract() -> None:
    found = json.loads(to_json(report_of(tail())))
    assert sorted(found) == ["assumptions", "files", "schema_version", "target", "tool", "versions"]
    (function,) = found["files"][0]["functions"]
    assert function["obligations"] == {"proved": 1, "refuted": 1, "vacuous": 0, "unknown": 1, "error": 0}
    assert function["findings"][0]["witness"] == {"M": 48, "r": 32}
    assert found["files"][0]["sha256"] == "ab" * 32


@pytest.mark.parametrize(
    "spoil",
    [
        lambda d: d.pop("files"),
        lambda d: d.update(schema_version=2),
        lambda d: d.update(tool="another"),
        lambda d: d.update(extra=1),
        lambda d: d["files"][0].update(sha256=5),
        lambda d: d["files"][0]["functions"][0]["findings"][0]["witness"].update(M="48"),
        lambda d: d["files"][0]["functions"][0]["findings"][0].pop("needs"),
    ],
)
def test_json_of_another_shape_is_refused(spoil: Callable[[dict[str, object]], None]) -> None:
    found = json.loads(to_json(report_of(tail())))
    spoil(found)
    with pytest.raises(InputError):
        from_json(json.dumps(found))


def test_text_that_is_no_json_is_refused() -> None:
    with pytest.raises(InputError):
        from_json("{")


# What SARIF 2.1.0 requires of the objects that we write (sections 3.13 to 3.30 of the standard), closed so that a
# misspelt property fails.
_STRING = {"type": "string"}
_TEXT = {"type": "object", "required": ["text"], "additionalProperties": False, "properties": {"text": _STRING}}
_URI = {"type": "object", "required": ["uri"], "additionalProperties": False, "properties": {"uri": _STRING}}
_FROM_ONE = {"type": "integer", "minimum": 1}
_REGION = {
    "type": "object", "required": ["startLine"], "additionalProperties": False,
    "properties": {"startLine": _FROM_ONE, "startColumn": _FROM_ONE, "snippet": _TEXT},
}
_RESULT = {
    "type": "object", "required": ["message", "ruleId", "kind", "level", "locations"], "additionalProperties": False,
    "properties": {
        "ruleId": {"type": "string"}, "kind": {"enum": ["fail", "open"]}, "level": {"enum": ["none", "error"]},
        "message": _TEXT, "properties": {"type": "object"},
        "locations": {"type": "array", "items": {
            "type": "object", "required": ["physicalLocation"], "additionalProperties": False,
            "properties": {"physicalLocation": {
                "type": "object", "required": ["artifactLocation"], "additionalProperties": False,
                "properties": {"artifactLocation": _URI, "region": _REGION},
            }},
        }},
    },
}
_DRIVER = {
    "type": "object", "required": ["name"], "additionalProperties": False,
    "properties": {
        "name": {"type": "string"}, "version": {"type": "string"},
        "rules": {"type": "array", "uniqueItems": True, "items": {
            "type": "object", "required": ["id"], "additionalProperties": False,
            "properties": {"id": _STRING, "shortDescription": _TEXT, "fullDescription": _TEXT, "help": _TEXT},
        }},
    },
}
_RUN = {
    "type": "object", "required": ["tool", "results"], "additionalProperties": False,
    "properties": {
        "tool": {
            "type": "object", "required": ["driver"], "additionalProperties": False, "properties": {"driver": _DRIVER},
        },
        "results": {"type": "array", "items": _RESULT},
        "artifacts": {"type": "array", "uniqueItems": True, "items": {
            "type": "object", "required": ["location"], "additionalProperties": False,
            "properties": {"location": _URI, "hashes": {"type": "object", "additionalProperties": {"type": "string"}}},
        }},
        "invocations": {"type": "array", "items": {
            "type": "object", "required": ["executionSuccessful"], "additionalProperties": False,
            "properties": {"executionSuccessful": {"type": "boolean"}, "exitCode": {"type": "integer"}},
        }},
        "columnKind": {"enum": ["utf16CodeUnits", "unicodeCodePoints"]}, "properties": {"type": "object"},
    },
}
SARIF = {
    "type": "object", "required": ["version", "runs"], "additionalProperties": False,
    "properties": {
        "$schema": {"type": "string"}, "version": {"const": "2.1.0"}, "runs": {"type": "array", "items": _RUN},
    },
}


@pytest.mark.requirement("VF-08")
def test_sarif_has_what_the_standard_requires() -> None:
    jsonschema.validate(json.loads(to_sarif(report_of(tail(), bad()))), SARIF)
    jsonschema.validate(json.loads(to_sarif(report_of())), SARIF)


def test_sarif_describes_its_rules_as_code_scanning_wants_them() -> None:
    report = report_of(tail())
    report.claims = {"BOUND-LOAD": "a load stays inside of its tensor"}
    (run,) = json.loads(to_sarif(report))["runs"]
    known, unknown = run["tool"]["driver"]["rules"]
    assert known["shortDescription"] == {"text": "A load stays inside of its tensor"}
    assert known["fullDescription"] == {"text": "A load stays inside of its tensor."}
    assert "pypto-verify rules" in known["help"]["text"]
    assert unknown == {"id": "VALID-SIZE"}
    jsonschema.validate(json.loads(to_sarif(report)), SARIF)


def test_sarif_failures_are_errors_and_unknowns_are_open_questions() -> None:
    (run,) = json.loads(to_sarif(report_of(tail())))["runs"]
    shown = {(r["ruleId"], r["kind"], r["level"]) for r in run["results"]}
    assert shown == {("BOUND-LOAD", "fail", "error"), ("VALID-SIZE", "open", "none")}
    assert run["invocations"] == [{"executionSuccessful": True, "exitCode": 1}]
    assert run["results"][1]["locations"][0]["physicalLocation"]["region"]["startLine"] == 14


def test_sarif_leaves_out_a_line_that_is_not_known() -> None:
    file = FileResult("a b.py", findings=[replace(MALFORMED, file="", line=0)])
    (run,) = json.loads(to_sarif(report_of(file)))["runs"]
    assert run["results"][0]["locations"] == [{"physicalLocation": {"artifactLocation": {"uri": "a%20b.py"}}}]
    assert run["invocations"][0]["executionSuccessful"] is False


@pytest.mark.requirement("VF-08")
def test_html_shows_every_finding_escaped_and_fetches_nothing() -> None:
    page = render(report_of(tail(), bad()), "html")
    assert "<such>" not in page and html.escape("no <such> thing & more") in page
    assert "M = 48" in page and "narrow the last tile" in page and "sizes are not negative" in page
    assert "http" not in page and "<script" not in page and "src=" not in page


def test_findings_that_read_the_same_are_printed_once_with_the_sites_of_the_others() -> None:
    """Both lanes of a pipe, and two accesses of one line; another place, or other numbers, is a finding of its own."""
    first = replace(UNKNOWN, rule="FIFO-POP", message="runs 2 times on lane 0", needs="", site="16:9 pop lane 0")
    second = replace(first, message="runs 2 times on lane 1", site="16:9 pop lane 1")
    moved, other = replace(first, line=17), replace(first, witness=(("M", 3),))
    found = [first, UNKNOWN, second, moved, other]
    text = plain(report_of(FileResult("kernels/tail.py", functions=[FunctionResult("tail", [], found)])))
    assert text.count("FIFO-POP") == 3 and "on lane 1" not in text
    assert [line for line in text.splitlines() if "also" in line] == ["    also: 16:9 pop lane 1"]
