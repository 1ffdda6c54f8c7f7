"""The Python API: a script that imports PyPTO, defines kernels and compiles them itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from pypto_verified.check import check_file
from pypto_verified.compiler import MemoryPlanner, compile, compile_function, run_script
from pypto_verified.errors import CodegenError, InputError
from pypto_verified.ir.stmt import Program
from pypto_verified.language import load_file
from pypto_verified.pto import reader
from pypto_verified.report.model import Verdict
from pypto_verified.targets import A2A3

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"

SCRIPT = """
import sys
from pypto.ir import compile, OptimizationStrategy
from pypto.backend import BackendType
from pypto.pypto_core import codegen
import pypto.language as pl

@pl.program
class MyKernel:
    @pl.function
    def vector_add(self, a: pl.Tensor[[32, 32], pl.FP32], b: pl.Tensor[[32, 32], pl.FP32]):
        tile_a = pl.load(a, [0, 0], [32, 32])
        tile_b = pl.load(b, [0, 0], [32, 32])
        tile_c = pl.add(tile_a, tile_b)
        pl.store(tile_c, [0, 0], a)

where = compile(
    MyKernel, strategy=OptimizationStrategy.Default, backend_type=BackendType.Ascend910B, output_dir=OUTPUT,
)
with open(f"{where}/api.pto", "w") as file:
    file.write(codegen.PTOCodegen().generate(MyKernel))
"""


def program(name: str) -> Program:
    (found,) = load_file(EXAMPLES / name).programs
    return found


@pytest.mark.requirement("FE-01")
def test_a_script_that_compiles_its_kernel_gets_the_directory_and_the_text(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT.replace("OUTPUT", repr(str(tmp_path))), encoding="utf-8")
    run_script(script)
    written = (tmp_path / "ptoas" / "vector_add.pto").read_text(encoding="utf-8")
    generated = (tmp_path / "api.pto").read_text(encoding="utf-8")
    assert reader.read(written) == reader.read(generated)
    assert "pto.tadd" in written and "func.func @vector_add" in written


@pytest.mark.requirement("FE-01")
def test_checking_such_a_script_compiles_nothing_by_itself(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT.split("with open")[0].replace("OUTPUT", repr(str(tmp_path / "out"))), encoding="utf-8")
    assert check_file(str(script)).verdict is Verdict.PROVED
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("planner", MemoryPlanner)
def test_the_assembler_planner_alone_gets_no_addresses(planner: MemoryPlanner, tmp_path: Path) -> None:
    compile(program("vector_add.py"), memory_planner=planner, output_dir=tmp_path)
    text = (tmp_path / "ptoas" / "vector_add.pto").read_text(encoding="utf-8")
    assert ("addr =" in text) is (planner is not MemoryPlanner.PTOAS)


@pytest.mark.requirement("CG-18")
def test_text_without_locations_differs_in_nothing_else(tmp_path: Path) -> None:
    for locations in (True, False):
        compile(program("matmul.py"), output_dir=tmp_path / str(locations), emit_source_loc=locations)
    with_, without = (
        (tmp_path / str(locations) / "ptoas" / "matmul.pto").read_text(encoding="utf-8") for locations in (True, False)
    )
    assert with_ != without
    assert [line.partition(" loc(")[0] for line in with_.splitlines()] == without.splitlines()


def test_a_text_that_does_not_read_back_is_an_error_of_this_tool(monkeypatch: pytest.MonkeyPatch) -> None:
    function = program("vector_add.py").functions[0]
    read = reader.read
    monkeypatch.setattr(reader, "read", lambda text: read(text.replace("pto.tadd", "pto.tsub")))
    with pytest.raises(CodegenError, match=r"internal error.*vector_add"):
        compile_function(function, A2A3)


def test_a_program_without_a_kernel_is_refused() -> None:
    with pytest.raises(InputError, match="no kernel"):
        compile(Program("Empty", ()))
