"""Each assumption is known here by its id: a kernel whose verdict `--strict` changes, or why none does."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from pypto_verified.check import CheckOptions, check_paths
from pypto_verified.report.model import Verdict
from pypto_verified.targets import ASSUMPTIONS
from tests.verifiers.examples_blocks import BY_DATA, HALVES, blocks, get, meeting
from tests.verifiers.examples_blocks import put as put_rows
from tests.verifiers.examples_event import flag, flags, loop
from tests.verifiers.examples_fifo import PAIRS as PIPES
from tests.verifiers.examples_index import PAIRS as INDICES
from tests.verifiers.examples_lanes import beside_a_cube, put
from tests.verifiers.examples_ops import PAIRS as OPS
from tests.verifiers.examples_race import VEC, both, exp, pipes, read, write
from tests.verifiers.kernels import alloc, check, fill, kernel, load, tile, verdicts


@dataclass(frozen=True, slots=True)
class Reading:
    """A kernel that is proved under the assumption, and that `rule` does not prove with --strict."""

    rule: str
    text: str
    strict: Verdict = Verdict.REFUTED
    chip: str = "a2a3"


def _products() -> str:
    """Two products, the second one added to the first."""
    left, right = tile(64, 64, loc="left", slayout="row_major"), tile(64, 64, loc="right", slayout="col_major")
    acc = tile(64, 64, loc="acc", blayout="col_major", slayout="row_major", fractal=1024)
    return kernel("\n".join((
        alloc("l", left, 0, "c64"), alloc("r", right, 0, "c64"), alloc("c", acc, 0, "c64"), both("MTE1 M"),
        f"pto.tmatmul ins(%l, %r : {left}, {right}) outs(%c : {acc})",
        f"pto.tmatmul.acc ins(%c, %l, %r : {acc}, {left}, {right}) outs(%c : {acc})")), kind="cube")


def _row_sum() -> str:
    column = tile(32, 8)
    return flags(
        alloc("x", VEC), fill("x", VEC), alloc("t", VEC, 8192), alloc("s", column, 16384, cols="c1"),
        flag("set", 0, "V S"), flag("wait", 0, "V S"),
        f"pto.trowsum ins(%x, %t : {VEC}, {VEC}) outs(%s : {column})")


def _left(blayout: str) -> str:
    left, right = tile(64, 64, loc="left", blayout=blayout, slayout="row_major"), tile(
        64, 64, loc="right", slayout="col_major")
    acc = tile(64, 64, loc="acc", blayout="col_major", slayout="row_major", fractal=1024)
    return kernel("\n".join((
        alloc("l", left, 0, "c64"), alloc("r", right, 0, "c64"), alloc("c", acc, 0, "c64"),
        f"pto.tmatmul ins(%l, %r : {left}, {right}) outs(%c : {acc})")), kind="cube")


STRICT: dict[str, Reading] = {
    "BLOCK-OF-GRID": Reading("WRITE-WHOLE", OPS["WRITE-WHOLE"].bad),
    "ROUNDING": Reading("DTYPE-ROUND", OPS["DTYPE-ROUND"].bad),
    "SCALAR-ROUND-TRIP": Reading("BOUND-WIDTH", OPS["BOUND-WIDTH"].bad),
    "LEFT-LAYOUT": Reading("LAYOUT-CUBE", _left("col_major")),
    "EVENT-KEY": Reading("EVENT-SET", flags(
        *(flag(what, 0, pair) for what in ("set", "wait") for pair in ("MTE2 V", "MTE2 MTE3")))),
    "FLAG-WAITS": Reading("EVENT-AGAIN", pipes(loop("M", both("MTE2 V")), args="%M: index")),
    "RESERVED-IDS": Reading("EVENT-LIBRARY", _row_sum()),
    "SAME-PIPE": Reading("RACE-RAW", _products()),
    "SELF-FLAG": Reading("RACE-RAW", pipes(read("a"), both("MTE2 V"), exp("a", "b"), both("V V"), exp("b", "c"))),
    "LOAD-AFTER-LOAD": Reading("RACE-WAW", pipes(read("a"), read("a"), both("MTE2 V"), exp("a", "b"))),
    "FLAG-IS-FENCE": Reading("RACE-VISIBLE", pipes(
        read("a"), both("MTE2 MTE3"), write("a"), both("MTE3 MTE2"), load("dst", "b", VEC, "32x64"))),
    "FREE-NEEDED": Reading("FIFO-FREE", PIPES["FIFO-FREE"].bad),
    "ABSENT-CORE": Reading("EVENT-CORES", kernel("pto.sync.wait <PIPE_V>, 3"), Verdict.UNKNOWN),
    "LANES-ALIKE": Reading("WRITE-TWICE", beside_a_cube(*put("c0")), Verdict.UNKNOWN),
    "CORES-SEE": Reading("RACE-BLOCK", blocks(put_rows("mine"), meeting(), get("next")), Verdict.UNKNOWN),
    "FEW-BLOCKS": Reading("WRITE-TWICE", blocks(*HALVES, put_rows("row"))),
    "BLOCKS-DATA": Reading("RACE-BLOCK", blocks(*BY_DATA), Verdict.UNKNOWN),
    "FIFO-CREDITS": Reading("FIFO-OVERRUN", PIPES["FIFO-OVERRUN"].good, chip="a5"),
    "INDEX-DATA": Reading("BOUND-INDEX", INDICES["VALID-INDEX"].good, Verdict.UNKNOWN, chip="a5"),
    "SCALAR-ISSUES": Reading("RACE-RAW", pipes(read("a"), both("MTE2 S"), exp("a", "b"))),
}

FIXED = {
    "DISTINCT-POINTERS", "SIZE-NONNEG", "BLOCK-INDEX", "LANE-INDEX", "UB-TOP", "SMALL-TABLES", "RESERVED-FLAGS",
    "SAME-TILE", "VEC-TO-MAT-PIPE", "RAMP-PIPE", "MAT-FILL-PIPE", "POP-PIPE", "OUT-OF-VALID", "FILLPAD-ROWS",
    "SCATTER-FLAT", "SATURATION", "ACC-IN-PLACE", "DENSE-OPERANDS", "SYNC-LEFT", "SYNCALL-WAITS", "LAUNCH-ALONE",
    "LAUNCHES-KNOWN", "LANE-OFFSET", "PIPE-FLAGS", "BRANCH-TAKEN",
}
"""Ids whose row says why there is no stricter reading."""


def test_no_assumption_is_made_unnoticed() -> None:
    """A new row is a new hole in what a proof says: add it here, with a kernel that shows its stricter reading."""
    assert set(ASSUMPTIONS) == set(STRICT) | FIXED


@pytest.mark.parametrize("id", sorted(ASSUMPTIONS))
def test_a_row_has_a_stricter_reading_or_says_why_not(id: str) -> None:
    row = ASSUMPTIONS[id]
    assert bool(row.strict) != bool(row.fixed)
    assert bool(row.strict) == (id in STRICT)


@pytest.mark.parametrize("id", sorted(STRICT))
def test_the_stricter_reading_is_taken(id: str) -> None:
    case = STRICT[id]
    family = case.rule.split("-")[0]
    default = check(case.text, chip=case.chip, families=family)
    assert default.verdict is Verdict.PROVED or verdicts(default, case.rule) == {Verdict.PROVED}
    if verdicts(default, case.rule):
        assert id in {a for o in default.obligations for a in o.assumptions}
    assert case.strict in verdicts(check(case.text, chip=case.chip, families=family, strict=True), case.rule)


def test_a_report_tells_the_reading_that_was_taken(tmp_path: Path) -> None:
    path = tmp_path / "k.pto"
    path.write_text(STRICT["SCALAR-ROUND-TRIP"].text, encoding="utf-8")
    texts = [
        dict(check_paths([str(path)], CheckOptions(timeout=0, strict=strict)).assumptions)["SCALAR-ROUND-TRIP"]
        for strict in (False, True)]
    assert texts == [
        "integer scalars of 32 bits or more do not overflow their width",
        "what is computed in 32 bits or less is shown to fit (--strict)"]
