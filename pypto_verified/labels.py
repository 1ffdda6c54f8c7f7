"""Names that tell apart what has one name in the source."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable


def labels(names: Iterable[str]) -> list[str]:
    """The names in order, a repeated one numbered: copy, copy#2, copy#3. No name in a source has a `#`."""
    seen: Counter[str] = Counter()
    found: list[str] = []
    for name in names:
        seen[name] += 1
        found.append(name if seen[name] == 1 else f"{name}#{seen[name]}")
    return found
