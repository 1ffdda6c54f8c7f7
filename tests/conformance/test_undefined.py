"""A result that depends on what nothing has written is no result: every op hands the mark on to what is stored."""

from __future__ import annotations

import warnings
from collections.abc import Container, Iterator

import numpy as np
import pytest

from pypto_verified.pto.reader import read
from pypto_verified.simulator import Outcome, compile, execute
from pypto_verified.targets import target
from tests.conformance.case import TARGETS, Case
from tests.conformance.pto_kernel import PtoKernel
from tests.conformance.test_conformance import CASES

NOT_READ = {"tsels": "%b_"}
"""Operands that are loaded and say nothing: the scratch of a selection."""
KERNELS = 2
"""Cases of each op."""


def _run(case: Case, kernel: PtoKernel, text: str, on: str) -> Outcome:
    given = {name: case.inputs[name] for name in kernel.tensors}
    return execute(compile(read(text, "case.pto").funcs[0], target(on)), given, dict(case.scalars))


def _kernels(on: str) -> Iterator[tuple[Case, PtoKernel]]:
    """The first cases of each op that run without a fault and change their results."""
    taken: dict[str, int] = {}
    for case in CASES:
        if case.pto is None or on not in case.targets or case.faults.get(on) or taken.get(case.op, 0) == KERNELS:
            continue
        kernel = PtoKernel(case.inputs, on, case.scalars)
        case.pto(kernel)
        if any(case.wanted(on, n).tobytes() != np.asarray(case.inputs[n]).tobytes() for n in case.expected):
            taken[case.op] = taken.get(case.op, 0) + 1
            yield case, kernel


MADE = [(on, case, kernel) for on in TARGETS for case, kernel in _kernels(on)]


def _loads(kernel: PtoKernel, op: str) -> list[int]:
    """The lines that load what the op reads: neither what its result's tile holds before, nor scratch."""
    loaded = [(n, line.partition("pto.tload ins(")[2]) for n, line in enumerate(kernel.text.splitlines())]
    return [n for n, src in loaded if src and not src.startswith(("%whole", "%out", NOT_READ.get(op, "%none")))]


def _without(kernel: PtoKernel, left_out: Container[int]) -> str:
    return "\n".join("" if n in left_out else line for n, line in enumerate(kernel.text.splitlines()))


@pytest.mark.parametrize(("on", "op"), sorted({(on, case.op) for on, case, _ in MADE}))
def test_what_is_made_of_a_tile_that_was_never_written_is_told_when_it_is_stored(on: str, op: str) -> None:
    warnings.simplefilter("ignore")
    for case, kernel in ((c, k) for where, c, k in MADE if (where, c.op) == (on, op)):
        loads = _loads(kernel, op)
        for number in loads:
            outcome = _run(case, kernel, _without(kernel, [number]), on)
            assert "uninitialised" in {e.kind for e in outcome.errors}, (case.name, number)
        errors = _run(case, kernel, _without(kernel, loads), on).errors
        told = {(e.op, e.line) for e in errors if e.kind == "uninitialised"}
        stores = {n for n, line in enumerate(kernel.text.splitlines(), 1) if "pto.tstore" in line}
        # An op that can't go on without its indices tells it itself.
        if loads and all(name == "pto.tstore" for name, _ in told):
            assert {line for _, line in told} >= stores, case.name
