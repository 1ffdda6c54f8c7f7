"""Reading attribute values: numbers, strings, symbols, types, arrays and the dialect's enumerations."""

from __future__ import annotations

import re
import struct
from collections.abc import Mapping

from pypto_verified.dtypes import BY_PTO, DType
from pypto_verified.pto.attrtext import FLOAT_CODES, INT_KINDS
from pypto_verified.pto.enums import MEMBERS
from pypto_verified.pto.lexer import Cursor, unquote
from pypto_verified.pto.module import AttrValue, DictAttr, EnumAttr, IntArray, Symbol

_MAX_ARRAY_NESTING = 16
_ENUM = re.compile(r"#pto(?:<\s*(\w+)(?:\s+|\s*<\s*)(\w+)\s*>?\s*>|\.(\w+)<\s*(\w+)\s*>)\Z")
_INT_ARRAY = re.compile(r"array<\s*(i\d+)\s*(?::\s*(-?\d+\s*(?:,\s*-?\d+\s*)*+))?>")
_EPILOGUE = re.compile(
    r"#pto(?:\.|<\s*)acc_push_epilogue\s*<\s*layout\s*=\s*(\w+)\s*,\s*quant\s*=\s*(\w+)\s*,\s*relu\s*=\s*(\w+)\s*>\s*>?\Z"
)
_EPILOGUE_LAYOUTS = frozenset({"nz2nd", "nz2dn", "nz2nz"})
_FLAGS = {
    "overflow": frozenset({"none", "nsw", "nuw"}),
    "fastmath": frozenset({"none", "reassoc", "nnan", "ninf", "nsz", "arcp", "contract", "afn", "fast"}),
}


def read_enum(cursor: Cursor, kind: str) -> EnumAttr:
    """A `#pto` enumeration attribute; `kind` '' takes any. ParseError for a wrong kind or an unknown member."""
    token = cursor.next
    match = _ENUM.match(token)
    if match is None:
        cursor.fail(f"expected #pto.{kind}<...>, found {cursor.shown()}")
    found_kind, member = (match[1], match[2]) if match[1] else (match[3], match[4])
    return _member(cursor, kind, found_kind, member)


def _member(cursor: Cursor, kind: str, found_kind: str, member: str) -> EnumAttr:
    allowed = MEMBERS.get(found_kind)
    if allowed is None:
        cursor.fail(f"unknown attribute kind '{found_kind}'")
    if kind and kind != found_kind:
        cursor.fail(f"expected an attribute of kind {kind}, found {cursor.shown()}")
    if member not in allowed:
        cursor.fail(f"'{member}' is no member of {found_kind}: {', '.join(sorted(allowed))}")
    cursor.pos += 1
    return EnumAttr(found_kind, member)


def read_loose_enum(cursor: Cursor, kind: str) -> EnumAttr:
    """A pipe or event in one of its three spellings: `<PIPE_V>`, `"PIPE_V"`, `#pto.pipe<PIPE_V>`."""
    token = cursor.next
    if token.startswith('"'):
        return _member(cursor, kind, kind, unquote(token))
    return _read_stripped(cursor, kind) if cursor.next == "<" else read_enum(cursor, kind)


def _read_stripped(cursor: Cursor, kind: str) -> EnumAttr:
    cursor.expect("<")
    found = _member(cursor, kind, kind, cursor.next)
    cursor.expect(">")
    return found


def read_float(cursor: Cursor, dtype: DType) -> float:
    """A float literal of type `dtype`: decimal, or its bits in hexadecimal."""
    token = cursor.next
    try:
        if "0x" not in token:
            value = float(token)
        elif dtype.pto == "bf16":
            value = struct.unpack("<f", struct.pack("<I", int(token, 16) << 16))[0]
        elif dtype.pto in FLOAT_CODES:
            value = struct.unpack("<" + FLOAT_CODES[dtype.pto], int(token, 16).to_bytes(dtype.bytes, "little"))[0]
        else:
            cursor.not_modelled(f"a literal of type {dtype.pto} given by its bits")
    except (ValueError, OverflowError, struct.error):
        cursor.fail(f"expected a literal of type {dtype.pto}, found {cursor.shown()}")
    cursor.pos += 1
    return float(value)


