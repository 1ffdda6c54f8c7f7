"""How many random kernels a core examines in a second, from generating to comparing.

Run with `python -m benchmarks.fuzz_rate`: the seeded driver, tiles of at most 32 x 64, one run a kernel, the checks
after each pass and the slow oracles off, features not counted. Times are those of the processor. The goal stands beside
the rate.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import TypeVar

from pypto_verified import simulator
from pypto_verified.compiler import MemoryPlanner, compile_function
from pypto_verified.differential import simulate
from pypto_verified.errors import PtoError
from pypto_verified.fuzz.draw import Seeded
from pypto_verified.fuzz.generator import kernel as generate
from pypto_verified.fuzz.oracles import compared, inputs, interpreted
from pypto_verified.fuzz.work import settle
from pypto_verified.interpreter import Undefined
from pypto_verified.targets import target

GOAL = 300
T = TypeVar("T")


class Stages:
    """Seconds by stage."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    def timed(self, stage: str, work: Callable[[], T]) -> T:
        started = time.process_time()
        try:
            return work()
        finally:
            self.seconds[stage] = self.seconds.get(stage, 0.0) + time.process_time() - started


def examine(stages: Stages, seed: int, example: int) -> None:
    """One kernel, as a campaign examines it."""
    k = stages.timed("generate", lambda: generate(Seeded(seed, example)))
    chip = target(k.target)
    try:
        artifact = stages.timed(
            "compile", lambda: compile_function(k.function, chip, MemoryPlanner(k.planner), read_back=False))
    except PtoError:
        return
    program = stages.timed("simulator: compile", lambda: simulator.compile(artifact.module.funcs[0], chip))
    (trial,) = stages.timed("inputs", lambda: list(inputs(k, example, 1)))
    loose: set[str] = set()
    try:
        expected = stages.timed("interpret", lambda: interpreted(k.function, trial, loose))
    except Undefined:
        return
    outcome = stages.timed("simulator: run", lambda: simulate(k.function, artifact, program, chip, trial))
    find = stages.timed("compare", lambda: compared(k.function, outcome, trial, expected, loose, "meaning"))
    if find is not None:
        print(f"find: seed {seed}, example {example}: {find.detail}")


def main() -> None:
    """Print the rate and where the time goes."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.fuzz_rate", description=__doc__)
    parser.add_argument("--kernels", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    for example in range(100):
        examine(Stages(), options.seed + 1, example)
    settle()  # as a campaign's workers do
    stages = Stages()
    started = time.process_time()
    for example in range(options.kernels):
        examine(stages, options.seed, example)
    total = time.process_time() - started
    print(f"{options.kernels / total:.0f} kernels/s a core (goal: {GOAL})")
    for stage, seconds in sorted(stages.seconds.items(), key=lambda item: -item[1]):
        print(f"  {stage:<20}{1000 * seconds / options.kernels:6.2f} ms")


if __name__ == "__main__":
    main()
