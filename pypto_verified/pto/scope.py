"""What the reader knows at one point of a text: the visible SSA values, the type aliases, where it stands."""

from __future__ import annotations

from pypto_verified.dtypes import INDEX
from pypto_verified.pto.lexer import MAX_NESTING, Cursor
from pypto_verified.pto.module import Value
from pypto_verified.pto.spec import Operand
from pypto_verified.pto.types import (
    PartitionViewType,
    PtrType,
    ScalarType,
    TensorViewType,
    TileBufType,
    Type,
)
from pypto_verified.pto.typetext import TypeTextError, parse_type, type_text

_CLASSES: dict[str, tuple[type, ...]] = {
    "tile": (TileBufType,), "scalar": (ScalarType,), "index": (ScalarType,),
    "view": (TensorViewType, PartitionViewType), "ptr": (PtrType,),
}
_NOUNS = {"tile": "a tile", "scalar": "a scalar", "index": "an index", "view": "a tensor view", "ptr": "a pointer"}


def fits(kind: str, type_: Type) -> bool:
    """Whether a value of `type_` may stand for an operand of a row's kind."""
    if kind == "any":
        return True
    if kind == "index":
        return isinstance(type_, ScalarType) and type_.dtype is INDEX
    return isinstance(type_, _CLASSES[kind])


class Scope:
    """The reader's state. Names defined in a region are forgotten when it ends; no name is defined twice."""

    def __init__(self, cursor: Cursor) -> None:
        self.cursor = cursor
        self.values: dict[str, Value] = {}
        self.aliases: dict[str, Type] = {}
        self.constants: dict[Value, int] = {}
        self._types: dict[str, Type] = {}
        self._regions: list[list[str]] = []
        self._lines: dict[str, int] = {}

    def enter(self) -> None:
        if len(self._regions) >= MAX_NESTING:
            self.cursor.fail(f"regions nest deeper than {MAX_NESTING}")
        self._regions.append([])

    def leave(self) -> None:
        for name in self._regions.pop():
            del self.values[name]
            del self._lines[name]

    def define(self, name: str, type_: Type, at: int) -> Value:
        """A new value; `at` is the token of its definition. ParseError if the name is taken."""
        if name in self.values:
            self.cursor.fail(f"%{name} is defined twice, first in line {self._lines[name]}", at)
        value = self.values[name] = Value(name, type_)
        self._lines[name] = self.cursor.line(at)
        self._regions[-1].append(name)
        return value

    def operand(self) -> Value:
        """Read the use of a value."""
        cursor = self.cursor
        token = cursor.texts[cursor.pos]
        if token[:1] != "%":
            cursor.fail(f"expected a value, found {cursor.shown()}")
        name = token[1:]
        value = self.values.get(name) or self.values.get(f"{name}#0")
        if value is None and name.endswith("#0"):
            value = self.values.get(name[:-2])
        if value is None:
            cursor.fail(f"%{name} is not defined here", help="define it before its use, here or in a region around it")
        cursor.pos += 1
        return value

    def type(self) -> Type:
        """Read a type."""
        cursor = self.cursor
        token = cursor.texts[cursor.pos]
        found = self._types.get(token)
        if found is None:
            found = self._parse_type(token)
        cursor.pos += 1
        return found

    def types(self) -> list[Type]:
        """Read `(T, T)` or a single type."""
        if not self.cursor.accept("("):
            return [self.type()]
        found: list[Type] = []
        while not self.cursor.accept(")"):
            if found:
                self.cursor.expect(",")
            found.append(self.type())
        return found

    def stripped_pointer(self) -> Type:
        """A pointer type without its name, `<f32>`, as the assembler prints it where nothing else can stand."""
        cursor = self.cursor
        texts: list[str] = []
        while cursor.next and cursor.next != ">":
            texts.append(cursor.take())
        cursor.expect(">")
        cursor.pos -= 1
        found = self._parse_type(f"!pto.ptr{''.join(texts)}>")
        cursor.pos += 1
        return found

    def _parse_type(self, token: str) -> Type:
        if token in self.aliases:
            return self.aliases[token]
        try:
            found = parse_type(token)
        except TypeTextError as error:
            if not (token[:1].isalpha() or token[:1] == "!"):
                self.cursor.fail(f"expected a type, found {self.cursor.shown()}")
            self.cursor.fail(str(error))
        self._types[token] = found
        return found

    def check_kind(self, group: Operand, value: Value, at: int) -> None:
        """ParseError if `value` cannot stand for an operand of this group."""
        if not fits(group.kind, value.type):
            self.cursor.fail(
                f"operand '{group.name}' must be {_NOUNS[group.kind]}, "
                f"%{value.name} is {type_text(value.type, True)}", at,
            )

    def check_type(self, value: Value, written: Type) -> None:
        """ParseError if the type just read is not the one of `value`'s definition."""
        if written is not value.type and written != value.type:
            line = self._lines[value.name]
            self.cursor.fail(
                f"%{value.name} is {type_text(value.type, True)} where it is defined (line {line}), "
                f"but {type_text(written, True)} is written here", self.cursor.pos - 1,
            )