def read_attr(cursor: Cursor, kind: str = "", stripped: bool = False) -> AttrValue:
    """An attribute value of a row's attribute kind; without a kind any value. ParseError if it does not fit.

    `stripped`: an enumeration may stand as `<member>`, which is how the assembler prints it outside of a dictionary.
    """
    if kind in INT_KINDS:
        value = cursor.take_int()
        if cursor.accept(":"):
            width = INT_KINDS[kind].pto
            if cursor.next != width:
                cursor.fail(f"expected type {width}, found {cursor.shown()}")
            cursor.pos += 1
        return value
    if kind == "bool":
        if cursor.next not in ("true", "false"):
            cursor.fail(f"expected true or false, found {cursor.shown()}")
        return cursor.take() == "true"
    if kind == "str":
        return cursor.take_string()
    if kind.startswith("str:"):
        return _read_choice(cursor, kind[4:].split())
    if kind.startswith("word:"):
        if cursor.next not in kind[5:].split():
            cursor.fail(f"expected one of {kind[5:]}, found {cursor.shown()}")
        return cursor.take()
    if kind.startswith("flags:"):
        return _read_flags(cursor, kind[6:])
    if kind == "symbol":
        return read_symbol(cursor)
    if kind in ("pipe", "event"):
        return read_loose_enum(cursor, kind)
    if kind.startswith("enum:"):
        return _read_stripped(cursor, kind[5:]) if stripped and cursor.next == "<" else read_enum(cursor, kind[5:])
    if kind.startswith("loose:"):
        return read_loose_enum(cursor, kind[6:])
    if kind == "ints":
        return _read_ints(cursor)
    if kind == "segments":
        return _read_segments(cursor)
    if kind == "sync_op":
        return _read_sync_op(cursor)
    if kind == "epilogue":
        return _read_epilogue(cursor)
    return _read_any(cursor, 0)


def _read_sync_op(cursor: Cursor) -> EnumAttr:
    """An event type, in the current or the deprecated kind, or a pipe; a string names a member of either."""
    token = cursor.next
    if token.startswith('"'):
        name = unquote(token)
        kind = "pipe" if name in MEMBERS["pipe"] else "pipe_event_type"
        return _member(cursor, kind, kind, name)
    found = read_enum(cursor, "")
    if found.kind not in ("pipe_event_type", "sync_op_type", "pipe"):
        cursor.fail(f"expected an event type or a pipe, found {found}", cursor.pos - 1)
    return found


def _read_choice(cursor: Cursor, choices: list[str]) -> str:
    at = cursor.pos
    value = cursor.take_string()
    if value not in choices:
        cursor.fail(f"expected one of {', '.join(choices)}, found '{value}'", at)
    return value


def _read_flags(cursor: Cursor, name: str) -> tuple[str, ...]:
    """`name<a, b>`, which the lexer keeps as one token."""
    body = cursor.next[len(name) + 1 : -1]
    words = tuple(part.strip() for part in body.split(","))
    unknown = [word for word in words if word not in _FLAGS[name]]
    if unknown:
        cursor.fail(f"'{unknown[0]}' is no {name} flag: {', '.join(sorted(_FLAGS[name]))}")
    cursor.pos += 1
    return words


def _read_epilogue(cursor: Cursor) -> EnumAttr:
    """The fixpipe contract of a pipe; the member holds layout, quant mode and relu mode."""
    match = _EPILOGUE.match(cursor.next)
    if match is None or match[1] not in _EPILOGUE_LAYOUTS or match[3] not in MEMBERS["relu_pre_mode"]:
        cursor.fail(f"expected #pto.acc_push_epilogue<layout=, quant=, relu=>, found {cursor.shown()}")
    cursor.pos += 1
    return EnumAttr("acc_push_epilogue", f"{match[1]} {match[2]} {match[3]}")


def _read_ints(cursor: Cursor) -> tuple[int, ...]:
    cursor.expect("[")
    values: list[int] = []
    while not cursor.accept("]"):
        if values:
            cursor.expect(",")
        values.append(cursor.take_int())
        if cursor.accept(":"):
            cursor.expect("i64")
    return tuple(values)


def _read_segments(cursor: Cursor) -> tuple[int, ...]:
    """`array<i32: 1, 0>`, which the lexer keeps as one token."""
    match = re.fullmatch(r"array<\s*i(?:32|64)\s*:([\s\d,]*)>", cursor.next)
    if match is None:
        cursor.fail(f"expected array<i32: ...>, found {cursor.shown()}")
    cursor.pos += 1
    return tuple(int(part) for part in match[1].split(","))


