"""Kernels for the simulator, written as `.pto` text, and their run."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from pypto_verified.layouts import Space
from pypto_verified.pto.reader import read
from pypto_verified.simulator import compile, execute
from pypto_verified.targets import target
from tests.conformance.arithmetic import KINDS, PTO, Array
from tests.conformance.case import Case, Memory, differences
from tests.pto_text import PtoText

DN = ("col_major", "none_box", 512)


class PtoKernel(PtoText):
    """Collects tensors, tiles and ops for the target `on`."""

    unit = 1024

    def __init__(self, inputs: Mapping[str, Array], on: str, scalars: Mapping[str, int | float] | None = None) -> None:
        super().__init__()
        self.on = on
        self._inputs = inputs
        self._scalars = dict(scalars or {})
        self._tensors: dict[str, str] = {}
        self._used: dict[str, str] = {}

    def view(
        self, name: str, window: tuple[int, ...] | None = None, layout: str = "nd",
        dims: tuple[int, ...] | None = None, strides: tuple[int, ...] | None = None,
    ) -> str:
        """A window on the tensor `name`: by default all of it, row by row. `window` lists offsets, then sizes."""
        array = self._inputs[name]
        element = PTO[next(d for d, kind in KINDS.items() if kind == array.dtype)]
        self._tensors[name] = element
        shape = dims or array.shape
        steps = strides or tuple(int(np.prod(shape[i + 1:])) for i in range(len(shape)))
        rank = len(shape)
        at = window or (*(0,) * rank, *shape)
        key = f"{name}_{len(self.lines)}"
        whole = f"!pto.tensor_view<{'x'.join('?' * rank)}x{element}>"
        self.lines.append(
            f"  %{key}_v = pto.make_tensor_view %{name}, shape = [{self._list(shape)}], "
            f"strides = [{self._list(steps)}] {{layout = #pto.layout<{layout}>}} : {whole}"
        )
        part = f"!pto.partition_tensor_view<{'x'.join('?' * rank)}x{element}>"
        self.lines.append(
            f"  %{key} = pto.partition_view %{key}_v, offsets = [{self._list(at[:rank])}], "
            f"sizes = [{self._list(at[rank:])}] : {whole} -> {part}"
        )
        self.types[key] = part
        return key

    def tile(
        self, name: str, dtype: str, shape: tuple[int, int], valid: tuple[int, int] | None = None, space: str = "vec",
        addr: int | None = None, pad: int = 0, compact: int = 0, layout: tuple[str, str, int] | None = None,
        static: bool = False,
    ) -> str:
        """An allocated tile; its valid extents are operands, or (`static`) part of its type."""
        return self.alloc(name, PTO[dtype], shape, valid, space, addr, pad, compact, layout, static)

    def derived(self, name: str, op: str, source: str, operands: str, type_: str) -> str:
        """A handle made by another op: `%name = pto.OP %source OPERANDS : source type -> type_`."""
        self.types[name] = type_
        self.lines.append(f"  %{name} = pto.{op} %{source}{operands} : {self.types[source]} -> {type_}")
        return name

    def type_of(self, name: str) -> str:
        """The spelling of a handle's type."""
        return self.types[name]

    def load(self, tensor: str, tile: str) -> None:
        """The whole tensor into a tile."""
        self.op("tload", self.view(tensor), tile)

    def fill(self, tile: str, dtype: str, shape: tuple[int, int], tensor: str) -> None:
        """Every physical element of a row-major tile from a tensor of its shape, valid or not."""
        whole = self.tile(f"{tile}_all", dtype, shape, addr=self.addresses[tile])
        self.op("tload", self.view(tensor), whole)

    def store(self, tile: str, tensor: str, valid: tuple[int, int] | None = None, attrs: str = "") -> None:
        """A tile into the tensor, or into its first `valid` rows and columns."""
        self.op("tstore", tile, self.view(tensor, None if valid is None else (0, 0, *valid)), attrs)

    def _list(self, values: tuple[int, ...]) -> str:
        return ", ".join(self.number(int(v)) for v in values)

    def scalar(self, name: str, type_: str) -> None:
        self._used[name] = type_

    @property
    def text(self) -> str:
        return self.module(self._tensors.items(), self._used.items())

    @property
    def tensors(self) -> tuple[str, ...]:
        return tuple(self._tensors)


def run(case: Case, on: str) -> list[str]:
    """What is wrong with the simulator's result for the case on a target."""
    assert case.pto is not None
    kernel = PtoKernel(case.inputs, on, case.scalars)
    case.pto(kernel)
    program = compile(read(kernel.text, "case.pto").funcs[0], target(on))
    outcome = execute(program, {n: case.inputs[n] for n in kernel.tensors}, dict(case.scalars))
    faults = tuple(e.kind for e in outcome.errors)
    if faults != case.faults.get(on, ()):
        return [f"faults {[str(e) for e in outcome.errors]} instead of {case.faults.get(on, ())}"]
    wrong = differences(case, on, outcome.outputs)
    for part in case.memory.get(on, ()):
        memory = program.machine.memories[Space(part.space)]
        wrong += _memory_differences(part, memory.data, memory.bytes.init)
    return wrong


def _memory_differences(part: Memory, data: Array, written: Array) -> list[str]:
    want = np.ascontiguousarray(part.data).reshape(-1)
    place = slice(part.address, part.address + want.nbytes)
    got = data[place].view(want.dtype)
    known: Array = np.asarray(part.known, dtype=np.bool_).reshape(-1)
    marks: Array = written[place].reshape(-1, want.itemsize)
    unsigned = np.dtype(f"u{want.itemsize}")
    differs: Array = got.view(unsigned) != want.view(unsigned)
    bad: Array = np.logical_and(known, differs | (marks == 0).any(axis=1))
    if part.untouched:
        bad = bad | (~known & (marks != 0).any(axis=1))
    if not bad.any():
        return []
    at = int(np.flatnonzero(bad)[0])
    state = got[at] if marks[at].any() else "never written"
    wanted = want[at] if known[at] else "never written"
    return [f"{part.space}[{part.address} + {at} elements] is {state} instead of {wanted} ({int(bad.sum())} wrong)"]
