"""`pypto-verify audit`: every planted fault switched on alone; which oracle notices it, and after how many kernels."""

from __future__ import annotations

import json
import multiprocessing
import os
from collections.abc import Sequence
from concurrent.futures import Executor, ProcessPoolExecutor
from dataclasses import asdict
from functools import partial
from typing import TextIO

from pypto_verified.fuzz.faults import FAULTS, Fault
from pypto_verified.fuzz.processes import end_workers, start_worker
from pypto_verified.fuzz.records import Batch, Found, Plan
from pypto_verified.fuzz.work import run_batch, shrink
from pypto_verified.records import dataclass

SCHEMA_VERSION = 1
EXAMPLES = 2000
SMALL = 6
"""Statements of a kernel that is small enough to read."""
_BATCH = 10
_TRIED = 10
"""How many finds are shrunk to get a small one: a product of the cube core has more than `SMALL` statements itself."""


@dataclass(frozen=True, slots=True)
class Row:
    """What became of one fault. `killed_by`: the oracle that noticed it first, '' for a survivor; `after`: kernels
    examined until then; `shrunk_statements`: of the smallest kernel that shows it."""

    id: str
    where: str
    shared: bool
    recreates: str
    killed_by: str
    after: int
    shrunk_statements: int


def audited(name: str, seed: int, examples: int = EXAMPLES) -> Row:
    """Generate kernels with the fault on until one shows it, and a few more until one is small; runs in a worker, whose
    product it changes meanwhile."""
    fault = FAULTS[name]
    plan = Plan(seed=seed, fault=name, deep_every=5)
    finds: list[Found] = []
    for start in range(0, examples, _BATCH):
        _, found = run_batch(Batch(plan, start, _BATCH))
        for f in found:
            finds.append(f if f.shrunk else shrink(f, name))
            if finds[-1].statements <= SMALL or len(finds) == _TRIED:
                return _row(fault, finds)
    return _row(fault, finds) if finds else Row(name, fault.where, fault.shared, fault.recreates, "", examples, 0)


def _row(fault: Fault, finds: Sequence[Found]) -> Row:
    return Row(fault.id, fault.where, fault.shared, fault.recreates, finds[0].find.oracle, finds[0].example + 1,
               min(f.statements for f in finds))


def alone(jobs: int) -> Executor:
    """A new process for each fault: what is interned or remembered under one fault is not there under the next."""
    spawn = multiprocessing.get_context("spawn")
    return ProcessPoolExecutor(jobs, spawn, start_worker, (os.getpid(),), max_tasks_per_child=1)


def audit(executor: Executor, seed: int, examples: int, out: TextIO, as_json: bool) -> int:
    """Audit all faults and print the table, as text row by row as they come. The exit code: 0 if each is noticed, and
    none by a crash, else 1. After a KeyboardInterrupt no worker is left."""
    rows: list[Row] = []
    try:
        for row in executor.map(partial(audited, seed=seed, examples=examples), FAULTS):
            rows.append(row)
            if not as_json:
                out.write(_line(row))
                out.flush()
    except KeyboardInterrupt:
        end_workers()  # which breaks the executor: it waits for nothing more
        raise
    if as_json:
        document = {"schema": SCHEMA_VERSION, "seed": seed, "faults": [asdict(row) for row in rows]}
        out.write(json.dumps(document, indent=2) + "\n")
    return int(any(row.killed_by in ("", "crash") for row in rows))


def _line(row: Row) -> str:
    if row.killed_by:
        text = f"{row.killed_by} after {row.after} kernels, {row.shrunk_statements} statements"
    else:
        text = f"survives {row.after} kernels"
    return f"{row.id:<26}{text}  [{row.where}]{f'  {row.recreates}' if row.recreates else ''}\n"
