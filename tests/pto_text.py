"""The text of a `.pto` function, written op by op: constants, tiles, operands."""

from __future__ import annotations

from collections.abc import Iterable

from pypto_verified.dtypes import BY_PTO
from pypto_verified.pto.rows import TABLE

LAYOUTS: dict[str, tuple[str, str, int]] = {
    "vec": ("row_major", "none_box", 512), "mat": ("col_major", "row_major", 512),
    "left": ("row_major", "row_major", 512), "right": ("row_major", "col_major", 512),
    "acc": ("col_major", "row_major", 1024), "bias": ("row_major", "none_box", 512),
    "scaling": ("row_major", "none_box", 512),
}
"""Space -> block layout, layout in a box, bytes of a box: what a tile has unless a test says otherwise."""


class PtoText:
    """Collects ops and the constants that they need. Tiles of a space lie one behind the other by default, each at a
    multiple of `unit` bytes; `addresses` tells where."""

    unit = 512

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.types: dict[str, str] = {}
        self.addresses: dict[str, int] = {}
        self._constants: dict[str, str] = {}
        self._next: dict[str, int] = {}

    def number(self, value: int, type_: str = "index") -> str:
        """The name of a constant."""
        name = f"%c{value}_{type_}".replace("-", "n")
        self._constants[name] = f"  {name} = arith.constant {value} : {type_}"
        return name

    @property
    def constants(self) -> int:
        """Lines of constants before the ops."""
        return len(self._constants)

    def alloc(
        self, name: str, element: str, shape: tuple[int, int], valid: tuple[int, int] | None, space: str,
        addr: int | None, pad: int, compact: int, layout: tuple[str, str, int] | None, static: bool = False,
    ) -> str:
        """A tile of `.pto` type `element`; its valid extents are operands, or (`static`) part of its type."""
        (rows, cols), (blayout, slayout, fractal) = shape, layout or LAYOUTS[space]
        start = self._next.get(space, 0) if addr is None else addr
        self._next[space] = start + -(-rows * cols * BY_PTO[element].bytes // self.unit) * self.unit
        self.addresses[name] = start
        n, m = valid or shape
        self.types[name] = (
            f"!pto.tile_buf<loc={space}, dtype={element}, rows={rows}, cols={cols}, v_row={n if static else '?'}, "
            f"v_col={m if static else '?'}, blayout={blayout}, slayout={slayout}, fractal={fractal}, pad={pad}"
            f"{f', compact={compact}' if compact else ''}>"
        )
        extents = "" if static else f" valid_row = {self.number(n)} valid_col = {self.number(m)}"
        self.line(f"%{name} = pto.alloc_tile addr = {self.number(start, 'i64')}{extents} : {self.types[name]}")
        return name

    def op(self, name: str, ins: str, outs: str, attrs: str = "") -> None:
        """`pto.NAME ins(...) outs(...)`. Operands: handles, `c:5:i32` a constant, `s:name:f32` a scalar argument."""
        inside = TABLE[f"pto.{name}"].form == "dps_in"
        sources = self._operands(ins, attrs if inside else "")
        self.line(f"pto.{name} ins({sources}) outs({self._operands(outs)}) {'' if inside else attrs}")

    def line(self, text: str) -> None:
        """Any other line."""
        self.lines.append("  " + text)

    def scalar(self, name: str, type_: str) -> None:
        """An operand that is a scalar argument."""

    def _operands(self, words: str, attrs: str = "") -> str:
        names, types = [], []
        for word in words.split():
            kind, _, rest = word.partition(":")
            value, _, type_ = rest.partition(":")
            if not rest:
                names.append(f"%{word}")
                types.append(self.types[word])
                continue
            if kind == "s":
                self.scalar(value, type_)
            names.append(self.number(int(value), type_) if kind == "c" else f"%{value}")
            types.append(type_)
        return f"{', '.join(names)} {attrs} : {', '.join(types)}"

    def module(self, tensors: Iterable[tuple[str, str]], scalars: Iterable[tuple[str, str]]) -> str:
        """The module with the one function `kernel`; arguments are (name, type)."""
        arguments = [*(f"%{n}: !pto.ptr<{t}>" for n, t in tensors), *(f"%{n}: {t}" for n, t in scalars)]
        body = "\n".join([*self._constants.values(), *self.lines])
        return f"module {{\n  func.func @kernel({', '.join(arguments)}) {{\n{body}\n  return\n  }}\n}}\n"
