"""The commands that look at `.pto` texts without judging them, or compare two: `map` and `diff`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from pypto_verified.usage import refuse

if TYPE_CHECKING:
    from pypto_verified.pto.module import Module

SAME, DIFFERENT = 0, 1


def map_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE.pto")
    parser.add_argument("--target", choices=("a2a3", "a5"), help="chip; wins over what the module says")
    parser.add_argument("--format", choices=("text", "svg"), default="text", help="a table or a picture")
    parser.add_argument("-o", "--output", metavar="FILE", help="write to a file instead of the terminal")


def diff_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("old", metavar="A.pto")
    parser.add_argument("new", metavar="B.pto")
    parser.add_argument("--target", choices=("a2a3", "a5"), help="chip; wins over what the modules say")
    parser.add_argument("--no-verdicts", action="store_true", help="compare the texts only")


def run_map(options: argparse.Namespace) -> int:
    """Draw who lives where and when in the memories of a module's kernels."""
    from pypto_verified.errors import PtoError
    from pypto_verified.memory_map import memory_maps
    from pypto_verified.report.memory_map import as_text
    from pypto_verified.report.memory_svg import as_svg
    from pypto_verified.report.render import write_atomically
    from pypto_verified.targets import target

    try:
        module = _read(options.file)
        maps = memory_maps(module, target(_target(module, options.target)))
        text = as_svg(maps) if options.format == "svg" else as_text(maps)
        if options.output is None:
            sys.stdout.write(text)
        else:
            write_atomically(options.output, text)
    except PtoError as error:
        return refuse(str(error))
    except OSError as error:
        return refuse(f"can't write {options.output}: {error.strerror or error}")
    return SAME


def run_diff(options: argparse.Namespace) -> int:
    """Tell what two modules, and the verdicts on them, differ in. The exit code is 1 if there is a difference."""
    from pypto_verified.check import CheckOptions, check_file
    from pypto_verified.errors import PtoError
    from pypto_verified.module_diff import compare, compare_verdicts

    try:
        changes = compare(_read(options.old), _read(options.new))
    except PtoError as error:
        return refuse(str(error))
    verdicts: list[str] = []
    if not options.no_verdicts:
        asked = CheckOptions(target=options.target)
        verdicts = compare_verdicts(check_file(options.old, asked), check_file(options.new, asked))
    lines = [f"{_lines(c.line_a, c.line_b)}  {c.kind:<9}  {c.function}: {c.text}" for c in changes]
    _print(lines + [f"{'':<13}  verdict    {text}" for text in verdicts])
    counts = {kind: sum(c.kind == kind for c in changes) for kind in dict.fromkeys(c.kind for c in changes)}
    parts = [f"{count} {kind}" for kind, count in counts.items()]
    if not options.no_verdicts:
        parts.append(f"{len(verdicts)} verdict")
    _print([f"differences: {', '.join(parts)}" if lines or verdicts else "no differences"])
    return DIFFERENT if lines or verdicts else SAME


def _lines(a: int, b: int) -> str:
    """Line in A and line in B, a dash where one has none."""
    return f"{a or '-':>6} {b or '-':>6}"


def _print(lines: Sequence[str]) -> None:
    sys.stdout.write("".join(f"{line}\n" for line in lines))


def _read(path: str) -> Module:
    """The module of a `.pto` file. Raises InputError or ParseError."""
    from pypto_verified import inputs
    from pypto_verified.errors import InputError, Location
    from pypto_verified.pto.reader import read

    source = inputs.read(path)
    if source.suffix != inputs.PTO:
        raise InputError("not a module (.pto)", Location(path), "`pypto-verify compile` makes one of a kernel")
    return read(source.text, path)


def _target(module: Module, given: str | None) -> str:
    """The target asked for, else that of the module or of the first module within it, else a2a3."""
    return given or next((unit.arch for unit in module.units() if unit.arch), "a2a3")
