"""Kernel files load as they are: whatever they import, wherever the kernel is defined."""

from __future__ import annotations

import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from pypto_verified.dtypes import FP32, INDEX, INT32
from pypto_verified.errors import InputError, LanguageError, NotModelled
from pypto_verified.ir.expr import Call, Var
from pypto_verified.ir.stmt import Assign, Direction, Function, FunctionKind
from pypto_verified.ir.types import ScalarType, TensorType, TileType
from pypto_verified.ir.walk import calls
from pypto_verified.language import LoadedFile, load_file, load_source

VECTOR_ADD = """\
from pypto.ir import compile, OptimizationStrategy
from pypto.backend import BackendType
import pypto.language as pl

@pl.program
class MyKernel:
    @pl.function
    def vector_add(self,
                   a: pl.Tensor[[32, 32], pl.FP32],
                   b: pl.Tensor[[32, 32], pl.FP32]):
        tile_a = pl.load(a, [0, 0], [32, 32])
        tile_b = pl.load(b, [0, 0], [32, 32])
        tile_c = pl.add(tile_a, tile_b)
        pl.store(tile_c, [0, 0], a)

output_dir = compile(
    MyKernel,
    strategy=OptimizationStrategy.Default,
    backend_type=BackendType.Ascend910B,
)
"""

KERNEL = """\
    @pl.function(type=pl.FunctionType.InCore)
    def copy(self, a: pl.Tensor[[N, 64], pl.FP32], out: pl.Out[pl.Tensor[[N, 64], pl.FP32]]):
        return pl.store(pl.load(a, [0, 0], [N, 64]), [0, 0], out)
"""

METHOD = """\
    def get_program(self):
        N = self.n
        @pl.program
        class P:
{}        return P
"""


def only_function(loaded: LoadedFile) -> Function:
    (program,) = loaded.programs
    (function,) = program.functions
    assert not function.opaque
    return function


def indented(text: str, by: int) -> str:
    return "".join(" " * by + line for line in text.splitlines(keepends=True))


@pytest.mark.requirement("FE-01")
def test_a_file_that_compiles_itself_loads_unchanged() -> None:
    f = only_function(load_source(VECTOR_ADD, "kernel.py"))
    tensor = TensorType((32, 32), FP32)
    assert f.kind is FunctionKind.PLAIN
    assert [(p.var, p.direction) for p in f.params] == [
        (Var("a", tensor), Direction.IN), (Var("b", tensor), Direction.IN)]
    assert [c.op for c in calls(f.body)] == ["tile.load", "tile.load", "tile.add", "tile.store"]


@pytest.mark.requirement("FE-01")
def test_bindings_replace_the_compile_that_a_file_calls() -> None:
    seen: list[object] = []
    load_source(VECTOR_ADD, "kernel.py", {"ir.compile": lambda program, **kwargs: seen.append(kwargs["backend_type"])})
    assert [str(b) for b in seen] == ["BackendType.Ascend910B"]


def test_locations_are_those_of_the_file() -> None:
    f = only_function(load_source(VECTOR_ADD, "kernel.py"))
    add = f.body[2]
    assert isinstance(add, Assign) and isinstance(add.value, Call)
    assert (add.span.line, add.span.column) == (13, 9)
    assert (add.value.span.file, add.value.span.line, add.value.span.column) == ("kernel.py", 13, 18)


def test_absent_modules_are_stubs_that_can_do_what_test_files_do_with_them() -> None:
    text = """\
import torch
import pytest
from harness_that_is_nowhere.core import Case, DataType
from no_such_package import *  # nothing comes of it
import pypto.language as pl
N = 32
TABLE = {torch.float32: 1, DataType.FP32: 2}

class MyCase(Case):
    dtype = torch.float32
    def __init__(self, n: int = N):
        super().__init__(n, torch.zeros(n, n) + 1)

@pytest.mark.parametrize("n", [1, 2])
def test_something(n): ...

@pytest.fixture
def fixture(): return 3

@pl.program
class P:
""" + KERNEL
    assert only_function(load_source(text, "kernel.py")).params[0].var.type == TensorType((32, 64), FP32)


