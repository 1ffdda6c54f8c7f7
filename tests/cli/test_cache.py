"""Results of unchanged modules come from the cache; anything that could change a verdict makes it check anew."""

from __future__ import annotations

import json
import os
import time
from dataclasses import fields
from hashlib import sha256
from pathlib import Path

import pytest

from pypto_verified.cache import Cache
from pypto_verified.check import CheckOptions, check_file, check_paths, paths
from pypto_verified.cli import main
from pypto_verified.report.model import FileResult, Finding, FunctionResult, Kind, Obligation, Verdict

MODULE = """\
module attributes {pto.target_arch = "a2a3"} {
  func.func @exp() attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    %c0 = arith.constant 0 : i64
    %x = pto.alloc_tile addr = %c0 : !pto.tile_buf<vec, 16x64xf32>
    pto.texp ins(%x : !pto.tile_buf<vec, 16x64xf32>) outs(%x : !pto.tile_buf<vec, 16x64xf32>)
    return
  }
}
"""


@pytest.fixture
def module(tmp_path: Path) -> Path:
    path = tmp_path / "exp.pto"
    path.write_text(MODULE)
    return path


@pytest.fixture
def checks(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The files that were really checked."""
    done: list[str] = []

    def counted(path: str, options: CheckOptions) -> FileResult:
        done.append(path)
        return check_file(path, options)

    monkeypatch.setattr(paths, "check_file", counted)
    return done


def test_an_unchanged_module_is_checked_once(module: Path, tmp_path: Path, checks: list[str]) -> None:
    options = CheckOptions(timeout=0, cache=tmp_path / "cache")
    first = check_paths([str(module)], options)
    again = check_paths([str(module)], options)
    assert checks == [str(module)]
    assert again.files == first.files
    assert first.files[0].functions[0].findings, "a module without findings would show less"


def test_content_options_and_name_count(module: Path, tmp_path: Path, checks: list[str]) -> None:
    options = CheckOptions(timeout=0, cache=tmp_path / "cache")
    check_paths([str(module)], options)
    check_paths([str(module)], CheckOptions(timeout=0, cache=tmp_path / "cache", target="a5"))
    check_paths([str(module)], CheckOptions(timeout=0, cache=tmp_path / "cache", assume=("M > 0",)))
    module.write_text(MODULE.replace("16x64", "16x32"))
    check_paths([str(module)], options)
    module.rename(module.with_name("other.pto"))
    check_paths([str(module.with_name("other.pto"))], options)
    assert len(checks) == 5


def test_jobs_and_time_limit_do_not_count(module: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    check_paths([str(module)], CheckOptions(timeout=0, cache=cache))
    check_paths([str(module)], CheckOptions(timeout=9, jobs=2, cache=cache))
    assert len(list(cache.rglob("*.json"))) == 1


@pytest.mark.parametrize("damage", ["", "{", "[]", '{"path": 1}', "null"])
def test_a_damaged_entry_counts_as_absent(module: Path, tmp_path: Path, checks: list[str], damage: str) -> None:
    options = CheckOptions(timeout=0, cache=tmp_path / "cache")
    first = check_paths([str(module)], options)
    (entry,) = (tmp_path / "cache").rglob("*.json")
    entry.write_text(damage)
    again = check_paths([str(module)], options)
    assert again.files[0].functions[0].findings == first.files[0].functions[0].findings
    assert len(checks) == 2
    assert json.loads(entry.read_text())["path"] == str(module)


@pytest.mark.parametrize("rule", ["TIMEOUT", "CRASH", "INTERNAL"])
def test_what_may_pass_is_not_kept(module: Path, tmp_path: Path, rule: str) -> None:
    cache = Cache(tmp_path / "cache", "")
    digest = sha256(MODULE.encode()).hexdigest()
    cache.put(FileResult(str(module), digest, findings=[Finding(rule, Kind.LEGALITY, Verdict.UNKNOWN, "x")]))
    assert cache.get(str(module)) is None
    cache.put(FileResult(str(module), digest, findings=[Finding("PARSE", Kind.LEGALITY, Verdict.ERROR, "x")]))
    assert cache.get(str(module)) is not None


def test_a_result_of_other_content_is_not_kept(module: Path, tmp_path: Path) -> None:
    cache = Cache(tmp_path / "cache", "")
    cache.put(FileResult(str(module), "0" * 64))
    assert cache.get(str(module)) is None


def test_every_field_of_a_result_is_kept(module: Path, tmp_path: Path) -> None:
    finding = Finding(
        "R", Kind.SAFETY, Verdict.REFUTED, "m", "f", 1, 2, (("M", 3),), "M > 3", "confirmed", "do this", "x = 1",
        "1 pto.tadd", 7)
    obligation = Obligation("R", Kind.SAFETY, Verdict.REFUTED, "1 pto.tadd", "z3", 1.5, ("A",), 9, "agrees")
    function = FunctionResult("f", [obligation], [finding], needs=("M > 3",))
    full = FileResult(str(module), sha256(MODULE.encode()).hexdigest(), "a5", [function], [finding], ["note"])
    for part in (full, function, obligation, finding):
        for field in fields(part):
            if field.name in ("allowed", "outdated", "perhaps"):
                continue  # what is accepted is settled anew in each run, and what a run might show is shown by now
            assert getattr(part, field.name) not in ("", 0, (), []), f"{field.name} of this test's result is empty"
    cache = Cache(tmp_path / "cache", "")
    cache.put(full)
    assert cache.get(str(module)) == full


def test_kernels_are_not_kept(tmp_path: Path) -> None:
    path = tmp_path / "k.py"
    path.write_text("import pypto.language as pl\n")
    check_paths([str(path)], CheckOptions(timeout=0, cache=tmp_path / "cache"))
    assert not list((tmp_path / "cache").rglob("*.json"))


def test_results_of_older_versions_are_removed(module: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    for age, name in enumerate("abcd"):
        (cache / (name * 16)).mkdir(parents=True)
        os.utime(cache / (name * 16), (1000 - age, 1000 - age))
    (cache / "notes").mkdir()
    check_paths([str(module)], CheckOptions(timeout=0, cache=cache))
    kept = {path.name for path in cache.iterdir()}
    assert {"a" * 16, "b" * 16, "notes"} < kept and len(kept) == 4
    check_paths([str(module)], CheckOptions(timeout=0, cache=cache, seed=1))
    assert {path.name for path in cache.iterdir()} == kept


def test_a_directory_that_cannot_be_written_to_keeps_nothing(module: Path, tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file")
    report = check_paths([str(module)], CheckOptions(timeout=0, cache=tmp_path / "cache"))
    assert report.files[0].functions


def test_the_command_keeps_results_unless_told_not_to(
    module: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    mine, unused = tmp_path / "mine", tmp_path / "unused"
    main(["check", str(module), "--cache", str(mine)])
    first = capsys.readouterr().out
    main(["check", str(module), "--cache", str(mine)])
    assert capsys.readouterr().out == first
    main(["check", str(module), "--cache", str(unused), "--no-cache"])
    assert list(mine.rglob("*.json")) and not unused.exists()


def test_an_unchanged_module_takes_five_milliseconds(module: Path, tmp_path: Path) -> None:
    options = CheckOptions(timeout=0, cache=tmp_path / "cache")
    check_paths([str(module)], options)
    cache = Cache(tmp_path / "cache", repr(CheckOptions(timeout=0)))
    best = float("inf")
    for _ in range(20):
        begin = time.perf_counter()
        found = cache.get(str(module))
        best = min(best, time.perf_counter() - begin)
        assert found is not None
    assert best < 0.005
