"""Campaigns that are interrupted or killed keep what they found, and leave nobody running."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import ParamSpec, TypeVar

import pytest

from pypto_verified.cli import main
from pypto_verified.fuzz import command, folder
from pypto_verified.fuzz.campaign import run
from pypto_verified.fuzz.records import Found, Result
from tests.fuzz.finds import FAULTY
from tests.fuzz.inline import Inline


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
