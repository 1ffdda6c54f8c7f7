"""One op from tiles to a tile: the frame that most families fill."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pypto_verified.ir.expr import Attr, Expr
from tests.conformance.arithmetic import KINDS, Array, pasted, samples
from tests.conformance.case import TARGETS, Case, Region
from tests.conformance.ir_kernel import IrKernel, Operand
from tests.conformance.pto_kernel import PtoKernel


@dataclass(frozen=True, slots=True)
class Source:
    """A tile operand: what it holds, where it is valid, its layout in the simulator."""

    data: Array
    valid: Region | None = None
    layout: tuple[str, str, int] | None = None

    @property
    def dtype(self) -> str:
        return next(d for d, kind in KINDS.items() if kind == self.data.dtype)

    @property
    def shape(self) -> tuple[int, int]:
        return self.data.shape[0], self.data.shape[1]


@dataclass(frozen=True, slots=True)
class Pto:
    """The op in `.pto`: `ins` names sources, `tmp` (a scratch tile like the first source), `s:name:type` scalars."""

    op: str
    ins: str
    attrs: str = ""


@dataclass(frozen=True, slots=True)
class Ir:
    """The op in IR: operands name sources, `tmp`, or are values."""

    op: str
    operands: tuple[Operand | str, ...]
    keywords: Mapping[str, Attr]


def ir(op: str, *operands: Operand | str, **keywords: Attr) -> Ir:
    return Ir(op, operands, keywords)


def single(
    name: str, derivation: str, sources: Mapping[str, Source], values: Array, valid: Region, pto: Pto | None,
    ir_op: Ir | None, *, targets: tuple[str, ...] = TARGETS, close: float = 0.0,
    scalars: Mapping[str, int | float] | None = None, care: Array | None = None, scratch: Source | None = None,
    within: float = 0.0,
) -> Case:
    """The case `result = op(sources)`: `values` on the valid region, what was there before on the rest of the tile.

    `scratch`: what a `tmp` operand looks like, the first source by default.
    """
    dtype = next(d for d, kind in KINDS.items() if kind == values.dtype)
    shape = (values.shape[0], values.shape[1])
    before = samples(dtype, shape, 99)
    inputs: dict[str, Array] = {n: s.data for n, s in sources.items()}
    inputs["out"], inputs["whole"] = before, before
    after = pasted(before, values, valid)
    first = scratch or next(iter(sources.values()))

    def write_pto(k: PtoKernel) -> None:
        assert pto is not None
        for n, s in sources.items():
            tile = k.tile(f"t_{n}", s.dtype, s.shape, s.valid, layout=s.layout)
            k.op("tload", k.view(n, (0, 0, *(s.valid or s.shape))), tile)
        words = []
        for word in pto.ins.split():
            if word == "tmp":
                k.tile("t_tmp", first.dtype, first.shape, first.valid)
            words.append(word if ":" in word else f"t_{word}")
        z = k.tile("z", dtype, shape, valid)
        k.fill(z, dtype, shape, "whole")
        k.op(pto.op, " ".join(words), z, pto.attrs)
        k.store(z, "out", valid)
        k.store("z_all", "whole")

    def write_ir(k: IrKernel) -> None:
        assert ir_op is not None
        known: dict[str, Expr] = {n: k.load(n, s.shape, s.valid) for n, s in sources.items()}
        if "tmp" in ir_op.operands:
            known["tmp"] = k.create(first.shape, first.dtype)
        operands: list[Operand] = [known[o] if isinstance(o, str) else o for o in ir_op.operands]
        k.result(k.call(ir_op.op, *operands, **dict(ir_op.keywords)), "out", valid)

    return Case(
        name=name, op=pto.op if pto is not None else ir_op.op if ir_op is not None else "", derivation=derivation,
        inputs=inputs, expected={"out": after, "whole": after}, ir=write_ir if ir_op is not None else None,
        pto=write_pto if pto is not None else None, targets=targets, close=close, within=within,
        care={} if care is None else {"out": care, "whole": care}, scalars=scalars or {},
    )
