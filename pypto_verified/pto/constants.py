"""Reading `arith.constant`: scalars, and vectors of integers."""

from __future__ import annotations

import re

from pypto_verified.dtypes import BOOL, DType
from pypto_verified.pto.attrread import read_dict, read_float
from pypto_verified.pto.module import IntArray, Op
from pypto_verified.pto.opread import Parts
from pypto_verified.pto.opreader import Names, OpReader
from pypto_verified.pto.spec import OpRow
from pypto_verified.pto.types import ScalarType
from pypto_verified.pto.typetext import parse_type, type_text

_DENSE = re.compile(r"dense<\s*(-?\d+|\[\s*-?\d+\s*(?:,\s*-?\d+\s*)*+\])\s*>")
_VECTOR = re.compile(r"vector<\s*(\d+)xi(\d+)\s*>")


def read_constant(reader: OpReader, row: OpRow, names: Names) -> Op:
    """What follows the op's name. ParseError for a value that its type does not have."""
    cursor, scope = reader.cursor, reader.scope
    parts = Parts()
    if cursor.next == "{":
        read_dict(cursor, row.attrs, parts.attrs)
    if cursor.next in ("true", "false"):
        parts.attrs["value"] = cursor.take() == "true"
        if cursor.accept(":"):
            cursor.expect("i1")
        parts.results.append(parse_type("i1"))
        return reader.finish(row, parts, names)
    at = cursor.pos
    if cursor.next[:6] == "dense<":
        return _dense(reader, row, names, parts)
    cursor.pos += 1
    cursor.expect(":")
    type_ = scope.type()
    if not isinstance(type_, ScalarType):
        cursor.fail(f"a constant must be a scalar, not {type_text(type_)}")
    end, cursor.pos = cursor.pos, at
    parts.attrs["value"] = _literal(reader, type_.dtype)
    cursor.pos = end
    parts.results.append(type_)
    op = reader.finish(row, parts, names)
    value = parts.attrs["value"]
    if isinstance(value, int) and not isinstance(value, bool):
        scope.constants[op.result] = value
    return op


def _dense(reader: OpReader, row: OpRow, names: Names, parts: Parts) -> Op:
    """`dense<[1, 2]> : vector<2xi16>`, a vector of integers; `dense<0>` gives all elements."""
    cursor = reader.cursor
    match = _DENSE.fullmatch(cursor.next)
    if match is None:
        cursor.not_modelled(f"the constant {cursor.shown()}")
    cursor.pos += 1
    cursor.expect(":")
    type_at = cursor.pos
    parts.results.append(reader.scope.type())
    vector = _VECTOR.fullmatch(cursor.texts[type_at])
    if vector is None:
        cursor.not_modelled(f"a constant of type {cursor.texts[type_at]}", type_at)
    values = tuple(int(part) for part in match[1].strip("[]").split(",") if part.strip())
    if match[1].startswith("[") and len(values) != int(vector[1]):
        cursor.fail(f"the constant has {len(values)} elements, its type {vector[1]}", type_at - 2)
    bits = int(vector[2])
    wrong = [v for v in values if not -(1 << (bits - 1)) <= v < 1 << bits]
    if wrong:
        cursor.fail(f"{wrong[0]} does not fit into i{bits}", type_at - 2)
    parts.attrs["value"] = IntArray("dense", values) if match[1].startswith("[") else values[0]
    return reader.finish(row, parts, names)


def _literal(reader: OpReader, dtype: DType) -> bool | int | float:
    cursor = reader.cursor
    if dtype.is_float:
        if "." not in cursor.next and "0x" not in cursor.next:
            cursor.fail(f"a constant of type {dtype.pto} needs a decimal point, found {cursor.shown()}")
        return read_float(cursor, dtype)
    value = cursor.take_int()
    bits = 1 if dtype is BOOL else dtype.bits
    if not -(1 << (bits - 1)) <= value < 1 << bits:
        cursor.fail(f"{value} does not fit into {dtype.pto}", cursor.pos - 1)
    return bool(value) if dtype is BOOL else value
