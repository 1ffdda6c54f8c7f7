"""Accumulating matmul: the accumulator is updated in place, and a first step may overwrite it instead."""

from __future__ import annotations

from pypto_verified.codegen.emit_dps import in_place
from pypto_verified.codegen.kernel import Kernel
from pypto_verified.dtypes import BOOL
from pypto_verified.ir.expr import NO_ARG, Call, Const, Expr, Var
from pypto_verified.pto.module import Op


def emit_matmul_acc(kernel: Kernel, var: Var, call: Call) -> None:
    """`tile.matmul_acc(acc, lhs, rhs, init_cond?)` -> tmatmul.acc; with a condition, an scf.if whose first branch is
    the tmatmul that overwrites the accumulator. A constant condition needs no branch."""
    condition: Expr = call.args[3] if len(call.args) > 3 and call.args[3] != NO_ARG else Const(False, BOOL)
    accumulator = in_place(kernel, var, call.args[0])
    with kernel.at_call(call):
        operands = {"lhs": (kernel.tile(call.args[1]),), "rhs": (kernel.tile(call.args[2]),)}
        destination = {"dst": (accumulator,)}
        if isinstance(condition, Const):
            if condition.value:
                kernel.emit("pto.tmatmul", {**operands, **destination})
            else:
                kernel.emit("pto.tmatmul.acc", {"acc_in": (accumulator,), **operands, **destination})
            return
        test = kernel.scalar(condition, BOOL)
        with kernel.block() as first:
            kernel.emit("pto.tmatmul", {**operands, **destination})
        with kernel.block() as later:
            kernel.emit("pto.tmatmul.acc", {"acc_in": (accumulator,), **operands, **destination})
        kernel.builder.structure(Op("scf.if", {"cond": (test,)}, regions=(first, later)))
