"""Chooses the form of a report, and writes files so that a reader never sees half of one."""

from __future__ import annotations

import os
import tempfile
from typing import TextIO

from pypto_verified.report.model import Report


def render(report: Report, form: str, verbose: bool = False) -> str:
    """The report as 'text', 'lines', 'json', 'sarif' or 'html'. KeyError for any other form. `verbose`: each obligation
    too, in text and JSON."""
    if form == "text":
        from pypto_verified.report.text import plain

        return plain(report, verbose)
    if form == "lines":
        from pypto_verified.report.summary import as_lines

        return as_lines(report)
    if form == "json":
        from pypto_verified.report.json_form import to_json

        return to_json(report, verbose)
    if form == "sarif":
        from pypto_verified.report.sarif import to_sarif

        return to_sarif(report)
    if form == "html":
        from pypto_verified.report.html import to_html

        return to_html(report)
    raise KeyError(form)


def wants_colour(stream: TextIO) -> bool:
    """Whether the stream is a terminal and the user has not switched colours off (NO_COLOR)."""
    return stream.isatty() and not os.environ.get("NO_COLOR")


def print_in_colour(report: Report, verbose: bool = False) -> None:
    """Print the text form to the terminal, coloured."""
    from rich.console import Console

    from pypto_verified.report.text import print_rich

    print_rich(report, Console(highlight=False), verbose)


def write_atomically(path: str, text: str) -> None:
    """Write a file whole or not at all. OSError if its directory can't be written to. A device or pipe (`/dev/stdout`)
    is written to, not replaced."""
    if os.path.exists(path) and not os.path.isfile(path):
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return
    path = os.path.realpath(path)
    directory, name = os.path.split(path)
    handle, temporary = tempfile.mkstemp(prefix=f".{name}.", dir=directory)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
