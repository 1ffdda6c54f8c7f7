"""The targets a2a3 and a5 as data, and the table of assumptions. Every number stands in one row with its source."""

from pypto_verified.errors import InputError
from pypto_verified.targets.assumptions import ASSUMPTIONS, Assumption, assumption
from pypto_verified.targets.dtypes import device_dtypes
from pypto_verified.targets.model import Memory, Move, ReservedEvent, ReservedFlag, Target
from pypto_verified.targets.rows import A2A3, A5

TARGETS: dict[str, Target] = {t.name: t for t in (A2A3, A5)}

_SPELLINGS = {
    "a2": A2A3, "a3": A2A3, "a2a3": A2A3, "ascend910b": A2A3,
    "a5": A5, "ascend950": A5,
}


def target(name: str) -> Target:
    """The target of that name: "a2a3" (also "a2", "a3", "Ascend910B") or "a5" (also "Ascend950").

    Raises InputError for any other name.
    """
    found = _SPELLINGS.get(name.lower())
    if found is None:
        raise InputError(f"unknown target {name!r}", help="use a2a3 or a5")
    return found


__all__ = [
    "A2A3", "A5", "ASSUMPTIONS", "TARGETS", "Assumption", "Memory", "Move", "ReservedEvent", "ReservedFlag", "Target",
    "assumption", "device_dtypes", "target",
]
