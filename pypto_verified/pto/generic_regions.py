"""The generic form of modules, functions, constants, calls, branches and ops with regions.

    "scf.for"(%lo, %hi, %step) ({ ^bb0(%i: index): ... }) {attrs} : (index, index, index) -> ()
"""

from __future__ import annotations

from pypto_verified.dtypes import DType
from pypto_verified.pto.attrread import read_attr, read_dict
from pypto_verified.pto.generic import SEGMENTS, read_operands
from pypto_verified.pto.lexer import Cursor
from pypto_verified.pto.module import AttrValue, Block, Op, Value
from pypto_verified.pto.opread import Parts
from pypto_verified.pto.opreader import Names, OpReader
from pypto_verified.pto.regions import check_yield
from pypto_verified.pto.spec import OpRow
from pypto_verified.pto.types import ScalarType, Type

_GROUPS = {
    "scf.for": ("lower", "upper", "step", "init*"), "scf.if": ("cond",), "scf.while": ("init*",),
    "func.call": ("operands*",), "cf.br": ("operands*",),
}
_REGIONS = {"scf.for": 1, "scf.if": 2, "scf.while": 2, "scf.execute_region": 1, "section": 1, "fusion": 1}
_SUCCESSORS = {"cf.br": ("dest",), "cf.cond_br": ("true_dest", "false_dest")}
_CONSTANTS = "constant"


def read_special(reader: OpReader, row: OpRow, names: Names) -> Op:
    """Read what follows the quoted name of an op whose row has a form of its own."""
    cursor, scope = reader.cursor, reader.scope
    at = cursor.pos - 1
    values = read_operands(scope)
    parts = Parts()
    labels = _successors(reader)
    kinds = dict(row.attrs) | {SEGMENTS: "segments"}
    if cursor.accept("<"):
        read_dict(cursor, kinds, parts.attrs)
        cursor.expect(">")
    regions = _regions(reader) if cursor.next == "(" else []
    if cursor.next == "{":
        read_dict(cursor, kinds, parts.attrs)
    segments = parts.attrs.pop(SEGMENTS, None)
    cursor.expect(":")
    written = scope.types()
    if len(written) != len(values):
        cursor.fail(f"{len(values)} operands, but {len(written)} types are written", cursor.pos - 1)
    for value, type_ in zip(values, written, strict=True):
        scope.check_type(value, type_)
    cursor.expect("->")
    parts.results = scope.types()
    _check_regions(reader, row, regions, parts.results, values, at)
    _place(cursor, row, values, labels, segments, parts, at)
    for key, (label, label_at) in zip(_SUCCESSORS.get(row.name, ()), labels, strict=True):
        reader.branches.append((label, parts.args.get(key.replace("dest", "operands"), ()), label_at))
    if row.form == _CONSTANTS:
        _constant(cursor, parts, at)
    op = reader.finish(row, parts, names, tuple(regions))
    number = parts.attrs.get("value")
    if row.form == _CONSTANTS and isinstance(number, int) and not isinstance(number, bool):
        scope.constants[op.result] = number
    if row.name == "func.call":
        if "callee" not in parts.attrs:
            cursor.fail("func.call needs a callee", at)
        reader.calls.append((op, at))
    return op


def _successors(reader: OpReader) -> list[tuple[str, int]]:
    """`[^a, ^b]`: labels and where they stand."""
    cursor = reader.cursor
    found: list[tuple[str, int]] = []
    if cursor.accept("["):
        while not cursor.accept("]"):
            if found:
                cursor.expect(",")
            if len(cursor.next) < 2 or cursor.next[0] != "^":
                cursor.fail(f"expected the label of a block, found {cursor.shown()}")
            found.append((cursor.next[1:], cursor.pos))
            cursor.pos += 1
    return found


def _regions(reader: OpReader) -> list[Block]:
    cursor = reader.cursor
    cursor.expect("(")
    found: list[Block] = []
    while not cursor.accept(")"):
        if found:
            cursor.expect(",")
        found.append(reader.region([]))
    return found


