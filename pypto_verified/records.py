"""Dataclasses with slots that cost little to declare and to make: nodes of IR, types, locations, rows of tables.

`dataclasses` writes and compiles up to six methods for each class, which was half of the time to load all modules; it
gives a frozen class an `__init__` that goes through `object.__setattr__` for each field, three times the cost of a
plain one. To the type checker this `dataclass` is that of the standard library, so it refuses every assignment to a
field of a frozen class. At run time only `__init__` is written anew; equality, hash, text and pickling are the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dataclasses import dataclass
else:
    import dataclasses
    from operator import attrgetter

    def dataclass(*, slots, frozen=False, eq=True):
        """Like `dataclasses.dataclass` for a class with slots, the only kind that is declared with it."""
        assert slots, "for classes with slots"

        def made(cls):
            own = vars(cls)
            explicit_hash = own.get("__hash__") is not None
            cls = dataclasses.dataclass(slots=True, repr=False, eq=False)(cls)
            fields = dataclasses.fields(cls)
            compared = _reader([f.name for f in fields if f.compare])
            if eq and "__eq__" not in own:
                cls.__eq__ = _equality(compared)
                if not explicit_hash:
                    cls.__hash__ = _hashing(compared) if frozen else None
            if "__repr__" not in own:
                cls.__repr__ = _text([f.name for f in fields if f.repr])
            return cls

        return made

    def _reader(names):
        """What reads the fields of an instance as a tuple."""
        if len(names) > 1:
            return attrgetter(*names)
        return lambda instance: tuple(getattr(instance, name) for name in names)

    def _equality(compared):
        def __eq__(self, other):
            if self is other:
                return True
            return compared(self) == compared(other) if other.__class__ is self.__class__ else NotImplemented

        return __eq__

    def _hashing(compared):
        def __hash__(self):
            return hash(compared(self))

        return __hash__

    def _text(names):
        def __repr__(self):
            return f"{type(self).__qualname__}({', '.join(f'{name}={getattr(self, name)!r}' for name in names)})"

        return __repr__

__all__ = ["dataclass"]
