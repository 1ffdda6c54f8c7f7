"""Reading the ops that have regions or another form of their own: scf, cf, func.call, sections."""

from __future__ import annotations

from pypto_verified.pto.attrread import read_attr, read_dict, read_symbol
from pypto_verified.pto.constants import read_constant
from pypto_verified.pto.module import AttrValue, Block, Op, Value
from pypto_verified.pto.opread import Parts
from pypto_verified.pto.opreader import Names, OpReader, SpecialForm, value_name
from pypto_verified.pto.spec import OpRow
from pypto_verified.pto.types import Type
from pypto_verified.pto.typetext import parse_type, type_text


def _assignments(reader: OpReader) -> list[tuple[str, Value, int]]:
    """`(%a = %init, ...)`."""
    cursor = reader.cursor
    found: list[tuple[str, Value, int]] = []
    cursor.expect("(")
    while not cursor.accept(")"):
        if found:
            cursor.expect(",")
        at = cursor.pos
        name = value_name(cursor)
        cursor.expect("=")
        found.append((name, reader.scope.operand(), at))
    return found


def check_yield(reader: OpReader, block: Block, terminator: str, types: list[Type], what: str) -> None:
    """The block must hand on values of `types`; an empty yield is dropped."""
    cursor = reader.cursor
    last = block.ops[-1] if block.ops and block.ops[-1].name == terminator else None
    values = last.args.get("values", ()) if last else ()
    if [v.type for v in values] != types:
        wanted = ", ".join(type_text(t, True) for t in types) or "nothing"
        found = ", ".join(type_text(v.type, True) for v in values) or "nothing"
        cursor.fail(f"{what} must end in {terminator} of {wanted}, found {found}", cursor.pos - 1)
    if last is not None and terminator == "scf.yield" and not values and not last.attrs:
        block.ops.pop()


def _for(reader: OpReader, row: OpRow, names: Names) -> Op:
    cursor, scope = reader.cursor, reader.scope
    at = cursor.pos
    variable = value_name(cursor)
    bounds: list[Value] = []
    for word in ("=", "to", "step"):
        cursor.expect(word)
        bounds.append(scope.operand())
    carried = _assignments(reader) if cursor.accept("iter_args") else []
    types: list[Type] = []
    if carried:
        cursor.expect("->")
        types = scope.types()
    counter: Type = scope.type() if cursor.accept(":") else parse_type("index")
    for value in bounds:
        scope.check_type(value, counter)
    if len(types) != len(carried):
        cursor.fail(f"scf.for carries {len(carried)} values, {len(types)} types are written")
    for (_, value, _), written in zip(carried, types, strict=True):
        scope.check_type(value, written)
    block = reader.region([(variable, counter, at), *((n, v.type, p) for n, v, p in carried)])
    check_yield(reader, block, "scf.yield", types, "the loop")
    parts = Parts({"lower": (bounds[0],), "upper": (bounds[1],), "step": (bounds[2],)}, {}, types)
    if carried:
        parts.args["init"] = tuple(v for _, v, _ in carried)
    _trailing_dict(reader, row, parts.attrs)
    return reader.finish(row, parts, names, (block,))


def _trailing_dict(reader: OpReader, row: OpRow, attrs: dict[str, AttrValue]) -> None:
    if reader.cursor.next == "{":
        read_dict(reader.cursor, row.attrs, attrs)


def _if(reader: OpReader, row: OpRow, names: Names) -> Op:
    cursor, scope = reader.cursor, reader.scope
    condition = scope.operand()
    scope.check_type(condition, parse_type("i1"))
    types = scope.types() if cursor.accept("->") else []
    blocks = [reader.region([])]
    check_yield(reader, blocks[0], "scf.yield", types, "the branch")
    if cursor.accept("else"):
        blocks.append(reader.region([]))
        check_yield(reader, blocks[1], "scf.yield", types, "the branch")
    elif types:
        cursor.fail("scf.if with results needs an else branch")
    parts = Parts({"cond": (condition,)}, {}, types)
    _trailing_dict(reader, row, parts.attrs)
    return reader.finish(row, parts, names, tuple(blocks))


def _while(reader: OpReader, row: OpRow, names: Names) -> Op:
    cursor, scope = reader.cursor, reader.scope
    carried = _assignments(reader) if cursor.next == "(" else []
    cursor.expect(":")
    inits = scope.types()
    cursor.expect("->")
    types = scope.types()
    if len(inits) != len(carried):
        cursor.fail(f"scf.while carries {len(carried)} values, {len(inits)} types are written")
    for (_, value, _), written in zip(carried, inits, strict=True):
        scope.check_type(value, written)
    before = reader.region([(n, v.type, p) for n, v, p in carried])
    check_yield(reader, before, "scf.condition", types, "the condition of the loop")
    cursor.expect("do")
    after = reader.region([])
    if [v.type for v in after.args] != types:
        cursor.fail("the arguments of the loop body differ from the types that scf.while hands on", cursor.pos - 1)
    check_yield(reader, after, "scf.yield", inits, "the loop")
    parts = Parts({"init": tuple(v for _, v, _ in carried)} if carried else {}, {}, types)
    if cursor.accept("attributes"):
        read_dict(cursor, row.attrs, parts.attrs)
    return reader.finish(row, parts, names, (before, after))


