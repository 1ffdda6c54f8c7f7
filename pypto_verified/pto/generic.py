"""The generic form of an op: `"pto.tadd"(%a, %b, %d) <{...}> {...} : (T, T, T) -> ()`."""

from __future__ import annotations

from pypto_verified.pto.asmformat import choose
from pypto_verified.pto.attrread import read_dict
from pypto_verified.pto.module import AttrValue, Value
from pypto_verified.pto.opread import Parts, assign
from pypto_verified.pto.scope import Scope
from pypto_verified.pto.spec import Operand, OpRow
from pypto_verified.pto.types import Type

SEGMENTS = "operandSegmentSizes"
_DESTINATION_STYLE = frozenset({"dps", "dps_in"})

# Ops whose definition lists its operands in another order than the row's.
_ORDER = {
    "pto.store_scalar": "ptr offset value",
    "pto.tload": "src dst pad_value left_padding_num right_padding_num init_condition",
    "pto.tstore": "src dst fp preQuantScalar",
    "pto.tmov": "src dst fp preQuantScalar",
    "pto.textract": "src indexRow indexCol dst fp preQuantScalar",
    "pto.tinsert": "src indexRow indexCol dst fp preQuantScalar",
    "pto.tsetval": "dst offset val",
    "pto.mgather": "mem idx dst scratch",
    "pto.tpow": "base exp dst tmp",
    "pto.tpows": "src scalar dst tmp",
    "pto.trsqrt": "src dst tmp",
    "pto.tgather": "src dst cdst indices tmp kValue",
    "pto.tscatter": "src dst indexes",
    "pto.tmrgsort": "srcs blockLen dsts tmp excuted",
    "pto.tquant": "src fp offset tmp dst",
}


def read_generic(scope: Scope, row: OpRow) -> Parts:
    """Read what follows the quoted name of an op without regions."""
    cursor = scope.cursor
    name_at = cursor.pos - 1
    values = read_operands(scope)
    start = name_at + 2
    parts = Parts()
    kinds = row.attrs | {SEGMENTS: "segments"}
    if cursor.accept("<"):
        read_dict(cursor, kinds, parts.attrs)
        cursor.expect(">")
    if cursor.next == "{":
        read_dict(cursor, kinds, parts.attrs)
    segments = parts.attrs.pop(SEGMENTS, None)
    cursor.expect(":")
    for value, written in zip(values, _checked_types(scope, len(values)), strict=True):
        scope.check_type(value, written)
    cursor.expect("->")
    parts.results = scope.types()
    if segments is None:
        assign(scope, row, _groups(row), values, parts, start)
    else:
        _by_segments(scope, row, _groups(row), values, segments, parts, start)
    _check_spelling(scope, row, parts, name_at)
    return parts


def read_operands(scope: Scope) -> list[Value]:
    cursor = scope.cursor
    cursor.expect("(")
    values: list[Value] = []
    while not cursor.accept(")"):
        if values:
            cursor.expect(",")
        values.append(scope.operand())
    return values


def _check_spelling(scope: Scope, row: OpRow, parts: Parts, name_at: int) -> None:
    """What the generic form says must be sayable in the op's own spelling."""
    if row.form in _DESTINATION_STYLE:
        return
    if choose(row, parts.args.keys() | parts.attrs.keys(), parts.args.keys()) is None:
        scope.cursor.fail(f"{row.name} lacks operands or attributes that its own spelling needs", name_at)


def _groups(row: OpRow) -> tuple[Operand, ...]:
    names = _ORDER.get(row.name)
    by_name = {o.name: o for o in row.operands}
    return tuple(by_name[n] for n in names.split()) if names else row.operands


def _checked_types(scope: Scope, count: int) -> list[Type]:
    found = scope.types()
    if len(found) != count:
        scope.cursor.fail(f"{count} operands, but {len(found)} types are written", scope.cursor.pos - 1)
    return found


def _by_segments(
    scope: Scope, row: OpRow, groups: tuple[Operand, ...], values: list[Value], sizes: AttrValue, parts: Parts,
    start: int,
) -> None:
    cursor = scope.cursor
    if not isinstance(sizes, tuple) or len(sizes) != len(groups):
        cursor.fail(f"{row.name} needs {len(groups)} {SEGMENTS}", start)
    at = 0
    for group, size in zip(groups, sizes, strict=True):
        fitting = group.variadic or size == 1 or (group.optional and size == 0)
        if not isinstance(size, int) or size < 0 or not fitting:
            cursor.fail(f"operand '{group.name}' of {row.name} cannot have {size} values", start)
        taken = values[at : at + size]
        for number, value in enumerate(taken):
            scope.check_kind(group, value, start + 2 * (at + number))
        if taken:
            parts.args[group.name] = tuple(taken)
        at += size
    if at != len(values):
        cursor.fail(f"{SEGMENTS} counts {at} operands, there are {len(values)}", start)
