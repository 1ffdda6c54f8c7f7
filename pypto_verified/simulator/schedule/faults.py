"""Misuse of signals, found while cores run together."""

from __future__ import annotations

from pypto_verified.simulator.errors import SimError


class EventError(SimError):
    """A flag between pipes is misused: set while it is occupied, waited for while it is free, left set."""

    kind = "event"


class LeftSetError(EventError):
    """A flag between pipes is set when its function ends."""


class PipeError(SimError):
    """A pipe between cores is misused."""

    kind = "pipe"


class CounterError(PipeError):
    """A counter between cores is given more than it holds."""


class LeftError(PipeError):
    """What one core gave another is still there when all cores have ended: a tile, or a flag."""


class EarlyError(PipeError):
    """The slot of a tile is given back that no pop has taken."""
