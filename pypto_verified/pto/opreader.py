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
_TERMINATORS = frozenset({"func.return", "scf.yield", "scf.condition", "pto.yield", "cf.br", "cf.cond_br"})
_MANY_BLOCKS = frozenset({"scf.execute_region"})
"""Ops whose regions may have several blocks; those of functions may, too."""

_REMARKS = {
    "pto.tload": "layout", "pto.tstore": "layout", "pto.thistogram": "isMSB", "pto.tconcatidx": "candidates",
    **{f"pto.trowexpand{n}": "src1Col src0eqdst highPrecision"
       for n in ("add", "sub", "mul", "div", "max", "min", "expdif")},
}
"""Attributes that are none of the op's own, but that the assembler's passes leave and its tests set on it: nothing
follows from them here."""

Target: TypeAlias = tuple[str, tuple[Value, ...], int]
"""Where a branch goes: a label, what it hands on, and the token of the label."""


class OpReader:
    """Reads the ops of one text. `special` are the readers of the forms that need more than a format, `generic` reads
    the generic form of these."""

    def __init__(self, cursor: Cursor, special: dict[str, SpecialForm], generic: SpecialForm) -> None:
        self.cursor = cursor
        self.scope = Scope(cursor)
        self.locations = Locations(cursor)
        self.calls: list[tuple[Op, int]] = []
        self.branches: list[Target] = []
        self._special = special
        self._generic = generic

    def _ops(self) -> list[Op]:
        """The ops of a block, up to `}` or the next label. Nothing may follow a terminator."""
        ops: list[Op] = []
        cursor = self.cursor
        while cursor.next != "}" and cursor.next[:1] != "^":
            if not cursor.next:
                cursor.fail("expected '}', found the end of the text")
            if ops and ops[-1].name in _TERMINATORS:
                cursor.fail(f"no op may follow {ops[-1].name}")
            ops.append(self.op())
        return ops

    def region(self, args: list[tuple[str, Type, int]]) -> Block:
        """`{ ... }` whose first block's arguments are already named."""
        cursor = self.cursor
        cursor.expect("{")
        self.scope.enter()
        outer, self.branches = self.branches, []
        values = [self.scope.define(name, type_, at) for name, type_, at in args]
        if cursor.next[:1] == "^":
            values += self._label(allow_args=not args)
        ops = self._ops()
        followers = tuple(iter(self._follower, None)) if cursor.next[:1] == "^" else ()
        cursor.expect("}")
        block = Block(values, ops, "", followers)
        if followers or self.branches:
            self._check_branches(block)
        self.branches = outer
        self.scope.leave()
        return block

    def _follower(self) -> Block | None:
        """The next labelled block, None at the end of the region."""
        cursor = self.cursor
        if cursor.next[:1] != "^":
            return None
        label = cursor.next[1:]
        values = self._label(allow_args=True)
        return Block(values, self._ops(), label)

    def _check_branches(self, entry: Block) -> None:
        """Every block ends in a terminator, every branch goes to a block of this region and hands on what it takes."""
        cursor = self.cursor
        blocks: dict[str, Block] = {}
        for block in entry.followers:
            if block.label in blocks:
                cursor.fail(f"the label ^{block.label} is given twice in this region", cursor.pos - 1)
            blocks[block.label] = block
        for block in (entry, *entry.followers):
            if not block.ops or block.ops[-1].name not in _TERMINATORS:
                cursor.fail("a block of a region with several must end in a terminator", cursor.pos - 1)
        for label, handed, at in self.branches:
            target = blocks.get(label)
            if target is None:
                cursor.fail(f"no block ^{label} in this region that a branch may go to", at)
            if [v.type for v in handed] != [v.type for v in target.args]:
                cursor.fail(f"the branch hands on other types than ^{label} takes", at)

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
        if generic and row.form in self._special:
            op = self._generic(self, row, names)
        elif generic:
            op = self.finish(row, read_generic(self.scope, row), names)
        elif row.form in self._special:
            op = self._special[row.form](self, row, names)
        else:
            parts = read_parts(self.scope, row)
            infer_results(self.scope, name, parts)
            op = self.finish(row, parts, names)
        self._check_attributes(row, op, at)
        op.line = cursor.line(start)
        if cursor.next == "loc":
            op.loc = self.locations.read()
        return op

    def _check_attributes(self, row: OpRow, op: Op, at: int) -> None:
        """ParseError for an attribute that a `pto` op does not have: a misspelled one would be the default. Those with
        a dialect's prefix are remarks, which any op may carry. `at` is the token of the op's name."""
        if not row.name.startswith("pto.") or op.attrs.keys() <= row.attrs.keys():
            return
        cursor = self.cursor
        remarks = _REMARKS.get(row.name, "").split()
        for name in op.attrs:
            if name not in row.attrs and name not in remarks and "." not in name:
                spelled = (i for i in range(at, cursor.pos) if cursor.texts[i].strip('"') == name)
                known = ", ".join(n for n, kind in row.attrs.items() if not kind.startswith("alias:")) or "none"
                cursor.fail(
                    f"{row.name} has no attribute '{name}'; it has {known}", next(spelled, at),
                    "correct the name, or give a remark the prefix of a dialect: 'my." + name + "'")

    def finish(self, row: OpRow, parts: Parts, names: Names, regions: tuple[Block, ...] = ()) -> Op:
        """The op of its parts; defines its results."""
        if row.name not in _MANY_BLOCKS and any(region.followers for region in regions):
            self.cursor.fail(f"a region of {row.name} has one block", self.cursor.pos - 1)
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
