"""What can go wrong on the machine. Each error names the op, its line in the `.pto`, the user's line and the place."""

from __future__ import annotations

from pypto_verified.errors import PtoError
from pypto_verified.pto.module import Op
from pypto_verified.records import dataclass


@dataclass(frozen=True, slots=True)
class Place:
    """Where in memory: the operand's SSA name, the element (row, col) and the byte address in its space."""

    name: str = ""
    element: tuple[int, int] | None = None
    address: int | None = None

    def __str__(self) -> str:
        parts = [f"%{self.name}"] if self.name else []
        if self.element is not None:
            parts.append(f"element ({self.element[0]}, {self.element[1]})")
        if self.address is not None:
            parts.append(f"address {self.address}")
        return ", ".join(parts)


class SimError(PtoError):
    """Base of all faults of a run. `kind` is a stable word; `op` and `line` are set when the fault leaves its op."""

    kind = "fault"

    def __init__(self, message: str, place: Place | None = None, help: str = "") -> None:
        super().__init__(message, help=help)
        self.place = place if place is not None else Place()
        self.op = ""
        self.line = 0

    def at(self, op: Op) -> None:
        """Attach the op; the innermost op wins."""
        if not self.op:
            self.op, self.line, self.location = op.name, op.line, op.loc

    def __str__(self) -> str:
        where = f"{self.location}: " if self.location.file else ""
        op = f"{self.op}" + (f" (.pto line {self.line})" if self.line else "")
        place = str(self.place)
        return f"{where}{op + ': ' if op else ''}{self.message}{f' [{place}]' if place else ''}"


class CapacityError(SimError):
    """A tile reaches beyond its memory space."""

    kind = "capacity"


class AlignmentError(SimError):
    """A tile's address is not a multiple of what its space needs."""

    kind = "alignment"


class GlobalBoundsError(SimError):
    """A transfer leaves its tensor (or the buffer behind it)."""

    kind = "global bounds"


class LocalBoundsError(SimError):
    """An op touches bytes outside the allocation that its operand belongs to."""

    kind = "local bounds"


class UninitialisedError(SimError):
    """Bytes that nothing has written reach a result."""

    kind = "uninitialised"


class InvalidReadError(SimError):
    """An op reads elements outside the valid region of its source."""

    kind = "invalid read"


class DivisionError(SimError):
    """Integer division or remainder by zero."""

    kind = "division by zero"


class ConflictError(SimError):
    """Two blocks of one launch write the same bytes of a tensor."""

    kind = "conflicting writes"


class ShapeError(SimError):
    """Run-time extents that the op can't be executed with: negative, larger than the tile, unequal counts."""

    kind = "shape"


class TrapError(SimError):
    """The program came to a `pto.trap`."""

    kind = "trap"


class StepLimitError(SimError):
    """More ops were executed than the caller allows."""

    kind = "step limit"


class UnmodelledError(SimError):
    """An op, a type or a combination whose meaning this version does not model."""

    kind = "not modelled"
