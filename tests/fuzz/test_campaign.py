"""Campaigns: the same finds on every executor, one per cause, small, written down, none lost."""

from __future__ import annotations

import io
import json
import os
import pickle
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import ParamSpec, TypeVar

import pytest

from pypto_verified.cli import main
from pypto_verified.errors import InputError
from pypto_verified.fuzz import campaign, command, folder, oracles, work
from pypto_verified.fuzz.builder import Kernel
from pypto_verified.fuzz.campaign import run
from pypto_verified.fuzz.command import as_json
from pypto_verified.fuzz.draw import Seeded
from pypto_verified.fuzz.faults import FAULTS, switched_on
from pypto_verified.fuzz.generator import kernel
from pypto_verified.fuzz.oracles import Find, examine
from pypto_verified.fuzz.processes import pool
from pypto_verified.fuzz.records import SLOW, Batch, Found, Job, Outcome, Plan, Result, Shrink
from pypto_verified.fuzz.shrink import size
from pypto_verified.fuzz.work import run_batch, run_job
from pypto_verified.language import load_source
from tests.fuzz.inline import Inline

FAULTY = Plan(seed=1, examples=60, batch=10, deep_every=0, fault="sub-is-add")


def test_a_fault_is_found_once_and_small() -> None:
    seen: list[Found] = []
    result = run(Inline, 1, FAULTY, on_found=seen.append)
    assert result.stats.kernels == 60
    (found,) = [f for f in result.found.values() if "tile.sub" in f.cause]
    assert found.shrunk
    assert found.statements <= 6
    assert found.duplicates >= 1
    assert [f.shrunk for f in seen if f.example == found.example] == [False, True]


def test_processes_find_what_this_process_finds() -> None:
    alone = run(Inline, 1, FAULTY)
    many = run(partial(pool, 2), 2, FAULTY)
    assert set(many.found) == set(alone.found)
    assert many.stats.kernels == alone.stats.kernels == 60
    assert many.stats.features == alone.stats.features


def test_shards_together_are_the_whole() -> None:
    def examples(shard: tuple[int, int]) -> list[int]:
        return list(Batch(Plan(shard=shard), 0, 10).examples())

    assert sorted(examples((0, 3)) + examples((1, 3)) + examples((2, 3))) == list(range(30))


def test_equal_batches_give_equal_counts() -> None:
    batch = Batch(Plan(seed=9), 0, 10)
    first, second = run_batch(batch)[0], run_batch(batch)[0]
    first.busy = second.busy = 0.0
    assert first == second


def test_an_interrupt_keeps_what_was_found() -> None:
    def interrupt(result: Result) -> None:
        if result.found:
            raise KeyboardInterrupt

    result = run(Inline, 1, FAULTY, on_progress=interrupt)
    assert result.interrupted
    assert result.found
    assert result.stats.kernels < 60


def _long_campaign(corpus: Path) -> subprocess.Popen[str]:
    """As from a terminal: a shell that starts tests in the background has them ignore interrupts."""
    arguments = ["fuzz", "--minutes", "5", "--seed", "1", "--fault", "sub-is-add", "-j", "2", "--corpus", str(corpus)]
    return subprocess.Popen(
        [sys.executable, "-m", "pypto_verified", *arguments], cwd=Path(__file__).parents[2], stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True, preexec_fn=partial(signal.signal, signal.SIGINT, signal.SIG_DFL))


@pytest.mark.skipif(sys.platform == "win32", reason="kills a process")
def test_workers_of_a_killed_campaign_end(tmp_path: Path) -> None:
    """They hold its output open: it ends when the last of them does."""
    running = _long_campaign(tmp_path)
    until = time.monotonic() + 120
    while not list(tmp_path.glob("*/find.json")) and time.monotonic() < until:
        time.sleep(0.1)
    running.kill()
    running.communicate(timeout=60)


@pytest.mark.skipif(sys.platform == "win32", reason="sends a signal")
def test_control_c_ends_the_command_and_keeps_the_finds_on_disk(tmp_path: Path) -> None:
    running = _long_campaign(tmp_path)
    try:
        until = time.monotonic() + 120
        while not list(tmp_path.glob("*/find.json")) and time.monotonic() < until:
            time.sleep(0.1)
        running.send_signal(signal.SIGINT)
        out, _ = running.communicate(timeout=120)
    finally:
        running.kill()
    assert running.returncode == 130
    assert "interrupted; what was found is kept" in out
    assert "find: meaning: another result" in out
    assert list(tmp_path.glob("*/kernel.py"))


