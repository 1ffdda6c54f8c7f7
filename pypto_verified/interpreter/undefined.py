"""What the interpreter raises when a kernel has no defined result."""

from __future__ import annotations

from pypto_verified.errors import PtoError


class Undefined(PtoError):
    """The kernel has no defined result for these inputs."""


class Poisoned(Undefined):
    """A value without definition reaches a result."""
