"""Which ops both meanings know: all that code generation emits, but for those named here."""

from __future__ import annotations

import pytest

from pypto_verified.codegen.emit_dps import ROWS
from pypto_verified.codegen.emit_ops import CUSTOM, EFFECTS
from pypto_verified.interpreter import UNSPECIFIED
from pypto_verified.interpreter.meaning import MEANINGS
from pypto_verified.ops.registry import OPS
from tests.differential.kernels import BODIES, ops_of

GENERATED = sorted(name for name in {*ROWS, *CUSTOM, *EFFECTS} if name in OPS and OPS[name].deduce is not None)
"""Ops that a kernel can call (they have a type rule) and code generation turns into `.pto`."""

WITHOUT_A_RESULT = frozenset(name for name in GENERATED if name.startswith("system."))
"""Synchronisation and set-up: nothing to be equal."""
PIPES = frozenset({"tile.tpush_to_aiv", "tile.tpush_to_aic", "tile.tpop_from_aic", "tile.tpop_from_aiv"})
"""Compared in kernels of their own: a pipe has two ends, and a2a3 refuses unsplit ones."""
FOLDED = frozenset({"tensor.dim"})
"""A size of a parameter: the language takes the parameter's own dim."""


@pytest.mark.requirement("VF-10")
@pytest.mark.parametrize("op", GENERATED)
def test_every_generated_op_has_a_meaning(op: str) -> None:
    assert op in MEANINGS


@pytest.mark.requirement("VF-10")
def test_every_generated_op_is_compared() -> None:
    compared = {op for kernel in BODIES for op in ops_of(kernel)}
    assert set(GENERATED) - compared == WITHOUT_A_RESULT | PIPES | FOLDED


def test_no_meaning_without_a_declaration() -> None:
    assert set(MEANINGS) <= set(OPS)
    assert set(UNSPECIFIED) <= set(MEANINGS)
