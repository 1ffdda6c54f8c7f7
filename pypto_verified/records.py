"""Frozen dataclasses for what is made a thousand times a kernel: nodes of IR, types, locations.

`dataclasses` gives a frozen class an `__init__` that goes through `object.__setattr__` for each field, three times the
cost of a plain one. To the type checker this `dataclass` is that of the standard library, so it refuses every
assignment to a field. At run time the fields are plain slots; equality, hash and pickling are the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dataclasses import dataclass
else:
    import dataclasses

    def dataclass(*, frozen, slots):
        """Like `dataclasses.dataclass` for a frozen class with slots, the only kind that is declared with it."""
        assert frozen and slots, "for frozen classes with slots"
        return dataclasses.dataclass(slots=True, unsafe_hash=True)

__all__ = ["dataclass"]