def test_modules_beside_the_file_are_real(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "sizes_of_this_project").mkdir()
    (tmp_path / "sizes_of_this_project" / "__init__.py").write_text("ROWS = 48\n")
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "neighbour_of_kernel.py").write_text("from sizes_of_this_project import ROWS\n")
    kernel = tmp_path / "sub" / "kernel.py"
    imports = "import pypto.language as pl\nfrom neighbour_of_kernel import ROWS as N\n"
    kernel.write_text(imports + "@pl.program\nclass P:\n" + KERNEL)
    assert only_function(load_file(kernel)).params[0].var.type == TensorType((48, 64), FP32)


def test_installed_packages_do_not_see_stubs() -> None:
    """An installed package that tries an optional module must find it absent; installed modules stay imported."""
    text = """\
import pypto.language as pl
import json.tool, absent_for_the_kernel
import runpy
try:
    runpy.run_module("absent_for_a_library")
    N = 8
except ImportError:
    N = 16
@pl.program
class P:
""" + KERNEL
    assert only_function(load_source(text, "kernel.py")).params[0].var.type == TensorType((16, 64), FP32)
    assert "json.tool" in sys.modules and "absent_for_the_kernel" not in sys.modules


def test_the_import_world_is_restored_also_after_an_error() -> None:
    load_source(VECTOR_ADD, "kernel.py")
    before = set(sys.modules), list(sys.path), list(sys.meta_path)
    load_source(VECTOR_ADD, "kernel.py")
    with pytest.raises(LanguageError):
        load_source("import torch, pypto.language as pl\nprint(absent)\n", "kernel.py")
    assert (set(sys.modules), list(sys.path), list(sys.meta_path)) == before
    assert sys.modules["pytest"] is pytest


def test_a_failure_on_a_value_of_an_absent_module_is_not_the_authors_mistake() -> None:
    with pytest.raises(NotModelled, match=r"kernel.py:2:1: not modelled: .*TypeError.* for want of topology"):
        load_source("import topology\ncores = range(topology.cores)\n" + VECTOR_ADD, "kernel.py")
    with pytest.raises(LanguageError, match="ZeroDivisionError"):
        load_source("cores = 1 // 0\n" + VECTOR_ADD, "kernel.py")


def test_code_under_main_does_not_run() -> None:
    load_source(VECTOR_ADD + "if __name__ == '__main__':\n    raise SystemExit(3)\n", "kernel.py")


@pytest.mark.parametrize(
    ("definition", "rows"),
    [
        ("def make(n=16):\n    N = n\n    @pl.program\n    class P:\n{}    return P\n", 16),
        ("def make(n):\n    N = n\n    @pl.program\n    class P:\n{}    return P\nX = make(24)\n", 24),
        ("class Case:\n    def __init__(self, n=8):\n        self.n = n\n" + METHOD, 8),
        ("class Case:\n    def __init__(self, n):\n        self.n = n\n" + METHOD
         + "def test():\n    Case(n=2 * 20).get_program()\n", 40),
        ("import pytest\n@pytest.mark.parametrize('N', [pytest.param(56, id='large'), 64])\ndef test_it(device, N):\n"
         "    @pl.program\n    class P:\n{}    device.run(P)\n    raise RuntimeError('not run')\n", 56),
    ],
    ids=["default", "module-level call", "constructor default", "call in a test", "parametrize"],
)
def test_kernels_made_by_factories_are_found(definition: str, rows: int) -> None:
    inner = indented(KERNEL, 8 if "get_program" in definition else 4)
    text = "import pypto.language as pl\n" + definition.format(inner)
    assert only_function(load_source(text, "kernel.py")).params[0].var.type == TensorType((rows, 64), FP32)


def test_postponed_annotations_of_a_factory_are_not_evaluated() -> None:
    text = "from __future__ import annotations\nimport pypto.language as pl\ndef make(N: Missing = 8) -> Missing:\n"
    text += "    @pl.program\n    class P:\n" + indented(KERNEL, 4)
    loaded = load_source(text, "kernel.py")
    assert only_function(loaded).params[0].var.type == TensorType((8, 64), FP32)
    assert loaded.notes == ()


