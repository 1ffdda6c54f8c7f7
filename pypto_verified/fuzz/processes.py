"""The processes that examine kernels, and interrupts, which are this process's business alone."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import contextmanager
from types import FrameType

from pypto_verified.fuzz.limit import hopeless
from pypto_verified.fuzz.work import settle

_LOOKS = 0.5
"""Seconds between a worker's looks at whether its parent is alive."""


def pool(jobs: int) -> Executor:
    """Worker processes that leave an interrupt to this one."""
    context = multiprocessing.get_context("fork" if "fork" in multiprocessing.get_all_start_methods() else "spawn")
    return ProcessPoolExecutor(jobs, mp_context=context, initializer=start_worker, initargs=(os.getpid(),))


def start_worker(parent: int) -> None:
    """Interrupts are left to the parent, and without it there is nobody to work for; nor is it for a kernel without
    end."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()
    settle()


def _end_with(parent: int) -> None:
    """End this process soon after its parent (a killed parent closes nothing, since its other workers hold the same
    pipes), or when it is past hope."""
    while os.getppid() == parent and not hopeless():
        time.sleep(_LOOKS)
    os._exit(1)


def end_workers() -> None:
    """Nobody waits for what they are at. While one lives, the exit of this process waits, and an interrupt there would
    have it wait for ever."""
    children = multiprocessing.active_children()
    for child in children:
        child.terminate()
    for child in children:
        child.join()


@contextmanager
def interrupts_noted() -> Iterator[Callable[[], bool]]:
    """Whether there was an interrupt, which breaks off nothing in the block, wherever it is and how many there are.
    Where an interrupt is not this thread's to handle, or somebody else handles it, that stays."""
    usual = signal.default_int_handler
    noted: list[int] = []
    if threading.current_thread() is not threading.main_thread() or signal.getsignal(signal.SIGINT) is not usual:
        yield lambda: bool(noted)
        return

    def note(number: int, frame: FrameType | None) -> None:
        noted.append(number)  # takes no lock, which the next interrupt would wait for

    signal.signal(signal.SIGINT, note)
    try:
        yield lambda: bool(noted)
    finally:
        signal.signal(signal.SIGINT, usual)
