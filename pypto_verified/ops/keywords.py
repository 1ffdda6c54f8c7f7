"""Kinds of keyword values: what a kernel may write for each, and the one form the IR keeps."""

from __future__ import annotations

import math

from pypto_verified.dtypes import DTYPES, DType
from pypto_verified.ir.expr import Attr
from pypto_verified.layouts import BLayout, Pad, SLayout, Space, TensorLayout

ROUND_MODES = ("none", "rint", "round", "floor", "ceil", "trunc", "odd")
"""Rounding modes of tile.cast by code. Source: PyPTO ir/utils.py, PTO-ISA RoundMode."""

CMP_MODES = ("eq", "ne", "lt", "le", "gt", "ge")
"""Comparisons of cmp, cmps and gather_compare by code. Source: PyPTO unified_ops."""

CODES: dict[str, tuple[str, ...]] = {
    "round": ROUND_MODES,
    "cmp": CMP_MODES,
    "atomic": ("none", "add"),
    "coalesce": ("row", "elem"),
    "oob": ("undefined", "clamp", "wrap", "zero"),
    "phase": ("unspecified", "partial", "final"),
}
PIPES = ("MTE1", "MTE2", "MTE3", "M", "V", "S", "FIX", "ALL")
"""Pipes that a synchronisation op names, by PyPTO's code. Source: PyPTO pipe.h."""

_CLASSES: dict[str, type[Space] | type[Pad] | type[BLayout] | type[SLayout] | type[TensorLayout] | type[DType]] = {
    "space": Space, "pad": Pad, "blayout": BLayout, "slayout": SLayout, "layout": TensorLayout, "dtype": DType,
}


def describe(kind: str) -> str:
    """The values a keyword of that kind takes, for messages."""
    if kind in CODES:
        names = ", ".join(f"{name!r} ({code})" for code, name in enumerate(CODES[kind]))
        return f"one of {names}"
    return {
        "int": "an integer",
        "bool": "True or False",
        "str": "a string",
        "float": "a number",
        "dtype": "an element type",
        "space": "a memory space",
        "pad": "a PadValue, or 0, math.inf, -math.inf",
        "shape": "a list of integers",
        "blayout": "a TileLayout",
        "slayout": "a TileLayout",
        "layout": "a TensorLayout",
        "pipe": f"one of {', '.join(PIPES)}",
    }[kind]


def parse_keyword(kind: str, word: str) -> Attr:
    """A default written in a row: `vec`, `false`, `zero`, `round`, `FP32`, `0`."""
    if kind == "bool":
        return word == "true"
    if kind == "int":
        return int(word)
    if kind == "dtype":
        return DTYPES[word]
    if kind == "space":
        return Space(word)
    if kind == "pad":
        return Pad[word.upper()]
    return CODES[kind].index(word) if kind in CODES else word


def coerce(kind: str, value: Attr) -> Attr:
    """The IR's form of `value` for a keyword of that kind. Raises ValueError when it is not one of the kind."""
    if kind in CODES:
        return _code(CODES[kind], value)
    if kind == "pad":
        return _pad(value)
    if kind == "bool" and isinstance(value, bool):
        return value
    if kind == "int" and isinstance(value, int) and not isinstance(value, bool):
        return value
    if kind == "float" and isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    if kind == "str" and isinstance(value, str):
        return value
    if kind == "shape" and isinstance(value, tuple) and all(type(v) is int for v in value):
        return value
    if kind in ("blayout", "slayout") and isinstance(value, BLayout | SLayout):
        return BLayout(value.value) if kind == "blayout" else SLayout(value.value)
    if kind == "pipe":
        return _pipe(value)
    expected = _CLASSES.get(kind)
    if expected is not None and isinstance(value, expected):
        return value
    raise ValueError(value)


def _code(names: tuple[str, ...], value: Attr) -> int:
    if isinstance(value, str) and value.lower() in names:
        return names.index(value.lower())
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < len(names):
        return value
    raise ValueError(value)


def _pipe(value: Attr) -> str:
    if isinstance(value, str) and value.removeprefix("PIPE_") in PIPES:
        return value.removeprefix("PIPE_")
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < len(PIPES):
        return PIPES[value]
    raise ValueError(value)


def _pad(value: Attr) -> Pad:
    if isinstance(value, Pad):
        return value
    if isinstance(value, int | float) and not isinstance(value, bool):
        if value == 0:
            return Pad.ZERO
        if math.isinf(value):
            return Pad.MAX if value > 0 else Pad.MIN
    raise ValueError(value)
