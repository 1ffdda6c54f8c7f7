"""The error hierarchy: every error says what went wrong, where, and what the user can do."""

from __future__ import annotations

from pypto_verified.records import dataclass


@dataclass(frozen=True, slots=True)
class Location:
    """A place in a text file; `line` and `column` count from 1, 0 means unknown."""

    file: str = ""
    line: int = 0
    column: int = 0

    def __str__(self) -> str:
        if not self.file:
            return "<unknown>"
        if not self.line:
            return self.file
        return f"{self.file}:{self.line}:{self.column}" if self.column else f"{self.file}:{self.line}"


NOWHERE = Location()


class PtoError(Exception):
    """Base of all errors that a user can cause; `str(e)` is one line, `e.source_line` shows the code if known."""

    def __init__(self, message: str, location: Location = NOWHERE, help: str = "", source_line: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.location = location
        self.help = help
        self.source_line = source_line

    def __str__(self) -> str:
        where = f"{self.location}: " if self.location.file else ""
        return f"{where}{self.message}"


class InputError(PtoError):
    """The input can't be read at all: missing file, binary junk, too large, no kernel in it."""


class LanguageError(PtoError):
    """A kernel's Python is not PyPTO: syntax, unknown name, unsupported statement."""


class OpError(PtoError):
    """An op is used against its declaration: operand count, type, shape, memory space, keyword."""


class PassError(PtoError):
    """A pass can't lower the kernel: capacity, layout, memory space."""


class CodegenError(PtoError):
    """The IR has no counterpart in `.pto`."""


class ParseError(PtoError):
    """A `.pto` (or C++) text does not parse."""


class NotModelled(PtoError):
    """A known op or feature whose meaning this version does not model; verdicts become UNKNOWN, never OK."""

    def __init__(self, what: str, location: Location = NOWHERE, help: str = "", source_line: str = "") -> None:
        super().__init__(f"not modelled: {what}", location, help, source_line)
        self.what = what


def told(error: BaseException) -> str:
    """An error by type and text in one line, also where its own `__str__` fails."""
    try:
        text = " ".join(str(error).split())
    except Exception:
        text = "(it can't tell what)"
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
