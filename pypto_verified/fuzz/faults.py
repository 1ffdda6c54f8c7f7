"""Planted faults: known mistakes that can be switched on by name, to see that campaigns find them.

Each is the root cause of a mistake that compilers of this kind have made, put where it was made: a function of the
product is replaced while the fault is on.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def switched_on(name: str) -> Iterator[None]:
    """Run with a planted fault; '' is none."""
    yield
