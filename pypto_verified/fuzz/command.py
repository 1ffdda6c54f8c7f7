"""`pypto-verify fuzz`: a campaign with progress, its finds as folders, and a summary as text or JSON."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import FrameType
from typing import NoReturn, TextIO

from pypto_verified.fuzz import folder
from pypto_verified.fuzz.campaign import run
from pypto_verified.fuzz.limit import SECONDS, hopeless
from pypto_verified.fuzz.records import Found, Plan, Result
from pypto_verified.fuzz.vocabulary import EXCLUDED, KNOWN, REFUSALS
from pypto_verified.fuzz.work import settle

SCHEMA_VERSION = 1
INTERRUPTED = 130
_PROGRESS_SECONDS = 1.0
_LOOKS = 0.5
"""Seconds between a worker's looks at whether its parent is alive."""
_WIDTH = 100


@dataclass(frozen=True, slots=True)
class Request:
    """What the user asked for. `examples` and `minutes` None: DEFAULT_EXAMPLES. `corpus`: where finds are written;
    `scheduler`: of a cluster that works instead of `jobs` processes here; `timeout`: of a kernel."""

    examples: int | None = None
    minutes: float | None = None
    seed: int = 0
    shard: tuple[int, int] = (0, 1)
    jobs: int = 1
    corpus: Path = Path("fuzz_finds")
    as_json: bool = False
    fault: str = ""
    scheduler: str = ""
    timeout: float = SECONDS


DEFAULT_EXAMPLES = 1000


def fuzz(request: Request, out: TextIO, err: TextIO) -> int:
    """Run a campaign: progress to `err`, the summary to `out`. The exit code: 0 without finds, 1 with finds, 130 when
    interrupted (what was found is kept). OSError when the corpus can't be written."""
    make, workers = _workers(request)
    request.corpus.mkdir(parents=True, exist_ok=True)
    folders: dict[str, Path] = {}
    progress = _Progress(err)
    keep = partial(_keep, request, folders, progress.note)
    with _one_interrupt():
        result = run(make, workers, _plan(request), progress.show, keep)
        for found in result.found.values():
            if _key(found) not in folders:
                keep(found)  # the interrupt came while it was written
        progress.end()
        kept = {cause: folders[_key(found)] for cause, found in result.found.items() if _key(found) in folders}
        for path in set(folders.values()) - set(kept.values()):
            _remove(path)
        out.write(as_json(result, kept) if request.as_json else as_text(result, kept))
        out.flush()
        if result.interrupted:
            _end_workers()
    if result.interrupted:
        return INTERRUPTED
    return 1 if result.found else 0


@contextmanager
def _one_interrupt() -> Iterator[None]:
    """A second interrupt is as good as the first: it must not break off what the first has begun."""
    usual = signal.default_int_handler
    if threading.current_thread() is not threading.main_thread() or signal.getsignal(signal.SIGINT) is not usual:
        yield
        return

    def first(number: int, frame: FrameType | None) -> NoReturn:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        raise KeyboardInterrupt

    signal.signal(signal.SIGINT, first)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, usual)


def _end_workers() -> None:
    """Nobody waits for what they are at. While one lives, the exit of this process waits, and an interrupt there would
    have it wait for ever."""
    children = multiprocessing.active_children()
    for child in children:
        child.terminate()
    for child in children:
        child.join()


def replay(path: Path, out: TextIO, fault: str = "") -> int:
    """Examine a find again, with a planted fault or that of the folder; 1 if it is still there. InputError for a folder
    that is none."""
    finds = folder.replay(path, fault)
    for find in finds:
        out.write(f"{find.oracle}: {find.cause}\n  {find.detail}\n")
    if not finds:
        out.write("gone: nothing is found any more\n")
    return 1 if finds else 0


def pool(jobs: int) -> Executor:
    """Worker processes that leave an interrupt to this one."""
    context = multiprocessing.get_context("fork" if "fork" in multiprocessing.get_all_start_methods() else "spawn")
    return ProcessPoolExecutor(jobs, mp_context=context, initializer=_start_worker, initargs=(os.getpid(),))


