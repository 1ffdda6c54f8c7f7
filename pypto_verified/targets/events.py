"""The pipes that flags and events name."""

from __future__ import annotations

_PIPE_OF_KIND = {
    "TLOAD": "MTE2", "TSTORE_VEC": "MTE3", "TSTORE_ACC": "FIX", "TMOV_M2L": "MTE1", "TMOV_M2B": "MTE1",
    "TMOV_M2S": "FIX", "TMOV_M2V": "V", "TMOV_V2M": "FIX", "TMATMUL": "M", "TVEC": "V", "TVECWAIT_EVENT": "V",
}
"""Kinds of ops, as events are recorded and waited for by: the pipe of each. Source: PTOAS PTOSyncUtils.cpp."""


FOREIGN_PIPES = {"vector": frozenset({"M", "MTE1", "FIX"}), "cube": frozenset({"V"})}
"""Pipes that a kind of core does not have. Source: PTO-ISA machine model, PTOAS#1026."""


def pipe_of(name: str) -> str:
    """The pipe that a text names, as `PIPE_V` or by a kind of ops."""
    return _PIPE_OF_KIND.get(name, name.removeprefix("PIPE_"))
