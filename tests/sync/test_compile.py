"""Automatic mode from Python and from the command line, on the kernels of `examples/`."""

from __future__ import annotations

from pathlib import Path

import pytest

from pypto_verified import language
from pypto_verified.check import CheckOptions, check_file, check_paths
from pypto_verified.cli import main
from pypto_verified.compiler import compile
from pypto_verified.errors import InputError
from pypto_verified.pto import reader
from pypto_verified.report.model import Verdict
from tests.sync.judged import sync_ops
from tests.sync.programs import syncs

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


@pytest.mark.requirement("EV-07")
@pytest.mark.parametrize("chip", ["a2a3", "a5"])
@pytest.mark.parametrize("name", ["vector_add.py", "matmul.py", "softmax.py"])
def test_examples_are_proved_with_what_is_inserted(name: str, chip: str) -> None:
    options = CheckOptions(target=chip, sync="insert", timeout=0)
    result = check_file(str(EXAMPLES / name), options)
    assert result.verdict is Verdict.PROVED
    assert {o.rule for f in result.functions for o in f.obligations} >= {"RACE-RAW", "EVENT-WAIT"}


def test_without_flags_an_example_that_must_order_its_own_pipes_is_refuted() -> None:
    result = check_file(str(EXAMPLES / "vector_add.py"), CheckOptions(sync="explicit", timeout=0))
    assert result.verdict is Verdict.REFUTED


def test_the_command_writes_flags_into_the_text(tmp_path: Path) -> None:
    (program,) = language.load_file(EXAMPLES / "vector_add.py").programs
    plain = compile(program, output_dir=tmp_path / "plain")
    assert main(["compile", str(EXAMPLES / "vector_add.py"), "-o", str(tmp_path / "insert"), "--sync", "insert"]) == 0
    texts = [
        reader.read(path.read_text(encoding="utf-8"))
        for root in (plain, tmp_path / "insert") for path in sorted((root / "ptoas").glob("*.pto"))]
    assert syncs(texts[0]) == []
    assert "MTE2>V 0" in syncs(texts[1])


@pytest.mark.parametrize("name", ["matmul.py", "rmsnorm.py", "softmax.py"])
def test_each_inserted_op_has_a_line_of_the_kernel(name: str, tmp_path: Path) -> None:
    """Those at the end of a turn too, behind which no op stands: notes and replays name that line."""
    assert main(["compile", str(EXAMPLES / name), "-o", str(tmp_path), "--sync", "insert"]) == 0
    (path,) = (tmp_path / "ptoas").glob("*.pto")
    places = [op.loc for op in sync_ops(reader.read(path.read_text(encoding="utf-8")))]
    assert places and all(p.line and Path(p.file).name == name for p in places)


def test_another_word_for_who_orders_the_pipes_is_refused(tmp_path: Path) -> None:
    (program,) = language.load_file(EXAMPLES / "vector_add.py").programs
    with pytest.raises(InputError, match="no sync='auto'") as caught:
        compile(program, output_dir=tmp_path, sync="auto")
    assert "insert" in caught.value.help


_TWICE = """\
import pypto.language as pl


@pl.program
class Twice:
    @pl.function(type=pl.FunctionType.InCore)
    def k(self, a: pl.Tensor[[32, 64], pl.FP32], o: pl.Out[pl.Tensor[[32, 64], pl.FP32]]):
        ring = pl.MemRef(slots=1)
        x: pl.Tile[[32, 64], pl.FP32, ring[0]] = pl.load(a, [0, 0], [32, 64])
        y: pl.Tile[[32, 64], pl.FP32, ring[0]] = pl.load(a, [0, 0], [32, 64])
        return pl.store(y, [0, 0], o)
"""


def test_the_command_tells_where_the_stricter_readings_ask_for_more(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Two loads into one tile: whether they need a barrier is assumption LOAD-AFTER-LOAD."""
    kernel = tmp_path / "twice.py"
    kernel.write_text(_TWICE, encoding="utf-8")
    for strict, notes, barriers in (((), 1, 0), (("--strict",), 0, 1)):
        assert main(["compile", str(kernel), "-o", str(tmp_path / "made"), "--sync", "insert", *strict]) == 0
        assert capsys.readouterr().err.count("note: k: the stricter readings may ask for more") == notes
        text = (tmp_path / "made" / "ptoas" / "k.pto").read_text(encoding="utf-8")
        assert syncs(reader.read(text)).count("|MTE2") == barriers
    result = check_file(str(kernel), CheckOptions(sync="insert", strict=True, timeout=0))
    assert "RACE-WAW" not in {f.rule for f in result.functions[0].findings}
    assert not any("stricter" in note for note in result.notes)


def test_one_word_means_one_thing_in_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    """`auto` was the assembler in one command and inserted flags in another."""
    for command in ("check", "compile", "simulate"):
        with pytest.raises(SystemExit):
            main([command, "k.pto", "-o", "made", "--sync", "auto"])
        assert "invalid choice: 'auto' (choose from 'assembler'" in capsys.readouterr().err
    with pytest.raises(InputError, match="no sync='auto'"):
        check_paths([], CheckOptions(sync="auto"))  # type: ignore[arg-type]  # the word of a caller without types
