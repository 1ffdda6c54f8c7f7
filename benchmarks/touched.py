"""Which tests run a line: what coverage.py has recorded of a run of all tests."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from coverage import CoverageData

_SETTINGS = """[run]
data_file = {data}
dynamic_context = test_function
source = {sources}
"""


def recorded(folder: Path, sources: Sequence[str]) -> list[str]:
    """The arguments of Python that run a module, named after them, and record its lines in `folder`."""
    settings = folder / "coveragerc"
    settings.write_text(
        _SETTINGS.format(data=folder / "lines.sqlite", sources="\n    ".join(sources)), encoding="utf-8")
    return ["-m", "coverage", "run", f"--rcfile={settings}"]


class Touched:
    """The recorded lines of a run in `tree`; nothing is known if there is no record in `folder`."""

    def __init__(self, folder: Path, tree: Path) -> None:
        self.tree = tree
        self.data = folder / "lines.sqlite"

    @cache  # noqa: B019  # one record a run
    def _by_line(self, path: str) -> dict[int, set[str]]:
        if not self.data.exists():
            return {}
        data = CoverageData(str(self.data))
        data.read()
        found = data.contexts_by_lineno(str(self.tree / path))
        return {line: {c for c in contexts if c} for line, contexts in found.items()}

    def tests(self, path: str, line: int) -> list[str]:
        """The test functions, `tests/room/test_part.py::test_name`, that run the line or, where no line of its own is
        recorded, some line of its statement."""
        by_line = self._by_line(path)
        contexts = by_line.get(line) or set[str]().union(
            *(by_line.get(n, set()) for n in statement(self.tree / path, line)))
        return sorted(filter(None, map(self._id, contexts)))

    def _id(self, context: str) -> str:
        module, _, name = context.rpartition(".")
        file = Path(*module.split(".")).with_suffix(".py")
        if not (self.tree / file).exists():
            file = Path("tests") / file  # a room that is a package is a module of its own for pytest
        return f"{file.as_posix()}::{name}" if (self.tree / file).exists() else ""


def statement(file: Path, line: int) -> range:
    """The lines of the innermost statement at a line; of one with a body, those before it."""
    found = range(line, line + 1)
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.stmt) and node.end_lineno is not None and node.lineno <= line <= node.end_lineno:
            body = getattr(node, "body", None)
            last = body[0].lineno - 1 if body else node.end_lineno
            if line <= max(last, node.lineno):
                found = range(node.lineno, max(last, node.lineno) + 1)
    return found
