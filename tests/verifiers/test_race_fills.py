"""RACE: a fill in L1 writes zeros around the valid part of its result, and reads nothing (PTO-ISA TFillPad.hpp)."""

from __future__ import annotations

from pathlib import Path

import pytest

from pypto_verified.check import CheckOptions, check_file
from pypto_verified.report.model import Finding, Verdict

KERNEL = Path(__file__).resolve().parents[1] / "corpus" / "accept" / "pad_between_l1_tiles.pto"


def races(text: str, chip: str, path: Path) -> list[Finding]:
    """What is said of the order of a text's ops, as they stand; the fill is in line 22."""
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
