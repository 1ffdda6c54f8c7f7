"""Small `.pto` functions, written as the ops that a test is about; the lines around them are made here."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from pypto_verified.pto.module import Func
from pypto_verified.pto.reader import read
from pypto_verified.pto.rows import TABLE
from pypto_verified.simulator import Outcome, compile, execute
from pypto_verified.simulator.values import Array, Scalar
from pypto_verified.targets import target

_LAYOUTS = {
    "vec": ("row_major", "none_box", 512), "mat": ("col_major", "row_major", 512),
    "left": ("row_major", "row_major", 512), "right": ("row_major", "col_major", 512),
    "acc": ("col_major", "row_major", 1024), "bias": ("row_major", "none_box", 512),
}
_BITS = {"f32": 32, "f16": 16, "bf16": 16, "i32": 32, "i16": 16, "i8": 8, "ui8": 8, "ui32": 32, "i64": 64}


class Kernel:
    """Collects tensors, tiles and ops; `func` reads the text. Tiles of a space lie one behind the other by default."""

    def __init__(self, scalars: Mapping[str, str] | None = None) -> None:
        self.scalars = dict(scalars or {})
        self.lines: list[str] = []
        self.types: dict[str, str] = {}
        self._tensors: dict[str, str] = {}
        self._constants: dict[str, str] = {}
        self._next: dict[str, int] = {}

    def number(self, value: int, type_: str = "index") -> str:
        """The name of a constant."""
        name = f"%c{value}_{type_}".replace("-", "n")
        self._constants[name] = f"  {name} = arith.constant {value} : {type_}"
        return name

    def tensor(self, name: str, dtype: str, rows: int | str, cols: int, window: tuple[int, ...] = ()) -> str:
        """A row-major tensor argument and its window (row, col, rows, cols), by default all of it; gives the view."""
        self._tensors[name] = dtype
        total = rows if isinstance(rows, str) else self.number(rows)
        static = rows if isinstance(rows, int) else 0
        row, col, n, m = window or (0, 0, static, cols)
        width, one = self.number(cols), self.number(1)
        self.lines.append(
            f"  %{name}_v = pto.make_tensor_view %{name}, shape = [{total}, {width}], strides = [{width}, {one}] "
            f"{{layout = #pto.layout<nd>}} : !pto.tensor_view<?x?x{dtype}>"
        )
        part = f"!pto.partition_tensor_view<{n}x{m}x{dtype}>"
        self.lines.append(
            f"  %{name}_p = pto.partition_view %{name}_v, offsets = [{self.number(row)}, {self.number(col)}], "
            f"sizes = [{self.number(n)}, {self.number(m)}] : !pto.tensor_view<?x?x{dtype}> -> {part}"
        )
        self.types[f"{name}_p"] = part
        return f"{name}_p"

    def tile(
        self, name: str, dtype: str, rows: int, cols: int, space: str = "vec", valid: tuple[int, int] | None = None,
        addr: int | None = None, pad: int = 0, compact: int = 0, layout: tuple[str, str, int] | None = None,
    ) -> str:
        """An allocated tile; a valid extent is an operand, as compilers print it."""
        blayout, slayout, fractal = layout or _LAYOUTS[space]
        start = self._next.get(space, 0) if addr is None else addr
        self._next[space] = start + -(-rows * cols * _BITS[dtype] // 8 // 512) * 512
        tail = f", compact={compact}" if compact else ""
        self.types[name] = (
            f"!pto.tile_buf<loc={space}, dtype={dtype}, rows={rows}, cols={cols}, v_row=?, v_col=?, "
            f"blayout={blayout}, slayout={slayout}, fractal={fractal}, pad={pad}{tail}>"
        )
        n, m = valid or (rows, cols)
        self.lines.append(
            f"  %{name} = pto.alloc_tile addr = {self.number(start, 'i64')} valid_row = {self.number(n)} "
            f"valid_col = {self.number(m)} : {self.types[name]}"
        )
        return name

    def op(self, name: str, ins: str, outs: str, attrs: str = "") -> None:
        """`pto.NAME ins(...) outs(...)`; an operand `c:5:i32` is a constant, `s:alpha:f32` a scalar argument."""
        inside = TABLE[f"pto.{name}"].form == "dps_in"
        sources = self._operands(ins, attrs if inside else "")
        self.lines.append(f"  pto.{name} ins({sources}) outs({self._operands(outs)}) {'' if inside else attrs}")

    def line(self, text: str) -> None:
        """Any other line."""
        self.lines.append("  " + text)

    def load(self, tensor: str, tile: str) -> None:
        self.op("tload", tensor, tile)

    def store(self, tile: str, tensor: str, attrs: str = "") -> None:
        self.op("tstore", tile, tensor, attrs)

    def _operands(self, words: str, attrs: str = "") -> str:
        names, types = [], []
        for word in words.split():
            kind, _, rest = word.partition(":")
            value, _, type_ = rest.partition(":")
            if kind == "c":
                names.append(self.number(int(value), type_))
                types.append(type_)
            elif kind == "s":
                names.append(f"%{value}")
                types.append(type_)
            else:
                names.append(f"%{word}")
                types.append(self.types[word])
        return f"{', '.join(names)} {attrs} : {', '.join(types)}"

    @property
    def constants(self) -> int:
        """Lines of constants before the ops."""
        return len(self._constants)

    @property
    def func(self) -> Func:
        arguments = [f"%{n}: !pto.ptr<{t}>" for n, t in self._tensors.items()]
        arguments += [f"%{n}: {t}" for n, t in self.scalars.items()]
        lines = "\n".join([*self._constants.values(), *self.lines])
        text = f"module {{\n  func.func @kernel({', '.join(arguments)}) {{\n{lines}\n  return\n  }}\n}}\n"
        return read(text, "kernel.pto").funcs[0]

    def run(self, on: str, scalars: Mapping[str, Scalar] | None = None, **tensors: Array) -> Outcome:
        """Run on a target."""
        return execute(compile(self.func, target(on)), tensors, scalars or {})

    def result(self, on: str, name: str, scalars: Mapping[str, Scalar] | None = None, **tensors: Array) -> Array:
        """A tensor after a run without faults."""
        outcome = self.run(on, scalars, **tensors)
        assert outcome.errors == []
        return outcome.outputs[name]


def zeros(rows: int, cols: int, kind: np.typing.DTypeLike = np.float32) -> Array:
    return np.zeros((rows, cols), kind)


def ramp(rows: int, cols: int, kind: np.typing.DTypeLike = np.float32) -> Array:
    """0, 1, 2, ... in row-major order."""
    return np.arange(rows * cols).reshape(rows, cols).astype(kind)
