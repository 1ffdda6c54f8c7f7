"""The text of attribute values."""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Mapping

from pypto_verified.dtypes import BY_PTO, INT32, INT64, DType
from pypto_verified.pto.enums import ANGLED
from pypto_verified.pto.lexer import quote
from pypto_verified.pto.module import AttrValue, DictAttr, EnumAttr, IntArray, Symbol

INT_KINDS = {"int": INT32, "int8": BY_PTO["i8"], "int64": INT64}
"""Attribute kinds of integers; in a dictionary all but the 64-bit one carry their type."""

FLOAT_CODES = {"f64": "d", "f32": "f", "f16": "e"}
"""How `struct` packs a float."""


def float_text(value: float, dtype: DType) -> str:
    """The literal of a float; exact, because 17 digits or the bits identify a double."""
    if math.isfinite(value):
        return f"{value:.17e}"
    if dtype.pto == "bf16":
        return f"0x{struct.unpack('<I', struct.pack('<f', value))[0] >> 16:04X}"
    code = FLOAT_CODES.get(dtype.pto, "f")
    return f"0x{int.from_bytes(struct.pack('<' + code, value), 'little'):0{2 * struct.calcsize(code)}X}"


def attr_text(value: AttrValue, kind: str = "", clause: bool = False) -> str:
    """The text of an attribute value. In a `clause` integers carry no type."""
    if kind in ("int", "int8") and not clause:
        return f"{value} : {INT_KINDS[kind].pto}"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, EnumAttr):
        if kind in ("pipe", "event") or kind.startswith("loose:"):
            return f"<{value.member}>"
        return enum_text(value)
    if isinstance(value, Symbol):
        return symbol_text(value)
    if isinstance(value, str):
        return value if kind.startswith("word:") else quote(value)
    if isinstance(value, float):
        return float_text(value, BY_PTO["f64"])
    if isinstance(value, DType):
        return value.pto
    if isinstance(value, IntArray):
        return f"array<{value.type}{': ' if value.values else ''}{', '.join(map(str, value.values))}>"
    if isinstance(value, DictAttr):
        return dict_text(value.entries, {})
    if isinstance(value, tuple):
        return f"{kind[6:]}<{', '.join(map(str, value))}>" if kind.startswith("flags:") else _tuple_text(value)
    return str(value)


def _tuple_text(value: tuple[AttrValue, ...]) -> str:
    if len(value) == 2 and isinstance(value[1], DType):
        number, dtype = value[0], value[1]
        return f"{float_text(number, dtype) if isinstance(number, float) else number} : {dtype.pto}"
    return f"[{', '.join(attr_text(v) for v in value)}]"


def enum_text(value: EnumAttr) -> str:
    if value.kind == "acc_push_epilogue":
        layout, quant, relu = value.member.split()
        return f"#pto.acc_push_epilogue<layout = {layout}, quant = {quant}, relu = {relu}>"
    if value.kind in ANGLED:
        return f"#pto.{value.kind}<{value.member}>"
    return f"#pto<{value.kind} {value.member}>"


def symbol_text(value: Symbol) -> str:
    return f"@{value.name}" if re.fullmatch(r"[A-Za-z_$.][\w$.]*", value.name) else f"@{quote(value.name)}"


def dict_text(attrs: Mapping[str, AttrValue], kinds: Mapping[str, str], clause: bool = False) -> str:
    """`{name = value, ...}` in the order of `attrs`."""
    parts = []
    for name, value in attrs.items():
        shown = name if re.fullmatch(r"[A-Za-z_][\w$.]*", name) else quote(name)
        parts.append(shown if value is None else f"{shown} = {attr_text(value, kinds.get(name, ''), clause)}")
    return "{" + ", ".join(parts) + "}"
