"""A limit to the processor time that one kernel may take: how busy the machine is does not count.

A timer interrupts what a main thread does in Python. Where there is none (on Windows, and in other threads) a kernel is
late when it ends late. Code that does not come back to the interpreter, or waits for what never comes, is beyond both:
a worker of a pool looks at `hopeless` and ends itself. What threads of a cluster do is therefore done `apart`.
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
"""What a kernel gets. One that goes through all oracles takes a tenth of a second, the slowest some seconds."""
PATIENCE = 2
"""Limits of processor time after which nothing is hoped for."""
WAITING = 30
"""Limits on the clock after which nothing is hoped for."""
_AGAIN = 1.0
"""Seconds between rings: code may have taken the first for an error of its own, or ignored it in a destructor."""
_deadlines = math.inf, math.inf
"""Of processor time and on the clock."""


class Late(BaseException):
    """The time is up. No Exception: nothing on the way is to take it for an answer of the product."""


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Raises Late in the block when it takes longer, or at its end when it has taken longer or has taken the first Late
    for an error of its own. Meanwhile the profiling timer of the process is its own."""
    global _deadlines
    started = time.thread_time()
    _deadlines = time.process_time() + PATIENCE * seconds, time.monotonic() + WAITING * seconds
    try:
        with _timer(seconds) as rings:
            yield
    finally:
        _deadlines = math.inf, math.inf
    if rings or time.thread_time() - started > seconds:
        raise Late


def hopeless() -> bool:
    """Whether a block should have been interrupted long ago."""
    busy, clock = _deadlines
    return time.process_time() > busy or time.monotonic() > clock


@contextmanager
def _timer(seconds: float) -> Iterator[list[int]]:
    """The rings so far."""
    rings: list[int] = []
    if sys.platform == "win32" or threading.current_thread() is not threading.main_thread():
        yield rings
        return
    on = True

    def ring(number: int, frame: FrameType | None) -> None:
        if on:
            rings.append(number)
            raise Late

    before = signal.signal(signal.SIGPROF, ring)
    signal.setitimer(signal.ITIMER_PROF, seconds, _AGAIN)
    try:
        try:
            yield rings
        finally:
            on = False  # a ring before this line ends the inner block only, and the next is a second away
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
