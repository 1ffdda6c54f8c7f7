"""Cost without a clock: how many Python calls a piece of work makes."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType


def calls(work: Callable[[], object], limit: float = float("inf")) -> int:
    """The number of calls of Python functions; AssertionError as soon as they are more than `limit`."""
    count = 0

    def seen(frame: FrameType, event: str, arg: object) -> None:
        nonlocal count
        count += event == "call"
        if count > limit:
            sys.setprofile(None)
            raise AssertionError(f"more than {limit:.0f} calls")

    sys.setprofile(seen)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count
