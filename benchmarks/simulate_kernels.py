"""How many kernels of real models the simulator runs: `python -m benchmarks.simulate_kernels CHECKOUT [-j N] [--list]`.

CHECKOUT is a PTOAS checkout; its `test/samples` hold the `.pto` that PyPTO wrote for whole models. Every function of
every file counts. Inputs are random; the partner core of a pipe sends arbitrary data. Sizes that the text leaves open
are 128 and other scalars 1; where that ends in an error, others are tried (see `admissible`), and the best counts. A
run that ends without an error counts as run; an error, or an op that is not modelled, is a reason.
"""

from __future__ import annotations

import argparse
import re
from collections import Counter
from dataclasses import dataclass
from itertools import product
from operator import attrgetter
from pathlib import Path
from time import perf_counter, process_time

from benchmarks.pto_kernels import kernels
from pypto_verified.errors import PtoError
from pypto_verified.pto.module import Func, Module
from pypto_verified.pto.reader import read
from pypto_verified.pto.types import PtrType, ScalarType
from pypto_verified.simulator import Outcome, replay
from pypto_verified.simulator.errors import UnmodelledError
from pypto_verified.simulator.program import walk
from pypto_verified.simulator.replay import shape_operands
from pypto_verified.simulator.run import LAUNCH_ARGUMENTS
from pypto_verified.targets import Target, target
from pypto_verified.workers import Failure, Workers

SECONDS = 120.0
"""For a file."""
SEARCH = 15.0
"""Seconds of the processor for a search for arguments, for a function: a loaded machine finds the same ones."""
STEPS = 1_000_000
SIZES = (1024, 16, 8192, 1, 512, 256, 64, 32, 8, 4, 2)
NUMBERS = (0, 128, *SIZES)
CONTENTS = ((0, 8), (0, 1), (1, 2), (127, 128), (-1, 8), (-1, 0))
"""Ranges of what integer tensors hold: small numbers; first entries; counts; positions behind a window; some entries;
none."""


@dataclass(frozen=True, slots=True)
class Row:
    """What became of a function under `arguments`, those that differ from the defaults, and `integers` in its tensors.
    `error` is the first one, '' after a run; `reached` the share of the ops' lines that ran."""

    function: str
    outcome: str
    arguments: dict[str, int]
    integers: tuple[int, int]
    error: str = ""
    reached: float = 0.0

    @property
    def chosen(self) -> bool:
        """Whether the defaults would not do."""
        return bool(self.arguments) or self.integers != CONTENTS[0]


def outcome_of(outcome: Outcome) -> str:
    """'run', 'not modelled: op' or 'error: kind'."""
    for error in outcome.errors:
        if isinstance(error, UnmodelledError):
            return f"not modelled: {re.sub(r'[0-9]+', 'N', error.message)}"
    return f"error: {outcome.errors[0].kind}" if outcome.errors else "run"


@dataclass(frozen=True, slots=True)
class Attempt:
    """A run. `rank` orders runs, the best first: few errors, then many lines that ran."""

    arguments: dict[str, int]
    integers: tuple[int, int]
    outcome: Outcome

    @property
    def rank(self) -> tuple[int, int]:
        outcome = self.outcome
        return len(outcome.errors) + 10_000 * outcome.stopped, -len(outcome.visited)


def admissible(func: Func, chip: Target) -> Row:
    """`func` under arguments that give no error; 'run in part' when more of it runs under others that give one.

    All sizes one power of two and all other numbers 0 or 1, for each of CONTENTS; then, from the best of these, one
    argument after the other takes the best value.
    """
    names = [
        a.name for a in func.args
        if isinstance(a.type, ScalarType) and not a.type.dtype.is_float and a.name not in LAUNCH_ARGUMENTS
    ]
    extents = {v.name for v in shape_operands(func)}
    deadline = process_time() + SEARCH
    found = Attempt({}, CONTENTS[0], replay(func, {}, chip, max_steps=STEPS))
    most = len(found.outcome.visited)

    def attempt(arguments: dict[str, int], integers: tuple[int, int]) -> None:
        nonlocal found, most
        if process_time() < deadline and (found.outcome.errors or len(found.outcome.visited) < most):
            outcome = replay(func, arguments, chip, max_steps=STEPS, integers=integers)
            most = max(most, len(outcome.visited))
            found = min(found, Attempt(arguments, integers, outcome), key=attrgetter("rank"))

    if found.outcome.errors and not outcome_of(found.outcome).startswith("not modelled"):
        holders = [a for a in func.args if isinstance(a.type, PtrType) and not a.type.dtype.is_float]
        for size, integers, number in product((128, *SIZES), CONTENTS if holders else CONTENTS[:1], (1, 0)):
            attempt({n: size if n in extents else number for n in names}, integers)
        for name in names:
            for value in SIZES if name in extents else NUMBERS:
                attempt(found.arguments | {name: value}, found.integers)
    outcome, error = outcome_of(found.outcome), str(found.outcome.errors[0]) if found.outcome.errors else ""
    if outcome == "run" and len(found.outcome.visited) < most:
        outcome = "run in part"
    lines = {op.line for op in walk(func.body) if op.name.startswith("pto.")} if func.body is not None else set()
    reached = len(lines & found.outcome.visited) / max(1, len(lines))
    return Row(func.name, outcome, found.arguments, found.integers, error, reached)


def run_file(path: str) -> list[Row]:
    """Each function with a body."""
    try:
        module: Module = read(Path(path).read_text("utf-8"), path)
    except PtoError as error:
        return [Row("", f"not read: {type(error).__name__}", {}, CONTENTS[0], str(error))]
    found = []
    for unit in module.units():
        chip = target("a5" if unit.arch == "a5" or "A5" in path else "a2a3")
        for func in unit.funcs:
            if func.body is not None:
                found.append(admissible(func, chip))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkout", type=Path)
    parser.add_argument("-j", "--jobs", type=int, default=2)
    parser.add_argument("--list", action="store_true", help="print each function that needs other arguments, or fails")
    options = parser.parse_args()
    files = [str(p) for p in kernels(options.checkout, "")]
    counts: Counter[str] = Counter()
    chosen = 0
    started = perf_counter()
    for path, result in zip(files, Workers(run_file, options.jobs, SECONDS).run(files), strict=True):
        rows = [Row("", f"stopped: {result.reason}", {}, CONTENTS[0])] if isinstance(result, Failure) else result
        counts.update(row.outcome for row in rows)
        chosen += sum(row.outcome == "run" and row.chosen for row in rows)
        for row in rows if options.list else ():
            if row.error or row.chosen or not row.function:
                where = Path(path).relative_to(options.checkout)
                under = f"{row.arguments} {row.integers} reaches {row.reached:.0%}"
                print(f"{where} {row.function}: {row.outcome} {under} {row.error}")
    total = sum(counts.values())
    print(f"{len(files)} files, {total} functions, {perf_counter() - started:.0f} s; {chosen} under other arguments")
    for outcome, n in counts.most_common():
        print(f"{n:6} {n / total:6.1%}  {outcome}")


if __name__ == "__main__":
    main()