def _call(reader: OpReader, row: OpRow, names: Names) -> Op:
    cursor, scope = reader.cursor, reader.scope
    at = cursor.pos
    parts = Parts({}, {"callee": read_symbol(cursor)})
    cursor.expect("(")
    operands: list[Value] = []
    while not cursor.accept(")"):
        if operands:
            cursor.expect(",")
        operands.append(scope.operand())
    _trailing_dict(reader, row, parts.attrs)
    cursor.expect(":")
    types = scope.types()
    if len(types) != len(operands):
        cursor.fail(f"the call has {len(operands)} operands, {len(types)} types are written")
    for value, written in zip(operands, types, strict=True):
        scope.check_type(value, written)
    cursor.expect("->")
    parts.results = scope.types()
    if operands:
        parts.args["operands"] = tuple(operands)
    op = reader.finish(row, parts, names)
    reader.calls.append((op, at))
    return op


def _section(reader: OpReader, row: OpRow, names: Names) -> Op:
    parts = Parts()
    if row.attrs:
        cursor = reader.cursor
        for _ in range(3):
            cursor.expect("<")
        for number, name in enumerate(row.attrs):
            if number:
                cursor.expect(",")
            parts.attrs[name] = read_attr(cursor, row.attrs[name])
        for _ in range(3):
            cursor.expect(">")
    block = reader.region([])
    _trailing_dict(reader, row, parts.attrs)
    return reader.finish(row, parts, names, (block,))


def _execute(reader: OpReader, row: OpRow, names: Names) -> Op:
    cursor = reader.cursor
    parts = Parts({}, {}, reader.scope.types() if cursor.accept("->") else [])
    block = reader.region([])
    if not block.followers:
        check_yield(reader, block, "scf.yield", parts.results, "the region")
    _trailing_dict(reader, row, parts.attrs)
    return reader.finish(row, parts, names, (block,))


def _branch_target(reader: OpReader) -> tuple[str, tuple[Value, ...]]:
    """`^label(%a, %b : T, T)`."""
    cursor, scope = reader.cursor, reader.scope
    at = cursor.pos
    if len(cursor.next) < 2 or cursor.next[0] != "^":
        cursor.fail(f"expected the label of a block, found {cursor.shown()}")
    label = cursor.take()[1:]
    handed: list[Value] = []
    if cursor.accept("("):
        while not cursor.accept(":"):
            if handed:
                cursor.expect(",")
            handed.append(scope.operand())
        for number, value in enumerate(handed):
            if number:
                cursor.expect(",")
            scope.check_type(value, scope.type())
        cursor.expect(")")
    reader.branches.append((label, tuple(handed), at))
    return label, tuple(handed)


def _branch(reader: OpReader, row: OpRow, names: Names) -> Op:
    parts = Parts()
    label, handed = _branch_target(reader)
    parts.attrs["dest"] = label
    if handed:
        parts.args["operands"] = handed
    _trailing_dict(reader, row, parts.attrs)
    return reader.finish(row, parts, names)


def _choice(reader: OpReader, row: OpRow, names: Names) -> Op:
    cursor, scope = reader.cursor, reader.scope
    condition = scope.operand()
    scope.check_type(condition, parse_type("i1"))
    parts = Parts({"cond": (condition,)})
    for way in ("true", "false"):
        cursor.expect(",")
        label, handed = _branch_target(reader)
        parts.attrs[f"{way}_dest"] = label
        if handed:
            parts.args[f"{way}_operands"] = handed
    _trailing_dict(reader, row, parts.attrs)
    return reader.finish(row, parts, names)


def _fusion(reader: OpReader, row: OpRow, names: Names) -> Op:
    cursor = reader.cursor
    block = reader.region([])
    parts = Parts()
    _trailing_dict(reader, row, parts.attrs)
    if cursor.accept(":"):
        parts.results.append(reader.scope.type())
        while cursor.accept(","):
            parts.results.append(reader.scope.type())
    check_yield(reader, block, "pto.yield", parts.results, "the region")
    return reader.finish(row, parts, names, (block,))


SPECIAL: dict[str, SpecialForm] = {
    "constant": read_constant, "scf.for": _for, "scf.if": _if, "scf.while": _while, "func.call": _call,
    "section": _section, "fusion": _fusion, "scf.execute_region": _execute, "cf.br": _branch, "cf.cond_br": _choice,
}
