"""Reading one op after its name: the steps of its row's spelling, the destination-style form, the generic form."""

from __future__ import annotations

from dataclasses import field

from pypto_verified.errors import ParseError
from pypto_verified.pto.asmformat import (
    AttrOf,
    Dict,
    Literal,
    Operands,
    Optional,
    Results,
    Spelling,
    Step,
    TypeOf,
    spellings,
)
from pypto_verified.pto.attrread import read_attr, read_dict
from pypto_verified.pto.module import AttrValue, Value
from pypto_verified.pto.scope import Scope, fits
from pypto_verified.pto.spec import Operand, OpRow
from pypto_verified.pto.types import Type
from pypto_verified.records import dataclass


@dataclass(slots=True)
class Parts:
    """What an op's text says: operands by group, attributes, result types."""

    args: dict[str, tuple[Value, ...]] = field(default_factory=dict)
    attrs: dict[str, AttrValue] = field(default_factory=dict)
    results: list[Type] = field(default_factory=list)


def read_parts(scope: Scope, row: OpRow) -> Parts:
    """Read an op in its own spelling. Of several spellings the ParseError of the one that got furthest is raised."""
    if row.form in ("dps", "dps_in"):
        return _read_dps(scope, row)
    cursor = scope.cursor
    start, worst, furthest = cursor.pos, -1, None
    for spelling in spellings(row):
        parts = Parts()
        try:
            _read_steps(scope, row, spelling.steps, parts)
            _check_complete(scope, row, spelling, parts)
        except ParseError as error:
            if cursor.pos > worst:
                worst, furthest = cursor.pos, error
            cursor.pos = start
        else:
            return parts
    assert furthest is not None
    raise furthest


def _check_complete(scope: Scope, row: OpRow, spelling: Spelling, parts: Parts) -> None:
    for group in row.operands:
        if group.name not in parts.args and not group.optional and not group.variadic and group.name in spelling.covers:
            scope.cursor.fail(f"{row.name} needs operand '{group.name}'")


def _read_steps(scope: Scope, row: OpRow, steps: tuple[Step, ...], parts: Parts) -> None:
    cursor = scope.cursor
    for step in steps:
        if type(step) is Literal:
            cursor.expect(step.token)
        elif type(step) is Operands:
            _read_group(scope, step, parts)
        elif type(step) is TypeOf:
            _read_types(scope, step, parts)
        elif type(step) is AttrOf:
            parts.attrs[step.name] = read_attr(cursor, step.kind, stripped=True)
        elif type(step) is Dict:
            if step.clauses or cursor.next == "{":
                read_dict(cursor, row.attrs, parts.attrs)
        elif type(step) is Optional:
            if _is_present(scope, step, parts):
                _read_steps(scope, row, step.steps, parts)
        elif type(step) is Results:
            _read_results(scope, step, parts)
        else:
            _read_operand_clauses(scope, row, parts)


def _read_group(scope: Scope, step: Operands, parts: Parts) -> None:
    cursor = scope.cursor
    group = step.group
    if not group.variadic:
        at = cursor.pos
        value = scope.operand()
        scope.check_kind(group, value, at)
        parts.args[group.name] = (value,)
        return
    values: list[Value] = []
    leaves = step.leaves
    while cursor.next[:1] == "%":
        at = cursor.pos
        value = scope.operand()
        if not fits(group.kind, value.type):
            if not values:
                scope.check_kind(group, value, at)
            cursor.pos, leaves = at - 1, False
            break
        values.append(value)
        if not (cursor.next == "," and cursor.texts[cursor.pos + 1][:1] == "%"):
            break
        cursor.pos += 1
    if leaves and len(values) > 1:
        values.pop()
        cursor.pos -= 2
    if values:
        parts.args[group.name] = tuple(values)


def _read_types(scope: Scope, step: TypeOf, parts: Parts) -> None:
    cursor = scope.cursor
    if len(step.groups) > 1:
        written = scope.type()
        for group in step.groups:
            for value in parts.args.get(group, ()):
                scope.check_type(value, written)
        return
    for number, value in enumerate(parts.args.get(step.groups[0], ())):
        if number:
            cursor.expect(",")
        scope.check_type(value, scope.type() if cursor.next != "<" else scope.stripped_pointer())


