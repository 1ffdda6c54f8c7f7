"""Branches that data decide: each op of the sync that a kernel needs is missed, by a run whose tensors hold what leads
to the place where it is missed."""

from __future__ import annotations

import pytest

from pypto_verified.pto import reader, writer
from pypto_verified.pto.module import Module
from pypto_verified.report.model import Verdict
from pypto_verified.sync import insert_sync
from pypto_verified.targets import TARGETS, target
from pypto_verified.witness import replayed
from tests.sync.judged import sync_ops, verdicts, without
from tests.verifiers.kernels import alloc, fill, given, kernel, out, tile, unary
from verifiers import Options, verify

TILE = tile()
ORDER = Options(families=frozenset({"RACE", "EVENT"}), explicit_sync=True)


def branched(compared: str, chip: str) -> Module:
    """An element that has been loaded decides whether a tile is computed or filled, then it is stored."""
    body = (
        alloc("t", TILE), given("t", TILE), f"%word = pto.tgetval ins(%t, %c4 : {TILE}, index) outs : f32",
        "%limit = arith.constant 70.5 : f32", f"%is = arith.cmpf {compared}, %word, %limit : f32",
        alloc("u", TILE, 8192), "scf.if %is {", unary("texp", "t", "u", TILE), "} else {", fill("u", TILE), "}",
        out("u", TILE))
    plain = reader.read(kernel("\n".join(body)).replace('"a2a3"', f'"{chip}"'))
    return reader.read(writer.write(insert_sync(plain, target(chip))))


@pytest.mark.requirement("EV-08")
@pytest.mark.parametrize("compared", ["ogt", "oeq", "olt"])
@pytest.mark.parametrize("chip", sorted(TARGETS))
def test_each_op_that_is_gone_is_missed_by_a_run(compared: str, chip: str) -> None:
    module = branched(compared, chip)
    assert verdicts(module, chip) == {"PROVED"}
    gone = list(sync_ops(module))
    assert len(gone) >= 6, "load to scalar unit, load to vectors, vectors to store"
    for op in gone:
        rest = without(module, op)
        found = [
            f for r in verify(rest, target(chip), ORDER) for f in replayed(r, rest, target(chip), 0, {}).findings]
        shown = [f for f in found if f.verdict is Verdict.REFUTED and f.replay.startswith("confirmed")]
        assert shown, (op, found)
        assert not [f for f in found if f.verdict is Verdict.ERROR]
