"""Automatic mode from Python and from the command line, on the kernels of `examples/`."""

from __future__ import annotations

from pathlib import Path

import pytest

from pypto_verified import language
from pypto_verified.check import CheckOptions, check_file
from pypto_verified.cli import main
from pypto_verified.compiler import compile
from pypto_verified.errors import InputError
from pypto_verified.pto import reader
from pypto_verified.report.model import Verdict
from tests.sync.programs import syncs

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


@pytest.mark.requirement("EV-07")
@pytest.mark.parametrize("chip", ["a2a3", "a5"])
@pytest.mark.parametrize("name", ["vector_add.py", "matmul.py", "softmax.py"])
def test_examples_are_proved_with_what_is_inserted(name: str, chip: str) -> None:
    options = CheckOptions(target=chip, explicit_sync=True, inserted_sync=True, timeout=0)
    result = check_file(str(EXAMPLES / name), options)
    assert result.verdict is Verdict.PROVED
    assert {o.rule for f in result.functions for o in f.obligations} >= {"RACE-RAW", "EVENT-WAIT"}


def test_without_flags_an_example_that_must_order_its_own_pipes_is_refuted() -> None:
    result = check_file(str(EXAMPLES / "vector_add.py"), CheckOptions(explicit_sync=True, timeout=0))
    assert result.verdict is Verdict.REFUTED


def test_the_command_writes_flags_into_the_text(tmp_path: Path) -> None:
    (program,) = language.load_file(EXAMPLES / "vector_add.py").programs
    plain = compile(program, output_dir=tmp_path / "plain")
    assert main(["compile", str(EXAMPLES / "vector_add.py"), "-o", str(tmp_path / "auto"), "--sync", "auto"]) == 0
    texts = [
        reader.read(path.read_text(encoding="utf-8"))
        for root in (plain, tmp_path / "auto") for path in sorted((root / "ptoas").glob("*.pto"))]
    assert syncs(texts[0]) == []
    assert "MTE2>V 0" in syncs(texts[1])


def test_another_word_for_who_orders_the_pipes_is_refused(tmp_path: Path) -> None:
    (program,) = language.load_file(EXAMPLES / "vector_add.py").programs
    with pytest.raises(InputError, match="no sync='none'") as caught:
        compile(program, output_dir=tmp_path, sync="none")
    assert "auto" in caught.value.help
