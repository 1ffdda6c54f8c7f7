"""Runs of a function: control flow, arguments, what ends a run, what it leaves for the next."""

from __future__ import annotations

import numpy as np
import pytest

from pypto_verified.errors import InputError
from pypto_verified.layouts import Space
from pypto_verified.pto.module import Op
from pypto_verified.pto.reader import read
from pypto_verified.pto.rows import TABLE
from pypto_verified.simulator import compile, confirm, execute, run
from pypto_verified.simulator.errors import StepLimitError, UnmodelledError
from pypto_verified.simulator.meanings import MEANINGS
from pypto_verified.simulator.memory import Access
from pypto_verified.targets import target
from tests.simulator.text import Kernel, ramp, the_error, zeros

A2A3 = target("a2a3")


def test_every_meaning_names_operands_of_its_row() -> None:
    for name, meaning in MEANINGS.items():
        groups = {g.rstrip("*") for g in meaning.groups}
        declared = {o.name for o in TABLE[name].operands}
        # a kernel with every op's optional scratch: handlers of one family share a signature
        assert groups - {"tmp"} <= declared, name
        required = {o.name for o in TABLE[name].operands if not o.optional and not o.variadic}
        assert required <= groups, name


LOOP = """
module {
  func.func @sum(%out: !pto.ptr<i32>, %n: index) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %z = arith.constant 0 : i32
    %big = arith.constant 2147483647 : i32
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %z) -> (i32) {
      %i32 = arith.index_cast %i : index to i32
      %even = arith.remsi %i, %two : index
      %is = arith.cmpi eq, %even, %c0 : index
      %t = scf.if %is -> (i32) {
        %u = arith.addi %s, %i32 : i32
        scf.yield %u : i32
      } else {
        scf.yield %s : i32
      }
      scf.yield %t : i32
    }
    pto.store_scalar %r, %out[%c0] : !pto.ptr<i32>, i32
    %w = scf.while (%k = %c1) : (index) -> (index) {
      %more = arith.cmpi slt, %k, %n : index
      scf.condition(%more) %k : index
    } do {
    ^bb0(%k2: index):
      %d = arith.addi %k2, %k2 : index
      scf.yield %d : index
    }
    %w32 = arith.index_cast %w : index to i32
    pto.store_scalar %w32, %out[%c1] : !pto.ptr<i32>, i32
    %o = arith.addi %big, %big : i32
    pto.store_scalar %o, %out[%two] : !pto.ptr<i32>, i32
    return
  }
}
""".replace("%z = arith", "%two = arith.constant 2 : index\n    %z = arith")


def test_loops_branches_and_integers_of_their_width() -> None:
    func = read(LOOP).funcs[0]
    got = run(func, {"out": zeros(1, 3, np.int32)}, {"n": 10}, A2A3).outputs["out"][0].tolist()
    # 0+2+4+6+8; the first power of two that is not below 10; 2 * (2**31 - 1) wraps to -2.
    assert got == [20, 16, -2]
    assert run(func, {"out": zeros(1, 3, np.int32)}, {"n": 0}, A2A3).outputs["out"][0].tolist() == [0, 1, -2]


def test_endless_work_is_cut_off() -> None:
    (error,) = run(read(LOOP).funcs[0], {0: zeros(1, 3, np.int32)}, {1: 10**9}, A2A3, max_steps=1000).errors
    assert isinstance(error, StepLimitError)


def test_missing_arguments_are_named() -> None:
    with pytest.raises(InputError, match="argument 1, %n"):
        run(read(LOOP).funcs[0], {"out": zeros(1, 3, np.int32)}, {}, A2A3)


def test_ops_without_a_meaning_are_named_and_only_when_they_run() -> None:
    k = Kernel()
    x = k.tile("x", "i32", 1, 8)
    k.op("tquant.mx", x, f"{x} {x} {x} {x}", "{quant_type = #pto<quant_type MXFP8>}")
    error = the_error(k)
    assert isinstance(error, UnmodelledError)
    assert error.op == "pto.tquant.mx"
    assert confirm(k.func, "BOUND-UPPER", {}, A2A3).startswith("not run: ")


def test_a_trace_gives_the_bytes_of_each_op() -> None:
    k = Kernel()
    a, x = k.tensor("a", "f32", 8, 8, (2, 0, 4, 8)), k.tile("x", "f32", 8, 16, valid=(4, 8), addr=1024)
    k.load(a, x)
    seen: list[tuple[str, Space, int, tuple[int, ...], bool]] = []

    def trace(op: Op, accesses: list[Access]) -> None:
        seen.extend((op.name, s.space, s.start, s.shape, s.writes) for s in accesses)

    run(k.func, {"a": ramp(8, 8)}, {}, A2A3, trace=trace)
    assert [(n, s, start, w) for n, s, start, _, w in seen] == [
        ("pto.tload", Space.VEC, 1024, True), ("pto.tload", Space.GM, 64, False),
    ]
    assert [np.prod(shape) for *_, shape, _ in seen] == [32, 32]


def test_runs_of_one_program_do_not_see_each_other() -> None:
    k = Kernel()
    a, out = k.tensor("a", "f32", 8, 8), k.tensor("out", "f32", 8, 8)
    x, y = k.tile("x", "f32", 8, 8), k.tile("y", "f32", 8, 8)
    k.load(a, x)
    k.store(y, out)
    program = compile(k.func, A2A3)
    for _ in range(2):
        assert len(execute(program, {"a": ramp(8, 8), "out": zeros(8, 8)}, {}).errors) == 1
