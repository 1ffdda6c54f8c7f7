"""Types from and to text. A type's text is parsed once; equal types are one object.

Both spellings of `!pto.tile_buf` are read: the compiler's (every field named, fixed order) and the assembler's (shape
first, defaults left out). Source of the grammar: PTOAS, textual form of its types.
"""

from __future__ import annotations

import re
from functools import lru_cache

from pypto_verified.dtypes import BOOL, BY_PTO, INDEX, DType
from pypto_verified.layouts import BLayout, Compact, Pad, SLayout, Space
from pypto_verified.pto.types import (
    MultiTileBufType,
    OpaqueType,
    PartitionViewType,
    PtrType,
    ScalarType,
    TensorViewType,
    TileBufType,
    Type,
)

FRACTALS = (32, 512, 1024)
MIN_SLOTS, MAX_SLOTS = 2, 16

_PTR_SPACES = {
    "gm": Space.GM, "ub": Space.VEC, "vec": Space.VEC, "l1": Space.MAT, "mat": Space.MAT, "l0a": Space.LEFT,
    "left": Space.LEFT, "l0b": Space.RIGHT, "right": Space.RIGHT, "l0c": Space.ACC, "acc": Space.ACC,
    "bt": Space.BIAS, "bias": Space.BIAS, "fb": Space.SCALING, "scaling": Space.SCALING,
}
_PTR_WORDS = {
    Space.VEC: "ub", Space.MAT: "l1", Space.LEFT: "l0a", Space.RIGHT: "l0b", Space.ACC: "l0c", Space.BIAS: "bt",
    Space.SCALING: "fb",
}
_LONG_KEYS = ("loc", "dtype", "rows", "cols", "v_row", "v_col", "blayout", "slayout", "fractal", "pad")
_SHORT_KEYS = ("valid", "blayout", "slayout", "fractal", "pad", "compact")
_BUILTIN = re.compile(
    r"(?:[su]?i[1-9]\d{0,6}|f(?:80|128|[468]E\w+)|tf32|none|(?:memref|tensor|vector|complex|tuple)<.*>)\Z", re.DOTALL
)
_WITH_PARAMETERS = frozenset({
    "ptr", "tensor_view", "partition_tensor_view", "tile_buf", "multi_tile_buf", "local_array", "struct",
    "eventid_array",
})
_DIMENSION = re.compile(r"\s*(\d+|\?)\s*x\s*")
_SPACES = re.compile(r"\s+(?!\w)|(?<!\w)\s+")


class TypeTextError(ValueError):
    """A type's text is wrong; the reader adds the place."""


def _split(body: str) -> list[str]:
    """The parts between commas that stand outside of angle brackets."""
    parts, depth, begin = [], 0, 0
    for at, char in enumerate(body):
        if char == "<":
            depth += 1
        elif char == ">":
            depth -= 1
        elif char == "," and depth == 0:
            parts.append(body[begin:at])
            begin = at + 1
    parts.append(body[begin:])
    return parts


def _element(text: str) -> DType:
    dtype = BY_PTO.get(text)
    if dtype is None:
        raise TypeTextError(f"unknown element type '{text}'")
    return dtype


def _number(key: str, text: str) -> int:
    if not text.isascii() or not text.isdigit():
        raise TypeTextError(f"{key} must be a number, found '{text}'")
    return int(text)


def _valid(key: str, text: str, limit: int) -> int | None:
    if text in ("?", "-1"):
        return None
    value = _number(key, text)
    if value > limit:
        raise TypeTextError(f"{key} is {value}, more than the {limit} of the tile")
    return value


def _member(kinds: type[BLayout] | type[SLayout] | type[Space], key: str, text: str) -> str:
    text = text.strip('"')
    if text not in {k.value for k in kinds}:
        raise TypeTextError(f"unknown {key} '{text}'")
    return text


def _code(key: str, text: str, count: int) -> int:
    value = _number(key, text)
    if value >= count:
        raise TypeTextError(f"unknown {key} {value}, the codes are 0 to {count - 1}")
    return value


