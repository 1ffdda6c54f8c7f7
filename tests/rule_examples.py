"""Writes `verifiers/examples.txt`, the examples that `pypto-verify rules ID` shows: `python -m tests.rule_examples`.

They are the pairs of texts that the rules are tested with, without the constants that a text does not use.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from pypto_verified.pto.legality_rows import RULES as LEGAL
from pypto_verified.pto.typetext import parse_type, type_text
from tests.pto.legality_cases import CASES
from tests.pto.test_legality import fill, text_of
from tests.verifiers.test_every_rule import PAIRS
from verifiers.examples import FILE, Example, spell
from verifiers.legal import RESTATED

_TILE = re.compile(r"!pto\.tile_buf<[^<>]*>")
_CONSTANT = re.compile(r"\s*(%\w+) = arith\.constant ")


def examples() -> Iterator[Example]:
    """One for each rule."""
    for rule, pair in PAIRS.items():
        good, bad = _without_unused(pair.good, pair.bad)
        yield Example(rule, good, bad, pair.chip, pair.chip, outputs=pair.outputs, strict=pair.strict,
                      assume=pair.assume)
    known = {row.id for row in LEGAL} - set(RESTATED)
    for case in CASES:
        if case.rule in known:
            good, bad = _without_unused(text_of(case, True), text_of(case, False))
            targets = fill(case.target, True), fill(case.target, False)
            yield Example(f"LEGAL-{case.rule}", good, bad, *targets, case.level)


def _without_unused(good: str, bad: str) -> tuple[str, str]:
    """Both texts without the lines that define a constant that neither uses, and without blank lines; tile types as
    the assembler prints them."""
    texts = [[line.rstrip() for line in _TILE.sub(_short, text).splitlines() if line.strip()] for text in (good, bad)]
    while True:
        used = {word for text in texts for line in text for word in re.findall(r"%\w+", _body(line))}
        kept = [[line for line in text if _defined(line) in used | {""}] for text in texts]
        if kept == texts:
            return _indented(kept[0]), _indented(kept[1])
        texts = kept


def _short(found: re.Match[str]) -> str:
    return type_text(parse_type(found[0]), short=True)


def _indented(lines: list[str]) -> str:
    depth, made = 0, []
    for line in (x.strip() for x in lines):
        depth -= line.startswith("}")
        made.append("  " * depth + line)
        depth += line.endswith("{")
    return "\n".join(made) + "\n"


def _defined(line: str) -> str:
    found = _CONSTANT.match(line)
    return found[1] if found else ""


def _body(line: str) -> str:
    return line[len(_defined(line)):] if _defined(line) == "" else line.split("=", 1)[1]


def text() -> str:
    return spell(examples())


if __name__ == "__main__":
    FILE.write_text(text(), encoding="utf-8")
