"""A `break` becomes a while loop whose counter a branch steps; its bounds still follow."""

from __future__ import annotations

import pytest

from pypto_verified.compiler import compile_function
from pypto_verified.language import load_source
from pypto_verified.report.model import Verdict
from pypto_verified.targets import target
from tests.verifiers.kernels import verdicts
from verifiers import Options, verify

KERNEL = """
import pypto.language as pl


@pl.program
class P:
    @pl.function(type=pl.FunctionType.InCore)
    def k(self, a: pl.Tensor[[64, 64], pl.FP32], out: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
        for i in pl.range(0, 10):
            if i > LAST:
                break
            t = pl.load(a, [i * 16, 0], [16, 64])
            out = pl.store(t, [i * 16, 0], out)
        return out
"""


@pytest.mark.parametrize(("last", "expected"), [(3, Verdict.PROVED), (4, Verdict.UNKNOWN)])
def test_the_exit_bounds_the_counter(last: int, expected: Verdict) -> None:
    # derivation: rows 16*i .. 16*i + 15 of 64 are inside for i = 0..3; i = 4 reads row 64
    chip = target("a2a3")
    function = load_source(KERNEL.replace("LAST", str(last)), "k.py").programs[0].functions[0]
    (result,) = verify(compile_function(function, chip).module, chip, Options(families=frozenset({"BOUND"})))
    assert expected in verdicts(result, "BOUND-UPPER")
    assert verdicts(result, "BOUND-UPPER") <= {Verdict.PROVED, expected}
    assert verdicts(result, "BOUND-LOWER") == {Verdict.PROVED}
