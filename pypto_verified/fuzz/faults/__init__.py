"""Planted faults: known mistakes that can be switched on by name, to see that campaigns find them.

Each is the root cause of a mistake that compilers of this kind have made, put where it was made: while it is on, one
function or table entry of the product is another one. To plant another, add a row to the table of its room.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from pypto_verified.errors import InputError
from pypto_verified.fuzz.faults.compiler import FAULTS as COMPILER
from pypto_verified.fuzz.faults.fault import Fault
from pypto_verified.fuzz.faults.meanings import FAULTS as MEANINGS
from pypto_verified.fuzz.faults.order import FAULTS as ORDER
from pypto_verified.fuzz.faults.rules import FAULTS as RULES
from pypto_verified.fuzz.faults.shared import FAULTS as SHARED

__all__ = ["FAULTS", "Fault", "known", "listed", "switched_on"]

FAULTS: dict[str, Fault] = {f.id: f for f in (*COMPILER, *MEANINGS, *SHARED, *ORDER, *RULES)}


@contextmanager
def switched_on(name: str) -> Iterator[None]:
    """Run with a planted fault; '' is none. InputError for a name that no fault has."""
    fault = known(name)
    if fault is None:
        yield
        return
    with fault.planted():
        yield


def known(name: str) -> Fault | None:
    """The fault of that name, None for ''. InputError for a name that no fault has."""
    if name and name not in FAULTS:
        raise InputError(f"no planted fault {name}", help="pypto-verify fuzz --fault list names them")
    return FAULTS[name] if name else None


def listed() -> str:
    """The table of planted faults."""
    return "".join(f"{f.id:<26}{f.what}  [{f.where}]{f'  {f.recreates}' if f.recreates else ''}\n"
                   for f in FAULTS.values())