@pytest.mark.skipif(sys.platform == "win32", reason="sends a signal")
def test_control_c_again_and_again_changes_nothing(tmp_path: Path) -> None:
    running = _long_campaign(tmp_path)
    try:
        until = time.monotonic() + 120
        while not list(tmp_path.glob("*/find.json")) and time.monotonic() < until:
            time.sleep(0.1)
        while running.poll() is None and time.monotonic() < until:
            running.send_signal(signal.SIGINT)
            time.sleep(0.002)
        out, err = running.communicate(timeout=60)
    finally:
        running.kill()
    assert running.returncode == 130
    assert "interrupted; what was found is kept" in out
    assert "find: meaning: another result" in out
    assert "Traceback" not in err and "KeyboardInterrupt" not in err


P = ParamSpec("P")
T = TypeVar("T")


@pytest.fixture
def listening() -> Iterator[None]:
    """A shell that starts tests in the background has them ignore interrupts."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def _after_control_c(function: Callable[P, T]) -> Callable[P, T]:
    def interrupted(*args: P.args, **kwargs: P.kwargs) -> T:
        signal.raise_signal(signal.SIGINT)
        return function(*args, **kwargs)

    return interrupted


@pytest.mark.usefixtures("listening")
def test_control_c_while_the_summary_is_made_loses_none_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(command, "as_text", _after_control_c(command.as_text))
    arguments = ["fuzz", "--examples", "60", "--seed", "1", "--fault", "sub-is-add", "--corpus", str(tmp_path)]
    assert main(arguments) == 1, "all 60 were examined"
    out = capsys.readouterr().out
    assert "60 kernels" in out and "find: meaning: another result" in out and "interrupted" not in out
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.usefixtures("listening")
def test_control_c_while_a_find_is_taken_up_loses_neither_it_nor_those_after_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(folder, "write", _after_control_c(folder.write))
    arguments = ["fuzz", "--minutes", "5", "--seed", "1", "--fault", "sub-is-add", "--format", "json",
                 "--corpus", str(tmp_path)]
    assert main(arguments) == 130
    report = json.loads(capsys.readouterr().out)
    assert report["interrupted"]
    assert {Path(f["folder"]).name for f in report["finds"]} == {p.name for p in tmp_path.iterdir()} != set()


def test_an_interrupt_while_a_find_is_written_keeps_it_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole, interrupts = folder.write, [KeyboardInterrupt]

    def write(found: Found, corpus: Path, timeout: float, fault: str) -> Path:
        if interrupts:
            raise interrupts.pop()
        return whole(found, corpus, timeout, fault)

    monkeypatch.setattr(folder, "write", write)
    arguments = ["fuzz", "--examples", "60", "--seed", "1", "--fault", "sub-is-add", "--corpus", str(tmp_path)]
    assert main(arguments) == 130
    assert list(tmp_path.glob("*/test_find.py"))


def _dies(job: Job) -> Outcome | Found:
    if isinstance(job, Batch) and 17 in job.examples():
        os.kill(os.getpid(), signal.SIGKILL)
    return run_job(job)


@pytest.mark.skipif(sys.platform == "win32", reason="kills its worker")
@pytest.mark.parametrize("workers", [1, 2])
def test_a_worker_that_dies_loses_nothing_and_is_a_find(workers: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(campaign, "run_job", _dies)
    plan = Plan(seed=5, examples=30, batch=10, deep_every=0, shrink=False)
    seen: list[int] = []
    result = run(partial(pool, workers), workers, plan, on_found=lambda found: seen.append(found.example))
    (found,) = result.found.values()
    assert (found.find.cause, found.example, found.duplicates) == ("the worker died", 17, 0)
    assert seen == [17]
    stats = result.stats
    assert stats.kernels == 30
    assert stats.agreed + stats.undefined + sum(stats.left_out.values()) == 29, "all others are examined"
    assert found.kernel == kernel(Seeded(5, 17))


class _Deadly(Seeded):
    """Ends the process that generates one of the kernels."""

    def __init__(self, seed: int, example: int) -> None:
        if example == 17:
            os.kill(os.getpid(), signal.SIGKILL)
        super().__init__(seed, example)


@pytest.mark.skipif(sys.platform == "win32", reason="kills its worker")
def test_a_kernel_whose_generation_kills_ends_no_campaign(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(work, "Seeded", _Deadly)
    plan = Plan(seed=5, examples=30, batch=10, deep_every=0)
    result = run(partial(pool, 2), 2, plan)
    (found,) = result.found.values()
    assert (found.find.cause, found.example, found.statements) == ("the worker died", 17, 0)
    assert result.stats.kernels == 30
    assert (folder.write(found, tmp_path) / "kernel.py").exists()


def test_a_generator_that_fails_is_a_find_and_ends_no_campaign(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def fails(draw: Seeded) -> None:
        raise KeyError("lost")

    monkeypatch.setattr(work, "generate", fails)
    result = run(Inline, 1, Plan(examples=5))
    assert list(result.found) == ["generated: KeyError: 'lost'"]
    (found,) = result.found.values()
    written, told = _written(pickle.loads(pickle.dumps(found)), tmp_path)
    assert "there is no kernel: making it failed" in told
    assert not (written / "kernel.pto").exists()


def _dies_while_shrinking(job: Job) -> Outcome | Found:
    if isinstance(job, Shrink):
        os.kill(os.getpid(), signal.SIGKILL)
    return run_job(job)


@pytest.mark.skipif(sys.platform == "win32", reason="kills its worker")
def test_a_find_that_kills_while_it_is_made_smaller_stands_as_it_was_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(campaign, "run_job", _dies_while_shrinking)
    result = run(partial(pool, 2), 2, replace(FAULTY, examples=30))
    assert result.stats.kernels == 30
    assert result.found
    assert not any(found.shrunk for found in result.found.values())


def test_time_ends_a_campaign() -> None:
    result = run(Inline, 1, Plan(seconds=0.5, batch=5, deep_every=0))
    assert result.stats.kernels > 0
    assert result.seconds < 20


@pytest.mark.requirement("VF-04")
def test_a_find_is_a_folder_that_fails_until_the_fault_is_gone(tmp_path: Path) -> None:
    result = run(Inline, 1, FAULTY)
    found = next(f for f in result.found.values() if "tile.sub" in f.cause)
    written = folder.write(found, tmp_path)
    assert {p.name for p in written.iterdir()} == {
        "kernel.py", "kernel.pto", "inputs.npz", "expected.npz", "actual.npz", "find.json", "test_find.py", "README.md"}
    with switched_on("sub-is-add"):
        again = folder.replay(written)
    assert [(f.oracle, f.cause) for f in again] == [("meaning", "another result")]
    assert folder.replay(written) == []
    assert main(["fuzz", "--replay", str(written)]) == 0
    assert main(["fuzz", "--replay", str(written), "--fault", "sub-is-add"]) == 1
    test = subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(written)],
                          capture_output=True, text=True, cwd=Path(__file__).parents[2], timeout=120)
    assert test.returncode == 0, test.stdout + test.stderr


TOO_LARGE = """
import pypto.language as pl


