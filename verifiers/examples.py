"""The example of each rule: a kernel that it proves and one that it refutes, which differ in few places.

They stand in `examples.txt`, each under a head `== RULE-ID target=a2a3 level=level3 outputs=q assume=M > 3`; where the
two differ it says `«passing|violating»`, in the head too. The file is written by `python -m tests.rule_examples`, from
the pairs that test the rules.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import SequenceMatcher
from functools import cache
from pathlib import Path

from pypto_verified.records import dataclass

FILE = Path(__file__).with_name("examples.txt")

_WORDS = re.compile(r"[\w.%@?-]+|.|\n")
_HOLE = re.compile(r"«([^»|]*)\|([^»]*)»")


@dataclass(frozen=True, slots=True)
class Example:
    """Two `.pto` texts, and the target each is for. `level`: of the assembler, '' where it does not matter; `outputs`:
    arguments that the author declares as written only, which a text can't say; `strict`: for rules that refute
    something only with `--strict`; `assume`: what both rely on."""

    rule: str
    passing: str
    violating: str
    target: str
    target_violating: str
    level: str = ""
    outputs: tuple[str, ...] = ()
    strict: bool = False
    assume: tuple[str, ...] = ()

    def changed(self) -> list[tuple[int, list[str], list[str]]]:
        """(line number in the passing kernel, its lines, the violating lines) where the two differ."""
        good, bad = self.passing.splitlines(), self.violating.splitlines()
        codes = SequenceMatcher(None, good, bad, autojunk=False).get_opcodes()
        return [(i + 1, good[i:j], bad[k:m]) for tag, i, j, k, m in codes if tag != "equal"]


@cache
def all_examples() -> dict[str, Example]:
    """Every example, by rule."""
    return parse(FILE.read_text(encoding="utf-8"))


def parse(text: str) -> dict[str, Example]:
    """The examples of a text in the form of `examples.txt`."""
    found: dict[str, Example] = {}
    for part in re.split(r"^== ", text, flags=re.MULTILINE)[1:]:
        head, body = part.split("\n", 1)
        head, *assumed = head.split(" assume=")
        rule, *settings = head.split()
        given = dict(s.split("=", 1) for s in settings)
        outputs = tuple(o for o in given.get("outputs", "").split(",") if o)
        found[rule] = Example(
            rule, _fill(body, 1), _fill(body, 2), _fill(given["target"], 1), _fill(given["target"], 2),
            given.get("level", ""), outputs, given.get("strict") == "yes", tuple(assumed))
    return found


def _fill(text: str, which: int) -> str:
    return _HOLE.sub(lambda m: m[which], text)


def spell(examples: Iterable[Example]) -> str:
    """The text that `parse` reads."""
    return "".join(_spell(e) for e in sorted(examples, key=lambda e: e.rule))


def _spell(e: Example) -> str:
    head = [f"== {e.rule}", f"target={_marked(e.target, e.target_violating)}"]
    head += [f"level={e.level}"] if e.level else []
    head += [f"outputs={','.join(e.outputs)}"] if e.outputs else []
    head += ["strict=yes"] if e.strict else []
    head += [f"assume={text}" for text in e.assume]
    good, bad = e.passing.splitlines(), e.violating.splitlines()
    body = [_marked(a, b) for a, b in zip(good, bad, strict=True)] if len(good) == len(bad) else [
        _marked(e.passing.rstrip("\n"), e.violating.rstrip("\n"))]
    return "\n".join((" ".join(head), *body)) + "\n"


def _marked(a: str, b: str) -> str:
    """One text for both: the words between their common beginning and end are marked."""
    if a == b:
        return a
    ours, theirs = _WORDS.findall(a), _WORDS.findall(b)
    least = min(len(ours), len(theirs))
    first = next((i for i in range(least) if ours[i] != theirs[i]), least)
    last = next((i for i in range(least - first) if ours[-1 - i] != theirs[-1 - i]), least - first)
    good, bad = ("".join(words[first:len(words) - last]) for words in (ours, theirs))
    return f"{''.join(ours[:first])}«{good}|{bad}»{''.join(ours[len(ours) - last:])}"