def read_symbol(cursor: Cursor) -> Symbol:
    token = cursor.next
    if not token.startswith("@") or len(token) < 2:
        cursor.fail(f"expected a symbol, found {cursor.shown()}")
    cursor.pos += 1
    return Symbol(unquote(token[1:]) if token[1] == '"' else token[1:])


def _read_any(cursor: Cursor, depth: int) -> AttrValue:
    token = cursor.next
    if token in ("true", "false"):
        cursor.pos += 1
        return token == "true"
    if token[:1] == '"':
        return cursor.take_string()
    if token[:1] == "@":
        return read_symbol(cursor)
    if token[:1] == "#":
        return _read_epilogue(cursor) if "acc_push_epilogue" in token else read_enum(cursor, "")
    if token in BY_PTO:
        cursor.pos += 1
        return BY_PTO[token]
    if token == "[":
        return _read_array(cursor, depth)
    if token[:1].isdigit() or (token[:1] == "-" and token[1:2].isdigit()):
        return _read_number(cursor)
    if token == "{":
        if depth >= _MAX_ARRAY_NESTING:
            cursor.fail(f"attributes nest deeper than {_MAX_ARRAY_NESTING}")
        entries: dict[str, AttrValue] = {}
        read_dict(cursor, {}, entries, depth + 1)
        return DictAttr(entries)
    if token.startswith("array<"):
        return _read_int_array(cursor)
    if not token or token in ")]}>,:=":
        cursor.fail(f"expected an attribute value, found {cursor.shown()}")
    cursor.not_modelled(f"the attribute value {cursor.shown()}")


def _read_int_array(cursor: Cursor) -> IntArray:
    """`array<i64: 0, 512>`, which the lexer keeps as one token."""
    match = _INT_ARRAY.fullmatch(cursor.next)
    if match is None:
        cursor.not_modelled(f"the attribute value {cursor.shown()}")
    cursor.pos += 1
    return IntArray(match[1], tuple(int(part) for part in (match[2] or "").split(",") if part))


def _read_number(cursor: Cursor) -> AttrValue:
    """A number; with a type that is not the default one, the pair of both."""
    is_float = "." in cursor.next
    dtype_at = cursor.pos + 2
    typed = cursor.texts[cursor.pos + 1] == ":"
    dtype = BY_PTO.get(cursor.texts[dtype_at]) if typed else None
    value: int | float = read_float(cursor, dtype or BY_PTO["f64"]) if is_float else cursor.take_int()
    if not typed:
        return value
    cursor.pos += 1
    if dtype is None:
        cursor.fail(f"expected the type of a number, found {cursor.shown()}")
    cursor.pos += 1
    return value if dtype.pto == ("f64" if is_float else "i64") else (value, dtype)


def _read_array(cursor: Cursor, depth: int) -> AttrValue:
    if depth >= _MAX_ARRAY_NESTING:
        cursor.fail(f"arrays nest deeper than {_MAX_ARRAY_NESTING}")
    start = cursor.pos
    cursor.expect("[")
    values: list[AttrValue] = []
    while not cursor.accept("]"):
        if values:
            cursor.expect(",")
        values.append(_read_any(cursor, depth + 1))
    if len(values) == 2 and isinstance(values[1], DType):
        cursor.fail("an array of a number and a type is not supported", start)
    return tuple(values)


def read_dict(cursor: Cursor, kinds: Mapping[str, str], into: dict[str, AttrValue], depth: int = 0) -> None:
    """`{name = value, ...}` into `into`; a name alone is a unit attribute (None). ParseError for a name given twice."""
    cursor.expect("{")
    first = True
    while not cursor.accept("}"):
        if not first:
            cursor.expect(",")
        first = False
        at = cursor.pos
        name = cursor.take_string() if cursor.next[:1] == '"' else cursor.take_word()
        if name in into:
            cursor.fail(f"attribute '{name}' is given twice", at)
        kind = kinds.get(name, "")
        if kind.startswith("alias:"):
            name = kind[6:]
            if name in into:
                cursor.fail(f"attribute '{name}' is given twice", at)
            kind = kinds[name]
        if cursor.accept("="):
            into[name] = read_attr(cursor, kind) if kind else _read_any(cursor, depth)
        elif kinds.get(name, "unit") != "unit":
            cursor.fail(f"attribute '{name}' needs a value")
        else:
            into[name] = None
