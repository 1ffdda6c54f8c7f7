"""How many kernels of real models the simulator runs: `python -m benchmarks.simulate_kernels CHECKOUT [-j N]`.

CHECKOUT is a PTOAS checkout; its `test/samples` hold the `.pto` that PyPTO wrote for whole models. Every function of
every file counts. Sizes that the text leaves open are 128, other scalars 1, inputs are random; the partner core of a
pipe sends arbitrary data. A run that ends without an error counts as run; an error, or an op that is not modelled, is a
reason.
"""

from __future__ import annotations

import argparse
import re
from collections import Counter
from pathlib import Path
from time import perf_counter

from benchmarks.pto_kernels import kernels
from pypto_verified.errors import PtoError
from pypto_verified.pto.module import Module
from pypto_verified.pto.reader import read
from pypto_verified.simulator import Outcome, replay
from pypto_verified.simulator.errors import UnmodelledError
from pypto_verified.targets import target
from pypto_verified.workers import Failure, Workers

SECONDS = 60.0
STEPS = 200_000


def outcome_of(outcome: Outcome) -> str:
    """'run', 'not modelled: op' or 'error: kind'."""
    for error in outcome.errors:
        if isinstance(error, UnmodelledError):
            return f"not modelled: {re.sub(r'[0-9]+', 'N', error.message)}"
    return f"error: {outcome.errors[0].kind}" if outcome.errors else "run"


def run_file(path: str) -> list[tuple[str, str]]:
    """(function, outcome) of each function with a body."""
    try:
        module: Module = read(Path(path).read_text("utf-8"), path)
    except PtoError as error:
        return [("", f"not read: {type(error).__name__}")]
    found = []
    for unit in module.units():
        chip = target("a5" if unit.arch == "a5" or "A5" in path else "a2a3")
        found += [(f.name, outcome_of(replay(f, {}, chip, max_steps=STEPS))) for f in unit.funcs if f.body is not None]
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkout", type=Path)
    parser.add_argument("-j", "--jobs", type=int, default=2)
    options = parser.parse_args()
    files = [str(p) for p in kernels(options.checkout, "")]
    counts: Counter[str] = Counter()
    started = perf_counter()
    for result in Workers(run_file, options.jobs, SECONDS).run(files):
        if isinstance(result, Failure):
            counts[f"stopped: {result.reason}"] += 1
        else:
            counts.update(outcome for _, outcome in result)
    total = sum(counts.values())
    print(f"{len(files)} files, {total} functions, {perf_counter() - started:.0f} s")
    for outcome, n in counts.most_common():
        print(f"{n:6} {n / total:6.1%}  {outcome}")


if __name__ == "__main__":
    main()
