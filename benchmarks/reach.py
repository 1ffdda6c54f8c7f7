"""Which tests reach a module: the import graph of the project, read from the sources."""

from __future__ import annotations

import ast
from collections import deque
from functools import cache
from pathlib import Path

PACKAGES = ("pypto_verified", "verifiers", "proofs", "tests", "benchmarks")


class Imports:
    """The import graph of a tree. Imports inside functions count; a package's `__init__` is imported with its parts."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.files = {
            _module(f.relative_to(root)): f for package in PACKAGES for f in sorted((root / package).rglob("*.py"))
        }
        self.direct = {name: self._imports(name) for name in self.files}

    def _imports(self, name: str) -> set[str]:
        found: set[str] = set()
        for node in ast.walk(ast.parse(self.files[name].read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                found |= {a.name for a in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                found |= {node.module} | {f"{node.module}.{a.name}" for a in node.names}
        packages = {m.rpartition(".")[0] for m in found}
        return {m for m in found | packages if m in self.files and m != name}

    def distances(self, start: str) -> dict[str, int]:
        """Module -> imports between it and `start`, for all that `start` reaches."""
        steps, ahead = {start: 0}, deque([start])
        while ahead:
            at = ahead.popleft()
            for following in self.direct[at]:
                if following not in steps:
                    steps[following] = steps[at] + 1
                    ahead.append(following)
        return steps

    @cache  # noqa: B019  # one graph a run
    def tests(self, path: str) -> dict[str, int]:
        """Test file -> its distance to the module of `path`, for the tests that reach it."""
        module = _module(Path(path))
        found = {}
        for name, file in self.files.items():
            if file.name.startswith("test_") and (away := self.distances(name).get(module)) is not None:
                found[file.relative_to(self.root).as_posix()] = away
        return found


def _module(path: Path) -> str:
    parts = path.with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
