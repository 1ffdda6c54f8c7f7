"""What a conformance case is, and when a result is the expected one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from tests.conformance.arithmetic import Array

if TYPE_CHECKING:
    from tests.conformance.ir_kernel import IrKernel
    from tests.conformance.pto_kernel import PtoKernel

TARGETS = ("a2a3", "a5")
INTERPRETER = "interpreter"
ORACLES = (INTERPRETER, *TARGETS)

Region: TypeAlias = tuple[int, int]
"""Valid rows and columns."""
REGIONS: dict[str, Region] = {"full": (4, 32), "partial": (3, 19), "one": (1, 1), "no-rows": (0, 32), "no-cols": (3, 0)}
SHAPE = (4, 32)
"""The tile of the table-driven families: 19 columns end inside a 32-byte block of every element type."""


@dataclass(frozen=True, slots=True)
class Memory:
    """Bytes of an on-chip space from byte `address`: `data` where `known`, never written elsewhere if `untouched`."""

    space: str
    address: int
    data: Array
    known: Array
    untouched: bool = True


@dataclass(frozen=True, slots=True)
class Case:
    """One op on one input, with what must come out.

    `inputs`: global tensors before the run, by name, results among them. `expected`: tensors after it, for each oracle
    that knows the tensor; `on` holds those where an oracle is expected to give something else. `ir` and `pto` write the
    kernel for the interpreter and for the simulator; None where an oracle has no such op. `care`: bits that count, by
    tensor. `close`: allowed difference relative to the expected value, 0 for bitwise; `within`: an absolute one.
    `memory`: on-chip bytes by target. `faults`: by target, the kinds of fault that the run must report. `scalars`:
    run-time scalar arguments.
    """

    name: str
    op: str
    derivation: str
    inputs: Mapping[str, Array]
    expected: Mapping[str, Array]
    ir: Callable[[IrKernel], None] | None = None
    pto: Callable[[PtoKernel], None] | None = None
    targets: tuple[str, ...] = TARGETS
    on: Mapping[str, Mapping[str, Array]] = field(default_factory=dict)
    care: Mapping[str, Array] = field(default_factory=dict)
    close: float = 0.0
    within: float = 0.0
    memory: Mapping[str, tuple[Memory, ...]] = field(default_factory=dict)
    faults: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    scalars: Mapping[str, int | float] = field(default_factory=dict)

    @property
    def oracles(self) -> tuple[str, ...]:
        """The oracles that have to pass this case."""
        return ((INTERPRETER,) if self.ir is not None else ()) + (self.targets if self.pto is not None else ())

    def wanted(self, oracle: str, tensor: str) -> Array:
        """What the tensor must hold after a run."""
        return self.on.get(oracle, {}).get(tensor, self.expected[tensor])


def differences(case: Case, oracle: str, outputs: Mapping[str, Array]) -> list[str]:
    """The elements that are not as expected, as text; empty when the run conforms."""
    found: list[str] = []
    for name in case.expected:
        if name not in outputs:
            continue
        want, got = case.wanted(oracle, name), np.asarray(outputs[name])
        if want.shape != got.shape or want.dtype != got.dtype:
            found.append(f"{name} is {got.dtype}{got.shape} instead of {want.dtype}{want.shape}")
            continue
        wrong = np.argwhere(~_same(want, got, case.care.get(name), case.close, case.within))
        if len(wrong):
            at = tuple(int(i) for i in wrong[0])
            found.append(f"{name}{list(at)} is {got[at]} instead of {want[at]} ({len(wrong)} of {want.size} wrong)")
    return found


def _same(want: Array, got: Array, care: Array | None, close: float, within: float) -> Array:
    unsigned = np.dtype(f"u{want.itemsize}")
    a, b = (np.ascontiguousarray(x).view(unsigned) for x in (want, got))
    equal: Array = (a == b) if care is None else ((a ^ b) & care) == 0
    if want.dtype.kind in "fV":
        with np.errstate(invalid="ignore"):
            x, y = want.astype(np.float64), got.astype(np.float64)
        equal = equal | (np.isnan(x) & np.isnan(y))
        if close or within:
            with np.errstate(invalid="ignore"):
                equal = equal | (np.abs(x - y) <= close * np.abs(x) + within)
    return equal
