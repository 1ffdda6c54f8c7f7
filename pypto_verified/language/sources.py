"""The text and the syntax trees of the files that kernels come from."""

from __future__ import annotations

import ast
import linecache
import types
from dataclasses import dataclass
from functools import cached_property

from pypto_verified.errors import LanguageError, Location
from pypto_verified.ir.expr import Span


@dataclass(frozen=True)
class SourceFile:
    """One Python file. Raises LanguageError at the first use of its tree when it does not parse."""

    name: str
    text: str

    @cached_property
    def lines(self) -> list[str]:
        """The lines without their ends; line n is `lines[n - 1]`."""
        return self.text.splitlines()

    @cached_property
    def tree(self) -> ast.Module:
        """The syntax tree of the whole file, so that positions are those of the file."""
        try:
            return ast.parse(self.text, self.name)
        except SyntaxError as e:
            raise self.not_python(e) from None
        except (ValueError, RecursionError, MemoryError) as e:
            raise LanguageError(f"not Python: {str(e) or 'nested too deeply'}", Location(self.name)) from None

    @cached_property
    def _functions(self) -> dict[tuple[int, str], ast.FunctionDef]:
        found = {}
        for node in ast.walk(self.tree):
            if isinstance(node, ast.FunctionDef):
                first = min((d.lineno for d in node.decorator_list), default=node.lineno)
                found[first, node.name] = node
        return found

    def not_python(self, error: SyntaxError) -> LanguageError:
        """The error of a text that does not parse, or that parses and is no program."""
        line, column = error.lineno or 0, error.offset or 0
        return LanguageError(
            f"not Python: {error.msg}", Location(self.name, line, column), "correct the syntax", self.line(line))

    def line(self, number: int) -> str:
        """The text of a line, counted from 1; empty outside the file."""
        return self.lines[number - 1] if 0 < number <= len(self.lines) else ""

    def definition(self, function: types.FunctionType) -> ast.FunctionDef | None:
        """The `def` that made `function`."""
        code = function.__code__
        return self._functions.get((code.co_firstlineno, code.co_name))

    def span(self, node: ast.expr | ast.stmt | ast.arg | ast.keyword) -> Span:
        """The range of a node; columns count from 1."""
        return Span(self.name, node.lineno, node.col_offset + 1, node.end_lineno or 0, (node.end_col_offset or -1) + 1)

    def error(self, node: ast.expr | ast.stmt | ast.arg | ast.keyword, message: str, help: str = "") -> LanguageError:
        """An error at a node, with its line."""
        where = Location(self.name, node.lineno, node.col_offset + 1)
        return LanguageError(message, where, help, self.line(node.lineno))


class SourceTable:
    """Files by name, read once."""

    def __init__(self) -> None:
        self._files: dict[str, SourceFile] = {}

    def add(self, file: SourceFile) -> None:
        """Make the text of a file known (text that is not on disk, or that was read already)."""
        self._files[file.name] = file

    def of(self, function: types.FunctionType) -> SourceFile:
        """The file that defines a function."""
        name = function.__code__.co_filename
        if name not in self._files:
            self._files[name] = SourceFile(name, "".join(linecache.getlines(name)))
        return self._files[name]
