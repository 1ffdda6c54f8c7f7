"""What is proved by what, how long it takes, and why the rest is open, over every obligation of real kernels.

    python -m benchmarks.obligations CHECKOUT... [--accepted corpus.tsv] [-j N] [--timeout S] [--target a2a3]

A PyPTO checkout gives its InCore functions (`benchmarks.incore_corpus`), an assembler checkout its model kernels
(`benchmarks.pto_kernels`) and, with `--accepted`, the other `.pto` files that the real assembler accepts: a table with
the columns path, flags and exit. Nothing is replayed and nothing taken from a cache, so that times are those of
proofs.
"""

from __future__ import annotations

import argparse
import importlib
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from statistics import median, quantiles

from benchmarks import incore_corpus, pto_corpus, pto_kernels
from pypto_verified import language
from pypto_verified.check import CheckOptions, check_file, verify_module
from pypto_verified.compiler import compile_function, kernels_of
from pypto_verified.errors import PtoError
from pypto_verified.report.model import FunctionResult, Verdict
from pypto_verified.targets import target
from pypto_verified.workers import Failure, Workers


@dataclass(slots=True)
class Tally:
    """The obligations of some kernels. `costs`: milliseconds by decider; `slow`: (milliseconds, units, what, where)."""

    kernels: int = 0
    decided: Counter[tuple[str, str]] = field(default_factory=Counter)
    costs: dict[str, list[float]] = field(default_factory=dict)
    unknown: Counter[str] = field(default_factory=Counter)
    refuted: Counter[str] = field(default_factory=Counter)
    slow: list[tuple[float, int, str, str]] = field(default_factory=list)
    failed: Counter[str] = field(default_factory=Counter)

    def add(self, results: list[FunctionResult], where: str) -> None:
        for result in results:
            self.kernels += 1
            for o in result.obligations:
                decider = o.decider or "none"
                self.decided[o.verdict.value, decider] += 1
                self.costs.setdefault(decider, []).append(o.milliseconds)
                if o.milliseconds > 20:
                    self.slow.append((o.milliseconds, o.rlimit, f"{o.rule} {o.verdict.value} by {decider}", where))
            self.refuted.update(f.rule for f in result.findings if f.verdict is Verdict.REFUTED)
            for f in result.findings:
                if f.verdict is Verdict.UNKNOWN:
                    needs = "needs a condition" if f.needs else pto_kernels.general(f.message)
                    self.unknown[f"{f.rule}: {needs}"] += 1

    def merge(self, other: Tally) -> None:
        self.kernels += other.kernels
        self.decided += other.decided
        self.unknown += other.unknown
        self.refuted += other.refuted
        self.failed += other.failed
        self.slow = sorted(self.slow + other.slow, reverse=True)[:10]
        for decider, times in other.costs.items():
            self.costs.setdefault(decider, []).extend(times)


def of_kernel_file(path: Path, chip: str) -> Tally:
    """The functions of a `.py` file, each compiled and verified alone."""
    tally = Tally()
    try:
        programs = language.load_file(path).programs
    except Exception as error:
        tally.failed[f"does not load: {type(error).__name__}"] += 1
        return tally
    for function in (f for program in programs for f in kernels_of(program)):
        try:
            artifact = compile_function(function, target(chip))
            results = verify_module(
                artifact.module, target(chip), CheckOptions(simulate=False), {function.name: artifact.names},
                {function.name: artifact.outputs})
        except PtoError as error:
            tally.failed[f"does not compile: {type(error).__name__}"] += 1
            continue
        tally.add(results, f"{path.name} {function.name}")
    return tally


def of_module(path: Path) -> Tally:
    """The functions of a `.pto` file."""
    tally = Tally()
    result = check_file(str(path), CheckOptions(simulate=False))
    tally.failed.update(f"{f.verdict.value} {f.rule}" for f in result.findings)
    tally.add(result.functions, path.name)
    return tally


Job = Callable[[Path], Tally]