def _tile(parts: list[str]) -> TileBufType:
    fields = _long_fields(parts) if parts[0].startswith("loc=") else _short_fields(parts)
    space = _member(Space, "loc", fields["loc"])
    if space == "gm":
        raise TypeTextError("a tile cannot live in gm")
    rows, cols = _number("rows", fields["rows"]), _number("cols", fields["cols"])
    if rows <= 0 or cols <= 0:
        raise TypeTextError(f"rows and cols must be positive, found {rows} and {cols}")
    fractal = _number("fractal", fields["fractal"])
    if fractal not in FRACTALS:
        raise TypeTextError(f"fractal is {fractal}, it must be one of {', '.join(map(str, FRACTALS))}")
    return TileBufType(
        Space(space), _element(fields["dtype"]), rows, cols,
        _valid("v_row", fields["v_row"], rows), _valid("v_col", fields["v_col"], cols),
        BLayout(_member(BLayout, "blayout", fields["blayout"])),
        SLayout(_member(SLayout, "slayout", fields["slayout"])),
        fractal, Pad(_code("pad", fields["pad"], len(Pad))), Compact(_code("compact", fields["compact"], len(Compact))),
    )


def _long_fields(parts: list[str]) -> dict[str, str]:
    fields = {"compact": "0"}
    keys = _LONG_KEYS if len(parts) == len(_LONG_KEYS) else (*_LONG_KEYS, "compact")
    if len(parts) != len(keys):
        raise TypeTextError(f"tile_buf has {len(parts)} fields, it needs {', '.join(_LONG_KEYS)} and perhaps compact")
    for key, part in zip(keys, parts, strict=True):
        name, equal, value = part.partition("=")
        if name != key or not equal:
            raise TypeTextError(f"tile_buf needs '{key}=' here, found '{part}'")
        fields[key] = value
    return fields


def _short_fields(parts: list[str]) -> dict[str, str]:
    if len(parts) < 2:
        raise TypeTextError("tile_buf needs a memory space and a shape")
    dims, element = _shape(parts[1])
    if len(dims) != 2 or None in dims:
        raise TypeTextError(f"tile_buf needs two numbers as its shape, found '{parts[1]}'")
    fields = {
        "loc": parts[0], "rows": str(dims[0]), "cols": str(dims[1]), "dtype": element, "valid": f"{dims[0]}x{dims[1]}",
        "blayout": "row_major", "slayout": "none_box", "fractal": "512", "pad": "0", "compact": "0",
    }
    seen: set[str] = set()
    for part in parts[2:]:
        name, equal, value = part.partition("=")
        if name not in _SHORT_KEYS or not equal:
            raise TypeTextError(f"unknown field '{part}' in tile_buf")
        if name in seen:
            raise TypeTextError(f"'{name}' stands twice in tile_buf")
        seen.add(name)
        fields[name] = value
    v_row, by, v_col = fields["valid"].partition("x")
    if not by:
        raise TypeTextError(f"valid needs two extents, found '{fields['valid']}'")
    fields["v_row"], fields["v_col"] = v_row, v_col
    return fields


def _multi_tile(body: str) -> MultiTileBufType:
    *slot, last = _split(body)
    name, equal, count = last.partition("=")
    if name != "count" or not equal or not slot:
        raise TypeTextError("multi_tile_buf needs a slot type and 'count='")
    slots = _number("count", count)
    if not MIN_SLOTS <= slots <= MAX_SLOTS:
        raise TypeTextError(f"multi_tile_buf has {slots} slots, it must have {MIN_SLOTS} to {MAX_SLOTS}")
    tile = parse_type(slot[0]) if slot[0].startswith("!") else _tile(slot)
    if not isinstance(tile, TileBufType):
        raise TypeTextError("the slot of multi_tile_buf must be a tile_buf")
    return MultiTileBufType(tile, slots)


def _shape(text: str) -> tuple[tuple[int | None, ...], str]:
    """Dimensions and element text of `AxBxT`."""
    dims: list[int | None] = []
    at = 0
    while match := _DIMENSION.match(text, at):
        dims.append(None if match[1] == "?" else int(match[1]))
        at = match.end()
    return tuple(dims), text[at:].strip()


def _field(text: str) -> str:
    """A struct's field: a scalar that C can name, or another struct."""
    found = parse_type(text)
    nested = isinstance(found, OpaqueType) and found.name == "struct"
    scalar = isinstance(found, ScalarType) and found.dtype not in (BOOL, INDEX)
    if not nested and not (scalar and not text.startswith(("!", "f8"))):
        raise TypeTextError(f"a struct cannot hold '{text}', only scalars of 8 to 64 bits and structs")
    return type_text(found)


