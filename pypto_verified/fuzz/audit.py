"""`pypto-verify audit`: every planted fault switched on alone; which oracle notices it, and after how many kernels."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from concurrent.futures import Executor
from dataclasses import asdict, dataclass
from functools import partial
from typing import TextIO

from pypto_verified.fuzz.faults import FAULTS, Fault
from pypto_verified.fuzz.records import Batch, Plan
from pypto_verified.fuzz.work import run_batch, shrink

SCHEMA_VERSION = 1
EXAMPLES = 2000
_BATCH = 10


@dataclass(frozen=True, slots=True)
class Row:
    """What became of one fault. `killed_by`: the oracle that noticed it first, '' for a survivor; `after`: kernels
    examined until then; `shrunk_statements`: of the smallest kernel that shows it."""

    id: str
    where: str
    shared: bool
    killed_by: str
    after: int
    shrunk_statements: int


def audited(name: str, seed: int, examples: int = EXAMPLES) -> Row:
    """Generate kernels with the fault on until one shows it; runs in a worker, whose product it changes meanwhile."""
    fault = FAULTS[name]
    plan = Plan(seed=seed, fault=name, deep_every=5)
    for start in range(0, examples, _BATCH):
        _, found = run_batch(Batch(plan, start, _BATCH))
        if found:
            first = found[0]
            small = first if first.shrunk else shrink(first, name)
            return Row(name, _where(fault), fault.shared, small.find.oracle, first.example + 1, small.statements)
    return Row(name, _where(fault), fault.shared, "", examples, 0)


def _where(fault: Fault) -> str:
    return f"{fault.module.removeprefix('pypto_verified.').replace('.', '/')}:{fault.name}"


def audit(executor: Executor, seed: int, examples: int, out: TextIO, as_json: bool) -> int:
    """Audit all faults and print the table. The exit code: 0 if each is noticed, and none by a crash, else 1."""
    rows = list(executor.map(partial(audited, seed=seed, examples=examples), FAULTS))
    if as_json:
        document = {"schema": SCHEMA_VERSION, "seed": seed, "faults": [asdict(row) for row in rows]}
        out.write(json.dumps(document, indent=2) + "\n")
    else:
        out.writelines(_lines(rows))
    return int(any(row.killed_by in ("", "crash") for row in rows))


def _lines(rows: Iterable[Row]) -> Iterator[str]:
    for row in rows:
        if row.killed_by:
            yield (f"{row.id:<24}{row.killed_by} after {row.after} kernels, {row.shrunk_statements} statements  "
                   f"[{row.where}]\n")
        else:
            yield f"{row.id:<24}survives {row.after} kernels  [{row.where}]\n"