def test_a_size_that_nobody_gives_is_chosen_and_said() -> None:
    text = "import pypto.language as pl\ndef make(N: int):\n    @pl.program\n    class P:\n" + indented(KERNEL, 4)
    loaded = load_source(text, "kernel.py")
    assert only_function(loaded).params[0].var.type == TensorType((16, 64), FP32)
    assert loaded.notes == ("make (line 2) was called with chosen values: N=16",)


@pytest.mark.parametrize(("parameter", "is_error"), [("N=16", True), ("N: int", False)])
def test_a_mistake_in_a_factory_counts_if_its_arguments_are_the_files_own(parameter: str, is_error: bool) -> None:
    kernel = indented(KERNEL.replace("pl.load(a", "pl.load(b"), 4)
    good = "@pl.program\nclass Good:\n" + KERNEL.replace("N", "32")
    text = f"import pypto.language as pl\n{good}def make({parameter}):\n    @pl.program\n    class P:\n{kernel}"
    loaded = load_source(text, "kernel.py")
    assert [p.name for p in loaded.programs] == ["Good"]
    assert [e.message for e in loaded.errors] == (["name 'b' is not defined"] if is_error else [])
    assert is_error or any(note.startswith("P: kernel.py:12:") for note in loaded.notes)


def test_functions_outside_a_program_make_one_program() -> None:
    text = """\
import pypto.language as pl
@pl.function(type=pl.FunctionType.InCore)
def one(a: pl.Tensor[[16, 64], pl.FP32]):
    pl.store(pl.load(a, [0, 0], [16, 64]), [0, 0], a)
@pl.jit.incore
def two(a: pl.Tensor[[16, 64], pl.FP32]):
    pl.store(pl.load(a, [0, 0], [16, 64]), [0, 0], a)
"""
    (program,) = load_source(text, "pair.py").programs
    assert program.name == "pair"
    assert [(f.name, f.kind) for f in program.functions] == [("one", FunctionKind.INCORE), ("two", FunctionKind.INCORE)]


def test_a_jit_region_on_one_core_is_its_body() -> None:
    text = """\
import pypto.language as pl
@pl.jit
def k(a: pl.Tensor[[16, 64], pl.FP32]):
    with pl.at(level=pl.Level.CORE_GROUP, name_hint="twice"):
        t = pl.load(a, [0, 0], [16, 64])
        pl.store(pl.add(t, t), [0, 0], a)
"""
    assert len(only_function(load_source(text, "kernel.py")).body) == 2


@pytest.mark.parametrize(
    ("function", "reason"),
    [
        ("@pl.function(type=pl.FunctionType.Orchestration)\n    def f(self, a: pl.Tensor[[16], pl.FP32]):\n"
         "        return self.g(a)", "orchestration function"),
        ("@pl.function(type=pl.FunctionType.InCore)\n    def f(self, a: pl.Tensor[[16, 16], pl.FP32]):\n"
         "        b = self.g(a)", "call of another kernel, self.g"),
        ("@pl.function\n    def f(self, a: pl.Tensor[[16, 16], pl.FP32]):\n        b = pl.matmul(a, a)",
         "op tensor.matmul"),
        ("@pl.function\n    def f(self, a: pl.Tensor):\n        t = pl.load(a, [0], [16])",
         "parameter a whose shape comes with the call"),
        ("@pl.function\n    def f(self, a: pl.Tensor[[16, 16], pl.FP32]):\n"
         "        for i in pl.spmd(4):\n            pass",
         "loop over pl.spmd"),
    ],
)
def test_what_is_not_lowered_stays_opaque_with_its_reason(function: str, reason: str) -> None:
    text = f"import pypto.language as pl\n@pl.program\nclass P:\n    {function}\n"
    (program,) = load_source(text, "k.py").programs
    assert reason in program.functions[0].opaque
    assert program.functions[0].body == ()


