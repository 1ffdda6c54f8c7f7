"""RACE-CORE: loops of two functions call their counters alike, and are in different turns."""

from __future__ import annotations

import numpy as np
import pytest

from pypto_verified.pto.reader import read
from pypto_verified.report.model import Verdict
from pypto_verified.simulator import schedule
from pypto_verified.targets import target
from tests.verifiers.kernels import alloc, kernel, load, store, view, window
from tests.verifiers.rings_between_cores import ACC, VEC
from verifiers import Options, verify


def core(kind: str, begin: str, end: str, *body: str) -> str:
    """Four turns of %i; those of a core are %stride rows apart, 16 from %M = 484 on, and many for small sizes."""
    lines = (
        "%rows = arith.constant 2048 : index", "%far = arith.constant 500 : index",
        "%less = arith.subi %far, %M : index", "%stride = arith.maxsi %less, %c16 : index",
        view("pv", "p", "rows", "c16"), begin, "scf.for %i = %c0 to %c4 step %c1 {",
        "%mine = arith.muli %i, %stride : index", "%next = arith.addi %mine, %c16 : index", *body, "}", end)
    text = kernel("\n".join(line for line in lines if line), "%M: index", kind=kind).replace("@k(", f"@k_{kind}(")
    return "\n".join(text.splitlines()[1:-1])


def text(row: str) -> str:
    cube = core(
        "cube", alloc("acc", ACC, 0, "c16", "c16"), "", window("there", "pv", "%mine, %c0", "%c16, %c16", "16x16"),
        store("acc", "there", ACC, "16x16"))
    vector = core(
        "vector", alloc("t", VEC, 0, "c16", "c16"), "", window("here", "pv", f"%{row}, %c0", "%c16, %c16", "16x16"),
        load("here", "t", VEC, "16x16"))
    told = ("pto.sync.set #pto.pipe<PIPE_FIX>, 3", "pto.sync.wait #pto.pipe<PIPE_MTE2>, 3")
    return f"module {{\n{cube.replace('    return', told[0] + chr(10) + '    return')}\n" + (
        f"{vector.replace('    return', told[1] + chr(10) + '    return')}\n}}\n")


def races(text: str, size: int) -> bool:
    nothing = np.zeros((2048, 16), np.float32)
    ran = schedule.run(read(text, "k.pto"), target("a2a3"), {"p": nothing, "q": nothing}, {"M": size},
                       function="k_cube", schedule="late")
    return any(r.first.core != r.second.core for r in ran.races)


@pytest.mark.requirement("EV-06")
@pytest.mark.parametrize("row", ["mine", "next"])
def test_a_turn_of_one_core_meets_another_turn_of_the_other(row: str) -> None:
    """What the lanes load in the next turn, by their own count, the cube may store now, though no small size shows it:
    only the load behind the store of the same turn meets for every size."""
    both = text(row)
    assert (races(both, 1), races(both, 490)) == (row == "mine", True)
    options = Options(families=frozenset({"RACE"}), explicit_sync=True, assume=("M >= 0",))
    result = verify(read(both, "k.pto"), target("a2a3"), options)[-1]
    found = {o.verdict for o in result.obligations if o.rule == "RACE-CORE"}
    assert found == {Verdict.REFUTED if row == "mine" else Verdict.UNKNOWN}
