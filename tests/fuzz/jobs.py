"""Jobs that processes of their own can import, and examinations that take too long."""

from __future__ import annotations

import hashlib
import os
import signal
import time
from unittest.mock import patch

from pypto_verified.fuzz import work
from pypto_verified.fuzz.builder import Kernel
from pypto_verified.fuzz.limit import Late, limited
from pypto_verified.fuzz.oracles import Verdict, examine
from pypto_verified.fuzz.records import Found, Job, Outcome
from pypto_verified.fuzz.work import run_job

STUCK = 17
"""The example that takes too long."""


def stuck(kernel: Kernel, example: int, *more: object) -> Verdict:
    while example == STUCK:
        pass
    return examine(kernel, example, 1)


def out_of_reach(kernel: Kernel, example: int, *more: object) -> Verdict:
    if example == STUCK:
        hashlib.pbkdf2_hmac("sha256", b"", b"", 2**31 - 1)  # one call that comes back after minutes
    return examine(kernel, example, 1)


def stuck_job(job: Job) -> Outcome | Found:
    with patch.object(work, "examine", stuck):
        return run_job(job)


def job_out_of_reach(job: Job) -> Outcome | Found:
    with patch.object(work, "examine", out_of_reach):
        return run_job(job)


def number(seconds: float = 0.0) -> int:
    time.sleep(seconds)
    return os.getpid()


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def late() -> str:
    try:
        with limited(0.05):
            while True:
                pass
    except Late:
        return "late"
