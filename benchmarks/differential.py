"""Interpreter against simulator on real kernels: `python -m benchmarks.differential CHECKOUT`.

Every InCore function of a PyPTO checkout (as `incore_corpus.py` finds them) that lowers is run on random inputs: the IR
before the pipeline and after each pass by the interpreter, the `.pto` by the simulator. Outputs are equal bit by bit,
within a tolerance only in runs where an op of `interpreter.UNSPECIFIED` left its result open. Printed: how many
functions agree, differ, or could not be compared and why, and runs per second.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections import Counter
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from benchmarks.incore_corpus import kernels, plain
from pypto_verified import language
from pypto_verified.differential import compare
from pypto_verified.errors import NotModelled, PtoError
from pypto_verified.interpreter import UNSPECIFIED
from pypto_verified.ir.stmt import Function, FunctionKind
from pypto_verified.targets import target
from pypto_verified.workers import Failure, Workers

AGREE, DIFFER, CONSTANT = "agree", "DIFFER", "agree on constant outputs only"
NO_INPUT, NOT_MODELLED, REFUSED, LOAD = "no defined input found", "not modelled", "refused", "file does not load"


@dataclass(frozen=True, slots=True)
class Row:
    """One function on one target. `detail` says why it was not compared, or what differs."""

    name: str
    outcome: str
    detail: str = ""
    runs: int = 0
    bitwise: int = 0
    open_ops: tuple[str, ...] = ()


def run_file(path: Path, chip: str, runs: int, seed: int) -> list[Row]:
    """The functions of one file that the compiler is asked to lower."""
    warnings.simplefilter("ignore")
    try:
        loaded = language.load_file(path)
    except Exception as error:
        return [Row(path.name, LOAD, _reason(error))]
    functions = [f for program in loaded.programs for f in program.functions]
    rows = [_run(f, chip, runs, seed) for f in functions if f.kind is FunctionKind.INCORE]
    return [replace(row, name=f"{path.stem}.{row.name}") for row in rows]


def _run(function: Function, chip: str, runs: int, seed: int) -> Row:
    try:
        if function.opaque:
            return Row(function.name, NOT_MODELLED, plain(function.opaque))
        found = compare(function, target(chip), runs, seed=seed)
    except NotModelled as error:
        return Row(function.name, NOT_MODELLED, plain(error.what))
    except PtoError as error:
        return Row(function.name, REFUSED, _reason(error))
    if found.difference is not None:
        return Row(function.name, DIFFER, str(found.difference), found.agreed)
    if not found.agreed:
        return Row(function.name, NO_INPUT, plain(Counter(found.undefined).most_common(1)[0][0]))
    outcome = AGREE if found.telling else CONSTANT
    return Row(function.name, outcome, "", found.agreed, found.bitwise, tuple(sorted(found.loose)))


def _reason(error: Exception) -> str:
    return plain(f"{type(error).__name__}: {error.message if isinstance(error, PtoError) else error}")


def show(rows: list[Row], seconds: float, top: int) -> None:
    """Print counts, reasons and rates."""
    outcomes = Counter(r.outcome for r in rows)
    for outcome, n in outcomes.most_common():
        print(f"{outcome:<32} {n:4} of {len(rows)} ({n / max(1, len(rows)):.1%})")
    runs, bitwise = sum(r.runs for r in rows), sum(r.bitwise for r in rows)
    print(f"runs with equal results          {runs}, of these bit by bit {bitwise}")
    print(f"functions and runs a second      {len(rows) / seconds:.1f}, {runs / seconds:.1f}")
    for op, n in Counter(op for r in rows for op in r.open_ops).most_common():
        print(f"  tolerance in {n:3} functions for {op}: {UNSPECIFIED[op]}")
    for row in rows:
        if row.outcome == DIFFER:
            print(f"DIFFER {row.name}: {row.detail}")
    print("reasons for the rest:")
    reasons = Counter(f"{r.outcome}: {r.detail}" for r in rows if r.outcome not in (AGREE, DIFFER))
    for reason, n in reasons.most_common(top):
        print(f"  {n:4}  {reason}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkout", type=Path)
    parser.add_argument("--target", default="a2a3")
    parser.add_argument("--runs", type=int, default=8, help="inputs per function")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("-j", "--jobs", type=int, default=2)
    parser.add_argument("--timeout", type=float, default=120.0, help="seconds per file")
    parser.add_argument("--top", type=int, default=40, help="how many reasons to print")
    options = parser.parse_args()
    files = sorted({k.path for k in kernels(options.checkout)})
    if not files:
        parser.error(f"no InCore function under {options.checkout}")
    start = time.perf_counter()
    work = partial(run_file, chip=options.target, runs=options.runs, seed=options.seed)
    results = Workers(work, options.jobs, options.timeout).run(files)
    rows: list[Row] = []
    for path, result in zip(files, results, strict=True):
        rows += [Row(path.name, LOAD, f"file: {result.reason}")] if isinstance(result, Failure) else result
    show(rows, time.perf_counter() - start, options.top)
    return 1 if any(r.outcome == DIFFER for r in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
