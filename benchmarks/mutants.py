"""Mechanical mutants of the product: does a test or a campaign notice?

Run with `python -m benchmarks.mutants -o DIR`; `--count`, `--seed`. It works on a copy of the tree in DIR. Every mutant
is run against the tests that run its line, the quick ones first, against a campaign of `--seconds`, and against the
rest of the tests that reach its module, until one fails. DIR/results.jsonl has a line for each mutant that is done; a
run goes on where the last one ended. Tests that fail without any mutant are left out.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from xml.etree import ElementTree

from benchmarks.mutation import Mutant, applied, mutants_of_tree
from benchmarks.reach import Imports
from benchmarks.survivors import why_it_survives
from benchmarks.touched import Touched, recorded

ROOMS = (
    "pypto_verified/index", "pypto_verified/passes", "pypto_verified/codegen", "pypto_verified/pto",
    "pypto_verified/simulator", "verifiers",
)
ROOT = Path(__file__).resolve().parents[1]
COUNT, SECONDS = 120, 20
FIRST_SECONDS = 12.0
"""Length of the first round of tests, by their times without a mutant."""
SLOWER, HANGS = 20.0, 180.0
"""A round that takes so many times longer than without a mutant, and so many seconds more, hangs."""


@dataclass(frozen=True, slots=True)
class Result:
    """What became of a mutant. `killer`: a test, `campaign: <cause>` or `timeout`; '' for a survivor."""

    mutant: Mutant
    killer: str
    seconds: float


def drawn(root: Path, seed: int, count: int) -> list[Mutant]:
    """Mutants by seed, the rooms in turn, each operator of a room as likely as the others. Equal trees and seeds give
    equal mutants."""
    candidates = mutants_of_tree(root, ROOMS)
    picked: list[Mutant] = []
    for i in range(count):
        choose = random.Random(f"{seed}:{i}")
        kinds = defaultdict(list)
        for m in candidates[ROOMS[i % len(ROOMS)]]:
            if m not in picked:
                kinds[m.kind].append(m)
        picked.append(choose.choice(kinds[choose.choice(sorted(kinds))]))
    return picked


class Bench:
    """A copy of the tree in which mutants are tried."""

    def __init__(self, root: Path, folder: Path, seconds: float, near: bool = False) -> None:
        self.folder, self.tree, self.seconds, self.near = folder, folder / "tree", seconds, near
        shutil.rmtree(self.tree, ignore_errors=True)
        shutil.copytree(root, self.tree, ignore=shutil.ignore_patterns(".*", "__pycache__", "*.egg-info"))
        self.imports, self.touched = Imports(self.tree), Touched(self.folder, self.tree)
        self.times, self.failing = self._baseline()

    def _baseline(self) -> tuple[dict[str, float], list[str]]:
        """Seconds by test file and by test function, and the tests that fail without a mutant."""
        record = self.folder / "baseline.xml"
        if not record.exists():
            arguments = ["tests", f"--junitxml={record}", "-o", "junit_family=xunit1"]
            self._pytest(arguments, None, recorded(self.folder, ROOMS))
        times: dict[str, float] = defaultdict(float)
        failing = []
        for case in ElementTree.parse(record).iter("testcase"):
            file = case.get("file") or (case.get("classname") or "").replace(".", "/") + ".py"
            function = f"{file}::{(case.get('name') or '').partition('[')[0]}"
            for name in (file, function):
                times[name] += float(case.get("time") or 0)
            if case.find("failure") is not None or case.find("error") is not None:
                failing.append(f"{file}::{case.get('name')}")
        return times, failing

    def tried(self, mutant: Mutant) -> Result:
        """Apply a mutant, look for who notices, and take it back."""
        file = self.tree / mutant.path
        source = file.read_text(encoding="utf-8")
        started = time.monotonic()
        try:
            self._write(file, applied(mutant, source))
            first, more, rest = self._rounds(mutant.path, mutant.line)
            killer = self._by_tests(first, 1) or self._by_campaign() or self._by_tests(more, 2)
            killer = killer or self._by_tests([] if self.near else rest, 2)
        finally:
            self._write(file, source)
        return Result(mutant, killer, round(time.monotonic() - started, 1))

    def _write(self, file: Path, source: str) -> None:
        file.write_text(source, encoding="utf-8")
        for compiled in file.parent.glob(f"__pycache__/{file.stem}.*.pyc"):
            compiled.unlink()  # its stamp has whole seconds, and the sources are of one size

    def _by_tests(self, tests: list[str], times: int) -> str:
        """The test that fails, `times` times: far ones may fail for want of time."""
        limit = HANGS + SLOWER * sum(self.times.get(t, 0.0) for t in tests)
        while tests and (killer := self._pytest(["-x", *(f"--deselect={t}" for t in self.failing), *tests], limit)):
            if times == 1 or "::" not in killer or self._pytest([killer.partition("[")[0]], limit):
                return killer
            self.failing.append(killer.partition("[")[0])  # fails now and then, whatever the mutant
        return ""

    def _rounds(self, path: str, line: int) -> tuple[list[str], list[str], list[str]]:
        """A short round of tests, more of them, and the rest. Tests that run the line come by time; files that reach
        its module, of the same room first, then by distance and time."""
        room = path.split("/")[-2] if path.count("/") > 1 else path.split("/")[0]
        reaching = self.imports.tests(path)
        order = sorted(
            reaching, key=lambda f: (f.split("/")[1] != room, reaching[f], self.times.get(f, 0.0), f)
        )
        near = sorted(self.touched.tests(path, line), key=lambda t: (self.times.get(t, 0.0), t))
        if not near:
            first = self._within(order)
            return order[:first], [], order[first:]
        first = self._within(near)
        return near[:first], near[first:], order

    def _within(self, tests: list[str]) -> int:
        """How many of them, at least one, run in a short time."""
        spent, cut = 0.0, 0
        while cut < len(tests) and (cut == 0 or spent + self.times.get(tests[cut], 0.0) <= FIRST_SECONDS):
            spent += self.times.get(tests[cut], 0.0)
            cut += 1
        return cut

    def _pytest(self, arguments: Sequence[str], limit: float | None, before: Sequence[str] = ()) -> str:
        options = ["-q", "--tb=no", "-rfE", "-p", "no:cacheprovider"]
        failed = r"^(?:FAILED|ERROR) (\S+)"
        return self._run([*before, "-m", "pytest", *options, *arguments], limit, failed, "a test run that ends")

    def _by_campaign(self) -> str:
        corpus = self.folder / "finds"
        shutil.rmtree(corpus, ignore_errors=True)
        arguments = ["-m", "pypto_verified", "fuzz", "--minutes", str(self.seconds / 60), "--corpus", str(corpus)]
        killer = self._run(arguments, 120 + 10 * self.seconds, r"^find: (.*)", "a campaign that ends")
        return f"campaign: {killer}" if killer else ""

    def _run(self, arguments: Sequence[str], limit: float | None, pattern: str, otherwise: str) -> str:
        """What the output says went wrong; '' when the exit code is 0. What it has started ends with it."""
        environment = {**os.environ, "PYTHONPATH": str(self.tree)}
        with subprocess.Popen([sys.executable, *arguments], cwd=self.tree, env=environment, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True) as process:
            try:
                shown, _ = process.communicate(timeout=limit)
            except subprocess.TimeoutExpired:
                return "timeout"
            finally:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
        if process.returncode == 0:
            return ""
        named = re.search(pattern, shown, re.MULTILINE)
        return named.group(1) if named else otherwise


def results(folder: Path) -> list[Result]:
    """The mutants that are done."""
    log = folder / "results.jsonl"
    lines = log.read_text(encoding="utf-8").splitlines() if log.exists() else []
    return [Result(Mutant(**row.pop("mutant")), **row) for row in map(json.loads, lines)]


def summary(done: Sequence[Result], root: Path = ROOT) -> str:
    """Killed by whom, by room, and the survivors with the reason, if one is known for the tree at `root`. A change that
    nothing can notice is no mutant: it is counted apart."""
    if not done:
        return "no mutant is done\n"
    killed = [r for r in done if r.killer]
    campaigns = sum(r.killer.startswith("campaign") for r in killed)
    equal = len(done) - len(killed) - len(unexplained(done, root))
    lines = [f"{len(killed)} of {len(done)} mutants killed ({100 * len(killed) / len(done):.0f} %): "
             f"{len(killed) - campaigns} by tests, {campaigns} by the campaign; {equal} change no meaning"]
    for room in ROOMS:
        here = [r for r in done if r.mutant.path.startswith(f"{room}/")]
        lines.append(f"  {room:<28}{sum(bool(r.killer) for r in here)} of {len(here)}")
    for m in (r.mutant for r in done if not r.killer):
        change = f"{' '.join(m.old.split())[:80]} -> {' '.join(m.new.split())[:80]}"
        why = why_it_survives(root, m) or "no test notices"
        lines.append(f"survives: {m.place}: {m.kind}: {change} ({why})")
    return "\n".join(lines) + "\n"


def unexplained(done: Sequence[Result], root: Path = ROOT) -> list[Mutant]:
    """The survivors that something should have noticed."""
    return [r.mutant for r in done if not r.killer and not why_it_survives(root, r.mutant)]


def main(arguments: Sequence[str] | None = None) -> int:
    """The command: 0 if 95 % of the mutants are killed or, with a reason that is told, change no meaning; else 1."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.mutants", description=__doc__)
    parser.add_argument("-o", "--output", type=Path, required=True, metavar="DIR")
    parser.add_argument("--count", type=int, default=COUNT)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=SECONDS, help="length of the campaign against a mutant")
    parser.add_argument("--near", action="store_true", help="leave the far tests, and what survives so far, for later")
    parser.add_argument("--shard", default="1/1", metavar="I/N", help="every N-th mutant from the I-th")
    parser.add_argument("--summary", action="store_true", help="only print what is done")
    options = parser.parse_args(arguments)
    if not options.summary:
        options.output.mkdir(parents=True, exist_ok=True)
        bench = Bench(ROOT, options.output.resolve(), options.seconds, options.near)
        known = {r.mutant for r in results(options.output)}
        first, step = map(int, options.shard.split("/"))
        for mutant in drawn(bench.tree, options.seed, options.count)[first - 1 :: step]:
            if mutant in known:
                continue
            result = bench.tried(mutant)
            if not result.killer and options.near:
                continue
            with (options.output / "results.jsonl").open("a", encoding="utf-8") as log:
                log.write(json.dumps(asdict(result)) + "\n")
            print(f"{mutant.place} {mutant.kind}: {result.killer or 'SURVIVES'} ({result.seconds} s)", flush=True)
    done = results(options.output)
    sys.stdout.write(summary(done))
    return int(len(unexplained(done)) > 0.05 * len(done))


if __name__ == "__main__":
    sys.exit(main())

