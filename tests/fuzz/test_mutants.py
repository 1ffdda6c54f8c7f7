"""Mechanical mutants: what is changed, what is left alone, which tests are asked."""

from __future__ import annotations

import ast
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.mutants import ROOMS, Bench, Result, drawn, main, summary
from benchmarks.mutation import Mutant, applied, mutants
from benchmarks.reach import Imports
from benchmarks.survivors import EQUIVALENT, Equivalent, why_it_survives
from benchmarks.touched import statement

ROOT = Path(__file__).parents[2]


def _changes(source: str) -> dict[str, str]:
    """Operator -> the changed text, for a source with at most one candidate an operator."""
    found = mutants("a.py", source)
    assert len({m.kind for m in found}) == len(found)
    return {m.kind: applied(m, source) for m in found}


@pytest.mark.parametrize(("source", "kind", "changed"), [
    ("x = a < b", "flip a comparison", "x = (a <= b)"),
    ("x = a in b", "flip a comparison", "x = (a not in b)"),
    ("x = a and b", "and for or", "x = (a or b)"),
    ("x = not a", "drop a not", "x = (a)"),
    ("x = a + b", "another operator", "x = (a - b)"),
    ("x = a << b", "another operator", "x = (a >> b)"),
    ("x = y[7]", "off by one", "x = y[8]"),
    ("x = True", "turn a flag", "x = (False)"),
    ("x = a if c else b", "swap the arms", "x = (b if c else a)"),
    ("x = min(a)", "another function", "x = (max(a))"),
    ("x = f(a, b)", "swap arguments", "x = (f(b, a))"),
    ("if c:\n    x = a", "turn a condition", "if (not c):\n    x = a"),
    ("x += y", "drop a statement", "pass"),
    ("x.append(y)", "drop a statement", "pass"),
    ("ä = 'ö' + y if 'ü' else a < b", "flip a comparison", "ä = 'ö' + y if 'ü' else (a <= b)"),
])
def test_each_operator_changes_one_thing(source: str, kind: str, changed: str) -> None:
    assert _changes(source)[kind] == changed