def test_dynamic_sizes_are_listed_in_first_seen_order() -> None:
    text = """\
import pypto.language as pl
M, K = pl.dynamic("M"), pl.dynamic("K")
@pl.function(type=pl.FunctionType.InCore)
def f(n: pl.Scalar[pl.INDEX], a: pl.Tensor[[K, 2 * M], pl.FP32], b: pl.Tensor[[M, 8], pl.FP32]):
    rows = pl.tensor.dim(b, 0)
"""
    f = only_function(load_source(text, "k.py"))
    assert f.dynamic == ("K", "M")
    (assign,) = f.body
    assert isinstance(assign, Assign) and assign.value == Var("M", ScalarType(INDEX))


def test_annotated_storage_names_the_authors_buffer() -> None:
    text = """\
import pypto.language as pl
ring = pl.MemRef(slots=2)
@pl.function(type=pl.FunctionType.InCore)
def f(a: pl.Tensor[[64, 64], pl.FP32], n: pl.Scalar[pl.INT32]):
    for i in pl.range(4):
        t: pl.Tile[[16, 64], pl.FP32, ring[i % 2], pl.Mem.Vec] = pl.load(a, [i * 16, 0], [16, 64])
"""
    f = only_function(load_source(text, "k.py"))
    loop = f.body[0]
    assert f.params[1].var.type == ScalarType(INT32)
    tile = loop.body[0].var.type  # type: ignore[union-attr]
    assert isinstance(tile, TileType) and tile.memref is not None
    memref = tile.memref
    assert (memref.base, memref.slots, memref.size, memref.offset) == ("ring", 2, 2 * 16 * 64 * 4, None)


@pytest.mark.parametrize(("raw", "line"), [(b"x = 1\n\xff\xfe", 2), (b"import pypto\n\x00", 0)])
def test_what_is_no_text_is_an_input_error(tmp_path: Path, raw: bytes, line: int) -> None:
    path = tmp_path / "kernel.py"
    path.write_bytes(raw)
    with pytest.raises((InputError, LanguageError)) as e:
        load_file(path)
    assert e.value.location.file == str(path)
    assert not line or e.value.location.line == line


def test_a_missing_file_is_an_input_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="can't read"):
        load_file(tmp_path / "none.py")


FACTORY = """\
import pypto.language as pl
def make(n):
    @pl.program
    class P:
{}    return P
"""


def sizes(text: str) -> list[int]:
    """The rows of `a` in each program of a file, in order."""
    functions = [only_function(replace(loaded, programs=(p,))) for loaded in [load_source(text, "k.py")]
                 for p in loaded.programs]
    types = [f.params[0].var.type for f in functions]
    assert all(isinstance(t, TensorType) for t in types)
    return [rows for t in types if isinstance(t, TensorType) and isinstance(rows := t.shape[0], int)]


@pytest.mark.parametrize(("calls", "expected"), [
    ("A = make(32)\nB = make(16)\n", [32, 16]),
    ("A = make(16)\nB = make(32)\nC = make(16)\n", [16, 32]),
    ("def test_a():\n    run(make(8))\n    run(make(n=24))\n", [8, 24]),
    ("A = make(8)\ndef test_a():\n    run(make(24))\n", [8, 24]),
])
def test_each_program_that_a_factory_makes_is_one_of_the_file(calls: str, expected: list[int]) -> None:
    indented = "".join(f"    {line}\n" for line in KERNEL.splitlines()).replace("N", "n")
    assert sizes(FACTORY.format(indented) + calls) == expected


def test_a_default_is_no_call_beside_those_that_the_file_makes() -> None:
    indented = "".join(f"    {line}\n" for line in KERNEL.splitlines()).replace("N", "n")
    assert sizes(FACTORY.replace("make(n)", "make(n=64)").format(indented) + "A = make(32)\n") == [32]


def test_loading_is_fast() -> None:
    load_source(VECTOR_ADD, "kernel.py")
    start = time.perf_counter()
    for _ in range(5):
        load_source(VECTOR_ADD, "kernel.py")
    assert (time.perf_counter() - start) / 5 < 0.05
