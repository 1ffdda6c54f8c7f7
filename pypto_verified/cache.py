"""Results of unchanged files: kept by the file's content, the options and this tool's own code.

Only `.pto` files are kept: a kernel may import other files, whose content its own does not tell. A result that says
"timeout", "crash" or "internal error" is never kept. Entries are JSON; one that can't be read counts as absent.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
from collections.abc import Iterable
from dataclasses import asdict
from functools import cache as once
from pathlib import Path
from typing import Any

from pypto_verified import inputs
from pypto_verified.errors import InputError
from pypto_verified.report.model import FileResult, Finding, FunctionResult, Kind, Obligation, Verdict
from pypto_verified.report.render import write_atomically

_FORM = 1
_NAME = 16
"""Characters of a version that name its directory."""
_VERSIONS = 3
"""Versions of this tool whose results are kept: those of others are removed when a new one keeps its first."""
_KINDS = {kind.value: kind for kind in Kind}
_VERDICTS = {verdict.value: verdict for verdict in Verdict}
_PASSING = frozenset({"TIMEOUT", "CRASH", "INTERNAL"})


def default_directory() -> Path:
    """`pypto-verify` in the user's cache directory ($XDG_CACHE_HOME, else ~/.cache)."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "pypto-verify"


@once
def tool_version() -> str:
    """Changes with every change of this tool's code, of Python or of the solver. Files count by size and time of
    change, so that asking costs no reading."""
    from pypto_verified.report.versions import versions

    package = Path(__file__).parent
    code = sorted(
        f"{path.relative_to(package.parent)} {path.stat().st_size} {path.stat().st_mtime_ns}"
        for root in (package, package.parent / "verifiers") for path in root.rglob("*.py"))
    return _digest([str(_FORM), *(f"{k} {v}" for k, v in versions().items()), *code])


class Cache:
    """The results in one directory. `options` is the text of everything but the file that a result depends on."""

    def __init__(self, directory: Path, options: str) -> None:
        self._directory = directory / tool_version()[:_NAME]
        self._base = _digest([tool_version(), options])

    def get(self, path: str) -> FileResult | None:
        """The result of the file as it is now, or None."""
        entry = self._entry(path)
        if entry is None:
            return None
        try:
            return _result(json.loads(entry.read_text("utf-8")))
        except (OSError, ValueError, TypeError, KeyError):
            return None

    def put(self, result: FileResult) -> None:
        """Keep a result, if it is one to keep. A directory that can't be written to keeps nothing."""
        entry = self._entry(result.path, result.sha256)
        everything = [*result.findings, *(f for function in result.functions for f in function.findings)]
        if entry is None or any(f.rule in _PASSING for f in everything):
            return
        try:
            if not self._directory.exists():
                _forget_old_versions(self._directory.parent)
            entry.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(str(entry), json.dumps(_data(result), default=lambda value: value.value))
        except OSError:
            return

    def _entry(self, path: str, sha256: str = "") -> Path | None:
        """Where the result of a file lies; None for a file that can't be kept. With `sha256` the file must still have
        that content."""
        if not path.endswith(inputs.PTO):
            return None
        try:
            found = inputs.read(path).sha256
        except InputError:
            return None
        if sha256 and found != sha256:
            return None
        key = _digest([self._base, path, found])
        return self._directory / key[:2] / f"{key[2:]}.json"


def _forget_old_versions(directory: Path) -> None:
    """Remove what all but the last few versions of this tool kept."""
    if not directory.is_dir():
        return
    names = re.compile(rf"[0-9a-f]{{{_NAME}}}")
    versions = [path for path in directory.iterdir() if names.fullmatch(path.name)]
    for path in sorted(versions, key=lambda p: p.stat().st_mtime, reverse=True)[_VERSIONS - 1:]:
        shutil.rmtree(path, ignore_errors=True)


def _digest(parts: Iterable[str]) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def _data(result: FileResult) -> dict[str, Any]:
    """The result as JSON can take it. Obligations are by far the most: their fields are listed, not named."""
    return {
        "path": result.path, "sha256": result.sha256, "target": result.target, "notes": result.notes,
        "findings": [asdict(f) for f in result.findings],
        "functions": [
            {"name": f.name, "needs": f.needs, "findings": [asdict(x) for x in f.findings],
             "obligations": [(o.rule, o.kind, o.verdict, o.site, o.decider, o.milliseconds, o.assumptions,
                              o.rlimit, o.second)
                             for o in f.obligations]}
            for f in result.functions],
    }


def _result(data: dict[str, Any]) -> FileResult:
    """The result that `_data` took apart."""
    functions = [
        FunctionResult(
            f["name"], [_obligation(*o) for o in f["obligations"]], [_finding(x) for x in f["findings"]],
            needs=tuple(f["needs"]))
        for f in data["functions"]]
    return FileResult(data["path"], data["sha256"], data["target"], functions,
                      [_finding(x) for x in data["findings"]], data["notes"])


def _obligation(
    rule: str, kind: str, verdict: str, site: str, decider: str, milliseconds: float, assumptions: list[str],
    rlimit: int, second: str,
) -> Obligation:
    return Obligation(
        rule, _KINDS[kind], _VERDICTS[verdict], site, decider, milliseconds, tuple(assumptions), rlimit, second)


def _finding(data: dict[str, Any]) -> Finding:
    return Finding(**data | {
        "kind": _KINDS[data["kind"]], "verdict": _VERDICTS[data["verdict"]],
        "witness": tuple((name, value) for name, value in data["witness"])})
