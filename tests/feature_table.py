"""Writes the README's feature table from a test run: `python tests/feature_table.py`.

A requirement is shown to hold when a test marked with its id passed. The ids and what they mean stand in
`tests/requirements.tsv`, the table between two comments of README.md.
"""

from __future__ import annotations

import ast
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BEGIN, END = "<!-- features -->", "<!-- /features -->"


def requirements() -> dict[str, str]:
    """Requirement id -> what must hold, in file order."""
    lines = (ROOT / "tests" / "requirements.tsv").read_text(encoding="utf-8").splitlines()
    return dict(line.split("\t", 1) for line in lines if line)


def render(passing: Mapping[str, Sequence[str]]) -> str:
    """The table's text: one row an id, with the test files that show it (relative to `tests/`).

    KeyError for an id that `requirements.tsv` does not have.
    """
    known = requirements()
    unknown = sorted(set(passing) - set(known))
    if unknown:
        raise KeyError(f"unknown requirement ids in tests: {', '.join(unknown)}")
    head = f"{len(passing)} of {len(known)} requirements have passing tests."
    rows = [head, "", "| id | what holds | shown by |", "| --- | --- | --- |"]
    for requirement, text in known.items():
        files = ", ".join(f"`{name.removeprefix('tests/')}`" for name in sorted(passing.get(requirement, ())))
        rows.append(f"| {requirement} | {text} | {files or 'not yet'} |")
    return "\n".join(rows)


def table_of(readme: str) -> str:
    """The table that a README's text has. ValueError if its comments are missing."""
    start, end = readme.index(BEGIN) + len(BEGIN), readme.index(END)
    return readme[start:end].strip()


def with_table(readme: str, table: str) -> str:
    """The README's text with this table."""
    start, end = readme.index(BEGIN) + len(BEGIN), readme.index(END)
    return f"{readme[:start]}\n{table}\n{readme[end:]}"


def marked(tests: Path = ROOT / "tests") -> dict[str, list[str]]:
    """Requirement id -> test files with a `requirement` mark of it, read from the source."""
    found: dict[str, set[str]] = {}
    for path in sorted(tests.rglob("test_*.py")):
        for requirement in _marks(ast.parse(path.read_text(encoding="utf-8"))):
            found.setdefault(requirement, set()).add(path.relative_to(tests.parent).as_posix())
    return {requirement: sorted(files) for requirement, files in sorted(found.items())}


def _marks(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "pytest.mark.requirement":
            for argument in node.args:
                if isinstance(argument, ast.Constant) and isinstance(argument.value, str):
                    yield argument.value


def passing_now() -> dict[str, list[str]]:
    """Requirement id -> test files, of the tests that pass when the suite is run."""
    with tempfile.TemporaryDirectory() as directory:
        out = Path(directory) / "requirements.json"
        command = [sys.executable, "-m", "pytest", "-n", "2", "--requirements-out", str(out)]
        subprocess.run(command, cwd=ROOT, check=False)
        found: dict[str, list[str]] = json.loads(out.read_text(encoding="utf-8"))
    return found


def main() -> int:
    readme = ROOT / "README.md"
    text = readme.read_text(encoding="utf-8")
    readme.write_text(with_table(text, render(passing_now())), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
