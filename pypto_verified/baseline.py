"""A file of findings that a code base has today: with it only new ones count."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple, TypeAlias

from pypto_verified.errors import InputError, Location
from pypto_verified.records import dataclass
from pypto_verified.report.model import Allowed, FileResult, Finding, FunctionResult

VERSION = 1
_Part: TypeAlias = FileResult | FunctionResult
"""What has findings."""
_ANEW = "write it anew with --write-baseline FILE"


class Entry(NamedTuple):
    """What a finding is known by while lines move: the text of its line, not the number. `file` as seen from the
    baseline's directory; `kernel` is '' for a finding of the file itself."""

    file: str
    kernel: str
    rule: str
    verdict: str
    line: str


@dataclass(frozen=True, slots=True)
class Baseline:
    """The accepted findings of a file, and how often each is there."""

    path: str
    entries: Counter[Entry]

    @property
    def directory(self) -> Path:
        """From which the files are seen, so that the baseline holds wherever the command is run from."""
        return Path(self.path).absolute().parent


def write(path: str, files: Iterable[FileResult]) -> int:
    """Write all findings that can be accepted; the number of them. OSError if the file can't be written."""
    from pypto_verified.report.render import write_atomically

    where = Path(path).absolute().parent
    entries = sorted(_entry(where, file, part, f) for file, part, f in _findings(files))
    data = {"baseline_version": VERSION, "findings": [e._asdict() for e in entries]}
    write_atomically(path, json.dumps(data, indent=1, ensure_ascii=False) + "\n")
    return len(entries)


def read(path: str) -> Baseline:
    """InputError if the file can't be read, is of another version or another shape."""
    try:
        data = json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"can't read the baseline: {error.strerror or error}", Location(path)) from error
    except (ValueError, RecursionError):
        data = None
    version = data.get("baseline_version") if isinstance(data, dict) else None
    if version is None:
        raise InputError("not a baseline", Location(path), _ANEW)
    if version != VERSION or isinstance(version, bool):
        raise InputError(f"a baseline of version {version!r}, and version {VERSION} is read", Location(path), _ANEW)
    findings = data.get("findings")
    entries = [_read_entry(f) for f in findings] if isinstance(findings, list) else [None]
    if None in entries:
        raise InputError("a baseline with findings that are none", Location(path), _ANEW)
    return Baseline(path, Counter(e for e in entries if e is not None))


def _read_entry(data: object) -> Entry | None:
    values = [data.get(name) for name in Entry._fields] if isinstance(data, dict) else []
    texts = [value for value in values if isinstance(value, str)]
    return Entry(*texts) if len(texts) == len(Entry._fields) else None


def apply(baseline: Baseline, files: list[FileResult]) -> None:
    """Accept what the baseline has, each entry once; of a file that is no longer there wherever the same kernel has the
    same finding now. What no file of this run shows any more is noted at its file, and what is known of files that are
    gone at the first file of the run."""
    left, where = Counter(baseline.entries), baseline.directory
    by = f"baseline {baseline.path}"
    for file, part, finding in list(_findings(files)):
        entry = _entry(where, file, part, finding)
        if left[entry] > 0:
            left[entry] -= 1
            part.allow(Allowed(finding, "it was there before", by))
    gone = {name for name in sorted({e.file for e in baseline.entries}) if not (where / name).exists()}
    for file, part, finding in list(_findings(files)):
        entry = _entry(where, file, part, finding)
        old = next((e for name in sorted(gone) if left[e := entry._replace(file=name)] > 0), None)
        if old is not None:
            left[old] -= 1
            part.allow(Allowed(finding, f"it was there before, in {old.file}", by))
    checked = {_relative(where, file.path): file for file in files}
    for entry, count in sorted(left.items()):
        if count > 0 and entry.file in checked:
            kernel = f" in {entry.kernel}" if entry.kernel else ""
            checked[entry.file].outdated.append(
                f"the baseline has {entry.rule} {entry.verdict}{kernel}, which is gone: write it anew")
    for name in sorted(gone - set(checked)):
        if files:
            files[0].outdated.append(f"the baseline has findings of {name}, which is gone: write it anew")


def _findings(files: Iterable[FileResult]) -> Iterator[tuple[FileResult, _Part, Finding]]:
    return ((file, part, f) for file in files for part in file.parts for f in part.acceptable)


def _entry(where: Path, file: FileResult, part: _Part, finding: Finding) -> Entry:
    kernel = part.name if isinstance(part, FunctionResult) else ""
    line = " ".join(finding.source_line.split())
    return Entry(_relative(where, file.path), kernel, finding.rule, finding.verdict.value, line)


def _relative(where: Path, path: str) -> str:
    return os.path.relpath(os.path.abspath(path), where).replace(os.sep, "/")
