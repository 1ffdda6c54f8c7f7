"""`loc(...)`: the user's place of an op."""

from __future__ import annotations

from pypto_verified.errors import NOWHERE, Location
from pypto_verified.pto.lexer import Cursor

_MAX_LOC_NESTING = 32


class Locations:
    """Reads locations; aliases may stand after their uses, so they are found before anything else is read."""

    def __init__(self, cursor: Cursor) -> None:
        self._cursor = cursor
        self._bodies: dict[str, int] = {}
        self._known: dict[str, Location] = {}
        texts = cursor.texts
        if cursor.mentions("= loc") or cursor.mentions("=loc("):
            for at in range(len(texts) - 3):
                if texts[at][:1] == "#" and texts[at + 1] == "=" and texts[at + 2] == "loc":
                    self._bodies[texts[at]] = at + 2

    def optional(self) -> Location:
        """A trailing `loc(...)`, or NOWHERE."""
        return self.read() if self._cursor.next == "loc" else NOWHERE

    def read(self) -> Location:
        """`loc(...)`. Of a composite location the first part that names a file."""
        cursor = self._cursor
        cursor.expect("loc")
        cursor.expect("(")
        found = self._body(0)
        cursor.expect(")")
        return found

    def _body(self, depth: int) -> Location:
        cursor = self._cursor
        if depth > _MAX_LOC_NESTING:
            cursor.fail(f"locations nest deeper than {_MAX_LOC_NESTING}")
        token = cursor.next
        if token == "unknown":
            cursor.pos += 1
            return NOWHERE
        if token == "callsite":
            cursor.pos += 1
            cursor.expect("(")
            callee = self._part(depth)
            cursor.expect("at")
            caller = self._part(depth)
            cursor.expect(")")
            return callee if callee.file else caller
        if token == "fused" or token.startswith("fused<"):
            return self._fused(depth)
        if token[:1] == "#":
            return self._alias(depth)
        return self._file_or_name(depth)

    def _part(self, depth: int) -> Location:
        """A location inside of another one, with or without its own `loc(...)`."""
        cursor = self._cursor
        if cursor.next != "loc":
            return self._body(depth + 1)
        cursor.pos += 1
        cursor.expect("(")
        found = self._body(depth + 1)
        cursor.expect(")")
        return found

    def _fused(self, depth: int) -> Location:
        cursor = self._cursor
        cursor.pos += 1
        if cursor.accept("<"):
            while not cursor.accept(">"):
                if not cursor.take():
                    cursor.fail("expected '>', found the end of the text")
        cursor.expect("[")
        found = NOWHERE
        first = True
        while not cursor.accept("]"):
            if not first:
                cursor.expect(",")
            first = False
            part = self._part(depth)
            found = found if found.file else part
        return found

    def _alias(self, depth: int) -> Location:
        cursor = self._cursor
        name = cursor.next
        begin = self._bodies.get(name)
        if begin is None:
            cursor.fail(f"location {cursor.shown()} is not defined")
        cursor.pos += 1
        if name not in self._known:
            back = cursor.pos
            cursor.pos = begin + 2
            self._known[name] = self._body(depth + 1)
            cursor.pos = back
        return self._known[name]

    def _file_or_name(self, depth: int) -> Location:
        cursor = self._cursor
        name = cursor.take_string()
        if cursor.accept(":"):
            line = cursor.take_int()
            column = cursor.take_int() if cursor.accept(":") else 0
            if cursor.accept("to"):
                if cursor.next != ":":
                    cursor.take_int()
                cursor.expect(":")
                cursor.take_int()
            return Location(name, line, column)
        if cursor.accept("("):
            found = self._part(depth)
            cursor.expect(")")
            return found
        return NOWHERE
