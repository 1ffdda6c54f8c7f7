"""How long the theorems take: `python -m benchmarks.proofs_suite`.

Prints the wall time of whole processes, cold (all theorems and their mutants, one core) and recorded, against their
budgets, and the time of single claims.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from pathlib import Path

from proofs.registry import THEOREMS
from proofs.theorem import counting
from verifiers.solver import Ladder, Query

ROOT = Path(__file__).resolve().parent.parent
BUDGETS = (("cold", ("--cold",), 5.0), ("recorded", (), 0.3))
MEDIAN_MS, P99_MS = 2, 50


def seconds(arguments: tuple[str, ...]) -> float:
    """Wall time of one run of the command."""
    start = time.perf_counter()
    command = [sys.executable, "-m", "pypto_verified", "prove", *arguments]
    subprocess.run(command, cwd=ROOT, stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - start


def main() -> int:
    for name, arguments, budget in BUDGETS:
        best = min(seconds(arguments) for _ in range(3))
        print(f"{name:<10} {best:.2f} s of {budget:.1f} s ({best / budget:.0%})")
    ladder = Ladder()
    times = []
    for theorem in THEOREMS:
        for claim in counting(theorem.claims(theorem.subject())):
            start = time.perf_counter()
            ladder.decide(Query(claim.hypotheses, claim.goal))
            times.append((time.perf_counter() - start) * 1000)
    cuts = statistics.quantiles(times, n=100)
    print(f"{len(times)} claims: median {cuts[49]:.1f} ms of {MEDIAN_MS} ms, p99 {cuts[98]:.1f} ms of {P99_MS} ms")
    return 0


if __name__ == "__main__":
    sys.exit(main())