def _dialect(name: str, body: str | None) -> Type:
    dtype = BY_PTO.get(f"!pto.{name}")
    if dtype is not None and body is None:
        return ScalarType(dtype)
    if body is None:
        if name in _WITH_PARAMETERS:
            raise TypeTextError(f"!pto.{name} needs parameters in <...>")
        return OpaqueType(name)
    if name == "tile_buf":
        return _tile(_split(body))
    if name == "partition_tensor_view" or name == "tensor_view":
        dims, element = _shape(body)
        kind = TensorViewType if name == "tensor_view" else PartitionViewType
        return kind(dims, _element(element))
    if name == "ptr":
        element, comma, space = body.partition(",")
        if comma and space not in _PTR_SPACES:
            raise TypeTextError(f"unknown memory space '{space}' of a pointer")
        return PtrType(_element(element), _PTR_SPACES[space] if comma else Space.GM)
    if name == "multi_tile_buf":
        return _multi_tile(body)
    if name == "struct":
        return OpaqueType(name, tuple(_field(part) for part in _split(body)))
    if name == "local_array":
        dims, element = _shape(body)
        if not dims or None in dims or 0 in dims:
            raise TypeTextError(f"local_array needs positive static extents, found '{body}'")
        _element(element)
    return OpaqueType(name, tuple(_split(body)))


@lru_cache(maxsize=65536)
def intern(type_: Type) -> Type:
    """The one object for all equal types."""
    return type_


@lru_cache(maxsize=65536)
def parse_type(text: str) -> Type:
    """The type that `text` spells; equal types are the same object. TypeTextError if it is none."""
    text = _SPACES.sub("", text)
    if text.startswith("!pto."):
        name, angle, body = text[5:].partition("<")
        if angle and not body.endswith(">"):
            raise TypeTextError(f"'{text}' is not a type")
        return intern(_dialect(name, body[:-1] if angle else None))
    if text.startswith("!"):
        return intern(OpaqueType(text))
    dtype = BY_PTO.get(text)
    if dtype is not None:
        return intern(ScalarType(dtype))
    if _BUILTIN.match(text):
        return intern(OpaqueType(text))
    raise TypeTextError(f"unknown type '{text}'")


def dim_text(extent: int | None) -> str:
    """An extent; None, one that the type leaves open, is `?`."""
    return "?" if extent is None else str(extent)


def _long_tile(t: TileBufType) -> str:
    compact = f", compact={t.compact.value}" if t.compact is not Compact.NULL else ""
    return (
        f"!pto.tile_buf<loc={t.loc.value}, dtype={t.dtype.pto}, rows={t.rows}, cols={t.cols}, "
        f"v_row={dim_text(t.v_row)}, v_col={dim_text(t.v_col)}, blayout={t.blayout.value}, "
        f"slayout={t.slayout.value}, fractal={t.fractal}, pad={t.pad.value}{compact}>"
    )


def _short_tile(t: TileBufType) -> str:
    parts = [t.loc.value, f"{t.rows}x{t.cols}x{t.dtype.pto}"]
    if (t.v_row, t.v_col) != (t.rows, t.cols):
        parts.append(f"valid={dim_text(t.v_row)}x{dim_text(t.v_col)}")
    if t.blayout is not BLayout.ROW:
        parts.append(f"blayout={t.blayout.value}")
    if t.slayout is not SLayout.NONE:
        parts.append(f"slayout={t.slayout.value}")
    if t.fractal != 512:
        parts.append(f"fractal={t.fractal}")
    if t.pad is not Pad.NULL:
        parts.append(f"pad={t.pad.value}")
    if t.compact is not Compact.NULL:
        parts.append(f"compact={t.compact.value}")
    return f"!pto.tile_buf<{', '.join(parts)}>"


@lru_cache(maxsize=65536)
def type_text(type_: Type, short: bool = False) -> str:
    """The text of a type. Tiles in the compiler's spelling, or with `short` in the assembler's."""
    match type_:
        case ScalarType(dtype):
            return dtype.pto
        case TileBufType():
            return _short_tile(type_) if short else _long_tile(type_)
        case TensorViewType(dims, dtype):
            return f"!pto.tensor_view<{''.join(dim_text(d) + 'x' for d in dims)}{dtype.pto}>"
        case PartitionViewType(dims, dtype):
            return f"!pto.partition_tensor_view<{''.join(dim_text(d) + 'x' for d in dims)}{dtype.pto}>"
        case PtrType(dtype, space):
            return f"!pto.ptr<{dtype.pto}>" if space is Space.GM else f"!pto.ptr<{dtype.pto}, {_PTR_WORDS[space]}>"
        case MultiTileBufType(slot, count):
            return f"!pto.multi_tile_buf<{type_text(slot, short)}, count={count}>"
        case OpaqueType(name, params):
            if name.startswith("!") or _BUILTIN.match(name):
                return name
            return f"!pto.{name}<{', '.join(params)}>" if params else f"!pto.{name}"
