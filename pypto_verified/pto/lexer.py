"""Tokens of a `.pto` text, and the cursor that every parser function moves over them.

A type (`!pto.tile_buf<...>`) or a dialect attribute (`#pto.layout<nd>`) with its angle brackets is one token, so that
its text can be parsed once and looked up afterwards. The kind of a token shows in its first character.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from typing import NoReturn

from pypto_verified.errors import InputError, Location, NotModelled, ParseError

MAX_BYTES = 64 * 1024 * 1024
MAX_NESTING = 80
"""Regions within regions; beyond it a text is refused, never a Python recursion error."""

_LOOK_AHEAD = 2
"""Empty tokens after the last one, so that a look beyond it finds the end of the text."""

# Up to four levels of <...>, which no type of the dialect exceeds; possessive, so that junk costs linear time.
_ANGLE = r"<[^<>]*+>"
for _ in range(3):
    _ANGLE = rf"<(?:[^<>]++|{_ANGLE})*+>"

_TOKEN = re.compile(
    rf"""(?:\s++|//[^\n]*+)*+
    ( "(?:[^"\\\n]++|\\.)*+"                                         # string
    | %[\w$.-]++(?:\#\d++)?                                          # value
    | @(?:[\w$.-]++|"(?:[^"\\\n]++|\\.)*+")                          # symbol
    | [!\#][A-Za-z_][\w.$]*+(?:{_ANGLE})?+                           # dialect type or attribute, alias
    | (?:memref|tensor|vector|complex|tuple|dense|array|affine_map|strided|overflow|fastmath){_ANGLE}
    | \^[\w$.-]++                                                    # block label
    | -?0x[0-9a-fA-F]++ | -?\d++(?:\.\d*+(?:[eE][-+]?\d++)?)?        # number
    | [A-Za-z_][\w.$]*+                                              # keyword, op name, builtin type
    | -> | ::
    | \S
    | \Z )""",
    re.VERBOSE,
)

_VALUE_OF_ESCAPE = {"n": "\n", "t": "\t", '"': '"', "\\": "\\"}
_NAMED = {value: "\\" + letter for letter, value in _VALUE_OF_ESCAPE.items()}
_UNPRINTABLE = re.compile(r'[\x00-\x1f\\"]')
_ESCAPE = re.compile(r"\\(?:([nt\"\\])|([0-9A-Fa-f]{2}))")


def unquote(token: str) -> str:
    """The value of a string token."""
    body = token[1:-1]
    if "\\" not in body:
        return body
    return _ESCAPE.sub(lambda m: _VALUE_OF_ESCAPE[m[1]] if m[1] else chr(int(m[2], 16)), body)


def quote(value: str) -> str:
    """The string token of a value; the inverse of `unquote`."""
    return '"' + _UNPRINTABLE.sub(lambda m: _NAMED[m[0]] if m[0] in _NAMED else f"\\{ord(m[0]):02X}", value) + '"'


class Cursor:
    """A position in the tokens of one text. `texts[pos]` is the next token; the last ones are empty."""

    __slots__ = ("_newlines", "_starts", "_text", "file", "pos", "texts")

    def __init__(self, text: str, file: str) -> None:
        self.file = file
        self.pos = 0
        self._text = text
        self.texts: list[str] = []
        self._starts: list[int] = []
        add_text, add_start = self.texts.append, self._starts.append
        for match in _TOKEN.finditer(text):
            add_text(match[1])
            add_start(match.start(1))
        self.texts += [""] * _LOOK_AHEAD
        self._starts += [len(text)] * _LOOK_AHEAD
        self._newlines = [m.start() for m in re.finditer("\n", text)]

    @property
    def next(self) -> str:
        return self.texts[self.pos]

    def mentions(self, text: str) -> bool:
        """Whether the text holds these characters anywhere."""
        return text in self._text

    def line(self, pos: int) -> int:
        """The line of token `pos`, from 1."""
        return bisect_left(self._newlines, self._starts[pos]) + 1

    def accept(self, token: str) -> bool:
        """Step over `token` if it is next."""
        if self.texts[self.pos] == token:
            self.pos += 1
            return True
        return False

    def expect(self, token: str) -> None:
        """Step over `token`; anything else is a ParseError."""
        if self.texts[self.pos] != token:
            self.fail(f"expected '{token}', found {self.shown()}")
        self.pos += 1

    def take(self) -> str:
        """Step over the next token and return it."""
        token = self.texts[self.pos]
        if token:
            self.pos += 1
        return token

    def take_string(self) -> str:
        token = self.texts[self.pos]
        if not (len(token) > 1 and token[0] == '"'):
            self.fail(f"expected a string, found {self.shown()}")
        self.pos += 1
        return unquote(token)

    def take_int(self) -> int:
        token = self.texts[self.pos]
        try:
            value = int(token, 16) if "0x" in token else int(token)
        except ValueError:
            self.fail(f"expected an integer, found {self.shown()}")
        self.pos += 1
        return value

    def take_word(self) -> str:
        token = self.texts[self.pos]
        if not (token[:1].isalpha() or token[:1] == "_"):
            self.fail(f"expected a name, found {self.shown()}")
        self.pos += 1
        return token

    def shown(self) -> str:
        """The next token as an error message names it."""
        token = self.texts[self.pos]
        if not token:
            return "the end of the text"
        return f"'{token}'" if len(token) <= 60 else f"'{token[:57]}...'"

    def place(self, pos: int | None = None) -> tuple[Location, str]:
        """The location and the source line of token `pos` (default: the next one)."""
        start = self._starts[self.pos if pos is None else pos]
        row = bisect_left(self._newlines, start)
        begin = self._newlines[row - 1] + 1 if row else 0
        end = self._newlines[row] if row < len(self._newlines) else len(self._text)
        return Location(self.file or "<pto>", row + 1, start - begin + 1), self._text[begin:end][:400]

    def fail(self, message: str, pos: int | None = None, help: str = "") -> NoReturn:
        """Raise ParseError at token `pos` (default: the next one)."""
        location, source_line = self.place(pos)
        raise ParseError(message, location, help, source_line)

    def not_modelled(self, what: str, pos: int | None = None) -> NoReturn:
        """Raise NotModelled at token `pos` (default: the next one)."""
        location, source_line = self.place(pos)
        raise NotModelled(what, location, "the verdicts on this file stay UNKNOWN", source_line)


def check_input(text: str, file: str) -> None:
    """InputError for a text that cannot be `.pto`: too large, or binary."""
    if len(text) > MAX_BYTES:
        raise InputError(
            f"the text has {len(text)} characters, more than the limit of {MAX_BYTES}", Location(file or "<pto>"),
            "split the module into several files",
        )
    if "\0" in text:
        raise InputError("the text holds NUL characters: not a .pto text", Location(file or "<pto>"),
                         "PTO bytecode has to be turned into text by the assembler first")
