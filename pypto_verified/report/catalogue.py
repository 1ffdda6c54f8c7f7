"""The rules as text and as data: one line each, or one rule in full."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import Protocol, TypedDict

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
    def unseen(self) -> str: ...
    @property
    def requires(self) -> tuple[str, ...]: ...
    @property
    def assumptions(self) -> tuple[str, ...]: ...


class ExampleText(Protocol):
    """Two kernels that differ in the lines `changed`: (number, passing lines, violating lines)."""

    @property
    def passing(self) -> str: ...
    @property
    def violating(self) -> str: ...
    @property
    def target(self) -> str: ...
    @property
    def target_violating(self) -> str: ...
    @property
    def strict(self) -> bool: ...
    @property
    def assume(self) -> tuple[str, ...]: ...
    def changed(self) -> list[tuple[int, list[str], list[str]]]: ...


class CardText(RuleText, Protocol):
    """A rule in full: its formula, its example, what it tells about the violating kernel and how to fix that."""

    @property
    def formula(self) -> str: ...
    @property
    def example(self) -> ExampleText: ...
    @property
    def told(self) -> str: ...
    @property
    def fix(self) -> str: ...


class RuleJson(TypedDict):
    """One rule of the table."""

    id: str
    kind: str
    claim: str
    source: str
    observable: bool
    requirements: list[str]
    assumptions: list[str]


class CardJson(RuleJson):
    """One rule in full. `theorems` are ids of `pypto-verify prove`."""

    formula: str
    theorems: list[str]
    target: str
    passing: str
    violating: str
    told: str
    fix: str


def catalogue(rules: Sequence[RuleText]) -> str:
    """One line a rule: id, kind, claim."""
    width = max((len(r.id) for r in rules), default=0)
    return "".join(f"{r.id:<{width}}  {r.kind.value:<8}  {r.claim}\n" for r in sorted(rules, key=lambda r: r.id))


def as_data(rule: RuleText) -> RuleJson:
    return {
        "id": rule.id, "kind": rule.kind.value, "claim": rule.claim, "source": rule.source,
        "observable": rule.observable, "requirements": list(rule.requires), "assumptions": list(rule.assumptions)}


def card_as_data(card: CardText, theorems: Sequence[str]) -> CardJson:
    return {
        **as_data(card), "formula": card.formula, "theorems": list(theorems), "target": card.example.target,
        "passing": card.example.passing, "violating": card.example.violating, "told": card.told, "fix": card.fix}


def explain(card: CardText, assumptions: Sequence[tuple[str, str]], theorems: Sequence[str]) -> str:
    """All that there is to know about a rule; `assumptions` are (id, text) of those that it rests on."""
    rows = [
        ("kind", _KIND[card.kind]),
        ("claim", card.claim),
        ("formula", card.formula),
        ("source", card.source),
        ("replay", "a simulator run shows a failure" if card.observable else f"none: {card.unseen or _IN_TEXT}"),
        ("requirements", ", ".join(card.requires)),
        *(("assumes", f"{name}: {text}") for name, text in assumptions),
        ("theorems", ", ".join(theorems)),
    ]
    lines = [card.id, *(_row(name, text) for name, text in rows if text)]
    lines += ["", f"  passes ({card.example.target}):", "", *(f"    {x}" for x in card.example.passing.splitlines())]
    how = ", --strict" if card.example.strict else ""
    how += "".join(f', --assume "{text}"' for text in card.example.assume)
    lines += ["", f"  fails ({card.example.target_violating}{how}):", ""]
    for number, good, bad in card.example.changed():
        lines += [f"    {number:>3} - {line.strip()}" for line in good]
        lines += [f"    {number:>3} + {line.strip()}" for line in bad]
    return "\n".join([*lines, "", _row("tells", card.told), *([_row("fix", card.fix)] if card.fix else [])]) + "\n"


_IN_TEXT = "a failure shows only in the text"

_KIND = {
    Kind.LEGALITY: "legality: the assembler rejects what breaks it",
    Kind.SAFETY: "safety: what breaks it goes wrong on the device",
}


def _row(name: str, text: str) -> str:
    return textwrap.fill(text, 110, initial_indent=f"  {name + ':':<14}", subsequent_indent=" " * 16)
