"""RACE: a fill in L1 writes zeros around the valid part of its result, and reads nothing (PTO-ISA TFillPad.hpp)."""

from __future__ import annotations

from pathlib import Path

import pytest

from pypto_verified.check import CheckOptions, check_file
from pypto_verified.report.model import Finding, Verdict
from tests.verifiers.examples_race import both
from tests.verifiers.kernels import kernel, load, store, tile, view, window

KERNEL = Path(__file__).resolve().parents[1] / "corpus" / "accept" / "pad_between_l1_tiles.pto"


def races(text: str, chip: str, path: Path) -> list[Finding]:
    """What is said of the order of a text's ops, as they stand."""
    path.write_text(text)
    (function,) = check_file(str(path), CheckOptions(target=chip, sync="explicit", timeout=0)).functions
    return [f for f in function.findings if f.rule.startswith(("RACE", "REPLAY"))]


@pytest.mark.parametrize("chip", ["a2a3", "a5"])
def test_a_fill_of_a_tile_that_is_all_valid_races_with_nothing(chip: str, tmp_path: Path) -> None:
    """Nothing orders any two ops of this text: those that load, move, multiply and store race with one another."""
    found = races(KERNEL.read_text(), chip, tmp_path / "k.pto")
    assert found and all(f.verdict is Verdict.REFUTED and f.replay.startswith("confirmed") for f in found)
    assert not any(f.text_line == 22 or "tfillpad" in f.message for f in found)


@pytest.mark.parametrize("chip", ["a2a3", "a5"])
def test_a_fill_around_what_a_load_writes_is_not_refuted(chip: str, tmp_path: Path) -> None:
    """The tile has 48 valid rows of 64, which are loaded, and is filled in place below them."""
    text = KERNEL.read_text()
    lines = text.replace("%c64 = arith.constant 64 : index", "%c64 = arith.constant 64 : index %c48 = arith.constant "
                         "48 : index").splitlines()
    name = {n: line.strip().split(" ")[0] for n, line in enumerate(lines)}
    for n, line in enumerate(lines):
        if name[n] in ("%ma", "%va", "%pa"):
            line = line.replace("valid_row = %c64", "valid_row = %c48").replace("shape = [%c64,", "shape = [%c48,")
            lines[n] = line.replace("sizes = [%c64,", "sizes = [%c48,")
        if name[n] == "pto.tfillpad":
            lines[n] = line.replace("outs(%mp", "outs(%ma").replace("pad=0", "pad=1")
    found = races("\n".join(lines), chip, tmp_path / "k.pto")
    (fill,) = [f for f in found if f.text_line == 22]
    assert fill.rule == "RACE-WAW" and fill.verdict is Verdict.UNKNOWN
    assert not any(f.verdict is Verdict.ERROR for f in found)


ROWS, PADDED = tile(32, 64, valid=("?", "64")), tile(32, 64, valid=("32", "64"), pad=1)


@pytest.mark.requirement("EV-02")
@pytest.mark.parametrize(("rows", "back", "meets"), [
    ("subi %c16, %i", "", True), ("subi %c16, %i", both("MTE3 V"), False), ("subi %c16, %c1", "", False)])
def test_a_fill_of_another_turn_pads_what_this_one_stores(rows: str, back: str, meets: bool, tmp_path: Path) -> None:
    """One tile of which each turn stores a row less: the next one fills the last row that is being stored. Where each
    stores as many, a fill leaves alone what is stored. V of an a5 runs in order."""
    text = kernel("\n".join((
        view("in", "p", "c32"), window("first", "in", "%c0, %c0", "%c32, %c64"), view("o", "q", "c128"),
        f"%t = pto.alloc_tile addr = %a0 valid_row = %c32 : {ROWS}", load("first", "t", ROWS), both("MTE2 V"),
        "scf.for %i = %c0 to %c4 step %c1 {", f"%n = arith.{rows} : index",
        f"%m = pto.alloc_tile addr = %a0 valid_row = %n : {ROWS}", f"%f = pto.alloc_tile addr = %a0 : {PADDED}",
        f"pto.tfillpad_inplace ins(%m : {ROWS}) outs(%f : {PADDED})", both("V MTE3"),
        "%at = arith.muli %i, %c32 : index", window("w", "o", "%at, %c0", "%n, %c64"), store("m", "w", ROWS), back,
        "}")))
    found = [f for f in races(text, "a5", tmp_path / "k.pto") if f.rule == "RACE-WAR"]
    assert [(f.verdict, f.replay.split(":")[0]) for f in found] == [(Verdict.REFUTED, "confirmed")] * meets
