"""Kernels for the simulator, written as `.pto` text, and their run."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from pypto_verified.layouts import Space
from pypto_verified.pto.reader import read
from pypto_verified.pto.rows import TABLE
from pypto_verified.simulator import compile, execute
from pypto_verified.targets import target
from tests.conformance.arithmetic import KINDS, PTO, Array
from tests.conformance.case import Case, Memory, differences

LAYOUTS: dict[str, tuple[str, str, int]] = {
    "vec": ("row_major", "none_box", 512), "mat": ("col_major", "row_major", 512),
    "left": ("row_major", "row_major", 512), "right": ("row_major", "col_major", 512),
    "acc": ("col_major", "row_major", 1024), "bias": ("row_major", "none_box", 512),
    "scaling": ("row_major", "none_box", 512),
}
"""Space -> block layout, layout in a box, bytes of a box: what a tile has unless a case says otherwise."""
DN = ("col_major", "none_box", 512)


class PtoKernel:
    """Collects tensors, tiles and ops. Tiles of a space lie one behind the other by default; `on` is the target."""

    def __init__(self, inputs: Mapping[str, Array], on: str, scalars: Mapping[str, int | float] | None = None) -> None:
        self.on = on
        self._inputs = inputs
        self._scalars = dict(scalars or {})
        self._lines: list[str] = []
        self._types: dict[str, str] = {}
        self._tensors: dict[str, str] = {}
        self._constants: dict[str, str] = {}
        self._used: dict[str, str] = {}
        self._next: dict[str, int] = {}
        self.addresses: dict[str, int] = {}

    def number(self, value: int, type_: str = "index") -> str:
        """The name of a constant."""
        name = f"%c{value}_{type_}".replace("-", "n")
        self._constants[name] = f"  {name} = arith.constant {value} : {type_}"
        return name

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
        key = f"{name}_{len(self._lines)}"
        whole = f"!pto.tensor_view<{'x'.join('?' * rank)}x{element}>"
        self._lines.append(
            f"  %{key}_v = pto.make_tensor_view %{name}, shape = [{self._list(shape)}], "
            f"strides = [{self._list(steps)}] {{layout = #pto.layout<{layout}>}} : {whole}"
        )
        part = f"!pto.partition_tensor_view<{'x'.join('?' * rank)}x{element}>"
        self._lines.append(
            f"  %{key} = pto.partition_view %{key}_v, offsets = [{self._list(at[:rank])}], "
            f"sizes = [{self._list(at[rank:])}] : {whole} -> {part}"
        )
        self._types[key] = part
        return key

    def tile(
        self, name: str, dtype: str, shape: tuple[int, int], valid: tuple[int, int] | None = None, space: str = "vec",
        addr: int | None = None, pad: int = 0, compact: int = 0, layout: tuple[str, str, int] | None = None,
        static: bool = False,
    ) -> str:
        """An allocated tile; its valid extents are operands, or (`static`) part of its type."""
        blayout, slayout, fractal = layout or LAYOUTS[space]
        rows, cols = shape
        start = self._next.get(space, 0) if addr is None else addr
        self._next[space] = start + -(-rows * cols * KINDS[dtype].itemsize // 1024) * 1024
        self.addresses[name] = start
        n, m = valid or shape
        self._types[name] = (
            f"!pto.tile_buf<loc={space}, dtype={PTO[dtype]}, rows={rows}, cols={cols}, "
            f"v_row={n if static else '?'}, v_col={m if static else '?'}, blayout={blayout}, slayout={slayout}, "
            f"fractal={fractal}, pad={pad}{f', compact={compact}' if compact else ''}>"
        )
        extents = "" if static else f" valid_row = {self.number(n)} valid_col = {self.number(m)}"
        self._lines.append(
            f"  %{name} = pto.alloc_tile addr = {self.number(start, 'i64')}{extents} : {self._types[name]}"
        )
        return name

    def derived(self, name: str, op: str, source: str, operands: str, type_: str) -> str:
        """A handle made by another op: `%name = pto.OP %source OPERANDS : source type -> type_`."""
        self._types[name] = type_
        self._lines.append(f"  %{name} = pto.{op} %{source}{operands} : {self._types[source]} -> {type_}")
        return name

    def type_of(self, name: str) -> str:
        """The spelling of a handle's type."""
        return self._types[name]

    def op(self, name: str, ins: str, outs: str, attrs: str = "") -> None:
        """`pto.NAME ins(...) outs(...)`. Operands: handles, `c:5:i32` a constant, `s:name:f32` a scalar argument."""
        inside = TABLE[f"pto.{name}"].form == "dps_in"
        sources = self._operands(ins, attrs if inside else "")
        self._lines.append(f"  pto.{name} ins({sources}) outs({self._operands(outs)}) {'' if inside else attrs}")

    def line(self, text: str) -> None:
        """Any other line."""
        self._lines.append("  " + text)

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

    def _operands(self, words: str, attrs: str = "") -> str:
        names, types = [], []
        for word in words.split():
            kind, _, rest = word.partition(":")
            value, _, type_ = rest.partition(":")
            if kind == "c":
                names.append(self.number(int(value), type_))
                types.append(type_)
            elif kind == "s":
                self._used[value] = type_
                names.append(f"%{value}")
                types.append(type_)
            else:
                names.append(f"%{word}")
                types.append(self._types[word])
        return f"{', '.join(names)} {attrs} : {', '.join(types)}"

    @property
    def text(self) -> str:
        arguments = [f"%{n}: !pto.ptr<{t}>" for n, t in self._tensors.items()]
        arguments += [f"%{n}: {t}" for n, t in self._used.items()]
        lines = "\n".join([*self._constants.values(), *self._lines])
        return f"module {{\n  func.func @kernel({', '.join(arguments)}) {{\n{lines}\n  return\n  }}\n}}\n"

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
        wrong += _memory_differences(part, memory.data, memory.init)
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
