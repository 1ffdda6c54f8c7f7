"""Generated kernels write over tiles of which there are views that are read afterwards."""

from __future__ import annotations

import pytest

from pypto_verified.fuzz.draw import Seeded
from pypto_verified.fuzz.generator import kernel
from pypto_verified.ir.expr import Call, Var
from pypto_verified.ir.stmt import Assign, Function
from pypto_verified.ir.walk import walk_stmts


def _reads_behind(function: Function) -> bool:
    """Whether a window is stored after the tile that it was cut from was assembled into."""
    cut: dict[str, str] = {}
    written: set[str] = set()
    for s in walk_stmts(function.body):
        if not isinstance(s, Assign) or not isinstance(s.value, Call) or not isinstance(s.value.args[0], Var):
            continue
        first = s.value.args[0].name
        if s.value.op == "tile.slice":
            cut[s.var.name] = first
        elif s.value.op == "tile.assemble":
            written.add(first)
        elif s.value.op == "tile.store" and cut.get(first, "") in written:
            return True
    return False


@pytest.mark.requirement("VF-04")
def test_one_kernel_in_fifty_reads_a_view_of_a_tile_that_was_written_over() -> None:
    drawn = 200
    assert sum(_reads_behind(kernel(Seeded(11, example)).function) for example in range(drawn)) >= drawn // 50