def corpora(checkout: Path, accepted: Path | None, chip: str) -> Iterator[tuple[str, list[Path], Job]]:
    """The corpora that a checkout has: name, files, what to do with each."""
    incore = sorted({k.path for k in incore_corpus.kernels(checkout)})
    if incore:
        yield "InCore functions", incore, partial(of_kernel_file, chip=chip)
    if (checkout / "test" / "samples").is_dir():
        models = pto_kernels.kernels(checkout, "")
        yield "model kernels", models, of_module
        if accepted is not None:
            good = {checkout / p for p, (ok, _, _) in pto_corpus.verdicts(accepted).items() if ok} - set(models)
            yield "accepted modules", sorted(p for p in good if p.suffix == ".pto" and p.exists()), of_module


def measure(files: list[Path], job: Job, jobs: int, timeout: float) -> Tally:
    total = Tally()
    for path, result in zip(files, Workers(job, jobs, timeout).run(files), strict=True):
        if isinstance(result, Failure):
            total.failed[f"no result: {result.reason}"] += 1
            print(f"  {path}: {result.reason}", file=sys.stderr)
        else:
            total.merge(result)
    return total


def show(name: str, files: int, total: Tally, top: int) -> None:
    """Print the tables of one corpus."""
    count = sum(total.decided.values())
    print(f"\n{name}: {files} files, {total.kernels} kernels, {count:,} obligations; not reached: {dict(total.failed)}")
    verdicts = [v.value for v in Verdict if any(key[0] == v.value for key in total.decided)]
    print(f"  {'decided by':<14}" + "".join(f"{v:>10}" for v in verdicts)
          + f"{'median ms':>12}{'p99 ms':>10}{'max ms':>10}")
    for decider in sorted(total.costs):
        row = "".join(f"{total.decided[v, decider]:>10,}" for v in verdicts)
        print(f"  {decider:<14}{row}{_times(total.costs[decider])}")
    everything = [t for times in total.costs.values() for t in times]
    sums = "".join(f"{sum(n for (w, _), n in total.decided.items() if w == v):>10,}" for v in verdicts)
    print(f"  {'all':<14}{sums}{_times(everything)}")
    unknown = sum(n for (v, _), n in total.decided.items() if v == Verdict.UNKNOWN.value)
    print(f"  UNKNOWN: {100 * unknown / max(1, count):.2f} % of the obligations")
    for reason, n in total.unknown.most_common(top):
        print(f"  {n:6}  {reason}")
    print(f"  REFUTED by rule: {dict(total.refuted.most_common())}")
    print("  slowest:")
    for milliseconds, units, what, where in total.slow:
        print(f"  {milliseconds:8.0f} ms {units:>10,} units  {what}, {where}")


def _times(times: list[float]) -> str:
    if not times:
        return ""
    p99 = quantiles(times, n=100)[-1] if len(times) > 1 else times[0]
    return f"{median(times):>12.3f}{p99:>10.2f}{max(times):>10.1f}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkouts", type=Path, nargs="+", metavar="CHECKOUT")
    parser.add_argument("--accepted", type=Path, help="what the real assembler said about each .pto file")
    parser.add_argument("-j", "--jobs", type=int, default=2)
    parser.add_argument("--timeout", type=float, default=60.0, help="seconds a file")
    parser.add_argument("--target", default="a2a3", help="chip of the InCore functions")
    parser.add_argument("--top", type=int, default=25, help="reasons to print")
    options = parser.parse_args()
    importlib.import_module("verifiers.solver.smt")  # before the processes of the files are forked
    everything, count, shown = Tally(), 0, 0
    for checkout in options.checkouts:
        for name, files, job in corpora(checkout, options.accepted, options.target):
            begin = time.perf_counter()
            total = measure(files, job, options.jobs, options.timeout)
            show(name, len(files), total, options.top)
            print(f"  {time.perf_counter() - begin:.0f} s, {options.jobs} files at a time", flush=True)
            everything.merge(total)
            count, shown = count + len(files), shown + 1
    if not count:
        parser.error("no kernel in these checkouts")
    if shown > 1:
        show("all", count, everything, options.top)
    return 0


if __name__ == "__main__":
    sys.exit(main())
