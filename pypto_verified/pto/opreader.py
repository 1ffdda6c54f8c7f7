"""Reading ops and blocks: result names, the op's own spelling or the generic one, checks against its row, location."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from pypto_verified.pto.foreign import foreign_op
from pypto_verified.pto.generic import read_generic
from pypto_verified.pto.infer import infer_results
from pypto_verified.pto.lexer import Cursor, unquote
from pypto_verified.pto.locread import Locations
from pypto_verified.pto.module import Block, Op, Value
from pypto_verified.pto.opread import Parts, read_parts
from pypto_verified.pto.rows import TABLE
from pypto_verified.pto.scope import Scope
from pypto_verified.pto.spec import OpRow
from pypto_verified.pto.types import Type

Names: TypeAlias = list[tuple[str, int]]
"""The names before `=` with the token where each stands."""

_SHORT_NAMES = {"return": "func.return", "call": "func.call"}
_TERMINATORS = frozenset({"func.return", "scf.yield", "scf.condition", "pto.yield"})


class OpReader:
    """Reads the ops of one text. `special` are the readers of the forms that need more than a format."""

    def __init__(self, cursor: Cursor, special: dict[str, SpecialForm]) -> None:
        self.cursor = cursor
        self.scope = Scope(cursor)
        self.locations = Locations(cursor)
        self.calls: list[tuple[Op, int]] = []
        self._special = special

    def block(self, end: str = "}") -> list[Op]:
        """The ops up to `end`, which is stepped over. Nothing may follow a terminator."""
        ops: list[Op] = []
        cursor = self.cursor
        while not cursor.accept(end):
            if not cursor.next:
                cursor.fail(f"expected '{end}', found the end of the text")
            if ops and ops[-1].name in _TERMINATORS:
                cursor.fail(f"no op may follow {ops[-1].name}")
            ops.append(self.op())
        return ops

    def region(self, args: list[tuple[str, Type, int]]) -> Block:
        """`{ ... }` whose block arguments are already named."""
        cursor = self.cursor
        cursor.expect("{")
        self.scope.enter()
        values = [self.scope.define(name, type_, at) for name, type_, at in args]
        if cursor.next[:1] == "^":
            values += self._label(allow_args=not args)
        ops = self.block()
        self.scope.leave()
        return Block(values, ops)

    def _label(self, allow_args: bool) -> list[Value]:
        cursor = self.cursor
        cursor.pos += 1
        found: list[Value] = []
        if allow_args and cursor.accept("("):
            while not cursor.accept(")"):
                if found:
                    cursor.expect(",")
                at = cursor.pos
                name = value_name(cursor)
                cursor.expect(":")
                found.append(self.scope.define(name, self.scope.type(), at))
                self.locations.optional()
        cursor.expect(":")
        return found

    def op(self) -> Op:
        """One op with its location."""
        cursor = self.cursor
        if cursor.next[:1] == "^":
            cursor.not_modelled("more than one block in a region (cf branches)")
        start = cursor.pos
        names = self._result_names() if cursor.next[:1] == "%" else []
        at = cursor.pos
        token = cursor.take()
        generic = token[:1] == '"'
        name = unquote(token) if generic else _SHORT_NAMES.get(token, token)
        row = TABLE.get(name)
        if row is None:
            cursor.pos = at
            foreign_op(cursor, name)
        if generic:
            op = self.finish(row, read_generic(self.scope, row), names)
        elif row.form in self._special:
            op = self._special[row.form](self, row, names)
        else:
            parts = read_parts(self.scope, row)
            infer_results(self.scope, name, parts)
            op = self.finish(row, parts, names)
        op.line = cursor.line(start)
        if cursor.next == "loc":
            op.loc = self.locations.read()
        return op

    def finish(self, row: OpRow, parts: Parts, names: Names, regions: tuple[Block, ...] = ()) -> Op:
        """The op of its parts; defines its results."""
        return Op(row.name, parts.args, parts.attrs, self.results(row, names, parts.results), regions)

    def results(self, row: OpRow, names: Names, types: list[Type]) -> tuple[Value, ...]:
        """Define the results. ParseError if the text names another number of them; unnamed results are legal."""
        if not names:
            return tuple(Value("", t) for t in types)
        if len(names) != len(types):
            self.cursor.fail(f"{row.name} has {len(types)} results, {len(names)} are named", names[0][1])
        return tuple(self.scope.define(name, t, at) for (name, at), t in zip(names, types, strict=True))

    def _result_names(self) -> Names:
        cursor = self.cursor
        names: Names = []
        while True:
            at = cursor.pos
            name = value_name(cursor)
            if cursor.accept(":"):
                count = cursor.take_int()
                if not 1 <= count <= 1024:
                    cursor.fail(f"an op cannot have {count} results", at)
                names += [(f"{name}#{i}" if count > 1 else name, at) for i in range(count)]
            else:
                names.append((name, at))
            if not cursor.accept(","):
                break
        cursor.expect("=")
        return names


SpecialForm: TypeAlias = Callable[[OpReader, OpRow, Names], Op]


def value_name(cursor: Cursor) -> str:
    """Step over the definition of a value and return its name."""
    token = cursor.next
    if token[:1] != "%" or "#" in token:
        cursor.fail(f"expected the name of a value, found {cursor.shown()}")
    cursor.pos += 1
    return token[1:]
