"""What time costs: runs under a schedule, flags and the search for races in force, beside the run in program order.

Run with `python -m benchmarks.schedules`. Parsing and compiling are not part of a run. The texts have the flags that
they need: a vector op of a2a3 has a barrier before it.
"""

from __future__ import annotations

import time
import timeit

import numpy as np

from benchmarks.simulator import additions, matmul
from pypto_verified.pto.module import Func, Module
from pypto_verified.simulator import compile, execute
from pypto_verified.simulator.schedule.engine import policy, run
from pypto_verified.simulator.schedule.launch import chosen
from pypto_verified.simulator.schedule.runs import Launch, Prepared, finish
from pypto_verified.simulator.values import Array
from pypto_verified.sync import insert_sync
from pypto_verified.targets import target

SCHEDULES = ("program", "eager", "late", "random")
CHIP = target("a2a3")


def _ratios(name: str, func: Func, inputs: dict[str, Array]) -> None:
    program = compile(func, CHIP)
    alone = min(timeit.repeat(lambda: execute(program, inputs, {}), number=5, repeat=5, timer=time.process_time)) / 5
    module = insert_sync(Module([func]), CHIP)
    group = chosen(module, func.name)
    print(f"{name}: {alone * 1e3:.2f} ms in program order")
    for schedule in SCHEDULES:
        prepared = Prepared(group, {f.name: f for f in module.funcs}, CHIP, Launch(schedule), {})

        def once(prepared: Prepared = prepared, schedule: str = schedule) -> None:
            world, memory = prepared.world(inputs, {})
            run(world, policy(schedule, 0))
            outcome = finish(world, memory)
            assert outcome.clean

        timed = min(timeit.repeat(once, number=5, repeat=5, timer=time.process_time)) / 5
        print(f"  {schedule}: {timed * 1e3:.2f} ms, {timed / alone:.1f} times as long")


def main() -> None:
    """Print one ratio a schedule, for a matmul through all memories and for a long row of vector ops."""
    half, single = np.ones((64, 64), np.float16), np.zeros((64, 64), np.float32)
    _ratios("64 x 64 x 64 matmul", matmul(64), {"a": half, "b": half, "c": single})
    wide = np.ones((128, 128), np.float32)
    _ratios("100 additions of 128 x 128 f32", additions(128, 100), {"a": wide, "b": wide, "c": np.zeros_like(wide)})


if __name__ == "__main__":
    main()
