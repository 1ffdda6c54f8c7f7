"""How long a user waits for the command: `python -m benchmarks.cli_startup`.

Prints the median wall time of a whole process against its budget, once for --help, once for a kernel whose obligations
the normal form decides, once for one that needs z3; then how much faster two jobs are than one on a batch of files. The
replay and all rules are on.
"""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
RUNS = 9

BATCH = 6
SPEED_UP = 1.7

BUDGETS = (
    ("--help", ("--help",), 0.12),
    ("kernel without SMT", (str(ROOT / "examples" / "multiply_32x32.py"),), 0.25),
    ("kernel with z3", (str(ROOT / "examples" / "broken" / "bound.py"), "--no-cache"), 0.5),
)


def seconds(arguments: tuple[str, ...], environment: dict[str, str]) -> float:
    """Wall time of one run of the command."""
    start = time.perf_counter()
    command = [sys.executable, "-m", "pypto_verified", *arguments]
    quiet = subprocess.DEVNULL
    subprocess.run(command, cwd=ROOT, stdout=quiet, stderr=quiet, check=False, env=environment)
    return time.perf_counter() - start


def main() -> int:
    with tempfile.TemporaryDirectory() as bytecode:
        environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
        environment["PYTHONPYCACHEPREFIX"] = bytecode  # compiled modules, as after an installation
        for name, arguments, budget in BUDGETS:
            seconds(arguments, environment)
            median = statistics.median(seconds(arguments, environment) for _ in range(RUNS))
            print(f"{name:<20} {median:.3f} s of {budget:.2f} s ({median / budget:.0%})")
        with tempfile.TemporaryDirectory() as batch:
            for number in range(BATCH):
                shutil.copytree(ROOT / "examples", Path(batch) / str(number))
            one, two = (min(seconds((batch, "-j", jobs), environment) for _ in range(3)) for jobs in ("1", "2"))
        print(f"{'batch, -j2':<20} {one / two:.2f} times as fast as -j1, goal {SPEED_UP}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
