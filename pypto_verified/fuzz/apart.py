"""A job in a process of its own, for who can't risk their own: the worker of a cluster works in threads, where nothing
interrupts a kernel without end (`limit`), and does so beside others, whose product a planted fault would change too.

A process is used again for the next job, and ends when none comes. Requests and answers are pickles with their length
before them, on its stdin and stdout.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import BrokenExecutor
from typing import IO, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")
_SIZE = 8
"""Bytes of a length."""
_IDLE = 60.0
"""Seconds that a process waits for another job."""
_UNASKED = 75
"""The exit code of one that has waited long enough."""


class Died(BrokenExecutor):
    """The process of a job ended without an answer."""


class _Unasked(Exception):
    """The process ended before it saw the request."""


class _Process:
    def __init__(self) -> None:
        path = os.pathsep.join(p for p in sys.path if p)
        self._child = subprocess.Popen(
            [sys.executable, "-c", f"from {__name__} import serve; serve({os.getpid()}, {_IDLE})"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, env={**os.environ, "PYTHONPATH": path})

    def answer(self, request: object) -> object:
        assert self._child.stdin is not None and self._child.stdout is not None
        try:
            _send(self._child.stdin, request)
            return _received(self._child.stdout, _size(self._child.stdout))
        except (EOFError, BrokenPipeError):
            code = self._child.wait()
            if code == _UNASKED:
                raise _Unasked from None
            raise Died(f"the process of a job ended with exit code {code}") from None

    def end(self) -> None:
        self._child.kill()
        self._child.wait()
        for stream in (self._child.stdin, self._child.stdout):
            if stream is not None:
                with contextlib.suppress(BrokenPipeError):  # of a request that nobody took
                    stream.close()


_idle: list[_Process] = []


def run(function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
    """Call a function of a module in another process. Raises what it raises, and Died."""
    try:
        process = _idle.pop()
    except IndexError:
        process = _Process()
    try:
        answer = process.answer((function, args, kwargs))
    except _Unasked:
        process.end()
        return run(function, *args, **kwargs)
    except BaseException:
        process.end()
        raise
    _idle.append(process)
    assert isinstance(answer, tuple)
    failed, result = answer
    if failed:
        raise result
    found: T = result
    return found


def serve(parent: int, patience: float) -> None:
    """Answer requests until there are no more, or none comes for a while. What a job prints goes to stderr."""
    from pypto_verified.fuzz.processes import start_worker

    requests, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    start_worker(parent)
    while True:
        timer = threading.Timer(patience, os._exit, (_UNASKED,))
        timer.daemon = True
        timer.start()
        try:
            size = _size(requests)
            timer.cancel()
            request = _received(requests, size)
        except EOFError:
            return
        assert isinstance(request, tuple)
        function, args, kwargs = request
        try:
            answer = False, function(*args, **kwargs)
        except Exception as error:
            answer = True, error
        _send(answers, answer)


def _send(stream: IO[bytes], value: object) -> None:
    data = pickle.dumps(value)
    stream.write(len(data).to_bytes(_SIZE, "little") + data)
    stream.flush()


def _size(stream: IO[bytes]) -> int:
    """The length of what comes. EOFError where there is nothing more."""
    return int.from_bytes(_exactly(stream, _SIZE), "little")


def _received(stream: IO[bytes], size: int) -> object:
    """EOFError where there is only a part."""
    value: object = pickle.loads(_exactly(stream, size))
    return value


def _exactly(stream: IO[bytes], size: int) -> bytes:
    data = stream.read(size)
    if len(data) < size:
        raise EOFError
    return data
