"""Simulating a kernel with all its cores under a schedule, from the command's side."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from pypto_verified.errors import InputError
from pypto_verified.pto.writer import write
from pypto_verified.simulate import Request, simulate
from tests.cli.test_pairs import FLAGS, LOAD, PAIR, WAIT
from tests.simulator.mixed import BARRIER, Mixed

SCHEDULES = ("program", "eager", "late", "random", "exhaustive")

BASE = "        pl.system.set_ffts(base)\n"

ADD = """\
import pypto.language as pl


@pl.program
class P:
    @pl.function(type=pl.FunctionType.InCore)
    def twice(self, a: pl.Tensor[[16, 64], pl.FP32], out: pl.Out[pl.Tensor[[16, 64], pl.FP32]]):
        x = pl.load(a, [0, 0], [16, 64])
        return pl.store(pl.add(x, x), [0, 0], out)
"""


def written(tmp_path: Path, text: str) -> str:
    path = tmp_path / "k.py"
    path.write_text(text)
    return str(path)


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_a_text_without_flags_runs_with_those_that_it_needs(schedule: str, tmp_path: Path) -> None:
    found = simulate(Request(written(tmp_path, ADD), schedule=schedule), lambda line: None)
    assert found.exit_code() == 0 and found.written == {"out"}
    np.testing.assert_array_equal(found.outputs["out"], 2 * found.outputs["a"])
    assert any(note.startswith("the text has no flags") for note in found.notes)


def test_as_it_stands_it_races_and_two_schedules_differ(tmp_path: Path) -> None:
    request = Request(written(tmp_path, ADD), schedule="exhaustive", explicit=True)
    found = simulate(request, lambda line: None)
    assert found.exit_code() == 1
    assert found.findings[0].startswith("read after write: ") and "k.py:8:" in found.findings[0]
    assert found.findings[-1].startswith("two schedules end in different outputs: element 0 of out is ")
    assert any("runs that differ in the order of conflicting accesses: " in note for note in found.notes)


def test_both_functions_of_a_pipe_run_together(tmp_path: Path) -> None:
    shown: list[str] = []
    request = Request(written(tmp_path, PAIR), function="cube", target="a5", schedule="late", trace=True)
    found = simulate(request, shown.append)
    assert (found.errors, found.findings) == ([], ())
    product = found.outputs["a"].astype(np.float32) @ found.outputs["b"].astype(np.float32)
    assert np.abs(found.outputs["out"].astype(np.float32) - product / 2).max() < 1e-4
    assert any(line.startswith("vector lane 0 ") for line in shown) and any(line.startswith("cube ") for line in shown)


@pytest.mark.parametrize("before", [False, True])
def test_both_functions_that_flags_join_run_together_with_the_flags_that_each_needs(
    before: bool, tmp_path: Path
) -> None:
    """The base of flags between cores, which a2a3 wants, is no flag within a core."""
    text = FLAGS.replace("(self, ", "(self, base: pl.Tensor[[64], pl.INT64], ")
    text = text.replace("        left =", f"{BASE}        left =").replace(WAIT, BASE + WAIT)
    text = text.replace(WAIT + LOAD, LOAD + WAIT) if before else text
    found = simulate(Request(written(tmp_path, text), function="multiply", schedule="late"), lambda line: None)
    told = {line.split(" (.pto")[0].rpartition(": ")[2] for line in found.findings if "write after write" not in line}
    assert told == ({"pto.tstore"} if before else set())
    assert any(note.startswith("the text has no flags") for note in found.notes)


def test_a_partner_that_does_not_compile_is_told(tmp_path: Path) -> None:
    path = written(tmp_path, PAIR.replace("y = pl.mul(v, 0.5)", "y = self.cube(v)"))
    found = simulate(Request(path, function="cube", target="a5", schedule="late"), lambda line: None)
    assert any(note.startswith("vector is left out: ") for note in found.notes)
    assert any(note.startswith("the other core of the pipe is absent") for note in found.notes)


def test_a_module_is_run_with_the_flags_that_it_has(tmp_path: Path) -> None:
    text = write(Mixed("a2a3", 1, 1, tiles=2).module)
    path = tmp_path / "mixed.pto"
    path.write_text(text)
    given = {"a": "ramp:64x32", "eye": "zeros:32x32"}
    found = simulate(Request(str(path), inputs=given, schedule="eager"), lambda line: None)
    assert (found.errors, found.findings) == ([], ())
    assert (found.outputs["out"] == 1).all()
    path.write_text(text.replace(BARRIER, ""))
    unordered = simulate(Request(str(path), inputs=given, schedule="eager", explicit=True), lambda line: None)
    assert unordered.findings


@pytest.mark.parametrize(("slots", "told"), [(4, False), (2, True)])
def test_an_overrun_of_slots_on_a5_is_explained(slots: int, told: bool, tmp_path: Path) -> None:
    path = tmp_path / "mixed.pto"
    path.write_text(write(Mixed("a5", 1, 1, tiles=3, slots=slots).module))
    given = {"a": "ramp:96x32", "eye": "zeros:32x32", "ring": "zeros:1"}
    found = simulate(Request(str(path), inputs=given, target="a5", schedule="late"), lambda line: None)
    assert bool(found.findings) is told
    assert any("can overrun slots" in note for note in found.notes) is told


def test_tables_go_with_the_order_of_the_program(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="--dump"):
        simulate(Request(written(tmp_path, ADD), schedule="late", dumps=(8,)), lambda line: None)


def test_the_ops_of_a_held_line_go_as_late_as_they_may(tmp_path: Path) -> None:
    """The store overtakes the sum in line 9, or all ops of the line come after the load, as they should."""
    path = written(tmp_path, ADD.replace("return pl.store(pl.add(x, x), [0, 0], out)",
                                         "y = pl.add(x, x)\n        return pl.store(y, [0, 0], out)"))

    def right(*held: int, explicit: bool = True) -> bool:
        request = Request(path, schedule="program", explicit=explicit, held=held)
        found = simulate(request, lambda line: None)
        return bool(np.array_equal(found.outputs["out"], 2 * found.outputs["a"]))

    assert right() and right(10) and right(8, 9, 10, explicit=False)
    assert not right(8) and not right(9)


@pytest.mark.parametrize(("schedule", "line", "told"), [
    ("late", 8, "take --schedule program, not late"), ("program", 2, "--hold 2: no op stands at this line"),
    ("", 8, "take --schedule program$")])
def test_only_the_order_of_the_program_can_be_changed_where_ops_stand(
    schedule: str, line: int, told: str, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match=told):
        simulate(Request(written(tmp_path, ADD), schedule=schedule, held=(line,)), lambda line: None)


@pytest.mark.parametrize("trace", [False, True])
def test_both_orders_of_an_exhaustive_search_are_printed_if_asked_for(trace: bool, tmp_path: Path) -> None:
    shown: list[str] = []
    simulate(Request(written(tmp_path, ADD), schedule="exhaustive", explicit=True, trace=trace), shown.append)
    ops = [line.rsplit(" ", 1)[1] for line in shown]
    first, other = ["pto.tload", "pto.tadd", "pto.tstore"], ops[4:]
    assert ops[:4] == ([*first, "schedule:"] if trace else [])
    assert not trace or (sorted(other) == sorted(first) and other != first)
