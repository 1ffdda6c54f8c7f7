"""Writes the generated parts of README.md, a sample report and the feature table: `python tests/readme.py`.

A requirement is shown to hold when a test marked with its id passed. The ids and what they mean stand in
`tests/requirements.tsv`; the generated parts stand between comments of README.md.
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
SAMPLE = "examples/broken/bound.py"


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


def sample_report() -> str:
    """What the command prints for the sample's first finding, as a fenced block."""
    command = [sys.executable, "-m", "pypto_verified", SAMPLE]
    shown = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False).stdout
    first = shown[shown.index(f"{SAMPLE}:", shown.index("\n")) :].partition("\n\n")[0]
    return f"```\n{first}\n```"


def part_of(readme: str, name: str) -> str:
    """The part of a README's text between the comments of that name. ValueError if they are missing."""
    begin = f"<!-- {name} -->"
    return readme[readme.index(begin) + len(begin) : readme.index(f"<!-- /{name} -->")].strip()


def with_part(readme: str, name: str, text: str) -> str:
    """The README's text with that part replaced."""
    begin = f"<!-- {name} -->"
    start, end = readme.index(begin) + len(begin), readme.index(f"<!-- /{name} -->")
    return f"{readme[:start]}\n{text}\n{readme[end:]}"


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
    text = with_part(readme.read_text(encoding="utf-8"), "report", sample_report())
    readme.write_text(with_part(text, "features", render(passing_now())), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
