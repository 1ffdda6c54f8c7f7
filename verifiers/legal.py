"""LEGAL: the assembler's own conditions, one obligation for each row of `pto/legality_*.py` at each op it judges.

Rows that a rule of ours states for symbolic values too are left to that rule, so that one defect is one finding.
"""

from __future__ import annotations

from collections.abc import Iterator

from pypto_verified.pto.legality import Check, Legal, checks
from pypto_verified.pto.legality_rows import RULES
from pypto_verified.pto.module import Func, Module
from pypto_verified.records import dataclass
from pypto_verified.report.model import Kind

RESTATED = {
    "ALLOC-BOX-ROWS": "BOX-ROWS", "ALLOC-BOX-COLS": "BOX-COLS", "ALLOC-LINE": "BOX-LINE",
    "SUB-BOX": "VIEW-BOX", "SUB-CONFIG": "VIEW-TYPE", "SUB-OFFSET": "VIEW-LOWER", "MULTI-SLOT": "VIEW-SLOT",
    "RESHAPE-SPACE": "VIEW-RESHAPE", "RESHAPE-BYTES": "VIEW-RESHAPE", "RESHAPE-BOX": "VIEW-RESHAPE",
    "BITCAST-SHAPE": "VIEW-RESHAPE", "BITCAST-BYTES": "VIEW-RESHAPE",
    "ALLOC-ADDR-UNIT": "PLAN-ALIGN", "ALLOC-PLANNED": "PLAN-LEVEL", "ALLOC-UNPLANNED": "PLAN-LEVEL",
}
"""Row of the legality table -> the rule that covers it."""


def legality(module: Module, target: str, level: str) -> dict[Func, list[Check]]:
    """The verdicts of all rows that are not restated, by function, in text order."""
    found: dict[Func, list[Check]] = {f: [] for f in module.funcs}
    for check in _own(checks(module, target, level)):
        found[check.func].append(check)
    return found


@dataclass(frozen=True, slots=True)
class LegalityRule:
    """A row of the legality table as `pypto-verify rules` shows it."""

    row: Legal
    kind: Kind = Kind.LEGALITY
    observable: bool = False
    requires: tuple[str, ...] = ()
    assumptions: tuple[str, ...] = ()
    unseen: str = "what the assembler rejects never runs"

    @property
    def id(self) -> str:
        return f"LEGAL-{self.row.id}"

    @property
    def claim(self) -> str:
        where = [t for t in ("a2a3", "a5") if self.row.targets == (t,)]
        levels = [] if len(self.row.levels) > 1 else list(self.row.levels)
        limits = f" ({', '.join(where + levels)})" if where or levels else ""
        return f"{', '.join(self.row.ops.split())}: {self.row.claim}{limits}"

    @property
    def source(self) -> str:
        return self.row.source


def legality_rules() -> tuple[LegalityRule, ...]:
    """All rows that are judged here, for a catalogue."""
    return tuple(LegalityRule(row) for row in RULES if row.id not in RESTATED)


def _own(all_checks: Iterator[Check]) -> Iterator[Check]:
    return (c for c in all_checks if c.rule.id not in RESTATED)
