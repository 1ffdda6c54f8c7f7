"""How long a user waits for the command: `python benchmarks/cli_startup.py`.

Prints the median wall time of a whole process against its budget, once for --help, once for a kernel whose obligations
the normal form decides, once for one that needs z3. The replay and all rules are on.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
RUNS = 9

BUDGETS = (
    ("--help", ("--help",), 0.12),
    ("kernel without SMT", (str(ROOT / "examples" / "multiply_32x32.py"),), 0.25),
    ("kernel with z3", (str(ROOT / "examples" / "broken" / "bound.py"),), 0.5),
)


def seconds(arguments: tuple[str, ...]) -> float:
    """Wall time of one run of the command."""
    start = time.perf_counter()
    command = [sys.executable, "-c", "import sys; from pypto_verified.cli import main; sys.exit(main())", *arguments]
    subprocess.run(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    return time.perf_counter() - start


def main() -> int:
    for name, arguments, budget in BUDGETS:
        seconds(arguments)
        median = statistics.median(seconds(arguments) for _ in range(RUNS))
        print(f"{name:<20} {median:.3f} s of {budget:.2f} s ({median / budget:.0%})")
    return 0


if __name__ == "__main__":
    sys.exit(main())
