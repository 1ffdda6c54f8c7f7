"""Kernels under time: the flags that are inserted are proved, order every schedule, and none can go unnoticed.

    order: proved    RACE and EVENT prove what was inserted
    order: runs      under any schedule the result is that of program order
    order: missing   with one part taken out, what a schedule shows is not PROVED
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from zlib import crc32

from pypto_verified.compiler import Artifact
from pypto_verified.differential import Simulated, arguments, named
from pypto_verified.errors import NotModelled
from pypto_verified.fuzz.builder import Kernel
from pypto_verified.fuzz.oracles import Find, compared, pattern
from pypto_verified.ir.stmt import If, While
from pypto_verified.ir.walk import walk_stmts
from pypto_verified.pto.module import Block, Module, Op
from pypto_verified.simulator import schedule
from pypto_verified.sync import insert_sync
from pypto_verified.targets import Target
from pypto_verified.trials import Array, Trial
from verifiers import Options, verify

MAX_STEPS = 2000
_ORDERS = ("late", "random", "eager")
_TRIED = 4
"""Parts of a kernel's order that are taken out in turn."""
_JUDGED = 24
"""What the rules may take on kernels without a part that a schedule misses, in branches and counted inputs: where there
is no proof they look for a run that fails, over all values of those."""
_FAMILIES = frozenset({"RACE", "EVENT"})


def examine(
    kernel: Kernel, artifact: Artifact, chip: Target, trial: Trial, expected: Mapping[str, Array], loose: set[str],
    assume: tuple[str, ...],
) -> Iterator[Find]:
    """What is found on one run, at most one of each."""
    try:
        made = insert_sync(artifact.module, chip)
    except NotModelled:
        return
    seed = len(artifact.module.funcs[0].args) + trial.sizes.get("M", 0)
    wrong = _verdicts(made, kernel, artifact, chip, assume)
    if "REFUTED" in wrong:
        yield Find("order: proved", f"{wrong['REFUTED']} is refuted", f"what was inserted: {wrong['REFUTED']}", trial)
    find = _run(made, kernel, artifact, chip, trial, expected, loose, _ORDERS[seed % len(_ORDERS)], seed)
    if find is not None:
        yield find
        return
    left = _JUDGED
    for part in _some_parts(made, f"{trial.kind} {sorted(trial.sizes.items())}"):
        with _without(made, part):
            runs = (_run(made, kernel, artifact, chip, trial, expected, loose, order, seed) for order in _ORDERS)
            shown = next((find for find in runs if find is not None), None)
            if shown is None:
                continue
            if set(_verdicts(made, kernel, artifact, chip, assume)) == {"PROVED"}:
                yield Find("order: missing", f"PROVED without a {pattern(part)}", shown.detail, trial)
                return
        left -= _cost(kernel)
        if left <= 0:
            return


def _cost(kernel: Kernel) -> int:
    """What one answer about a kernel without a part takes, by its choices of a way: the least is a fourth of all."""
    choices = len(kernel.ranges) + sum(isinstance(s, If | While) for s in walk_stmts(kernel.function.body))
    return max(_JUDGED // _TRIED, 4 * choices)


def _verdicts(
    module: Module, kernel: Kernel, artifact: Artifact, chip: Target, assume: tuple[str, ...]
) -> dict[str, str]:
    """Verdict -> a rule that has it."""
    options = Options(assume, families=_FAMILIES, explicit_sync=True, names={kernel.function.name: artifact.names})
    return {o.verdict.value: o.rule for r in verify(module, chip, options) for o in r.obligations}


def _run(
    module: Module, kernel: Kernel, artifact: Artifact, chip: Target, trial: Trial, expected: Mapping[str, Array],
    loose: set[str], order: str, seed: int,
) -> Find | None:
    """What a schedule shows: a race, a hang, a wrong flag, another result."""
    arrays, scalars = arguments(kernel.function, artifact, trial)
    outcome = schedule.run(module, chip, arrays, scalars, schedule=order, seed=seed, max_steps=MAX_STEPS)
    if outcome.races:
        return Find("order: runs", "a race", f"{order}: {outcome.races[0]}", trial)
    if outcome.deadlock is not None:
        return Find("order: runs", "a hang", f"{order}: {outcome.deadlock}", trial)
    simulated = Simulated(named(kernel.function, artifact, trial, outcome.outputs), outcome.errors)
    try:
        return compared(kernel.function, simulated, trial, expected, loose, "order: runs")
    except NotModelled:
        return None


def _some_parts(module: Module, salt: str) -> list[str]:
    """A few of the barriers and flags of a module. Whether one is among them hangs on `salt` and itself, so that it
    stays there when the kernel is made smaller."""
    body = module.funcs[0].body
    ops = (op for block in _blocks(body) for op in block.ops) if body is not None else ()
    parts = {part for op in ops if (part := _part(op))}
    return sorted(parts, key=lambda part: crc32(f"{salt} {part}".encode()))[:_TRIED]


@contextmanager
def _without(module: Module, part: str) -> Iterator[None]:
    """The module without a barrier, or without the sets and waits of a flag."""
    body = module.funcs[0].body
    kept = [(block, block.ops) for block in _blocks(body)] if body is not None else []
    for block, ops in kept:
        block.ops = [op for op in ops if _part(op) != part]
    try:
        yield
    finally:
        for block, ops in kept:
            block.ops = ops


def _part(op: Op) -> str:
    """The same for the set and the wait of a flag; '' for an op that orders nothing."""
    if op.name == "pto.barrier":
        return f"barrier {op.attrs['pipe']}"
    if op.name in ("pto.set_flag", "pto.wait_flag"):
        return f"flag {op.attrs['src_pipe']} {op.attrs['dst_pipe']} {op.attrs['event_id']}"
    return ""


def _blocks(block: Block) -> Iterator[Block]:
    yield block
    for op in block.ops:
        for region in op.regions:
            yield from _blocks(region)
