"""The rules as text: one line each, or one rule in full."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import Protocol

from pypto_verified.report.model import Kind


class RuleText(Protocol):
    """What a rule says about itself."""

    @property
    def id(self) -> str: ...
    @property
    def kind(self) -> Kind: ...
    @property
    def claim(self) -> str: ...
    @property
    def source(self) -> str: ...
    @property
    def observable(self) -> bool: ...
    @property
    def requires(self) -> tuple[str, ...]: ...
    @property
    def assumptions(self) -> tuple[str, ...]: ...
    @property
    def unseen(self) -> str: ...


def catalogue(rules: Sequence[RuleText]) -> str:
    """One line a rule: id, kind, claim."""
    width = max((len(r.id) for r in rules), default=0)
    return "".join(f"{r.id:<{width}}  {r.kind.value:<8}  {r.claim}\n" for r in sorted(rules, key=lambda r: r.id))


def explain(rule: RuleText) -> str:
    """All that a rule says about itself."""
    rows = [
        ("kind", _KIND[rule.kind]),
        ("claim", rule.claim),
        ("source", rule.source),
        ("replay", "a simulator run shows a failure" if rule.observable else f"none: {rule.unseen or _IN_TEXT}"),
        ("requirements", ", ".join(rule.requires)),
        ("assumptions", ", ".join(rule.assumptions)),
    ]
    lines = [rule.id, *(_row(name, text) for name, text in rows if text)]
    return "\n".join(lines) + "\n"


_IN_TEXT = "a failure shows only in the text"
_KIND = {
    Kind.LEGALITY: "legality: the assembler rejects what breaks it",
    Kind.SAFETY: "safety: what breaks it goes wrong on the device",
}


def _row(name: str, text: str) -> str:
    return textwrap.fill(text, 110, initial_indent=f"  {name + ':':<14}", subsequent_indent=" " * 16)
