"""What a user reads about a kernel that is not modelled: also what to do."""

from __future__ import annotations

from pathlib import Path

import pytest

from pypto_verified.check import CheckOptions, check_paths
from pypto_verified.report.model import Verdict

KERNEL = """
import pypto.language as pl

Whole = pl.Tensor[[64, 64], pl.FP32]


@pl.program
class P:
    @pl.function(type=pl.FunctionType.InCore)
    def kernel(self, a: Whole, out: pl.Out[Whole]) -> Whole:
        LINE
        return out
"""


@pytest.mark.parametrize(("line", "message", "help"), [
    ("t = a[0:32, 0:64]", "slice of a tensor", "load the window: pl.load(tensor, offsets, shapes)"),
    ("out[0:32, 0:64] = a", "assignment to a slice", "use pl.store(tile, offsets, tensor) or pl.assemble"),
])
def test_a_kernel_that_is_not_modelled_says_what_to_write_instead(
    line: str, message: str, help: str, tmp_path: Path
) -> None:
    path = tmp_path / "kernel.py"
    path.write_text(KERNEL.replace("LINE", line))
    (file,) = check_paths([str(path)], CheckOptions()).files
    (found,) = file.functions[0].findings
    assert (found.rule, found.verdict, found.line) == ("NOT-MODELLED", Verdict.UNKNOWN, 11)
    assert (found.message, found.help) == (f"not modelled: {message}", help)
