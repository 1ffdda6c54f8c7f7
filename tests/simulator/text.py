"""Small `.pto` functions, written as the ops that a test is about; the lines around them are made here."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from pypto_verified.pto.module import Func
from pypto_verified.pto.reader import read
from pypto_verified.simulator import Outcome, compile, execute
from pypto_verified.simulator.errors import SimError
from pypto_verified.simulator.values import Array, Scalar
from pypto_verified.targets import target
from tests.pto_text import PtoText


class Kernel(PtoText):
    """Collects tensors, tiles and ops; `func` reads the text."""

    def __init__(self, scalars: Mapping[str, str] | None = None) -> None:
        super().__init__()
        self.scalars = dict(scalars or {})
        self._tensors: dict[str, str] = {}

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
        return self.alloc(name, dtype, (rows, cols), valid, space, addr, pad, compact, layout)

    def load(self, tensor: str, tile: str) -> None:
        self.op("tload", tensor, tile)

    def store(self, tile: str, tensor: str, attrs: str = "") -> None:
        self.op("tstore", tile, tensor, attrs)

    @property
    def func(self) -> Func:
        return read(self.module(self._tensors.items(), self.scalars.items()), "kernel.pto").funcs[0]

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


def the_error(k: Kernel, **tensors: Array) -> SimError:
    """The one fault of a run on a2a3."""
    (error,) = execute(compile(k.func, target("a2a3")), tensors, {}).errors
    return error
