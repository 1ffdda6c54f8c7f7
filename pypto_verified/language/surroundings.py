"""What a running kernel file shares with this process: it gets its own arguments, and changes nothing for good."""

from __future__ import annotations

import builtins
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from pypto_verified.errors import LanguageError, Location

_ABSENT = object()


@contextmanager
def own_surroundings(file: str) -> Iterator[None]:
    """Run a file as `python FILE` would see it: `sys.argv` is its path. Environment, directory and built-in functions
    are as before after it. LanguageError, whatever else went wrong, if it replaced a built-in function or removed
    modules of Python: what ran meanwhile, of this tool too, met that."""
    before, modules, environment = dict(vars(builtins)), dict(sys.modules), dict(os.environ)
    arguments, directory = list(sys.argv), _directory()
    sys.argv[:] = [file]
    try:
        yield
    finally:
        now = vars(builtins)
        spoilt = [f"builtins.{n}" for n in sorted(before) if now.get(n, _ABSENT) is not before[n] and n != "_"]
        now.update(before)
        if any(n not in sys.modules and n.partition(".")[0] in sys.stdlib_module_names for n in modules):
            spoilt.append("sys.modules")
        sys.modules.update(modules)
        sys.argv[:] = arguments
        if dict(os.environ) != environment:
            os.environ.clear()
            os.environ.update(environment)
        if directory and _directory() != directory:
            os.chdir(directory)
        if spoilt:
            raise LanguageError(
                f"the file changes {', '.join(spoilt)}", Location(file), "leave Python's own functions as they are")


def _directory() -> str:
    try:
        return os.getcwd()
    except OSError:
        return ""


def is_interrupt(error: BaseException) -> bool:
    """Whether the user asked for an end; where interrupts are ignored, a file raised the error itself."""
    return isinstance(error, KeyboardInterrupt) and signal.getsignal(signal.SIGINT) is not signal.SIG_IGN