@pytest.mark.parametrize("source", [
    '"""Text of 1 module."""', "x: Literal[1]", "@d(True)\ndef f() -> Literal[1]: ...", "raise E(1 + 2)",
    "assert a < b", 'x = f"{1 + 2}"', "if TYPE_CHECKING:\n    x = 1", "f(strict=True)", "x = isinstance(a, b)",
    "x = 'a' + b",
])
def test_what_says_nothing_about_meaning_is_left_alone(source: str) -> None:
    assert mutants("a.py", source) == [m for m in mutants("a.py", source) if m.kind == "drop a statement"]


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A small project with a file in each room, and tests of the first two."""
    for number, room in enumerate(ROOMS):
        (tmp_path / room).mkdir(parents=True)
        lines = [f"x{k} = a{k} < {k} + {number} if not c else min(b, f(c, d))" for k in range(6)]
        (tmp_path / room / "part.py").write_text("\n".join(lines), encoding="utf-8")
    (tmp_path / "tests").mkdir()
    (tmp_path / "pyproject.toml").write_text(
        '[tool.pytest.ini_options]\naddopts = "--import-mode=importlib"\npythonpath = ["."]\n')
    (tmp_path / "pypto_verified" / "passes" / "part.py").write_text(
        "def f():\n    from pypto_verified.index import part", encoding="utf-8")
    for room in ("index", "passes"):
        (tmp_path / "tests" / f"test_{room}.py").write_text(f"import pypto_verified.{room}.part", encoding="utf-8")
    return tmp_path


def test_draws_are_repeatable_spread_over_the_rooms_and_parse(tree: Path) -> None:
    (tree / "pypto_verified" / "passes" / "part.py").write_text("x = a < b\ny = not c\nz = f(a, b)\nw = 1 + d")
    picked = drawn(tree, 3, 24)
    assert picked == drawn(tree, 3, 24)
    assert len(set(picked)) == 24
    assert [sum(m.path.startswith(f"{room}/") for m in picked) for room in ROOMS] == [4] * len(ROOMS)
    assert len({m.kind for m in picked}) > 5
    for m in picked:
        source = (tree / m.path).read_text(encoding="utf-8")
        assert applied(m, source) != source
        ast.parse(applied(m, source))


def test_every_candidate_of_a_file_parses_where_it_stands() -> None:
    source = (ROOT / "pypto_verified" / "index" / "walk.py").read_text(encoding="utf-8")
    for m in mutants("walk.py", source):
        ast.parse(applied(m, source))


def test_the_tests_that_reach_a_module_are_those_that_import_it(tree: Path) -> None:
    imports = Imports(tree)
    assert imports.tests("pypto_verified/index/part.py") == {"tests/test_index.py": 1, "tests/test_passes.py": 2}
    assert imports.tests("pypto_verified/passes/part.py") == {"tests/test_passes.py": 1}


def test_a_mutant_is_killed_by_the_nearest_test_that_fails_and_taken_back(tree: Path) -> None:
    (tree / "pypto_verified" / "index" / "part.py").write_text("def less(a, b):\n    return a < b\n")
    test = "from pypto_verified.index.part import less\n\n\ndef test_less():\n    assert not less(1, 1)\n"
    (tree / "tests" / "test_index.py").write_text(test)
    bench = Bench(tree, tree / "out", 1.0)
    (mutant,) = mutants("pypto_verified/index/part.py", "def less(a, b):\n    return a < b\n")
    result = bench.tried(mutant)
    assert result.killer == "tests/test_index.py::test_less"
    assert "a < b" in (bench.tree / mutant.path).read_text()


def test_the_tests_of_a_line_are_those_that_run_it_or_its_statement(tree: Path) -> None:
    source = "def less(a, b):\n    return (a\n            < b)\n\n\ndef more(a, b):\n    return a > b\n"
    (tree / "pypto_verified" / "index" / "part.py").write_text(source)
    test = ("from pypto_verified.index.part import less, more\n\n\ndef test_less():\n    assert less(0, 1)\n\n\n"
            "def test_more():\n    assert more(1, 0)\n")
    (tree / "tests" / "package").mkdir()
    (tree / "tests" / "package" / "__init__.py").write_text("")
    files = ["tests/package/test_part.py", "tests/test_index.py"]
    for file in files:
        (tree / file).write_text(test)
    touched = Bench(tree, tree / "out", 1.0).touched
    path = "pypto_verified/index/part.py"
    assert touched.tests(path, 2) == touched.tests(path, 3) == [f"{file}::test_less" for file in files]
    assert touched.tests(path, 7) == [f"{file}::test_more" for file in files]
    assert touched.tests("pypto_verified/passes/part.py", 1) == []


@pytest.mark.parametrize(("line", "lines"), [(1, [1, 2]), (2, [1, 2]), (3, [3]), (4, [4, 5]), (5, [4, 5])])
def test_a_statement_with_a_body_ends_where_that_begins(line: int, lines: list[int], tmp_path: Path) -> None:
    file = tmp_path / "a.py"
    file.write_text("if (a and\n        b):\n    c = 1\n    d = (2,\n         3)\n")
    assert list(statement(file, line)) == lines


def test_the_summary_counts_by_killer_and_names_survivors(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def result(room: str, killer: str) -> Result:
        return Result(Mutant(f"{room}/a.py", 3, "off by one", "1", "2", 0, 1), killer, 1.0)

    text = summary([result("verifiers", "tests/a.py::t"), result("verifiers", "campaign: meaning: another result"),
                    result("pypto_verified/index", "")])
    assert "2 of 3 mutants killed (67 %): 1 by tests, 1 by the campaign; 0 change no meaning" in text
    assert "survives: pypto_verified/index/a.py:3: off by one: 1 -> 2 (no test notices)" in text
    assert main(["-o", str(tmp_path), "--summary"]) == 0
    assert capsys.readouterr().out == "no mutant is done\n"


@pytest.mark.parametrize("known", EQUIVALENT, ids=[f"{Path(e.path).stem} {e.old} -> {e.new}" for e in EQUIVALENT])
def test_what_is_said_to_survive_is_a_mutant_of_this_tree(known: Equivalent) -> None:
    """A reason counts for a line as it reads; where that changes, the reason is to be thought over."""
    source = (ROOT / known.path).read_text(encoding="utf-8")
    lines = [line.strip() for line in source.splitlines()]
    found = {m for m in mutants(known.path, source) if lines[m.line - 1] == known.line
             and (m.old, m.new) == (known.old, known.new)}
    assert known.why and {why_it_survives(ROOT, m) for m in found} == {known.why}
    assert not {why_it_survives(ROOT, replace(m, new="other")) for m in found} - {""}


@pytest.mark.nightly
def test_95_percent_of_120_mutants_are_killed(tmp_path: Path) -> None:
    assert main(["-o", str(tmp_path), "--count", "120"]) == 0
