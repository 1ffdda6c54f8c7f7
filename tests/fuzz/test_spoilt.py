"""Modules that were made wrong in one way each: a rule that lets them pass is found, and right rules are not."""

from __future__ import annotations

import pytest

from pypto_verified.fuzz import spoilt
from pypto_verified.fuzz.builder import Kernel
from pypto_verified.fuzz.faults import switched_on
from pypto_verified.fuzz.oracles import Find, inputs, interpreted
from pypto_verified.targets import target
from tests.interpreter.kernels import tensor
from tests.passes.build import kernel

PARAMS = ",\n".join((*(tensor(n, (8, 16), "FP32") for n in "ab"), tensor("out", (8, 16), "FP32", out=True)))
SUM = """
    x = pl.load(a, [0, 0], [8, 16])
    y = pl.load(b, [0, 0], [8, 16])
    z = pl.maximum(x, y)
    out = pl.store(z, [0, 0], out)
    return out
"""
ONE = """
    x = pl.load(a, [0, 0], [8, 16])
    out = pl.store(x, [0, 0], out)
    return out
"""
EXP = """
    x = pl.load(a, [0, 0], [8, 16])
    y = pl.exp(x)
    out = pl.store(x, [0, 0], out)
    out = pl.store(y, [0, 0], out)
    return out
"""
WAYS = (
    ("plan-sees-no-clobber", SUM, "two tiles lie at one address"),
    ("init-asks-of-the-written", ONE, "a write is left out"),
    ("valid-of-no-transfer", EXP, "a tile is valid on a row less"),
)


def found(body: str) -> list[Find]:
    whole = Kernel(kernel(PARAMS, body), {}, "a5", "PYPTO")
    (trial,) = inputs(whole, 0, 1)
    loose: set[str] = set()
    expected = interpreted(whole.function, trial, loose)
    return list(spoilt.examine(whole, target("a5"), trial, expected, loose, ()))


@pytest.mark.parametrize("body", [SUM, ONE, EXP])
def test_rules_that_see_what_was_spoilt_are_no_find(body: str) -> None:
    assert found(body) == []


@pytest.mark.parametrize(("fault", "body", "what"), WAYS)
def test_rules_that_let_a_spoilt_module_pass_are_found(fault: str, body: str, what: str) -> None:
    with switched_on(fault):
        finds = found(body)
    assert [(f.oracle, f.cause) for f in finds] == [("rules: missed", f"PROVED though {what}")]


def test_a_run_that_shows_nothing_is_no_find(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of two tiles that hold equal values one may lie over the other."""
    monkeypatch.setattr(spoilt, "WAYS", spoilt.WAYS[:1])
    same = SUM.replace("pl.load(b,", "pl.load(a,")
    with switched_on("plan-sees-no-clobber"):
        assert found(same) == []
