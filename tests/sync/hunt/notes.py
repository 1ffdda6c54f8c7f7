"""Notes that call sync redundant: without it the program has to run as well, and no rule may refute it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice

from pypto_verified.pto.module import Module
from pypto_verified.report.model import Verdict
from pypto_verified.targets import target
from tests.sync.hunt.judge import judged, read, runs
from tests.sync.hunt.subject import FAMILIES, Subject
from verifiers import Options
from verifiers.race.remarks import sync_remarks

_LINES = re.compile(r"^redundant sync: .*\(lines? ([\d, and]+)\)")
MOST = 3
"""Notes of a text that are tried."""


def spare_lines(subject: Subject, module: Module) -> Iterator[tuple[int, ...]]:
    """Lines of the text whose sync ops a note calls redundant, note by note. Only of a text that is proved."""
    options = Options(subject.assumed, subject.strict, families=FAMILIES, explicit_sync=True)
    for note in sync_remarks(module, target(subject.chip), options):
        found = _LINES.match(note)
        if found is not None:
            yield tuple(map(int, re.findall(r"\d+", found[1])))


def wrong_note(subject: Subject, module: Module) -> str:
    """What becomes of the first text that fails without what a note calls redundant; '' if none does."""
    for gone in islice(spare_lines(subject, module), MOST):
        lines = subject.text.splitlines()
        rest = replace(subject, text="".join(f"{t}\n" for n, t in enumerate(lines, 1) if n not in gone))
        without = read(rest)
        seen = next(runs(rest, without), None)
        if seen is None and judged(rest, without).word == Verdict.REFUTED.value:
            return f"without the ops of lines {gone} it is refuted"
        if seen is not None:
            return f"without the ops of lines {gone}: {seen}"
    return ""
