"""The smallest text that still shows a failure, by leaving out lines and blocks as long as it stays."""

from __future__ import annotations

from collections.abc import Callable, Iterator

Fails = Callable[[str], bool]
"""Whether a text, which may not even read, fails as the first one did."""


def shrunk(text: str, fails: Fails, tries: int = 400) -> str:
    """`fails` is asked at most `tries` times."""
    lines, progress = text.splitlines(), True
    while progress and tries > 0:
        progress = False
        for kept in _smaller(lines):
            if tries <= 0:
                break
            tries -= 1
            if fails("\n".join(kept) + "\n"):
                lines, progress = kept, True
                break
    return "\n".join(_without_unused(lines, fails)) + "\n"


def _smaller(lines: list[str]) -> Iterator[list[str]]:
    """Texts without a block, without the two lines around one, without a line."""
    pairs = _blocks(lines)
    for first, last in pairs:
        yield lines[:first] + lines[last + 1:]
    for first, last in pairs:
        if lines[first].lstrip().startswith(("scf.for", "scf.if")) and not any(
                line.strip() == "} else {" for line in lines[first:last]):
            yield lines[:first] + lines[first + 1:last] + lines[last + 1:]
    for at, line in enumerate(lines):
        if not line.rstrip().endswith("{") and line.strip() not in ("}", "return") and "=" not in line.split("pto.")[0]:
            yield lines[:at] + lines[at + 1:]


def _blocks(lines: list[str]) -> list[tuple[int, int]]:
    """First and last lines of loops and branches, the largest first."""
    found, stack = [], list[int]()
    for at, line in enumerate(lines):
        text = line.strip()
        if text.startswith("}") and stack and text != "} else {" and text != "} do {":
            first = stack.pop()
            if "scf." in lines[first]:
                found.append((first, at))
        if text.endswith("{") and text not in ("} else {", "} do {"):
            stack.append(at)
    return sorted(found, key=lambda pair: pair[0] - pair[1])


def _without_unused(lines: list[str], fails: Fails) -> list[str]:
    """Values that nobody uses left out, all at once."""
    while True:
        text = "\n".join(lines)
        kept = [line for line in lines if not (
            line.strip().startswith("%") and not line.endswith("{") and "," not in line.split(" = ")[0]
            and _uses(text, line.strip().split(" ")[0]) == 1)]
        if len(kept) == len(lines) or not fails("\n".join(kept) + "\n"):
            return lines
        lines = kept


def _uses(text: str, name: str) -> int:
    return sum(text.count(f"{name}{after}") for after in (" ", ",", ":", ")", "]", "[", "\n"))
