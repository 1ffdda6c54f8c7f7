"""On which pipe a5 has a popped tile: `popped_store.pto` has the flags that the assembler inserts, and a race."""

from __future__ import annotations

from pathlib import Path

import pytest

from pypto_verified.check import CheckOptions, check_file
from pypto_verified.pto import reader
from pypto_verified.report.model import Finding, Verdict
from pypto_verified.sync import insert_sync
from pypto_verified.targets import A5
from tests.sync.judged import verdicts

PATH = Path(__file__).with_name("popped_store.pto")
FLAGS = [f"    pto.{what}_flag[<PIPE_S>, <PIPE_MTE3>, <EVENT_ID0>]\n" for what in ("set", "wait")]


def found(path: Path) -> list[Finding]:
    result = check_file(str(path), CheckOptions(timeout=0))
    assert result.functions
    return [f for function in result.functions for f in function.findings]


@pytest.mark.requirement("EV-01")
def test_the_assemblers_flags_are_a_race_that_a_run_confirms() -> None:
    """What the pop stands for is the push of the other core: that is what races with the store in a run."""
    (race,) = found(PATH)
    assert (race.rule, race.verdict) == ("RACE-RAW", Verdict.REFUTED)
    assert race.message.startswith("tstore (MTE3) reads bytes 0 to 4095 of t, which tpop_from_aic at line ")
    assert race.replay.startswith("confirmed: ") and "pto.tpush_to_aiv" in race.replay
    assert race.help == "set a flag V -> MTE3 after the first and wait for it before the second"


@pytest.mark.parametrize(("pipes", "expected"), [(("V",), Verdict.UNKNOWN), (("V", "S"), None)])
def test_flags_of_the_pipe_of_the_library_order_the_store(
    tmp_path: Path, pipes: tuple[str, ...], expected: Verdict | None,
) -> None:
    """Of V alone it is open: the assembler may know something of S that the library does not tell."""
    text = PATH.read_text(encoding="utf-8")
    changed = "".join(line.replace("PIPE_S", f"PIPE_{pipe}").replace("ID0", f"ID{n}")
                      for n, pipe in enumerate(pipes) for line in FLAGS)
    assert text.count("".join(FLAGS)) == 1
    path = tmp_path / "k.pto"
    path.write_text(text.replace("".join(FLAGS), changed), encoding="utf-8")
    assert {f.verdict for f in found(path)} == ({expected} if expected is not None else set())


@pytest.mark.requirement("EV-07")
def test_inserted_flags_hold_for_either_pipe() -> None:
    made = insert_sync(reader.read(PATH.read_text(encoding="utf-8")), A5)
    assert verdicts(made, "a5") == {"PROVED"}
