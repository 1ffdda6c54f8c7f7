"""One process a file: a file that hangs or takes its process down does not touch the others."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import pickle
import signal
import sys
import time
from collections.abc import Callable, Sequence
from multiprocessing.connection import Connection, wait
from multiprocessing.context import ForkContext, ForkProcess, SpawnContext, SpawnProcess
from typing import Generic, TypeVar

from pypto_verified.records import dataclass

_SIZE = 8
"""Bytes before a result that say how long it is."""
_GRACE = 1.0
"""Seconds that a process without a result gets to end by itself, so that its exit code is known."""

Item = TypeVar("Item")
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Failure:
    """Why an item has no result: it ran out of time, or its process ended without one."""

    timed_out: bool
    reason: str


@dataclass(slots=True)
class _Job:
    index: int
    process: ForkProcess | SpawnProcess
    deadline: float
    received: bytes = b""
    complete: bool = False


class Workers(Generic[Item, Result]):
    """Runs `work` on items, each in its own process, at most `jobs` at a time, `timeout` seconds each (0: no limit).

    Processes are forked where the platform can, so what the parent has imported costs them nothing.
    """

    def __init__(self, work: Callable[[Item], Result], jobs: int, timeout: float) -> None:
        self.work = work
        self.jobs = max(1, jobs)
        self.timeout = timeout
        can_fork = "fork" in multiprocessing.get_all_start_methods()
        self._context: ForkContext | SpawnContext = (
            multiprocessing.get_context("fork") if can_fork else multiprocessing.get_context("spawn")
        )
        self._running: dict[Connection, _Job] = {}

    def run(
        self, items: Sequence[Item], progress: Callable[[int, int], None] | None = None
    ) -> list[Result | Failure]:
        """One result or failure per item, in the order of the items. `progress` is called with the number of items
        done and of all items."""
        found: dict[int, Result | Failure] = {}
        waiting = list(enumerate(items))[::-1]
        try:
            while waiting or self._running:
                while waiting and len(self._running) < self.jobs:
                    self._start(*waiting.pop())
                for connection in wait(list(self._running), self._patience()):
                    assert isinstance(connection, Connection)
                    self._receive(connection)
                    if self._running[connection].complete:
                        result = self._result(connection)
                        found[self._stop(connection).index] = result
                for connection in [c for c, job in self._running.items() if job.deadline <= time.monotonic()]:
                    index = self._stop(connection).index
                    found[index] = Failure(True, f"no verdict within {self.timeout:g} s")
                if progress is not None:
                    progress(len(found), len(items))
        finally:
            for connection in list(self._running):
                self._stop(connection)
        return [found[index] for index in range(len(items))]

    def _start(self, index: int, item: Item) -> None:
        receiver, sender = self._context.Pipe(duplex=False)
        process = self._context.Process(target=_child, args=(self.work, item, sender), daemon=True)
        process.start()
        sender.close()
        deadline = time.monotonic() + self.timeout if self.timeout else float("inf")
        self._running[receiver] = _Job(index, process, deadline)

    def _patience(self) -> float | None:
        """Seconds until the next deadline; None is for ever."""
        nearest = min(job.deadline for job in self._running.values())
        return None if nearest == float("inf") else max(0.0, nearest - time.monotonic())

    def _receive(self, connection: Connection) -> None:
        """Take what has come of a result; never waits for the rest."""
        job = self._running[connection]
        part = os.read(connection.fileno(), 1 << 20)
        job.received += part
        size = int.from_bytes(job.received[:_SIZE], "little")
        job.complete = not part or (len(job.received) >= _SIZE and len(job.received) - _SIZE >= size)

    def _result(self, connection: Connection) -> Result | Failure:
        """The result that a process has sent, or why it has sent none."""
        job = self._running[connection]
        size = int.from_bytes(job.received[:_SIZE], "little")
        if len(job.received) < _SIZE + size or not size:
            job.process.join(_GRACE)
            code = job.process.exitcode
            return Failure(False, f"its process {_ending(code) if code is not None else 'closed its way out'}")
        try:
            result: Result = pickle.loads(job.received[_SIZE : _SIZE + size])
        except Exception:
            return Failure(False, "its process sent no readable result")
        return result

    def _stop(self, connection: Connection) -> _Job:
        """End a job's process and whatever it has started; the group is gone before its number can be another's."""
        job = self._running.pop(connection)
        connection.close()
        if hasattr(os, "killpg") and job.process.pid is not None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(job.process.pid, signal.SIGKILL)
        job.process.kill()
        job.process.join()
        return job


def _ending(code: int) -> str:
    if code >= 0:
        return f"ended with exit code {code} before a verdict"
    try:
        return f"died of {signal.Signals(-code).name}"
    except ValueError:
        return f"died of signal {-code}"


def _child(work: Callable[[Item], Result], item: Item, sender: Connection) -> None:
    """The user's module runs in here: it gets no input, and what it prints goes to stderr, never into a report."""
    own = os.getpid()
    if hasattr(os, "setsid"):
        os.setsid()  # so that what the module starts can be ended with it
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent handles an interrupt and ends its children
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    sys.stdout.flush()
    os.dup2(2, 1)
    data = pickle.dumps(work(item))
    if os.getpid() != own:
        os._exit(0)  # a copy that the module made of this process
    _send(sender.fileno(), len(data).to_bytes(_SIZE, "little") + data)
    sender.close()


def _send(descriptor: int, data: bytes) -> None:
    while data:
        data = data[os.write(descriptor, data) :]
