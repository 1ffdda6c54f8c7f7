"""`pypto-verify fuzz`: a campaign with progress, its finds as folders, and a summary as text or JSON."""

from __future__ import annotations

import json
import shutil
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import Executor
from functools import partial
from pathlib import Path
from typing import TextIO

from pypto_verified.fuzz import folder
from pypto_verified.fuzz.campaign import run
from pypto_verified.fuzz.exclusions import EXCLUDED, KNOWN, REFUSALS
from pypto_verified.fuzz.limit import SECONDS
from pypto_verified.fuzz.processes import end_workers, interrupts_noted, pool
from pypto_verified.fuzz.records import Found, Plan, Result
from pypto_verified.records import dataclass

SCHEMA_VERSION = 1
INTERRUPTED = 130
_PROGRESS_SECONDS = 1.0
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
    with interrupts_noted() as interrupted:
        result = run(make, workers, _plan(request), progress.show, keep, interrupted)
        for found in result.found.values():
            if _key(found) not in folders:
                keep(found)  # the interrupt came while it was written
        progress.end()
        kept = {cause: folders[_key(found)] for cause, found in result.found.items() if _key(found) in folders}
        for path in set(folders.values()) - set(kept.values()):
            shutil.rmtree(path)  # it turned out to be another form of a known find
        if result.interrupted:
            end_workers()
        out.write(as_json(result, kept) if request.as_json else as_text(result, kept))
        out.flush()
    if result.interrupted:
        return INTERRUPTED
    return 1 if result.found else 0


def replay(path: Path, out: TextIO, fault: str = "") -> int:
    """Examine a find again, with a planted fault or that of the folder; 1 if it is still there. InputError for a folder
    that is none."""
    finds = folder.replay(path, fault)
    for find in finds:
        out.write(f"{find.oracle}: {find.cause}\n  {find.detail}\n")
    if not finds:
        out.write("gone: nothing is found any more\n")
    return 1 if finds else 0


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
        shutil.rmtree(old)
    if old is None:
        note(f"find: {found.find.oracle}: {found.find.cause}")


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