def _check_regions(
    reader: OpReader, row: OpRow, regions: list[Block], results: list[Type], values: list[Value], at: int
) -> None:
    """Number of regions, what they take and what they hand on."""
    cursor = reader.cursor
    wanted = _REGIONS.get(row.form, 0)
    if len(regions) != wanted:
        cursor.fail(f"{row.name} has {wanted} regions, found {len(regions)}", at)
    if row.name == "scf.if" and not results and not regions[1].ops:
        regions.pop()
    carried = [v.type for v in values]
    takes = {"scf.for": carried[:1] + carried[3:], "scf.while": carried}.get(row.name, [])
    if wanted and [a.type for a in regions[0].args] != takes:
        cursor.fail(f"the first region of {row.name} takes other arguments than the op hands it", at)
    if row.name == "scf.while":
        if [a.type for a in regions[1].args] != results:
            cursor.fail("the arguments of the loop body differ from the results of scf.while", at)
        check_yield(reader, regions[0], "scf.condition", results, "the condition of the loop")
        check_yield(reader, regions[1], "scf.yield", carried, "the loop")
    elif row.form in ("scf.for", "scf.if") or (row.form == "scf.execute_region" and not regions[0].followers):
        for region in regions:
            check_yield(reader, region, "scf.yield", results, "the region")
    elif row.form == "fusion":
        check_yield(reader, regions[0], "pto.yield", results, "the region")


def _place(
    cursor: Cursor, row: OpRow, values: list[Value], labels: list[tuple[str, int]], segments: AttrValue, parts: Parts,
    at: int,
) -> None:
    """Give the operands to their groups and the labels to their attributes."""
    keys = _SUCCESSORS.get(row.name, ())
    if len(labels) != len(keys):
        cursor.fail(f"{row.name} has {len(keys)} successors, found {len(labels)}", at)
    ways: dict[str, AttrValue] = {key: label for key, (label, _) in zip(keys, labels, strict=True)}
    parts.attrs = ways | parts.attrs
    if row.name == "cf.cond_br":
        if not isinstance(segments, tuple) or len(segments) != 3 or segments[0] != 1 or len(values) != _total(segments):
            cursor.fail(f"cf.cond_br needs {SEGMENTS} of its condition and both ways", at)
        first = 1 + int(str(segments[1]))
        groups = {"cond": values[:1], "true_operands": values[1:first], "false_operands": values[first:]}
        parts.args = {name: tuple(found) for name, found in groups.items() if found}
        return
    names = _GROUPS.get(row.name, ())
    single = [name for name in names if not name.endswith("*")]
    rest = [name.rstrip("*") for name in names if name.endswith("*")]
    if len(values) < len(single) or (len(values) > len(single) and not rest):
        cursor.fail(f"{row.name} has {len(single)} operands, found {len(values)}", at)
    parts.args = {name: (value,) for name, value in zip(single, values, strict=False)}
    if len(values) > len(single):
        parts.args[rest[0]] = tuple(values[len(single):])


def _total(segments: tuple[AttrValue, ...]) -> int:
    return sum(size for size in segments if isinstance(size, int))


def _constant(cursor: Cursor, parts: Parts, at: int) -> None:
    """The value of `value = 3 : i32`; its type must be the result's."""
    value = parts.attrs.get("value")
    type_ = parts.results[0] if len(parts.results) == 1 else None
    if not isinstance(type_, ScalarType):
        cursor.not_modelled("a constant in the generic form that is not a scalar", at)
    dtype: AttrValue = type_.dtype if isinstance(value, bool) or type_.dtype.pto in ("i64", "f64") else None
    if isinstance(value, tuple) and len(value) == 2 and isinstance(value[1], DType):
        value, dtype = value
    fits = isinstance(value, float) if type_.dtype.is_float else isinstance(value, int)
    if dtype is not type_.dtype or not fits:
        cursor.fail(f"the value of the constant is not of type {type_.dtype.pto}", at)
    parts.attrs["value"] = value


def read_signature(reader: OpReader) -> tuple[dict[str, AttrValue], list[Type], list[Type]]:
    """`<{function_type = (T) -> (), sym_name = "f", ...}>`: the other properties, arguments, results."""
    cursor = reader.cursor
    cursor.expect("<")
    cursor.expect("{")
    attrs: dict[str, AttrValue] = {}
    args: list[Type] = []
    results: list[Type] = []
    seen = False
    while not cursor.accept("}"):
        if attrs or seen:
            cursor.expect(",")
        name = cursor.take_word()
        cursor.expect("=")
        if name == "function_type":
            args, seen = reader.scope.types(), True
            cursor.expect("->")
            results = reader.scope.types()
        else:
            attrs[name] = read_attr(cursor)
    cursor.expect(">")
    if not seen or not isinstance(attrs.get("sym_name"), str):
        cursor.fail("func.func needs a function_type and a sym_name")
    return attrs, args, results
