"""A limit to the time that one kernel may take.

A timer interrupts what a main thread does in Python. Where there is none (on Windows, and in other threads, such as
those of a cluster's workers) a kernel is late when it ends late. Code that does not come back to the interpreter is
beyond both: a worker of a pool looks at `hopeless` and ends itself.
"""

from __future__ import annotations

import math
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

SECONDS = 20.0
"""What a kernel gets; one that goes through all oracles takes some tenths of a second, the slowest a few seconds."""
PATIENCE = 2
"""Limits after which nothing is hoped for."""
_AGAIN = 1.0
"""Seconds between rings: code may have taken the first for an error of its own, or ignored it in a destructor."""
_deadline = math.inf


class Late(BaseException):
    """The time is up. No Exception: nothing on the way is to take it for an answer of the product."""


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Raises Late in the block when it takes longer, or at its end when it has taken longer. For that time the alarm of
    the process is its own."""
    global _deadline
    started = time.monotonic()
    _deadline = started + PATIENCE * seconds
    try:
        with _timer(seconds):
            yield
    finally:
        _deadline = math.inf
    if time.monotonic() - started > seconds:
        raise Late


def hopeless() -> bool:
    """Whether a block should have been interrupted long ago."""
    return time.monotonic() > _deadline


@contextmanager
def _timer(seconds: float) -> Iterator[None]:
    if sys.platform == "win32" or threading.current_thread() is not threading.main_thread():
        yield
        return
    on = True

    def ring(number: int, frame: FrameType | None) -> None:
        if on:
            raise Late

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds, _AGAIN)
    try:
        try:
            yield
        finally:
            on = False  # a ring before this line ends the inner block only, and the next is a second away
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