@pl.program
class P:
    @pl.function(type=pl.FunctionType.InCore)
    def large(self, x: pl.Tensor[[512, 512], pl.FP32], out: pl.Out[pl.Tensor[[512, 512], pl.FP32]]):
        return pl.store(pl.load(x, [0, 0], [512, 512]), [0, 0], out)
"""


def _written(found: Found, corpus: Path) -> tuple[Path, str]:
    written = folder.write(found, corpus)
    return written, (written / "README.md").read_text(encoding="utf-8")


def test_a_find_that_does_not_compile_has_no_text_says_why_and_replays(tmp_path: Path) -> None:
    (function,) = load_source(TOO_LARGE, "k.py").programs[0].functions
    large = Kernel(function, {}, "a2a3", "PYPTO")
    (find,) = examine(large).finds
    found = Found(find, large, 1, 2, 3, shrunk=True)
    written, told = _written(found, tmp_path)
    assert {p.name for p in written.iterdir()} == {"README.md", "kernel.py", "find.json", "test_find.py"}
    assert re.search(r"no `kernel\.pto`: the kernel does not compile: .*vec overflows", told)
    assert f"fuzz --replay {written.name}" in told and "example 2 of seed 1; 3 statements" in told
    assert [(f.oracle, f.cause) for f in folder.replay(written)] == [(find.oracle, find.cause)]
    assert find.oracle == "accepted"


@pytest.mark.parametrize("error", [AttributeError, ZeroDivisionError, RecursionError, NotImplementedError])
def test_whatever_the_compiler_fails_with_is_a_find_that_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: type[Exception]
) -> None:
    def broken(*args: object, **kwargs: object) -> None:
        raise error("nothing there")

    for module in (oracles, folder):
        monkeypatch.setattr(module, "compile_function", broken)
    monkeypatch.setattr(command, "_workers", lambda request: (Inline, 1))
    assert command.fuzz(command.Request(examples=3, corpus=tmp_path), io.StringIO(), io.StringIO()) == 1
    (written,) = tmp_path.iterdir()
    assert f"the kernel does not compile: {error.__name__}: nothing there" in (written / "README.md").read_text()


def test_a_kernel_that_can_not_be_printed_is_written_with_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*args: object) -> str:
        raise AttributeError("nothing there")

    monkeypatch.setattr(folder, "print_program", broken)
    made = kernel(Seeded(1, 1))
    written, _ = _written(Found(Find("crash", "c", "d"), made, 1, 1, 1), tmp_path)
    assert (written / "kernel.py").read_text() == "# the kernel has no text: AttributeError: nothing there\n"


def test_where_a_wrong_result_comes_from_may_fail_in_whatever_way(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*args: object) -> str:
        raise AttributeError("nothing there")

    monkeypatch.setattr(work, "blamed", broken)
    found = run(Inline, 1, FAULTY).found.values()
    assert any(f.find.detail.endswith("; a pass fails: AttributeError: nothing there") for f in found)


def test_a_text_of_an_earlier_find_is_not_left_where_there_is_none_now(tmp_path: Path) -> None:
    small = kernel(Seeded(5, 0))
    right = Found(Find("meaning", "another result", "out[0] is 1 instead of 2"), small, 5, 0, size(small.function))
    written, told = _written(right, tmp_path)
    assert (written / "kernel.pto").read_text(encoding="utf-8").startswith("module")
    assert f"- `kernel.pto`: its text for {small.target}, addresses by {small.planner}" in told
    slow = replace(right, find=replace(right.find, oracle=SLOW))
    (tmp_path / "again").mkdir()
    written.rename(tmp_path / "again" / folder._slug(slow))
    written, told = _written(slow, tmp_path / "again")
    assert not (written / "kernel.pto").exists()
    assert "no `kernel.pto`: compiling it may hold or end" in told


def test_the_find_of_a_planted_fault_replays_by_the_command_that_was_shown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["fuzz", "--examples", "60", "--seed", "1", "--fault", "sub-is-add", "--corpus", str(tmp_path)]
    assert main(arguments) == 1
    shown = [line.split() for line in capsys.readouterr().out.splitlines() if "--replay" in line]
    assert shown
    for name, *replay in shown:
        assert name == "pypto-verify"
        assert main(replay) == 1
    test = subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", shown[0][-1]],
                          capture_output=True, text=True, cwd=Path(__file__).parents[2], timeout=120)
    assert test.returncode == 1, test.stdout + test.stderr


def test_an_unknown_fault_says_where_the_known_ones_are(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fuzz", "--fault", "nonsense"]) == 2
    assert "pypto-verify fuzz --fault list" in capsys.readouterr().err


def test_a_folder_without_a_find_is_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(InputError, match="no find in this folder"):
        folder.load(tmp_path)
    assert main(["fuzz", "--replay", str(tmp_path)]) == 2
    assert "no find in this folder" in capsys.readouterr().err


def test_the_command_reports_finds_as_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["fuzz", "--examples", "60", "--seed", "1", "--fault", "sub-is-add", "--format", "json",
                 "--corpus", str(tmp_path)]
    assert main(arguments) == 1
    report = json.loads(capsys.readouterr().out)
    assert report["kernels"] == 60
    assert report["finds"]
    for find in report["finds"]:
        assert (Path(find["folder"]) / "find.json").exists()
        assert find["statements"] <= 6
    assert {p.name for p in tmp_path.iterdir()} == {Path(f["folder"]).name for f in report["finds"]}


def test_a_report_does_not_tell_which_worker_was_faster() -> None:
    one, other = Result(Plan()), Result(Plan())
    one.stats.left_out.update({"refused: a": 1, "refused: b": 1, "refused: c": 2})
    other.stats.left_out.update({"refused: b": 1, "refused: c": 2, "refused: a": 1})
    assert as_json(one, {}) == as_json(other, {})


def test_the_command_is_silent_success_without_finds(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fuzz", "--examples", "10", "--corpus", str(tmp_path)]) == 0
    out = capsys.readouterr().out
    assert "10 kernels" in out
    assert "no finds" in out


@pytest.mark.parametrize(
    "arguments", [["--shard", "3/2"], ["--examples", "0"], ["--minutes", "-1"], ["--timeout", "0"]])
def test_wrong_arguments_are_refused(arguments: list[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["fuzz", *arguments])
    assert caught.value.code == 2


def test_faults_are_listed_and_unknown_ones_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fuzz", "--fault", "list"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == len(FAULTS)
    assert main(["fuzz", "--fault", "nonsense"]) == 2