def _is_present(scope: Scope, step: Optional, parts: Parts) -> bool:
    cursor = scope.cursor
    if step.types_only:
        return any(name in parts.args for name in step.names)
    if not step.opener:
        first = step.steps[0]
        if isinstance(first, AttrOf):
            return cursor.next.startswith(first.kind.removeprefix("flags:") + "<")
        return cursor.next[:1] == "%"
    if cursor.next != step.opener:
        return False
    following = step.steps[1] if len(step.steps) > 1 else None
    if isinstance(following, Literal):
        return cursor.texts[cursor.pos + 1] == following.token
    if isinstance(following, Operands):
        name = cursor.texts[cursor.pos + 1]
        value = scope.values.get(name[1:]) if name[:1] == "%" else None
        return value is None or fits(following.group.kind, value.type)
    return True


def _read_results(scope: Scope, step: Results, parts: Parts) -> None:
    cursor = scope.cursor
    if step.fixed is not None:
        parts.results.append(step.fixed)
    elif step.like:
        parts.results.append(parts.args[step.like][0].type)
    else:
        parts.results.append(scope.stripped_pointer() if step.pointer and cursor.next == "<" else scope.type())
        while cursor.accept(","):
            parts.results.append(scope.type())


def _read_operand_clauses(scope: Scope, row: OpRow, parts: Parts) -> None:
    cursor = scope.cursor
    groups = {o.name: o for o in row.operands}
    cursor.expect("(")
    first = True
    while not cursor.accept(")"):
        if not first:
            cursor.expect(",")
        first = False
        at = cursor.pos
        name = cursor.take_word()
        if name not in groups:
            cursor.fail(f"{row.name} has no operand '{name}', it has {', '.join(groups)}", at)
        if name in parts.args:
            cursor.fail(f"operand '{name}' is given twice", at)
        cursor.expect("=")
        value = scope.operand()
        scope.check_kind(groups[name], value, cursor.pos - 1)
        cursor.expect(":")
        scope.check_type(value, scope.type())
        parts.args[name] = (value,)


def _read_dps(scope: Scope, row: OpRow) -> Parts:
    parts = Parts()
    cursor = scope.cursor
    inside = row.form == "dps_in"
    cursor.expect("ins")
    _read_list(scope, row, row.ins, parts, inside)
    if row.outs:
        cursor.expect("outs")
        _read_list(scope, row, row.outs, parts, False)
    if not inside and cursor.next == "{":
        read_dict(cursor, row.attrs, parts.attrs)
    return parts


def _read_list(scope: Scope, row: OpRow, groups: tuple[Operand, ...], parts: Parts, has_dict: bool) -> None:
    """`(%a, %b {attrs} : T, T)`."""
    cursor = scope.cursor
    texts = cursor.texts
    cursor.expect("(")
    start = cursor.pos
    values = [scope.operand()]
    while texts[cursor.pos] == ",":
        cursor.pos += 1
        values.append(scope.operand())
    if has_dict and texts[cursor.pos] == "{":
        read_dict(cursor, row.attrs, parts.attrs)
    cursor.expect(":")
    first = True
    for value in values:
        if not first:
            cursor.expect(",")
        first = False
        scope.check_type(value, scope.type())
    cursor.expect(")")
    assign(scope, row, groups, values, parts, start)


def assign(
    scope: Scope, row: OpRow, groups: tuple[Operand, ...], values: list[Value], parts: Parts, start: int
) -> None:
    """Give `values` to `groups` in order, optional groups what is left over. ParseError for a wrong number or kind.

    `start` is the token of the first value; the values are separated by one token each.
    """
    spare = len(values) - sum(1 for g in groups if not (g.optional or g.variadic))
    at = 0
    for group in groups:
        if group.variadic:
            count, spare = max(spare, 0), 0
        elif group.optional:
            count = 1 if spare > 0 and fits(group.kind, values[at].type) else 0
            spare -= count
        else:
            count = 1
        taken = values[at : at + count]
        if len(taken) != count or spare < 0:
            wanted = ", ".join(g.name + ("?" if g.optional else "*" if g.variadic else "") for g in groups)
            scope.cursor.fail(f"{row.name} needs the operands {wanted}, found {len(values)}", start)
        for number, value in enumerate(taken):
            scope.check_kind(group, value, start + 2 * (at + number))
        if count:
            parts.args[group.name] = tuple(taken)
            at += count
    if at != len(values):
        scope.cursor.fail(f"{row.name} takes {at} operands here, found {len(values)}", start)
