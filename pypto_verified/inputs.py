"""Which files a command line names, and their text: every way in which that can fail is one clear InputError."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator, Sequence
from pathlib import PurePath

from pypto_verified.errors import InputError, Location
from pypto_verified.records import dataclass

KERNEL, PTO = ".py", ".pto"
_LATER = (".cpp", ".cc", ".h", ".hpp")
MAX_BYTES = 8 << 20
"""Larger files are refused: the largest known `.pto` of a real model is below 1 MiB, so this is noise or a mistake."""

_IMPORT = re.compile(rb"^\s*(?:import|from)\s+pypto\b", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Source:
    """The text of an input file and the sha256 of its bytes. `path` is as the user wrote it."""

    path: str
    text: str
    sha256: str

    @property
    def suffix(self) -> str:
        return os.path.splitext(self.path)[1]


def expand(paths: Sequence[str]) -> list[str]:
    """The files to check, sorted, each once: named files as they are, directories searched for kernels. A path has no
    `./` in it, as the locations of findings have none.

    A directory gives its `.pto` files and those `.py` files that import `pypto.language`, at any depth; names that
    start with a dot are skipped, nothing else is. InputError for a directory without any.
    """
    found: set[str] = set()
    for path in paths:
        if os.path.isdir(path):
            inside = list(_search(path))
            if not inside:
                what = "no kernel in this directory: no .pto, no .py that imports pypto.language"
                raise InputError(what, Location(path))
            found.update(inside)
        else:
            found.add(path)
    return sorted({str(PurePath(path)) if path else path for path in found})


def _search(directory: str) -> Iterator[str]:
    for parent, directories, files in os.walk(directory):
        directories[:] = sorted(name for name in directories if not name.startswith("."))
        for name in sorted(files):
            path = os.path.join(parent, name)
            if not name.startswith(".") and (name.endswith(PTO) or (name.endswith(KERNEL) and _has_kernel(path))):
                yield path


def _has_kernel(path: str) -> bool:
    try:
        with open(path, "rb") as file:
            return _IMPORT.search(file.read(MAX_BYTES)) is not None
    except OSError:
        return True  # so that reading it reports why it can't be read


def read(path: str) -> Source:
    """Read a kernel or a `.pto` file. InputError if it is missing, no regular file, unreadable, empty, too large, no
    UTF-8 text, or of a kind that this version does not read."""
    here = Location(path)
    suffix = os.path.splitext(path)[1]
    try:
        if not os.path.lexists(path):
            raise InputError("no such file or directory", here)
        if not os.path.exists(path):
            raise InputError(f"broken symbolic link to {os.readlink(path)}", here)
        if not os.path.isfile(path):
            raise InputError("not a regular file", here)
        if suffix in _LATER:
            raise InputError(f"{suffix} files come in a later version: give a .py kernel or a .pto file", here)
        if suffix not in (KERNEL, PTO):
            raise InputError(f"not a kernel (.py) or a module (.pto): its name ends in {suffix or 'no suffix'}", here)
        size = os.path.getsize(path)
        if size > MAX_BYTES:
            raise InputError(f"too large: {size} bytes, the limit is {MAX_BYTES}", here)
        with open(path, "rb") as file:
            data = file.read()
    except OSError as error:
        raise InputError(f"can't be read: {error.strerror or error}", here) from error
    return Source(path, _decode(data, here), hashlib.sha256(data).hexdigest())


def _decode(data: bytes, here: Location) -> str:
    if not data.strip():
        raise InputError("empty file", here)
    if 0 in data:
        raise InputError(f"not a text file: zero byte at offset {data.index(0)}", here)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        what = f"byte 0x{data[error.start]:02x} at offset {error.start} is not UTF-8"
        raise InputError(f"not a text file: {what}", here) from error