def _start_worker(parent: int) -> None:
    """Interrupts are left to the parent, and without it there is nobody to work for; nor is it for a kernel without
    end."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()
    settle()


def _end_with(parent: int) -> None:
    """End this process soon after its parent (a killed parent closes nothing, since its other workers hold the same
    pipes), or when it is past hope."""
    while os.getppid() == parent and not hopeless():
        time.sleep(_LOOKS)
    os._exit(1)


def _workers(request: Request) -> tuple[Callable[[], Executor], int]:
    """What makes the executor, and how many jobs it does at a time. InputError for a scheduler that is not there."""
    if not request.scheduler:
        return partial(pool, request.jobs), request.jobs
    from pypto_verified.fuzz.cluster import Cluster

    first = Cluster(request.scheduler)
    workers = first.workers
    first.shutdown()
    return partial(Cluster, request.scheduler), workers


def _plan(request: Request) -> Plan:
    examples = request.examples
    if examples is None and request.minutes is None:
        examples = DEFAULT_EXAMPLES
    seconds = None if request.minutes is None else 60 * request.minutes
    return Plan(request.seed, examples, seconds, request.shard, fault=request.fault, timeout=request.timeout)


def _key(found: Found) -> str:
    return f"{found.seed}:{found.example}:{found.find.oracle}:{found.find.cause}"


def _keep(request: Request, folders: dict[str, Path], note: Callable[[str], None], found: Found) -> None:
    """Write a find at once, and again when it is shrunk, into the place of the first."""
    old = folders.get(_key(found))
    new = folder.write(found, request.corpus, request.timeout, request.fault)
    folders[_key(found)] = new
    if old is not None and old != new:
        _remove(old)
    if old is None:
        note(f"find: {found.find.oracle}: {found.find.cause}")


def _remove(path: Path) -> None:
    """Delete a find's folder: it turned out to be another form of a known one."""
    for file in path.iterdir():
        file.unlink()
    path.rmdir()


class _Progress:
    """One line that is written over on a terminal, and a line now and then elsewhere."""

    def __init__(self, err: TextIO) -> None:
        self.err, self.live = err, err.isatty()
        self.last = 0.0

    def show(self, result: Result) -> None:
        now = time.monotonic()
        if now - self.last < (_PROGRESS_SECONDS if self.live else 10 * _PROGRESS_SECONDS):
            return
        self.last = now
        stats, seconds = result.stats, max(result.seconds, 1e-9)
        line = (f"{stats.kernels} kernels, {stats.kernels / seconds:.0f}/s, {len(stats.features)} features, "
                f"{len(result.found)} finds, {seconds:.0f} s")
        self.err.write(f"\r{line:<{_WIDTH}}" if self.live else line + "\n")
        self.err.flush()

    def note(self, text: str) -> None:
        self.err.write((f"\r{text[:_WIDTH]:<{_WIDTH}}\n") if self.live else text + "\n")
        self.err.flush()

    def end(self) -> None:
        if self.live:
            self.err.write(f"\r{'':<{_WIDTH}}\r")


def as_text(result: Result, folders: dict[str, Path]) -> str:
    """The summary for a reader."""
    stats = result.stats
    per_core = stats.kernels / stats.busy if stats.busy else 0.0
    lines = [
        f"{stats.kernels} kernels in {result.seconds:.0f} s, {per_core:.0f}/s a core"
        f" (1 in {result.plan.deep_every} through all oracles)",
        f"{stats.agreed} runs agree, {stats.bitwise} of them bit by bit; {stats.undefined} runs have no defined result;"
        f" {sum(stats.left_out.values())} kernels are refused or not modelled",
    ]
    for cause, found in sorted(result.found.items()):
        lines.append(f"find: {cause}")
        lines.append(f"  {found.statements} statements, {found.duplicates + 1} times")
        if cause in folders:
            lines.append(f"  pypto-verify fuzz --replay {folders[cause]}")
    for name, count in _ranked(stats.known).items():
        known = next(k for k in KNOWN if name.startswith(k.text))
        lines.append(f"known, {count} times: {known.what}: {known.reason}")
    if not result.found:
        lines.append("no finds")
    if result.interrupted:
        lines.append("interrupted; what was found is kept")
    return "\n".join(lines) + "\n"


def as_json(result: Result, folders: dict[str, Path]) -> str:
    """The summary for a program."""
    stats, plan = result.stats, result.plan
    document = {
        "schema": SCHEMA_VERSION, "seed": plan.seed, "shard": list(plan.shard), "interrupted": result.interrupted,
        "seconds": round(result.seconds, 3), "busy_seconds": round(stats.busy, 3), "kernels": stats.kernels,
        "deep": stats.deep, "agreed": stats.agreed, "bitwise": stats.bitwise, "undefined": stats.undefined,
        "known": _ranked(stats.known), "left_out": _ranked(stats.left_out),
        "coverage": {name: round(count / max(stats.kernels, 1), 4) for name, count in sorted(stats.features.items())},
        "finds": [
            {"oracle": f.find.oracle, "cause": cause, "detail": f.find.detail, "seed": f.seed, "example": f.example,
             "statements": f.statements, "shrunk": f.shrunk, "times": f.duplicates + 1,
             "folder": str(folders.get(cause, ""))}
            for cause, f in sorted(result.found.items())
        ],
    }
    return json.dumps(document, indent=2) + "\n"


def _ranked(counts: Counter[str]) -> dict[str, int]:
    """The most frequent first, equals by name and not by which worker was faster."""
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def excluded() -> str:
    """The table of what no generated kernel has, of what the compiler may refuse, and of what is known: a sentence and
    its source a row."""
    table = (("no kernel has", EXCLUDED), ("the compiler may refuse", REFUSALS), ("counted, not found anew:", KNOWN))
    return "".join(f"{head} {r.what}: {r.reason} [{r.source}]\n" for head, rows in table for r in rows)
